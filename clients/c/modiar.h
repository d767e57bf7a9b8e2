/*
 * Modiar: a client for bots. C11 and POSIX, this header and modiar.c, no other library.
 *
 * Three levels: modiar_run is a whole program around choose(turn) -> pit; modiar_connect, modiar_next_turn and
 * modiar_play are a loop of one's own; modiar_decoder_feed and modiar_encode are the protocol without I/O. Beside them
 * stand the rules (modiar_position_*).
 *
 * Pits are absolute, in sowing order: South has 0 1 2, North 3 4 5, and after 5 comes 0. All memory is the caller's: nothing
 * here allocates, but the system's look-up of the server's name at modiar_connect.
 */
#ifndef MODIAR_H
#define MODIAR_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODIAR_VERSION "0.1.0"

enum {
    MODIAR_PROTOCOL = 1,
    MODIAR_PITS = 6,
    MODIAR_SEEDS = 42,
    MODIAR_LEGAL = 3,            /* most legal pits of a turn */
    MODIAR_GAMES = 64,           /* most games at once, and most ends that a welcome repeats */
    MODIAR_LINE_BYTES = 16384,   /* longest line of a server, newline included */
    MODIAR_CLIENT_BYTES = 4096,  /* longest line of a client, newline included */
    MODIAR_NAME_BYTES = 32,      /* a bot's name and its NUL */
    MODIAR_ID_BYTES = 64,        /* a game's id and its NUL */
    MODIAR_POOL_BYTES = 260,     /* a pool's name and its NUL: 64 characters */
    MODIAR_POSITION_BYTES = 64   /* a position's text and its NUL */
};

typedef enum modiar_status {
    MODIAR_OK,
    MODIAR_DONE,           /* every game is played */
    MODIAR_BAD_SETTING,    /* a setting cannot be used */
    MODIAR_CONNECT_ERROR,  /* the server was not reached, or stayed away */
    MODIAR_AUTH_ERROR,     /* auth_failed, name_taken, bad_name, registration_closed or guests_closed */
    MODIAR_PROTOCOL_ERROR, /* another error that ends it, or a goodbye for good */
    MODIAR_ILLEGAL_MOVE,   /* modiar_play with a pit that may not be played; nothing was sent */
    MODIAR_STOPPED,        /* settings.stop was set */
    MODIAR_CHOOSE_FAILED   /* choose gave no legal pit, and settings.strict is set */
} modiar_status;

typedef enum modiar_side { MODIAR_SOUTH, MODIAR_NORTH, MODIAR_NO_SIDE } modiar_side;

/* ---- Rules (spec/rules.md) ---- */

typedef struct modiar_position {
    int pits[MODIAR_PITS]; /* seeds */
    int captured[2];       /* seeds, by modiar_side */
    modiar_side side;      /* to move */
    int64_t ply;           /* to be played; the game's first is 1 */
} modiar_position;

modiar_position modiar_position_start(void);

/* Reads `7.7.7-7.7.7 0-0 s 1`. Returns NULL, or the clause that the text breaks. */
const char *modiar_position_parse(const char *text, modiar_position *position);

/* Writes it again; returns `text`. */
const char *modiar_position_text(const modiar_position *position, char text[MODIAR_POSITION_BYTES]);

/* The pits that may be played, ascending; returns how many. None: the game is over. */
int modiar_position_legal(const modiar_position *position, int legal[MODIAR_LEGAL]);

/* The clause that this pit would break, or NULL where it may be played. */
const char *modiar_position_clause(const modiar_position *position, int pit);

/* Plays a pit; `taken` are the seeds captured by it. Returns NULL, or the clause that it breaks, and then sets nothing. */
const char *modiar_position_play(const modiar_position *position, int pit, modiar_position *after, int *taken);

/* What each side has once it took its own row: the final score where nobody can move. By modiar_side. */
void modiar_position_score(const modiar_position *position, int score[2]);

/* bots.worth: seeds ahead for the side to move, `depth` plies looked at. */
int modiar_position_value(const modiar_position *position, int depth);

