package modiar

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
)

// Exit statuses, the same as the daemon's own commands.
const (
	ExitDone        = 0   // every game was played
	ExitUsage       = 2   // a setting is wrong
	ExitCouldNot    = 3   // the server was not reached, refused the bot or hung up for good
	ExitInterrupted = 130 // Ctrl-C
)

// Choose answers a turn with one of its legal pits. Its ctx ends at the turn's deadline. After an error or a panic the game is
// resigned and the bot plays on.
type Choose func(ctx context.Context, turn Turn) (Pit, error)

// Run is a whole program: it connects, plays so many games in a pool (0: without end), prints each result on stdout, and
// returns the exit status. What is for people goes to stderr. Ctrl-C, or the end of ctx, resigns and leaves.
func Run(ctx context.Context, choose Choose, pool string, games int, options ...Option) int {
	ctx, stop := untilInterrupt(ctx)
	defer stop()
	options = append([]Option{Logger(slog.New(slog.NewTextHandler(os.Stderr, nil)))}, options...)
	err := play(ctx, choose, pool, games, append(options, printEnds))
	switch {
	case err == nil:
		return ExitDone
	case ctx.Err() != nil:
		return ExitInterrupted
	}
	fmt.Fprintln(os.Stderr, err)
	if errors.Is(err, ErrSetting) {
		return ExitUsage
	}
	return ExitCouldNot
}

// printEnds prints each game's end, and then calls who else wants to know.
func printEnds(s *settings) {
	also := s.ended
	s.ended = func(e Ended) {
		side := e.Side
		if side == "" {
			side = "unknown"
		}
		fmt.Println(e.Game, e.Result, e.Termination, side, fmt.Sprintf("%d-%d", e.Score.South, e.Score.North))
		if e.Detail != nil {
			s.log.Warn("illegal", "game", e.Game, "pit", e.Detail.Pit, "clause", e.Detail.Clause, "legal", e.Detail.Legal)
		}
		if also != nil {
			also(e)
		}
	}
}

// untilInterrupt is over at Ctrl-C; a second one ends the program. Where the shell has it ignored nothing is changed.
func untilInterrupt(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	if signal.Ignored(os.Interrupt) {
		return ctx, cancel
	}
	heard, stopped := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(heard, os.Interrupt)
	go func() {
		for range 2 {
			select {
			case <-heard:
			case <-stopped:
				return
			}
			if ctx.Err() != nil {
				os.Exit(ExitInterrupted)
			}
			cancel()
		}
	}()
	return ctx, func() {
		signal.Stop(heard)
		close(stopped)
		cancel()
	}
}

// play connects, answers every turn by choose, and closes.
func play(ctx context.Context, choose Choose, pool string, games int, options []Option) error {
	if err := checkQuest(pool, games); err != nil {
		return err
	}
	client, err := Dial(ctx, options...)
	if err != nil {
		return err
	}
	for turn, err := range client.Turns(ctx, pool, games) {
		if err == nil {
			err = client.answer(ctx, choose, turn)
		}
		if err != nil {
			client.Leave()
			return err
		}
	}
	return client.Close()
}

// answer plays what choose says; the error ends the program.
func (c *Client) answer(ctx context.Context, choose Choose, turn Turn) error {
	pit, err := consider(ctx, choose, turn)
	if err == nil {
		err = turn.Play(pit)
	}
	switch {
	case err == nil || errors.Is(err, ErrGameOver):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	c.settings.log.Error("choose failed", "game", turn.Game, "ply", turn.Ply, "position", turn.Position)
	fmt.Fprintln(os.Stderr, err)
	if c.settings.strict {
		return err
	}
	turn.Resign()
	return nil
}

// consider calls choose; it does not wait for it longer than ctx.
func consider(ctx context.Context, choose Choose, turn Turn) (Pit, error) {
	type answer struct {
		pit Pit
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		a := answer{err: errors.New("choose ended its goroutine")}
		defer func() {
			if cause := recover(); cause != nil {
				a.err = fmt.Errorf("panic: %v\n\n%s", cause, debug.Stack())
			}
			answers <- a
		}()
		limited, cancel := context.WithDeadline(ctx, turn.Deadline)
		defer cancel()
		a.pit, a.err = choose(limited, turn)
	}()
	select {
	case a := <-answers:
		return a.pit, a.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
