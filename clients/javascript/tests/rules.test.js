import assert from "node:assert/strict";
import { test } from "node:test";
import { IllegalMove, Position, PositionError } from "../rules.js";
import { vectors } from "./vectors.js";

function played(moves) {
  return [...moves].reduce((position, pit) => position.play(Number(pit)).after, Position.start());
}

test("the clauses of the rules hold", () => {
  for (const { position: text, legal, pit, after, taken, score, pits, captured, side, ply, moves } of vectors(
    "rules.jsonl",
  )) {
    if (moves !== undefined) {
      assert.equal(played(moves).text, after);
      continue;
    }
    const position = Position.parse(text);
    assert.equal(position.text, text);
    if (legal) assert.deepEqual(position.legal(), legal, text);
    if (pit !== undefined) {
      const move = position.play(pit);
      assert.deepEqual([move.after.text, move.taken], [after, taken], text);
    }
    if (score) assert.deepEqual(position.score(), score, text);
    if (pits) assert.deepEqual(position, new Position(pits, captured, side, ply));
  }
});

test("what breaks a clause is refused by it", () => {
  for (const { clause, position, pit } of vectors("rules-invalid.jsonl")) {
    if (position === undefined) continue;
    if (pit === undefined)
      assert.throws(
        () => Position.parse(position),
        (error) => error instanceof PositionError && error.clause === clause,
      );
    else
      assert.throws(
        () => Position.parse(position).play(pit),
        (error) => error instanceof IllegalMove && error.clause === clause,
      );
  }
});

test("positions of another implementation have the same moves", () => {
  for (const {
    side,
    pits,
    captured: [south, north],
    legal,
    after,
  } of vectors("positions.jsonl")) {
    const position = new Position(pits, { south, north }, side, side === "south" ? 3 : 2);
    assert.deepEqual(position.legal(), legal);
    for (const [pit, { pits, captured }] of Object.entries(after)) {
      const next = position.play(Number(pit)).after;
      assert.deepEqual([next.pits, [next.captured.south, next.captured.north]], [pits, captured]);
    }
  }
});

test("whole games come to their scores", () => {
  for (const { moves, score } of vectors("games.jsonl")) {
    const end = played(moves);
    assert.deepEqual([end.legal(), end.score()], [[], score]);
  }
});

test("the reference bots choose as all others do", () => {
  for (const { position: text, legal, greedy, minimax, worth } of vectors("bots.jsonl")) {
    const position = Position.parse(text);
    const says = [position.legal(), position.greedy(), position.minimax(), position.value(6)];
    assert.deepEqual(says, [legal, greedy, minimax, worth], text);
  }
});

test("a game that is over has nothing to choose", () => {
  const over = played(vectors("games.jsonl")[0].moves);
  assert.deepEqual([over.greedy(), over.minimax(2)], [undefined, undefined]);
});

test("a position never changes", () => {
  const position = Position.start();
  assert.throws(() => (position.ply = 2), TypeError);
  assert.throws(() => (position.pits[0] = 2), TypeError);
  position.play(0);
  assert.equal(position.text, "7.7.7-7.7.7 0-0 s 1");
});
