//! The parts of a ply, as `cargo bench` times them and the test of instructions counts them.

use modiar::clock::{Arrival, Clock, Control, Micros, Moment};
use modiar::referee::{Game, Terms, Verdict, turn};
use modiar_protocol::client::{ClientMessage, Move, decode};
use modiar_protocol::{GameId, GameRules, Lines, TimeControl};
use modiar_rules::{BySide, EndRules, Line, Pit, Position, Side};
use std::hint::black_box;

/// A move as a bot sends it.
pub const MOVE: &[u8] = b"{\"type\":\"move\",\"game\":\"g0192f0c1a2b37c4d8e5f60718293a4b5\",\"pit\":2}\n";
/// Nine plies, and the six that come round after them: by the default rules a game of these ends with ply 21.
const LEAD: [u8; 9] = [2, 4, 0, 3, 1, 5, 0, 4, 2];
const ROUND: [u8; 6] = [3, 1, 5, 0, 4, 2];

/// A part, done so many times.
pub type Part = fn(usize);

/// All of them, by name.
pub const PARTS: [(&str, Part); 6] = [
    ("decode_a_move", decode_a_move),
    ("write_a_turn", write_a_turn),
    ("play_a_ply", play_a_ply),
    ("find_legal_pits", find_legal_pits),
    ("clock_a_ply", clock_a_ply),
    ("whole_game", whole_game),
];

fn pits() -> impl Iterator<Item = Pit> {
    LEAD.into_iter().chain(ROUND.into_iter().cycle()).map(|digit| Pit::new(digit).unwrap())
}

/// Cuts and reads it.
fn decode_a_move(times: usize) {
    let mut lines = Lines::default();
    for _ in 0..times {
        let line = lines.next(&mut black_box(MOVE)).unwrap().unwrap();
        black_box(decode(line).unwrap());
    }
}

/// The turn after the lead.
fn write_a_turn(times: usize) {
    let mut game = new_game(EndRules { repetition: 0, quiet_plies: 0, majority: false });
    pits().take(LEAD.len()).for_each(|pit| play(&mut game, pit));
    let (turn, mut line) = (turn(GameId::NOWHERE, &game), Vec::with_capacity(512));
    for _ in 0..times {
        line.clear();
        black_box(&turn).write(&mut line);
        black_box(line.len());
    }
}

/// Whole games by the rules alone.
fn play_a_ply(times: usize) {
    let mut line = Line::new(EndRules::default());
    let mut next = pits();
    for _ in 0..times {
        if line.ending().is_some() {
            line = Line::new(EndRules::default());
            next = pits();
        }
        line.play(next.next().unwrap()).unwrap();
    }
}

fn find_legal_pits(times: usize) {
    let position = Line::replay(EndRules::default(), pits().take(LEAD.len())).unwrap().position();
    for _ in 0..times {
        black_box(black_box::<&Position>(&position).legal());
    }
}

fn clock_a_ply(times: usize) {
    let mut clock = Clock::new(Control::from(time()));
    let mut now = Moment(0);
    for _ in 0..times {
        clock.turn_written(now);
        now = now + Micros(60_000);
        let charge = clock.charge(black_box(&Quick(now)));
        clock.settle(Side::South, charge);
    }
    black_box(clock);
}

/// All of whole games but the sockets, the journal and the store: from the bytes of the moves to those of the turns.
fn whole_game(times: usize) {
    let moves: Vec<Vec<u8>> =
        pits().take(21).map(|pit| [&MOVE[..MOVE.len() - 3], &[b'0' + pit.index()], b"}\n"].concat()).collect();
    let (mut lines, mut out) = (Lines::default(), Vec::with_capacity(512));
    for _ in 0..times {
        let mut game = new_game(EndRules::default());
        for bytes in &moves {
            let line = lines.next(&mut &bytes[..]).unwrap().unwrap();
            let ClientMessage::Move(wanted) = decode(line).unwrap().message else { unreachable!() };
            play(&mut game, wanted.pit);
            out.clear();
            turn(GameId::NOWHERE, &game).write(&mut out);
        }
        assert!(game.decision().is_some());
    }
}

/// An arrival of which nothing has to be asked.
struct Quick(Moment);

impl Arrival for Quick {
    fn received(&self) -> Moment {
        self.0
    }

    fn own(&self, _turn: Moment) -> Micros {
        Micros(0)
    }
}

fn time() -> TimeControl {
    TimeControl { base_ms: 86_400_000, increment_ms: 200, grace_ms: 50, move_ms: None }
}

/// A game at its start, its clock running.
fn new_game(ends: EndRules) -> Game {
    let rules = GameRules::new(ends, 0);
    let terms = Terms { control: time().into(), rules, opening: Vec::new(), must_show: BySide::new(false, false) };
    let mut game = Game::new(terms).unwrap();
    game.turn_written(Moment(0));
    game
}

/// Judges, charges and plays a move.
fn play(game: &mut Game, pit: Pit) {
    let wanted = Move { game: GameId::NOWHERE, pit, ply: None };
    let verdict = game.play(game.side_to_move(), wanted, &Quick(Moment(10_000)), false);
    assert!(matches!(verdict, Verdict::Accepted(_)));
    game.turn_written(Moment(10_000));
}
