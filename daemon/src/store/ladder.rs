//! The ladder's tables: ratings and meetings, which the finishing transaction changes, and the events between games.

use crate::ladder::{
    Carry, Event, Fold, Happening, Meeting, Row as Rated, Score, SeasonName, Standing, Tally, after, anchor,
    carry_over, counts, is_marked, put, seat_rating,
};
use modiar_ladder::Rating;
use modiar_protocol::{BotName, Record, RecordSeat};
use modiar_rules::{BySide, Side};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use std::collections::{BTreeMap, HashMap};

/// What a transaction makes of the ladder: rows are read once, and written once at its end.
pub(super) struct Changes<'a> {
    database: &'a Connection,
    /// By pool and bot, in `pools`' places.
    standings: HashMap<(usize, BotName), Changed>,
    meetings: HashMap<(String, [String; 2]), Meeting>,
    pools: Vec<String>,
}

/// A row of the transaction.
struct Changed {
    standing: Standing,
    is_new: bool,
}

impl<'a> Changes<'a> {
    pub(super) fn of(database: &'a Connection) -> Self {
        Self { database, standings: HashMap::new(), meetings: HashMap::new(), pools: Vec::new() }
    }

    /// Writes on a record what its sides had before it and have after it (`record.ratings-read`, `record.rating-after`); how they
    /// stand then, where the game counts.
    pub(super) fn rate(&mut self, record: &mut Record) -> rusqlite::Result<Option<BySide<Standing>>> {
        // Of an unrated pool, or of guests: nothing is read for it.
        if !is_marked(&record.south) && !is_marked(&record.north) {
            return Ok(None);
        }
        let pool = self.pool(&record.pool);
        let before = BySide::new(self.before(pool, &mut record.south)?, self.before(pool, &mut record.north)?);
        if !counts(record) {
            return Ok(None);
        }
        let after = after(&before, record);
        record.rating_after = record.rated.then(|| after.map(|standing| seat_rating(standing.rating)).into());
        Ok(Some(after))
    }

    /// The game is stored: this is how its two stand now.
    pub(super) fn keep(&mut self, record: &Record, after: &BySide<Standing>) {
        let pool = self.pool(&record.pool);
        for (side, seat) in Side::ALL.into_iter().zip([&record.south, &record.north]) {
            let changed = Changed { standing: after[side], is_new: true };
            self.standings.insert((pool, seat.name.clone()), changed);
        }
        let meeting = Meeting::of(record);
        let key = (meeting.pool.clone(), meeting.two.clone());
        self.meetings.entry(key).and_modify(|met| met.add(&meeting)).or_insert(meeting);
    }

    /// Writes what has changed; those rows of the ratings.
    pub(super) fn write(self) -> rusqlite::Result<Vec<Rated>> {
        self.meetings.values().try_for_each(|meeting| add_meeting(self.database, meeting))?;
        let changed = self.standings.into_iter().filter(|(_, changed)| changed.is_new);
        let row = |((pool, bot), changed): ((usize, BotName), Changed)| Rated {
            pool: self.pools[pool].clone(),
            bot,
            standing: changed.standing,
        };
        let rows: Vec<Rated> = changed.map(row).collect();
        rows.iter().try_for_each(|row| put_standing(self.database, row))?;
        Ok(rows)
    }

    /// Of the few pools that there are.
    fn pool(&mut self, name: &str) -> usize {
        self.pools.iter().position(|pool| pool == name).unwrap_or_else(|| {
            self.pools.push(name.to_owned());
            self.pools.len() - 1
        })
    }

    /// How a side stands, which its seat then tells.
    fn before(&mut self, pool: usize, seat: &mut RecordSeat) -> rusqlite::Result<Standing> {
        if !is_marked(seat) {
            return Ok(Standing::default());
        }
        let key = (pool, seat.name.clone());
        let standing = match self.standings.get(&key) {
            Some(changed) => changed.standing,
            None => {
                let mut standing = read_standing(self.database, &self.pools[pool], &seat.name)?.unwrap_or_default();
                standing.rating = anchor(&seat.name).unwrap_or(standing.rating);
                self.standings.insert(key, Changed { standing, is_new: false });
                standing
            }
        };
        put(seat, standing.rating);
        Ok(standing)
    }
}

/// Reads rows of `ratings`, all of them or those that a condition takes.
macro_rules! select_ratings {
    ($condition:literal) => {
        concat!(
            "SELECT pool, bot, rating, rd, volatility, south_won, south_drawn, south_lost, north_won, north_drawn, north_lost,
             none, time_forfeits, illegal_moves, resignations FROM ratings ",
            $condition
        )
    };
}

fn read_standing(database: &Connection, pool: &str, bot: &BotName) -> rusqlite::Result<Option<Standing>> {
    let mut query = database.prepare_cached(select_ratings!("WHERE pool = ?1 AND bot = ?2"))?;
    query.query_row([pool, bot.as_str()], standing).optional()
}

