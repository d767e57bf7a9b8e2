/** Bots over TCP or TLS: `run` is a whole program, `connect` gives a loop of your own. */

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { connect as connectTcp, isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import { Client, checkQuest, checkSettings } from "./client.js";
import { ConnectError, ModiarError, SettingError } from "./errors.js";
import { PORT, encode } from "./wire.js";

export {
  AuthError,
  ConnectError,
  IllegalMove,
  ModiarError,
  PositionError,
  ProtocolError,
  SettingError,
} from "./errors.js";
export { Position } from "./rules.js";
export { Turn } from "./player.js";

// Exit statuses, the same as the daemon's own commands.
const DONE = 0;
const USAGE = 2;
const COULD_NOT = 3;
const INTERRUPTED = 130;

// A write that the server does not take within this is a lost connection.
const WRITE_MS = 10_000;

// A server that is gone without a word is noticed after so long a silence, and some tries.
const KEEP_ALIVE_MS = 15_000;

// What the answer of a port that speaks TLS to one who does not begins with; no line does.
const TLS_ALERT = 0x15;

/**
 * A whole program: connects, plays so many games in a pool (0: without end) by `choose(turn)`, tells a result a line on
 * stdout and all else on stderr, and returns the exit status. Ctrl-C resigns and leaves.
 */
export async function run(choose, pool = "practice", games = 1, settings = {}) {
  const stop = new AbortController();
  const signal = settings.signal ? AbortSignal.any([stop.signal, settings.signal]) : stop.signal;
  const interrupt = () => (stop.signal.aborted ? process.exit(INTERRUPTED) : stop.abort());
  const ended = (end) => {
    tell(end);
    settings.ended?.(end);
  };
  process.on("SIGINT", interrupt);
  try {
    checkQuest(pool, games);
    const client = await connect({ log: note, ...settings, ended, signal });
    await client.run(choose, pool, games);
    await client.close();
    return DONE;
  } catch (error) {
    if (signal.aborted) return INTERRUPTED;
    if (!(error instanceof ModiarError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return error instanceof SettingError ? USAGE : COULD_NOT;
  } finally {
    process.off("SIGINT", interrupt);
  }
}

/** Connects to the server that the settings and the environment name. */
export async function connect(settings = {}) {
  const { host, port, tls, ...bot } = settle(settings, process.env);
  const unreachable = (why) => new ConnectError(host, port, why);
  return Client.connect((events) => open({ host, port, tls }, events), unreachable, bot);
}

/** The settings with what the environment says of those that are left out. */
function settle(settings, environment) {
  const {
    host = environment.MODIAR_HOST || "127.0.0.1",
    port = environment.MODIAR_PORT || PORT,
    name = environment.MODIAR_NAME || undefined,
    token = environment.MODIAR_TOKEN || undefined,
    tls = environment.MODIAR_TLS || undefined,
    ca = environment.MODIAR_CA || undefined,
    ...others
  } = settings;
  if (typeof host !== "string" || !host)
    throw new SettingError(`MODIAR_HOST is ${String(host)}: set it to a name or an address`);
  if (!/^[0-9]{1,5}$/.test(port) || port < 1 || port > 65535) {
    throw new SettingError(`MODIAR_PORT is ${JSON.stringify(port)}: set it to a number from 1 to 65535`);
  }
  if (![undefined, true, false, "1"].includes(tls)) {
    throw new SettingError(
      `MODIAR_TLS is ${JSON.stringify(tls)}: set it to 1, or unset it where the port speaks no TLS`,
    );
  }
  checkSettings({ name, token, ...others });
  return {
    ...others,
    host,
    port: Number(port),
    name,
    token,
    tls: tls !== false && (tls || ca) && { ca: ca && certificates(ca) },
  };
}

function certificates(file) {
  try {
    const pem = readFileSync(file);
    new X509Certificate(pem); // refuses what is no certificate, where TLS would only trust nobody
    return pem;
  } catch (error) {
    throw new SettingError(
      `MODIAR_CA is ${JSON.stringify(file)}: ${error.message}; name a file of certificates in PEM`,
    );
  }
}

/** One connection: bytes to messages and back. */
function open({ host, port, tls }, events) {
  const socket = tls
    ? connectTls({ host, port, ca: tls.ca, servername: isIP(host) ? "" : host })
    : connectTcp({ host, port });
  // A move is one small packet; Nagle's algorithm would hold it back on our own clock.
  socket.setNoDelay(true);
  socket.setKeepAlive(true, KEEP_ALIVE_MS);
  socket.once(tls ? "secureConnect" : "connect", events.opened);
  socket.on("data", (bytes) => {
    if (!tls && bytes[0] === TLS_ALERT) return events.lost("the port may speak TLS; set MODIAR_TLS=1");
    return events.read(bytes);
  });
  socket.on("error", (error) =>
    events.lost(withoutTls(error) ? "the port speaks no TLS; unset MODIAR_TLS and MODIAR_CA" : error),
  );
  socket.on("close", () => events.lost("the server closed the connection"));
  return {
    send(message) {
      const late = setTimeout(
        () => socket.destroy(new Error(`the server took nothing for ${WRITE_MS / 1000} s`)),
        WRITE_MS,
      );
      socket.write(encode(message), () => clearTimeout(late));
    },
    close: () => socket.destroySoon(),
  };
}

function withoutTls(error) {
  return ["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG"].includes(error.code);
}

/** The line of a game that is over: its id, who won and why, the own side, and the score, South's first. */
function tell({ game, result, termination, side, score, detail }) {
  process.stdout.write(`${game} ${result} ${termination} ${side ?? "unknown"} ${score.south}-${score.north}\n`);
  if (detail) note("warn", `pit ${detail.pit} breaks ${detail.clause}; legal were ${detail.legal.join(", ")}`);
}

function note(level, text) {
  if (level !== "debug") process.stderr.write(`${text}\n`);
}
