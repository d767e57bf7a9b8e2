//! What a move is answered, in every state of a game; and that a game ends once, the same for both.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod support;

use modiar_conformance::{Peer, search};
use modiar_rules::{EndRules, Ending, Illegal, Pit, Position, Side, moves_text};
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::{Duration, Instant};
use support::{Daemon, Game, assert_quiet};

const POOLS: &str = r#"
[[pool]]
name = "long"
base_ms = 600000
[[pool]]
name = "short"
base_ms = 2500
[[pool]]
name = "quiet"
base_ms = 600000
quiet_plies = 4
[[pool]]
name = "majority"
base_ms = 600000
majority = true
"#;
/// Longer than any turn of the short pool may last.
const PAST_SHORT: Duration = Duration::from_millis(2700);
/// A text of an id's form that names no game.
const NO_GAME: &str = "g00000000000000000000000000000000";

/// A line of play after which the side to move has a pit that is refused for this reason.
fn line_to(reason: Illegal) -> (String, u8) {
    find(&|position| Pit::ALL.into_iter().find(|pit| position.check(*pit) == Err(reason)))
}

/// The shortest line, of two plies at least, to a position in which `wanted` finds a pit.
fn find(wanted: &dyn Fn(&Position) -> Option<Pit>) -> (String, u8) {
    let (moves, pit) = search::line_to(wanted).expect("such a position is not far from the start");
    (moves_text(&moves).to_string(), pit.index())
}

/// A game of random legal plies that ends so by these rules.
fn line_ending(ends: EndRules, wanted: Ending) -> String {
    let moves = search::line_ending(ends, wanted).expect("random games end in all these ways");
    moves_text(&moves).to_string()
}

/// A pit that no side may play.
struct Row {
    name: &'static str,
    /// The line that leads to the position.
    moves: String,
    /// What is sent for `pit`; absent where null.
    pit: Value,
    /// What it breaks; nothing where it is no pit at all.
    clause: Option<&'static str>,
}

fn rows() -> Vec<Row> {
    let illegal = [
        ("empty pit", Illegal::EmptyPit),
        ("singleton", Illegal::Singleton),
        ("opponent's pit", Illegal::OpponentPit),
        ("grand slam", Illegal::GrandSlam),
        ("not feeding", Illegal::NotFeeding),
    ];
    let no_pit = [
        ("6", json!(6)),
        ("-1", json!(-1)),
        ("255", json!(255)),
        ("2^53", json!(1u64 << 53)),
        ("missing", Value::Null),
    ];
    let illegal = illegal.map(|(name, reason)| {
        let (moves, pit) = line_to(reason);
        Row { name, moves, pit: json!(pit), clause: Some(reason.clause()) }
    });
    let no_pit = no_pit.map(|(name, pit)| Row { name, moves: "24".into(), pit, clause: None });
    illegal.into_iter().chain(no_pit).collect()
}

impl Row {
    fn message(&self, game: &str) -> Value {
        let mut message = json!({"type": "move", "game": game, "pit": self.pit, "ref": self.name});
        if self.pit.is_null() {
            message.as_object_mut().unwrap().remove("pit");
        }
        message
    }

    /// Sends the pit where it can have no effect, and asserts the code: this one, or `bad_field` of what is no pit.
    fn is_answered(&self, peer: &mut Peer, game: &str, code: &str) {
        peer.send(&self.message(game)).unwrap();
        self.reads_error(peer, code);
        assert_quiet(peer);
    }

    fn reads_error(&self, peer: &mut Peer, code: &str) {
        let error = peer.expect("error").unwrap();
        let code = if self.clause.is_some() { code } else { "bad_field" };
        assert_eq!(error["code"], code, "{}: {error}", self.name);
        assert_eq!(error["field"], if self.clause.is_some() { Value::Null } else { json!("pit") }, "{error}");
        assert_eq!((&error["ref"], &error["fatal"]), (&json!(self.name), &json!(false)), "{error}");
    }

