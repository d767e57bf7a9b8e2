-- One row a registered bot. The token itself is shown once and never kept: `token` is its SHA-256 in hex.
CREATE TABLE bots (
    name    TEXT NOT NULL PRIMARY KEY COLLATE NOCASE,
    token   TEXT NOT NULL,
    created TEXT NOT NULL,
    banned  TEXT -- the reason, where it is
) STRICT;
