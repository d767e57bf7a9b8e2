export { IllegalMove, PositionError } from "./errors.js";

export type Side = "south" | "north";

/** A pit, absolute, in sowing order: South's 0 1 2, North's 3 4 5, and after 5 comes 0. */
export type Pit = 0 | 1 | 2 | 3 | 4 | 5;

/** A number of seeds for each side. */
export interface Seeds {
  readonly south: number;
  readonly north: number;
}

/** A position; it never changes. */
export class Position {
  /** Seeds in pits 0 to 5. */
  readonly pits: readonly number[];
  /** Seeds captured so far. */
  readonly captured: Seeds;
  /** The side to move. */
  readonly side: Side;
  /** The ply to be played; the game's first is 1. */
  readonly ply: number;
  /** The position as a text: `7.7.7-7.7.7 0-0 s 1`. */
  readonly text: string;

  /** What is given is believed; `parse` examines. */
  constructor(pits: readonly number[], captured: Seeds, side: Side, ply: number);

  /** Seven seeds in each pit, South to play the first ply. */
  static start(): Position;

  /** The position that a text tells; throws PositionError for another text. */
  static parse(text: string): Position;

  /** The pits that may be played, ascending; none where the game is over. */
  legal(): Pit[];

  /** The clause of the rules that this pit breaks; undefined where it may be played. */
  clause(pit: number): string | undefined;

  /** The position after this pit, and how many seeds it captured; throws IllegalMove. */
  play(pit: number): { after: Position; taken: number };

  /** What each side has once it took the seeds of its own row, as at the end of a game. */
  score(): Seeds;

  /** The worth for the side to move, in seeds, looking so many plies ahead. */
  value(depth: number): number;

  /** The legal pit that captures most, of equal ones the lowest; undefined where there is none. */
  greedy(): Pit | undefined;

  /** The legal pit of the highest worth, of equal ones the lowest; undefined where there is none. The depth is 6 where none is named. */
  minimax(depth?: number): Pit | undefined;

  toString(): string;
}
