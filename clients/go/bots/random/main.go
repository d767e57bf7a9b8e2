// Random plays any legal pit, each as likely as the other.
package main

import (
	"context"
	"flag"
	"math/rand/v2"
	"os"

	"modiar"
)

func main() {
	games := flag.Int("games", 1, "how many to play; 0: until stopped")
	pool := flag.String("pool", "practice", "the pool to play in")
	seed := flag.Uint64("seed", rand.Uint64(), "the same seed makes the same choices")
	flag.Parse()
	random := rand.New(rand.NewPCG(*seed, 0))
	choose := func(_ context.Context, turn modiar.Turn) (modiar.Pit, error) {
		return turn.Legal[random.IntN(len(turn.Legal))], nil
	}
	os.Exit(modiar.Run(context.Background(), choose, *pool, *games))
}
