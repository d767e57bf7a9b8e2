/* Modiar: a client for bots. What each function promises is said in modiar.h. */
#define _POSIX_C_SOURCE 200809L

#include "modiar.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Where the pauses between tries to come back begin and end, and how many tries an idle client makes. */
enum { FIRST_PAUSE_MS = 250, LAST_PAUSE_MS = 15000, IDLE_TRIES = 60 };

/* A connection that stood for so long was of use, though no move counted on it. */
enum { HELD_MS = 10000 };

/* How long to wait for a connection and its welcome, a write, a last goodbye, and the end of all games at Ctrl-C. */
enum { CONNECT_MS = 10000, WRITE_MS = 10000, GOODBYE_MS = 1000, LEAVE_MS = 2000 };

/* A limited move is sent again after a while, so often; a seek that came to nothing waits longer. */
enum { AGAIN_MS = 200, AGAIN_TRIES = 5, SEEK_AGAIN_MS = 1000 };

/* How late settings.stop may be seen, where it is set just before a wait begins. */
enum { STOP_MS = 200 };

/* Begins the answer of a port that speaks TLS to one who does not; no line does. */
enum { TLS_ALERT = 0x15 };

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- Rules ---- */

enum { ROW = MODIAR_PITS / 2 };

static modiar_side other(modiar_side side)
{
    return side == MODIAR_SOUTH ? MODIAR_NORTH : MODIAR_SOUTH;
}

/* Seeds in the row of `side`. */
static int row(const modiar_position *position, modiar_side side)
{
    const int *pits = position->pits + (side == MODIAR_SOUTH ? 0 : ROW);

    return pits[0] + pits[1] + pits[2];
}

static bool is_own(const modiar_position *position, int pit)
{
    return pit >= 0 && pit < MODIAR_PITS && (pit < ROW) == (position->side == MODIAR_SOUTH);
}

modiar_position modiar_position_start(void)
{
    return (modiar_position){.pits = {7, 7, 7, 7, 7, 7}, .side = MODIAR_SOUTH, .ply = 1};
}

/* Sows and captures without asking whether that is legal; returns the seeds taken. */
static int sow(const modiar_position *position, int pit, modiar_position *after)
{
    int seeds = position->pits[pit], taken = 0;

    *after = *position;
    after->pits[pit] = 0;
    for (int step = 0; step < seeds; step++) /* the first goes back into the pit it came from */
        after->pits[(pit + step) % MODIAR_PITS]++;
    if (position->ply > 1) { /* the first ply of the game captures nothing */
        int last = (pit + seeds - 1) % MODIAR_PITS;
        for (int held = after->pits[last]; held == 2 || held == 4 || held == 6; held = after->pits[last]) {
            taken += held;
            after->pits[last] = 0;
            last = (last + MODIAR_PITS - 1) % MODIAR_PITS;
        }
    }
    after->captured[position->side] += taken;
    after->side = other(position->side);
    after->ply++;
    return taken;
}

/* Whether a sowing from `pit` reaches the other row. */
static bool feeds(const modiar_position *position, int pit)
{
    return pit % ROW + position->pits[pit] > ROW;
}

/* The clause that a pit breaks whatever the duty to feed says. */
static const char *broken_but_feeding(const modiar_position *position, int pit)
{
    modiar_position after;
    modiar_side foe = other(position->side);

    if (!is_own(position, pit))
        return "rules.move.own-row";
    if (position->pits[pit] == 0)
        return "rules.move.empty-pit";
    if (position->pits[pit] == 1)
        return "rules.move.singleton";
    /* The sowing left seeds there, or they were there: with an empty row afterwards, all of them were captured. */
    sow(position, pit, &after);
    if (row(&after, foe) == 0 && (row(position, foe) > 0 || feeds(position, pit)))
        return "rules.slam.banned";
    return NULL;
}

const char *modiar_position_clause(const modiar_position *position, int pit)
{
    const char *broken = broken_but_feeding(position, pit);

    if (broken != NULL || row(position, other(position->side)) > 0 || feeds(position, pit))
        return broken;
    for (int able = 0; able < MODIAR_PITS; able++)
        if (broken_but_feeding(position, able) == NULL && feeds(position, able))
            return "rules.feed.must";
    return NULL;
}

int modiar_position_legal(const modiar_position *position, int legal[MODIAR_LEGAL])
{
    int count = 0;

    for (int pit = 0; pit < MODIAR_PITS; pit++)
        if (modiar_position_clause(position, pit) == NULL)
            legal[count++] = pit;
    return count;
}

const char *modiar_position_play(const modiar_position *position, int pit, modiar_position *after, int *taken)
{
    const char *broken = modiar_position_clause(position, pit);
    modiar_position next;

    if (broken == NULL) {
        *taken = sow(position, pit, &next);
        *after = next;
    }
    return broken;
}

void modiar_position_score(const modiar_position *position, int score[2])
{
    score[MODIAR_SOUTH] = position->captured[MODIAR_SOUTH] + row(position, MODIAR_SOUTH);
    score[MODIAR_NORTH] = position->captured[MODIAR_NORTH] + row(position, MODIAR_NORTH);
}

/* The legal pit of the highest worth, of equal ones the lowest; -1 where there is none, and then `worth` stays. */
static int best(const modiar_position *position, int depth, int *worth)
{
    int legal[MODIAR_LEGAL], count = modiar_position_legal(position, legal), pit = -1;

    for (int i = 0; i < count; i++) {
        modiar_position after;
        sow(position, legal[i], &after);
        int value = -modiar_position_value(&after, depth - 1);
        if (pit < 0 || value > *worth) {
            pit = legal[i];
            *worth = value;
        }
    }
    return pit;
}

int modiar_position_value(const modiar_position *position, int depth)
{
    int legal[MODIAR_LEGAL], totals[2], worth = 0;
    modiar_side own = position->side;

    if (modiar_position_legal(position, legal) == 0) {
        modiar_position_score(position, totals);
        return totals[own] - totals[other(own)];
    }
    if (depth <= 0)
        return position->captured[own] - position->captured[other(own)];
    best(position, depth, &worth);
    return worth;
}

int modiar_position_minimax(const modiar_position *position, int depth)
{
    int worth = 0;

    return best(position, depth, &worth);
}

int modiar_position_greedy(const modiar_position *position)
{
    int legal[MODIAR_LEGAL], count = modiar_position_legal(position, legal), pit = -1, most = -1;

    for (int i = 0; i < count; i++) {
        modiar_position after;
        int taken = sow(position, legal[i], &after);
        if (taken > most) {
            most = taken;
            pit = legal[i];
        }
    }
    return pit;
}

/* Reads digits without leading zeros, and the text behind them; NULL where it is something else, or beyond `most`. */
static const char *read_part(const char *at, int64_t most, const char *behind, int64_t *part)
{
    const char *start = at;

    *part = 0;
    while (*at >= '0' && *at <= '9' && *part <= most)
        *part = *part * 10 + (*at++ - '0');
    if (at == start || (*start == '0' && at > start + 1) || *part > most)
        return NULL;
    size_t size = strlen(behind);
    return strncmp(at, behind, size) == 0 ? at + size : NULL;
}

const char *modiar_position_parse(const char *text, modiar_position *position)
{
    static const char *const behind[] = {".", ".", "-", ".", ".", " ", "-", " "};
    static const char malformed[] = "rules.text.position";
    int64_t parts[COUNT(behind)], ply, seeds = 0;
    modiar_position read = {.side = MODIAR_SOUTH};

    for (size_t i = 0; i < COUNT(behind); i++) {
        text = read_part(text, UINT8_MAX, behind[i], &parts[i]);
        if (text == NULL)
            return malformed;
        seeds += parts[i];
    }
    if ((text[0] != 's' && text[0] != 'n') || text[1] != ' ')
        return malformed;
    read.side = text[0] == 's' ? MODIAR_SOUTH : MODIAR_NORTH;
    text = read_part(text + 2, UINT32_MAX, "", &ply);
    if (text == NULL || *text != '\0' || ply == 0)
        return malformed;
    if (seeds != MODIAR_SEEDS)
        return "rules.board.conserved";
    if ((ply % 2 == 1) != (read.side == MODIAR_SOUTH))
        return "rules.turn.south-first";
    for (int pit = 0; pit < MODIAR_PITS; pit++)
        read.pits[pit] = (int)parts[pit];
    read.captured[MODIAR_SOUTH] = (int)parts[MODIAR_PITS];
    read.captured[MODIAR_NORTH] = (int)parts[MODIAR_PITS + 1];
    read.ply = ply;
    *position = read;
    return NULL;
}

const char *modiar_position_text(const modiar_position *position, char text[MODIAR_POSITION_BYTES])
{
    const int *pits = position->pits;

    snprintf(text, MODIAR_POSITION_BYTES, "%d.%d.%d-%d.%d.%d %d-%d %c %" PRId64, pits[0], pits[1], pits[2], pits[3],
             pits[4], pits[5], position->captured[MODIAR_SOUTH], position->captured[MODIAR_NORTH],
             position->side == MODIAR_SOUTH ? 's' : 'n', position->ply);
    return text;
}

const char *modiar_side_text(modiar_side side)
{
    return side == MODIAR_SOUTH ? "south" : side == MODIAR_NORTH ? "north" : "unknown";
}

/* ---- The wire: every message and its fields ---- */

enum kind {
    INTEGER,
    BOOLEAN,
    REAL,
    TEXT,
    REF,
    NUMBERS, /* a list of integers */
    TEXTS,
    OBJECT,
    OBJECTS,
    MAP /* an object whose keys are names; each goes into the first member of its element */
};

struct field {
    const char *name;
    enum kind kind;
    size_t offset;
    const struct shape *shape; /* of OBJECT, OBJECTS, MAP */
    size_t first;              /* TEXTS, OBJECTS, MAP: where in the list its elements begin */
    int bound;                 /* the most of them */
};

struct shape {
    size_t size;
    int count;
    const struct field *fields;
};

