import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { test } from "node:test";
import { AuthError, ConnectError, ModiarError, ProtocolError, SettingError, connect } from "../index.js";
import { Referee, serve } from "./referee.js";

const LIMIT = { timeout: 30_000 };
const own = (path) => new URL(`../${path}`, import.meta.url);
const first = (turn) => turn.legal[0];

/** A server for one test, closed behind it. */
async function served(context, referee = new Referee(), write) {
  const { port, close } = await serve(referee, write);
  context.after(close);
  return { referee, port, host: "127.0.0.1" };
}

/** Runs a program against a port; `MODIAR_` settings of this process are not handed on. */
async function program(file, { port = 1, options = [], environment = {}, during = () => {} } = {}) {
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("MODIAR_"));
  const env = { ...Object.fromEntries(clean), MODIAR_PORT: String(port), ...environment };
  const child = spawn(process.execPath, [file, ...options].flat(), { env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err] = [child.stdout, child.stderr].map((stream) => stream.setEncoding("utf8").toArray());
  during(child);
  const [status] = await once(child, "exit");
  return { status, out: (await out).join(""), err: (await err).join("") };
}

/** The program text as an argument of node. */
const script = (text) => ["--input-type=module", "--eval", `import { run } from "${own("index.js")}"; ${text}`];

/** Plays by `connect` and `run`, and returns the ends. */
async function play(settings, games, choose = first) {
  const ends = [];
  const client = await connect({ ...settings, ended: (end) => ends.push(end) });
  await client.run(choose, "practice", games);
  await client.close();
  return ends;
}

test("the bot of the README is bots/first.js, and plays a game", LIMIT, async (context) => {
  const { port } = await served(context);
  const block = /## A bot[^]*?```js\n([^]*?)```/.exec(readFileSync(own("README.md"), "utf8"))[1];
  assert.equal(block, readFileSync(own("bots/first.js"), "utf8"));
  const { status, out, err } = await program(own("bots/first.js").pathname, { port });
  assert.equal(status, 0, err);
  assert.match(out, /^g0{31}1 (south|north|draw) immobile south \d+-\d+\n$/);
});

test("the reference bots play", LIMIT, async (context) => {
  for (const bot of ["random", "greedy", "minimax"]) {
    const { port } = await served(context);
    const options = bot === "random" ? ["--seed", "7"] : bot === "minimax" ? ["--depth", "2"] : [];
    const played = await program(own(`bots/${bot}.js`).pathname, { port, options: [...options, "--games", "3"] });
    assert.deepEqual([played.status, played.out.trim().split("\n").length], [0, 3], played.err);
  }
});

test("a wrong option or setting is named, with status 2", LIMIT, async () => {
  const greedy = own("bots/greedy.js").pathname;
  const wrong = [
    [{ options: ["--games", "x"] }, /--games is "x"/],
    [{ options: ["--games", "1000001"] }, /games is 1000001/],
    [{ options: ["--hue"] }, /--hue/],
    [{ environment: { MODIAR_PORT: "70000" } }, /MODIAR_PORT is "70000"/],
    [{ environment: { MODIAR_TLS: "yes" } }, /MODIAR_TLS is "yes"/],
    [{ environment: { MODIAR_CA: "nowhere.pem" } }, /MODIAR_CA is "nowhere.pem"/],
    [{ environment: { MODIAR_CA: greedy } }, /MODIAR_CA is .*PEM/],
  ];
  for (const [how, words] of wrong) {
    const { status, out, err } = await program(greedy, how);
    assert.deepEqual([status, out], [2, ""], err);
    assert.match(err, words);
  }
  await assert.rejects(connect({ games: 0 }), SettingError);
});

