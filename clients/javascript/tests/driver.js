/** Answers questions about the rules and the wire, a JSON object a line each: what other languages are compared with. */

import { createInterface } from "node:readline";
import { Position } from "../rules.js";
import { Decoder, encode } from "../wire.js";

const parse = (question) => Position.parse(question.position);

const ANSWERS = {
  legal: (question) => ({ legal: parse(question).legal() }),
  parse: (question) => {
    const position = parse(question);
    const { pits, captured, side, ply, text } = position;
    return { pits, captured, side, ply, text };
  },
  play: (question) => {
    const { after, taken } = parse(question).play(question.pit);
    return { after: after.text, taken };
  },
  score: (question) => ({ score: parse(question).score() }),
  greedy: (question) => ({ pit: parse(question).greedy() }),
  minimax: (question) => {
    const [position, depth] = [parse(question), question.depth ?? 6];
    return { pit: position.minimax(depth), value: position.value(depth) };
  },
  decode: (question) => {
    const decoder = new Decoder();
    return { messages: question.chunks.flatMap((chunk) => decoder.feed(Buffer.from(chunk, "hex"))) };
  },
  encode: (question) => ({ line: new TextDecoder().decode(encode(question.message)) }),
};

function answer(line) {
  try {
    const question = JSON.parse(line);
    return Object.hasOwn(ANSWERS, question.op) ? ANSWERS[question.op](question) : { error: "unknown op" };
  } catch (error) {
    return { error: error.clause ?? error.code ?? error.message };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(answer(line))}\n`);
}
