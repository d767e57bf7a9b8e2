/** What a typed program writes; tsc reads it, nothing runs it. */

import { AuthError, connect, run, type Choose, type Pit, type Turn } from "modiar";
import { Position } from "modiar/rules";
import { run as runInBrowser } from "modiar/web";
import { Decoder, encode, type ServerMessage } from "modiar/wire";

const first: Choose = (turn: Turn): Pit => turn.legal[0];
const status: number = await run(first, "practice", 2, { games: 2, strict: true });
await runInBrowser(async (turn) => turn.position.minimax(4), "blitz", 1, { url: "ws://localhost:6635/ws" });

const stop = new AbortController();
const client = await connect({ host: "localhost", port: 6634, signal: stop.signal, ended: (end) => end.score.south });
try {
  for await (const turn of client.turns("practice", 3)) {
    const left: number = turn.deadline - performance.now();
    const taken: number = turn.position.play(turn.legal[0]).taken + (turn.last?.taken ?? 0);
    turn.play(left > 1000 ? (turn.position.greedy() ?? turn.legal[0]) : turn.legal[0], { raw: taken > 0 });
  }
} catch (error) {
  if (error instanceof AuthError) throw new Error(`${error.code} ${error.field ?? ""} ${status}`);
}
await client.close();

/** The union tells the messages apart. */
function told(message: ServerMessage): string {
  switch (message.type) {
    case "turn":
      return message.legal.join();
    case "ended":
      return message.detail?.clause ?? message.termination;
    case "error":
      return message.code === "illegal_move" ? `${message.legal?.[0]}` : message.message;
    default:
      return message.type;
  }
}

new Decoder((level, text) => `${level}${text}`).feed(encode({ type: "ping", ref: 1 })).map(told);
Position.parse("7.7.7-7.7.7 0-0 s 1").value(2);

// @ts-expect-error a move names its pit
encode({ type: "move", game: "g" });
// @ts-expect-error a position never changes
Position.start().ply = 2;
