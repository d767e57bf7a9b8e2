package modiar

import (
	"errors"
	"io"
	"reflect"
	"testing"
	"time"
)

// table is a player with what is said to it, in virtual time.
type table struct {
	t   *testing.T
	p   *player
	now time.Time
}

// sit connects a player and lets it in.
func sit(t *testing.T, options ...Option) *table {
	t.Helper()
	s, err := settle(options)
	if err != nil {
		t.Fatal(err)
	}
	at := &table{t, newPlayer(s), time.UnixMilli(1_000_000)}
	at.p.open(at.now)
	at.says(HelloMessage{Protocol: 1, Name: s.name, Token: s.token, Client: clientName, Ref: helloRef})
	return at
}

// hears tells the player these messages.
func (a *table) hears(messages ...Message) {
	for _, message := range messages {
		a.p.hear(message, a.now)
	}
}

// says looks at what the player said since the last time.
func (a *table) says(want ...Message) {
	a.t.Helper()
	if out := a.p.out; len(out) != len(want) || len(want) > 0 && !reflect.DeepEqual(out, want) {
		a.t.Fatalf("said %+v, not %+v", out, want)
	}
	a.p.out = nil
}

// later lets time go by.
func (a *table) later(wait time.Duration) {
	a.now = a.now.Add(wait)
	a.p.tick(a.now)
}

// back loses the link and comes back to these games.
func (a *table) back(games ...string) {
	a.t.Helper()
	if _, err := a.p.lost(io.EOF, a.now); err != nil {
		a.t.Fatal(err)
	}
	a.p.open(a.now)
	a.p.out = nil
	a.hears(WelcomeMessage{Bot: Bot{Name: "Ada"}, Resume: "r", Games: games})
}

// asked is the turn that the owner has before him.
func (a *table) asked() Turn {
	a.t.Helper()
	turn, ok := a.p.next()
	if !ok {
		a.t.Fatal("no turn")
	}
	return turn
}

func seekFor(games int) SeekMessage { return SeekMessage{Pool: "blitz", Games: &games, Ref: seekRef} }

var (
	in        = WelcomeMessage{Bot: Bot{Name: "Ada"}, Resume: "r"}
	started   = StartedMessage{Game: "g1", Pool: "blitz", Side: South, North: Player{Name: "Bo"}}
	firstTurn = TurnMessage{Game: "g1", Ply: 1, Side: South, Pits: Start().Pits, Legal: []Pit{0, 1, 2}}
	ended     = EndedMessage{Game: "g1", Result: "north", Termination: "immobile", Score: BySide[int]{19, 23}}
	move      = MoveMessage{Game: "g1", Pit: 2, Ply: 1}
	done      = SeekEndedMessage{Pool: "blitz", Reason: "done"}
)

// playing is a table at which the first turn was told.
func playing(t *testing.T, games int) *table {
	t.Helper()
	a := sit(t)
	a.p.seek("blitz", games)
	a.hears(in)
	a.says(seekFor(games))
	a.hears(started, firstTurn)
	return a
}

func TestAGameIsPlayed(t *testing.T) {
	a := playing(t, 1)
	limited := int64(250)
	withLimit := started
	withLimit.Time.MoveMS = &limited
	timed := firstTurn
	timed.RemainingMS = BySide[int64]{5000, 1 << 62}
	a.hears(withLimit, timed)
	turn := a.asked()
	if turn.Opponent != "Bo" || turn.Pool != "blitz" || turn.Position != Start() || turn.Last != nil {
		t.Errorf("%+v", turn)
	}
	if turn.Remaining.South != 5*time.Second || turn.Deadline != a.now.Add(250*time.Millisecond) {
		t.Errorf("%+v", turn)
	}
	if err := a.p.play(turn, 2); err != nil {
		t.Error(err)
	}
	a.says(move)
	if err := a.p.play(turn, 1); !errors.Is(err, ErrPlayed) {
		t.Error(err)
	}
	a.hears(ended, ended)
	if a.p.finished() {
		t.Error("the seek is not over")
	}
	a.hears(done)
	if want := []Ended{{"g1", "north", "immobile", BySide[int]{19, 23}, South, nil, nil}}; !reflect.DeepEqual(a.p.ends, want) {
		t.Error(a.p.ends)
	}
	if err := a.p.play(turn, 1); !errors.Is(err, ErrGameOver) || !a.p.finished() || a.p.quest.played != 1 {
		t.Error(err, a.p.finished(), a.p.quest)
	}
	a.says()
}

