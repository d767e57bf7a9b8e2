//! What a stored game means to a tournament.

use modiar_protocol::{GameResult, Record, Termination};
use modiar_rules::{BySide, Side};

/// How a try at a game went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It counts.
    Played {
        /// Who won; nobody a draw.
        winner: Option<Side>,
        /// Seeds that each side captured.
        captured: BySide<u8>,
    },
    /// It ended without a result.
    Void {
        /// Who did not show up for it; nobody where the server ended it.
        absent: Option<Side>,
    },
}

impl Verdict {
    /// That of a record.
    #[must_use]
    pub fn of(record: &Record) -> Self {
        let winner = match record.result {
            GameResult::South => Some(Side::South),
            GameResult::North => Some(Side::North),
            GameResult::Draw => None,
            GameResult::None => return Self::Void { absent: absent(record) },
        };
        Self::Played { winner, captured: BySide::new(record.score.south, record.score.north) }
    }
}

/// The side that was to play its first ply and let its time for that go by (`forfeit.no-show`): a game that the server ends
/// has no turn that was running.
fn absent(record: &Record) -> Option<Side> {
    let first_plies = record.charged_us.len() < 2;
    let waited = record.termination == Termination::Aborted && record.unfinished_turn.is_some();
    let to_move = if record.moves.len().is_multiple_of(2) { Side::South } else { Side::North };
    (first_plies && waited).then_some(to_move)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(change: &[(&str, serde_json::Value)]) -> Record {
        let page = include_str!("../../../spec/record.md");
        let line = page.lines().find(|line| line.starts_with("{\"record\"")).unwrap();
        let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
        for (key, new) in change {
            value[*key] = new.clone();
        }
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_resigned_game_counts_with_what_was_captured() {
        let captured = BySide::new(0, 0);
        assert_eq!(Verdict::of(&record(&[])), Verdict::Played { winner: Some(Side::South), captured });
        let draw = record(&[("result", "draw".into())]);
        assert_eq!(Verdict::of(&draw), Verdict::Played { winner: None, captured });
    }

    #[test]
    fn who_let_its_first_turn_go_by_was_absent_and_in_a_game_that_the_server_ended_nobody() {
        let aborted = [("result", "none".into()), ("termination", "aborted".into())];
        let with = |more: &[(&str, serde_json::Value)]| Verdict::of(&record(&[&aborted, more].concat()));
        let plies = |moves: &str| {
            let times: Vec<u64> = vec![0; moves.len()];
            [("moves", moves.into()), ("charged_us", times.into())]
        };
        assert_eq!(with(&plies("")), Verdict::Void { absent: Some(Side::South) });
        assert_eq!(with(&plies("2")), Verdict::Void { absent: Some(Side::North) });
        assert_eq!(with(&plies("24")), Verdict::Void { absent: None }, "both had played");
        let ended = [&plies("")[..], &[("unfinished_turn", serde_json::Value::Null)]].concat();
        assert_eq!(with(&ended), Verdict::Void { absent: None });
    }
}
