/** The rules of the game: a position, what may be played in it, and what it is worth. No I/O. */

import { IllegalMove, PositionError } from "./errors.js";

export { IllegalMove, PositionError };

const PITS = 6;
const SEEDS = 42;
const TEXT = /^([0-9.]+)-([0-9.]+) ([0-9]+)-([0-9]+) ([sn]) ([0-9]+)$/;
const NUMBER = /^(0|[1-9][0-9]*)$/;
const MOST_SEEDS = 255;
const MOST_PLY = 2 ** 32 - 1;

const ROWS = { south: [0, 1, 2], north: [3, 4, 5] };
const OTHER = { south: "north", north: "south" };

/** A position; it never changes. Pits are absolute, in sowing order: South's 0 1 2, North's 3 4 5, and after 5 comes 0. */
export class Position {
  /** What is given is believed; `parse` examines. */
  constructor(pits, captured, side, ply) {
    this.pits = Object.freeze([...pits]);
    this.captured = Object.freeze({ south: captured.south, north: captured.north });
    this.side = side;
    this.ply = ply;
    Object.freeze(this);
  }

  /** Seven seeds in each pit, South to play the first ply. */
  static start() {
    return new Position(Array(PITS).fill(7), { south: 0, north: 0 }, "south", 1);
  }

  /** The position that a text like `7.7.7-7.7.7 0-0 s 1` tells; PositionError for another text. */
  static parse(text) {
    const refuse = (clause) => new PositionError(text, clause);
    const parts = TEXT.exec(text)?.slice(1);
    if (!parts) throw refuse("rules.text.position");
    const [south, north] = parts.slice(0, 2).map((row) => row.split("."));
    const [letter, ply] = parts.slice(4);
    const seeds = [...south, ...north, ...parts.slice(2, 4)];
    const wellFormed =
      [...seeds, ply].every((number) => NUMBER.test(number)) && seeds.every((number) => number <= MOST_SEEDS);
    if (south.length !== 3 || north.length !== 3 || !wellFormed || ply < 1 || ply > MOST_PLY) {
      throw refuse("rules.text.position");
    }
    if (sum(seeds.map(Number)) !== SEEDS) throw refuse("rules.board.conserved");
    if ((letter === "s") !== (ply % 2 === 1)) throw refuse("rules.turn.south-first");
    const [pits, captured] = [seeds.slice(0, PITS).map(Number), seeds.slice(PITS).map(Number)];
    return new Position(
      pits,
      { south: captured[0], north: captured[1] },
      letter === "s" ? "south" : "north",
      Number(ply),
    );
  }

  /** The position as a text. */
  get text() {
    const { pits, captured } = this;
    const [south, north] = [pits.slice(0, 3), pits.slice(3)].map((row) => row.join("."));
    return `${south}-${north} ${captured.south}-${captured.north} ${this.side[0]} ${this.ply}`;
  }

  toString() {
    return this.text;
  }

  /** The pits that may be played, ascending; none where the game is over. */
  legal() {
    return ROWS[this.side].filter((pit) => this.clause(pit) === undefined);
  }

  /** The clause of the rules that this pit breaks; undefined where it may be played. */
  clause(pit) {
    if (!ROWS[this.side].includes(pit)) return "rules.move.own-row";
    if (this.pits[pit] === 0) return "rules.move.empty-pit";
    if (this.pits[pit] === 1) return "rules.move.singleton";
    if (this.#slams(pit)) return "rules.slam.banned";
    if (this.#starves(pit) && ROWS[this.side].some((other) => this.#feeds(other))) return "rules.feed.must";
    return undefined;
  }

  /** The position after this pit, and how many seeds it captured; IllegalMove for a pit that may not be played. */
  play(pit) {
    const clause = this.clause(pit);
    if (clause) throw new IllegalMove(pit, clause, this.legal());
    const { pits, taken } = this.#sown(pit);
    const captured = { ...this.captured, [this.side]: this.captured[this.side] + taken };
    return { after: new Position(pits, captured, OTHER[this.side], this.ply + 1), taken };
  }

  /** What each side has once it took the seeds of its own row, as at the end of a game. */
  score() {
    const total = (side) => this.captured[side] + this.#row(side, this.pits);
    return { south: total("south"), north: total("north") };
  }

  /** The worth for the side to move, in seeds, looking `depth` plies ahead (`bots.worth`). */
  value(depth) {
    const legal = this.legal();
    const seeds = legal.length ? this.captured : this.score();
    if (!legal.length || depth <= 0) return seeds[this.side] - seeds[OTHER[this.side]];
    return Math.max(...legal.map((pit) => this.#worth(pit, depth)));
  }

  /** The legal pit that captures most; of equal ones the lowest (`bots.greedy`). */
  greedy() {
    return this.#best((pit) => this.play(pit).taken);
  }

  /** The legal pit of the highest worth; of equal ones the lowest (`bots.minimax`). */
  minimax(depth = 6) {
    return this.#best((pit) => this.#worth(pit, depth));
  }

  /** The worth of a legal pit. From 0 it is taken, or there would be a -0. */
  #worth(pit, depth) {
    return 0 - this.play(pit).after.value(depth - 1);
  }

  #best(worth) {
    let best;
    for (const pit of this.legal()) {
      const its = worth(pit);
      if (best === undefined || its > best.worth) best = { pit, worth: its };
    }
    return best?.pit;
  }

  /** The board after this pit, whether it is legal or not. */
  #sown(pit) {
    const pits = [...this.pits];
    const seeds = pits[pit];
    pits[pit] = 0;
    for (let step = 0; step < seeds; step++) pits[(pit + step) % PITS]++;
    let taken = 0;
    if (this.ply === 1) return { pits, taken }; // the first ply of a game captures nothing
    for (let last = (pit + seeds - 1) % PITS; [2, 4, 6].includes(pits[last]); last = (last + PITS - 1) % PITS) {
      taken += pits[last];
      pits[last] = 0;
    }
    return { pits, taken };
  }

  /** Whether this pit captures all that lies in the opponent's row. */
  #slams(pit) {
    const other = OTHER[this.side];
    const { pits, taken } = this.#sown(pit);
    if (!taken || this.#row(other, pits)) return false;
    // The row is empty now: it was captured unless nothing lay in it, before the sowing and after.
    return this.#row(other, this.pits) > 0 || this.#reaches(pit);
  }

  /** Whether this pit leaves a row without seeds as it is. */
  #starves(pit) {
    return this.#row(OTHER[this.side], this.pits) === 0 && !this.#reaches(pit);
  }

  /** Whether this pit may be played and sows into the opponent's row. */
  #feeds(pit) {
    return this.pits[pit] > 1 && this.#reaches(pit) && !this.#slams(pit);
  }

  /** Whether the sowing of this pit leaves the own row. */
  #reaches(pit) {
    return pit + this.pits[pit] - 1 > ROWS[this.side][2];
  }

  #row(side, pits) {
    return sum(ROWS[side].map((pit) => pits[pit]));
  }
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