/* bots.greedy and bots.minimax: a pit, -1 where none is legal. `depth` is 1 or more. */
int modiar_position_greedy(const modiar_position *position);
int modiar_position_minimax(const modiar_position *position, int depth);

/* "south", "north", or "unknown". */
const char *modiar_side_text(modiar_side side);

/* ---- Settings ---- */

typedef enum modiar_level { MODIAR_DEBUG, MODIAR_INFO, MODIAR_WARNING } modiar_level;

/* The end of a game. */
typedef struct modiar_ended {
    char game[MODIAR_ID_BYTES];
    char result[16];      /* south, north, draw, none: who won; none was aborted, and does not count as played */
    /* why: immobile, repetition, quiet_plies, majority, resignation, time_forfeit, illegal_move, aborted or server_error */
    char termination[32];
    int score[2];         /* seeds, by modiar_side */
    modiar_side side;     /* this bot's; MODIAR_NO_SIDE where it was never told */
    double rating_before, rating_after, rating_rd; /* rating points; NAN where the game was not rated */
    int detail_pit;         /* of an illegal move; else -1 */
    char detail_clause[64]; /* the clause that it broke, or "" */
    int detail_legal[MODIAR_LEGAL], detail_legal_count;
} modiar_ended;

/*
 * All zero is a local server and a guest. Texts must outlive the client. Where a field is NULL or 0 the environment is
 * asked, and then the default holds. MODIAR_TLS and MODIAR_CA must not be set: this library speaks no TLS.
 */
typedef struct modiar_settings {
    const char *host;    /* MODIAR_HOST, or 127.0.0.1 */
    int port;            /* MODIAR_PORT, or 6634 */
    const char *name;    /* MODIAR_NAME, or a guest's name of the server's choice */
    const char *token;   /* MODIAR_TOKEN; never told to anybody but the server */
    const char *version; /* the bot's build, or none */
    int games;           /* most at once, 1 to 64; default 1 */
    bool strict;         /* modiar_run: end where choose fails, in place of resigning that game */
    const volatile sig_atomic_t *stop; /* not 0 any more: end waiting with MODIAR_STOPPED; may be NULL */
    void (*log)(modiar_level level, const char *text, void *user); /* a line for people; NULL: silent */
    void (*ended)(const modiar_ended *ended, void *user);          /* once for each game that ends; may be NULL */
    void *user;          /* handed to log and ended */
} modiar_settings;

/* ---- Turns ---- */

/* What a bot decides on. */
typedef struct modiar_turn {
    char game[MODIAR_ID_BYTES];
    int64_t ply;
    modiar_side side; /* this bot's, and to move */
    modiar_position position;
    int legal[MODIAR_LEGAL]; /* ascending */
    int legal_count;         /* never 0 */
    int64_t remaining_ms[2]; /* by modiar_side */
    int64_t deadline_ms;     /* when the own time is used up, on the clock of modiar_now_ms */
    char opponent[MODIAR_NAME_BYTES];
    bool rated;
    char pool[MODIAR_POOL_BYTES];
    struct { /* the ply before; its ply is 0 where there was none */
        int64_t ply;
        modiar_side side;
        int pit;
        int taken;          /* seeds */
        int64_t elapsed_ms;
    } last;
} modiar_turn;

/* Milliseconds of the system's monotonic clock. */
int64_t modiar_now_ms(void);

/* ---- A whole program ---- */

/* Returns a pit of turn->legal. Anything else resigns the game. */
typedef int (*modiar_choose)(const modiar_turn *turn, void *user);

/*
 * Plays `games` games in `pool` (0: for ever), one result a line on stdout, words for people on stderr (where settings
 * have no log). Ctrl-C resigns and leaves; a second one ends at once. `settings` may be NULL, `user` goes to choose.
 * Returns the exit status: 0 every game played, 2 a wrong setting, 3 could not, 130 Ctrl-C.
 */
int modiar_run(const modiar_settings *settings, const char *pool, int64_t games, modiar_choose choose, void *user);

/* ---- The codec: the messages of spec/messages ---- */