#define FIELD(owner, member, kind) {#member, kind, offsetof(owner, member), NULL, 0, 0}
#define NESTED(owner, member, shape) {#member, OBJECT, offsetof(owner, member), &(shape), 0, 0}
#define LIST(owner, member, kind, shape, type) \
    {#member, kind, offsetof(owner, member), shape, offsetof(type, at), (int)COUNT(((type *)0)->at)}
#define SHAPE(name, type, ...) \
    static const struct field name##_fields[] = {__VA_ARGS__}; \
    static const struct shape name = {sizeof(type), (int)COUNT(name##_fields), name##_fields}

SHAPE(by_side, modiar_by_side, FIELD(modiar_by_side, south, INTEGER), FIELD(modiar_by_side, north, INTEGER));

SHAPE(time_control, modiar_wire_time, FIELD(modiar_wire_time, base_ms, INTEGER),
      FIELD(modiar_wire_time, increment_ms, INTEGER), FIELD(modiar_wire_time, grace_ms, INTEGER),
      FIELD(modiar_wire_time, move_ms, INTEGER));

SHAPE(rules, modiar_wire_rules, FIELD(modiar_wire_rules, name, TEXT), FIELD(modiar_wire_rules, repetition, INTEGER),
      FIELD(modiar_wire_rules, quiet_plies, INTEGER), FIELD(modiar_wire_rules, majority, BOOLEAN),
      FIELD(modiar_wire_rules, illegal_moves, INTEGER));

SHAPE(pool, modiar_wire_pool, FIELD(modiar_wire_pool, name, TEXT), NESTED(modiar_wire_pool, time, time_control),
      FIELD(modiar_wire_pool, rated, BOOLEAN), FIELD(modiar_wire_pool, openings, TEXT),
      NESTED(modiar_wire_pool, rules, rules));

SHAPE(rating, modiar_wire_rating, FIELD(modiar_wire_rating, rating, REAL), FIELD(modiar_wire_rating, rd, REAL),
      FIELD(modiar_wire_rating, games, INTEGER));

SHAPE(bot, modiar_wire_bot, FIELD(modiar_wire_bot, name, TEXT), FIELD(modiar_wire_bot, guest, BOOLEAN),
      LIST(modiar_wire_bot, ratings, MAP, &rating, modiar_wire_ratings));

SHAPE(limits, modiar_wire_limits, FIELD(modiar_wire_limits, line_bytes, INTEGER),
      FIELD(modiar_wire_limits, messages_per_s, INTEGER), FIELD(modiar_wire_limits, games, INTEGER));

SHAPE(detail, modiar_wire_detail, FIELD(modiar_wire_detail, pit, INTEGER), FIELD(modiar_wire_detail, clause, TEXT),
      FIELD(modiar_wire_detail, legal, NUMBERS));

SHAPE(change, modiar_wire_change, FIELD(modiar_wire_change, before, REAL), FIELD(modiar_wire_change, after, REAL),
      FIELD(modiar_wire_change, rd, REAL));

SHAPE(player, modiar_wire_player, FIELD(modiar_wire_player, name, TEXT), FIELD(modiar_wire_player, guest, BOOLEAN),
      FIELD(modiar_wire_player, rating, REAL), FIELD(modiar_wire_player, version, TEXT));

SHAPE(from, modiar_wire_from, FIELD(modiar_wire_from, name, TEXT), FIELD(modiar_wire_from, rating, REAL));

SHAPE(last, modiar_wire_last, FIELD(modiar_wire_last, ply, INTEGER), FIELD(modiar_wire_last, side, TEXT),
      FIELD(modiar_wire_last, pit, INTEGER), FIELD(modiar_wire_last, taken, INTEGER),
      FIELD(modiar_wire_last, elapsed_ms, INTEGER));

#define ENDED_FIELDS \
    FIELD(modiar_wire_ended, game, TEXT), FIELD(modiar_wire_ended, result, TEXT), \
    FIELD(modiar_wire_ended, termination, TEXT), NESTED(modiar_wire_ended, score, by_side), \
    FIELD(modiar_wire_ended, pits, NUMBERS), FIELD(modiar_wire_ended, ply, INTEGER), \
    NESTED(modiar_wire_ended, detail, detail), NESTED(modiar_wire_ended, rating, change)

SHAPE(ended, modiar_wire_ended, ENDED_FIELDS);
SHAPE(missed, modiar_wire_ended, FIELD(modiar_wire_ended, type, TEXT), ENDED_FIELDS);

SHAPE(hello, modiar_wire_hello, FIELD(modiar_wire_hello, ref, REF), FIELD(modiar_wire_hello, protocol, INTEGER),
      FIELD(modiar_wire_hello, name, TEXT), FIELD(modiar_wire_hello, token, TEXT),
      {"register", BOOLEAN, offsetof(modiar_wire_hello, register_name), NULL, 0, 0},
      FIELD(modiar_wire_hello, resume, TEXT), FIELD(modiar_wire_hello, client, TEXT),
      FIELD(modiar_wire_hello, version, TEXT), FIELD(modiar_wire_hello, games, INTEGER),
      FIELD(modiar_wire_hello, updates, BOOLEAN));

SHAPE(seek, modiar_wire_seek, FIELD(modiar_wire_seek, ref, REF), FIELD(modiar_wire_seek, pool, TEXT),
      FIELD(modiar_wire_seek, games, INTEGER));

SHAPE(unseek, modiar_wire_unseek, FIELD(modiar_wire_unseek, ref, REF), FIELD(modiar_wire_unseek, pool, TEXT));

SHAPE(challenge, modiar_wire_challenge, FIELD(modiar_wire_challenge, ref, REF),
      FIELD(modiar_wire_challenge, opponent, TEXT), FIELD(modiar_wire_challenge, pool, TEXT),
      FIELD(modiar_wire_challenge, side, TEXT), FIELD(modiar_wire_challenge, rated, BOOLEAN),
      FIELD(modiar_wire_challenge, games, INTEGER));

SHAPE(about_challenge, modiar_wire_answer, FIELD(modiar_wire_answer, ref, REF),
      FIELD(modiar_wire_answer, challenge, TEXT));

SHAPE(move, modiar_wire_move, FIELD(modiar_wire_move, ref, REF), FIELD(modiar_wire_move, game, TEXT),
      FIELD(modiar_wire_move, pit, INTEGER), FIELD(modiar_wire_move, ply, INTEGER));

SHAPE(about_game, modiar_wire_game, FIELD(modiar_wire_game, ref, REF), FIELD(modiar_wire_game, game, TEXT));

SHAPE(bare, modiar_wire_bare, FIELD(modiar_wire_bare, ref, REF));

SHAPE(welcome, modiar_wire_welcome, FIELD(modiar_wire_welcome, ref, REF), FIELD(modiar_wire_welcome, protocol, INTEGER),
      FIELD(modiar_wire_welcome, server, TEXT), NESTED(modiar_wire_welcome, bot, bot),
      FIELD(modiar_wire_welcome, token, TEXT), FIELD(modiar_wire_welcome, resume, TEXT),
      LIST(modiar_wire_welcome, pools, OBJECTS, &pool, modiar_wire_pools), NESTED(modiar_wire_welcome, limits, limits),
      LIST(modiar_wire_welcome, games, TEXTS, NULL, modiar_wire_games),
      LIST(modiar_wire_welcome, missed, OBJECTS, &missed, modiar_wire_missed));

SHAPE(seeking, modiar_wire_seeking, FIELD(modiar_wire_seeking, ref, REF), FIELD(modiar_wire_seeking, pool, TEXT),
      FIELD(modiar_wire_seeking, waiting, INTEGER), FIELD(modiar_wire_seeking, reason, TEXT));

SHAPE(seek_ended, modiar_wire_seek_ended, FIELD(modiar_wire_seek_ended, ref, REF),
      FIELD(modiar_wire_seek_ended, pool, TEXT), FIELD(modiar_wire_seek_ended, reason, TEXT),
      FIELD(modiar_wire_seek_ended, until_ms, INTEGER), FIELD(modiar_wire_seek_ended, message, TEXT));

SHAPE(challenged, modiar_wire_challenged, FIELD(modiar_wire_challenged, challenge, TEXT),
      NESTED(modiar_wire_challenged, from, from), FIELD(modiar_wire_challenged, pool, TEXT),
      FIELD(modiar_wire_challenged, side, TEXT), FIELD(modiar_wire_challenged, rated, BOOLEAN),
      FIELD(modiar_wire_challenged, games, INTEGER), FIELD(modiar_wire_challenged, expires_ms, INTEGER));

SHAPE(challenge_ended, modiar_wire_challenge_ended, FIELD(modiar_wire_challenge_ended, ref, REF),
      FIELD(modiar_wire_challenge_ended, challenge, TEXT), FIELD(modiar_wire_challenge_ended, reason, TEXT));

SHAPE(started, modiar_wire_started, FIELD(modiar_wire_started, ref, REF), FIELD(modiar_wire_started, game, TEXT),
      FIELD(modiar_wire_started, pool, TEXT), FIELD(modiar_wire_started, rated, BOOLEAN),
      FIELD(modiar_wire_started, side, TEXT), FIELD(modiar_wire_started, spectator, BOOLEAN),
      NESTED(modiar_wire_started, south, player), NESTED(modiar_wire_started, north, player),
      NESTED(modiar_wire_started, time, time_control), NESTED(modiar_wire_started, rules, rules),
      FIELD(modiar_wire_started, opening, TEXT), FIELD(modiar_wire_started, moves, TEXT),
      FIELD(modiar_wire_started, ply, INTEGER), FIELD(modiar_wire_started, side_to_move, TEXT),
      FIELD(modiar_wire_started, pits, NUMBERS), NESTED(modiar_wire_started, captured, by_side),
      NESTED(modiar_wire_started, remaining_ms, by_side), FIELD(modiar_wire_started, resumed, BOOLEAN));

SHAPE(turn, modiar_wire_turn, FIELD(modiar_wire_turn, game, TEXT), FIELD(modiar_wire_turn, ply, INTEGER),
      FIELD(modiar_wire_turn, side, TEXT), FIELD(modiar_wire_turn, pits, NUMBERS),
      NESTED(modiar_wire_turn, captured, by_side), FIELD(modiar_wire_turn, legal, NUMBERS),
      NESTED(modiar_wire_turn, remaining_ms, by_side), NESTED(modiar_wire_turn, last, last));

SHAPE(moved, modiar_wire_moved, FIELD(modiar_wire_moved, game, TEXT), FIELD(modiar_wire_moved, ply, INTEGER),
      FIELD(modiar_wire_moved, side, TEXT), FIELD(modiar_wire_moved, pit, INTEGER),
      FIELD(modiar_wire_moved, taken, INTEGER), FIELD(modiar_wire_moved, elapsed_ms, INTEGER),
      FIELD(modiar_wire_moved, pits, NUMBERS), NESTED(modiar_wire_moved, captured, by_side),
      NESTED(modiar_wire_moved, remaining_ms, by_side));

SHAPE(error, modiar_wire_error, FIELD(modiar_wire_error, ref, REF), FIELD(modiar_wire_error, code, TEXT),
      FIELD(modiar_wire_error, message, TEXT), FIELD(modiar_wire_error, fatal, BOOLEAN),
      FIELD(modiar_wire_error, game, TEXT), FIELD(modiar_wire_error, field, TEXT),
      FIELD(modiar_wire_error, clause, TEXT), FIELD(modiar_wire_error, legal, NUMBERS),
      FIELD(modiar_wire_error, supported, NUMBERS));

SHAPE(notice, modiar_wire_notice, FIELD(modiar_wire_notice, code, TEXT), FIELD(modiar_wire_notice, message, TEXT),
      FIELD(modiar_wire_notice, until_ms, INTEGER));

SHAPE(goodbye, modiar_wire_goodbye, FIELD(modiar_wire_goodbye, ref, REF), FIELD(modiar_wire_goodbye, reason, TEXT),
      FIELD(modiar_wire_goodbye, message, TEXT));

SHAPE(pong, modiar_wire_pong, FIELD(modiar_wire_pong, ref, REF), FIELD(modiar_wire_pong, time_ms, INTEGER));

/* By modiar_type. */
static const struct {
    const char *name;
    const struct shape *shape;
} messages[] = {
    [MODIAR_HELLO] = {"hello", &hello},
    [MODIAR_SEEK] = {"seek", &seek},
    [MODIAR_UNSEEK] = {"unseek", &unseek},
    [MODIAR_CHALLENGE] = {"challenge", &challenge},
    [MODIAR_ACCEPT] = {"accept", &about_challenge},
    [MODIAR_DECLINE] = {"decline", &about_challenge},
    [MODIAR_MOVE] = {"move", &move},
    [MODIAR_RESIGN] = {"resign", &about_game},
    [MODIAR_WATCH] = {"watch", &about_game},
    [MODIAR_UNWATCH] = {"unwatch", &about_game},
    [MODIAR_PING] = {"ping", &bare},
    [MODIAR_BYE] = {"bye", &bare},
    [MODIAR_WELCOME] = {"welcome", &welcome},
    [MODIAR_SEEKING] = {"seeking", &seeking},
    [MODIAR_SEEK_ENDED] = {"seek_ended", &seek_ended},
    [MODIAR_CHALLENGED] = {"challenged", &challenged},
    [MODIAR_CHALLENGE_SENT] = {"challenge_sent", &about_challenge},
    [MODIAR_CHALLENGE_ENDED] = {"challenge_ended", &challenge_ended},
    [MODIAR_STARTED] = {"started", &started},
    [MODIAR_TURN] = {"turn", &turn},
    [MODIAR_MOVED] = {"moved", &moved},
    [MODIAR_ENDED] = {"ended", &ended},
    [MODIAR_ERROR] = {"error", &error},
    [MODIAR_NOTICE] = {"notice", &notice},
    [MODIAR_GOODBYE] = {"goodbye", &goodbye},
    [MODIAR_PONG] = {"pong", &pong},
    [MODIAR_UNWATCHED] = {"unwatched", &about_game},
};

static const char *const codes[] = {
    [MODIAR_CODE_UNKNOWN] = "",
    [MODIAR_CODE_BAD_JSON] = "bad_json",
    [MODIAR_CODE_BAD_UTF8] = "bad_utf8",
    [MODIAR_CODE_LINE_TOO_LONG] = "line_too_long",
    [MODIAR_CODE_BAD_FIELD] = "bad_field",
    [MODIAR_CODE_UNKNOWN_TYPE] = "unknown_type",
    [MODIAR_CODE_EXPECTED_HELLO] = "expected_hello",
    [MODIAR_CODE_UNEXPECTED_HELLO] = "unexpected_hello",
    [MODIAR_CODE_BAD_PROTOCOL] = "bad_protocol",
    [MODIAR_CODE_AUTH_FAILED] = "auth_failed",
    [MODIAR_CODE_NAME_TAKEN] = "name_taken",
    [MODIAR_CODE_BAD_NAME] = "bad_name",
    [MODIAR_CODE_REGISTRATION_CLOSED] = "registration_closed",
    [MODIAR_CODE_GUESTS_CLOSED] = "guests_closed",
    [MODIAR_CODE_TOO_MANY_CONNECTIONS] = "too_many_connections",
    [MODIAR_CODE_RATE_LIMITED] = "rate_limited",
    [MODIAR_CODE_UNKNOWN_POOL] = "unknown_pool",
    [MODIAR_CODE_UNKNOWN_BOT] = "unknown_bot",
    [MODIAR_CODE_UNKNOWN_CHALLENGE] = "unknown_challenge",
    [MODIAR_CODE_ALREADY_SEEKING] = "already_seeking",
    [MODIAR_CODE_GAMES_LIMIT] = "games_limit",
    [MODIAR_CODE_WRONG_GAME] = "wrong_game",
    [MODIAR_CODE_NOT_YOUR_TURN] = "not_your_turn",
    [MODIAR_CODE_STALE_PLY] = "stale_ply",
    [MODIAR_CODE_DUPLICATE] = "duplicate",
    [MODIAR_CODE_GAME_OVER] = "game_over",
    [MODIAR_CODE_ILLEGAL_MOVE] = "illegal_move",
    [MODIAR_CODE_DRAINING] = "draining",
    [MODIAR_CODE_INTERNAL] = "internal",
};

modiar_code modiar_code_of(const char *text)
{
    for (int code = 1; text != NULL && code < (int)COUNT(codes); code++)
        if (strcmp(text, codes[code]) == 0)
            return (modiar_code)code;
    return MODIAR_CODE_UNKNOWN;
}

/* ---- JSON, checked ---- */

/*
 * A line is read twice. Here it is held against the grammar (RFC 8259, UTF-8, MODIAR's 32 levels), and nothing else is
 * done. What passes is then read without doubts, and its texts are unescaped where they stand: no text grows by that.
 */
enum { DEPTH = 32 };

struct text {
    const unsigned char *at, *end;
};

static bool check_value(struct text *text, int depth);

static void skip_space(struct text *text)
{
    while (text->at < text->end && strchr(" \t\r\n", *text->at) != NULL && *text->at != '\0')
        text->at++;
}

static bool take(struct text *text, char wanted)
{
    if (text->at == text->end || *text->at != (unsigned char)wanted)
        return false;
    text->at++;
    return true;
}

static bool take_word(struct text *text, const char *word)
{
    while (*word != '\0')
        if (!take(text, *word++))
            return false;
    return true;
}

static bool take_digits(struct text *text)
{
    const unsigned char *start = text->at;

    while (text->at < text->end && *text->at >= '0' && *text->at <= '9')
        text->at++;
    return text->at > start;
}

static bool check_number(struct text *text)
{
    take(text, '-');
    if (!take(text, '0') && !take_digits(text))
        return false;
    if (take(text, '.') && !take_digits(text))
        return false;
    if (take(text, 'e') || take(text, 'E')) {
        if (!take(text, '+'))
            take(text, '-');
        return take_digits(text);
    }
    return true;
}

/* One character of UTF-8 beyond ASCII: no overlong form, no surrogate, nothing beyond U+10FFFF. */
static bool check_utf8(struct text *text)
{
    unsigned first = *text->at++;
    int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;

    if (first < 0xc2 || first > 0xf4 || text->end - text->at < more)
        return false;
    unsigned second = *text->at;
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
        (first == 0xf4 && second > 0x8f))
        return false;
    for (; more > 0; more--)
        if ((*text->at++ & 0xc0) != 0x80)
            return false;
    return true;
}

static int hex_digit(unsigned char digit)
{
    return digit >= '0' && digit <= '9' ? digit - '0'
         : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
         : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                        : -1;
}

static bool check_escape(struct text *text)
{
    if (take(text, 'u')) {
        for (int i = 0; i < 4; i++)
            if (text->at == text->end || hex_digit(*text->at++) < 0)
                return false;
        return true;
    }
    return text->at < text->end && *text->at != '\0' && strchr("\"\\/bfnrt", *text->at++) != NULL;
}

static bool check_string(struct text *text)
{
    if (!take(text, '"'))
        return false;
    while (text->at < text->end && *text->at != '"') {
        bool good = true;
        if (*text->at < ' ')
            return false;
        if (take(text, '\\'))
            good = check_escape(text);
        else if (*text->at < 0x80)
            text->at++;
        else
            good = check_utf8(text);
        if (!good)
            return false;
    }
    return take(text, '"');
}

static bool check_key(struct text *text)
{
    skip_space(text);
    if (!check_string(text))
        return false;
    skip_space(text);
    return take(text, ':');
}

/* An object or a list: behind its opening bracket. */
static bool check_inside(struct text *text, char closing, int depth)
{
    if (depth > DEPTH)
        return false;
    skip_space(text);
    if (take(text, closing))
        return true;
    do {
        if ((closing == '}' && !check_key(text)) || !check_value(text, depth))
            return false;
    } while (take(text, ','));
    return take(text, closing);
}

/* A value, and the space around it; `depth` is that of what it stands in. */
static bool check_value(struct text *text, int depth)
{
    bool good;

    skip_space(text);
    if (text->at == text->end)
        return false;
    switch (*text->at) {
    case '{': text->at++; good = check_inside(text, '}', depth + 1); break;
    case '[': text->at++; good = check_inside(text, ']', depth + 1); break;
    case '"': good = check_string(text); break;
    case 't': good = take_word(text, "true"); break;
    case 'f': good = take_word(text, "false"); break;
    case 'n': good = take_word(text, "null"); break;
    default: good = check_number(text);
    }
    skip_space(text);
    return good;
}

/* ---- JSON, read: every text here is known to be good, and ends in NUL ---- */

static char *space(char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* Behind `,`, where there is one. */
static char *next(char *at)
{
    at = space(at);
    return *at == ',' ? space(at + 1) : at;
}

static unsigned read_hex(const char *at)
{
    unsigned value = 0;

    for (int i = 0; i < 4; i++)
        value = value * 16 + (unsigned)hex_digit((unsigned char)at[i]);
    return value;
}

static char *write_utf8(char *out, unsigned point)
{
    if (point < 0x80) {
        *out++ = (char)point;
        return out;
    }
    if (point < 0x800) {
        *out++ = (char)(0xc0 | point >> 6);
    } else {
        if (point < 0x10000) {
            *out++ = (char)(0xe0 | point >> 12);
        } else {
            *out++ = (char)(0xf0 | point >> 18);
            *out++ = (char)(0x80 | (point >> 12 & 0x3f));
        }
        *out++ = (char)(0x80 | (point >> 6 & 0x3f));
    }
    *out++ = (char)(0x80 | (point & 0x3f));
    return out;
}

/* Behind the backslash of an escape. A lone surrogate, and a NUL, become U+FFFD. */
static char *read_escape(char *at, char **out)
{
    static const char escapes[] = "bfnrt", meant[] = "\b\f\n\r\t";
    const char *found = strchr(escapes, *at);

    if (*at != 'u') {
        *(*out)++ = found != NULL ? meant[found - escapes] : *at;
        return at + 1;
    }
    unsigned point = read_hex(at + 1);
    at += 5;
    if (point >= 0xd800 && point < 0xdc00 && at[0] == '\\' && at[1] == 'u') {
        unsigned low = read_hex(at + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
            at += 6;
        }
    }
    bool lone = point >= 0xd800 && point < 0xe000;
    *out = write_utf8(*out, lone || point == 0 ? 0xfffd : point);
    return at;
}

/* `at` is the opening quote. */
static char *read_text(char *at, const char **text)
{
    char *out = ++at;

    *text = out;
    while (*at != '"') {
        if (*at == '\\')
            at = read_escape(at + 1, &out);
        else
            *out++ = *at++;
    }
    *out = '\0';
    return at + 1;
}

static char *skip_string(char *at)
{
    for (at++; *at != '"'; at++)
        if (*at == '\\')
            at++;
    return at + 1;
}

static char *skip_value(char *at)
{
    int depth = 0;

    do {
        if (*at == '"') {
            at = skip_string(at);
            continue;
        }
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at++;
        if (depth == 0)
            at += strcspn(at, ",]}"); /* the rest of a number or a word, or space */
    } while (depth > 0);
    return at;
}

/* Digits with an optional minus sign within 64 bits, and nothing like 2.0, 1e0 or -0. */
static bool read_integer(const char *at, int64_t *integer)
{
    bool minus = *at == '-';
    int64_t value = 0;

    at += minus;
    if (*at < '0' || *at > '9' || (minus && *at == '0'))
        return false;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (value > (INT64_MAX - (*at - '0')) / 10)
            return false;
        value = value * 10 + (*at - '0');
    }
    if (*at == '.' || *at == 'e' || *at == 'E')
        return false;
    *integer = minus ? -value : value;
    return true;
}

/* The locale has no say in it, as it has in strtod. Exact for up to 15 digits, as ratings have. */
static bool read_real(const char *at, double *real)
{
    double value = 0, scale = 1;
    bool minus = *at == '-', behind = false;

    at += minus;
    if (*at < '0' || *at > '9')
        return false;
    for (; (*at >= '0' && *at <= '9') || *at == '.'; at++) {
        if (*at == '.') {
            behind = true;
        } else if (!behind || scale < 1e15) {
            value = value * 10 + (*at - '0');
            scale *= behind ? 10 : 1;
        }
    }
    value /= scale;
    if (*at == 'e' || *at == 'E') {
        bool small = at[1] == '-';
        int exponent = 0;
        for (at += at[1] == '-' || at[1] == '+' ? 2 : 1; *at >= '0' && *at <= '9' && exponent < 1000; at++)
            exponent = exponent * 10 + (*at - '0');
        for (; exponent > 0 && value > 0 && value <= 1e300; exponent--)
            value = small ? value / 10 : value * 10;
    }
    *real = minus ? -value : value;
    return value <= 1e300;
}

static char *read_object(char *at, const struct shape *shape, void *target, const char **unknown);

static void clear(const struct shape *shape, void *target);

static int *list_count(void *list)
{
    return list; /* the first member of every list */
}

static char *read_numbers(char *at, modiar_numbers *numbers)
{
    numbers->count = 0;
    for (at = space(at + 1); *at != ']'; at = next(skip_value(at)))
        if (numbers->count < (int)COUNT(numbers->at) && read_integer(at, &numbers->at[numbers->count]))
            numbers->count++;
    return at + 1;
}

/* TEXTS, OBJECTS and MAP. `at` is the opening bracket. */
static char *read_list(char *at, const struct field *field, char *list, const char **unknown)
{
    char closing = *at == '{' ? '}' : ']', *elements = list + field->first;
    int *count = list_count(list);

    *count = 0;
    for (at = space(at + 1); *at != closing; at = next(at)) {
        const char *key = NULL;
        if (field->kind == MAP)
            at = space(space(read_text(at, &key)) + 1);
        if (*count == field->bound || *at != (field->kind == TEXTS ? '"' : '{')) {
            at = skip_value(at);
        } else if (field->kind == TEXTS) {
            at = read_text(at, (const char **)elements + (*count)++);
        } else {
            char *element = elements + (size_t)(*count)++ * field->shape->size;
            clear(field->shape, element);
            if (key != NULL)
                *(const char **)element = key;
            at = read_object(at, field->shape, element, unknown);
        }
    }
    return at + 1;
}

/* A value that is not of the field's kind leaves the field as it is: absent. */
static char *read_field(char *at, const struct field *field, void *target, const char **unknown)
{
    switch (field->kind) {
    case INTEGER: read_integer(at, target); break;
    case BOOLEAN:
        if (*at == 't' || *at == 'f')
            *(int64_t *)target = *at == 't';
        break;
    case REAL: {
        double real;
        if (read_real(at, &real))
            *(double *)target = real;
        break;
    }
    case REF:
        if (*at == '"')
            return read_text(at, &((modiar_ref *)target)->text);
        read_integer(at, &((modiar_ref *)target)->number);
        break;
    case TEXT:
        if (*at == '"')
            return read_text(at, target);
        break;
    case NUMBERS:
        if (*at == '[')
            return read_numbers(at, target);
        break;
    case OBJECT:
        if (*at == '{')
            return read_object(at, field->shape, target, unknown);
        break;
    case TEXTS:
    case OBJECTS:
    case MAP:
        if (*at == (field->kind == MAP ? '{' : '['))
            return read_list(at, field, target, unknown);
    }
    return skip_value(at);
}

static const struct field *find(const struct shape *shape, const char *name)
{
    for (int i = 0; i < shape->count; i++)
        if (strcmp(shape->fields[i].name, name) == 0)
            return &shape->fields[i];
    return NULL;
}

/* `at` is the opening brace. The first field that the shape does not have is named in `unknown`, if that is not set. */
static char *read_object(char *at, const struct shape *shape, void *target, const char **unknown)
{
    for (at = space(at + 1); *at != '}'; at = next(at)) {
        const char *key;
        at = space(space(read_text(at, &key)) + 1);
        const struct field *field = find(shape, key);
        if (field != NULL) {
            at = read_field(at, field, (char *)target + field->offset, unknown);
        } else {
            at = skip_value(at);
            if (*unknown == NULL && strcmp(key, "type") != 0)
                *unknown = key;
        }
    }
    return at + 1;
}

static void clear(const struct shape *shape, void *target)
{
    for (int i = 0; i < shape->count; i++) {
        const struct field *field = &shape->fields[i];
        void *at = (char *)target + field->offset;
        switch (field->kind) {
        case INTEGER:
        case BOOLEAN: *(int64_t *)at = MODIAR_ABSENT; break;
        case REAL: *(double *)at = NAN; break;
        case TEXT: *(const char **)at = NULL; break;
        case REF: *(modiar_ref *)at = (modiar_ref){NULL, MODIAR_ABSENT}; break;
        case OBJECT: clear(field->shape, at); break;
        case NUMBERS:
        case TEXTS:
        case OBJECTS:
        case MAP: *list_count(at) = MODIAR_NO_LIST;
        }
    }
}

/* All payloads begin at the same place of the union. */
static void *payload(const modiar_message *message)
{
    return (char *)message + offsetof(modiar_message, hello);
}

static bool has_shape(modiar_type type)
{
    return type >= MODIAR_HELLO && type < (modiar_type)COUNT(messages);
}

void modiar_message_clear(modiar_message *message, modiar_type type)
{
    message->type = type;
    message->type_text = has_shape(type) ? messages[type].name : NULL;
    message->unknown_field = NULL;
    if (has_shape(type))
        clear(messages[type].shape, payload(message));
}

/* Reads a short text, and leaves it as it stands; a long one is "". */
static const char *peek_text(const char *at, char buffer[160])
{
    size_t size = (size_t)(skip_string((char *)at) - at);
    const char *text = "";

    if (size <= 160) {
        memcpy(buffer, at, size);
        read_text(buffer, &text);
    }
    return text;
}

/* The value of the message's `type`, wherever it stands, or NULL. */
static char *find_type(char *at)
{
    char buffer[160], *found = NULL;

    for (at = space(at + 1); *at != '}';) {
        char *value = space(space(skip_string(at)) + 1);
        if (strcmp(peek_text(at, buffer), "type") == 0)
            found = *value == '"' ? value : NULL;
        at = next(skip_value(value));
    }
    return found;
}

/* The message type of this name, of those from `first` on. */
static modiar_type type_of(const char *name, modiar_type first)
{
    for (modiar_type type = first; has_shape(type); type++)
        if (strcmp(name, messages[type].name) == 0)
            return type;
    return MODIAR_UNKNOWN;
}

/* Reads a line without its newline, and with a NUL behind it. Of the types those from `first` on are known. */
static modiar_type read_message(char *line, size_t length, modiar_type first, modiar_message *message)
{
    struct text text = {(unsigned char *)line, (unsigned char *)line + length};
    char buffer[160];

    modiar_message_clear(message, MODIAR_NO_JSON);
    line = space(line);
    if (*line != '{' || !check_value(&text, 0) || text.at != text.end)
        return MODIAR_NO_JSON;
    char *type = find_type(line);
    modiar_message_clear(message, type == NULL ? MODIAR_UNKNOWN : type_of(peek_text(type, buffer), first));
    if (message->type != MODIAR_UNKNOWN)
        read_object(line, messages[message->type].shape, payload(message), &message->unknown_field);
    else if (type != NULL)
        read_text(type, &message->type_text);
    return message->type;
}

modiar_type modiar_decoder_feed(modiar_decoder *decoder, const char **bytes, size_t *size, modiar_message *message)
{
    while (*size > 0 && !decoder->too_long) {
        const char *newline = memchr(*bytes, '\n', *size);
        size_t piece = newline != NULL ? (size_t)(newline - *bytes) : *size;
        if (decoder->length + piece >= MODIAR_LINE_BYTES) {
            decoder->too_long = true;
            break;
        }
        memcpy(decoder->line + decoder->length, *bytes, piece);
        decoder->length += piece;
        piece += newline != NULL;
        *bytes += piece;
        *size -= piece;
        if (newline == NULL)
            break;
        size_t length = decoder->length;
        decoder->line[length] = '\0';
        decoder->length = 0;
        if (length > 0 && strcmp(decoder->line, "\r") != 0)
            return read_message(decoder->line, length, MODIAR_WELCOME, message);
    }
    modiar_message_clear(message, decoder->too_long ? MODIAR_TOO_LONG : MODIAR_NOTHING);
    return message->type;
}

/* ---- JSON, written ---- */

struct writer {
    char *at, *end; /* the end is kept free for the NUL */
    bool full;
};

static void put(struct writer *writer, const char *text, size_t size)
{
    writer->full = writer->full || size > (size_t)(writer->end - writer->at);
    if (!writer->full) {
        memcpy(writer->at, text, size);
        writer->at += size;
    }
}

static void put_word(struct writer *writer, const char *word)
{
    put(writer, word, strlen(word));
}

static void put_text(struct writer *writer, const char *text)
{
    put_word(writer, "\"");
    for (; *text != '\0'; text++) {
        char escape[8];
        if ((unsigned char)*text < ' ')
            put(writer, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*text));
        else if (*text == '"' || *text == '\\')
            put(writer, (char[]){'\\', *text}, 2);
        else
            put(writer, text, 1);
    }
    put_word(writer, "\"");
}

static void put_integer(struct writer *writer, int64_t integer)
{
    char digits[24];

    put(writer, digits, (size_t)snprintf(digits, sizeof digits, "%" PRId64, integer));
}

/* Ratings are told to six places; the locale has no say in it. */
static void put_real(struct writer *writer, double real)
{
    char digits[40];
    double magnitude = real < 0 ? -real : real;
    int64_t millionths = magnitude < 9e12 ? (int64_t)(magnitude * 1e6 + 0.5) : INT64_MAX;
    int size = snprintf(digits, sizeof digits, "%s%" PRId64 ".%06" PRId64, real < 0 ? "-" : "", millionths / 1000000,
                        millionths % 1000000);

    while (digits[size - 1] == '0' && digits[size - 2] != '.')
        size--;
    put(writer, digits, (size_t)size);
}

static void put_object(struct writer *writer, const char *type, const struct shape *shape, const void *source);

static bool absent(const struct field *field, const void *at)
{
    switch (field->kind) {
    case INTEGER:
    case BOOLEAN: return *(const int64_t *)at == MODIAR_ABSENT;
    case REAL: return isnan(*(const double *)at);
    case TEXT: return *(const char *const *)at == NULL;
    case REF: return ((const modiar_ref *)at)->text == NULL && ((const modiar_ref *)at)->number == MODIAR_ABSENT;
    case OBJECT:
        for (int i = 0; i < field->shape->count; i++)
            if (!absent(&field->shape->fields[i], (const char *)at + field->shape->fields[i].offset))
                return false;
        return true;
    case NUMBERS:
    case TEXTS:
    case OBJECTS:
    case MAP: break;
    }
    return *(const int *)at < 0;
}

static void put_list(struct writer *writer, const struct field *field, const char *list)
{
    int count = *(const int *)(const void *)list;

    put_word(writer, field->kind == MAP ? "{" : "[");
    for (int i = 0; i < count; i++) {
        if (i > 0)
            put_word(writer, ",");
        if (field->kind == NUMBERS) {
            put_integer(writer, ((const modiar_numbers *)(const void *)list)->at[i]);
        } else if (field->kind == TEXTS) {
            put_text(writer, ((const char *const *)(const void *)(list + field->first))[i]);
        } else {
            const void *element = list + field->first + (size_t)i * field->shape->size;
            if (field->kind == MAP) {
                put_text(writer, *(const char *const *)element);
                put_word(writer, ":");
            }
            put_object(writer, NULL, field->shape, element);
        }
    }
    put_word(writer, field->kind == MAP ? "}" : "]");
}

static void put_field(struct writer *writer, const struct field *field, const void *at)
{
    const modiar_ref *ref = at;

    switch (field->kind) {
    case INTEGER: put_integer(writer, *(const int64_t *)at); break;
    case BOOLEAN: put_word(writer, *(const int64_t *)at ? "true" : "false"); break;
    case REAL: put_real(writer, *(const double *)at); break;
    case TEXT: put_text(writer, *(const char *const *)at); break;
    case REF:
        if (ref->text != NULL)
            put_text(writer, ref->text);
        else
            put_integer(writer, ref->number);
        break;
    case OBJECT: put_object(writer, NULL, field->shape, at); break;
    case NUMBERS:
    case TEXTS:
    case OBJECTS:
    case MAP: put_list(writer, field, at);
    }
}

/* Fields that are absent are left out. `type` is written first, where there is one. */
static void put_object(struct writer *writer, const char *type, const struct shape *shape, const void *source)
{
    const char *between = "";

    put_word(writer, "{");
    if (type != NULL) {
        put_word(writer, "\"type\":");
        put_text(writer, type);
        between = ",";
    }
    for (int i = 0; i < shape->count; i++) {
        const struct field *field = &shape->fields[i];
        const void *at = (const char *)source + field->offset;
        if (absent(field, at))
            continue;
        put_word(writer, between);
        put_text(writer, field->name);
        put_word(writer, ":");
        put_field(writer, field, at);
        between = ",";
    }
    put_word(writer, "}");
}

size_t modiar_encode(const modiar_message *message, char *line, size_t size)
{
    struct writer writer = {line, line + size - 1, false};

    if (!has_shape(message->type) || size == 0)
        return 0;
    put_object(&writer, messages[message->type].name, messages[message->type].shape, payload(message));
    put_word(&writer, "\n");
    *writer.at = '\0';
    return writer.full ? 0 : (size_t)(writer.at - line);
}

/* ---- A client: what it tells ---- */

int64_t modiar_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Formats what may have come from a server: no control character reaches a terminal. */
static void format_text(char *text, size_t size, const char *format, va_list arguments)
{
    vsnprintf(text, size, format, arguments);
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = ' ';
}

static void tell(modiar_client *client, modiar_level level, const char *format, ...)
{
    char text[sizeof client->failure.text];
    va_list arguments;

    if (client->settings.log == NULL)
        return;
    va_start(arguments, format);
    format_text(text, sizeof text, format, arguments);
    va_end(arguments);
    client->settings.log(level, text, client->settings.user);
}

static modiar_status fail(modiar_client *client, modiar_status status, const char *format, ...)
{
    va_list arguments;

    client->failure = (modiar_failure){.status = status};
    va_start(arguments, format);
    format_text(client->failure.text, sizeof client->failure.text, format, arguments);
    va_end(arguments);
    return status;
}

const char *modiar_error(const modiar_client *client)
{
    return client->failure.text;
}

static const char *or_empty(const char *text)
{
    return text != NULL ? text : "";
}

static bool equal(const char *text, const char *wanted)
{
    return text != NULL && strcmp(text, wanted) == 0;
}

/* Copies a text; false where there is none or it does not fit, and then `out` is "". */
static bool copy(char *out, size_t size, const char *text)
{
    size_t length = strlen(or_empty(text));
    bool fits = text != NULL && length < size;

    memcpy(out, fits ? text : "", fits ? length + 1 : 1);
    return fits;
}

/* ---- A client: settings ---- */

/* The value of an environment variable; an empty one is as none. */
static const char *environment(const char *name, const char *otherwise)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : otherwise;
}