test("who cannot be reached is named with the cause, with status 3", LIMIT, async (context) => {
  const first = own("bots/first.js").pathname;
  const closed = await program(first, { port: 1 });
  assert.equal(closed.status, 3);
  assert.match(closed.err, /cannot connect to 127.0.0.1:1: .*ECONNREFUSED/);
  const unknown = await program(first, { port: 1, environment: { MODIAR_HOST: "no.such.host.invalid" } });
  assert.equal(unknown.status, 3);
  assert.match(unknown.err, /no\.such\.host\.invalid:1/);
  const dumb = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")).listen(0, "127.0.0.1");
  context.after(() => dumb.close());
  await once(dumb, "listening");
  await assert.rejects(connect({ host: "127.0.0.1", port: dumb.address().port }), (error) => {
    return error instanceof ConnectError && error.host === "127.0.0.1" && error.port === dumb.address().port;
  });
});

test("a port that speaks TLS, and one that does not, are told apart", LIMIT, async (context) => {
  const alert = createServer((socket) => socket.end(new Uint8Array([0x15, 3, 1, 0, 2, 2, 70]))).listen(0, "127.0.0.1");
  context.after(() => alert.close());
  await once(alert, "listening");
  const host = "127.0.0.1";
  await assert.rejects(connect({ host, port: alert.address().port }), /set MODIAR_TLS=1/);
  const plain = createServer((socket) => socket.end('{"type":"error"}\n')).listen(0, "127.0.0.1");
  context.after(() => plain.close());
  await once(plain, "listening");
  await assert.rejects(connect({ host, port: plain.address().port, tls: true }), /unset MODIAR_TLS/);
});

test("a wrong token is an AuthError, and is not told", LIMIT, async (context) => {
  const referee = new Referee();
  referee.answer = (message) => referee.refuse(message, "auth_failed");
  const { port, host } = await served(context, referee);
  const token = "modiar-secret-of-dice";
  await assert.rejects(
    connect({ host, port, name: "dice", token }),
    (error) => error instanceof AuthError && error.code === "auth_failed",
  );
  const environment = { MODIAR_NAME: "dice", MODIAR_TOKEN: token };
  const { status, err } = await program(own("bots/first.js").pathname, { port, environment });
  assert.equal(status, 3);
  assert.match(err, /auth_failed/);
  assert.ok(!err.includes("secret"));
  assert.equal(referee.heard[1].token, token);
});

test("an unknown pool is a ProtocolError", LIMIT, async (context) => {
  const referee = new Referee();
  const { answer } = referee;
  referee.answer = (message) =>
    message.type === "seek" ? referee.refuse(message, "unknown_pool") : answer.call(referee, message);
  const settings = await served(context, referee);
  await assert.rejects(play(settings, 1), (error) => error instanceof ProtocolError && error.code === "unknown_pool");
});

test("lines in single bytes, with CRLF, unknown types and fields change nothing", LIMIT, async (context) => {
  const write = (socket, text) => {
    const strange = text.replace("{", '{"hue":{"deep":[1e400]},').replace("\n", '\r\n\r\n{"type":"weather"}\n');
    for (const byte of strange) socket.write(byte);
  };
  const settings = await served(context, new Referee(), write);
  assert.equal((await play(settings, 2)).length, 2);
});

test("an error in choose costs that game alone, and with strict ends the bot", LIMIT, async (context) => {
  const settings = await served(context);
  const told = [];
  let turns = 0;
  const choose = (turn) => {
    if (++turns === 3) throw new RangeError("no idea");
    return turns === 9 ? 5 : first(turn);
  };
  const ends = await play({ ...settings, log: (level, text) => told.push([level, text]) }, 4, choose);
  assert.deepEqual(ends.map(({ termination }) => termination).filter((one) => one === "resignation").length, 2);
  assert.equal(ends.length, 4);
  const errors = told.filter(([level]) => level === "error").map(([, text]) => text);
  assert.match(errors[0], /^choose failed in g0{31}1 at ply 5, [0-9. -]+ s 5;[^]*no idea\n *at /);
  assert.match(errors[1], /rules\.move\.own-row/);
  await assert.rejects(
    play({ ...settings, strict: true }, 1, () => {
      throw new RangeError("no idea");
    }),
    RangeError,
  );
});

