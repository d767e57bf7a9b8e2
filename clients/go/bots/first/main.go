// First plays one game in practice, always the first legal pit.
package main

import (
	"context"
	"os"

	"modiar"
)

func choose(_ context.Context, turn modiar.Turn) (modiar.Pit, error) {
	return turn.Legal[0], nil
}

func main() {
	os.Exit(modiar.Run(context.Background(), choose, "practice", 1))
}
