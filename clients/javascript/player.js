/**
 * What a bot does at each message, over all its connections.
 *
 *            connected()          welcome
 *   down ──────────────▶ asking ──────────▶ up ── seek, turns, ended … ──┐
 *    ▲                      │                │                           │
 *    └────────── lost() ────┴────────────────┘            leave(), bye() ▼  gone
 *
 * No I/O, no clock and no chance: what it decides it does through the `world` that it is given.
 */

import { AuthError, IllegalMove, ModiarError, ProtocolError, reason } from "./errors.js";
import { Position } from "./rules.js";
import { PROTOCOL, VERSION } from "./wire.js";

// Between two tries: a random part of this, which doubles from the first to the last, so that not all come at once.
const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 15_000;

// They begin anew once a connection was of use: a move of the bot has counted, or it stood for so long.
const HELD_MS = 10_000;

// All that there are on a board, those that were captured with them.
const SEEDS = 42;

const isIn = (value, most) => Number.isInteger(value) && value >= 0 && value <= most;

// What is read of a message below, where it is not there as it must be.
const SENSE = {
  welcome: ({ bot, games, missed }) => bot?.name && Array.isArray(games) && Array.isArray(missed) && missed.every(makesSense),
  started: ({ south, north }) => south?.name && north?.name,
  turn: ({ pits, captured, legal, remaining_ms }) =>
    [pits, legal].every(Array.isArray) &&
    pits.length === 6 &&
    [...pits, captured?.south, captured?.north].every((seeds) => isIn(seeds, SEEDS)) &&
    legal.length > 0 &&
    legal.every((pit) => isIn(pit, 5)) &&
    [remaining_ms?.south, remaining_ms?.north].every(Number.isFinite),
  ended: ({ score }) => [score?.south, score?.north].every(Number.isFinite),
};

function makesSense(message) {
  return !Object.hasOwn(SENSE, message.type) || Boolean(SENSE[message.type](message));
}

// Most tries in a row to come back, while no game runs.
const IDLE_TRIES = 60;

// Until the next seek where one came to nothing, and until a move that was too much is sent again, at most so often.
const SEEK_AGAIN_MS = 1000;
const MOVE_AGAIN_MS = 200;
const MOVES_AGAIN = 5;

// The wall clocks of both ends differ: a seek after a penalty comes so much later.
const PENALTY_MARGIN_MS = 1000;

// So many ended games are remembered: an end may be told twice, and a welcome repeats 64 at most.
const REMEMBERED = 256;

// Marks that come back with the answers to these messages.
const HELLO = "hello";
const SEEK = "seek";
const UNSEEK = "unseek";

const NOT_LET_IN = new Set(["auth_failed", "name_taken", "bad_name", "registration_closed", "guests_closed"]);

// Other refusals of a hello or a seek that no second try would change, and those that want another connection.
const REFUSED = new Set(["bad_protocol", "bad_field", "unknown_pool"]);
const BUSY = new Set(["draining", "too_many_connections"]);

// The server closes for these, and to come back at once would not mend it.
const FOR_GOOD = new Set(["banned", "replaced", "flood", "handshake", "line_too_long"]);

/** A move that is wanted. It never changes. */
export class Turn {
  #play;

  /** `play(turn, pit, raw)` is what answers it. */
  constructor({ message, game, legal, now, play }) {
    const { ply, side, pits, captured, remaining_ms, last } = message;
    this.game = message.game;
    this.ply = ply;
    this.side = side;
    this.position = new Position(pits, captured, side, ply);
    this.legal = Object.freeze([...legal]);
    this.remainingMs = Object.freeze({ ...remaining_ms });
    this.deadline = now + remaining_ms[side];
    this.opponent = game.opponent;
    this.rated = game.rated;
    this.pool = game.pool;
    this.last = last && Object.freeze(lastPly(last));
    this.#play = play;
    Object.freeze(this);
  }

  /** Plays a pit, once. One that is not in `legal` is an IllegalMove, and is not sent unless `raw`. */
  play(pit, { raw = false } = {}) {
    this.#play(this, pit, raw);
  }
}

function lastPly({ ply, side, pit, taken, elapsed_ms }) {
  return { ply, side, pit, taken, elapsedMs: elapsed_ms };
}

/** What is known of a game that goes on. */
class Game {
  side;
  opponent;
  rated;
  pool;
  /** The newest turn of it. */
  turn;
  /** The pit by ply: a turn that comes again gets the same one. */
  answers = new Map();
  /** The ply at which the server forgave an illegal pit. */
  forgiven;
  /** How often the newest answer was sent again because of the rate. */
  repeats = 0;
  resigned = false;
}

