//! The machine, message by message.

use super::away::{FIRST_PAUSE, HELD, IDLE_TRIES, LAST_PAUSE};
use super::*;
use crate::Settings;
use modiar_protocol::ErrorCode;
use serde_json::{Value, json};

const GAME: &str = "g0192f0c1a2b37c4d8e5f60718293a4b5";
const OTHER: &str = "g0192f0c1a2b37c4d8e5f60718293a4b6";

/// A player, and what it said.
struct Table {
    player: Player,
    now: Instant,
}

impl Table {
    fn new(settings: Settings) -> Self {
        Self { player: Player::new(&settings.port(6634).settle().unwrap()), now: Instant::now() }
    }

    /// A connected guest that was let in, and seeks so many games.
    fn seeking(games: u64) -> Self {
        let mut table = Self::new(Settings::new());
        table.open();
        table.welcome(&[], &json!([]));
        table.player.seek("practice", games);
        assert_eq!(table.said(), [format!("seek {games}")]);
        table
    }

    /// One that has a game.
    fn playing() -> Self {
        let mut table = Self::seeking(1);
        table.started(false);
        table
    }

    fn open(&mut self) {
        self.player.open(self.now);
        assert_eq!(self.said(), ["hello"]);
    }

    fn hear(&mut self, message: &Value) {
        let moment = Moment { at: self.now, unix_ms: 1_000_000 };
        self.player.hear(ServerMessage::read(message.to_string().as_bytes()).unwrap(), moment);
    }

    fn welcome(&mut self, games: &[&str], missed: &Value) {
        self.hear(&json!({
            "type": "welcome", "protocol": 1, "server": "modiar/0.1.0", "resume": "a-token-to-come-back",
            "bot": {"name": "guest-1", "guest": true, "ratings": {}}, "pools": [],
            "limits": {"line_bytes": 4096, "messages_per_s": 20, "games": 1}, "games": games, "missed": missed,
        }));
    }

    fn started(&mut self, resumed: bool) {
        self.hear(&json!({
            "type": "started", "game": GAME, "pool": "practice", "rated": false, "side": "south",
            "south": {"name": "guest-1", "guest": true}, "north": {"name": "Tanja", "guest": false},
            "time": {"base_ms": 60000, "increment_ms": 0, "grace_ms": 50, "move_ms": 700},
            "rules": {"name": "modiar", "repetition": 3, "quiet_plies": 200, "majority": false, "illegal_moves": 3},
            "opening": "", "moves": "", "ply": 1, "side_to_move": "south", "pits": [7, 7, 7, 7, 7, 7],
            "captured": {"south": 0, "north": 0}, "remaining_ms": {"south": 60000, "north": 60000}, "resumed": resumed,
        }));
    }

    fn turn(&mut self, ply: u32) {
        self.hear(&json!({
            "type": "turn", "game": GAME, "ply": ply, "side": "south", "pits": [7, 7, 7, 7, 7, 7],
            "captured": {"south": 0, "north": 0}, "legal": [0, 1, 2], "remaining_ms": {"south": 500, "north": 60000},
        }));
    }

    fn error(&mut self, code: ErrorCode, more: Value) {
        let mut error = json!({"type": "error", "code": code.as_str(), "message": "no", "fatal": false});
        error.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        self.hear(&error);
    }

    /// Plays the turn that waits.
    fn play(&mut self, pit: usize) -> Turn {
        let turn = self.player.next_turn().unwrap();
        self.player.play(&turn, Pit::ALL[pit]).unwrap();
        turn
    }

    /// What was said since it was last asked, in short.
    fn said(&mut self) -> Vec<String> {
        let said = std::mem::take(&mut self.player.out).into_iter().map(|incoming| match incoming.message {
            ClientMessage::Hello(hello) if hello.resume.is_some() => format!("hello {} resume", hello.name.unwrap()),
            ClientMessage::Hello(_) => "hello".to_owned(),
            ClientMessage::Seek { games, .. } => format!("seek {games}"),
            ClientMessage::Unseek { .. } => "unseek".to_owned(),
            ClientMessage::Move(Move { pit, ply, .. }) => format!("move {pit} at {}", ply.unwrap()),
            ClientMessage::Resign { .. } => "resign".to_owned(),
            ClientMessage::Bye => "bye".to_owned(),
            other => format!("{other:?}"),
        });
        said.collect()
    }

    /// The link breaks, and a new one stands.
    fn again(&mut self) {
        self.player.lost(None, self.now, 0).unwrap();
        self.player.open(self.now);
        assert_eq!(self.said(), ["hello guest-1 resume"]);
    }

    fn after(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        self.player.tick(self.now);
    }
}

