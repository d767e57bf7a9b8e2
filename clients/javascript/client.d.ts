import type { Detail, Legal, Log, Milliseconds, RatingChange, Result, Termination } from "./wire.js";
import type { Pit, Position, Seeds, Side } from "./rules.js";

/** A move that is wanted. It never changes. */
export class Turn {
  private constructor();
  /** The game's id. */
  readonly game: string;
  /** The ply to play; the game's first is 1. */
  readonly ply: number;
  /** The own side. */
  readonly side: Side;
  readonly position: Position;
  /** The pits that may be played, ascending. */
  readonly legal: Legal;
  /** What both clocks hold at the start of the turn, in ms. */
  readonly remainingMs: Milliseconds;
  /** When the own clock runs out, on the scale of `performance.now()`, in ms. */
  readonly deadline: number;
  /** The opponent's name, where it is known. */
  readonly opponent?: string;
  readonly rated?: boolean;
  readonly pool?: string;
  /** The ply before; none at the first ply after the opening. */
  readonly last?: LastPly;

  /**
   * Plays a pit, once: ModiarError where this ply was answered already. A pit that is not in `legal` is an IllegalMove
   * and is not sent, unless `raw` is true: then anything goes to the server.
   */
  play(pit: number, options?: { raw?: boolean }): void;
}

export interface LastPly {
  readonly ply: number;
  readonly side: Side;
  readonly pit: Pit;
  /** Seeds captured by it. */
  readonly taken: number;
  readonly elapsedMs: number;
}

/** The end of a game; it is told once. */
export interface Ended {
  readonly game: string;
  /** Who won. */
  readonly result: Result;
  /** Why it ended; a newer server may say another text. */
  readonly termination: Termination | (string & {});
  /** Final, or what was captured so far. */
  readonly score: Seeds;
  /** The own side, where it is known. */
  readonly side?: Side;
  readonly rating?: RatingChange;
  /** The pit that ended it, with `illegal_move`. */
  readonly detail?: Detail;
}

/** Plays a turn: returns one of its `legal` pits, or a promise of one. */
export type Choose = (turn: Turn) => number | undefined | Promise<number | undefined>;

/** What can be set about a bot, whatever carries its messages. */
export interface BotSettings {
  /** The bot's name; a guest's that the server gives where there is none. */
  name?: string;
  /** Proves that the name is the bot's. It is never logged. */
  token?: string;
  /** The bot's build, for its history at the server. */
  version?: string;
  /** Most games at once: 1 where nothing is said. */
  games?: number;
  /** Whether an error in `choose` ends the bot; else it costs the game alone. */
  strict?: boolean;
  /** Hears of each game's end, once. */
  ended?: (ended: Ended) => void;
  /** Hears what a person may want to know. */
  log?: Log;
  /** Stops the bot: it resigns its games and leaves. */
  signal?: AbortSignal;
}

/** A bot that the server has let in. It comes back by itself over lost connections. */
export class Client {
  private constructor();

  /**
   * The turns of so many games in a pool, `practice` and 1 where nothing is named, 0 for no end. It ends once all these
   * games are over, and throws AuthError, ProtocolError or ConnectError where they cannot be played, and the signal's
   * reason where that stopped the bot. To leave the loop takes the seek back.
   */
  turns(pool?: string, games?: number): AsyncGenerator<Turn, void, void>;

  /** Plays so many games by `choose`. An error of it costs the game, and with `strict` is thrown here. */
  run(choose: Choose, pool?: string, games?: number): Promise<void>;

  /** Says bye and ends the connection. Games that still run go on at the server, and so do their clocks. */
  close(): Promise<void>;
}
