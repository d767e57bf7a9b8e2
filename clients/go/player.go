package modiar

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"
)

// The client library, as hello tells it.
const clientName = "modiar-go/0.1.0"

const (
	// Between two tries to come back: a random time up to this, which doubles from the first to the last, so that not all
	// bots come at once.
	firstPause, lastPause = 250 * time.Millisecond, 15 * time.Second
	// heldFor is how long a link has stood that was of use, though no move counted over it.
	heldFor = 10 * time.Second
	// idleTries is how often a bot without a game tries to come back. With one there is no limit.
	idleTries = 60
	// welcomeWait is how long a server may take to answer hello.
	welcomeWait = 15 * time.Second
	// overKept is of how many ended games a second telling is known; welcome tells 64 again.
	overKept = 256
	// A seek that came to nothing is said again after so long; a limited move or resignation, so often.
	seekWait, limitedWait, limitedMoves = time.Second, 200 * time.Millisecond, 5
)

// wrongPort is what a server that does not answer hello may mean.
const wrongPort = "MODIAR_PORT may be no port for bots"

// The marks that tell which message an error is about.
var helloRef, seekRef, unseekRef = Ref(`"hello"`), Ref(`"seek"`), Ref(`"unseek"`)

// The server closes for these, and to come back would not mend it.
var forGood = []string{"banned", "replaced", "flood", "handshake", "line_too_long"}

// player is one bot over all its connections: it decides what to say to each message. It does no I/O and reads no clock;
// what it wants done stands in `out`, `hangUp` and `alarms`, and what the bot's owner is to hear in `turns` and `ends`.
type player struct {
	settings settings
	log      *slog.Logger

	name     string // of welcome: who comes back without one is somebody else
	resume   Secret
	welcomed bool // once at least
	games    map[string]*game
	over     []string // ids of ended games, the newest last
	quest    quest
	leaving  bool  // no more games
	bye      bool  // said
	failure  error // why there is nothing to come back for
	pauses   int   // since a link that was of use
	tries    int   // to come back, since a welcome
	refusals int   // of hello, one after the other

	link link

	out    []Message
	hangUp bool
	alarms []alarm
	turns  []Turn // at most one of a game
	ends   []Ended
}

// quest is what the owner wants played; games 0 has no end, and no pool is none.
type quest struct {
	pool      string
	games     int
	played    int
	cancelled bool
}

// link is what ends with its connection.
type link struct {
	welcomed bool
	since    time.Time // welcome
	moved    bool      // a move of the bot has counted
	seeking  bool
	paused   bool // an alarm will seek
	draining bool
}

// game is one that goes on.
type game struct {
	side     Side
	started  StartedMessage
	turn     Turn   // the newest
	choosing uint32 // the ply that the owner has before him, 0: none
	answers  map[uint32]Pit
	forgiven uint32 // the ply at which an illegal pit was
	resigned bool
	said     Message // the newest move or resignation
	limited  int     // how often it was
}

type alarm struct {
	at time.Time
	do func()
}

func newPlayer(settings settings) *player {
	return &player{settings: settings, log: settings.log, name: settings.name, games: map[string]*game{}}
}

// open is a new connection.
func (p *player) open(at time.Time) {
	p.out, p.alarms, p.hangUp, p.link = nil, nil, false, link{}
	hello := HelloMessage{
		Protocol: Protocol, Name: p.name, Token: p.settings.token, Resume: p.resume,
		Client: clientName, Version: p.settings.version, Ref: helloRef,
	}
	if p.settings.games != nil {
		hello.Games = *p.settings.games
	}
	p.say(hello)
	p.alarm(at.Add(welcomeWait), func() {
		switch {
		case p.link.welcomed:
		case p.welcomed:
			p.hangUp = true
		default:
			p.fail(fmt.Errorf("%w to %s: no welcome in %v; %s", ErrConnect, p.settings.address(), welcomeWait, wrongPort))
		}
	})
}

// lost is the end of a connection, or that none was made: how long to wait before the next, or the error that ends it all.
func (p *player) lost(cause error, at time.Time) (time.Duration, error) {
	was := p.link
	p.out, p.alarms, p.link = nil, nil, link{}
	switch {
	case p.failure != nil:
		return 0, p.failure
	case p.bye || p.leaving:
		return 0, ErrClosed
	case !p.welcomed && errors.Is(cause, io.EOF):
		return 0, fmt.Errorf("%w to %s: closed before a welcome; %s", ErrConnect, p.settings.address(), wrongPort)
	case !p.welcomed:
		return 0, fmt.Errorf("%w to %s: %w", ErrConnect, p.settings.address(), cause)
	}
	if was.moved || (was.welcomed && at.Sub(was.since) >= heldFor) {
		p.pauses = 0
	}
	p.pauses++
	p.tries++
	if p.tries > idleTries && len(p.games) == 0 {
		return 0, fmt.Errorf("%w to %s in %d tries: %w", ErrConnect, p.settings.address(), idleTries, cause)
	}
	longest := min(firstPause<<min(p.pauses-1, 16), lastPause)
	pause := time.Duration(rand.Int64N(int64(longest)))
	p.log.Warn("no connection; coming back", "server", p.settings.address(), "cause", cause, "try", p.tries, "pause", pause)
	return pause, nil
}

