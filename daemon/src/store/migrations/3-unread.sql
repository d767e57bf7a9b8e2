-- One row for each finished game of a registered bot that it has to hear of when it comes back: it was away, or its link
-- broke right after. Gone as soon as it has read that.
CREATE TABLE unread (
    bot  TEXT NOT NULL COLLATE NOCASE,
    game TEXT NOT NULL REFERENCES games (id),
    PRIMARY KEY (bot, game)
) STRICT, WITHOUT ROWID;
