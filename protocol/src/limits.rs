//! Every bound of the wire, with its unit. What lies beyond each is told in `spec/limits.md`. Those of messages, output,
//! times and games are what a host that configures nothing has; the others, lines and nesting for two, are the same
//! everywhere.

use std::time::Duration;

/// Longest line from a client, in bytes, its newline included.
pub const CLIENT_LINE_BYTES: usize = 4096;
/// Longest line from the server, in bytes, its newline included.
pub const SERVER_LINE_BYTES: usize = 16 * 1024;
/// What the line of `started` may take without its `moves`, in bytes.
pub const STARTED_BYTES: usize = 1536;
/// Most `quiet_plies` of a pool with which every `started` keeps to [`SERVER_LINE_BYTES`]. 42 seeds are captured two at least
/// at a time, so that a game has at most 21 plies that capture, each after fewer quiet ones than this; with the last of them
/// the board is empty.
pub const BOUNDED_QUIET_PLIES: u16 = 700;
/// Plies that a game may have at most where it ends by [`BOUNDED_QUIET_PLIES`].
pub const BOUNDED_PLIES: usize = 21 * BOUNDED_QUIET_PLIES as usize;
/// Deepest nesting of arrays and objects in a line; the message object itself is level 1.
pub const NESTING: usize = 32;
/// Longest `ref` text, in characters.
pub const REF_CHARS: usize = 64;
/// Largest magnitude of an integer `ref`: what every language's numbers hold exactly.
pub const REF_INTEGER: i64 = (1 << 53) - 1;
/// Longest `client` and `version` text, in characters.
pub const TEXT_CHARS: usize = 64;
/// Longest reason of a ban, in characters.
pub const BAN_REASON_CHARS: usize = 200;
/// Longest name of an owner of bots, in characters.
pub const OWNER_CHARS: usize = 64;
/// Most games a seek or a challenge may ask for.
pub const SERIES_GAMES: u64 = 1_000_000;
/// Most games one bot may play at once, whatever its hello asks for.
pub const GAMES_AT_ONCE: u64 = 64;
/// Most games that one of the server's own bots may play at once.
pub const HOUSE_GAMES: u64 = 4096;
/// Sustained messages a second of one of the server's own bots, and how many may come at once: it answers what others say,
/// whose own messages are bounded.
pub const HOUSE_MESSAGES: u64 = 1_000_000;
/// Sustained messages a second on one connection; accepted moves are free.
pub const MESSAGES_PER_SECOND: u32 = 20;
/// Messages that may come at once before the rate counts.
pub const MESSAGE_BURST: u32 = 60;
/// Limited messages within [`FLOOD_WINDOW`] that end the connection.
pub const FLOOD_MESSAGES: u32 = 100;
/// The window of [`FLOOD_MESSAGES`].
pub const FLOOD_WINDOW: Duration = Duration::from_secs(10);
/// Wrong tokens that may come from one address within a minute.
pub const FAILED_LOGINS_PER_MINUTE: u64 = 20;
/// Names that may be registered over the wire from one address within an hour.
pub const REGISTRATIONS_PER_HOUR: u64 = 10;
/// Addresses of which it is known how many of these came; those of which nothing came longest are forgotten first.
pub const ADDRESSES_REMEMBERED: usize = 4096;
/// How long a registration waits for the disk.
pub const REGISTRATION: Duration = Duration::from_secs(10);
/// Time from connect to an accepted hello.
pub const HANDSHAKE: Duration = Duration::from_secs(5);
/// Bad lines (a refused hello is one) that end a handshake.
pub const HANDSHAKE_BAD_LINES: u32 = 3;
/// Output that may wait for one connection, in bytes.
pub const OUTPUT_BYTES: usize = 256 * 1024;
/// What the first lines of a new game and its `ended` take of that, in bytes: `started`, `turn` and `ended` at their longest.
pub const GAME_LINES_BYTES: usize = STARTED_BYTES + 1024;
/// The least that may be configured to wait, in bytes: the longest line, and what comes at once where all games of a bot start
/// or end together. Less would close bots that read at once.
pub const LEAST_OUTPUT_BYTES: u64 = SERVER_LINE_BYTES as u64 + GAMES_AT_ONCE * GAME_LINES_BYTES as u64;
/// Output that may wait for one of the server's own bots, in bytes: the longest line, and what comes at once where all its
/// games start or end together.
pub const HOUSE_OUTPUT_BYTES: u64 = SERVER_LINE_BYTES as u64 + HOUSE_GAMES * GAME_LINES_BYTES as u64;
/// Longest time that output may wait without one byte leaving.
pub const WRITE_DEADLINE: Duration = Duration::from_secs(10);
/// Time a client has to read a goodbye before the server closes.
pub const GOODBYE: Duration = Duration::from_secs(1);
/// Charged time a side has for its first ply; its base time if that is less.
pub const FIRST_PLY: Duration = Duration::from_secs(30);
/// Most characters of a text that the server tells people.
pub const MESSAGE_CHARS: usize = 1024;
/// How long a challenge stands.
pub const CHALLENGE: Duration = Duration::from_secs(60);
/// How long a bot that has turned a challenge down is left alone by who made it.
pub const CHALLENGE_AGAIN: Duration = Duration::from_secs(30);
/// Finished games of a bot for which a move is `game_over` rather than `wrong_game`.
pub const REMEMBERED_GAMES: usize = 256;
/// Ended games that a welcome repeats.
pub const MISSED_GAMES: usize = 64;
/// How long before its link broke a bot may not have read what was sent.
pub const MISSED_WINDOW: Duration = Duration::from_secs(10);
/// How long a guest that left can come back.
pub const GUEST_KEPT: Duration = Duration::from_secs(600);
/// Guests that left and can come back; those that left first are forgotten first.
pub const GUESTS_KEPT: usize = 10_000;
/// Games that were told of as over and that the journal still keeps, for a restart to tell of them again. A start writes all
/// of them into its first segment, which must have room for what follows.
pub const TOLD_GAMES: usize = 1024;
/// Pairs of bots whose openings a pool remembers; then it forgets all, and one of them may come again.
pub const PAIRS_REMEMBERED: usize = 100_000;
/// Games one connection may watch at once.
pub const WATCHES: usize = 64;
/// Connections that may watch one game at once.
pub const SPECTATORS: usize = 64;
/// Challenges one connection may have standing at once, sent and received together.
pub const CHALLENGES: usize = 64;
/// Messages for one game that may wait for its result to be stored.
pub const WAITING_ANSWERS: usize = 256;