func TestAnAnswerIsSentAgainAndNotChosenAgain(t *testing.T) {
	a := playing(t, 1)
	a.p.play(a.asked(), 2)
	a.says(move)
	resumed := started
	resumed.Resumed = true
	a.back("g1")
	a.hears(resumed, firstTurn)
	a.says(move)
	if len(a.p.turns) != 0 {
		t.Error("asked again")
	}
	a.back() // the game is gone, and nothing was told of it
	a.says(seekFor(1))
}

func TestATurnIsAskedOnceWhileItIsThoughtAbout(t *testing.T) {
	a := playing(t, 1)
	a.back("g1")
	a.hears(firstTurn) // not taken yet: the newer one is asked
	turn := a.asked()
	a.back("g1")
	a.hears(firstTurn)
	if len(a.p.turns) != 0 {
		t.Error("asked again")
	}
	a.p.play(turn, 2)
	a.says(move)
}

func TestWhatWasMissedIsCountedOnce(t *testing.T) {
	a := sit(t)
	first := in
	old := ended
	old.Game = "g0"
	first.Missed = []Missed{{"ended", old}}
	a.p.seek("blitz", 3)
	a.hears(first) // an older program's game
	a.says(seekFor(3))
	a.hears(started, ended, started)
	if len(a.p.ends) != 1 || a.p.ends[0].Game != "g1" {
		t.Fatal(a.p.ends)
	}
	a.p.lost(io.EOF, a.now)
	a.p.open(a.now)
	a.p.out = nil
	aborted := ended
	aborted.Game, aborted.Result = "g2", "none"
	first.Missed = []Missed{{"ended", old}, {"ended", ended}, {"ended", aborted}}
	a.hears(first)
	a.says(seekFor(2))
	if len(a.p.ends) != 2 || a.p.ends[1].Game != "g2" {
		t.Error(a.p.ends)
	}
}

func TestAResignationOutlivesTheLink(t *testing.T) {
	a := playing(t, 1)
	a.asked()
	a.p.resign("g1")
	a.says(ResignMessage{Game: "g1"})
	a.back("g1")
	a.hears(firstTurn)
	a.says(ResignMessage{Game: "g1"})
}

func TestAForgivenPitIsChosenAgainOnce(t *testing.T) {
	a := playing(t, 1)
	a.p.play(a.asked(), 2)
	a.says(move)
	forgiven := ErrorMessage{Code: CodeIllegalMove, Game: "g1", Clause: ClauseFeed, Legal: []Pit{0}}
	a.hears(forgiven)
	turn := a.asked()
	if !reflect.DeepEqual(turn.Legal, []Pit{0}) {
		t.Error(turn.Legal)
	}
	a.p.play(turn, 0)
	a.says(MoveMessage{Game: "g1", Pit: 0, Ply: 1})
	a.hears(forgiven)
	a.says(ResignMessage{Game: "g1"})
}

func TestOtherErrorsAboutAMoveDoNoHarm(t *testing.T) {
	a := playing(t, 1)
	a.p.play(a.asked(), 2)
	a.says(move)
	for _, code := range []Code{CodeDuplicate, CodeStalePly, CodeNotYourTurn, CodeGameOver, CodeWrongGame, CodeInternal, "new"} {
		a.hears(ErrorMessage{Code: code, Game: "g1"}, ErrorMessage{Code: code})
	}
	a.says()
	if len(a.p.games) != 1 || a.p.hangUp {
		t.Error(a.p.games, a.p.hangUp)
	}
}

func TestALimitedMessageIsSentAgain(t *testing.T) {
	a := playing(t, 1)
	a.p.play(a.asked(), 2)
	a.says(move)
	for range limitedMoves {
		a.hears(ErrorMessage{Code: CodeRateLimited, Game: "g1"})
		a.later(limitedWait - 1)
		a.says()
		a.later(1)
		a.says(move)
	}
	a.hears(ErrorMessage{Code: CodeRateLimited, Game: "g1"})
	a.later(time.Hour)
	a.says()
	a.hears(ended, done)
	a.p.seek("blitz", 2)
	a.says(seekFor(2))
	a.hears(ErrorMessage{Code: CodeRateLimited, Ref: seekRef})
	a.later(seekWait)
	a.says(seekFor(2))
}

