import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Decoder, ERROR_CODES, LINE_BYTES, VERSION, encode, toText } from "../wire.js";
import { examples, json, steps } from "./vectors.js";

const own = (name) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
const bytes = (text) => new TextEncoder().encode(text);
const decoded = (text) => new Decoder().feed(bytes(text));

/** Every name of a field or a message, and every value of an enumeration, in a schema. */
function names(schema) {
  if (typeof schema !== "object" || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap(names);
  const own = [...Object.keys(schema.properties ?? {}), ...(schema.enum ?? []), schema.const];
  return [...own.filter((name) => typeof name === "string"), ...Object.values(schema).flatMap(names)];
}

/** The names of all fields, and of the messages. */
function fields(schema) {
  if (typeof schema !== "object" || schema === null) return [];
  const own = [...Object.keys(schema.properties ?? {}), ...[schema.properties?.type?.const ?? []].flat()];
  return [...own, ...Object.values(schema).flatMap(fields)];
}

test("the wire files know every message, field and code of the schema", () => {
  const schemas = ["client", "server"].map((end) => json(`schema/${end}.schema.json`));
  const wanted = new Set(schemas.flatMap(names));
  const codes = schemas[1].$defs.error.properties.code.enum;
  assert.ok(wanted.size > 100);
  const missing = (file, names) => {
    const words = new Set(own(file).match(/\w+/g));
    return [...names].filter((name) => !words.has(name));
  };
  assert.deepEqual(missing("wire.d.ts", wanted), []);
  assert.deepEqual(missing("wire.js", schemas.flatMap(fields)), []);
  assert.deepEqual(ERROR_CODES, codes);
});

test("each message keeps every field that its schema has", () => {
  for (const end of ["client", "server"]) {
    for (const [type, { properties }] of Object.entries(json(`schema/${end}.schema.json`).$defs)) {
      if (properties?.type?.const !== type) continue;
      const message = { ...Object.fromEntries(Object.keys(properties).map((name) => [name, 1])), type };
      if (end === "client") assert.deepEqual(JSON.parse(toText(message)), message);
      else assert.deepEqual(decoded(`${JSON.stringify(message)}\n`), [message]);
    }
  }
});

test("examples and transcripts go through unchanged", () => {
  const present = (value) =>
    JSON.parse(JSON.stringify(value, (_, one) => (one === "$absent" || one === null ? undefined : one)));
  for (const message of [...examples("server"), ...steps("expect")].map(present)) {
    assert.deepEqual(decoded(`${JSON.stringify(message)}\n`), [message]);
  }
  const sent = [...examples("client"), ...steps("send")].map(present);
  const types = Object.keys(json("schema/client.schema.json").$defs);
  for (const message of sent.filter(({ type }) => types.includes(type))) {
    const line = JSON.parse(new TextDecoder().decode(encode(message)));
    for (const [name, value] of Object.entries(line)) assert.deepEqual(value, message[name]);
  }
});

test("lines may come in pieces, together, with CRLF and empty ones", () => {
  const text = '\n\r\n{"type":"pong","time_ms":1,"ref":"é"}\r\n{"type":"seeking","pool":"p","waiting":2}\n{"type":"po';
  const wanted = [
    { type: "pong", ref: "é", time_ms: 1 },
    { type: "seeking", pool: "p", waiting: 2 },
  ];
  const all = bytes(text);
  for (let size = 1; size <= all.length; size++) {
    const decoder = new Decoder();
    const found = [];
    for (let at = 0; at < all.length; at += size) found.push(...decoder.feed(all.subarray(at, at + size)));
    assert.deepEqual(found, wanted);
  }
});

test("what is no message is skipped and told, and no token with it", () => {
  const told = [];
  const decoder = new Decoder((level, text) => told.push(`${level} ${text}`));
  const junk = ["[1]", "null", "7", "{", "HTTP/1.1 400", '\ufeff{"type":"pong"}', '{"token":"modiar-0123456789abcdef"'];
  assert.deepEqual(decoder.feed(bytes(`${junk.join("\n")}\n`)), []);
  assert.deepEqual(decoder.feed(new Uint8Array([0x22, 0xff, 0x22, 0x0a])), []);
  assert.equal(told.length, junk.length + 1);
  assert.ok(told.every((line) => line.startsWith("warn ") && !line.includes("0123")));
});

test("unknown types and fields are told once and left out", () => {
  const told = [];
  const decoder = new Decoder((level, text) => told.push(`${level} ${text}`));
  const lines =
    '{"type":"weather"}\n{"type":"__proto__"}\n{"type":7}\n{}\n{"type":"pong","time_ms":1,"__proto__":{"x":1},"hue":1}\n';
  assert.deepEqual(decoder.feed(bytes(lines + lines)), Array(2).fill({ type: "pong", time_ms: 1 }));
  assert.equal(told.length, 6);
  assert.ok(told.every((line) => line.startsWith("debug ")));
});

test("a line over the limit is an error, one at the limit is not", () => {
  const line = (length) => `{"type":"pong","time_ms":1${" ".repeat(length - 28)}}\n`;
  assert.equal(decoded(line(LINE_BYTES)).length, 1);
  const tooLong = (error) => error.code === "line_too_long" && error.fatal;
  assert.throws(() => decoded(line(LINE_BYTES + 1)), tooLong);
  assert.throws(() => decoded("x".repeat(LINE_BYTES)), tooLong);
});

test("only client messages are encoded, without what is absent", () => {
  assert.equal(toText({ type: "seek", pool: "p", games: undefined, ref: null, hue: 1 }), '{"type":"seek","pool":"p"}');
  assert.equal(new TextDecoder().decode(encode({ type: "bye" })), '{"type":"bye"}\n');
  assert.throws(() => encode({ type: "turn" }), TypeError);
});

test("the version is the package's", () => {
  assert.equal(VERSION, JSON.parse(own("package.json")).version);
});

test("each module exports what its types say", async () => {
  const errors = Object.keys(await import("../errors.js")).filter(
    (name) => name.endsWith("Error") || name === "IllegalMove",
  );
  for (const name of ["index", "web", "wire", "rules"]) {
    const text = own(`${name}.d.ts`);
    const declared = [...text.matchAll(/^export (?:class|function|const) (\w+)/gm)].map(([, value]) => value);
    const lists = [...text.matchAll(/^export \{(.*)\}/gm)].flatMap(([, list]) =>
      list.split(",").map((one) => one.trim()),
    );
    const typed = [...declared, ...lists.filter((one) => !one.startsWith("type "))];
    if (text.includes('export * from "./errors.js"')) typed.push(...errors);
    assert.deepEqual(Object.keys(await import(`../${name}.js`)).sort(), typed.sort(), name);
  }
});