fn ended(game: &str, result: &str) -> Value {
    json!({
        "type": "ended", "game": game, "result": result, "termination": "immobile",
        "score": {"south": 19, "north": 23}, "pits": [0, 0, 1, 1, 8, 0], "ply": 22,
    })
}

fn done() -> Value {
    json!({"type": "seek_ended", "pool": "practice", "reason": "done"})
}

#[test]
fn a_game_is_played_from_hello_to_its_end() {
    let mut table = Table::playing();
    table.turn(1);
    let turn = table.play(2);
    assert_eq!(turn.opponent, BotName::new("Tanja").ok());
    assert_eq!(turn.deadline, table.now + Duration::from_millis(500), "less than what one move may take");
    assert_eq!(table.said(), ["move 2 at 1"]);
    table.hear(&ended(GAME, "north"));
    assert!(!table.player.finished());
    table.hear(&done());
    assert!(table.player.finished());
    assert_eq!(table.player.ends[0].to_string(), format!("{GAME} north immobile south 19-23"));
}

#[test]
fn a_turn_that_was_answered_gets_the_same_pit_and_is_not_asked_again() {
    let mut table = Table::playing();
    table.turn(1);
    let turn = table.play(1);
    table.said();
    table.again();
    table.welcome(&[GAME], &json!([]));
    table.started(true);
    table.turn(1);
    assert_eq!(table.said(), ["move 1 at 1"]);
    assert_eq!(table.player.next_turn(), None);
    assert_eq!(table.player.play(&turn, Pit::ALL[2]), Err(Error::Played));
    table.turn(3);
    assert_eq!(table.player.next_turn().unwrap().ply, 3);
}

#[test]
fn a_turn_that_its_owner_still_has_is_not_asked_again() {
    let mut table = Table::playing();
    table.turn(1);
    let turn = table.player.next_turn().unwrap();
    table.again();
    table.welcome(&[GAME], &json!([]));
    table.started(true);
    table.turn(1);
    assert_eq!(table.player.next_turn(), None);
    table.player.play(&turn, Pit::ALL[0]).unwrap();
    assert_eq!(table.said(), ["move 0 at 1"]);
}

#[test]
fn a_turn_that_waits_is_asked_once_after_a_return() {
    let mut table = Table::playing();
    table.turn(1);
    table.again();
    table.welcome(&[GAME], &json!([]));
    table.started(true);
    assert_eq!(table.player.next_turn(), None, "until it is told again");
    table.turn(1);
    assert!(table.player.next_turn().is_some() && table.player.next_turn().is_none());
}

#[test]
fn what_is_played_without_a_link_is_said_when_the_turn_comes_again() {
    let mut table = Table::playing();
    table.turn(1);
    table.player.lost(None, table.now, 0).unwrap();
    table.play(2);
    assert_eq!(table.said(), Vec::<String>::new());
    table.player.open(table.now);
    table.said();
    table.welcome(&[GAME], &json!([]));
    table.turn(1);
    assert_eq!(table.said(), ["move 2 at 1"]);
}

#[test]
fn missed_games_are_counted_once_and_aborted_ones_not() {
    let mut table = Table::seeking(3);
    table.started(false);
    table.again();
    table.welcome(&[], &json!([ended(GAME, "north"), ended(OTHER, "none")]));
    assert_eq!(table.said(), ["seek 2"]);
    table.again();
    table.welcome(&[], &json!([ended(GAME, "north"), ended(OTHER, "none")]));
    assert_eq!(table.said(), ["seek 2"]);
    table.hear(&ended(GAME, "north"));
    assert_eq!(table.player.ends.len(), 2);
    assert_eq!(table.player.ends[0].side, Some(Side::South));
}

#[test]
fn what_was_missed_before_the_first_welcome_is_none_of_ours() {
    let mut table = Table::new(Settings::new());
    table.open();
    table.welcome(&[], &json!([ended(GAME, "north")]));
    table.player.seek("practice", 1);
    assert_eq!(table.said(), ["seek 1"]);
    assert_eq!(table.player.ends, []);
}

#[test]
fn a_game_that_the_server_does_not_know_any_more_is_forgotten() {
    let mut table = Table::playing();
    table.turn(1);
    table.again();
    table.welcome(&[], &json!([]));
    assert_eq!(table.said(), ["seek 1"]);
    assert_eq!(table.player.next_turn(), None);
}

#[test]
fn who_comes_back_to_a_game_seeks_when_it_is_over() {
    let mut table = Table::seeking(2);
    table.started(false);
    table.again();
    table.welcome(&[GAME], &json!([]));
    assert_eq!(table.said(), Vec::<String>::new());
    table.hear(&ended(GAME, "draw"));
    assert_eq!(table.said(), ["seek 1"]);
}

