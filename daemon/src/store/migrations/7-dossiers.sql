-- One row for each game that was forfeited: the evidence for the bot's author, as JSON.
CREATE TABLE dossiers (
    game    TEXT NOT NULL PRIMARY KEY,
    dossier TEXT NOT NULL
) STRICT, WITHOUT ROWID;
