package modiar

import (
	"fmt"
	"regexp"
	"strconv"
)

// Pits is how many pits the board has, and Seeds how many seeds there are, captured ones included.
const (
	Pits  = 6
	Seeds = 42
)

// DefaultDepth is how many plies minimax looks ahead where nobody says otherwise.
const DefaultDepth = 6

// Pit is absolute, in sowing order: South's 0 1 2, North's 3 4 5; after 5 comes 0.
type Pit int

// Side is one of the two players.
type Side string

// The sides. South plays first.
const (
	South Side = "south"
	North Side = "north"
)

// Other is the opponent.
func (s Side) Other() Side {
	if s == South {
		return North
	}
	return South
}

// first is the first pit of the side's row.
func (s Side) first() Pit {
	if s == South {
		return 0
	}
	return Pits / 2
}

// owns tells whether the pit is in the side's row.
func (s Side) owns(pit Pit) bool {
	return s.first() <= pit && pit < s.first()+Pits/2
}

// BySide holds one value for each side.
type BySide[T any] struct {
	South T `json:"south"`
	North T `json:"north"`
}

// Of is the value of one side.
func (b BySide[T]) Of(side Side) T {
	if side == South {
		return b.South
	}
	return b.North
}

// Clause is the id of a clause of spec/rules.md.
type Clause string

// The clauses that a pit or a text can break.
const (
	ClauseOwnRow     Clause = "rules.move.own-row"
	ClauseEmptyPit   Clause = "rules.move.empty-pit"
	ClauseSingleton  Clause = "rules.move.singleton"
	ClauseSlam       Clause = "rules.slam.banned"
	ClauseFeed       Clause = "rules.feed.must"
	ClauseText       Clause = "rules.text.position"
	ClauseConserved  Clause = "rules.board.conserved"
	ClauseSouthFirst Clause = "rules.turn.south-first"
)

// Position is a board, what was captured, and the ply to be played, counted from 1. It is a value: to play makes another one.
type Position struct {
	Pits     [Pits]int
	Captured BySide[int]
	Side     Side
	Ply      uint32
}

// Start is the position that a game starts from.
func Start() Position {
	return Position{Pits: [Pits]int{7, 7, 7, 7, 7, 7}, Side: South, Ply: 1}
}

var positionText = regexp.MustCompile(`\A(\d+)\.(\d+)\.(\d+)-(\d+)\.(\d+)\.(\d+) (\d+)-(\d+) ([sn]) (\d+)\z`)

// ParsePosition reads a position as text, "7.7.7-7.7.7 0-0 s 1"; the error is a [*PositionError].
func ParsePosition(text string) (Position, error) {
	parts := positionText.FindStringSubmatch(text)
	if parts == nil {
		return Position{}, &PositionError{text, ClauseText}
	}
	var seeds [Pits + 2]int
	for at := range seeds {
		number, err := strconv.ParseUint(parts[1+at], 10, 8)
		if err != nil {
			return Position{}, &PositionError{text, ClauseText}
		}
		seeds[at] = int(number)
	}
	ply, err := strconv.ParseUint(parts[10], 10, 32)
	if err != nil || ply == 0 {
		return Position{}, &PositionError{text, ClauseText}
	}
	position := Position{[Pits]int(seeds[:Pits]), BySide[int]{seeds[Pits], seeds[Pits+1]}, South, uint32(ply)}
	if parts[9] == "n" {
		position.Side = North
	}
	if clause := position.fault(text); clause != "" {
		return Position{}, &PositionError{text, clause}
	}
	return position, nil
}

// fault is the clause that keeps the position, read from this text, from being one.
func (p Position) fault(text string) Clause {
	total := p.Captured.South + p.Captured.North
	for _, seeds := range p.Pits {
		total += seeds
	}
	switch {
	case p.String() != text: // a leading zero
		return ClauseText
	case total != Seeds:
		return ClauseConserved
	case (p.Ply%2 == 1) != (p.Side == South):
		return ClauseSouthFirst
	}
	return ""
}

// String is the position as text.
func (p Position) String() string {
	return fmt.Sprintf("%d.%d.%d-%d.%d.%d %d-%d %.1s %d", p.Pits[0], p.Pits[1], p.Pits[2], p.Pits[3], p.Pits[4], p.Pits[5],
		p.Captured.South, p.Captured.North, p.Side, p.Ply)
}

// Legal lists the pits that may be played, ascending; none where the game is over.
func (p Position) Legal() []Pit {
	var legal []Pit
	for pit := p.Side.first(); p.Side.owns(pit); pit++ {
		if p.Clause(pit) == "" {
			legal = append(legal, pit)
		}
	}
	return legal
}

