-- One row a finished game, in the order of commits. `record` is the line of the archive, `hash` its SHA-256;
-- the other columns are taken from it to be searched.
CREATE TABLE games (
    seq         INTEGER PRIMARY KEY,
    id          TEXT    NOT NULL UNIQUE,
    pool        TEXT    NOT NULL,
    south       TEXT    NOT NULL COLLATE NOCASE,
    north       TEXT    NOT NULL COLLATE NOCASE,
    rated       INTEGER NOT NULL,
    started     TEXT    NOT NULL,
    ended       TEXT    NOT NULL,
    result      TEXT    NOT NULL,
    termination TEXT    NOT NULL,
    record      TEXT    NOT NULL,
    hash        TEXT    NOT NULL
) STRICT;
