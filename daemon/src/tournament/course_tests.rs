//! A course, told as scenes: what it wants, what it hears, what comes of it.

use super::course::{Course, Told};
use super::{Entry, Kind, Plan, Verdict};
use crate::clock::Moment;
use crate::lobby::{Summoned, Summons};
use crate::store::{TournamentForfeit, TournamentGame};
use modiar_protocol::{BotName, GameId};
use modiar_rules::{BySide, Pit, Side};
use std::collections::HashSet;
use std::sync::Arc;
use uuid::Uuid;

const BOTS: [&str; 3] = ["anna", "bert", "carl"];

fn name(text: &str) -> BotName {
    BotName::new(text).unwrap()
}

fn plan() -> Plan {
    let bots = BOTS.iter().map(|bot| Entry { name: name(bot), rating: 1500.0 }).collect();
    Plan {
        format: Kind::RoundRobin,
        pool: "blitz".to_owned(),
        bots,
        challenger: None,
        rounds: None,
        cycles: 1,
        pairs: 1,
        seed: 3,
        patience_s: 10,
        rated: true,
    }
}

/// A course, and what was stored of it.
struct Scene {
    course: Course,
    rows: Vec<(TournamentGame, Option<Told>)>,
    forfeits: Vec<TournamentForfeit>,
    running: HashSet<GameId>,
    ids: u128,
}

impl Scene {
    fn new() -> Self {
        let course = Course::new("cup".to_owned().try_into().unwrap(), plan());
        Self { course, rows: Vec::new(), forfeits: Vec::new(), running: HashSet::new(), ids: 0 }
    }

    /// Reserves what is due; what is wanted then.
    fn wanted(&mut self) -> Vec<Summons> {
        let rows = self.course.unreserved(|| {
            self.ids += 1;
            GameId::new(Uuid::from_u128(self.ids))
        });
        for row in &rows {
            // As the store does: a known try gets another id.
            let same = |known: &TournamentGame| {
                [known.number, known.game, known.attempt] == [row.number, row.game, row.attempt]
            };
            self.rows.retain(|(known, _)| !same(known));
            self.rows.push((*row, None));
        }
        self.rows.sort_by_key(|(row, _)| (row.number, row.game, row.attempt));
        self.course.reserve(&rows);
        self.course.wanted(0)
    }

    fn start(&mut self) -> Summons {
        let [summons] = &self.wanted()[..] else { panic!("one game is due of three bots") };
        self.course.answered([(summons.game, Summoned::Started)], Moment(0));
        self.running.insert(summons.game);
        summons.clone()
    }

    fn end(&mut self, game: GameId, verdict: Verdict, opening: &[Pit]) {
        let told = Told { verdict, opening: opening.into() };
        self.running.remove(&game);
        self.course.ended(game, &told);
        self.rows.iter_mut().find(|(row, _)| row.id == game).unwrap().1 = Some(told);
    }

    fn play(&mut self, verdict: Verdict) -> Summons {
        let summons = self.start();
        self.end(summons.game, verdict, &[]);
        summons
    }

    fn late(&mut self, gone: &str) -> Vec<(String, bool)> {
        let late = self.course.late(|bot| bot.as_str() == gone);
        self.course.give_up(&late);
        self.forfeits.extend(late.clone());
        late.iter().map(|forfeit| (forfeit.bot.to_string(), forfeit.withdrawn)).collect()
    }

    /// As a start finds it: it must stand where it stood.
    fn restart(&mut self) {
        let before = self.course.tournament().clone();
        let running: Vec<GameId> = self.course.running();
        let restored =
            Course::restore(self.course.name.clone(), plan(), self.rows.clone(), &self.forfeits, &self.running);
        assert_eq!(restored.tournament().matches(), before.matches());
        assert_eq!(restored.tournament().standings(), before.standings());
        assert_eq!(restored.running(), running);
        self.course = restored;
    }
}

const SOUTH: Verdict = Verdict::Played { winner: Some(Side::South), captured: BySide { south: 24, north: 18 } };

const fn void(absent: Option<Side>) -> Verdict {
    Verdict::Void { absent }
}