func TestAPenaltyIsWaitedFor(t *testing.T) {
	a := sit(t)
	a.p.seek("blitz", 0)
	a.hears(in)
	a.says(seekFor(0))
	until := a.now.Add(30 * time.Second).UnixMilli()
	a.hears(SeekEndedMessage{Pool: "blitz", Reason: "penalised", UntilMS: &until})
	a.later(30*time.Second - 1)
	a.says()
	a.later(1)
	a.says(seekFor(0))
}

func TestASeekEnds(t *testing.T) {
	a := playing(t, 5)
	a.hears(ended, SeekEndedMessage{Pool: "blitz", Reason: "cancelled"})
	a.says()
	if !a.p.finished() {
		t.Error("cancelled, and goes on")
	}
	a.p.seek("blitz", 5)
	a.says(seekFor(5))
	a.p.stop()
	a.says(UnseekMessage{Pool: "blitz", Ref: unseekRef})
	a.p.seek("blitz", 6)
	a.says() // until the old one is over
	a.hears(SeekEndedMessage{Pool: "blitz", Reason: "cancelled", Ref: unseekRef})
	a.says(seekFor(6))
}

func TestADrainIsWaitedFor(t *testing.T) {
	a := playing(t, 2)
	a.hears(NoticeMessage{Code: "draining"}, SeekEndedMessage{Pool: "blitz", Reason: "draining"}, ended)
	a.says()
	a.hears(GoodbyeMessage{Reason: "draining"})
	if !a.p.hangUp || a.p.failure != nil {
		t.Error(a.p.hangUp, a.p.failure)
	}
	a.back()
	a.says(seekFor(1))
	a.hears(ErrorMessage{Code: CodeDraining, Ref: seekRef})
	if !a.p.hangUp {
		t.Error("stays")
	}
	a.back()
	a.says(seekFor(1))
}

