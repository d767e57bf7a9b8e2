package modiar

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"
)

// mostGames is the most that a seek or a hello may name.
const mostGames = 1_000_000

// How long a connection may take to be made, one write, and a peer that acknowledges nothing.
const (
	dialWait      = 10 * time.Second
	writeWait     = 10 * time.Second
	aliveIdle     = 15 * time.Second
	aliveInterval = 5 * time.Second
	aliveCount    = 4
)

// Option is a setting. What no option sets is taken from the environment, and what that does not set has a default.
type Option func(*settings)

// Host is where the server is (MODIAR_HOST; 127.0.0.1).
func Host(host string) Option { return func(s *settings) { s.host = host } }

// Port is the server's port for bots (MODIAR_PORT; 6634).
func Port(port int) Option { return func(s *settings) { s.port = &port } }

// Name is the bot's name (MODIAR_NAME; without one the server gives a guest's name).
func Name(name string) Option { return func(s *settings) { s.name = name } }

// Token proves that the name is the bot's (MODIAR_TOKEN; without one the bot is a guest).
func Token(token string) Option { return func(s *settings) { s.token = Secret(token) } }

// TLS makes the client speak TLS (MODIAR_TLS=1), as the port of a host with a certificate does.
func TLS() Option { return func(s *settings) { s.encrypted = true } }

// CA makes the client speak TLS, and trust the certificates of this PEM file in place of the system's (MODIAR_CA).
func CA(file string) Option { return func(s *settings) { s.ca = file } }

// Version is the bot's build; it starts a line of its own in the bot's history.
func Version(version string) Option { return func(s *settings) { s.version = version } }

// Games is how many games the bot plays at once, 1 where nothing is said.
func Games(atOnce int) Option { return func(s *settings) { s.games = &atOnce } }

// Logger is told what happens; without it a [Client] is silent, and [Run] writes to stderr.
func Logger(log *slog.Logger) Option { return func(s *settings) { s.log = log } }

// OnEnded is called for each game that ends, between two turns of [Client.Turns].
func OnEnded(ended func(Ended)) Option { return func(s *settings) { s.ended = ended } }

// Strict ends [Run] at the first error of choose, in place of the one game.
func Strict() Option { return func(s *settings) { s.strict = true } }

type settings struct {
	host      string
	port      *int
	name      string
	token     Secret
	encrypted bool
	ca        string
	tls       *tls.Config // nil: plain TCP
	version   string
	games     *int
	log       *slog.Logger
	ended     func(Ended)
	strict    bool
}

// settle makes settings of options, the environment and the defaults; the error is [ErrSetting].
func settle(options []Option) (settings, error) {
	var s settings
	for _, option := range options {
		option(&s)
	}
	s.host = cmp.Or(s.host, os.Getenv("MODIAR_HOST"), "127.0.0.1")
	s.name = cmp.Or(s.name, os.Getenv("MODIAR_NAME"))
	s.token = cmp.Or(s.token, Secret(os.Getenv("MODIAR_TOKEN")))
	s.ca = cmp.Or(s.ca, os.Getenv("MODIAR_CA"))
	if s.log == nil {
		s.log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if s.games != nil && (*s.games < 1 || *s.games > mostGames) {
		return s, fmt.Errorf("%w: Games is %d: set it to a number from 1 to %d", ErrSetting, *s.games, mostGames)
	}
	return s, errors.Join(s.settlePort(), s.settleTLS())
}

func (s *settings) settlePort() error {
	name, text := "Port", ""
	if s.port != nil {
		text = strconv.Itoa(*s.port)
	} else {
		name, text = "MODIAR_PORT", cmp.Or(os.Getenv("MODIAR_PORT"), "6634")
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return fmt.Errorf("%w: %s is %q: set it to a number from 1 to 65535", ErrSetting, name, text)
	}
	number := int(port)
	s.port = &number
	return nil
}

func (s *settings) settleTLS() error {
	switch wanted := os.Getenv("MODIAR_TLS"); wanted {
	case "":
	case "1":
		s.encrypted = true
	default:
		return fmt.Errorf("%w: MODIAR_TLS is %q: set it to 1, or unset it where the port speaks no TLS", ErrSetting, wanted)
	}
	if !s.encrypted && s.ca == "" {
		return nil
	}
	s.tls = &tls.Config{ServerName: s.host}
	if s.ca == "" {
		return nil
	}
	text, err := os.ReadFile(s.ca)
	if err != nil {
		return fmt.Errorf("%w: MODIAR_CA is %q: %w; name a file of certificates in PEM", ErrSetting, s.ca, err)
	}
	s.tls.RootCAs = x509.NewCertPool()
	if !s.tls.RootCAs.AppendCertsFromPEM(text) {
		return fmt.Errorf("%w: MODIAR_CA is %q: it has no certificate; name a file of certificates in PEM", ErrSetting, s.ca)
	}
	return nil
}

// address is the server's host and port.
func (s *settings) address() string {
	return net.JoinHostPort(s.host, strconv.Itoa(*s.port))
}

// dial makes a connection. Go sets TCP_NODELAY by itself: a move does not wait for more to send.
func (s *settings) dial(ctx context.Context) (net.Conn, error) {
	dialer := net.Dialer{
		Timeout:         dialWait,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: aliveIdle, Interval: aliveInterval, Count: aliveCount},
	}
	if s.tls == nil {
		return dialer.DialContext(ctx, "tcp", s.address())
	}
	encrypted := tls.Dialer{NetDialer: &dialer, Config: s.tls}
	conn, err := encrypted.DialContext(ctx, "tcp", s.address())
	var plain tls.RecordHeaderError
	if errors.As(err, &plain) {
		return nil, fmt.Errorf("the port speaks no TLS; unset MODIAR_TLS and MODIAR_CA: %w", err)
	}
	return conn, err
}
