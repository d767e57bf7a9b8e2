/** The vectors, the schema and its examples, read from spec/. */

import { readFileSync, readdirSync } from "node:fs";

const SPEC = new URL("../../../spec/", import.meta.url);

export function vectors(name) {
  return readFileSync(new URL(`vectors/${name}`, SPEC), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

export function json(path) {
  return JSON.parse(readFileSync(new URL(path, SPEC), "utf8"));
}

/** The valid examples of messages from `end`, "client" or "server". */
export function examples(end) {
  const folder = `schema/examples/${end}/valid/`;
  return readdirSync(new URL(folder, SPEC)).map((name) => json(folder + name));
}

/** Every step of every transcript that has this key. */
export function steps(key) {
  const names = readdirSync(new URL("transcripts/", SPEC)).filter((name) => name.endsWith(".jsonl"));
  const lines = names.flatMap((name) =>
    readFileSync(new URL(`transcripts/${name}`, SPEC), "utf8")
      .trim()
      .split("\n"),
  );
  return lines.map((line) => JSON.parse(line)[key]).filter((step) => step !== undefined);
}
