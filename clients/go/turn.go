package modiar

import (
	"slices"
	"time"
)

// Turn asks for a move. It is a value, and what it tells stays true of the moment at which it came.
type Turn struct {
	Game      string
	Ply       uint32 // the one to play; the game's first is 1
	Side      Side   // the bot's own
	Position  Position
	Legal     []Pit // ascending, never empty
	Remaining BySide[time.Duration]
	// Deadline is when the own time is used up, as far as this side of the link can tell.
	Deadline time.Time
	Opponent string // empty where it was not told
	Rated    bool
	Pool     string
	Last     *Last // nil at the first ply after the opening

	client *Client
}

// Play plays a legal pit. The error is [ErrIllegalMove], of which nothing is sent, [ErrGameOver] or [ErrPlayed]; a lost
// link is none: the move is sent again when the client is back.
func (t Turn) Play(pit Pit) error {
	if !slices.Contains(t.Legal, pit) {
		return &IllegalMoveError{pit, t.Position.Clause(pit)}
	}
	return t.PlayRaw(pit)
}

// PlayRaw sends any pit, to see what the server says to it.
func (t Turn) PlayRaw(pit Pit) (err error) {
	t.client.do(func(p *player) { err = p.play(t, pit) })
	return err
}

// Resign gives the game up.
func (t Turn) Resign() (err error) {
	t.client.do(func(p *player) { err = p.resign(t.Game) })
	return err
}

// sound tells whether a bot can look at the turn: there is a choice, and the board is one that a program can count.
func sound(m TurnMessage) bool {
	noPit := func(pit Pit) bool { return pit < 0 || pit >= Pits }
	noSeeds := func(seeds int) bool { return seeds < 0 || seeds > Seeds }
	known := m.Side == South || m.Side == North
	return known && len(m.Legal) > 0 && !slices.ContainsFunc(m.Legal, noPit) && !slices.ContainsFunc(m.Pits[:], noSeeds)
}

func (g *game) newTurn(m TurnMessage, at time.Time) Turn {
	own := m.RemainingMS.Of(m.Side)
	if limit := g.started.Time.MoveMS; limit != nil {
		own = min(own, *limit)
	}
	return Turn{
		Game: m.Game, Ply: m.Ply, Side: m.Side,
		Position:  Position{m.Pits, m.Captured, m.Side, m.Ply},
		Legal:     m.Legal,
		Remaining: BySide[time.Duration]{milliseconds(m.RemainingMS.South), milliseconds(m.RemainingMS.North)},
		Deadline:  at.Add(milliseconds(own)),
		Opponent:  g.opponent(), Rated: g.started.Rated, Pool: g.started.Pool, Last: m.Last,
	}
}

// milliseconds is as long as a Duration can be where the number is beyond it.
func milliseconds(ms int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Millisecond)
	return time.Duration(max(-most, min(ms, most))) * time.Millisecond
}

// Ended tells how a game ended.
type Ended struct {
	Game        string
	Result      string // south, north, draw or none
	Termination string // spec/forfeits.md
	Score       BySide[int]
	Side        Side    // the bot's own, empty where it was not told
	Detail      *Detail // of an illegal move
	Rating      *Change // where the game was rated
}
