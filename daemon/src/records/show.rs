//! One game, ply by ply, for a person.

use super::{Ply, counted, plies};
use crate::analysis::{GameAnalysis, JudgedPly, judge, ratio};
use modiar_oracle::{Bounds, Table};
use modiar_protocol::{BotName, GameResult, Record};
use modiar_rules::{PitSet, Side};
use std::fmt::Write as _;

/// The game as a page of text, each ply with what it was worth.
///
/// # Errors
/// The record does not replay.
pub fn show(record: &Record, table: &Table) -> anyhow::Result<String> {
    let (mut page, game) = (String::new(), judge(table, record)?);
    header(&mut page, record)?;
    write_plies(&mut page, record, &game)?;
    write_unfinished(&mut page, record)?;
    writeln!(page, "\n{}", outcome(record))?;
    write_losses(&mut page, record, &game)?;
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

fn write_plies(page: &mut String, record: &Record, game: &GameAnalysis) -> anyhow::Result<()> {
    writeln!(
        page,
        "ply  side   pit  value     loss  best  taken  thought ms    left ms  south     north     captured"
    )?;
    for (Ply { position, pit, taken, times }, judged) in plies(record)?.into_iter().zip(&game.plies) {
        let (elapsed, left) = match times {
            Some(times) => (milliseconds(times.elapsed_us), milliseconds(times.remaining_us)),
            None => ("opening".to_owned(), String::new()),
        };
        let mut next = position;
        next.play_unchecked(pit);
        let ((south, north), captured) = (rows(next.pits()), next.captured());
        writeln!(
            page,
            "{:>3}  {:<5}  {pit:>3}  {:<8}  {:>4}  {:<4}  {taken:>5}  {elapsed:>10}  {left:>9}  {south}  {north}  {}-{}",
            position.ply(),
            position.side().to_string(),
            value(judged.judgement.before),
            loss(judged),
            pits(judged.judgement.best),
            captured.south,
            captured.north
        )?;
    }
    Ok(())
}

/// The turn that was running when the game ended, as the ply that it would have been.
fn write_unfinished(page: &mut String, record: &Record) -> std::fmt::Result {
    let Some(turn) = record.unfinished_turn else { return Ok(()) };
    let ply = u32::try_from(record.moves.len() + 1).unwrap_or(u32::MAX);
    let (side, us) = (Side::on_ply(ply), [turn.elapsed_us, turn.charged_us]);
    let [thought, charged] = us.map(milliseconds);
    writeln!(page, "{ply:>3}  {:<5}  no ply: {thought} ms thought, {charged} charged", side.to_string())
}

/// A margin of the side to move over the seeds in play, or from and to where endless play decides.
fn value(Bounds { lo, hi }: Bounds) -> String {
    if lo == hi { signed(lo) } else { format!("{}..{}", signed(lo), signed(hi)) }
}

fn signed(margin: i8) -> String {
    if margin == 0 { "0".to_owned() } else { format!("{margin:+}") }
}

/// The seeds lost, where there was a choice that was a bot's.
fn loss(ply: &JudgedPly) -> String {
    if ply.served || ply.judgement.choices < 2 { "-".to_owned() } else { ply.loss().to_string() }
}

fn pits(pits: PitSet) -> String {
    pits.iter().map(|pit| pit.to_string()).collect()
}

/// What each side lost in all, and where the game was lost.
fn write_losses(page: &mut String, record: &Record, game: &GameAnalysis) -> std::fmt::Result {
    for side in Side::ALL {
        let (mut plies, mut choices, mut lost) = (0u64, 0u64, 0u64);
        for ply in game.of_bot(side) {
            plies += 1;
            choices += u64::from(ply.judgement.choices > 1);
            lost += u64::from(ply.loss());
        }
        let accuracy = ratio(lost, plies).map_or_else(|| "-".to_owned(), |accuracy| format!("{accuracy:.3}"));
        let name = name(record, side);
        writeln!(
            page,
            "{side} ({name}) lost {} in {}, {choices} of them with a choice: accuracy {accuracy}",
            counted(lost, "seed", "seeds"),
            counted(plies, "ply", "plies")
        )?;
    }
    match game.first_losing().and_then(|ply| game.plies.iter().find(|judged| judged.position.ply() == ply)) {
        Some(JudgedPly { position, pit, judgement, .. }) => writeln!(
            page,
            "first losing move: ply {}, {}'s {pit} (best {})",
            position.ply(),
            position.side(),
            pits(judgement.best)
        )?,
        None => writeln!(page, "first losing move: none")?,
    }
    let turns: Vec<String> = game
        .turning_points
        .iter()
        .map(|turn| format!("ply {} ({} to {} for south)", turn.ply, turn.before.as_str(), turn.after.as_str()))
        .collect();
    writeln!(page, "turning points: {}", if turns.is_empty() { "none".to_owned() } else { turns.join(", ") })
}

fn rows(pits: [u8; 6]) -> (String, String) {
    let row = |pits: &[u8]| pits.iter().map(|seeds| format!("{seeds:>2}")).collect::<Vec<_>>().join(" ");
    (row(&pits[..3]), row(&pits[3..]))
}

/// Microseconds as milliseconds with three places.
fn milliseconds(us: u64) -> String {
    format!("{}.{:03}", us / 1000, us % 1000)
}

const fn name(record: &Record, side: Side) -> &BotName {
    match side {
        Side::South => &record.south.name,
        Side::North => &record.north.name,
    }
}

fn outcome(record: &Record) -> String {
    let score = format!("south {} : north {}", record.score.south, record.score.north);
    let who = match record.result {
        GameResult::South => format!("south ({}) wins", name(record, Side::South)),
        GameResult::North => format!("north ({}) wins", name(record, Side::North)),
        GameResult::Draw => "a draw".to_owned(),
        GameResult::None => "no result".to_owned(),
    };
    let detail = record
        .detail
        .as_ref()
        .map_or_else(String::new, |detail| format!(", pit {} breaks {}", detail.pit, detail.clause));
    format!("{who}, {score}, by {}{detail}", record.termination)
}
