import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

const DRIVER = new URL("driver.js", import.meta.url).pathname;
const START = "7.7.7-7.7.7 0-0 s 1";

test("the driver answers each question with a line", () => {
  const pong = Buffer.from('{"type":"pong","time_ms":1,"hue":2}\r\n').toString("hex");
  const dialogue = [
    [{ op: "legal", position: START }, { legal: [0, 1, 2] }],
    [
      { op: "parse", position: START },
      { pits: Array(6).fill(7), captured: { south: 0, north: 0 }, side: "south", ply: 1, text: START },
    ],
    [{ op: "parse", position: "7" }, { error: "rules.text.position" }],
    [
      { op: "play", position: START, pit: 0 },
      { after: "2.8.8-8.8.8 0-0 n 2", taken: 0 },
    ],
    [{ op: "play", position: START, pit: 3 }, { error: "rules.move.own-row" }],
    [{ op: "score", position: START }, { score: { south: 21, north: 21 } }],
    [{ op: "greedy", position: START }, { pit: 0 }],
    [
      { op: "minimax", position: START, depth: 6 },
      { pit: 1, value: -2 },
    ],
    [{ op: "decode", chunks: [pong.slice(0, 20), pong.slice(20)] }, { messages: [{ type: "pong", time_ms: 1 }] }],
    [{ op: "decode", chunks: ["78".repeat(20_000)] }, { error: "line_too_long" }],
    [{ op: "encode", message: { type: "bye", ref: 1 } }, { line: '{"type":"bye","ref":1}\n' }],
    [{ op: "dance" }, { error: "unknown op" }],
  ];
  const input = dialogue.map(([question]) => `${JSON.stringify(question)}\n`).join("");
  const { stdout } = spawnSync(process.execPath, [DRIVER], { input, encoding: "utf8", timeout: 30_000 });
  assert.deepEqual(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
    dialogue.map(([, answer]) => answer),
  );
});
