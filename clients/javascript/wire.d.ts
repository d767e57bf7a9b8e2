import type { Pit, Seeds, Side } from "./rules.js";

export const VERSION: string;
export const PROTOCOL: 1;
export const PORT: 6634;
export const LINE_BYTES: 16384;
export const ERROR_CODES: readonly ErrorCode[];

/** A mark that returns on the direct reply: at most 64 characters, or an integer within ±(2^53 − 1). */
export type Ref = string | number;

/** A value of this version of the protocol, or a text of a newer one. */
type Open<Known extends string> = Known | (string & {});

export type ErrorCode =
  | "bad_json"
  | "bad_utf8"
  | "line_too_long"
  | "bad_field"
  | "unknown_type"
  | "expected_hello"
  | "unexpected_hello"
  | "bad_protocol"
  | "auth_failed"
  | "name_taken"
  | "bad_name"
  | "registration_closed"
  | "guests_closed"
  | "too_many_connections"
  | "rate_limited"
  | "unknown_pool"
  | "unknown_bot"
  | "unknown_challenge"
  | "already_seeking"
  | "games_limit"
  | "wrong_game"
  | "not_your_turn"
  | "stale_ply"
  | "duplicate"
  | "game_over"
  | "illegal_move"
  | "draining"
  | "internal";

export type Result = "south" | "north" | "draw" | "none";

export type Termination =
  | "immobile"
  | "repetition"
  | "quiet_plies"
  | "majority"
  | "resignation"
  | "time_forfeit"
  | "illegal_move"
  | "aborted"
  | "server_error";

/** Pits that may be played, ascending; never empty. */
export type Legal = readonly [Pit, ...Pit[]];

/** Milliseconds for each side, rounded down. */
export interface Milliseconds {
  readonly south: number;
  readonly north: number;
}

export interface Time {
  base_ms: number;
  increment_ms: number;
  grace_ms: number;
  /** Where one move is limited. */
  move_ms?: number;
}

export interface Rules {
  name: Open<"modiar">;
  /** The standing that ends the game; 0: off. */
  repetition: number;
  /** Plies without a capture that end the game; 0: off. */
  quiet_plies: number;
  majority: boolean;
  /** How many are forgiven. */
  illegal_moves: number;
}

export interface Pool {
  name: string;
  time: Time;
  rated: boolean;
  openings: Open<"start" | "balanced">;
  rules: Rules;
}

export interface Player {
  name: string;
  guest: boolean;
  rating?: number;
  version?: string;
}

export interface Detail {
  pit: Pit;
  clause: string;
  legal: Legal;
}

/** Rating points. */
export interface RatingChange {
  before: number;
  after: number;
  rd: number;
}

// From the client.

export interface Hello {
  type: "hello";
  ref?: Ref;
  protocol: number;
  name?: string;
  token?: string;
  register?: boolean;
  resume?: string;
  client?: string;
  version?: string;
  games?: number;
  updates?: boolean;
}

export interface Seek {
  type: "seek";
  ref?: Ref;
  pool: string;
  games?: number;
}

export interface Unseek {
  type: "unseek";
  ref?: Ref;
  pool?: string;
}

export interface Challenge {
  type: "challenge";
  ref?: Ref;
  opponent: string;
  pool: string;
  side?: Side | "random";
  rated?: boolean;
  games?: number;
}

export interface Accept {
  type: "accept";
  ref?: Ref;
  challenge: string;
}

export interface Decline {
  type: "decline";
  ref?: Ref;
  challenge: string;
}

export interface Move {
  type: "move";
  ref?: Ref;
  game: string;
  pit: number;
  ply?: number;
}

export interface Resign {
  type: "resign";
  ref?: Ref;
  game: string;
}

export interface Watch {
  type: "watch";
  ref?: Ref;
  game: string;
}

export interface Unwatch {
  type: "unwatch";
  ref?: Ref;
  game: string;
}

export interface Ping {
  type: "ping";
  ref?: Ref;
}

export interface Bye {
  type: "bye";
  ref?: Ref;
}

export type ClientMessage =
  Hello | Seek | Unseek | Challenge | Accept | Decline | Move | Resign | Watch | Unwatch | Ping | Bye;

// From the server.

