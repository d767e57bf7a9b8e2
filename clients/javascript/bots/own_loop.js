import { connect } from "modiar";

const client = await connect({ ended: ({ game, result }) => console.log(game, result) });
for await (const turn of client.turns("practice", 2)) {
  turn.play(turn.position.minimax(4) ?? turn.legal[0]);
}
await client.close();