typedef enum modiar_type {
    MODIAR_NOTHING,  /* no whole line yet */
    MODIAR_NO_JSON,  /* a line that is no JSON object: skip it */
    MODIAR_TOO_LONG, /* a line beyond MODIAR_LINE_BYTES: no use going on */
    MODIAR_UNKNOWN,  /* a message of a type that is not known here: ignore it */
    MODIAR_HELLO,
    MODIAR_SEEK,
    MODIAR_UNSEEK,
    MODIAR_CHALLENGE,
    MODIAR_ACCEPT,
    MODIAR_DECLINE,
    MODIAR_MOVE,
    MODIAR_RESIGN,
    MODIAR_WATCH,
    MODIAR_UNWATCH,
    MODIAR_PING,
    MODIAR_BYE,
    MODIAR_WELCOME,
    MODIAR_SEEKING,
    MODIAR_SEEK_ENDED,
    MODIAR_CHALLENGED,
    MODIAR_CHALLENGE_SENT,
    MODIAR_CHALLENGE_ENDED,
    MODIAR_STARTED,
    MODIAR_TURN,
    MODIAR_MOVED,
    MODIAR_ENDED,
    MODIAR_ERROR,
    MODIAR_NOTICE,
    MODIAR_GOODBYE,
    MODIAR_PONG,
    MODIAR_UNWATCHED
} modiar_type;

/* The codes of spec/errors.md. */
typedef enum modiar_code {
    MODIAR_CODE_UNKNOWN,
    MODIAR_CODE_BAD_JSON,
    MODIAR_CODE_BAD_UTF8,
    MODIAR_CODE_LINE_TOO_LONG,
    MODIAR_CODE_BAD_FIELD,
    MODIAR_CODE_UNKNOWN_TYPE,
    MODIAR_CODE_EXPECTED_HELLO,
    MODIAR_CODE_UNEXPECTED_HELLO,
    MODIAR_CODE_BAD_PROTOCOL,
    MODIAR_CODE_AUTH_FAILED,
    MODIAR_CODE_NAME_TAKEN,
    MODIAR_CODE_BAD_NAME,
    MODIAR_CODE_REGISTRATION_CLOSED,
    MODIAR_CODE_GUESTS_CLOSED,
    MODIAR_CODE_TOO_MANY_CONNECTIONS,
    MODIAR_CODE_RATE_LIMITED,
    MODIAR_CODE_UNKNOWN_POOL,
    MODIAR_CODE_UNKNOWN_BOT,
    MODIAR_CODE_UNKNOWN_CHALLENGE,
    MODIAR_CODE_ALREADY_SEEKING,
    MODIAR_CODE_GAMES_LIMIT,
    MODIAR_CODE_WRONG_GAME,
    MODIAR_CODE_NOT_YOUR_TURN,
    MODIAR_CODE_STALE_PLY,
    MODIAR_CODE_DUPLICATE,
    MODIAR_CODE_GAME_OVER,
    MODIAR_CODE_ILLEGAL_MOVE,
    MODIAR_CODE_DRAINING,
    MODIAR_CODE_INTERNAL
} modiar_code;

/* The code of an error's `code`; MODIAR_CODE_UNKNOWN for one that a newer server may have, or NULL. */
modiar_code modiar_code_of(const char *text);

/*
 * A field that is absent, or not of its type, is NULL (texts), MODIAR_ABSENT (integers and booleans, which are 0 or 1),
 * NAN (reals), or a list whose count is MODIAR_NO_LIST. An object is absent where all its fields are. Times are
 * milliseconds. What is longer than a list's bound is left out.
 */
#define MODIAR_ABSENT INT64_MIN
#define MODIAR_NO_LIST (-1)

typedef struct modiar_ref { /* a text or an integer */
    const char *text;
    int64_t number;
} modiar_ref;

typedef struct modiar_numbers {
    int count;
    int64_t at[8];
} modiar_numbers;

typedef struct modiar_by_side {
    int64_t south, north;
} modiar_by_side;

typedef struct modiar_wire_time {
    int64_t base_ms, increment_ms, grace_ms, move_ms;
} modiar_wire_time;