    /// A game at this row's position: the side to move, which has read its turn, its turn, and the other side.
    fn seat<'a>(&self, game: &'a mut Game) -> (&'a mut Peer, Value, &'a mut Peer) {
        game.play(&self.moves);
        let Game { south, north, .. } = game;
        let (mover, other) = if is_souths_turn(&self.moves) { (south, north) } else { (north, south) };
        let turn = mover.expect("turn").unwrap();
        (mover, turn, other)
    }
}

/// Whether South is to move after these plies.
fn is_souths_turn(moves: &str) -> bool {
    moves.len().is_multiple_of(2)
}

/// The side that is not to move after these plies.
fn waiting_side(moves: &str) -> &'static str {
    if is_souths_turn(moves) { "north" } else { "south" }
}

/// Each pit before the game, from a stranger, out of turn, in time, and after the end (`verdict.order`, its clauses
/// `verdict.bad-field`, `verdict.wrong-game`, `verdict.game-over`, `verdict.not-your-turn`, `verdict.legality`;
/// `verdict.illegal-loses`, `verdict.error-free`).
#[test]
fn every_pit_in_every_state() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let (mut stranger, _) = daemon.guest(json!({}));
    for row in rows() {
        let mut game = daemon.game("long");
        let id = game.id.clone();
        let (mover, turn, other) = row.seat(&mut game);
        row.is_answered(mover, NO_GAME, "wrong_game");
        row.is_answered(&mut stranger, &id, "wrong_game");
        row.is_answered(other, &id, "not_your_turn");
        assert_quiet(mover);
        mover.send(&row.message(&id)).unwrap();
        let ended = if let Some(clause) = row.clause {
            let ended = mover.expect("ended").unwrap();
            let detail = json!({"pit": row.pit, "clause": clause, "legal": turn["legal"]});
            assert_eq!((&ended["termination"], &ended["detail"]), (&json!("illegal_move"), &detail), "{}", row.name);
            ended
        } else {
            // It was no move: the turn is still there to be played.
            row.reads_error(mover, "bad_field");
            mover.send(&json!({"type": "move", "game": id, "pit": turn["legal"][0]})).unwrap();
            other.expect("turn").unwrap();
            mover.send(&json!({"type": "resign", "game": id})).unwrap();
            mover.expect("ended").unwrap()
        };
        assert_eq!(ended["result"], waiting_side(&row.moves), "{}: {ended}", row.name);
        assert_eq!(other.expect("ended").unwrap(), ended);
        row.is_answered(mover, &id, "game_over");
        row.is_answered(other, &id, "game_over");
        row.is_answered(&mut stranger, &id, "wrong_game");
    }
    let (status, report) = daemon.run(&["games", "verify", "--data", daemon.data().to_str().unwrap()]);
    assert!(status.success(), "{report}");
}

/// A message to a game whose side to move is late, and the errors that come before the flag.
struct Late {
    name: &'static str,
    moves: String,
    /// Whether the side to move sends it.
    mover: bool,
    message: Box<dyn Fn(&str) -> Value>,
    code: Option<&'static str>,
}

fn late_cases() -> Vec<Late> {
    let case = |name, mover, wanted: Value, code| {
        let message = Box::new(move |game: &str| {
            let mut message = wanted.clone();
            message["game"] = json!(game);
            message
        });
        Late { name, moves: "24".into(), mover, message, code }
    };
    let plies = [
        case("its own old move", true, json!({"type": "move", "pit": 2, "ply": 1}), Some("duplicate")),
        case("an old ply, and illegal", true, json!({"type": "move", "pit": 5, "ply": 1}), Some("stale_ply")),
        case("a later ply, and illegal", true, json!({"type": "move", "pit": 5, "ply": 5}), Some("not_your_turn")),
        case("from the other side", false, json!({"type": "move", "pit": 3}), Some("not_your_turn")),
        case("a legal pit", true, json!({"type": "move", "pit": 0, "ply": 3}), None),
        case("a resignation", true, json!({"type": "resign"}), None),
    ];
    let pits = rows().into_iter().map(|row| Late {
        name: row.name,
        moves: row.moves.clone(),
        mover: true,
        code: row.clause.is_none().then_some("bad_field"),
        message: Box::new(move |game| row.message(game)),
    });
    pits.chain(plies).collect()
}

