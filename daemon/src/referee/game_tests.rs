//! Every event in every state of a game, and what comes of it, as one table.

use super::game::{Game, Phase, Refused, Terms, Verdict};
use crate::clock::{Arrival, Control, Micros, Moment};
use modiar_protocol::client::Move;
use modiar_protocol::{GameId, GameRules, Termination};
use modiar_rules::{BySide, EndRules, Pit, Side};
use std::fmt::Write as _;

const SECOND: u64 = 1_000_000;

struct At(u64);

impl Arrival for At {
    fn received(&self) -> Moment {
        Moment(self.0)
    }

    fn own(&self, _turn: Moment) -> Micros {
        Micros(0)
    }
}

/// Ten seconds and no grace, so that the charge is the time.
fn terms(illegal_moves: u16) -> Terms {
    let control = Control { base: Micros(10 * SECOND), increment: Micros(0), grace: Micros(0), per_move: None };
    let rules = GameRules::new(EndRules::default(), illegal_moves);
    Terms { control, rules, opening: Vec::new(), must_show: BySide::default() }
}

fn wanted(pit: u8, ply: Option<u32>) -> Move {
    Move { game: GameId::NOWHERE, pit: Pit::new(pit).unwrap(), ply }
}

/// A game in which these pits were played, each in no time, its turn running since moment 0.
fn game(terms: Terms, pits: &[u8]) -> Game {
    let mut game = Game::new(terms).unwrap();
    game.turn_written(Moment(0));
    for pit in pits {
        let side = game.side_to_move();
        assert!(matches!(game.play(side, wanted(*pit, None), &At(0), false), Verdict::Accepted(_)));
    }
    game
}

/// The states that differ: South is to move in each that runs.
fn states() -> Vec<(&'static str, Game)> {
    let mut decided = game(terms(0), &[2, 4]);
    decided.abort(Termination::ServerError);
    let mut over = decided.clone();
    over.committed();
    vec![
        ("first ply", game(terms(0), &[])),
        ("first ply, must show", game(Terms { must_show: BySide::new(true, true), ..terms(0) }, &[])),
        ("third ply", game(terms(0), &[2, 4])),
        ("third ply, one illegal pit forgiven", game(terms(1), &[2, 4])),
        ("third ply, the clock stands", {
            let mut game = game(terms(0), &[2, 4]);
            game.stand();
            game
        }),
        ("decided", decided),
        ("over", over),
    ]
}

