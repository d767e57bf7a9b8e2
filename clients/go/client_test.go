package modiar

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// patience is how long a test waits for what must come.
const patience = 10 * time.Second

// peer is the server's end of one connection.
type peer struct {
	net.Conn
	t     *testing.T
	lines *bufio.Reader
}

// server lets bots come, one after the other.
type server struct {
	net.Listener
	t *testing.T
}

func serve(t *testing.T) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return &server{listener, t}
}

func (s *server) port() int { return s.Addr().(*net.TCPAddr).Port }

// meet takes the next connection.
func (s *server) meet() *peer {
	s.t.Helper()
	conn, err := s.Accept()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
	return &peer{conn, s.t, bufio.NewReader(conn)}
}

// welcome takes the next connection and lets its bot in.
func (s *server) welcome(games ...string) *peer {
	s.t.Helper()
	at := s.meet()
	hears[HelloMessage](at)
	at.say(WelcomeMessage{Protocol: 1, Server: "test", Bot: Bot{Name: "Ada", Guest: true}, Resume: "r", Games: games})
	return at
}

func (p *peer) say(messages ...Message) {
	p.t.Helper()
	for _, message := range messages {
		line, err := Encode(message)
		if err == nil {
			_, err = p.Write(line)
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
}

// hears reads the next message, which must be of this type.
func hears[M Message](p *peer) M {
	p.t.Helper()
	line, err := p.lines.ReadBytes('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	message, err := ParseClient(line)
	heard, ok := message.(M)
	if err != nil || !ok {
		p.t.Fatalf("heard %s", line)
	}
	return heard
}

// game takes a seek and asks for the first move.
func (p *peer) game() {
	p.t.Helper()
	hears[SeekMessage](p)
	p.say(SeekingMessage{Pool: "blitz", Waiting: 1}, started, timed())
}

// timed is the first turn with a minute for each side.
func timed() TurnMessage {
	turn := firstTurn
	turn.RemainingMS = BySide[int64]{60000, 60000}
	return turn
}

// finish ends the game and the seek, and the connection.
func (p *peer) finish() {
	p.t.Helper()
	p.say(ended, done)
	hears[ByeMessage](p)
	p.say(GoodbyeMessage{Reason: "bye"})
}

// told makes settings for a local server that log into a text.
func told(s *server, options ...Option) ([]Option, *bytes.Buffer) {
	var text bytes.Buffer
	return append([]Option{Port(s.port()), Logger(slog.New(slog.NewTextHandler(&text, nil)))}, options...), &text
}

// start runs a program of level 1; its exit status comes.
func start(choose Choose, options ...Option) chan int {
	status := make(chan int, 1)
	go func() { status <- Run(context.Background(), choose, "blitz", 1, options...) }()
	return status
}

func exits(t *testing.T, status chan int, want int) {
	t.Helper()
	select {
	case got := <-status:
		if got != want {
			t.Errorf("exit status %d, not %d", got, want)
		}
	case <-time.After(patience):
		t.Fatal("runs on")
	}
}

func second(context.Context, Turn) (Pit, error) { return 2, nil }

func TestALineOfANewerServerDoesNoHarm(t *testing.T) {
	s := serve(t)
	options, _ := told(s)
	status := start(second, options...)
	p := s.meet()
	hello := hears[HelloMessage](p)
	if hello.Protocol != 1 || !strings.HasPrefix(hello.Client, "modiar-go/") {
		t.Error(hello)
	}
	for _, piece := range strings.SplitAfter(`{"type":"weather"}`+"\r\n\r\n"+
		`{"type":"welcome","protocol":1,"server":"new","bot":{"name":"Ada","mood":1},"games":[],"missed":[],"big":1e999}`+"\r\n", "e") {
		p.Write([]byte(piece))
		time.Sleep(time.Millisecond)
	}
	p.game()
	if got := hears[MoveMessage](p); got.Game != "g1" || got.Pit != 2 || got.Ply != 1 {
		t.Error(got)
	}
	p.finish()
	exits(t, status, ExitDone)
}

func TestAMoveSurvivesTheLinkAndIsChosenOnce(t *testing.T) {
	s := serve(t)
	chosen := 0
	options, _ := told(s)
	status := start(func(context.Context, Turn) (Pit, error) { chosen++; return 2, nil }, options...)
	p := s.welcome()
	p.game()
	hears[MoveMessage](p)
	for range 5 {
		p.Close()
		p = s.meet()
		if hello := hears[HelloMessage](p); hello.Name != "Ada" || hello.Resume != "r" {
			t.Error(hello.Name)
		}
		again := started
		again.Resumed = true
		p.say(WelcomeMessage{Bot: Bot{Name: "Ada"}, Resume: "r", Games: []string{"g1"}}, again, timed())
		hears[MoveMessage](p)
	}
	p.finish()
	exits(t, status, ExitDone)
	if chosen != 1 {
		t.Errorf("chosen %d times", chosen)
	}
}

func TestWhatChooseDoesWrongCostsOneGame(t *testing.T) {
	for name, choose := range map[string]Choose{
		"an error":       func(context.Context, Turn) (Pit, error) { return 0, errors.New("lost my way") },
		"a panic":        func(_ context.Context, turn Turn) (Pit, error) { return turn.Legal[7], nil },
		"an illegal pit": func(context.Context, Turn) (Pit, error) { return 4, nil },
		"no answer":      func(context.Context, Turn) (Pit, error) { runtime.Goexit(); return 0, nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			options, text := told(s)
			status := start(choose, options...)
			p := s.welcome()
			p.game()
			hears[ResignMessage](p)
			p.finish()
			exits(t, status, ExitDone)
			for _, want := range []string{"game=g1", "ply=1", `position="7.7.7-7.7.7 0-0 s 1"`} {
				if !strings.Contains(text.String(), want) {
					t.Errorf("%s is not in %s", want, text)
				}
			}
		})
	}
}

func TestStrictEndsAtTheFirstError(t *testing.T) {
	s := serve(t)
	options, _ := told(s, Strict())
	status := start(func(context.Context, Turn) (Pit, error) { panic("lost") }, options...)
	p := s.welcome()
	p.game()
	hears[UnseekMessage](p)
	hears[ResignMessage](p)
	p.say(SeekEndedMessage{Pool: "blitz", Reason: "cancelled", Ref: unseekRef}, ended)
	hears[ByeMessage](p)
	p.Close()
	exits(t, status, ExitCouldNot)
}

func TestTheEndOfCtxLeaves(t *testing.T) {
	s := serve(t)
	options, _ := told(s)
	ctx, cancel := context.WithCancel(context.Background())
	status := make(chan int, 1)
	deaf := func(context.Context, Turn) (Pit, error) { cancel(); select {} }
	go func() { status <- Run(ctx, deaf, "blitz", 1, options...) }()
	p := s.welcome()
	p.game()
	hears[UnseekMessage](p)
	hears[ResignMessage](p) // and then the server says nothing
	exits(t, status, ExitInterrupted)
}

func TestALoopOfOnesOwn(t *testing.T) {
	s := serve(t)
	var ends []Ended
	go func() {
		p := s.welcome()
		p.game()
		if move := hears[MoveMessage](p); move.Pit != 1 {
			t.Error(move)
		}
		p.finish()
	}()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client, err := Dial(ctx, Port(s.port()), Games(4), OnEnded(func(e Ended) { ends = append(ends, e) }))
	if err != nil {
		t.Fatal(err)
	}
	for turn, err := range client.Turns(ctx, "blitz", 1) {
		if err != nil {
			t.Fatal(err)
		}
		if left := time.Until(turn.Deadline); left <= 0 || left > time.Minute {
			t.Error(left)
		}
		if err := turn.Play(5); !errors.Is(err, ErrIllegalMove) {
			t.Error(err)
		}
		if err := turn.Play(1); err != nil {
			t.Error(err)
		}
	}
	client.Close()
	client.Close()
	if len(ends) != 1 || ends[0].Side != South || ends[0].Score.North != 23 {
		t.Error(ends)
	}
	for _, err := range client.Turns(ctx, "blitz", 1) {
		if !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
}

func TestRawSendsWhatIsIllegal(t *testing.T) {
	s := serve(t)
	go func() {
		p := s.welcome()
		p.game()
		if move := hears[MoveMessage](p); move.Pit != 5 {
			t.Error(move)
		}
		p.Close()
	}()
	client, err := Dial(context.Background(), Port(s.port()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for turn, err := range client.Turns(context.Background(), "blitz", 1) {
		if err != nil || turn.PlayRaw(5) != nil {
			t.Error(err)
		}
		break
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	for name, value := range map[string]string{"MODIAR_PORT": "65536", "MODIAR_TLS": "yes", "MODIAR_CA": "/none.pem"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			_, err := Dial(context.Background())
			if !errors.Is(err, ErrSetting) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), value) {
				t.Error(err)
			}
			exits(t, start(second), ExitUsage)
		})
	}
	if status := Run(context.Background(), second, "blitz", -1); status != ExitUsage {
		t.Error(status)
	}
	if _, err := Dial(context.Background(), Games(0)); !errors.Is(err, ErrSetting) {
		t.Error(err)
	}
}

func TestAServerThatIsNotThereIsNamed(t *testing.T) {
	s := serve(t)
	s.Close()
	options, _ := told(s)
	_, err := Dial(context.Background(), options...)
	if !errors.Is(err, ErrConnect) || !strings.Contains(err.Error(), s.Addr().String()) {
		t.Error(err)
	}
	exits(t, start(second, options...), ExitCouldNot)
}

func TestDialEndsWithItsCtx(t *testing.T) {
	s := serve(t)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := Dial(ctx, Port(s.port())); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// certificate makes one for 127.0.0.1, and a file of it.
func certificate(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

func TestTLS(t *testing.T) {
	own, file := certificate(t)
	s := serve(t)
	s.Listener = tls.NewListener(s.Listener, &tls.Config{Certificates: []tls.Certificate{own}})
	options, _ := told(s, CA(file))
	status := start(second, options...)
	p := s.welcome()
	p.game()
	hears[MoveMessage](p)
	p.finish()
	exits(t, status, ExitDone)
}

func TestAPortWithTLSIsNamed(t *testing.T) {
	s := serve(t)
	go func() { s.meet().Write([]byte("\x15\x03\x03\x00\x02\x02\x0a")) }()
	_, err := Dial(context.Background(), Port(s.port()))
	if !errors.Is(err, ErrConnect) || !strings.Contains(err.Error(), "MODIAR_TLS=1") {
		t.Error(err)
	}
}

func TestAPortWithoutTLSIsNamed(t *testing.T) {
	s := serve(t)
	go func() { s.meet().Write([]byte("{\"type\":\"error\"}\n")) }()
	_, err := Dial(context.Background(), Port(s.port()), TLS())
	if !errors.Is(err, ErrConnect) || !strings.Contains(err.Error(), "unset MODIAR_TLS") {
		t.Error(err)
	}
}

// build makes a program of a folder.
func build(t *testing.T, folder string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), filepath.Base(folder))
	if text, err := exec.Command("go", "build", "-o", program, "./"+folder).CombinedOutput(); err != nil {
		t.Fatalf("%s%v", text, err)
	}
	return program
}

// bot starts a program that plays here.
func (s *server) bot(program string, arguments ...string) (*exec.Cmd, *bytes.Buffer) {
	s.t.Helper()
	var results bytes.Buffer
	command := exec.Command(program, arguments...)
	command.Env = append(os.Environ(), "MODIAR_PORT="+s.Addr().String()[len("127.0.0.1:"):])
	command.Stdout = &results
	if err := command.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { command.Process.Kill() })
	return command, &results
}

func TestTheBotOfTheReadmePlays(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile("bots/first/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(readme, []byte("\n```go\n"+string(first)+"```\n")) {
		t.Error("README.md does not show bots/first/main.go")
	}
	s := serve(t)
	command, results := s.bot(build(t, "bots/first"))
	p := s.welcome()
	p.game()
	if move := hears[MoveMessage](p); move.Pit != 0 {
		t.Error(move)
	}
	p.finish()
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
	if results.String() != "g1 north immobile south 19-23\n" {
		t.Errorf("%q", results)
	}
}

func TestCtrlCResignsAndLeaves(t *testing.T) {
	s := serve(t)
	command, results := s.bot(build(t, "bots/random"), "--games", "0", "--seed", "1")
	p := s.welcome()
	p.game()
	hears[MoveMessage](p)
	command.Process.Signal(os.Interrupt)
	hears[UnseekMessage](p)
	hears[ResignMessage](p)
	p.say(SeekEndedMessage{Pool: "practice", Reason: "cancelled", Ref: unseekRef}, ended)
	hears[ByeMessage](p)
	p.say(GoodbyeMessage{Reason: "bye"})
	command.Wait()
	if status := command.ProcessState.ExitCode(); status != ExitInterrupted {
		t.Error(status)
	}
	if !strings.HasPrefix(results.String(), "g1 ") {
		t.Error(results)
	}
}