test("cut at every message, each ply is played once and each game counts once", LIMIT, async (context) => {
  const referee = new Referee();
  let messages = 0;
  const write = (socket, text) => {
    if (++messages % 5 !== 0) return socket.write(text);
    const whole = messages % 2; // else the line is cut in half
    return socket.end(text.slice(0, whole ? text.length : text.length / 2), () => socket.destroy());
  };
  const settings = await served(context, referee, write);
  const asked = [];
  const ends = await play(settings, 5, (turn) => {
    asked.push(`${turn.game} ${turn.ply}`);
    return first(turn);
  });
  assert.deepEqual(
    ends.map(({ termination }) => termination),
    Array(5).fill("immobile"),
  );
  assert.equal(new Set(asked).size, asked.length);
  assert.equal(new Set(referee.played).size, asked.length);
  assert.ok(referee.heard.filter(({ type }) => type === "hello").length > 10);
});

test("turns of your own: a loop, its end, and another loop", LIMIT, async (context) => {
  const settings = await served(context);
  const client = await connect(settings);
  let plies = 0;
  for await (const turn of client.turns("practice", 2)) {
    plies++;
    await turn.play(turn.position.greedy());
  }
  assert.ok(plies > 5);
  for await (const turn of client.turns()) {
    turn.play(first(turn));
    break;
  }
  await assert.rejects(client.turns("practice", -1).next(), SettingError);
  await client.close();
  await client.close();
  await assert.rejects(client.turns().next(), ModiarError);
  assert.equal(settings.referee.heard.at(-1).type, "bye");
});

test("the signal stops a bot wherever it is", LIMIT, async (context) => {
  const settings = await served(context);
  await assert.rejects(connect({ ...settings, signal: AbortSignal.abort() }), { name: "AbortError" });
  const stop = new AbortController();
  const ends = [];
  const client = await connect({ ...settings, signal: stop.signal, ended: (end) => ends.push(end) });
  const loop = client.run((turn) => (turn.ply === 5 ? stop.abort() : first(turn)), "practice", 0);
  await assert.rejects(loop, { name: "AbortError" });
  assert.deepEqual(
    ends.map(({ termination }) => termination),
    ["resignation"],
  );
  assert.deepEqual(
    settings.referee.heard.slice(-3).map(({ type }) => type),
    ["unseek", "resign", "bye"],
  );
  await assert.rejects(client.turns().next(), { name: "AbortError" });
});

test("Ctrl-C resigns, tells the result and ends with status 130", LIMIT, async (context) => {
  const { referee, port } = await served(context);
  const slow = script(
    "process.exitCode = await run((turn) => new Promise((go) => setTimeout(go, 100, turn.legal[0])), 'practice', 0);",
  );
  const during = (child) => {
    const { answer } = referee;
    referee.answer = (message) => {
      if (message.ply === 5) child.kill("SIGINT");
      answer.call(referee, message);
    };
  };
  const { status, out } = await program(slow, { port, during });
  assert.equal(status, 130);
  assert.match(out, /^g0{31}1 north resignation south \d+-\d+\n$/);
  assert.equal(referee.heard.at(-1).type, "bye");
});

test("a second Ctrl-C waits for nothing", LIMIT, async (context) => {
  const { referee, port } = await served(context);
  const { answer } = referee;
  const during = (child) => {
    referee.answer = (message) => {
      if (["unseek", "seek"].includes(message.type)) return child.kill("SIGINT");
      return message.type === "hello" && answer.call(referee, message);
    };
  };
  const begun = performance.now();
  const { status } = await program(own("bots/first.js").pathname, { port, during });
  assert.equal(status, 130);
  assert.ok(performance.now() - begun < 1900);
});
