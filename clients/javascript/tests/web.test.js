import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { Referee } from "./referee.js";
import { ConnectError, SettingError, connect, run } from "../web.js";

const URL = "ws://localhost:6635/ws";
const LIMIT = { timeout: 30_000 };

let referee;
let sockets;
let refuse;

/** What a browser has, with a referee behind it: one message a frame. */
class FakeWebSocket {
  bufferedAmount = 0;
  #peer;
  #closed = false;

  constructor(url) {
    this.url = url;
    sockets.push(this);
    setTimeout(() => {
      if (refuse) return this.close(1006);
      this.#peer = referee.attach(
        (message) => this.#tell(JSON.stringify(message)),
        () => this.close(1000),
      );
      return this.onopen?.({});
    });
  }

  send(text) {
    assert.ok(!text.includes("\n"));
    setTimeout(() => !this.#closed && this.#peer.hear(JSON.parse(text)));
  }

  close(code = 1005) {
    if (this.#closed) return;
    this.#closed = true;
    this.#peer?.lost();
    setTimeout(() => this.onclose?.({ code }));
  }

  #tell(data) {
    setTimeout(() => !this.#closed && this.onmessage?.({ data }));
  }
}

beforeEach(() => {
  referee = new Referee();
  sockets = [];
  refuse = false;
  globalThis.WebSocket = FakeWebSocket;
});

afterEach(() => {
  delete globalThis.WebSocket;
  delete globalThis.location;
});

test("in the browser a bot plays the same way", LIMIT, async () => {
  const ends = [];
  await run((turn) => turn.position.greedy(), "practice", 3, { url: URL, ended: (end) => ends.push(end.termination) });
  assert.deepEqual(ends, ["immobile", "immobile", "immobile"]);
  assert.equal(sockets[0].url, URL);
  assert.equal(referee.heard.at(-1).type, "bye");
});

test("in the browser a bot comes back to its game", LIMIT, async () => {
  const client = await connect({ url: URL });
  let plies = 0;
  for await (const turn of client.turns()) {
    if (++plies === 3) sockets[0].close(1006);
    turn.play(turn.legal[0]);
  }
  await client.close();
  assert.equal(sockets.length, 2);
  assert.equal(new Set(referee.played).size, plies);
});

test("without a URL it is the page's own server", LIMIT, async () => {
  await assert.rejects(connect(), SettingError);
  globalThis.location = { protocol: "https:", host: "modiar.example" };
  const client = await connect();
  await client.close();
  assert.equal(sockets[0].url, "wss://modiar.example/ws");
});

test("a server that is not there is a ConnectError with its URL", LIMIT, async () => {
  refuse = true;
  await assert.rejects(connect({ url: URL }), (error) => error instanceof ConnectError && error.host === URL);
});