/// Each case's game, at its turn, with the daemon stopped in time.
fn games_stopped_in_time(daemon: &Daemon, cases: &[Late]) -> Vec<Game> {
    loop {
        let begun = Instant::now();
        let mut games = Vec::from_iter(cases.iter().map(|_| daemon.game("short")));
        for (game, case) in games.iter_mut().zip(cases) {
            game.play(&case.moves);
            let Game { south, north, .. } = game;
            let (mover, other) = if is_souths_turn(&case.moves) { (south, north) } else { (north, south) };
            mover.expect("turn").unwrap();
            // The turn was read, and its W may not have been taken yet: a stop between the two is the mover's gain. The
            // answer to who played the last ply comes after it.
            assert_quiet(other);
        }
        daemon.freeze();
        if begun.elapsed() < PAST_SHORT / 2 {
            return games;
        }
        daemon.thaw(); // a slow machine: once more
    }
}

/// Sent past the deadline and read before the flag fell: what is no move is answered as ever, and any move of the
/// current ply is a loss on time, legal or not (`verdict.deadline` after `verdict.bad-field`, `verdict.duplicate`,
/// `verdict.stale-ply` and `verdict.not-your-turn`, before `verdict.legality`; `verdict.resign-late`).
#[test]
fn every_pit_past_the_deadline() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let cases = late_cases();
    let mut games = games_stopped_in_time(&daemon, &cases);
    sleep(PAST_SHORT);
    for (game, case) in games.iter_mut().zip(&cases) {
        let south = is_souths_turn(&case.moves) == case.mover;
        let sender = if south { &mut game.south } else { &mut game.north };
        sender.send(&(case.message)(&game.id)).unwrap();
    }
    daemon.thaw();
    for (game, case) in games.iter_mut().zip(&cases) {
        let south = is_souths_turn(&case.moves) == case.mover;
        let sender = if south { &mut game.south } else { &mut game.north };
        if let Some(code) = case.code {
            let error = sender.read().unwrap();
            // From the other side it may come behind the flag: the flag asks only whose turn it is.
            if error["type"] == "error" {
                assert_eq!(error["code"], code, "{}: {error}", case.name);
            } else {
                assert!(!case.mover, "{}: {error}", case.name);
                continue;
            }
        }
        let ended = game.ended();
        assert_eq!(ended["termination"], "time_forfeit", "{}: {ended}", case.name);
        assert_eq!(ended["result"], waiting_side(&case.moves), "{}: {ended}", case.name);
        assert_eq!(ended["ply"], case.moves.len(), "{}: {ended}", case.name);
    }
}

/// Two reasons at once: the one that stands first in the list decides (`verdict.order`).
#[test]
fn the_first_reason_decides() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let (mut stranger, _) = daemon.guest(json!({}));
    let mut game = daemon.game("long");
    game.play("24");
    game.south.expect("turn").unwrap();
    let id = game.id.clone();
    let ask = |peer: &mut Peer, fields: Value, code: &str| {
        let mut message = json!({"type": "move", "game": id});
        message.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        peer.send(&message).unwrap();
        let error = peer.expect("error").unwrap();
        assert_eq!(error["code"], code, "{message}: {error}");
        assert_quiet(peer);
    };
    let Game { south, north, .. } = &mut game;
    ask(&mut stranger, json!({"pit": 6}), "bad_field"); // before wrong_game
    ask(south, json!({"pit": 0, "game": NO_GAME, "ply": 0}), "bad_field");
    ask(south, json!({"pit": 6, "ply": 1}), "bad_field"); // before stale_ply
    ask(north, json!({"pit": 6}), "bad_field"); // before not_your_turn
    ask(&mut stranger, json!({"pit": 4, "ply": 2}), "wrong_game"); // before duplicate
    ask(north, json!({"pit": 4, "ply": 2}), "duplicate"); // before not_your_turn
    ask(south, json!({"pit": 2, "ply": 1}), "duplicate"); // before legality: the pit now holds one seed
    ask(north, json!({"pit": 3, "ply": 2}), "stale_ply"); // before not_your_turn
    ask(north, json!({"pit": 2, "ply": 1}), "stale_ply"); // that pit at that ply, and by the other side
    ask(south, json!({"pit": 5, "ply": 1}), "stale_ply"); // before legality
    ask(south, json!({"pit": 5, "ply": 4}), "not_your_turn"); // before legality
    ask(north, json!({"pit": 0}), "not_your_turn"); // before legality
    south.send(&json!({"type": "resign", "game": id})).unwrap();
    game.ended();
    let Game { south, north, .. } = &mut game;
    ask(south, json!({"pit": 6}), "bad_field"); // before game_over
    ask(&mut stranger, json!({"pit": 0}), "wrong_game"); // before game_over
    ask(north, json!({"pit": 4, "ply": 2}), "game_over"); // before duplicate
    ask(north, json!({"pit": 3, "ply": 2}), "game_over"); // before stale_ply
    ask(south, json!({"pit": 5, "ply": 9}), "game_over"); // before not_your_turn and legality
}