export interface Welcome {
  type: "welcome";
  ref?: Ref;
  protocol: number;
  /** Name and version of the program. */
  server: string;
  bot: { name: string; guest: boolean; ratings: Record<string, { rating: number; rd: number; games: number }> };
  /** Told once, where the name was registered now. */
  token?: string;
  /** Brings a guest back. */
  resume?: string;
  pools: Pool[];
  limits: { line_bytes: number; messages_per_s: number; games: number };
  /** Ids of games that go on. */
  games: string[];
  missed: EndedMessage[];
}

export interface Seeking {
  type: "seeking";
  ref?: Ref;
  pool: string;
  waiting: number;
  reason?: string;
}

export interface SeekEnded {
  type: "seek_ended";
  ref?: Ref;
  pool: string;
  reason: Open<"cancelled" | "done" | "draining" | "penalised">;
  /** Unix time in ms, with `penalised`. */
  until_ms?: number;
  message?: string;
}

export interface Challenged {
  type: "challenged";
  challenge: string;
  from: { name: string; rating?: number };
  pool: string;
  side: Side | "random";
  rated: boolean;
  games: number;
  expires_ms: number;
}

export interface ChallengeSent {
  type: "challenge_sent";
  ref?: Ref;
  challenge: string;
}

export interface ChallengeEnded {
  type: "challenge_ended";
  ref?: Ref;
  challenge: string;
  reason: Open<"declined" | "expired" | "cancelled" | "unavailable" | "draining">;
}

export interface Started {
  type: "started";
  ref?: Ref;
  game: string;
  pool: string;
  rated: boolean;
  /** The reader's side; a spectator has none. */
  side?: Side;
  spectator?: true;
  south: Player;
  north: Player;
  time: Time;
  rules: Rules;
  opening: string;
  moves: string;
  ply: number;
  side_to_move: Side;
  pits: number[];
  captured: Seeds;
  remaining_ms: Milliseconds;
  resumed: boolean;
}

export interface TurnMessage {
  type: "turn";
  game: string;
  ply: number;
  side: Side;
  pits: number[];
  captured: Seeds;
  legal: Legal;
  remaining_ms: Milliseconds;
  /** The ply before; none at the first ply after the opening. */
  last?: { ply: number; side: Side; pit: Pit; taken: number; elapsed_ms: number };
}

export interface Moved {
  type: "moved";
  game: string;
  ply: number;
  side: Side;
  pit: Pit;
  taken: number;
  elapsed_ms: number;
  pits: number[];
  captured: Seeds;
  remaining_ms: Milliseconds;
}

export interface EndedMessage {
  type: "ended";
  game: string;
  result: Result;
  termination: Open<Termination>;
  score: Seeds;
  pits: number[];
  ply: number;
  detail?: Detail;
  rating?: RatingChange;
}

export interface ErrorMessage {
  type: "error";
  ref?: Ref;
  code: Open<ErrorCode>;
  message: string;
  fatal: boolean;
  game?: string;
  field?: string;
  clause?: string;
  legal?: Legal;
  supported?: number[];
}

export interface Notice {
  type: "notice";
  code: Open<"draining">;
  message: string;
  /** Unix time in ms. */
  until_ms?: number;
}

export interface Goodbye {
  type: "goodbye";
  ref?: Ref;
  reason: Open<
    "bye" | "handshake" | "replaced" | "flood" | "slow_reader" | "line_too_long" | "banned" | "draining" | "internal"
  >;
  message: string;
}

export interface Pong {
  type: "pong";
  ref?: Ref;
  /** Unix time. */
  time_ms: number;
}

export interface Unwatched {
  type: "unwatched";
  ref?: Ref;
  game: string;
}

export type ServerMessage =
  | Welcome
  | Seeking
  | SeekEnded
  | Challenged
  | ChallengeSent
  | ChallengeEnded
  | Started
  | TurnMessage
  | Moved
  | EndedMessage
  | ErrorMessage
  | Notice
  | Goodbye
  | Pong
  | Unwatched;

export type Level = "debug" | "info" | "warn" | "error";

export type Log = (level: Level, text: string) => void;

/** The message as compact JSON, without a line ending; throws TypeError for a type that a client does not send. */
export function toText(message: ClientMessage): string;

/** The message as the bytes of one line, its newline included. */
export function encode(message: ClientMessage): Uint8Array;

/** Makes messages of the server's bytes, however they are cut. Messages of unknown types and unknown fields are left out. */
export class Decoder {
  constructor(log?: Log);

  /** The messages that these bytes complete; throws ProtocolError `line_too_long` for a line over LINE_BYTES. */
  feed(bytes: Uint8Array): ServerMessage[];
}
