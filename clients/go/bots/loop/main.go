// Loop plays two games in practice by a loop of its own.
package main

import (
	"context"
	"fmt"
	"log"

	"modiar"
)

func main() {
	ctx := context.Background()
	tell := modiar.OnEnded(func(ended modiar.Ended) { fmt.Println(ended.Game, ended.Result) })
	client, err := modiar.Dial(ctx, tell, modiar.Games(2))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	for turn, err := range client.Turns(ctx, "practice", 2) {
		if err != nil {
			log.Fatal(err)
		}
		if err := turn.Play(turn.Legal[0]); err != nil {
			log.Print(err)
		}
	}
}