/// At every step a daemon may be killed (`ladder.tournament-restart`).
#[test]
fn at_every_step_a_restart_finds_it_where_it_stood() {
    let mut scene = Scene::new();
    let mut games = 0;
    while !scene.course.is_over() {
        scene.restart();
        scene.wanted();
        // Reserved and never begun: the game is due still, under another id.
        scene.restart();
        let summons = scene.start();
        scene.restart();
        assert!(scene.wanted().is_empty(), "it runs");
        games += 1;
        let verdict = match games % 4 {
            1 => void(None),
            2 => void(Some(Side::North)),
            _ => SOUTH,
        };
        scene.end(summons.game, verdict, &[]);
        scene.restart();
    }
    let ids: HashSet<GameId> = scene.rows.iter().map(|(row, _)| row.id).collect();
    assert_eq!((ids.len(), games), (scene.rows.len(), scene.rows.len()));
}

#[test]
fn the_second_game_of_a_pair_has_the_opening_of_the_first_and_the_sides_swapped() {
    let mut scene = Scene::new();
    let first = scene.start();
    assert_eq!(first.opening, None, "the pool chooses");
    let opening: Arc<[Pit]> = modiar_rules::parse_moves("24031504").unwrap().into();
    scene.end(first.game, SOUTH, &opening);
    scene.restart();
    let second = scene.start();
    assert_eq!(second.opening, Some(opening));
    assert_eq!((&second.seats.south, &second.seats.north), (&first.seats.north, &first.seats.south));
}

/// `ladder.tournament-patience`
#[test]
fn who_does_not_come_in_time_loses_the_match_and_time_in_which_the_daemon_stood_does_not_count() {
    let mut scene = Scene::new();
    let summons = scene.wanted().remove(0);
    let mut at = Moment(0);
    let mut absent = |scene: &mut Scene, seconds: u64, answer: Summoned| {
        at = at + crate::clock::Micros(seconds * 1_000_000);
        scene.course.answered([(summons.game, answer)], at);
    };
    let south = Summoned::Absent(BySide::new(true, false));
    absent(&mut scene, 0, south);
    absent(&mut scene, 3600, south);
    for _ in 0..20 {
        absent(&mut scene, 1, Summoned::Busy);
        absent(&mut scene, 1, Summoned::Held);
    }
    for _ in 0..8 {
        absent(&mut scene, 1, south);
        assert_eq!(scene.late(""), []);
    }
    absent(&mut scene, 1, south);
    assert_eq!(scene.late(""), [(summons.seats.south.to_string(), false)]);
    scene.restart();
    let lost = scene.course.tournament().matches()[0].clone();
    assert_eq!((lost.games.len(), lost.unplayed()), (0, 2));
    assert_eq!(scene.course.tournament().round(), 2);
}

#[test]
fn who_is_gone_for_good_loses_all_that_is_left() {
    let mut scene = Scene::new();
    let gone = scene.wanted().remove(0).seats.south;
    assert_eq!(scene.late(gone.as_str()), [(gone.to_string(), true)]);
    scene.restart();
    let mut others = 0;
    while !scene.course.is_over() {
        let summons = scene.play(SOUTH);
        assert!(Side::ALL.into_iter().all(|side| summons.seats[side] != gone));
        others += 1;
    }
    assert_eq!(others, 2);
    scene.restart();
}

/// `ladder.tournament-aborted`
#[test]
fn a_game_without_a_result_is_tried_once_more_and_then_lost_by_who_was_absent() {
    let mut scene = Scene::new();
    let first = scene.play(void(Some(Side::South)));
    let again = scene.play(void(Some(Side::South)));
    assert_eq!((first.seats.clone(), scene.rows[1].0.attempt), (again.seats, 2));
    scene.restart();
    let met = &scene.course.tournament().matches()[0];
    let south = met.place(scene.course.plan().player(&first.seats.south).unwrap()).unwrap();
    let points: Vec<u64> = met.points().iter().map(|points| points.0).collect();
    assert_eq!((points[south], points[1 - south]), (0, 4));
    // The next game is another: its first try does not count as a second.
    scene.play(void(None));
    assert!(scene.course.tournament().matches()[0].games.len() == 1);
    scene.play(SOUTH);
    assert!(scene.course.tournament().matches()[0].is_over());
}

/// The lobby may have said that it starts, and the disk that it cannot.
#[test]
fn a_game_that_never_began_is_wanted_again() {
    let mut scene = Scene::new();
    let summons = scene.start();
    scene.course.began(summons.game, false);
    assert_eq!(scene.wanted(), [summons]);
}