typedef struct modiar_wire_rules {
    const char *name;
    int64_t repetition, quiet_plies, majority, illegal_moves;
} modiar_wire_rules;

typedef struct modiar_wire_pool {
    const char *name;
    modiar_wire_time time;
    int64_t rated;
    const char *openings; /* start or balanced */
    modiar_wire_rules rules;
} modiar_wire_pool;

typedef struct modiar_wire_rating { /* in one pool */
    const char *pool;
    double rating, rd;
    int64_t games;
} modiar_wire_rating;

typedef struct modiar_wire_ratings {
    int count;
    modiar_wire_rating at[64];
} modiar_wire_ratings;

typedef struct modiar_wire_bot {
    const char *name;
    int64_t guest;
    modiar_wire_ratings ratings;
} modiar_wire_bot;

typedef struct modiar_wire_limits {
    int64_t line_bytes, messages_per_s, games;
} modiar_wire_limits;

typedef struct modiar_wire_pools {
    int count;
    modiar_wire_pool at[64];
} modiar_wire_pools;

typedef struct modiar_wire_games {
    int count;
    const char *at[MODIAR_GAMES];
} modiar_wire_games;

typedef struct modiar_wire_detail {
    int64_t pit;
    const char *clause;
    modiar_numbers legal;
} modiar_wire_detail;

typedef struct modiar_wire_change { /* of a rating, by a game */
    double before, after, rd;
} modiar_wire_change;

typedef struct modiar_wire_ended {
    const char *type; /* told inside `missed` only */
    const char *game, *result, *termination;
    modiar_by_side score;
    modiar_numbers pits;
    int64_t ply;
    modiar_wire_detail detail;
    modiar_wire_change rating;
} modiar_wire_ended;

typedef struct modiar_wire_missed {
    int count;
    modiar_wire_ended at[MODIAR_GAMES];
} modiar_wire_missed;

typedef struct modiar_wire_from {
    const char *name;
    double rating;
} modiar_wire_from;

typedef struct modiar_wire_player {
    const char *name;
    int64_t guest;
    double rating;
    const char *version;
} modiar_wire_player;

typedef struct modiar_wire_last {
    int64_t ply;
    const char *side;
    int64_t pit, taken, elapsed_ms;
} modiar_wire_last;

typedef struct modiar_wire_hello {
    modiar_ref ref;
    int64_t protocol;
    const char *name, *token;
    int64_t register_name; /* the field `register`, a word that C keeps for itself */
    const char *resume, *client, *version;
    int64_t games, updates;
} modiar_wire_hello;

typedef struct modiar_wire_seek {
    modiar_ref ref;
    const char *pool;
    int64_t games;
} modiar_wire_seek;

typedef struct modiar_wire_unseek {
    modiar_ref ref;
    const char *pool;
} modiar_wire_unseek;

typedef struct modiar_wire_challenge {
    modiar_ref ref;
    const char *opponent, *pool, *side;
    int64_t rated, games;
} modiar_wire_challenge;

typedef struct modiar_wire_answer { /* accept, decline, challenge_sent */
    modiar_ref ref;
    const char *challenge;
} modiar_wire_answer;

typedef struct modiar_wire_move {
    modiar_ref ref;
    const char *game;
    int64_t pit, ply;
} modiar_wire_move;

typedef struct modiar_wire_game { /* resign, watch, unwatch, unwatched */
    modiar_ref ref;
    const char *game;
} modiar_wire_game;

typedef struct modiar_wire_bare { /* ping, bye */
    modiar_ref ref;
} modiar_wire_bare;

typedef struct modiar_wire_welcome {
    modiar_ref ref;
    int64_t protocol;
    const char *server;
    modiar_wire_bot bot;
    const char *token, *resume;
    modiar_wire_pools pools;
    modiar_wire_limits limits;
    modiar_wire_games games;
    modiar_wire_missed missed;
} modiar_wire_welcome;

typedef struct modiar_wire_seeking {
    modiar_ref ref;
    const char *pool;
    int64_t waiting;
    const char *reason;
} modiar_wire_seeking;