/// Of what is illegal in two ways the first clause is told: the opponent's pit before what it holds. No other two
/// meet: a pit holds one number of seeds, and a slam passes seeds into the row that it empties (`verdict.legality`).
#[test]
fn the_first_clause_is_told() {
    let daemon = Daemon::start_with(POOLS, &[]);
    for seeds in [0, 1] {
        let wanted = |position: &Position| {
            let theirs = |pit: &Pit| pit.owner() != position.side() && position.board().seeds(*pit) == seeds;
            Pit::ALL.into_iter().find(theirs)
        };
        let (moves, pit) = find(&wanted);
        let mut game = daemon.game("long");
        game.play(&moves);
        let message = game.r#move(pit);
        let mover = if is_souths_turn(&moves) { &mut game.south } else { &mut game.north };
        mover.expect("turn").unwrap();
        mover.send(&message).unwrap();
        assert_eq!(game.ended()["detail"]["clause"], "rules.move.own-row");
    }
}

/// What both sides of a game said, in order, and what each line is answered when it is said again.
fn said(challenge: &Value, id: &str, moves: &str, south: bool, again: &'static str) -> Vec<(Value, &'static str)> {
    let mut said = vec![(json!({"type": "hello", "protocol": 1}), "unexpected_hello")];
    if !south {
        said.push((json!({"type": "accept", "challenge": challenge}), "unknown_challenge"));
    }
    for (at, pit) in moves.bytes().enumerate().filter(|(at, _)| (at % 2 == 0) == south) {
        said.push((json!({"type": "move", "game": id, "pit": pit - b'0', "ply": at + 1}), again));
    }
    said
}

