/** Bots in the browser: the same client over WebSocket, one message a text frame. */

import { Client, checkQuest, checkSettings } from "./client.js";
import { ConnectError, SettingError } from "./errors.js";
import { toText } from "./wire.js";

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

// A message that still waits after this is a lost connection.
const WRITE_MS = 10_000;

/** Connects, plays so many games in a pool (0: without end) by `choose(turn)`, and says bye. */
export async function run(choose, pool = "practice", games = 1, settings = {}) {
  checkQuest(pool, games);
  const client = await connect(settings);
  await client.run(choose, pool, games);
  await client.close();
}

/** Connects to `url`; to the daemon that served the page, where none is named. */
export async function connect({ url = ownServer(), ...settings } = {}) {
  if (!/^wss?:\/\/./.test(url))
    throw new SettingError(`url is ${String(url)}: set it to one like ws://localhost:6635/ws`);
  checkSettings(settings);
  const unreachable = (why) => new ConnectError(url, undefined, why);
  return Client.connect((events) => open(url, events), unreachable, settings);
}

function ownServer() {
  const { protocol, host } = globalThis.location ?? {};
  return host && `${protocol === "https:" ? "wss" : "ws"}://${host}/ws`;
}

/** One connection. A browser does not tell why it ends, beyond a code. */
function open(url, events) {
  const socket = new WebSocket(url);
  const utf8 = new TextEncoder();
  let late;
  socket.onopen = events.opened;
  socket.onmessage = ({ data }) => events.read(utf8.encode(`${data}\n`));
  socket.onclose = ({ code }) => {
    clearTimeout(late);
    events.lost(`the connection closed with code ${code}`);
  };
  return {
    send(message) {
      socket.send(toText(message));
      clearTimeout(late);
      late = setTimeout(() => {
        if (socket.bufferedAmount) events.lost(`the server took nothing for ${WRITE_MS / 1000} s`);
      }, WRITE_MS);
    },
    close() {
      clearTimeout(late);
      socket.close();
    },
  };
}