typedef struct modiar_wire_seek_ended {
    modiar_ref ref;
    const char *pool, *reason;
    int64_t until_ms; /* Unix time */
    const char *message;
} modiar_wire_seek_ended;

typedef struct modiar_wire_challenged {
    const char *challenge;
    modiar_wire_from from;
    const char *pool, *side;
    int64_t rated, games, expires_ms;
} modiar_wire_challenged;

typedef struct modiar_wire_challenge_ended {
    modiar_ref ref;
    const char *challenge;
    const char *reason; /* declined, expired, cancelled, unavailable or draining */
} modiar_wire_challenge_ended;

typedef struct modiar_wire_started {
    modiar_ref ref;
    const char *game, *pool;
    int64_t rated;
    const char *side;
    int64_t spectator;
    modiar_wire_player south, north;
    modiar_wire_time time;
    modiar_wire_rules rules;
    const char *opening, *moves;
    int64_t ply;
    const char *side_to_move;
    modiar_numbers pits;
    modiar_by_side captured, remaining_ms;
    int64_t resumed;
} modiar_wire_started;

typedef struct modiar_wire_turn {
    const char *game;
    int64_t ply;
    const char *side;
    modiar_numbers pits;
    modiar_by_side captured;
    modiar_numbers legal;
    modiar_by_side remaining_ms;
    modiar_wire_last last;
} modiar_wire_turn;

typedef struct modiar_wire_moved {
    const char *game;
    int64_t ply;
    const char *side;
    int64_t pit, taken, elapsed_ms;
    modiar_numbers pits;
    modiar_by_side captured, remaining_ms;
} modiar_wire_moved;

typedef struct modiar_wire_error {
    modiar_ref ref;
    const char *code, *message;
    int64_t fatal;
    const char *game, *field, *clause;
    modiar_numbers legal, supported;
} modiar_wire_error;

typedef struct modiar_wire_notice {
    const char *code, *message;
    int64_t until_ms; /* Unix time */
} modiar_wire_notice;

typedef struct modiar_wire_goodbye {
    modiar_ref ref;
    /* bye, handshake, replaced, flood, slow_reader, line_too_long, banned, draining or internal */
    const char *reason;
    const char *message;
} modiar_wire_goodbye;

typedef struct modiar_wire_pong {
    modiar_ref ref;
    int64_t time_ms; /* Unix time */
} modiar_wire_pong;

typedef struct modiar_message {
    modiar_type type;
    const char *type_text;     /* as it was read */
    const char *unknown_field; /* the first field that is not known here, or NULL */
    union {
        modiar_wire_hello hello;
        modiar_wire_seek seek;
        modiar_wire_unseek unseek;
        modiar_wire_challenge challenge;
        modiar_wire_answer accept, decline, challenge_sent;
        modiar_wire_move move;
        modiar_wire_game resign, watch, unwatch, unwatched;
        modiar_wire_bare ping, bye;
        modiar_wire_welcome welcome;
        modiar_wire_seeking seeking;
        modiar_wire_seek_ended seek_ended;
        modiar_wire_challenged challenged;
        modiar_wire_challenge_ended challenge_ended;
        modiar_wire_started started;
        modiar_wire_turn turn;
        modiar_wire_moved moved;
        modiar_wire_ended ended;
        modiar_wire_error error;
        modiar_wire_notice notice;
        modiar_wire_goodbye goodbye;
        modiar_wire_pong pong;
    };
} modiar_message;

/* What was read and is not yet a whole line. All zero is a new one. */
typedef struct modiar_decoder {
    char line[MODIAR_LINE_BYTES];
    size_t length;
    bool too_long;
} modiar_decoder;

/*
 * Takes bytes of a server, up to the end of the next line that is not empty, and moves `bytes` and `size` behind what it
 * took. Returns the type of `message`, MODIAR_NOTHING once all bytes are taken. Texts of the message stand in the
 * decoder, until the next call.
 */
modiar_type modiar_decoder_feed(modiar_decoder *decoder, const char **bytes, size_t *size, modiar_message *message);

/* Makes a message of this type with every field absent. */
void modiar_message_clear(modiar_message *message, modiar_type type);