static modiar_status read_port(modiar_client *client)
{
    const char *port = environment("MODIAR_PORT", "6634");
    char digits[16];

    if (client->settings.port != 0) {
        if (client->settings.port < 1 || client->settings.port > 65535)
            return fail(client, MODIAR_BAD_SETTING, "port is %d: set it to a number from 1 to 65535", client->settings.port);
        return MODIAR_OK;
    }
    client->settings.port = (int)strtol(copy(digits, 6, port) ? digits : "0", NULL, 10);
    if (port[strspn(port, "0123456789")] != '\0' || client->settings.port < 1 || client->settings.port > 65535)
        return fail(client, MODIAR_BAD_SETTING, "MODIAR_PORT is '%s': set it to a number from 1 to 65535", port);
    return MODIAR_OK;
}

static modiar_status read_settings(modiar_client *client)
{
    static const char *const tls[] = {"MODIAR_TLS", "MODIAR_CA"};
    modiar_settings *settings = &client->settings;

    for (size_t i = 0; i < COUNT(tls); i++)
        if (environment(tls[i], NULL) != NULL)
            return fail(client, MODIAR_BAD_SETTING,
                        "%s is '%s': this library speaks no TLS; unset it, and let a tunnel stand between: its page shows one",
                        tls[i], environment(tls[i], ""));
    if (settings->host == NULL)
        settings->host = environment("MODIAR_HOST", "127.0.0.1");
    if (settings->name == NULL)
        settings->name = environment("MODIAR_NAME", NULL);
    if (settings->token == NULL)
        settings->token = environment("MODIAR_TOKEN", NULL);
    if (settings->games == 0)
        settings->games = 1;
    if (settings->games < 1 || settings->games > MODIAR_GAMES)
        return fail(client, MODIAR_BAD_SETTING, "games is %d: play 1 to %d at once", settings->games, MODIAR_GAMES);
    if (settings->name != NULL && !copy(client->name, sizeof client->name, settings->name))
        return fail(client, MODIAR_BAD_SETTING, "MODIAR_NAME is '%.80s': a name has at most 24 characters", settings->name);
    return read_port(client);
}

