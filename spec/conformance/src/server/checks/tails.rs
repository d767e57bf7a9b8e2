//! Lines with the end of their connection right behind them, and lines that come in parts or together.

use super::Row;
use crate::report::Step;
use crate::server::desk::{Desk, End, Heard};
use modiar_rules::Pit;
use serde_json::json;
use std::thread::sleep;
use std::time::Duration;

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "move-then-fin",
        "A move counts though its connection ends right behind it",
        &["transport.last-line"],
        "Read what a connection sent before its end as you read everything else, and only then end it.",
        |at| move_then(at, End::Fin),
    ),
    Row::new(
        "move-then-reset",
        "A move counts though its connection is reset right behind it",
        &["transport.last-line"],
        "Read what the system still holds of a connection that was reset, and only then end it.",
        |at| move_then(at, End::Reset),
    ),
    Row::new(
        "tail-dropped",
        "What has no newline at the end of its connection does not count, even if it is whole JSON",
        &["transport.tail"],
        "Drop what stands behind the last newline when a connection ends; do not read it as a line.",
        tail_dropped,
    ),
    Row::new(
        "every-split",
        "A line may come in two parts, wherever it is split",
        &["transport.line"],
        "Gather bytes until a newline comes: a packet is no line, and may end within a character or an escape.",
        every_split,
    ),
    Row::new(
        "hundred-lines",
        "A hundred lines of one packet are answered, each in its order",
        &["transport.line", "session.rate"],
        "Read on behind a newline in the same packet, and answer each line in its order, limited ones by rate_limited.",
        hundred_lines,
    ),
];

fn move_then(at: &mut Desk<'_>, end: End) -> Step {
    for _ in 0..4 {
        let mut game = at.game()?;
        let south = game.south;
        at.play(&mut game, &Pit::ALL[2..3])?;
        at.end(south, end);
        at.turn(&game)?;
        at.say(game.north, &game.resign());
        at.expect(game.north, "ended")?;
    }
    Ok(())
}

fn tail_dropped(at: &mut Desk<'_>) -> Step {
    for (end, whole) in [(End::Fin, true), (End::Fin, false), (End::Reset, true), (End::Reset, false)] {
        let game = at.game()?;
        at.turn(&game)?;
        let line = game.r#move(Pit::ALL[2]).to_string();
        at.say_bytes(game.south, &line.as_bytes()[..if whole { line.len() } else { line.len() / 2 }]);
        at.end(game.south, end);
        if end == End::Fin {
            at.expect_close(game.south)?;
        }
        let back = at.come_back(game.south)?;
        let started = at.expect(back, "started")?;
        if started["moves"] != "" {
            return at.wrong("started without a move", &started.to_string());
        }
        at.quiet(game.north)?;
        at.say(game.north, &game.resign());
        at.expect(game.north, "ended")?;
    }
    Ok(())
}

fn every_split(at: &mut Desk<'_>) -> Step {
    let line = "{\"type\":\"ping\",\"ref\":\"é\\u00e9\"}\r\n".as_bytes();
    let bot = at.guest()?;
    for split in 1..line.len() {
        let (first, second) = line.split_at(split);
        at.say_bytes(bot, first);
        sleep(Duration::from_millis(2));
        at.say_bytes(bot, second);
        match at.hear(bot)? {
            Heard::Line(pong) if pong["type"] == "pong" && pong["ref"] == "éé" => {}
            heard => return at.surprise("transport.line", &format!("pong, the ping split at byte {split}"), &heard),
        }
    }
    Ok(())
}

fn hundred_lines(at: &mut Desk<'_>) -> Step {
    const LINES: u64 = 100;
    let bot = at.guest()?;
    let allowed = at.welcome(bot)["limits"]["messages_per_s"].as_u64().unwrap_or(1);
    let lines: String = (0..LINES).map(|number| format!("{}\n", json!({"type": "ping", "ref": number}))).collect();
    at.say_bytes(bot, lines.as_bytes());
    for number in 0..LINES {
        match at.hear(bot)? {
            Heard::Line(line) if line["type"] == "pong" && line["ref"] == number => {}
            // The hello was a message too.
            Heard::Line(line) if line["code"] == "rate_limited" && line["ref"] == number && number + 1 >= allowed => {}
            heard => return at.surprise("transport.line", &format!("the answer to ping {number}"), &heard),
        }
    }
    Ok(())
}
