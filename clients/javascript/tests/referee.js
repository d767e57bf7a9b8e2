/** A small server for tests: it plays the first legal pit against whoever seeks, and keeps games over lost links. */

import { createServer } from "node:net";
import { Position } from "../rules.js";
import { ERROR_CODES } from "../wire.js";

const TIME = { base_ms: 60000, increment_ms: 1000, grace_ms: 50 };
const RULES = { name: "modiar", repetition: 3, quiet_plies: 200, majority: false, illegal_moves: 3 };
const RESUME = "modiar-0123456789abcdef";

const BOTH = (south, north = south) => ({ south, north });

/** One bot's games; `attach` gives it a connection, and the newest is the one that counts. */
export class Referee {
  /** Every message heard, in order. */
  heard = [];
  /** Moves that were played, as "game ply pit". */
  played = [];
  #send = () => {};
  #hangUp = () => {};
  #games = new Map();
  #missed = [];
  #wanted = 0;
  #created = 0;

  /** `send(message)` and `hangUp()` belong to the connection; returns what hears its messages and its end. */
  attach(send, hangUp) {
    const here = { send, hangUp };
    Object.assign(this, { here });
    this.#send = (message) => this.here === here && send(message);
    this.#hangUp = () => this.here === here && hangUp();
    return {
      hear: (message) => {
        this.heard.push(message);
        this.answer(message);
      },
      lost: () => {
        if (this.here === here) this.here = undefined;
      },
    };
  }

  /** Sends what a test has to say. */
  say(message) {
    this.#send(message);
  }

  cut() {
    this.#hangUp();
  }

  answer(message) {
    const { type, ref } = message;
    if (type === "hello") this.#welcome(ref);
    if (type === "seek") this.#seek(message);
    if (type === "move") this.#move(message);
    if (type === "resign") this.#end(message.game, "north", "resignation");
    if (type === "unseek") this.#unseek(ref);
    if (type === "bye") {
      this.#send({ type: "goodbye", reason: "bye", message: "goodbye", ref });
      this.#hangUp();
    }
  }

  /** The error that answers `message`. */
  refuse({ ref }, code, more = {}) {
    if (!ERROR_CODES.includes(code)) throw new Error(`there is no error ${code}`);
    this.#send({ type: "error", code, message: `no: ${code}`, fatal: false, ref, ...more });
  }

  #welcome(ref) {
    this.#wanted = 0;
    const bot = { name: "guest-1", guest: true, ratings: {} };
    const pools = [{ name: "practice", time: TIME, rated: false, openings: "start", rules: RULES }];
    const limits = { line_bytes: 4096, messages_per_s: 20, games: 1 };
    const games = [...this.#games.keys()];
    const missed = this.#missed;
    this.#send({
      type: "welcome",
      protocol: 1,
      server: "modiar/0.1.0",
      bot,
      resume: RESUME,
      pools,
      limits,
      games,
      missed,
      ref,
    });
    for (const game of games) this.#tell(game, true);
  }

  #seek({ pool, games, ref }) {
    this.#wanted = games || Infinity;
    this.#send({ type: "seeking", pool, waiting: 1, ref });
    this.#begin();
  }

  #unseek(ref) {
    this.#wanted = 0;
    this.#send({ type: "seek_ended", pool: "practice", reason: "cancelled", ref });
  }

  #begin() {
    const game = `g${String(++this.#created).padStart(32, "0")}`;
    this.#games.set(game, { position: Position.start(), moves: "" });
    this.#tell(game, false);
  }

  #tell(game, resumed) {
    const { position, moves } = this.#games.get(game);
    const { pits, captured, side, ply } = position;
    const players = { south: { name: "guest-1", guest: true }, north: { name: "house-first", guest: false } };
    this.#send({
      type: "started",
      game,
      pool: "practice",
      rated: false,
      side: "south",
      ...players,
      time: TIME,
      rules: RULES,
      opening: "",
      moves,
      ply,
      side_to_move: side,
      pits,
      captured,
      remaining_ms: BOTH(60000),
      resumed,
    });
    this.#ask(game);
  }

  #ask(game) {
    const { position, last } = this.#games.get(game);
    const { pits, captured, side, ply } = position;
    this.#send({
      type: "turn",
      game,
      ply,
      side,
      pits,
      captured,
      legal: position.legal(),
      remaining_ms: BOTH(60000, 50000),
      last,
    });
  }

  #move({ game: id, pit, ply, ref }) {
    const game = this.#games.get(id);
    if (!game) return this.refuse({ ref }, "game_over", { game: id });
    if (ply !== game.position.ply) return this.refuse({ ref }, "duplicate", { game: id });
    this.played.push(`${id} ${ply} ${pit}`);
    this.#play(game, pit);
    const [answer] = game.position.legal();
    if (answer !== undefined) this.#play(game, answer);
    if (game.position.legal().length) return this.#ask(id);
    const { south, north } = game.position.score();
    return this.#end(id, south === north ? "draw" : south > north ? "south" : "north", "immobile");
  }

  #play(game, pit) {
    const { side, ply } = game.position;
    const { after, taken } = game.position.play(pit);
    Object.assign(game, { position: after, moves: game.moves + pit, last: { ply, side, pit, taken, elapsed_ms: 3 } });
  }

  #end(game, result, termination) {
    if (!this.#games.has(game)) return;
    const { position } = this.#games.get(game);
    this.#games.delete(game);
    const score = termination === "immobile" ? position.score() : position.captured;
    const ended = { type: "ended", game, result, termination, score, pits: position.pits, ply: position.ply - 1 };
    this.#missed.push(ended);
    this.#send(ended);
    if (!this.#wanted) return; // the seek ended with its connection
    if (--this.#wanted) this.#begin();
    else this.#send({ type: "seek_ended", pool: "practice", reason: "done" });
  }
}

/** The referee behind a port; `write(socket, text)` may cut its lines in pieces. */
export async function serve(referee, write = (socket, text) => socket.write(text)) {
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    const { hear, lost } = referee.attach(
      (message) => write(socket, `${JSON.stringify(message)}\n`),
      () => socket.end(),
    );
    let unread = "";
    socket.setNoDelay(true);
    socket.on("data", (bytes) => {
      const lines = (unread + bytes).split("\n");
      unread = lines.pop();
      lines.forEach((line) => hear(JSON.parse(line)));
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      lost();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: server.address().port, close };
}