/* ---- A client: its connection ---- */

enum waited { READY, TIME, STOP };

static bool is_stopped(const modiar_client *client)
{
    return client->settings.stop != NULL && *client->settings.stop != 0 && !client->leaving;
}

/* Waits for the socket, where there is one, and no longer than `until_ms`. */
static enum waited wait_for(modiar_client *client, short events, int64_t until_ms)
{
    int64_t most = client->settings.stop != NULL ? STOP_MS : INT_MAX;

    while (!is_stopped(client)) {
        struct pollfd polled = {client->socket, events, 0};
        int64_t left = until_ms - modiar_now_ms();
        int64_t now = left < 0 ? 0 : left < most ? left : most;
        if (poll(&polled, 1, (int)now) > 0)
            return READY;
        if (left <= now)
            return TIME;
    }
    return STOP;
}

static void hang_up(modiar_client *client)
{
    if (client->socket >= 0)
        close(client->socket);
    client->socket = -1;
    if (client->moved || (client->welcomed && modiar_now_ms() - client->welcomed_ms >= HELD_MS))
        client->pause_ms = FIRST_PAUSE_MS;
    client->moved = client->welcomed = client->seeking = client->draining = false; /* these end with their connection, games do not */
    client->input_size = 0;
    client->decoder.length = 0;
    client->decoder.too_long = false;
}

