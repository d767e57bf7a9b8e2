/**
 * The wire: every message with all its fields, and how bytes become messages.
 *
 * A message is one JSON object on one line. Nothing here reads or writes: bytes go in, messages come out.
 */

import { ProtocolError } from "./errors.js";

/** This package's version. */
export const VERSION = "0.1.0";

/** The version of the protocol that is spoken here. */
export const PROTOCOL = 1;

/** The port of a server, where none is named. */
export const PORT = 6634;

/** Most bytes of a line from the server, its line ending included. */
export const LINE_BYTES = 16384;

/** The codes of the server's `error`. A newer server may have more. */
export const ERROR_CODES = Object.freeze([
  "bad_json",
  "bad_utf8",
  "line_too_long",
  "bad_field",
  "unknown_type",
  "expected_hello",
  "unexpected_hello",
  "bad_protocol",
  "auth_failed",
  "name_taken",
  "bad_name",
  "registration_closed",
  "guests_closed",
  "too_many_connections",
  "rate_limited",
  "unknown_pool",
  "unknown_bot",
  "unknown_challenge",
  "already_seeking",
  "games_limit",
  "wrong_game",
  "not_your_turn",
  "stale_ply",
  "duplicate",
  "game_over",
  "illegal_move",
  "draining",
  "internal",
]);

// A shape tells the fields of an object that are known. A value whose shape is VALUE is taken as it is; [shape] is a
// list of such objects, { "*": shape } an object with any keys.
const VALUE = null;

const fields = (names, nested = {}) => ({
  ...Object.fromEntries(names.split(" ").map((name) => [name, VALUE])),
  ...nested,
});

const SIDES = fields("south north");
const TIME = fields("base_ms increment_ms grace_ms move_ms");
const RULES = fields("name repetition quiet_plies majority illegal_moves");
const PLAYER = fields("name guest rating version");

const ENDED = fields("type game result termination score pits ply detail rating", {
  score: SIDES,
  detail: fields("pit clause legal"),
  rating: fields("before after rd"),
});

const FROM_SERVER = {
  welcome: fields("type ref protocol server bot token resume pools limits games missed", {
    bot: fields("name guest ratings", { ratings: { "*": fields("rating rd games") } }),
    pools: [fields("name time rated openings rules", { time: TIME, rules: RULES })],
    limits: fields("line_bytes messages_per_s games"),
    missed: [ENDED],
  }),
  seeking: fields("type ref pool waiting reason"),
  seek_ended: fields("type ref pool reason until_ms message"),
  challenged: fields("type challenge from pool side rated games expires_ms", { from: fields("name rating") }),
  challenge_sent: fields("type ref challenge"),
  challenge_ended: fields("type ref challenge reason"),
  started: fields(
    "type ref game pool rated side spectator south north time rules opening moves ply side_to_move pits captured " +
      "remaining_ms resumed",
    { south: PLAYER, north: PLAYER, time: TIME, rules: RULES, captured: SIDES, remaining_ms: SIDES },
  ),
  turn: fields("type game ply side pits captured legal remaining_ms last", {
    captured: SIDES,
    remaining_ms: SIDES,
    last: fields("ply side pit taken elapsed_ms"),
  }),
  moved: fields("type game ply side pit taken elapsed_ms pits captured remaining_ms", {
    captured: SIDES,
    remaining_ms: SIDES,
  }),
  ended: ENDED,
  error: fields("type ref code message fatal game field clause legal supported"),
  notice: fields("type code message until_ms"),
  goodbye: fields("type ref reason message"),
  pong: fields("type ref time_ms"),
  unwatched: fields("type ref game"),
};

const FROM_CLIENT = {
  hello: fields("type ref protocol name token register resume client version games updates"),
  seek: fields("type ref pool games"),
  unseek: fields("type ref pool"),
  challenge: fields("type ref opponent pool side rated games"),
  accept: fields("type ref challenge"),
  decline: fields("type ref challenge"),
  move: fields("type ref game pit ply"),
  resign: fields("type ref game"),
  watch: fields("type ref game"),
  unwatch: fields("type ref game"),
  ping: fields("type ref"),
  bye: fields("type ref"),
};