/// Says all of it again, in order and then in some other order.
fn say_again(peer: &mut Peer, said: &[(Value, &'static str)]) {
    let shuffled = (0..said.len()).map(|at| &said[(at * 5 + 3) % said.len()]);
    for (message, code) in said.iter().chain(shuffled) {
        peer.send(message).unwrap();
        let error = peer.expect("error").unwrap();
        assert_eq!(error["code"], *code, "{message}: {error}");
    }
    assert_quiet(peer);
}

/// A recorded game's messages once more, during the game, after it, and from somebody else: nothing changes
/// (`verdict.duplicate`, `verdict.game-over`, `verdict.wrong-game`, `errors.not-acted-on`, `session.second-hello`).
#[test]
fn messages_of_a_game_said_again_change_nothing() {
    const MOVES: &str = "0413242";
    let daemon = Daemon::start_with(POOLS, &[]);
    let (mut south, _) = daemon.guest(json!({}));
    let (mut north, name) = daemon.guest(json!({}));
    south.send(&json!({"type": "challenge", "opponent": name, "pool": "long", "side": "south"})).unwrap();
    south.expect("challenge_sent").unwrap();
    let challenge = north.expect("challenged").unwrap()["challenge"].clone();
    north.send(&json!({"type": "accept", "challenge": challenge})).unwrap();
    north.expect("started").unwrap();
    let id = south.expect("started").unwrap()["game"].as_str().unwrap().to_owned();
    let mut game = Game { south, north, id: id.clone() };
    let again = |game: &mut Game, moves: &str, code| {
        say_again(&mut game.south, &said(&challenge, &id, moves, true, code));
        say_again(&mut game.north, &said(&challenge, &id, moves, false, code));
    };

    game.play(&MOVES[..4]);
    game.south.expect("turn").unwrap();
    again(&mut game, &MOVES[..4], "duplicate");
    game.south.send(&game.r#move(2)).unwrap();
    game.play(&MOVES[5..]);
    let ended = game.ended();
    assert_eq!(ended["termination"], "immobile");
    again(&mut game, MOVES, "game_over");
    let (mut stranger, _) = daemon.guest(json!({}));
    say_again(&mut stranger, &said(&challenge, &id, MOVES, false, "wrong_game"));

    let export = daemon.export();
    assert_eq!(export.lines().count(), 1, "{export}");
    let record = daemon.record(&id);
    assert_eq!((&record["moves"], &record["score"]), (&json!(MOVES), &ended["score"]));
}

/// The game is over for both: the same `ended` once, and after it nothing of the game but errors.
fn assert_over(game: &mut Game, termination: &str, result: Option<&str>) {
    let south = game.south.skip_to("ended").unwrap();
    let north = game.north.skip_to("ended").unwrap();
    assert_eq!(south, north);
    assert_eq!((&south["game"], &south["termination"]), (&json!(game.id), &json!(termination)), "{south}");
    if let Some(result) = result {
        assert_eq!(south["result"], result, "{south}");
    }
    for peer in [&mut game.south, &mut game.north] {
        assert_quiet(peer);
        for message in [json!({"type": "move", "game": game.id, "pit": 0}), json!({"type": "resign", "game": game.id})]
        {
            peer.send(&message).unwrap();
            assert_eq!(peer.expect("error").unwrap()["code"], "game_over");
        }
        peer.line_within(Duration::from_millis(50)).unwrap_err();
        assert_quiet(peer);
    }
}

/// For each termination: one `ended` a side, the same for both, the last message of that game (`forfeit.once`,
/// `forfeit.winner`, `transport.game-order`). Only `server_error` is missing: nothing that a bot does leads to it.
#[test]
fn a_game_ends_once_for_both_sides() {
    let daemon = Daemon::start_with(POOLS, &[]);
    let game = |pool: &str, moves: &str| {
        let mut game = daemon.game(pool);
        game.play(moves);
        game
    };
    let ends = EndRules::default();
    assert_over(&mut game("long", &line_ending(ends, Ending::Immobile)), "immobile", None);
    assert_over(&mut game("long", "240315042315042315042"), "repetition", Some("north"));
    let quiet = line_ending(EndRules { quiet_plies: 4, ..ends }, Ending::QuietPlies);
    assert_over(&mut game("quiet", &quiet), "quiet_plies", None);
    let majority = line_ending(EndRules { majority: true, ..ends }, Ending::Majority);
    let winner = Side::on_ply(u32::try_from(majority.len()).unwrap()).to_string();
    assert_over(&mut game("majority", &majority), "majority", Some(&winner));

    let mut resigned = game("long", "2");
    resigned.south.send(&json!({"type": "resign", "game": resigned.id})).unwrap();
    assert_over(&mut resigned, "resignation", Some("north"));
    let mut illegal = game("long", "24");
    illegal.south.expect("turn").unwrap();
    illegal.south.send(&illegal.r#move(5)).unwrap();
    assert_over(&mut illegal, "illegal_move", Some("north"));

    let (mut no_show, mut late) = (game("short", ""), game("short", "24"));
    assert_over(&mut no_show, "aborted", Some("none"));
    assert_over(&mut late, "time_forfeit", Some("north"));
    let (status, report) = daemon.run(&["games", "verify", "--data", daemon.data().to_str().unwrap()]);
    assert!(status.success() && report.starts_with("8 games"), "{report}");
}