static void lose(modiar_client *client, const char *why)
{
    fail(client, MODIAR_CONNECT_ERROR, "lost the connection to %s:%d: %s", client->settings.host, client->settings.port,
         why);
    if (client->was_welcomed && !client->leaving)
        tell(client, MODIAR_INFO, "%s", client->failure.text);
    hang_up(client);
}

/* Looks the server up, once: a client that comes back does not ask again, for that allocates. */
static modiar_status look_up(modiar_client *client)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found = NULL;
    char port[8];

    snprintf(port, sizeof port, "%d", client->settings.port);
    int failed = getaddrinfo(client->settings.host, port, &hints, &found);
    if (failed != 0)
        return fail(client, MODIAR_CONNECT_ERROR, "cannot connect to %s:%s: %s", client->settings.host, port,
                    gai_strerror(failed));
    for (struct addrinfo *at = found; at != NULL && client->address_count < (int)COUNT(client->addresses); at = at->ai_next) {
        if (at->ai_addrlen > sizeof client->addresses[0].bytes)
            continue;
        client->addresses[client->address_count].family = at->ai_family;
        client->addresses[client->address_count].type = at->ai_socktype;
        client->addresses[client->address_count].protocol = at->ai_protocol;
        client->addresses[client->address_count].size = (unsigned)at->ai_addrlen;
        memcpy(client->addresses[client->address_count++].bytes, at->ai_addr, at->ai_addrlen);
    }
    freeaddrinfo(found);
    return MODIAR_OK;
}

