// Minimax plays the legal pit of the highest worth, some plies ahead; of equal ones, the lowest.
package main

import (
	"context"
	"flag"
	"os"

	"modiar"
)

func main() {
	games := flag.Int("games", 1, "how many to play; 0: until stopped")
	pool := flag.String("pool", "practice", "the pool to play in")
	depth := flag.Int("depth", modiar.DefaultDepth, "how many plies to look ahead")
	flag.Parse()
	choose := func(_ context.Context, turn modiar.Turn) (modiar.Pit, error) {
		return turn.Position.Minimax(*depth), nil
	}
	os.Exit(modiar.Run(context.Background(), choose, *pool, *games))
}
