//! Positions and games as text.

use modiar_rules::{EndRules, Line, Position, SEEDS, Setup, moves_text, parse_moves};

/// What can be read is written the same way, and can be played.
pub(crate) fn target(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(setup) = text.parse::<Setup>() {
        assert_eq!(setup.to_string(), text);
        if let Ok(position) = Position::try_from(setup) {
            play_on(position, text);
        }
    }
    if let Ok(moves) = parse_moves(text) {
        assert_eq!(moves_text(&moves).to_string(), text);
        if let Ok(line) = Line::replay(EndRules::default(), moves) {
            let score = line.score();
            assert_eq!(score.south + score.north, SEEDS);
            play_on(line.position(), &line.position().to_string());
        }
    }
}

fn play_on(mut position: Position, text: &str) {
    assert_eq!(position.to_string(), text);
    for _ in 0..50 {
        let again: Position = position.to_string().parse().unwrap();
        assert_eq!(again, position);
        let Some(pit) = position.legal().iter().last() else { return };
        let Ok(played) = position.play(pit) else { return };
        position = played.position;
        let captured = position.captured();
        let seeds = position.pits().iter().sum::<u8>() + captured.south + captured.north;
        assert_eq!(seeds, SEEDS, "{text}");
    }
}
