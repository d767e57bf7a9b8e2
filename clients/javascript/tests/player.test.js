import assert from "node:assert/strict";
import { test } from "node:test";
import { AuthError, IllegalMove, ProtocolError } from "../errors.js";
import { Player } from "../player.js";

const G = "g00000000000000000000000000000001";
const H = "g00000000000000000000000000000002";
const RESUME = "modiar-0123456789abcdef";

/** A player in a world that only writes down what it does. */
function scene(settings = {}) {
  const did = { send: [], log: [], turn: [], ended: [], later: [], again: [], fail: [], hangUp: [], unreachable: [] };
  Object.assign(did, { welcomed: 0, finished: 0, gone: 0 });
  const world = {
    later: (ms, deed) => did.later.push({ ms, deed }),
    log: (level, text) => did.log.push(`${level} ${text}`),
  };
  for (const deed of ["send", "turn", "ended", "again", "fail", "hangUp", "unreachable"]) {
    world[deed] = (what) => did[deed].push(what);
  }
  for (const deed of ["welcomed", "finished", "gone"]) world[deed] = () => did[deed]++;
  const player = new Player(settings, world);
  const hear = (message) => player.hear(message, 1000, 5000);
  const last = (deed) => did[deed].at(-1);
  return { player, did, hear, last, settings };
}

function welcome(more = {}) {
  const bot = { name: "guest-1", guest: true, ratings: {} };
  return {
    type: "welcome",
    protocol: 1,
    server: "modiar/0.1.0",
    bot,
    resume: RESUME,
    pools: [],
    games: [],
    missed: [],
    ...more,
  };
}

function started(game, more = {}) {
  const players = { south: { name: "guest-1", guest: true }, north: { name: "dice", guest: true } };
  return { type: "started", game, pool: "practice", rated: false, side: "south", ...players, resumed: false, ...more };
}

function turn(game, ply = 1) {
  const pits = [7, 7, 7, 7, 7, 7];
  const both = { south: 0, north: 0 };
  return {
    type: "turn",
    game,
    ply,
    side: "south",
    pits,
    captured: both,
    legal: [0, 1, 2],
    remaining_ms: { south: 300, north: 400 },
  };
}

function ended(game, result = "south") {
  const termination = result === "none" ? "aborted" : "immobile";
  return {
    type: "ended",
    game,
    result,
    termination,
    score: { south: 22, north: 20 },
    pits: [0, 0, 0, 0, 0, 0],
    ply: 9,
  };
}

function error(code, more = {}) {
  return { type: "error", code, message: "no", fatal: false, ...more };
}

/** A player that is in, and in a game where it has a turn. */
function playing(games = 1) {
  const one = scene();
  one.player.connected();
  one.hear(welcome());
  one.player.seek("practice", games);
  one.hear(started(G));
  one.hear(turn(G));
  return one;
}

test("what makes no sense is passed over", () => {
  const { player, did, hear } = scene();
  player.connected();
  hear({ ...welcome(), games: undefined });
  hear(welcome());
  player.seek("practice", 1);
  hear({ ...started(G), north: undefined });
  hear(started(G));
  const senseless = [
    { pits: [7, 7] },
    { pits: [2 ** 40, 7, 7, 7, 7, 7] },
    { pits: [-1, 7, 7, 7, 7, 7] },
    { captured: undefined },
    { legal: [] },
    { legal: [7] },
    { remaining_ms: {} },
  ];
  for (const more of senseless) hear({ ...turn(G), ...more });
  hear({ ...ended(G), score: undefined });
  assert.deepEqual([did.turn.length, did.ended.length], [0, 0]);
  assert.equal(did.log.filter((line) => line.includes("makes no sense")).length, senseless.length + 3);
  hear(turn(G));
  hear(ended(G));
  assert.deepEqual([did.turn.length, did.ended.length], [1, 1]);
});