/* Connects to one address; 0, or why not. */
static int dial_address(modiar_client *client, int index)
{
    struct sockaddr_storage address;
    int failed = 0, on = 1;
    socklen_t size = sizeof failed;

    memcpy(&address, client->addresses[index].bytes, client->addresses[index].size);
    client->socket = socket(client->addresses[index].family, client->addresses[index].type, client->addresses[index].protocol);
    if (client->socket < 0)
        return errno;
    fcntl(client->socket, F_SETFD, FD_CLOEXEC);
    fcntl(client->socket, F_SETFL, O_NONBLOCK);
    /* A move is one small packet; Nagle's algorithm would hold it back on our own clock. */
    setsockopt(client->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(client->socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    if (connect(client->socket, (struct sockaddr *)&address, client->addresses[index].size) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return errno;
    if (wait_for(client, POLLOUT, modiar_now_ms() + CONNECT_MS) != READY)
        return ETIMEDOUT;
    getsockopt(client->socket, SOL_SOCKET, SO_ERROR, &failed, &size);
    return failed;
}

static modiar_status dial(modiar_client *client)
{
    int failed = EADDRNOTAVAIL;

    for (int index = 0; index < client->address_count && failed != 0; index++) {
        failed = dial_address(client, index);
        if (failed != 0)
            hang_up(client);
    }
    if (failed == 0)
        return MODIAR_OK;
    return fail(client, MODIAR_CONNECT_ERROR, "cannot connect to %s:%d: %s", client->settings.host, client->settings.port,
                strerror(failed));
}

/* Sends one line, however many writes it takes. A link that breaks meanwhile is lost. */
static void send_message(modiar_client *client, const modiar_message *message)
{
    char line[MODIAR_CLIENT_BYTES + 1];
    size_t length = modiar_encode(message, line, sizeof line);
    int64_t until_ms = modiar_now_ms() + WRITE_MS;
    bool leaving = client->leaving;

    client->leaving = true; /* half a line is worse than a late stop */
    for (size_t sent = 0; client->socket >= 0 && sent < length;) {
        ssize_t now = send(client->socket, line + sent, length - sent, MSG_NOSIGNAL);
        if (now >= 0)
            sent += (size_t)now;
        else if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
            lose(client, strerror(errno));
        else if (errno != EINTR && wait_for(client, POLLOUT, until_ms) != READY)
            lose(client, "it takes no more bytes");
    }
    client->leaving = leaving;
}

/* Reads one message into client->message; MODIAR_NOTHING where none came by then, or the link is lost. */
static modiar_type read_next(modiar_client *client, int64_t until_ms)
{
    for (;;) {
        modiar_type type = modiar_decoder_feed(&client->decoder, &client->input_at, &client->input_size, &client->message);
        if (type != MODIAR_NOTHING)
            return type;
        if (client->socket < 0 || wait_for(client, POLLIN, until_ms) != READY)
            return MODIAR_NOTHING;
        ssize_t got = recv(client->socket, client->input, sizeof client->input, 0);
        if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
            continue;
        if (got > 0 && !client->was_welcomed && client->input[0] == TLS_ALERT) {
            lose(client, "the port may speak TLS, which this library does not; its page shows a tunnel");
        } else if (got > 0) {
            client->arrival_ms = modiar_now_ms();
            client->input_at = client->input;
            client->input_size = (size_t)got;
        } else {
            lose(client, got < 0          ? strerror(errno)
                         : client->was_welcomed ? "the server closed it"
                                         : "closed without a message: MODIAR_PORT may be no port for bots");
        }
    }
}

/* ---- A client: what it says ---- */

static void say_hello(modiar_client *client)
{
    const modiar_settings *settings = &client->settings;
    char line[MODIAR_CLIENT_BYTES + 1];
    modiar_message message;

    modiar_message_clear(&message, MODIAR_HELLO);
    message.hello.ref.text = "hello";
    message.hello.protocol = MODIAR_PROTOCOL;
    message.hello.name = client->name[0] != '\0' ? client->name : NULL;
    message.hello.token = settings->token;
    message.hello.resume = client->resume[0] != '\0' ? client->resume : NULL;
    message.hello.client = "modiar-c/" MODIAR_VERSION;
    message.hello.version = settings->version;
    message.hello.games = settings->games;
    client->welcome_by_ms = modiar_now_ms() + CONNECT_MS;
    if (modiar_encode(&message, line, sizeof line) == 0)
        client->end = fail(client, MODIAR_BAD_SETTING, "name, token and version are too long for a line of %d bytes",
                           MODIAR_CLIENT_BYTES);
    else
        send_message(client, &message);
}

static void say_seek(modiar_client *client)
{
    modiar_message message;

    modiar_message_clear(&message, MODIAR_SEEK);
    message.seek.ref.text = "seek";
    message.seek.pool = client->pool;
    message.seek.games = client->wanted > 0 ? client->wanted - client->played : 0;
    client->seeking = true;
    send_message(client, &message);
}

/* What this bot has to say in a game, once more or for the first time: its move, or that it resigns. */
static void say_answer(modiar_client *client, modiar_game *game)
{
    modiar_message message;

    game->again_ms = 0;
    modiar_message_clear(&message, game->resigned ? MODIAR_RESIGN : MODIAR_MOVE);
    if (game->resigned) {
        message.resign.ref.text = message.resign.game = game->turn.game;
    } else {
        message.move.ref.text = message.move.game = game->turn.game; /* so that what was limited is known */
        message.move.pit = game->answered_pit;
        message.move.ply = game->answered_ply;
    }
    if (client->welcomed)
        send_message(client, &message);
}

static void resign(modiar_client *client, modiar_game *game)
{
    game->resigned = true;
    game->ready = false;
    say_answer(client, game);
}

/* ---- A client: its games ---- */

static modiar_game *find_game(modiar_client *client, const char *id)
{
    for (int i = 0; id != NULL && i < MODIAR_GAMES; i++)
        if (client->games[i].running && strcmp(client->games[i].turn.game, id) == 0)
            return &client->games[i];
    return NULL;
}

/* The game of this id, a new one where it is not known; NULL where there is no room, or no id. */
static modiar_game *get_game(modiar_client *client, const char *id)
{
    modiar_game *game = find_game(client, id);

    for (int i = 0; game == NULL && i < MODIAR_GAMES; i++) {
        if (client->games[i].running)
            continue;
        client->games[i] = (modiar_game){.turn.side = MODIAR_NO_SIDE};
        if (!copy(client->games[i].turn.game, MODIAR_ID_BYTES, id))
            break;
        client->games[i].running = true;
        return &client->games[i];
    }
    if (game == NULL)
        tell(client, MODIAR_WARNING, "skipped a game that has no id, a long one, or no room");
    return game;
}

static int count_running(const modiar_client *client)
{
    int count = 0;

    for (int i = 0; i < MODIAR_GAMES; i++)
        count += client->games[i].running;
    return count;
}

static modiar_side side_of(const char *text)
{
    return equal(text, "south") ? MODIAR_SOUTH : equal(text, "north") ? MODIAR_NORTH : MODIAR_NO_SIDE;
}

static bool between(int64_t least, int64_t number, int64_t most)
{
    return least <= number && number <= most;
}

/* Takes pits over from a message; returns how many, 0 where they are none. */
static int read_legal(const modiar_numbers *numbers, int legal[MODIAR_LEGAL])
{
    if (!between(1, numbers->count, MODIAR_LEGAL))
        return 0;
    for (int i = 0; i < numbers->count; i++) {
        if (!between(0, numbers->at[i], MODIAR_PITS - 1))
            return 0;
        legal[i] = (int)numbers->at[i];
    }
    return numbers->count;
}

/* What a `turn` says, over what is known of its game; false where it makes no sense. */
static bool read_turn(const modiar_wire_turn *wire, modiar_turn *turn)
{
    modiar_position *position = &turn->position;

    turn->side = side_of(wire->side);
    turn->ply = wire->ply;
    turn->legal_count = read_legal(&wire->legal, turn->legal);
    turn->remaining_ms[MODIAR_SOUTH] = wire->remaining_ms.south;
    turn->remaining_ms[MODIAR_NORTH] = wire->remaining_ms.north;
    if (turn->side == MODIAR_NO_SIDE || turn->legal_count == 0 || !between(1, turn->ply, UINT32_MAX) ||
        !between(0, turn->remaining_ms[0], INT64_MAX / 2) || !between(0, turn->remaining_ms[1], INT64_MAX / 2) ||
        wire->pits.count != MODIAR_PITS || !between(0, wire->captured.south, MODIAR_SEEDS) ||
        !between(0, wire->captured.north, MODIAR_SEEDS))
        return false;
    for (int pit = 0; pit < MODIAR_PITS; pit++) {
        if (!between(0, wire->pits.at[pit], MODIAR_SEEDS))
            return false;
        position->pits[pit] = (int)wire->pits.at[pit];
    }
    position->captured[MODIAR_SOUTH] = (int)wire->captured.south;
    position->captured[MODIAR_NORTH] = (int)wire->captured.north;
    position->side = turn->side;
    position->ply = turn->ply;
    turn->last.ply = 0;
    if (between(1, wire->last.ply, UINT32_MAX) && between(0, wire->last.pit, MODIAR_PITS - 1)) {
        turn->last.ply = wire->last.ply;
        turn->last.side = side_of(wire->last.side);
        turn->last.pit = (int)wire->last.pit;
        turn->last.taken = between(0, wire->last.taken, MODIAR_SEEDS) ? (int)wire->last.taken : 0;
        turn->last.elapsed_ms = wire->last.elapsed_ms == MODIAR_ABSENT ? 0 : wire->last.elapsed_ms;
    }
    return true;
}

static void on_turn(modiar_client *client, const modiar_wire_turn *wire)
{
    modiar_game *game = get_game(client, wire->game);

    if (game == NULL)
        return;
    client->moved = client->moved || (game->answered_ply > 0 && game->answered_ply == game->turn.ply &&
                                      wire->ply != game->turn.ply);
    if (game->resigned || (wire->ply == game->answered_ply && game->answered_ply > 0)) {
        say_answer(client, game); /* it may not have got through; the ply keeps it from counting twice */
        return;
    }
    game->again = 0;
    game->ready = read_turn(wire, &game->turn);
    if (game->ready)
        game->turn.deadline_ms = client->arrival_ms + game->turn.remaining_ms[game->turn.side];
    else
        tell(client, MODIAR_WARNING, "skipped a turn of game %s that makes no sense", game->turn.game);
}

static void on_started(modiar_client *client, const modiar_wire_started *wire)
{
    modiar_side side = side_of(wire->side);
    modiar_game *game = side == MODIAR_NO_SIDE ? NULL : get_game(client, wire->game);

    if (game == NULL)
        return;
    game->turn.side = side;
    game->turn.rated = wire->rated == 1;
    copy(game->turn.opponent, sizeof game->turn.opponent, side == MODIAR_SOUTH ? wire->north.name : wire->south.name);
    copy(game->turn.pool, sizeof game->turn.pool, wire->pool);
    tell(client, MODIAR_INFO, "%s game %s as %s against %s, pool %s", wire->resumed == 1 ? "back in" : "in",
         game->turn.game, modiar_side_text(side), game->turn.opponent, game->turn.pool);
    if (client->leaving)
        resign(client, game);
}

/* Whether the end of this game was told before; from now on it was. */
static bool told_before(modiar_client *client, const char *id)
{
    for (size_t i = 0; i < COUNT(client->over); i++)
        if (strcmp(client->over[i], id) == 0)
            return true;
    copy(client->over[client->over_next], MODIAR_ID_BYTES, id);
    client->over_next = (client->over_next + 1) % COUNT(client->over);
    return false;
}

static void on_ended(modiar_client *client, const modiar_wire_ended *wire)
{
    modiar_game *game = find_game(client, wire->game);
    modiar_ended ended = {.side = game != NULL ? game->turn.side : MODIAR_NO_SIDE, .detail_pit = -1};

    if (game != NULL) {
        game->running = false;
        client->moved = client->moved || game->answered_ply > 0;
    }
    if (!copy(ended.game, sizeof ended.game, wire->game) || told_before(client, wire->game))
        return;
    copy(ended.result, sizeof ended.result, wire->result);
    copy(ended.termination, sizeof ended.termination, wire->termination);
    ended.score[MODIAR_SOUTH] = between(0, wire->score.south, MODIAR_SEEDS) ? (int)wire->score.south : 0;
    ended.score[MODIAR_NORTH] = between(0, wire->score.north, MODIAR_SEEDS) ? (int)wire->score.north : 0;
    ended.rating_before = wire->rating.before;
    ended.rating_after = wire->rating.after;
    ended.rating_rd = wire->rating.rd;
    if (between(0, wire->detail.pit, MODIAR_PITS - 1))
        ended.detail_pit = (int)wire->detail.pit;
    copy(ended.detail_clause, sizeof ended.detail_clause, wire->detail.clause);
    ended.detail_legal_count = read_legal(&wire->detail.legal, ended.detail_legal);
    if (strcmp(ended.result, "none") == 0)
        tell(client, MODIAR_INFO, "game %s was %s: it does not count as played", ended.game, ended.termination);
    else
        client->played++;
    if (client->settings.ended != NULL)
        client->settings.ended(&ended, client->settings.user);
}

/* ---- A client: what it hears ---- */

static bool lists(const modiar_wire_games *games, const char *id)
{
    for (int i = 0; i < games->count; i++)
        if (strcmp(games->at[i], id) == 0)
            return true;
    return false;
}

static void on_welcome(modiar_client *client, const modiar_wire_welcome *wire)
{
    bool back = client->was_welcomed;

    client->was_welcomed = client->welcomed = true;
    client->welcomed_ms = client->arrival_ms;
    client->tries = client->refused = 0;
    copy(client->name, sizeof client->name, wire->bot.name); /* who comes back without a name is somebody else */
    copy(client->resume, sizeof client->resume, wire->resume);
    if (back)
        tell(client, MODIAR_INFO, "back as %s", client->name);
    else
        tell(client, MODIAR_INFO, "playing as %s on %s", client->name, or_empty(wire->server));
    for (int i = 0; i < wire->missed.count; i++) {
        /* What was missed before this program began is none of its games. */
        if (back)
            on_ended(client, &wire->missed.at[i]);
        else if (wire->missed.at[i].game != NULL)
            told_before(client, wire->missed.at[i].game);
    }
    for (int i = 0; i < MODIAR_GAMES; i++)
        client->games[i].running = client->games[i].running && lists(&wire->games, client->games[i].turn.game);
    for (int i = 0; i < wire->games.count; i++) /* `started` and `turn` of each follow */
        get_game(client, wire->games.at[i]);
}

/* Whether as many games were played as were wanted. */
static bool is_enough(const modiar_client *client)
{
    return client->wanted > 0 && client->played >= client->wanted;
}

static void on_seek_ended(modiar_client *client, const modiar_wire_seek_ended *wire)
{
    struct timespec now;

    client->seeking = false;
    if (equal(wire->reason, "penalised") && between(0, wire->until_ms, INT64_MAX / 4)) {
        clock_gettime(CLOCK_REALTIME, &now);
        int64_t pause_ms = wire->until_ms - ((int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
        pause_ms = pause_ms > 0 ? pause_ms : 0;
        tell(client, MODIAR_WARNING, "the seek ended, penalised: %s; the next seek may come in %" PRId64 " s",
             or_empty(wire->message), (pause_ms + 999) / 1000);
        client->seek_at_ms = modiar_now_ms() + pause_ms + 1000; /* a little later: clocks differ */
    } else if (equal(wire->reason, "draining")) {
        tell(client, MODIAR_INFO, "the seek ended, draining");
        client->draining = true; /* until the server has gone and come back */
    } else if (equal(wire->reason, "cancelled")) {
        client->cancelled = true;
    } else if (!is_enough(client)) {
        tell(client, MODIAR_WARNING, "the seek ended, %s", or_empty(wire->reason));
        client->seek_at_ms = modiar_now_ms() + SEEK_AGAIN_MS;
    }
}

/* A server's error that ends it all. */
static void end_by_error(modiar_client *client, modiar_status status, const modiar_wire_error *wire)
{
    client->end = fail(client, status, "error %s: %s", or_empty(wire->code), or_empty(wire->message));
    client->failure.code = modiar_code_of(wire->code);
    client->failure.fatal = wire->fatal == 1;
    copy(client->failure.field, sizeof client->failure.field, wire->field);
    copy(client->failure.clause, sizeof client->failure.clause, wire->clause);
}

/* A guest of whom the server knows no more, and who has nothing to lose, comes back as a new one. */
static bool begins_anew(modiar_client *client)
{
    bool can = client->was_welcomed && client->settings.token == NULL && client->resume[0] != '\0' &&
               count_running(client) == 0;

    if (can)
        client->name[0] = client->resume[0] = '\0';
    return can;
}

/* No second hello or seek would change these. */
static bool is_for_good(modiar_code code)
{
    return code == MODIAR_CODE_BAD_PROTOCOL || code == MODIAR_CODE_BAD_FIELD || code == MODIAR_CODE_UNKNOWN_POOL;
}

static void on_hello_refused(modiar_client *client, const modiar_wire_error *wire)
{
    switch (modiar_code_of(wire->code)) {
    case MODIAR_CODE_AUTH_FAILED:
    case MODIAR_CODE_NAME_TAKEN:
    case MODIAR_CODE_BAD_NAME:
    case MODIAR_CODE_REGISTRATION_CLOSED:
    case MODIAR_CODE_GUESTS_CLOSED:
        client->refused++;
        if (begins_anew(client) || (client->was_welcomed && client->refused < 2))
            lose(client, "the server does not know this bot");
        else
            end_by_error(client, MODIAR_AUTH_ERROR, wire);
        break;
    default:
        if (client->was_welcomed && !is_for_good(modiar_code_of(wire->code)))
            lose(client, or_empty(wire->code));
        else
            end_by_error(client, MODIAR_PROTOCOL_ERROR, wire);
    }
}

static void on_seek_refused(modiar_client *client, const modiar_wire_error *wire)
{
    modiar_code code = modiar_code_of(wire->code);

    client->seeking = code == MODIAR_CODE_ALREADY_SEEKING;
    if (code == MODIAR_CODE_TOO_MANY_CONNECTIONS || code == MODIAR_CODE_DRAINING)
        lose(client, wire->code);
    else if (is_for_good(code))
        end_by_error(client, MODIAR_PROTOCOL_ERROR, wire);
    else
        client->seek_at_ms = modiar_now_ms() + SEEK_AGAIN_MS;
}

/* The turn is handed out once more, with what the server calls legal; then it is enough. */
static void on_forgiven(modiar_client *client, modiar_game *game, const modiar_wire_error *wire)
{
    int legal[MODIAR_LEGAL], count = read_legal(&wire->legal, legal);

    if (count == 0 || game->forgiven_ply == game->turn.ply) {
        resign(client, game);
        return;
    }
    memcpy(game->turn.legal, legal, sizeof legal);
    game->turn.legal_count = count;
    game->forgiven_ply = game->turn.ply;
    game->answered_ply = 0;
    game->ready = true;
}

static void on_error(modiar_client *client, const modiar_wire_error *wire)
{
    modiar_game *game = find_game(client, wire->game != NULL ? wire->game : wire->ref.text);
    modiar_code code = modiar_code_of(wire->code);

    if (!client->welcomed) {
        on_hello_refused(client, wire);
    } else if (equal(wire->ref.text, "seek")) {
        on_seek_refused(client, wire);
    } else if (game != NULL && code == MODIAR_CODE_ILLEGAL_MOVE && game->answered_ply == game->turn.ply) {
        on_forgiven(client, game, wire);
    } else if (game != NULL && code == MODIAR_CODE_RATE_LIMITED && game->again < AGAIN_TRIES) {
        game->again++;
        game->again_ms = modiar_now_ms() + AGAIN_MS;
    }
    if (client->end == MODIAR_OK) /* else it is the failure, for the caller to tell */
        tell(client, MODIAR_WARNING, "error %s: %s", or_empty(wire->code), or_empty(wire->message));
}

static void on_goodbye(modiar_client *client, const modiar_wire_goodbye *wire)
{
    static const char *const for_good[] = {"banned", "replaced", "flood", "handshake", "line_too_long"};

    if (equal(wire->reason, "bye") && client->leaving) {
        hang_up(client);
        return;
    }
    for (size_t i = 0; i < COUNT(for_good); i++)
        if (!client->was_welcomed || equal(wire->reason, for_good[i]))
            client->end = fail(client, MODIAR_PROTOCOL_ERROR, "goodbye %s: %s", wire->reason, or_empty(wire->message));
    if (client->end == MODIAR_OK) {
        tell(client, MODIAR_WARNING, "goodbye %s: %s", or_empty(wire->reason), or_empty(wire->message));
        lose(client, "the server said goodbye");
    } else {
        hang_up(client);
    }
}

/* What a newer server says beyond this library is no error, and told once. */
static void tell_unknown(modiar_client *client, const modiar_message *message)
{
    if (message->type == MODIAR_UNKNOWN && !client->told_type) {
        client->told_type = true;
        tell(client, MODIAR_DEBUG, "ignored a message of the unknown type '%s'", or_empty(message->type_text));
    } else if (message->unknown_field != NULL && !client->told_field) {
        client->told_field = true;
        tell(client, MODIAR_DEBUG, "ignored the unknown field '%s' of %s", message->unknown_field, message->type_text);
    }
}

static void hear(modiar_client *client)
{
    const modiar_message *message = &client->message;
    char why[80];

    tell_unknown(client, message);
    switch (message->type) {
    case MODIAR_NO_JSON: tell(client, MODIAR_WARNING, "skipped a line that is no JSON object"); break;
    case MODIAR_TOO_LONG:
        snprintf(why, sizeof why, "the server sent a line longer than %d bytes", MODIAR_LINE_BYTES);
        lose(client, why);
        break;
    case MODIAR_WELCOME: on_welcome(client, &message->welcome); break;
    case MODIAR_SEEKING:
        tell(client, MODIAR_INFO, "in %s: %s", or_empty(message->seeking.pool),
             message->seeking.reason != NULL ? message->seeking.reason : "seeking");
        break;
    case MODIAR_SEEK_ENDED: on_seek_ended(client, &message->seek_ended); break;
    case MODIAR_STARTED: on_started(client, &message->started); break;
    case MODIAR_TURN: on_turn(client, &message->turn); break;
    case MODIAR_ENDED: on_ended(client, &message->ended); break;
    case MODIAR_ERROR: on_error(client, &message->error); break;
    case MODIAR_NOTICE:
        tell(client, MODIAR_WARNING, "notice %s: %s", or_empty(message->notice.code), or_empty(message->notice.message));
        client->draining = client->draining || equal(message->notice.code, "draining");
        break;
    case MODIAR_GOODBYE: on_goodbye(client, &message->goodbye); break;
    default: break;
    }
}

/* ---- A client: its life ---- */

/* A random time up to the pause, which doubles: not all bots are to come at once. */
static int64_t next_pause(modiar_client *client)
{
    client->chance ^= client->chance << 13; /* Marsaglia's xorshift */
    client->chance ^= client->chance >> 7;
    client->chance ^= client->chance << 17;
    int64_t pause_ms = (int64_t)(client->chance % (uint64_t)(client->pause_ms + 1));
    client->pause_ms = client->pause_ms * 2 < LAST_PAUSE_MS ? client->pause_ms * 2 : LAST_PAUSE_MS;
    return pause_ms;
}

static void come_back(modiar_client *client)
{
    if (client->tries == IDLE_TRIES && count_running(client) == 0) {
        client->end = MODIAR_CONNECT_ERROR; /* the failure is that of the last try */
        return;
    }
    client->tries += client->tries < IDLE_TRIES;
    if (wait_for(client, 0, modiar_now_ms() + next_pause(client)) == STOP)
        return;
    if (dial(client) == MODIAR_OK)
        say_hello(client);
    else
        tell(client, MODIAR_INFO, "%s", client->failure.text);
}

/* Hears one message, or waits until then at most, or tries once to come back. */
static void step(modiar_client *client, int64_t until_ms)
{
    if (client->socket < 0)
        come_back(client);
    else if (read_next(client, until_ms) != MODIAR_NOTHING)
        hear(client);
    else if (client->socket >= 0 && !client->welcomed && modiar_now_ms() >= client->welcome_by_ms)
        lose(client, "no welcome came");
}

static int64_t earlier(int64_t one, int64_t other_one)
{
    return one < other_one ? one : other_one;
}

/* Sends what was limited and is due again; returns when the next is. */
static int64_t say_again(modiar_client *client)
{
    int64_t next_ms = INT64_MAX, now_ms = modiar_now_ms();

    for (int i = 0; i < MODIAR_GAMES; i++) {
        modiar_game *game = &client->games[i];
        if (!game->running || game->again_ms == 0)
            continue;
        if (game->again_ms <= now_ms)
            say_answer(client, game);
        else
            next_ms = earlier(next_ms, game->again_ms);
    }
    return next_ms;
}

static bool is_finished(const modiar_client *client)
{
    bool over = !client->playing || client->cancelled || is_enough(client);

    return over && !client->seeking && count_running(client) == 0;
}

/* Seeks where nothing is played and nothing sought; returns when to look again. */
static int64_t keep_seeking(modiar_client *client)
{
    if (!client->playing || client->seeking || client->draining || count_running(client) > 0)
        return INT64_MAX;
    if (client->seek_at_ms > modiar_now_ms())
        return client->seek_at_ms;
    say_seek(client);
    return INT64_MAX;
}

static bool hand_out(modiar_client *client, modiar_turn *turn)
{
    for (int i = 0; i < MODIAR_GAMES; i++) {
        if (client->games[i].running && client->games[i].ready) {
            client->games[i].ready = false;
            *turn = client->games[i].turn;
            return true;
        }
    }
    return false;
}

modiar_status modiar_connect(modiar_client *client, const modiar_settings *settings)
{
    memset(client, 0, sizeof *client);
    client->socket = -1;
    client->pause_ms = FIRST_PAUSE_MS;
    client->chance = ((uint64_t)modiar_now_ms() << 20 ^ (uint64_t)getpid() ^ (uint64_t)(uintptr_t)client << 32) | 1;
    if (settings != NULL)
        client->settings = *settings;
    client->end = read_settings(client);
    if (client->end == MODIAR_OK)
        client->end = look_up(client);
    if (client->end == MODIAR_OK)
        client->end = dial(client);
    if (client->end == MODIAR_OK)
        say_hello(client);
    while (client->end == MODIAR_OK && !client->welcomed && !is_stopped(client)) {
        step(client, client->welcome_by_ms);
        if (client->end == MODIAR_OK && client->socket < 0)
            client->end = MODIAR_CONNECT_ERROR; /* waiting mends no wrong port */
    }
    if (is_stopped(client) && client->end != MODIAR_BAD_SETTING)
        client->end = fail(client, MODIAR_STOPPED, "stopped");
    if (client->end != MODIAR_OK)
        hang_up(client);
    return client->end;
}

modiar_status modiar_turns(modiar_client *client, const char *pool, int64_t games)
{
    if (!copy(client->pool, sizeof client->pool, pool))
        return fail(client, MODIAR_BAD_SETTING, "the pool is no name of at most %d bytes", MODIAR_POOL_BYTES - 1);
    if (!between(0, games, 1000000))
        return fail(client, MODIAR_BAD_SETTING, "games is %" PRId64 ": play 0 to 1000000", games);
    client->wanted = games;
    client->played = 0;
    client->cancelled = false;
    client->playing = true;
    return MODIAR_OK;
}

modiar_status modiar_next_turn(modiar_client *client, modiar_turn *turn)
{
    while (client->end == MODIAR_OK) {
        int64_t until_ms = client->welcome_by_ms;
        if (is_stopped(client))
            return fail(client, MODIAR_STOPPED, "stopped");
        if (hand_out(client, turn))
            return MODIAR_OK;
        if (is_finished(client))
            return MODIAR_DONE;
        if (client->welcomed)
            until_ms = earlier(keep_seeking(client), say_again(client));
        step(client, until_ms);
    }
    return client->end;
}

modiar_status modiar_play_raw(modiar_client *client, const modiar_turn *turn, int pit)
{
    modiar_game *game = find_game(client, turn->game);

    if (game == NULL || game->turn.ply != turn->ply || game->resigned)
        return MODIAR_OK; /* the game went on without this answer */
    game->answered_ply = turn->ply;
    game->answered_pit = pit;
    game->ready = false;
    say_answer(client, game);
    return MODIAR_OK;
}

modiar_status modiar_play(modiar_client *client, const modiar_turn *turn, int pit)
{
    for (int i = 0; i < turn->legal_count; i++)
        if (turn->legal[i] == pit)
            return modiar_play_raw(client, turn, pit);
    const char *broken = modiar_position_clause(&turn->position, pit);
    fail(client, MODIAR_ILLEGAL_MOVE, "pit %d breaks %s in game %s at ply %" PRId64, pit,
         broken != NULL ? broken : "what the server calls legal", turn->game, turn->ply);
    copy(client->failure.clause, sizeof client->failure.clause, broken);
    return MODIAR_ILLEGAL_MOVE;
}

modiar_status modiar_resign(modiar_client *client, const modiar_turn *turn)
{
    modiar_game *game = find_game(client, turn->game);

    if (game != NULL)
        resign(client, game);
    return MODIAR_OK;
}

/* Says bye, and hears what comes before the goodbye. */
static void say_bye(modiar_client *client, int64_t until_ms)
{
    modiar_message message;

    modiar_message_clear(&message, MODIAR_BYE);
    if (client->welcomed)
        send_message(client, &message);
    while (client->welcomed && modiar_now_ms() < until_ms && read_next(client, until_ms) != MODIAR_NOTHING)
        hear(client);
    hang_up(client);
}

void modiar_leave(modiar_client *client)
{
    int64_t until_ms = modiar_now_ms() + LEAVE_MS;
    modiar_message message;

    client->leaving = true;
    modiar_message_clear(&message, MODIAR_UNSEEK);
    message.unseek.pool = client->pool;
    if (client->seeking)
        send_message(client, &message);
    for (int i = 0; i < MODIAR_GAMES; i++)
        if (client->games[i].running)
            resign(client, &client->games[i]);
    while (client->welcomed && (client->seeking || count_running(client) > 0) && modiar_now_ms() < until_ms &&
           read_next(client, until_ms) != MODIAR_NOTHING)
        hear(client);
    say_bye(client, until_ms);
}

void modiar_close(modiar_client *client)
{
    client->leaving = true;
    say_bye(client, modiar_now_ms() + GOODBYE_MS);
}

/* ---- A whole program ---- */

enum { EXIT_GOOD = 0, EXIT_USAGE = 2, EXIT_COULD_NOT = 3, EXIT_INTERRUPTED = 130 };

/* The one variable outside of a client: a signal's handler has nothing else to write to. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    if (interrupted)
        _exit(EXIT_INTERRUPTED);
    interrupted = 1;
}

/* Listens to Ctrl-C, where nobody else does; returns whether it does. */
static bool listen_to_interrupts(struct sigaction *before)
{
    struct sigaction action;

    interrupted = 0;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    return sigaction(SIGINT, NULL, before) == 0 && before->sa_handler == SIG_DFL && sigaction(SIGINT, &action, NULL) == 0;
}

/* `user` are the settings that the program gave. */
static void print_log(modiar_level level, const char *text, void *user)
{
    const modiar_settings *settings = user;

    if (settings->log != NULL)
        settings->log(level, text, settings->user);
    else if (level > MODIAR_DEBUG)
        fprintf(stderr, "%s\n", text);
}

static void print_ended(const modiar_ended *ended, void *user)
{
    const modiar_settings *settings = user;
    char text[160];
    int size = 0;

    printf("%s %s %s %s %d-%d\n", ended->game, ended->result, ended->termination, modiar_side_text(ended->side),
           ended->score[MODIAR_SOUTH], ended->score[MODIAR_NORTH]);
    fflush(stdout);
    if (ended->detail_pit >= 0) {
        size = snprintf(text, sizeof text, "pit %d breaks %s; legal were", ended->detail_pit, ended->detail_clause);
        for (int i = 0; i < ended->detail_legal_count; i++)
            size += snprintf(text + size, sizeof text - (size_t)size, " %d", ended->detail_legal[i]);
        print_log(MODIAR_WARNING, text, user);
    }
    if (settings->ended != NULL)
        settings->ended(ended, settings->user);
}

/* One turn; where choose gives no legal pit the game is given up. */
static modiar_status answer_turn(modiar_client *client, const modiar_turn *turn, modiar_choose choose, void *user)
{
    char text[MODIAR_POSITION_BYTES];
    int pit = choose(turn, user);

    if (modiar_play(client, turn, pit) == MODIAR_OK)
        return MODIAR_OK;
    tell(client, MODIAR_WARNING, "choose failed in game %s at ply %" PRId64 ", position %s: %s", turn->game, turn->ply,
         modiar_position_text(&turn->position, text), client->failure.text);
    modiar_resign(client, turn);
    return client->settings.strict ? MODIAR_CHOOSE_FAILED : MODIAR_OK;
}

static modiar_status play_all(modiar_client *client, modiar_choose choose, void *user)
{
    modiar_turn turn;
    modiar_status status = modiar_next_turn(client, &turn);

    while (status == MODIAR_OK) {
        status = answer_turn(client, &turn, choose, user);
        if (status == MODIAR_OK)
            status = modiar_next_turn(client, &turn);
    }
    return status;
}

int modiar_run(const modiar_settings *settings, const char *pool, int64_t games, modiar_choose choose, void *user)
{
    modiar_settings given = settings != NULL ? *settings : (modiar_settings){0}, used = given;
    struct sigaction before;
    modiar_client client;
    bool listens = given.stop == NULL && listen_to_interrupts(&before);

    used.log = print_log;
    used.ended = print_ended;
    used.user = &given;
    if (listens)
        used.stop = &interrupted;
    modiar_status status = modiar_connect(&client, &used);
    if (status == MODIAR_OK)
        status = modiar_turns(&client, pool, games);
    if (status == MODIAR_OK)
        status = play_all(&client, choose, user);
    if (status != MODIAR_DONE && status != MODIAR_STOPPED && status != MODIAR_CHOOSE_FAILED)
        tell(&client, MODIAR_WARNING, "%s", modiar_error(&client));
    if (status == MODIAR_STOPPED)
        modiar_leave(&client);
    else
        modiar_close(&client);
    if (listens)
        sigaction(SIGINT, &before, NULL);
    return status == MODIAR_DONE          ? EXIT_GOOD
         : status == MODIAR_BAD_SETTING ? EXIT_USAGE
         : status == MODIAR_STOPPED     ? EXIT_INTERRUPTED
                                        : EXIT_COULD_NOT;
}