/// How all bots stand, by pool and name.
pub(super) fn ratings(database: &Connection) -> rusqlite::Result<Vec<Rated>> {
    let mut query = database.prepare(select_ratings!("ORDER BY pool, bot"))?;
    query.query_map([], |row| Ok(Rated { pool: row.get(0)?, bot: name(row, 1)?, standing: standing(row)? }))?.collect()
}

fn standing(row: &Row<'_>) -> rusqlite::Result<Standing> {
    let count = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
    let score = |first| -> rusqlite::Result<Score> {
        Ok(Score { won: count(first)?, drawn: count(first + 1)?, lost: count(first + 2)? })
    };
    let rating = Rating { rating: row.get(2)?, rd: row.get(3)?, volatility: row.get(4)? };
    let (none, time_forfeits) = (count(11)?, count(12)?);
    let (illegal_moves, resignations) = (count(13)?, count(14)?);
    let (south, north) = (score(5)?, score(8)?);
    Ok(Standing { rating, tally: Tally { south, north, none, time_forfeits, illegal_moves, resignations } })
}

fn name(row: &Row<'_>, column: usize) -> rusqlite::Result<BotName> {
    BotName::new(&row.get::<_, String>(column)?).map_err(|error| malformed(column, error))
}

fn malformed(column: usize, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error.into())
}

fn put_standing(database: &Connection, Rated { pool, bot, standing }: &Rated) -> rusqlite::Result<()> {
    let sql = "INSERT INTO ratings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
               ON CONFLICT (pool, bot) DO UPDATE SET rating = ?3, rd = ?4, volatility = ?5, south_won = ?6, south_drawn = ?7,
               south_lost = ?8, north_won = ?9, north_drawn = ?10, north_lost = ?11, none = ?12, time_forfeits = ?13,
               illegal_moves = ?14, resignations = ?15";
    let Standing { rating: Rating { rating, rd, volatility }, tally } = standing;
    let Tally { south, north, none, time_forfeits, illegal_moves, resignations } = tally;
    let row = params![
        pool,
        bot.as_str(),
        rating,
        rd,
        volatility,
        south.won.cast_signed(),
        south.drawn.cast_signed(),
        south.lost.cast_signed(),
        north.won.cast_signed(),
        north.drawn.cast_signed(),
        north.lost.cast_signed(),
        none.cast_signed(),
        time_forfeits.cast_signed(),
        illegal_moves.cast_signed(),
        resignations.cast_signed()
    ];
    database.prepare_cached(sql)?.execute(row).map(drop)
}

/// All meetings, by pool and names.
pub(super) fn meetings(database: &Connection) -> rusqlite::Result<Vec<Meeting>> {
    let sql = "SELECT pool, one, other, openings, southward, last FROM meetings ORDER BY pool, one, other";
    database.prepare(sql)?.query_map([], meeting)?.collect()
}

/// The meetings of which the last game is the newest, so many at most.
pub(super) fn newest_meetings(database: &Connection, most: usize) -> rusqlite::Result<Vec<Meeting>> {
    let sql = "SELECT pool, one, other, openings, southward, last FROM meetings ORDER BY last DESC LIMIT ?1";
    database.prepare(sql)?.query_map([i64::try_from(most).unwrap_or(i64::MAX)], meeting)?.collect()
}

/// Games as South less those as North, of who has met whom.
pub(super) fn sides(database: &Connection) -> rusqlite::Result<HashMap<String, i64>> {
    let sql = "SELECT bot, sum(southward) FROM (SELECT one AS bot, southward FROM meetings
               UNION ALL SELECT other, -southward FROM meetings) GROUP BY bot HAVING sum(southward) <> 0";
    database.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn meeting(row: &Row<'_>) -> rusqlite::Result<Meeting> {
    let [openings, last] = [3, 5].map(|column| row.get::<_, i64>(column).map(i64::cast_unsigned));
    let two = [row.get(1)?, row.get(2)?];
    Ok(Meeting { pool: row.get(0)?, two, openings: openings?, southward: row.get(4)?, last: last? })
}

fn add_meeting(database: &Connection, meeting: &Meeting) -> rusqlite::Result<()> {
    let sql = "INSERT INTO meetings VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (pool, one, other) DO UPDATE SET
               openings = openings + ?4, southward = southward + ?5, last = ?6";
    let Meeting { pool, two: [one, other], openings, southward, last } = meeting;
    let row = params![pool, one, other, openings.cast_signed(), southward, last.cast_signed()];
    database.prepare_cached(sql)?.execute(row).map(drop)
}

/// All events, in order.
pub(super) fn events(database: &Connection) -> rusqlite::Result<Vec<Event>> {
    let event = |row: &Row<'_>| {
        let (kind, name): (String, String) = (row.get(2)?, row.get(3)?);
        let carry = row.get::<_, Option<String>>(4)?;
        let happening = match (&*kind, carry.as_deref().and_then(Carry::named)) {
            ("season", Some(carry)) => {
                Happening::Season(SeasonName::try_from(name).map_err(|error| malformed(3, error))?, carry)
            }
            ("removal", _) => Happening::Removal(BotName::new(&name).map_err(|error| malformed(3, error))?),
            _ => return Err(malformed(2, format!("'{kind}' is no event of the ladder"))),
        };
        Ok(Event { seq: row.get::<_, i64>(0)?.cast_unsigned(), at: row.get(1)?, happening })
    };
    let sql = "SELECT seq, at, kind, name, carry FROM rating_events ORDER BY id";
    database.prepare(sql)?.query_map([], event)?.collect()
}