test("hello says who it is, and again with the name and resume of the welcome", () => {
  const { player, hear, last } = scene({ version: "0.3", games: 4 });
  player.connected();
  const { client, ...hello } = last("send");
  assert.match(client, /^modiar-javascript\//);
  const wanted = { type: "hello", ref: "hello", protocol: 1, name: undefined, token: undefined, resume: undefined };
  assert.deepEqual(hello, { ...wanted, version: "0.3", games: 4 });
  hear(welcome());
  player.lost("cut", 0);
  player.connected();
  assert.deepEqual([last("send").name, last("send").resume], ["guest-1", RESUME]);
});

test("a turn tells all that is known", () => {
  const { last } = playing();
  const told = last("turn");
  assert.deepEqual([told.game, told.ply, told.side, told.legal, told.opponent], [G, 1, "south", [0, 1, 2], "dice"]);
  assert.deepEqual([told.deadline, told.rated, told.pool, told.last], [1300, false, "practice", undefined]);
  assert.equal(told.position.text, "7.7.7-7.7.7 0-0 s 1");
  assert.throws(() => (told.ply = 3), TypeError);
});

test("a turn that comes again gets the same pit, and is not told again", () => {
  const { player, did, hear, last } = playing();
  last("turn").play(2);
  const move = { type: "move", game: G, pit: 2, ply: 1, ref: G };
  assert.deepEqual(last("send"), move);
  player.lost("cut", 0);
  player.connected();
  hear(welcome({ games: [G] }));
  hear(started(G, { resumed: true }));
  hear(turn(G));
  assert.deepEqual(
    did.send.filter(({ type }) => type === "move"),
    [move, move],
  );
  assert.equal(did.turn.length, 1);
  assert.throws(() => did.turn[0].play(1), /answered by pit 2 already/);
});

test("what is chosen while the link is down is sent when the turn comes again", () => {
  const { player, did, hear } = playing();
  player.lost("cut", 0);
  did.turn[0].play(1);
  assert.equal(did.send.filter(({ type }) => type === "move").length, 0);
  player.connected();
  hear(welcome({ games: [G] }));
  hear(started(G, { resumed: true }));
  hear(turn(G));
  assert.deepEqual(
    did.send.filter(({ type }) => type === "move").map(({ pit }) => pit),
    [1],
  );
  assert.equal(did.turn.length, 1);
});

test("an illegal pit is refused with its clause, and raw sends it", () => {
  const { did, last } = playing();
  const refused = (clause) => (error) => error instanceof IllegalMove && error.clause === clause;
  assert.throws(() => last("turn").play(3), refused("rules.move.own-row"));
  assert.throws(() => last("turn").play(undefined), refused("rules.move.own-row"));
  assert.equal(did.send.filter(({ type }) => type === "move").length, 0);
  last("turn").play(3, { raw: true });
  assert.equal(last("send").pit, 3);
});

test("a forgiven pit brings the turn once more, the next resigns", () => {
  const { did, hear, last } = playing();
  const forgiven = error("illegal_move", { game: G, clause: "rules.feed.must", legal: [1] });
  last("turn").play(2);
  hear(forgiven);
  assert.deepEqual([did.turn.length, last("turn").legal], [2, [1]]);
  last("turn").play(1);
  hear(forgiven);
  assert.deepEqual([did.turn.length, last("send")], [2, { type: "resign", game: G }]);
});

test("other errors about a move do no harm", () => {
  const { did, hear, last } = playing();
  last("turn").play(2);
  const sent = did.send.length;
  for (const code of ["duplicate", "stale_ply", "not_your_turn", "game_over", "wrong_game"])
    hear(error(code, { game: G }));
  assert.deepEqual([did.send.length, did.fail.length, did.hangUp.length], [sent, 0, 0]);
});

test("a limited move is sent again, five times at most, and a limited seek too", () => {
  const { did, hear, last } = playing();
  last("turn").play(2);
  for (let time = 0; time < 9; time++) hear(error("rate_limited", { ref: G }));
  assert.deepEqual(
    did.later.map(({ ms }) => ms),
    Array(5).fill(200),
  );
  did.later.forEach(({ deed }) => deed());
  assert.equal(did.send.filter(({ type }) => type === "move").length, 6);

  hear(ended(G, "none"));
  hear({ type: "seek_ended", pool: "practice", reason: "done" });
  hear(error("rate_limited", { ref: "seek" }));
  assert.equal(last("later").ms, 1000);
  last("later").deed();
  assert.deepEqual(last("send"), { type: "seek", pool: "practice", games: 1, ref: "seek" });
});

test("an end counts once, and an aborted game not at all", () => {
  const { player, did, hear, last } = playing(3);
  hear(ended(G));
  player.lost("cut", 0);
  player.connected();
  hear(welcome({ missed: [ended(G), ended(H, "none")] }));
  assert.deepEqual(
    did.ended.map(({ game, side }) => [game, side]),
    [
      [G, "south"],
      [H, undefined],
    ],
  );
  assert.deepEqual(last("send"), { type: "seek", pool: "practice", games: 2, ref: "seek" });
});

test("what the first welcome of a program says was missed is none of its games", () => {
  const { player, did, hear } = scene({ name: "dice", token: RESUME });
  player.connected();
  hear(welcome({ missed: [ended(G)] }));
  player.seek("practice", 1);
  hear(ended(G));
  assert.deepEqual([did.ended.length, did.finished], [0, 0]);
});

test("games that the welcome does not know are forgotten, and the rest is sought when none is left", () => {
  const { player, hear, last, did } = playing(2);
  player.lost("cut", 0);
  player.connected();
  hear(welcome({ games: [H] }));
  assert.equal(player.awaits(did.turn[0]), false);
  assert.equal(last("send").type, "hello");
  hear(ended(H));
  assert.deepEqual(last("send"), { type: "seek", pool: "practice", games: 1, ref: "seek" });
});

test("all games played and the seek done is the end", () => {
  const { did, hear } = playing();
  hear(ended(G));
  assert.equal(did.finished, 0);
  hear({ type: "seek_ended", pool: "practice", reason: "done" });
  assert.equal(did.finished, 1);
});

test("after a penalty it seeks again when it may", () => {
  const { player, did, hear, last } = scene();
  player.connected();
  hear(welcome());
  player.seek("practice", 1);
  hear({ type: "seek_ended", pool: "practice", reason: "penalised", until_ms: 15000, message: "no first move" });
  assert.equal(last("later").ms, 11000); // it is 5000 now, and clocks differ by up to a second
  assert.equal(did.send.length, 2);
  last("later").deed();
  assert.equal(last("send").type, "seek");
});

test("while the server drains nothing is sought", () => {
  const { player, did, hear, last } = playing(2);
  hear({ type: "notice", code: "draining", message: "the server stops" });
  hear(ended(G));
  hear({ type: "seek_ended", pool: "practice", reason: "draining" });
  hear({ type: "goodbye", reason: "draining", message: "the server stops" });
  assert.deepEqual([did.hangUp.length, did.send.filter(({ type }) => type === "seek").length], [1, 1]);
  player.lost("draining", 0);
  player.connected();
  hear(welcome());
  assert.deepEqual([last("send").type, last("send").games], ["seek", 1]);
});

test("the pause doubles to 15 s, and starts anew once a move has counted, or a connection stood for 10 s", () => {
  const { player, did, hear, last } = playing();
  const back = (ply) => {
    player.connected();
    for (const message of [welcome({ games: [G] }), started(G, { resumed: true }), turn(G, ply)]) hear(message);
  };
  const pauses = (count, between = () => {}, now = 1000) => {
    did.again = [];
    for (let time = 0; time < count; time++) {
      between();
      player.lost("cut", 1, now);
    }
    return did.again;
  };
  assert.deepEqual(pauses(8), [250, 500, 1000, 2000, 4000, 8000, 15000, 15000]);
  assert.equal(pauses(80).length, 80); // a game runs: there is no limit
  assert.deepEqual(pauses(3, () => back(1)), [15000, 15000, 15000]);
  last("turn").play(0);
  assert.deepEqual(pauses(2, () => back(1)), [15000, 15000]); // it may have got lost
  assert.deepEqual(pauses(3, () => back(3)), [250, 500, 1000]);
  assert.deepEqual(pauses(1, () => back(3), 10_999), [2000]);
  assert.deepEqual(pauses(1, () => back(3), 11_000), [250]);
  const busy = () => {
    player.connected();
    hear(error("too_many_connections", { fatal: true }));
  };
  assert.deepEqual(pauses(3, busy, 99_000), [500, 1000, 2000]);
  last("turn").play(0);
  assert.deepEqual(pauses(2, () => hear(ended(G))), [250, 500]);
});

test("an idle bot gives up after 60 tries", () => {
  const { player, did, hear } = scene();
  player.connected();
  hear(welcome());
  for (let time = 0; time < 61; time++) player.lost("cut", 0);
  assert.deepEqual([did.again.length, did.unreachable], [60, ["cut"]]);
});

test("who was never let in does not come back", () => {
  const { player, did } = scene();
  player.lost("refused", 0);
  assert.deepEqual([did.again, did.unreachable], [[], ["refused"]]);
});

test("an error to hello says whether it is about the name", () => {
  for (const [code, kind] of [
    ["auth_failed", AuthError],
    ["bad_name", AuthError],
    ["bad_protocol", ProtocolError],
  ]) {
    const { player, hear, last } = scene({ name: "dice" });
    player.connected();
    hear(error(code, { ref: "hello" }));
    assert.ok(last("fail") instanceof kind);
    assert.equal(last("fail").code, code);
    assert.equal(last("fail") instanceof AuthError, kind === AuthError);
  }
});

test("a registered bot ends at the second refusal in a row", () => {
  const { player, did, hear, last } = scene({ name: "dice", token: RESUME });
  player.connected();
  hear(welcome());
  for (let time = 0; time < 2; time++) {
    assert.equal(did.fail.length, 0);
    player.lost("cut", 0);
    player.connected();
    hear(error("auth_failed", { ref: "hello" }));
  }
  assert.ok(last("fail") instanceof AuthError);
});

test("a guest that was forgotten comes back as a new one, unless a game of it ran", () => {
  const idle = scene();
  idle.player.connected();
  idle.hear(welcome());
  const busy = playing();
  for (const { player, hear } of [idle, busy]) {
    player.lost("cut", 0);
    player.connected();
    hear(error("name_taken", { ref: "hello" }));
    player.lost("refused", 0);
    player.connected();
  }
  assert.deepEqual([idle.last("send").name, idle.last("send").resume], [undefined, undefined]);
  assert.deepEqual([busy.last("send").name, busy.last("send").resume], ["guest-1", RESUME]);
});

test("goodbye for good is an error, any other a lost link", () => {
  for (const reason of ["banned", "replaced", "flood", "handshake", "line_too_long"]) {
    const { did, hear } = playing();
    hear({ type: "goodbye", reason, message: "stay away" });
    assert.deepEqual([did.fail[0].code, did.hangUp.length], [reason, 0]);
  }
  for (const reason of ["draining", "internal", "slow_reader", "bye", "news"]) {
    const { did, hear } = playing();
    hear({ type: "goodbye", reason, message: "later" });
    assert.deepEqual([did.fail.length, did.hangUp.length], [0, 1]);
  }
});

test("an unknown pool is an error", () => {
  const { player, hear, last } = scene();
  player.connected();
  hear(welcome());
  player.seek("chess", 1);
  hear(error("unknown_pool", { ref: "seek" }));
  assert.deepEqual([last("fail") instanceof ProtocolError, last("fail").code], [true, "unknown_pool"]);
});

test("leaving takes the seek back, resigns all and then says bye", () => {
  const { player, did, hear, last } = playing();
  player.leave();
  assert.deepEqual(did.send.slice(-2), [
    { type: "unseek", ref: "unseek" },
    { type: "resign", game: G },
  ]);
  hear(started(H));
  assert.deepEqual(last("send"), { type: "resign", game: H });
  hear({ type: "seek_ended", pool: "practice", reason: "cancelled", ref: "unseek" });
  hear(ended(G, "north"));
  assert.equal(last("send").type, "resign");
  hear(ended(H, "north"));
  assert.deepEqual([last("send"), did.ended.length], [{ type: "bye" }, 2]);
  hear({ type: "goodbye", reason: "bye", message: "goodbye" });
  player.lost("bye", 0);
  assert.deepEqual([did.hangUp, did.gone, did.again], [["bye"], 1, []]);
});

test("a resigned game stays resigned over a lost link", () => {
  const { player, did, hear, last } = playing();
  player.resign(G);
  player.lost("cut", 0);
  player.connected();
  hear(welcome({ games: [G] }));
  hear(started(G, { resumed: true }));
  hear(turn(G));
  assert.deepEqual([last("send"), did.turn.length], [{ type: "resign", game: G }, 1]);
});