type Event = (&'static str, fn(&mut Game) -> Verdict);

/// What can happen to a game. North's pit 4 was played on ply 2 in the third-ply states.
const EVENTS: [Event; 18] = [
    ("south plays a legal pit", |game| game.play(Side::South, wanted(0, None), &At(SECOND), false)),
    ("the same with its ply", |game| {
        game.play(Side::South, wanted(0, Some(game.line().position().ply())), &At(SECOND), false)
    }),
    ("exactly at the end of its time", |game| game.play(Side::South, wanted(0, None), &At(10 * SECOND), false)),
    ("one microsecond later", |game| game.play(Side::South, wanted(0, None), &At(10 * SECOND + 1), false)),
    ("an illegal pit", |game| game.play(Side::South, wanted(3, None), &At(SECOND), false)),
    ("an illegal pit too late", |game| game.play(Side::South, wanted(3, None), &At(11 * SECOND), false)),
    ("an illegal pit for a past ply", |game| game.play(Side::South, wanted(3, Some(1)), &At(SECOND), false)),
    ("the pit it played on ply 1", |game| game.play(Side::South, wanted(2, Some(1)), &At(SECOND), false)),
    ("another pit for ply 1", |game| game.play(Side::South, wanted(0, Some(1)), &At(SECOND), false)),
    ("a pit for a ply to come", |game| game.play(Side::South, wanted(0, Some(9)), &At(SECOND), false)),
    ("north plays", |game| game.play(Side::North, wanted(3, None), &At(SECOND), false)),
    ("a legal pit over the rate", |game| game.play(Side::South, wanted(0, None), &At(SECOND), true)),
    ("an illegal pit over the rate", |game| game.play(Side::South, wanted(3, None), &At(SECOND), true)),
    ("south resigns", |game| game.resign(Side::South, &At(SECOND))),
    ("south resigns too late", |game| game.resign(Side::South, &At(11 * SECOND))),
    ("north resigns", |game| game.resign(Side::North, &At(11 * SECOND))),
    ("the flag is looked at in time", |game| game.flag(Moment(10 * SECOND))),
    ("the flag is looked at too late", |game| game.flag(Moment(10 * SECOND + 1))),
];

fn outcome(verdict: &Verdict, game: &Game) -> String {
    let verdict = match verdict {
        Verdict::Accepted(played) => format!("ply {} accepted", played.ply),
        Verdict::Refused(Refused { code, .. }) => format!("refused {code}"),
        other => format!("{other:?}"),
    };
    let phase = match game.phase() {
        Phase::Running => "running".to_owned(),
        Phase::Decided(decision) => format!("decided {} {}", decision.result, decision.termination),
        Phase::Over(decision) => format!("over {} {}", decision.result, decision.termination),
    };
    format!("{verdict} / {phase}")
}

/// `verdict.order`, `verdict.deadline`, `verdict.resign-late`, `forfeit.no-show`, `forfeit.second`,
/// `verdict.illegal-loses`, `verdict.illegal-allowed`, `session.rate-free-move`, `clock.flag`, `forfeit.once`.
#[test]
fn every_event_in_every_state() {
    let mut table = String::new();
    for (state, before) in states() {
        writeln!(table, "{state}").unwrap();
        for (event, happen) in EVENTS {
            let mut game = before.clone();
            let verdict = happen(&mut game);
            writeln!(table, "    {event:<34} {}", outcome(&verdict, &game)).unwrap();
        }
    }
    insta::assert_snapshot!(table);
}

/// `session.kill`: a game comes back as it was, but for its clock, which stands.
#[test]
fn a_game_resumes_where_it_stood() {
    let mut before = game(terms(2), &[2, 4]);
    before.turn_written(Moment(0));
    assert!(matches!(before.play(Side::South, wanted(3, None), &At(0), false), Verdict::Refused(_)));
    assert!(matches!(before.play(Side::South, wanted(0, None), &At(3 * SECOND), false), Verdict::Accepted(_)));
    let plies: Vec<_> = before.line().moves().iter().copied().zip(before.charges().iter().copied()).collect();
    let after = Game::resume(terms(2), &plies, before.forgiven()).unwrap();
    assert_eq!(after.clock().remaining(), before.clock().remaining());
    assert_eq!(after.line().position(), before.line().position());
    assert_eq!((after.charges(), after.forgiven()), (before.charges(), before.forgiven()));
    assert_eq!(after.deadline(), None);
}

#[test]
fn a_forgiven_pit_is_forgiven_once() {
    let mut game = game(terms(1), &[]);
    let illegal = wanted(3, None);
    let Verdict::Refused(refused) = game.play(Side::South, illegal, &At(0), false) else { panic!("not forgiven") };
    let (clause, legal) = refused.illegal.unwrap();
    assert_eq!((clause, legal.0.to_string()), ("rules.move.own-row", "0 1 2".to_owned()));
    assert_eq!(game.play(Side::South, illegal, &At(0), false), Verdict::Decided);
    let decision = game.decision().unwrap();
    assert_eq!(decision.termination, Termination::IllegalMove);
    assert_eq!(decision.detail.as_ref().unwrap().clause, "rules.move.own-row");
}

/// `clock.increment`: only a legal move brings it, and the record's identity holds.
#[test]
fn what_remains_is_what_was_not_charged() {
    let mut with_increment = terms(0);
    with_increment.control.increment = Micros(SECOND / 10);
    let mut game = Game::new(with_increment).unwrap();
    for (pit, thought) in [(2, SECOND), (4, 2 * SECOND), (0, 3 * SECOND)] {
        let side = game.side_to_move();
        game.turn_written(Moment(0));
        assert!(matches!(game.play(side, wanted(pit, None), &At(thought), false), Verdict::Accepted(_)));
    }
    assert_eq!(game.clock().remaining().south, Micros(10 * SECOND - 4 * SECOND + 2 * SECOND / 10));
    assert_eq!(game.clock().remaining().north, Micros(10 * SECOND - 2 * SECOND + SECOND / 10));
}

/// `rules.endless.opening`: the plies of an opening are nobody's time, and count for the ends.
#[test]
fn an_opening_is_played_for_the_bots() {
    let opening = [2, 4, 0].map(|pit| Pit::new(pit).unwrap()).to_vec();
    let mut game = Game::new(Terms { opening, ..terms(0) }).unwrap();
    assert_eq!((game.side_to_move(), game.line().position().ply(), game.charges().len()), (Side::North, 4, 0));
    let Verdict::Refused(refused) = game.play(Side::South, wanted(2, Some(1)), &At(0), false) else {
        panic!("accepted")
    };
    assert_eq!(refused.code.as_str(), "stale_ply", "the opening was played by nobody");
}

/// `forfeit.no-show`: time is up for a move that the pool allows little of, but its bot is there.
#[test]
fn a_short_move_limit_makes_no_absentee() {
    let mut short = terms(0);
    short.control.per_move = Some(Micros(SECOND));
    let mut game = Game::new(short).unwrap();
    game.turn_written(Moment(0));
    assert_eq!(game.flag(Moment(2 * SECOND)), Verdict::Decided);
    let decision = game.decision().unwrap();
    assert_eq!((decision.termination, decision.absent), (Termination::TimeForfeit, None));
}
