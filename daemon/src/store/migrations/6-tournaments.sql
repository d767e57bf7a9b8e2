-- One row a tournament. `plan` is what it follows from but for its results, as JSON; its results are the games below, in the
-- table of games.
CREATE TABLE tournaments (
    name    TEXT NOT NULL PRIMARY KEY COLLATE NOCASE,
    plan    TEXT NOT NULL,
    state   TEXT NOT NULL, -- planned, running, over, cancelled
    created TEXT NOT NULL,
    starts  TEXT NOT NULL
) STRICT;
-- One row for each try at a game of a tournament, written before that may start: a game that runs, or is stored, by an id of
-- these is the tournament's, whatever happened to the daemon meanwhile. Numbers are from 1.
CREATE TABLE tournament_games (
    tournament TEXT    NOT NULL COLLATE NOCASE REFERENCES tournaments (name),
    match      INTEGER NOT NULL,
    game       INTEGER NOT NULL,
    try        INTEGER NOT NULL,
    id         TEXT    NOT NULL UNIQUE,
    PRIMARY KEY (tournament, match, game, try)
) STRICT, WITHOUT ROWID;
-- One row for each bot that gave up what was left of a match, and where `withdrawn` is 1 of all later ones.
CREATE TABLE tournament_forfeits (
    tournament TEXT    NOT NULL COLLATE NOCASE REFERENCES tournaments (name),
    match      INTEGER NOT NULL,
    bot        TEXT    NOT NULL COLLATE NOCASE,
    withdrawn  INTEGER NOT NULL,
    PRIMARY KEY (tournament, match, bot)
) STRICT, WITHOUT ROWID;