// Clause is the first clause that the pit breaks, empty where it may be played.
func (p Position) Clause(pit Pit) Clause {
	clause := p.clauseUnfed(pit)
	if clause != "" || p.feeds(pit) || p.row(p.Side.Other()) > 0 {
		return clause
	}
	for other := p.Side.first(); p.Side.owns(other); other++ {
		if p.feeds(other) && p.clauseUnfed(other) == "" {
			return ClauseFeed
		}
	}
	return ""
}

// clauseUnfed asks all clauses but that of feeding.
func (p Position) clauseUnfed(pit Pit) Clause {
	switch {
	case !p.Side.owns(pit):
		return ClauseOwnRow
	case p.Pits[pit] == 0:
		return ClauseEmptyPit
	case p.Pits[pit] == 1:
		return ClauseSingleton
	}
	if _, _, slam := p.sow(pit); slam {
		return ClauseSlam
	}
	return ""
}

// feeds tells whether an own pit sows into the opponent's row: the first seed stays, the last own pit is passed.
func (p Position) feeds(pit Pit) bool {
	return p.Pits[pit] > int(p.Side.Other().first()-pit+Pits)%Pits
}

// row is how many seeds lie in a side's row.
func (p Position) row(side Side) int {
	first := side.first()
	return p.Pits[first] + p.Pits[first+1] + p.Pits[first+2]
}

// Play is the position after the pit was played, and how many seeds it captured; the error is an [*IllegalMoveError].
func (p Position) Play(pit Pit) (Position, int, error) {
	if clause := p.Clause(pit); clause != "" {
		return p, 0, &IllegalMoveError{pit, clause}
	}
	after, taken, _ := p.sow(pit)
	return after, taken, nil
}

// sow plays a pit that may be banned as a grand slam, and tells whether it is.
func (p Position) sow(pit Pit) (after Position, taken int, slam bool) {
	after = p
	seeds := p.Pits[pit]
	after.Pits[pit] = 0
	for step := range seeds { // the first seed goes back into the pit it came from
		after.Pits[(int(pit)+step)%Pits]++
	}
	other := p.Side.Other()
	last := (int(pit) + seeds - 1) % Pits
	// The first ply of the game forfeits its capture.
	for p.Ply > 1 && (after.Pits[last] == 2 || after.Pits[last] == 4 || after.Pits[last] == 6) {
		taken += after.Pits[last]
		after.Pits[last] = 0
		slam = slam || other.owns(Pit(last))
		last = (last + Pits - 1) % Pits
	}
	if p.Side == South {
		after.Captured.South += taken
	} else {
		after.Captured.North += taken
	}
	after.Side, after.Ply = other, p.Ply+1
	return after, taken, slam && after.row(other) == 0
}

// Score is what each side has once it took its own row, whether the game is over or not.
func (p Position) Score() BySide[int] {
	return BySide[int]{p.Captured.South + p.row(South), p.Captured.North + p.row(North)}
}

// Value is the worth of the position for the side to move, in seeds, so many plies ahead (bots.worth of spec/bots.md).
func (p Position) Value(depth int) int {
	legal := p.Legal()
	if len(legal) == 0 {
		return p.lead(p.Score())
	}
	if depth <= 0 {
		return p.lead(p.Captured)
	}
	_, worth := p.best(legal, func(after Position, _ int) int { return -after.Value(depth - 1) })
	return worth
}

// lead is by how much the side to move is ahead.
func (p Position) lead(seeds BySide[int]) int {
	return seeds.Of(p.Side) - seeds.Of(p.Side.Other())
}

// Greedy is the legal pit that captures most on this ply, of equal ones the lowest; -1 where there is none.
func (p Position) Greedy() Pit {
	pit, _ := p.best(p.Legal(), func(_ Position, taken int) int { return taken })
	return pit
}

// Minimax is the legal pit of the highest worth so many plies ahead, of equal ones the lowest; -1 where there is none.
func (p Position) Minimax(depth int) Pit {
	pit, _ := p.best(p.Legal(), func(after Position, _ int) int { return -after.Value(depth - 1) })
	return pit
}

// best is the first of the pits that are worth most, and what it is worth.
func (p Position) best(pits []Pit, worth func(after Position, taken int) int) (Pit, int) {
	best, most := Pit(-1), 0
	for _, pit := range pits {
		after, taken, _ := p.sow(pit)
		if found := worth(after, taken); best < 0 || found > most {
			best, most = pit, found
		}
	}
	return best, most
}