/* Writes one compact line, its newline included, and a NUL. Returns its length without the NUL; 0 where it does not fit. */
size_t modiar_encode(const modiar_message *message, char *line, size_t size);

/* ---- A loop of one's own ---- */

/* Why a call failed; texts are "" where they say nothing. */
typedef struct modiar_failure {
    modiar_status status;
    modiar_code code; /* of the server's error, with MODIAR_AUTH_ERROR and MODIAR_PROTOCOL_ERROR */
    bool fatal;
    char field[64], clause[64];
    char text[1400];
} modiar_failure;

/* A game that goes on; all that a client knows of it. */
typedef struct modiar_game {
    bool running;
    modiar_turn turn;     /* the newest, and from the first the fields that `started` tells */
    bool ready;           /* the turn is not handed out yet */
    int64_t answered_ply; /* what was played for it last, 0: nothing */
    int answered_pit;
    int64_t forgiven_ply; /* whose illegal move was forgiven */
    bool resigned;
    int again;            /* how often the answer was limited */
    int64_t again_ms;     /* when it is to be sent again, 0: not */
} modiar_game;

/* One bot over all its connections. The caller owns it, some 90 KB, and touches no field. */
typedef struct modiar_client {
    modiar_settings settings; /* with what the environment says */
    modiar_status end;        /* MODIAR_OK while it goes on */
    modiar_failure failure;
    int socket; /* -1: none */
    struct {
        int family, type, protocol;
        unsigned size;
        _Alignas(16) unsigned char bytes[128]; /* a socket address */
    } addresses[8];
    int address_count;
    char name[MODIAR_NAME_BYTES];
    char resume[132];
    bool was_welcomed, welcomed; /* ever; on this connection */
    bool moved;                  /* a move of the bot has counted on this connection */
    bool leaving;                /* after settings.stop, or in modiar_close */
    bool told_type, told_field;  /* unknown ones are logged once */
    int refused;                 /* hellos because of the name or token, one after the other */
    int tries;                   /* to come back, since the last welcome */
    int64_t pause_ms, welcome_by_ms, welcomed_ms, arrival_ms;
    uint64_t chance;
    char pool[MODIAR_POOL_BYTES];
    bool playing; /* modiar_turns was called */
    int64_t wanted, played;
    bool seeking, draining, cancelled;
    int64_t seek_at_ms; /* not before */
    modiar_game games[MODIAR_GAMES];
    char over[2 * MODIAR_GAMES][MODIAR_ID_BYTES]; /* the newest ends, which may be told again */
    unsigned over_next;
    char input[4096];
    const char *input_at;
    size_t input_size;
    modiar_decoder decoder;
    modiar_message message;
} modiar_client;

/* Connects and says hello; comes back with MODIAR_OK once the server welcomes the bot, and fails at once where it cannot. */
modiar_status modiar_connect(modiar_client *client, const modiar_settings *settings);

/* From here on modiar_next_turn plays so many games in this pool; 0: for ever. */
modiar_status modiar_turns(modiar_client *client, const char *pool, int64_t games);

/* Waits for a turn. MODIAR_OK: it is in `turn`. MODIAR_DONE: all is played. A lost link it mends by itself. */
modiar_status modiar_next_turn(modiar_client *client, modiar_turn *turn);

/*
 * Answers a turn. MODIAR_ILLEGAL_MOVE sends nothing, and the turn waits for another pit. Where the link is lost the
 * answer goes out once it is mended.
 */
modiar_status modiar_play(modiar_client *client, const modiar_turn *turn, int pit);

/* The same without asking whether the pit may be played. */
modiar_status modiar_play_raw(modiar_client *client, const modiar_turn *turn, int pit);

modiar_status modiar_resign(modiar_client *client, const modiar_turn *turn);

/* Takes the seek back and resigns what is being played; 2 s at most. */
void modiar_leave(modiar_client *client);

/* Says goodbye, 1 s at most, and closes. Games that go on wait for the bot, with their clocks running. */
void modiar_close(modiar_client *client);

/* What went wrong last, in words. Never holds a token. */
const char *modiar_error(const modiar_client *client);

#endif
