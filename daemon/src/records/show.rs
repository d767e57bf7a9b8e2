//! One game, ply by ply, for a person.

use super::{Ply, plies};
use modiar_protocol::{GameResult, Record};
use modiar_rules::Side;
use std::fmt::Write as _;

/// The game as a page of text.
///
/// # Errors
/// The record does not replay.
pub fn show(record: &Record) -> anyhow::Result<String> {
    let mut page = String::new();
    header(&mut page, record)?;
    write_plies(&mut page, record)?;
    writeln!(page, "\n{}", outcome(record))?;
    Ok(page)
}

fn header(page: &mut String, record: &Record) -> std::fmt::Result {
    let time = record.time;
    writeln!(page, "game   {}", record.game)?;
    writeln!(page, "south  {}", record.south.name)?;
    writeln!(page, "north  {}", record.north.name)?;
    writeln!(
        page,
        "pool   {} ({} ms + {} ms a move, {} ms grace), {}",
        record.pool,
        time.base_ms,
        time.increment_ms,
        time.grace_ms,
        if record.rated { "rated" } else { "unrated" }
    )?;
    writeln!(page, "played {} to {}\n", record.started, record.ended)
}

fn write_plies(page: &mut String, record: &Record) -> anyhow::Result<()> {
    writeln!(page, "ply  side   pit  taken   thought ms      left ms  south        north        captured")?;
    for Ply { position, pit, taken, times } in plies(record)? {
        let (elapsed, left) = match times {
            Some(times) => (milliseconds(times.elapsed_us), milliseconds(times.remaining_us)),
            None => ("opening".to_owned(), String::new()),
        };
        let mut next = position;
        next.play_unchecked(pit);
        let ((south, north), captured) = (rows(next.pits()), next.captured());
        writeln!(
            page,
            "{:>3}  {:<5}  {pit:>3}  {taken:>5}  {elapsed:>11}  {left:>11}  {south:<11}  {north:<11}  {}-{}",
            position.ply(),
            position.side().to_string(),
            captured.south,
            captured.north
        )?;
    }
    Ok(())
}

fn rows(pits: [u8; 6]) -> (String, String) {
    let row = |pits: &[u8]| pits.iter().map(|seeds| format!("{seeds:>2}")).collect::<Vec<_>>().join(" ");
    (row(&pits[..3]), row(&pits[3..]))
}

/// Microseconds as milliseconds with three places.
fn milliseconds(us: u64) -> String {
    format!("{}.{:03}", us / 1000, us % 1000)
}

fn outcome(record: &Record) -> String {
    let score = format!("{} : {}", record.score.south, record.score.north);
    let name = |side| if side == Side::South { &record.south.name } else { &record.north.name };
    let who = match record.result {
        GameResult::South => format!("south ({}) wins", name(Side::South)),
        GameResult::North => format!("north ({}) wins", name(Side::North)),
        GameResult::Draw => "a draw".to_owned(),
        GameResult::None => "no result".to_owned(),
    };
    let detail = record
        .detail
        .as_ref()
        .map_or_else(String::new, |detail| format!(", pit {} breaks {}", detail.pit, detail.clause));
    format!("{who}, {score}, by {}{detail}", record.termination)
}
