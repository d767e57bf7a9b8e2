//! What the parts of a ply cost: `cargo bench -p modiar-bench`.
#![allow(clippy::unwrap_used)] // what is measured is known to be good

use divan::{Bencher, black_box};
use modiar::clock::{Arrival, Charge, Clock, Control, Micros, Moment};
use modiar::referee::{Game, Terms, Verdict};
use modiar_protocol::client::{ClientMessage, Move, decode};
use modiar_protocol::server::{Last, Turn};
use modiar_protocol::{GameId, GameRules, Lines, PitList, ServerMessage, Sides, TimeControl};
use modiar_rules::{BySide, EndRules, Line, Pit, Position, Side, perft};

fn main() {
    divan::main();
}

const MOVE: &[u8] = b"{\"type\":\"move\",\"game\":\"g0192f0c1a2b37c4d8e5f60718293a4b5\",\"pit\":2}\n";
/// Nine plies, and the six that come round after them.
const LEAD: [u8; 9] = [2, 4, 0, 3, 1, 5, 0, 4, 2];
const ROUND: [u8; 6] = [3, 1, 5, 0, 4, 2];

fn pits(digits: &[u8]) -> Vec<Pit> {
    digits.iter().map(|digit| Pit::new(*digit).unwrap()).collect()
}

/// Rules by which no game ends early.
fn endless() -> EndRules {
    EndRules { repetition: 0, quiet_plies: 0, majority: false }
}

mod codec {
    use super::*;

    #[divan::bench]
    fn decode_a_move(bencher: Bencher<'_, '_>) {
        bencher.bench(|| decode(black_box(&MOVE[..MOVE.len() - 1])));
    }

    #[divan::bench]
    fn cut_a_read_of_one_line(bencher: Bencher<'_, '_>) {
        let mut lines = Lines::default();
        bencher.bench_local(|| lines.next(&mut black_box(MOVE)).unwrap().unwrap().len());
    }

    #[divan::bench]
    fn cut_a_line_of_two_reads(bencher: Bencher<'_, '_>) {
        let mut lines = Lines::default();
        let (head, tail) = MOVE.split_at(40);
        bencher.bench_local(|| {
            assert!(lines.next(&mut black_box(head)).is_none());
            lines.next(&mut black_box(tail)).unwrap().unwrap().len()
        });
    }

    #[divan::bench]
    fn write_a_turn(bencher: Bencher<'_, '_>) {
        let turn = turn_of(&game());
        let mut line = Vec::with_capacity(512);
        bencher.bench_local(|| {
            line.clear();
            black_box(&turn).write(&mut line);
            line.len()
        });
    }
}

mod rules {
    use super::*;

    /// Six plies, on from the position after the lead.
    #[divan::bench]
    fn play_six(bencher: Bencher<'_, '_>) {
        let (line, round) = (Line::replay(endless(), pits(&LEAD)).unwrap(), pits(&ROUND));
        bencher.counter(ROUND.len()).with_inputs(|| line.clone()).bench_local_refs(|line| {
            for pit in &round {
                line.play(*pit).unwrap();
            }
        });
    }

    #[divan::bench]
    fn legal(bencher: Bencher<'_, '_>) {
        let position = Line::replay(endless(), pits(&LEAD)).unwrap().position();
        bencher.bench(|| black_box(&position).legal());
    }

    #[divan::bench]
    fn perft_10(bencher: Bencher<'_, '_>) {
        bencher.bench(|| perft(black_box(&Position::START), 10));
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

#[divan::bench]
fn clock_of_a_ply(bencher: Bencher<'_, '_>) {
    let mut clock = Clock::new(Control::from(time()));
    let mut now = Moment(0);
    bencher.bench_local(|| -> Charge {
        clock.turn_written(now);
        now = now + Micros(60_000);
        let charge = clock.charge(black_box(&Quick(now)));
        clock.settle(Side::South, charge);
        charge
    });
}

/// A game after the lead, its clock running.
fn game() -> Game {
    let rules = GameRules::new(endless(), 0);
    let terms = Terms { control: time().into(), rules, opening: Vec::new(), must_show: BySide::new(false, false) };
    let plies: Vec<(Pit, Charge)> = pits(&LEAD).into_iter().map(|pit| (pit, Charge::default())).collect();
    let mut game = Game::resume(terms, &plies, BySide::default()).unwrap();
    game.turn_written(Moment(0));
    game
}

fn turn_of(game: &Game) -> ServerMessage {
    let position = game.line().position();
    ServerMessage::Turn(Turn {
        game: GameId::NOWHERE,
        ply: position.ply(),
        side: position.side(),
        pits: position.pits(),
        captured: position.captured().into(),
        legal: PitList(game.line().legal()),
        remaining_ms: Sides { south: 86_400_000, north: 86_399_871 },
        last: game.last().map(|last| Last {
            ply: last.ply,
            side: last.side,
            pit: last.pit,
            taken: last.taken,
            elapsed_ms: last.charge.elapsed.ms(),
        }),
    })
}

/// Six plies of one game, judged, charged and played.
#[divan::bench]
fn referee_six(bencher: Bencher<'_, '_>) {
    let (game, round) = (game(), pits(&ROUND));
    bencher.counter(ROUND.len()).with_inputs(|| game.clone()).bench_local_refs(|game| {
        for pit in &round {
            let side = game.side_to_move();
            let wanted = Move { game: GameId::NOWHERE, pit: *pit, ply: None };
            let verdict = game.play(side, wanted, &Quick(Moment(10_000)), false);
            assert!(matches!(verdict, Verdict::Accepted(_)));
            game.turn_written(Moment(10_000));
        }
    });
}

/// All of six plies but the sockets and the journal: from the bytes of the moves to those of the turns.
#[divan::bench]
fn bytes_to_bytes_six(bencher: Bencher<'_, '_>) {
    let game = game();
    let moves: Vec<Vec<u8>> =
        ROUND.iter().map(|pit| [&MOVE[..MOVE.len() - 3], &[b'0' + pit], b"}\n"].concat()).collect();
    let (mut lines, mut out) = (Lines::default(), Vec::with_capacity(512));
    bencher.counter(ROUND.len()).with_inputs(|| game.clone()).bench_local_refs(|game| {
        for bytes in &moves {
            let line = lines.next(&mut &bytes[..]).unwrap().unwrap();
            let ClientMessage::Move(wanted) = decode(line).unwrap().message else { unreachable!() };
            let side = game.side_to_move();
            assert!(matches!(game.play(side, wanted, &Quick(Moment(10_000)), false), Verdict::Accepted(_)));
            out.clear();
            turn_of(game).write(&mut out);
            game.turn_written(Moment(10_000));
        }
    });
}