func TestTriesAreLimitedOnlyWithoutAGame(t *testing.T) {
	a := playing(t, 2)
	for try := range 1000 {
		if pause, err := a.p.lost(io.EOF, a.now); err != nil || pause > lastPause || try == 0 && pause > firstPause {
			t.Fatal(try, pause, err)
		}
	}
	a.back()
	for range idleTries {
		if _, err := a.p.lost(io.EOF, a.now); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.p.lost(io.EOF, a.now); !errors.Is(err, ErrConnect) || !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestPausesBeginAnewOnceALinkWasOfUse(t *testing.T) {
	a := playing(t, 1)
	lost := func(want int) {
		t.Helper()
		if _, err := a.p.lost(io.EOF, a.now); err != nil || a.p.pauses != want {
			t.Error(a.p.pauses, want, err)
		}
		a.p.open(a.now)
	}
	told := func(ply uint32) {
		turn := firstTurn
		turn.Ply = ply
		a.hears(WelcomeMessage{Games: []string{"g1"}}, started, turn)
	}
	for tries := range 10 {
		lost(tries + 1)
		told(1)
	}
	a.p.play(a.asked(), 2)
	lost(11)
	told(1) // the move may have got lost
	lost(12)
	told(3) // it has counted
	lost(1)
	told(3)
	lost(2)
	told(3)
	a.later(heldFor - 1)
	lost(3)
	a.later(heldFor)
	a.hears(ErrorMessage{Code: CodeTooManyConnections, Fatal: true})
	lost(4)
	told(3)
	a.later(heldFor)
	lost(1)
	lost(2)
	told(3)
	a.hears(ended)
	lost(1)
}

func TestTheFirstConnectionFailsAtOnce(t *testing.T) {
	for _, cause := range []error{io.EOF, io.ErrUnexpectedEOF} {
		if _, err := sit(t).p.lost(cause, time.Time{}); !errors.Is(err, ErrConnect) {
			t.Error(err)
		}
	}
	a := sit(t)
	a.later(welcomeWait)
	if _, err := a.p.lost(io.EOF, a.now); !errors.Is(err, ErrConnect) || !a.p.hangUp {
		t.Error(err)
	}
}

func TestARefusedNameIsAnError(t *testing.T) {
	a := sit(t, Name("Ada"), Token("secret"))
	a.hears(ErrorMessage{Code: CodeAuthFailed, Message: "unknown name", Ref: helloRef})
	_, err := a.p.lost(io.EOF, a.now)
	var told *ProtocolError
	if !errors.Is(err, ErrAuth) || !errors.As(err, &told) || told.Code != CodeAuthFailed {
		t.Error(err)
	}
	a = sit(t)
	a.hears(ErrorMessage{Code: CodeBadProtocol, Ref: helloRef})
	if _, err := a.p.lost(io.EOF, a.now); errors.Is(err, ErrAuth) || !errors.As(err, &told) {
		t.Error(err)
	}
}

// refuse comes back and is refused.
func (a *table) refuse(code Code) {
	a.p.lost(io.EOF, a.now)
	a.p.open(a.now)
	a.hears(ErrorMessage{Code: code, Ref: helloRef})
}

func TestABotThatIsRefusedTwiceStaysAway(t *testing.T) {
	a := sit(t, Name("Ada"), Token("secret"))
	a.hears(in)
	a.refuse(CodeAuthFailed)
	if _, err := a.p.lost(io.EOF, a.now); err != nil {
		t.Fatal(err)
	}
	a.refuse(CodeAuthFailed)
	if _, err := a.p.lost(io.EOF, a.now); !errors.Is(err, ErrAuth) {
		t.Error(err)
	}
}

func TestAGuestThatIsForgottenComesBackAsAnother(t *testing.T) {
	a := sit(t, Name("Ada"))
	a.hears(in)
	a.refuse(CodeNameTaken)
	a.p.lost(io.EOF, a.now)
	a.p.open(a.now)
	a.says(HelloMessage{Protocol: 1, Client: clientName, Ref: helloRef})
}

func TestSomeGoodbyesAreForGood(t *testing.T) {
	for reason, final := range map[string]bool{
		"banned": true, "replaced": true, "flood": true, "handshake": true, "line_too_long": true,
		"slow_reader": false, "internal": false, "draining": false, "bye": false,
	} {
		a := playing(t, 1)
		a.hears(GoodbyeMessage{Reason: reason})
		if _, err := a.p.lost(io.EOF, a.now); errors.Is(err, ErrGoodbye) != final {
			t.Error(reason, err)
		}
	}
}

func TestAnUnknownPoolIsAnError(t *testing.T) {
	a := sit(t)
	a.p.seek("blitz", 1)
	a.hears(in, ErrorMessage{Code: CodeUnknownPool, Message: "no such pool", Ref: seekRef})
	var told *ProtocolError
	if _, err := a.p.lost(io.EOF, a.now); !errors.As(err, &told) || told.Code != CodeUnknownPool {
		t.Error(err)
	}
}

func TestWhoLeavesResigns(t *testing.T) {
	a := playing(t, 0)
	a.p.leave()
	a.says(UnseekMessage{Pool: "blitz", Ref: unseekRef}, ResignMessage{Game: "g1"})
	other := started
	other.Game = "g2"
	a.hears(other, SeekEndedMessage{Pool: "blitz", Reason: "cancelled", Ref: unseekRef}, ended)
	a.says(ResignMessage{Game: "g2"})
	over := ended
	over.Game = "g2"
	a.hears(over)
	a.says(ByeMessage{})
}

func TestAStrangeTurnIsPassedOver(t *testing.T) {
	a := playing(t, 1)
	a.asked()
	for _, spoil := range []func(*TurnMessage){
		func(m *TurnMessage) { m.Legal = nil },
		func(m *TurnMessage) { m.Legal = []Pit{6} },
		func(m *TurnMessage) { m.Side = "east" },
		func(m *TurnMessage) { m.Pits[3] = 1 << 40 },
	} {
		strange := firstTurn
		strange.Ply = 3
		spoil(&strange)
		a.hears(strange)
	}
	a.hears(StartedMessage{Game: "g9", Spectator: true}, MovedMessage{}, ChallengedMessage{}, PongMessage{})
	if len(a.p.turns) != 0 || len(a.p.games) != 1 {
		t.Error(a.p.turns, a.p.games)
	}
	a.says()
}
