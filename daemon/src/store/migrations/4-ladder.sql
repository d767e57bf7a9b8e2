-- One row for each bot and pool in which it has played a game that counts: the fold over the stored games and the events
-- between them, written by the transactions that store these, and made anew by `modiar standings --rebuild`.
CREATE TABLE ratings (
    pool          TEXT    NOT NULL,
    bot           TEXT    NOT NULL COLLATE NOCASE,
    rating        REAL    NOT NULL,
    rd            REAL    NOT NULL,
    volatility    REAL    NOT NULL,
    south_won     INTEGER NOT NULL,
    south_drawn   INTEGER NOT NULL,
    south_lost    INTEGER NOT NULL,
    north_won     INTEGER NOT NULL,
    north_drawn   INTEGER NOT NULL,
    north_lost    INTEGER NOT NULL,
    none          INTEGER NOT NULL,
    time_forfeits INTEGER NOT NULL,
    illegal_moves INTEGER NOT NULL,
    resignations  INTEGER NOT NULL,
    PRIMARY KEY (pool, bot)
) STRICT, WITHOUT ROWID;
-- One row for each two bots that have met in a pool, names in lower case and the lower one first: games that began from an
-- opening, games in which `one` was South less the others, and the place of the last game.
CREATE TABLE meetings (
    pool      TEXT    NOT NULL,
    one       TEXT    NOT NULL,
    other     TEXT    NOT NULL,
    openings  INTEGER NOT NULL,
    southward INTEGER NOT NULL,
    last      INTEGER NOT NULL,
    PRIMARY KEY (pool, one, other)
) STRICT, WITHOUT ROWID;
-- What changed ratings between two games, in order: `seq` is the place of the last game before it.
CREATE TABLE rating_events (
    id    INTEGER PRIMARY KEY,
    seq   INTEGER NOT NULL,
    at    TEXT    NOT NULL,
    kind  TEXT    NOT NULL CHECK (kind IN ('season', 'removal')),
    name  TEXT    NOT NULL COLLATE NOCASE, -- the season's, or the bot's
    carry TEXT CHECK ((kind = 'season') = (carry IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX seasons ON rating_events (name) WHERE kind = 'season';
