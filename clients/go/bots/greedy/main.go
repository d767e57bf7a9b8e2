// Greedy plays the legal pit that captures most on this ply; of equal ones, the lowest.
package main

import (
	"context"
	"flag"
	"os"

	"modiar"
)

func choose(_ context.Context, turn modiar.Turn) (modiar.Pit, error) {
	return turn.Position.Greedy(), nil
}

func main() {
	games := flag.Int("games", 1, "how many to play; 0: until stopped")
	pool := flag.String("pool", "practice", "the pool to play in")
	flag.Parse()
	os.Exit(modiar.Run(context.Background(), choose, *pool, *games))
}