#[test]
fn a_penalty_is_waited_out() {
    let mut table = Table::seeking(1);
    table.hear(&json!({
        "type": "seek_ended", "pool": "practice", "reason": "penalised", "until_ms": 1_010_000, "message": "no show",
    }));
    table.after(10_900);
    assert_eq!(table.said(), Vec::<String>::new());
    assert!(!table.player.finished());
    table.after(200);
    assert_eq!(table.said(), ["seek 1"]);
}

#[test]
fn a_server_that_drains_is_left_in_peace() {
    let mut table = Table::seeking(1);
    table.hear(&json!({"type": "notice", "code": "draining", "message": "it stops"}));
    table.hear(&json!({"type": "seek_ended", "pool": "practice", "reason": "draining"}));
    table.after(60_000);
    assert_eq!(table.said(), Vec::<String>::new());
    assert!(!table.player.finished() && !table.player.hang_up);
    table.hear(&json!({"type": "goodbye", "reason": "draining", "message": "back soon"}));
    assert!(table.player.hang_up);
    table.again();
    table.welcome(&[], &json!([]));
    assert_eq!(table.said(), ["seek 1"]);
}

#[test]
fn a_hello_or_seek_at_a_drain_is_tried_again() {
    let mut table = Table::seeking(1);
    table.error(ErrorCode::Draining, json!({"ref": "seek"}));
    assert!(table.player.hang_up);
    table.again();
    table.error(ErrorCode::TooManyConnections, json!({"fatal": true}));
    assert!(table.player.hang_up);
    let pause = table.player.lost(None, table.now, u64::MAX).unwrap();
    assert!(pause <= Duration::from_millis(500), "{pause:?}");
    assert_eq!(table.player.tries, 2);
}

#[test]
fn pauses_begin_anew_once_a_link_was_of_use() {
    let mut table = Table::playing();
    let lost = |table: &mut Table, pauses: u32| {
        table.again();
        assert_eq!(table.player.pauses, pauses);
    };
    let told = |table: &mut Table, ply| {
        table.welcome(&[GAME], &json!([]));
        table.started(true);
        table.turn(ply);
    };
    for pauses in 1..10 {
        lost(&mut table, pauses);
        told(&mut table, 1);
    }
    table.play(1);
    lost(&mut table, 10);
    told(&mut table, 1); // the move may have got lost
    lost(&mut table, 11);
    told(&mut table, 3); // it has counted
    lost(&mut table, 1);
    told(&mut table, 3);
    lost(&mut table, 2);
    told(&mut table, 3);
    table.now += HELD / 2;
    lost(&mut table, 3);
    table.now += HELD;
    table.error(ErrorCode::TooManyConnections, json!({"fatal": true}));
    lost(&mut table, 4);
    told(&mut table, 3);
    table.now += HELD;
    lost(&mut table, 1);
    lost(&mut table, 2);
    told(&mut table, 3);
    table.hear(&ended(GAME, "draw"));
    lost(&mut table, 1);
}

#[test]
fn the_first_connection_fails_at_once() {
    let told = |table: &mut Table, cause| match table.player.lost(cause, table.now, 0) {
        Err(Error::Connect(told)) => told,
        other => panic!("{other:?}"),
    };
    let mut table = Table::new(Settings::new().host("there"));
    assert_eq!(told(&mut table, Some("refused")), "cannot connect to there:6634: refused");
    table.open();
    assert!(told(&mut table, None).contains("MODIAR_PORT"));
}

#[test]
fn pauses_grow_to_fifteen_seconds_and_end_where_nothing_is_played() {
    let mut idle = Table::seeking(1);
    let pauses: Vec<Duration> = (0..IDLE_TRIES).map(|_| idle.player.lost(None, idle.now, 249_999).unwrap()).collect();
    assert_eq!(pauses[0], Duration::from_micros(249_999));
    assert!(matches!(idle.player.lost(None, idle.now, 0), Err(Error::Connect(_))));
    let mut busy = Table::playing();
    let most = (0..200).map(|_| busy.player.lost(None, busy.now, u64::MAX).unwrap()).max().unwrap();
    assert!(most < LAST_PAUSE && most > FIRST_PAUSE, "{most:?}");
}

#[test]
fn refusals_of_a_name_end_it_or_make_a_new_guest() {
    let auth = |table: &mut Table| matches!(table.player.lost(None, table.now, 0), Err(Error::Auth(_)));
    let mut first = Table::new(Settings::new().name("dice").token("wrong"));
    first.open();
    first.error(ErrorCode::AuthFailed, json!({"ref": "hello"}));
    assert!(first.player.hang_up && auth(&mut first));

    let mut guest = Table::seeking(1);
    guest.again();
    guest.error(ErrorCode::AuthFailed, json!({"ref": "hello"}));
    guest.player.lost(None, guest.now, 0).unwrap();
    guest.open(); // without name and resume
    guest.welcome(&[], &json!([]));
    assert_eq!(guest.said(), ["seek 1"]);

    let mut busy = Table::playing();
    busy.again();
    busy.error(ErrorCode::NameTaken, json!({"ref": "hello"}));
    busy.again();
    busy.error(ErrorCode::NameTaken, json!({"ref": "hello"}));
    assert!(auth(&mut busy));
}