fn put_event(database: &Connection, Event { seq, at, happening }: &Event) -> rusqlite::Result<()> {
    let (kind, name, carry) = match happening {
        Happening::Season(name, carry) => ("season", name.as_str(), Some(carry.as_str())),
        Happening::Removal(name) => ("removal", name.as_str(), None),
    };
    let sql = "INSERT INTO rating_events (seq, at, kind, name, carry) VALUES (?1, ?2, ?3, ?4, ?5)";
    database.execute(sql, params![seq.cast_signed(), at, kind, name, carry]).map(drop)
}

/// A season begins (`ladder.season`); how all stand then.
pub(super) fn begin_season(
    database: &Connection,
    seq: u64,
    at: String,
    name: SeasonName,
    carry: Carry,
) -> rusqlite::Result<Vec<Rated>> {
    put_event(database, &Event { seq, at, happening: Happening::Season(name, carry) })?;
    let mut rows = ratings(database)?;
    rows.retain_mut(|row| carry_over(&row.bot, &mut row.standing, carry));
    replace_ratings(database, &rows)?;
    Ok(rows)
}

/// A bot was removed, or somebody else has its name (`ladder.removal`): where it stands anywhere that is over.
pub(super) fn remove(database: &Connection, seq: u64, at: String, bot: &BotName) -> rusqlite::Result<()> {
    let folded = bot.as_str().to_ascii_lowercase();
    let rows = database.execute("DELETE FROM ratings WHERE bot = ?1", [bot.as_str()])?;
    let met = database.execute("DELETE FROM meetings WHERE one = ?1 OR other = ?1", [folded])?;
    if rows + met > 0 {
        put_event(database, &Event { seq, at, happening: Happening::Removal(bot.clone()) })?;
    }
    Ok(())
}

fn replace_ratings(database: &Connection, rows: &[Rated]) -> rusqlite::Result<()> {
    database.execute("DELETE FROM ratings", [])?;
    rows.iter().try_for_each(|row| put_standing(database, row))
}

/// Makes the two tables anew.
pub(super) fn replace(database: &Connection, fold: &Fold) -> rusqlite::Result<()> {
    replace_ratings(database, &fold.rows())?;
    database.execute("DELETE FROM meetings", [])?;
    fold.meetings().iter().try_for_each(|meeting| add_meeting(database, meeting))
}

/// Folds the stored games, to a place where one is named, with these events between them; `each` hears of what a record says
/// that is not so. Lines that are no record are passed over.
pub(super) fn fold(
    database: &Connection,
    events: &[Event],
    to: Option<u64>,
    each: &mut dyn FnMut(&Record, String),
) -> rusqlite::Result<Fold> {
    let (mut fold, mut events) = (Fold::default(), events.iter().peekable());
    let mut query = database.prepare("SELECT seq, record FROM games WHERE seq BETWEEN 1 AND ?1 ORDER BY seq")?;
    let mut rows = query.query([to.map_or(i64::MAX, u64::cast_signed)])?;
    while let Some(row) = rows.next()? {
        let seq = row.get::<_, i64>(0)?.cast_unsigned();
        while let Some(event) = events.next_if(|event| event.seq < seq) {
            fold.event(event);
        }
        if let Ok(record) = serde_json::from_slice::<Record>(row.get_ref(1)?.as_bytes().unwrap_or_default()) {
            fold.game(&record).into_iter().for_each(|fault| each(&record, fault));
        }
    }
    events.for_each(|event| fold.event(event));
    Ok(fold)
}

/// What the two tables have otherwise than a fold, a text for each row.
pub(super) fn differences(database: &Connection, fold: &Fold) -> rusqlite::Result<Vec<String>> {
    let mut found = differing(&ratings(database)?, &fold.rows(), |row| {
        let (pool, bot) = row.key();
        (format!("ratings of {bot} in {pool}"), format!("{:?} {}", row.standing, row.bot))
    });
    found.extend(differing(&meetings(database)?, &fold.meetings(), |meeting| {
        let [one, other] = &meeting.two;
        (format!("meetings of {one} and {other} in {}", meeting.pool), format!("{meeting:?}"))
    }));
    Ok(found)
}

/// Rows by what names them and what they hold; a text holds every bit of a figure.
fn differing<T>(found: &[T], wanted: &[T], told: impl Fn(&T) -> (String, String)) -> Vec<String> {
    let mut wanted: BTreeMap<String, String> = wanted.iter().map(&told).collect();
    let mut faults = Vec::new();
    for (name, holds) in found.iter().map(&told) {
        match wanted.remove(&name) {
            Some(right) if right == holds => {}
            Some(_) => faults.push(format!("{name}: not what the games lead to")),
            None => faults.push(format!("{name}: no game leads to that")),
        }
    }
    faults.extend(wanted.into_keys().map(|name| format!("{name}: missing")));
    faults
}
