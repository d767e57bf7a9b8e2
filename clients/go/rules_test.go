package modiar

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// spec is the specification's folder, from this one.
const spec = "../../spec"

// vector has the fields of all the vector files that are read here.
type vector struct {
	Reason   string
	Position string
	Side     Side
	Pits     [Pits]int
	Captured json.RawMessage
	Ply      uint32
	Legal    []Pit
	Pit      *Pit
	After    json.RawMessage
	Taken    int
	Score    *BySide[int]
	Moves    string
	Clause   Clause
	Over     string
	Offset   *int
	Greedy   Pit
	Minimax  Pit
	Worth    int
}

func vectors(t *testing.T, file string) []vector {
	t.Helper()
	text, err := os.Open(filepath.Join(spec, "vectors", file))
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	var all []vector
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		all = append(all, v)
	}
	if len(all) == 0 {
		t.Fatalf("%s is empty", file)
	}
	return all
}

func position(t *testing.T, text string) Position {
	t.Helper()
	p, err := ParsePosition(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func read[T any](t *testing.T, text []byte) (value T) {
	t.Helper()
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

// replay plays a game from the start position.
func replay(t *testing.T, moves string) Position {
	t.Helper()
	p := Start()
	for at, digit := range moves {
		after, _, err := p.Play(Pit(digit - '0'))
		if err != nil {
			t.Fatalf("%s at %d: %v", moves, at, err)
		}
		p = after
	}
	return p
}

func TestRules(t *testing.T) {
	for _, v := range vectors(t, "rules.jsonl") {
		if v.Position == "" { // a game
			if got, want := replay(t, v.Moves).String(), read[string](t, v.After); got != want {
				t.Errorf("%s: %s, not %s", v.Moves, got, want)
			}
			continue
		}
		p := position(t, v.Position)
		if p.String() != v.Position {
			t.Errorf("%s became %s", v.Position, p)
		}
		if v.Legal != nil && !slices.Equal(p.Legal(), v.Legal) {
			t.Errorf("%s (%s): %v, not %v", p, v.Reason, p.Legal(), v.Legal)
		}
		if v.Pit != nil {
			after, taken, err := p.Play(*v.Pit)
			if want := read[string](t, v.After); err != nil || after.String() != want || taken != v.Taken {
				t.Errorf("%s (%s): %s %d %v", p, v.Reason, after, taken, err)
			}
		}
		if v.Score != nil && p.Score() != *v.Score {
			t.Errorf("%s (%s): %v", p, v.Reason, p.Score())
		}
		if v.Ply != 0 {
			if parts := (Position{v.Pits, read[BySide[int]](t, v.Captured), v.Side, v.Ply}); p != parts {
				t.Errorf("%s: %+v", v.Position, p)
			}
		}
	}
}

func TestWhatBreaksTheRules(t *testing.T) {
	for _, v := range vectors(t, "rules-invalid.jsonl") {
		if v.Offset != nil || v.Over != "" || v.Moves != "" {
			continue // games as text, and endless play: the referee's
		}
		p, err := ParsePosition(v.Position)
		var text *PositionError
		if v.Pit == nil {
			if !errors.As(err, &text) || text.Clause != v.Clause {
				t.Errorf("%q (%s): %v, not %s", v.Position, v.Reason, err, v.Clause)
			}
			continue
		}
		same, taken, err := p.Play(*v.Pit)
		var move *IllegalMoveError
		if !errors.As(err, &move) || !errors.Is(err, ErrIllegalMove) || move.Clause != v.Clause || same != p || taken != 0 {
			t.Errorf("%s %d (%s): %v, not %s", p, *v.Pit, v.Reason, err, v.Clause)
		}
	}
}

func TestPositions(t *testing.T) {
	type board struct {
		Pits     [Pits]int
		Captured [2]int
	}
	for _, v := range vectors(t, "positions.jsonl") {
		captured := read[[2]int](t, v.Captured)
		p := Position{v.Pits, BySide[int]{captured[0], captured[1]}, v.Side, 3}
		if v.Side == North {
			p.Ply = 2
		}
		if !slices.Equal(p.Legal(), v.Legal) {
			t.Errorf("%s: %v, not %v", p, p.Legal(), v.Legal)
		}
		for pit, want := range read[map[Pit]board](t, v.After) {
			after, _, err := p.Play(pit)
			if got := (board{after.Pits, [2]int{after.Captured.South, after.Captured.North}}); err != nil || got != want {
				t.Errorf("%s %d: %v %v, not %v", p, pit, got, err, want)
			}
		}
	}
}

func TestGames(t *testing.T) {
	for _, v := range vectors(t, "games.jsonl") {
		if p := replay(t, v.Moves); len(p.Legal()) > 0 || p.Score() != *v.Score {
			t.Errorf("%s: %s, %v", v.Moves, p, p.Score())
		}
	}
}

func TestBots(t *testing.T) {
	for _, v := range vectors(t, "bots.jsonl") {
		p := position(t, v.Position)
		greedy, minimax, worth := p.Greedy(), p.Minimax(DefaultDepth), p.Value(DefaultDepth)
		if !slices.Equal(p.Legal(), v.Legal) || greedy != v.Greedy || minimax != v.Minimax || worth != v.Worth {
			t.Errorf("%s: greedy %d, minimax %d, worth %d", p, greedy, minimax, worth)
		}
	}
}

func TestWhereNobodyCanMoveNoPitIsBest(t *testing.T) {
	p := position(t, "1.1.1-1.1.1 18-18 s 31")
	if p.Greedy() != -1 || p.Minimax(6) != -1 || p.Value(6) != 0 {
		t.Error(p.Greedy(), p.Minimax(6), p.Value(6))
	}
}