// hear answers one message that came at this time.
func (p *player) hear(message Message, at time.Time) {
	switch m := message.(type) {
	case WelcomeMessage:
		p.welcome(m, at)
	case SeekingMessage:
		p.log.Info("seeking", "pool", m.Pool, "waiting", m.Waiting, "reason", m.Reason)
	case SeekEndedMessage:
		p.seekEnded(m, at)
	case StartedMessage:
		p.started(m)
	case TurnMessage:
		p.turn(m, at)
	case EndedMessage:
		p.ended(m)
	case ErrorMessage:
		p.refused(m, at)
	case NoticeMessage:
		p.log.Warn("notice", "code", m.Code, "message", m.Message)
		p.link.draining = p.link.draining || m.Code == string(CodeDraining)
	case GoodbyeMessage:
		p.goodbye(m)
	}
}

// tick does what is due.
func (p *player) tick(now time.Time) {
	due := p.alarms
	p.alarms = nil
	for _, alarm := range due {
		if alarm.at.After(now) {
			p.alarms = append(p.alarms, alarm)
		} else {
			alarm.do()
		}
	}
}

// seek sets out for new games.
func (p *player) seek(pool string, games int) {
	p.quest = quest{pool: pool, games: games}
	p.goOn()
}

// stop takes the seek back; games that go on do so.
func (p *player) stop() {
	if p.link.seeking && !p.leaving {
		p.say(UnseekMessage{Pool: p.quest.pool, Ref: unseekRef})
	}
	p.quest = quest{}
}

// finished tells that nothing of the quest is left.
func (p *player) finished() bool {
	if len(p.games) > 0 || p.link.seeking {
		return false
	}
	return p.quest.complete() || p.quest.cancelled
}

func (q quest) complete() bool { return q.games > 0 && q.played >= q.games }

// next takes the turn that has waited longest.
func (p *player) next() (Turn, bool) {
	if len(p.turns) == 0 {
		return Turn{}, false
	}
	turn := p.turns[0]
	p.turns = p.turns[1:]
	p.games[turn.Game].choosing = turn.Ply
	return turn, true
}

// play answers a turn, once.
func (p *player) play(turn Turn, pit Pit) error {
	g, running := p.games[turn.Game]
	if !running || g.resigned {
		return ErrGameOver
	}
	if _, answered := g.answers[turn.Ply]; answered {
		return ErrPlayed
	}
	g.answers[turn.Ply] = pit
	g.choosing = 0
	p.sayOf(g, MoveMessage{Game: turn.Game, Pit: pit, Ply: turn.Ply})
	return nil
}

func (p *player) resign(id string) error {
	g, running := p.games[id]
	if !running {
		return ErrGameOver
	}
	g.resigned = true
	p.sayOf(g, ResignMessage{Game: id})
	return nil
}

// leave takes the seek back and resigns what is played; bye follows when the server has told the end of all that.
func (p *player) leave() {
	p.stop()
	p.leaving = true
	for id := range p.games {
		p.resign(id)
	}
	p.goOn()
}

// close says bye; games go on without the bot.
func (p *player) close() {
	p.bye = true
	p.hangUp = p.hangUp || !p.link.welcomed
	p.say(ByeMessage{})
}

// goOn seeks what is left where nothing is played and nothing sought, or leaves.
func (p *player) goOn() {
	if !p.link.welcomed || p.link.seeking || len(p.games) > 0 || p.bye {
		return
	}
	if p.leaving {
		p.close()
		return
	}
	left := p.quest.games - p.quest.played // of a quest without end it is of no use
	if p.quest.games == 0 {
		left = 0
	}
	if p.link.paused || p.link.draining || p.quest.pool == "" || p.quest.cancelled || p.quest.complete() {
		return
	}
	p.link.seeking = true
	p.say(SeekMessage{Pool: p.quest.pool, Games: &left, Ref: seekRef})
}

func (p *player) welcome(m WelcomeMessage, at time.Time) {
	if p.welcomed {
		p.log.Info("back", "name", m.Bot.Name)
		for _, missed := range m.Missed {
			p.ended(missed.EndedMessage)
		}
	} else {
		p.log.Info("playing", "name", m.Bot.Name, "server", m.Server)
		// What a registered bot missed before this program started is none of its games.
		for _, missed := range m.Missed {
			p.remember(missed.Game)
		}
	}
	p.name, p.resume = m.Bot.Name, m.Resume
	p.tries, p.refusals = 0, 0
	p.welcomed, p.link.welcomed, p.link.since = true, true, at
	for id := range p.games {
		if !slices.Contains(m.Games, id) {
			p.forget(id)
		}
	}
	for _, id := range m.Games { // started follows for each
		p.game(id)
	}
	p.goOn()
}

