/** A bot at a server, whatever carries its messages: `index.js` and `web.js` say what does. */

import { ModiarError, SettingError } from "./errors.js";
import { Player } from "./player.js";
import { Decoder } from "./wire.js";

// So long a connection may take until its welcome.
const WELCOME_MS = 15_000;

// After a stop, and after a bye: how long to wait for the server's last words.
const LEAVE_MS = 2000;
const BYE_MS = 1000;

// The most that a timer waits; beyond it, it would not wait at all.
const TIMER_MS = 2 ** 31 - 1;

const MOST_GAMES = 1_000_000;

export class Client {
  #open;
  #settings;
  #player;
  #link;
  #turns = [];
  #welcomed = false;
  #finished = false;
  #over = false;
  #error;
  #waiting = [];
  #timers = new Set();
  #stop = () => this.#leave();

  /**
   * `open(events)` makes a connection and returns `{ send(message), close() }`; `events` has opened(), read(bytes) and
   * lost(why). `unreachable(why)` makes the error of a server that cannot be reached.
   */
  constructor(open, unreachable, settings) {
    this.#open = open;
    this.#settings = settings;
    this.#player = new Player(settings, {
      send: (message) => this.#link?.send(message),
      hangUp: (why) => this.#link?.lost(why),
      later: (ms, deed) => this.#after(ms, deed),
      again: (ms) => this.#after(ms, () => this.#begin()),
      unreachable: (why) => this.#end(unreachable(why)),
      welcomed: () => this.#enter(),
      turn: (turn) => this.#ring(this.#turns.push(turn)),
      ended: (ended) => settings.ended?.(ended),
      finished: () => this.#ring((this.#finished = true)),
      gone: () => this.#end(this.#error),
      fail: (error) => this.#end(error),
      log: (level, text) => settings.log?.(level, text),
    });
  }

  /** Connects, and is there once the server has let the bot in. */
  static async connect(open, unreachable, settings) {
    settings.signal?.throwIfAborted();
    const client = new Client(open, unreachable, settings);
    settings.signal?.addEventListener("abort", client.#stop, { once: true });
    client.#begin();
    while (!client.#welcomed) {
      if (client.#over) throw client.#error;
      await client.#change();
    }
    return client;
  }

  /** The turns of so many games in a pool, 0 for no end; those of games that go on come first. */
  async *turns(pool = "practice", games = 1) {
    checkQuest(pool, games);
    if (this.#over) throw this.#error ?? new ModiarError("this client is closed: connect another");
    this.#finished = false;
    this.#player.seek(pool, games);
    try {
      for (let turn; (turn = await this.#next());) yield turn;
    } finally {
      this.#player.unseek();
    }
  }

  /** Plays so many games in a pool by `choose(turn)`, which returns a pit or a promise of one. */
  async run(choose, pool, games) {
    // Not awaited: while one game's pit is being thought of, another's may be played.
    for await (const turn of this.turns(pool, games)) this.#answer(choose, turn);
  }

  /** Says bye and ends the connection. Games that still run go on at the server, and so do their clocks. */
  async close() {
    if (!this.#over) {
      this.#after(BYE_MS, () => this.#end());
      this.#player.bye();
    }
    while (!this.#over) await this.#change();
  }

  async #answer(choose, turn) {
    try {
      turn.play(await choose(turn));
    } catch (error) {
      const place = `${turn.game} at ply ${turn.ply}, ${turn.position}`;
      this.#settings.log?.("error", `choose failed in ${place}; the game is resigned\n${error?.stack ?? error}`);
      this.#player.resign(turn.game);
      if (this.#settings.strict) this.#end(error);
    }
  }

  /** The next turn; undefined once all is played. */
  async #next() {
    for (;;) {
      if (this.#over && this.#error) throw this.#error;
      const turn = this.#turns.shift();
      if (turn && this.#player.awaits(turn)) return turn;
      if (turn) continue;
      if (this.#finished || this.#over) return undefined;
      await this.#change();
    }
  }

  #begin() {
    let dead = false;
    const alive = (deed) => (value) => {
      if (!dead) deed(value);
    };
    const close = () => {
      dead = true;
      this.#link = undefined;
      this.#cancel(patience);
      carrier.close();
    };
    const lost = alive((why) => {
      close();
      this.#player.lost(why, Math.random(), performance.now());
    });
    const decoder = new Decoder(this.#settings.log);
    const hear = alive((message) => this.#player.hear(message, performance.now(), Date.now()));
    const read = alive((bytes) => {
      try {
        decoder.feed(bytes).forEach(hear);
      } catch (error) {
        if (error.code === "line_too_long") lost(error.message);
        else this.#end(error); // of the bot's own `ended`
      }
    });
    const carrier = this.#open({ opened: alive(() => this.#player.connected()), read, lost });
    const patience = this.#after(WELCOME_MS, () => lost(`no welcome within ${WELCOME_MS / 1000} s`));
    this.#link = { send: carrier.send, lost, close, patience };
  }

  #enter() {
    this.#cancel(this.#link.patience);
    this.#welcomed = true;
    this.#ring();
  }

  /** Resigns and leaves, because the signal says so. */
  #leave() {
    this.#error = this.#settings.signal.reason;
    if (!this.#welcomed) return this.#end(this.#error);
    this.#after(LEAVE_MS, () => this.#end(this.#error));
    return this.#player.leave();
  }

  #end(error) {
    if (this.#over) return;
    this.#over = true;
    this.#error = error;
    this.#link?.close();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#settings.signal?.removeEventListener("abort", this.#stop);
    this.#ring();
  }

  #after(ms, deed) {
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        deed();
      },
      Math.min(ms, TIMER_MS),
    );
    this.#timers.add(timer);
    return timer;
  }

  #cancel(timer) {
    clearTimeout(timer);
    this.#timers.delete(timer);
  }

  #change() {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Wakes whoever waits for a change. */
  #ring() {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Whether a bot may be let in by these settings; SettingError names the one that is wrong. */
export function checkSettings({ name, token, version, games }) {
  for (const [setting, value] of Object.entries({ name, version })) {
    if (value !== undefined && typeof value !== "string") {
      throw new SettingError(`${setting} is ${String(value)}: set it to a text, or leave it out`);
    }
  }
  if (token !== undefined && typeof token !== "string")
    throw new SettingError("token is no text: take it as the host gave it");
  if (games !== undefined && !isCount(games, 1)) {
    throw new SettingError(
      `games is ${String(games)}: set it to a whole number from 1 to ${MOST_GAMES}, the most at once`,
    );
  }
}

/** Whether this can be sought; SettingError names what is wrong. */
export function checkQuest(pool, games) {
  if (typeof pool !== "string" || !pool)
    throw new SettingError(`pool is ${String(pool)}: name a pool of the server, like practice`);
  if (!isCount(games, 0)) {
    throw new SettingError(`games is ${String(games)}: set it to a whole number from 0 to ${MOST_GAMES}; 0 has no end`);
  }
}

function isCount(value, least) {
  return Number.isInteger(value) && value >= least && value <= MOST_GAMES;
}