/** The message as compact JSON, without a line ending; fields that are undefined or null are left out. */
export function toText(message) {
  if (!Object.hasOwn(FROM_CLIENT, message.type)) throw new TypeError(`no client message has the type ${message.type}`);
  return JSON.stringify(known(FROM_CLIENT[message.type], message, () => {}));
}

/** The message as the bytes of one line, its newline included. */
export function encode(message) {
  return new TextEncoder().encode(`${toText(message)}\n`);
}

/** Makes messages of the server's bytes, however they are cut. `log(level, text)` hears of what is passed over. */
export class Decoder {
  #log;
  #unread = new Uint8Array(0);
  #utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #told = new Set();

  constructor(log = () => {}) {
    this.#log = log;
  }

  /** The messages that these bytes complete. A line over LINE_BYTES is a ProtocolError: the link is of no more use. */
  feed(bytes) {
    const messages = [];
    let unread = joined(this.#unread, bytes);
    let end;
    while ((end = unread.indexOf(0x0a)) >= 0 && end < LINE_BYTES) {
      const message = this.#read(unread.subarray(0, end));
      if (message) messages.push(message);
      unread = unread.subarray(end + 1);
    }
    if (unread.length >= LINE_BYTES) {
      const message = `the server sent a line of more than ${LINE_BYTES} bytes; is this a port for bots?`;
      throw new ProtocolError({ code: "line_too_long", message });
    }
    this.#unread = unread.slice();
    return messages;
  }

  #read(line) {
    let message;
    let text = "bytes that are no UTF-8";
    try {
      text = this.#utf8.decode(line);
      if (text === "" || text === "\r") return undefined;
      message = JSON.parse(text);
    } catch {
      // Told below, with all else that is no message.
    }
    if (typeof message !== "object" || message === null || Array.isArray(message)) {
      this.#log("warn", `skipped a line that is no message: ${excerpt(text)}`);
      return undefined;
    }
    return this.#message(message);
  }

  #message(message) {
    const { type } = message;
    if (!Object.hasOwn(FROM_SERVER, type)) {
      this.#once(`ignored a message of the unknown type ${excerpt(type)}`);
      return undefined;
    }
    return known(FROM_SERVER[type], message, (field) =>
      this.#once(`ignored the unknown field ${excerpt(field)} of ${type}`),
    );
  }

  /** A newer server says the same again and again: it is told once, and only so many are remembered. */
  #once(text) {
    if (this.#told.has(text) || this.#told.size >= 100) return;
    this.#told.add(text);
    this.#log("debug", text);
  }
}

/** The known fields of `value`, in the shape's order; `strange` hears of the others. What does not fit is kept as it is. */
function known(shape, value, strange) {
  if (shape === VALUE || typeof value !== "object" || value === null) return value;
  if (Array.isArray(shape)) return Array.isArray(value) ? value.map((one) => known(shape[0], one, strange)) : value;
  const any = shape["*"];
  if (!any)
    Object.keys(value)
      .filter((name) => !Object.hasOwn(shape, name))
      .forEach(strange);
  const names = Object.keys(any ? value : shape);
  const present = names.filter(
    (name) => Object.hasOwn(value, name) && value[name] !== null && value[name] !== undefined,
  );
  return Object.fromEntries(present.map((name) => [name, known(any ?? shape[name], value[name], strange)]));
}

function joined(one, other) {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

/** What people may read of a strange text: not all of it, and no token. */
function excerpt(text) {
  return JSON.stringify(
    String(text)
      .replace(/modiar-[0-9A-Za-z_-]{8,}/g, "modiar-…")
      .slice(0, 80),
  );
}