export class Player {
  #world;
  #settings;
  #name;
  #token;
  #resume;
  #games = new Map();
  #over = new Set();
  /** What is to be played: pool, games (0: without end), and how many were. */
  #quest;

  // Of the connection.
  #connection = 0;
  #up = false;
  #seeking = false;
  #paused = false;
  #draining = false;

  // Of coming back.
  #welcomed = false;
  #moved = false;
  #since = 0;
  #pause = FIRST_PAUSE_MS;
  #tries = 0;
  #refusals = 0;

  #leaving = false;
  #unsought = false;
  #parted = false;

  /**
   * `settings` has name, token, version and games (most at once), each may be undefined. `world` has
   * send(message), hangUp(why), later(ms, deed), again(ms): connect then, unreachable(why): no more tries, welcomed(),
   * turn(turn), ended(ended), finished(): the quest is done, gone(): nothing is left to do, fail(error), log(level, text).
   */
  constructor(settings, world) {
    this.#settings = settings;
    this.#world = world;
    this.#name = settings.name;
    this.#token = settings.token;
  }

  /** A connection is made. Seeks and pauses ended with the one before, games did not. */
  connected() {
    this.#connection++;
    this.#draining = false;
    const { version, games } = this.#settings;
    this.#world.send({
      type: "hello",
      ref: HELLO,
      protocol: PROTOCOL,
      name: this.#name,
      token: this.#token,
      resume: this.#resume,
      client: `modiar-javascript/${VERSION}`,
      version,
      games,
    });
  }

  /**
   * The connection, or the try to make one, has ended: `why` is an error or a text, `chance` from 0 to 1 the part of the
   * pause that is waited, and `now` the monotonic time in ms.
   */
  lost(why, chance, now) {
    const held = this.#moved || (this.#up && now - this.#since >= HELD_MS);
    this.#up = this.#moved = this.#seeking = this.#paused = false;
    if (this.#leaving) return this.#world.gone();
    if (!this.#welcomed) return this.#world.unreachable(why);
    this.#goOn();
    if (held) this.#pause = FIRST_PAUSE_MS;
    if (this.#tries++ >= IDLE_TRIES && !this.#games.size) return this.#world.unreachable(why);
    const ms = chance * this.#pause;
    this.#pause = Math.min(2 * this.#pause, LAST_PAUSE_MS);
    this.#log("warn", `no connection: ${reason(why)}; try ${this.#tries} to come back in ${(ms / 1000).toFixed(1)} s`);
    this.#world.again(ms);
  }

  /** A message came; `now` is the monotonic time and `unix` the wall clock's, in ms. */
  hear(message, now, unix) {
    if (!makesSense(message)) return this.#log("warn", `skipped a message of type ${message.type} that makes no sense`);
    switch (message.type) {
      case "welcome":
        return this.#welcome(message, now);
      case "seeking":
        return this.#log("info", `in ${message.pool}: ${message.reason ?? "seeking"}`);
      case "seek_ended":
        return this.#seekEnded(message, unix);
      case "started":
        return this.#started(message);
      case "turn":
        return this.#turn(message, now);
      case "ended":
        this.#ended(message);
        return this.#leaving ? this.#byeWhenFree() : this.#goOn();
      case "error":
        return this.#error(message);
      case "notice":
        return this.#notice(message);
      case "goodbye":
        return this.#goodbye(message);
      default:
        return undefined; // of challenges, spectators and pings nothing is wanted here
    }
  }

  /** Plays so many games in a pool, 0 for no end; first of all those that go on. `finished` tells when they are over. */
  seek(pool, games) {
    if (this.#quest) throw new ModiarError("turns are being read already; let these end first");
    this.#quest = { pool, games, played: 0 };
    this.#goOn();
  }

  /** Seeks no more; games that run go on. */
  unseek() {
    if (this.#seeking) this.#send({ type: "unseek", pool: this.#quest?.pool, ref: UNSEEK });
    this.#seeking = false;
    this.#quest = undefined;
  }

  /** Whether this turn is still to be answered. */
  awaits(turn) {
    const game = this.#games.get(turn.game);
    return game !== undefined && !game.resigned && !game.answers.has(turn.ply);
  }

  /** Gives a game up, also over a lost connection. */
  resign(id) {
    const game = this.#games.get(id);
    if (!game || game.resigned) return;
    game.resigned = true;
    this.#send({ type: "resign", game: id });
  }

  /** Seeks no more, resigns all games, and says bye once their ends are told. */
  leave() {
    this.#leaving = true;
    if (!this.#up) return this.#world.gone();
    this.#send({ type: "unseek", ref: UNSEEK });
    for (const id of this.#games.keys()) this.resign(id);
    return undefined;
  }

  /** Says bye at once; games that run go on, and so do their clocks. */
  bye() {
    this.#leaving = true;
    if (!this.#up) return this.#world.gone();
    if (!this.#parted) this.#send({ type: "bye" });
    this.#parted = true;
    return undefined;
  }

  #welcome({ bot, server, resume, games, missed }, now) {
    this.#log("info", this.#welcomed ? `back as ${bot.name}` : `playing as ${bot.name} on ${server}`);
    this.#name = bot.name; // who comes back without a name is somebody else
    this.#resume = resume;
    for (const ended of missed) {
      if (this.#welcomed) this.#ended(ended);
      else this.#over.add(ended.game); // what was missed before this program began is none of its games
    }
    for (const id of this.#games.keys()) if (!games.includes(id)) this.#games.delete(id);
    for (const id of games) this.#game(id);
    this.#up = this.#welcomed = true;
    this.#since = now;
    this.#tries = this.#refusals = 0;
    this.#world.welcomed();
    this.#goOn();
  }

  /** Where nothing is played and nothing sought: seeks what is left, or has finished. */
  #goOn() {
    if (!this.#quest || this.#games.size || this.#seeking || this.#leaving) return;
    if (this.#isDone()) {
      this.#finish();
    } else if (this.#up && !this.#paused && !this.#draining) {
      this.#seeking = true;
      const { pool, games, played } = this.#quest;
      this.#send({ type: "seek", pool, games: games && games - played, ref: SEEK });
    }
  }

  #isDone() {
    const { games, played } = this.#quest ?? { games: 0 };
    return games > 0 && played >= games;
  }

  #finish() {
    this.#quest = undefined;
    this.#world.finished();
  }

  #seekEnded({ reason, ref, until_ms = 0, message }, unix) {
    if (this.#leaving) {
      this.#unsought ||= ref === UNSEEK;
      return this.#byeWhenFree();
    }
    if (ref === UNSEEK) return undefined;
    this.#seeking = false;
    if (reason === "cancelled") return this.#quest && this.#finish();
    if (reason === "draining") return this.#drain("the server stops, and nothing is sought until it is back");
    if (this.#isDone()) return this.#goOn();
    const ms = Math.max(0, until_ms - unix) + PENALTY_MARGIN_MS;
    this.#log("warn", `the seek ended, ${reason}: ${message ?? ""}; the next comes in ${Math.ceil(ms / 1000)} s`);
    return this.#seekLater(ms);
  }

  #seekLater(ms) {
    this.#paused = true;
    this.#later(ms, () => {
      this.#paused = false;
      this.#goOn();
    });
  }

  #started(message) {
    if (message.spectator) return;
    const { game: id, side, pool, rated } = message;
    const opponent = message[side === "south" ? "north" : "south"].name;
    Object.assign(this.#game(id), { side, pool, rated, opponent });
    this.#log("info", `${message.resumed ? "back in" : "game"} ${id}: ${side} against ${opponent} in ${pool}`);
    if (this.#leaving) this.resign(id);
  }

  #turn(message, now) {
    const game = this.#game(message.game);
    const before = game.turn?.message.ply;
    const repeated = before === message.ply;
    this.#moved ||= !repeated && game.answers.has(before);
    game.turn = { message, now };
    if (game.resigned) return this.#send({ type: "resign", game: message.game });
    if (game.answers.has(message.ply)) return this.#move(message.game, game);
    if (repeated || this.#leaving) return undefined; // it is being chosen for
    game.repeats = 0;
    return this.#ask(game, message.legal);
  }

  #ask(game, legal) {
    const { message, now } = game.turn;
    const play = (turn, pit, raw) => this.#play(turn, pit, raw);
    this.#world.turn(new Turn({ message, game, legal, now, play }));
  }

  #play(turn, pit, raw) {
    if (!raw && !turn.legal.includes(pit)) throw new IllegalMove(pit, turn.position.clause(pit), turn.legal);
    const game = this.#games.get(turn.game);
    if (!game || game.resigned) return this.#log("info", `${turn.game} is over: pit ${pit} comes too late`);
    const answer = game.answers.get(turn.ply);
    if (answer !== undefined)
      throw new ModiarError(`ply ${turn.ply} of ${turn.game} was answered by pit ${answer} already`);
    game.answers.set(turn.ply, pit);
    return this.#move(turn.game, game);
  }

  /** Sends the answer to the newest turn. With its ply it is played once, however often it comes. */
  #move(id, game) {
    const { ply } = game.turn.message;
    this.#send({ type: "move", game: id, pit: game.answers.get(ply), ply, ref: id });
  }

  #ended({ game: id, result, termination, score, rating, detail }) {
    const { side, answers } = this.#games.get(id) ?? {};
    this.#moved ||= answers?.size > 0;
    this.#games.delete(id);
    if (this.#over.has(id)) return;
    this.#over.add(id);
    if (this.#over.size > REMEMBERED) this.#over.delete(this.#over.values().next().value);
    if (this.#quest && result !== "none") this.#quest.played++;
    this.#world.ended({ game: id, result, termination, score, side, rating, detail });
  }

  #error(error) {
    if (!this.#up) return this.#notLetIn(error);
    if (error.ref === SEEK) return this.#notSought(error);
    this.#log("warn", `error ${error.code}: ${error.message}`);
    if (error.code === "illegal_move") return this.#forgiven(error);
    if (error.code === "rate_limited") return this.#limited(this.#games.get(error.game ?? error.ref));
    return undefined; // what the server knows of the game follows by itself
  }

  #notLetIn(error) {
    const isAuth = NOT_LET_IN.has(error.code);
    if (!isAuth && this.#welcomed && !REFUSED.has(error.code)) return this.#comeBackLater(error);
    if (!isAuth) return this.#world.fail(new ProtocolError(error));
    if (!this.#welcomed || ++this.#refusals > 1) return this.#world.fail(new AuthError(error));
    if (!this.#token && !this.#games.size) {
      this.#name = this.#resume = undefined;
      this.#log("warn", "the server has forgotten this guest, who comes back as a new one");
    }
    return this.#comeBackLater(error);
  }

  #notSought(error) {
    this.#seeking = error.code === "already_seeking";
    if (this.#seeking) return undefined;
    if (BUSY.has(error.code)) return this.#comeBackLater(error);
    if (REFUSED.has(error.code)) return this.#world.fail(new ProtocolError(error));
    this.#log("warn", `${error.code}: ${error.message}; the next seek comes in ${SEEK_AGAIN_MS / 1000} s`);
    return this.#seekLater(SEEK_AGAIN_MS);
  }

  #comeBackLater(error) {
    this.#world.hangUp(`${error.code}: ${error.message}`);
  }

  /** An illegal pit was forgiven: the turn is told once more, with what the server takes for legal. */
  #forgiven({ game: id, legal }) {
    const game = this.#games.get(id);
    const ply = game?.turn?.message.ply;
    if (!game?.answers.delete(ply) || this.#leaving) return;
    if (game.forgiven === ply) {
      this.#log("error", `the server refused a second pit at ply ${ply} of ${id}; the game is resigned`);
      this.resign(id);
    } else {
      game.forgiven = ply;
      this.#ask(game, legal ?? game.turn.message.legal);
    }
  }

  #limited(game) {
    const ply = game?.turn?.message.ply;
    if (!game?.answers.has(ply) || game.repeats++ >= MOVES_AGAIN) return;
    this.#later(MOVE_AGAIN_MS, () => {
      if (game.turn.message.ply === ply && this.#games.get(game.turn.message.game) === game) {
        this.#move(game.turn.message.game, game);
      }
    });
  }

  #notice({ code, message }) {
    if (code === "draining") this.#drain(message);
    else this.#log("info", message);
  }

  #drain(why) {
    this.#draining = true;
    this.#log("warn", why);
    this.#goOn(); // it may have finished all the same
  }

  #goodbye({ reason, message }) {
    if (this.#leaving && reason === "bye") return this.#world.hangUp("bye");
    if (!this.#welcomed || FOR_GOOD.has(reason)) return this.#world.fail(new ProtocolError({ code: reason, message }));
    return this.#world.hangUp(`goodbye ${reason}: ${message}`);
  }

  #byeWhenFree() {
    if (this.#unsought && !this.#games.size) this.bye();
  }

  #game(id) {
    if (!this.#games.has(id)) this.#games.set(id, new Game());
    return this.#games.get(id);
  }

  /** Sends, where there is a server that listens; what is lost by that is asked for again after the next welcome. */
  #send(message) {
    if (this.#up) this.#world.send(message);
  }

  /** Does this later, unless the connection is another one by then. */
  #later(ms, deed) {
    const connection = this.#connection;
    this.#world.later(ms, () => {
      if (this.#up && connection === this.#connection) deed();
    });
  }

  #log(level, text) {
    this.#world.log(level, text);
  }
}