func (p *player) seekEnded(m SeekEndedMessage, at time.Time) {
	p.link.seeking = false
	if bytes.Equal(m.Ref, unseekRef) {
		p.goOn()
		return
	}
	switch m.Reason {
	case "cancelled":
		p.quest.cancelled = true
	case "draining":
		p.log.Warn("the server stops; waiting for it to come back", "pool", m.Pool)
		p.link.draining = true
	case "penalised":
		wait := seekWait
		if m.UntilMS != nil {
			wait = max(wait, time.UnixMilli(*m.UntilMS).Sub(at))
		}
		p.log.Warn("the bot has to pause", "pool", m.Pool, "message", m.Message, "pause", wait)
		p.pause(at.Add(wait))
	default:
		if !p.quest.complete() {
			p.log.Warn("the seek ended", "pool", m.Pool, "reason", m.Reason, "message", m.Message)
			p.pause(at.Add(seekWait))
		}
	}
	p.goOn()
}

// pause seeks at this time.
func (p *player) pause(until time.Time) {
	p.link.seeking, p.link.paused = false, true
	p.alarm(until, func() {
		p.link.paused = false
		p.goOn()
	})
}

func (p *player) started(m StartedMessage) {
	if m.Spectator {
		return
	}
	g := p.game(m.Game)
	g.side, g.started = m.Side, m
	if m.Resumed {
		p.unturn(m.Game) // what still waits was told on an older link, and is told again if it holds
	}
	opponent := g.opponent()
	p.log.Info("game", "game", m.Game, "pool", m.Pool, "side", m.Side, "opponent", opponent, "resumed", m.Resumed)
	if p.leaving || g.resigned {
		p.resign(m.Game)
	}
}

// opponent is empty where `started` did not come.
func (g *game) opponent() string {
	if g.side == South {
		return g.started.North.Name
	}
	return g.started.South.Name
}

func (p *player) turn(m TurnMessage, at time.Time) {
	if !sound(m) {
		p.log.Warn("skipped a turn that is none", "game", m.Game, "ply", m.Ply)
		return
	}
	g := p.game(m.Game)
	g.side = m.Side
	if _, moved := g.answers[g.turn.Ply]; moved && g.turn.Ply != m.Ply {
		p.link.moved = true
	}
	pit, answered := g.answers[m.Ply]
	switch {
	case g.resigned:
		p.resign(m.Game)
	case answered:
		p.sayOf(g, MoveMessage{Game: m.Game, Pit: pit, Ply: m.Ply})
	case g.choosing != m.Ply:
		g.turn = g.newTurn(m, at)
		p.ask(g)
	}
}

// ask puts the game's newest turn before the owner.
func (p *player) ask(g *game) {
	g.choosing = 0
	p.unturn(g.turn.Game)
	p.turns = append(p.turns, g.turn)
}

// unturn takes back a turn that waits.
func (p *player) unturn(id string) {
	p.turns = slices.DeleteFunc(p.turns, func(turn Turn) bool { return turn.Game == id })
}

// game is that of the id, a new one if it is not known.
func (p *player) game(id string) *game {
	g, known := p.games[id]
	if !known {
		g = &game{answers: map[uint32]Pit{}}
		p.games[id] = g
	}
	return g
}

func (p *player) forget(id string) {
	delete(p.games, id)
	p.unturn(id)
}

// remember keeps the id of an ended game; false where it is known.
func (p *player) remember(id string) bool {
	if slices.Contains(p.over, id) {
		return false
	}
	if len(p.over) == overKept {
		p.over = p.over[1:]
	}
	p.over = append(p.over, id)
	return true
}

func (p *player) ended(m EndedMessage) {
	var side Side
	if g, known := p.games[m.Game]; known {
		side = g.side
		p.link.moved = p.link.moved || len(g.answers) > 0
	}
	p.forget(m.Game)
	if p.remember(m.Game) {
		if m.Result != "none" { // an aborted game is not counted in a seek either
			p.quest.played++
		}
		p.ends = append(p.ends, Ended{m.Game, m.Result, m.Termination, m.Score, side, m.Detail, m.Rating})
	}
	p.goOn()
}

func (p *player) goodbye(m GoodbyeMessage) {
	p.hangUp = true
	if p.bye && m.Reason == "bye" {
		return
	}
	p.log.Warn("goodbye", "reason", m.Reason, "message", m.Message)
	if !p.welcomed || slices.Contains(forGood, m.Reason) {
		p.fail(fmt.Errorf("%w: %s: %s", ErrGoodbye, m.Reason, m.Message))
	}
}

// sayOf says a move or a resignation.
func (p *player) sayOf(g *game, message Message) {
	g.said, g.limited = message, 0
	p.say(message)
}

func (p *player) say(message Message) { p.out = append(p.out, message) }

// fail ends it all.
func (p *player) fail(err error) { p.failure, p.hangUp = err, true }

func (p *player) alarm(at time.Time, do func()) { p.alarms = append(p.alarms, alarm{at, do}) }