#[test]
fn other_refusals_are_told_with_their_code() {
    let mut table = Table::seeking(1);
    table.error(ErrorCode::UnknownPool, json!({"ref": "seek"}));
    let Err(Error::Protocol(refused)) = table.player.lost(None, table.now, 0) else { panic!() };
    assert_eq!((refused.code, refused.message.as_str()), (ErrorCode::UnknownPool, "no"));
}

#[test]
fn a_goodbye_for_good_is_the_end_and_another_is_not() {
    for (reason, last) in [("replaced", true), ("banned", true), ("flood", true), ("slow_reader", false)] {
        let mut table = Table::playing();
        table.hear(&json!({"type": "goodbye", "reason": reason, "message": "so"}));
        assert!(table.player.hang_up);
        assert_eq!(matches!(table.player.lost(None, table.now, 0), Err(Error::Goodbye { .. })), last, "{reason}");
    }
}

#[test]
fn an_illegal_pit_that_is_forgiven_is_asked_for_again() {
    let mut table = Table::playing();
    table.turn(1);
    table.play(5);
    table.error(ErrorCode::IllegalMove, json!({"game": GAME, "clause": "rules.move.own-row", "legal": [1]}));
    let turn = table.play(1);
    assert_eq!(turn.legal, [Pit::ALL[1]]);
    assert_eq!(table.said(), ["move 5 at 1", "move 1 at 1"]);
}

#[test]
fn other_errors_about_a_move_do_no_harm() {
    use ErrorCode::{Duplicate, GameOver, NotYourTurn, StalePly, WrongGame};
    let mut table = Table::playing();
    table.turn(1);
    table.play(1);
    table.said();
    for code in [Duplicate, StalePly, NotYourTurn, GameOver, WrongGame] {
        table.error(code, json!({"game": GAME}));
    }
    assert!(table.said().is_empty() && !table.player.hang_up && table.player.next_turn().is_none());
}

#[test]
fn what_was_limited_is_said_again_five_times_at_most() {
    let mut table = Table::playing();
    table.turn(1);
    table.play(1);
    table.said();
    for times in 0..7 {
        table.error(ErrorCode::RateLimited, json!({"game": GAME}));
        assert!(table.said().is_empty());
        table.after(200);
        assert_eq!(table.said().len(), usize::from(times < 5));
    }
    let mut table = Table::seeking(1);
    table.error(ErrorCode::RateLimited, json!({"ref": "seek"}));
    table.after(1000);
    assert_eq!(table.said(), ["seek 1"]);
}

#[test]
fn who_leaves_takes_the_seek_back_and_resigns() {
    let mut table = Table::playing();
    table.turn(1);
    table.player.leave();
    assert_eq!(table.said(), ["unseek", "resign"]);
    assert_eq!(table.player.next_turn(), None);
    table.hear(&json!({"type": "seek_ended", "pool": "practice", "reason": "cancelled", "ref": "unseek"}));
    table.hear(&ended(GAME, "north"));
    assert_eq!(table.said(), ["bye"]);
    table.hear(&json!({"type": "goodbye", "reason": "bye", "message": "goodbye"}));
    assert!(table.player.hang_up);
    assert_eq!(table.player.lost(None, table.now, 0), Err(Error::Closed));
}

#[test]
fn a_turn_that_is_none_is_passed_over() {
    let mut table = Table::playing();
    for wrong in [json!({"pits": [9, 7, 7, 7, 7, 7]}), json!({"legal": []}), json!({"side": "north"})] {
        let mut turn = json!({
            "type": "turn", "game": GAME, "ply": 1, "side": "south", "pits": [7, 7, 7, 7, 7, 7],
            "captured": {"south": 0, "north": 0}, "legal": [0], "remaining_ms": {"south": u64::MAX, "north": 0},
        });
        turn.as_object_mut().unwrap().extend(wrong.as_object().cloned().unwrap());
        table.hear(&turn);
        assert_eq!(table.player.next_turn(), None, "{turn}");
    }
}

#[test]
fn a_server_that_does_not_welcome_is_no_server() {
    let mut table = Table::new(Settings::new());
    table.open();
    table.after(15_000);
    assert!(table.player.hang_up);
    assert!(matches!(table.player.lost(None, table.now, 0), Err(Error::Connect(_))));
}
