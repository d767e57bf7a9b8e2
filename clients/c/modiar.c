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
