-- Whose a bot is, as the host typed it; nobody's where that is not known.
ALTER TABLE bots ADD COLUMN owner TEXT COLLATE NOCASE;
