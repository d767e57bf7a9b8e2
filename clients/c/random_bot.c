/*
 * A bot that plays any legal pit, each as likely as the other. C11 and POSIX, this one file, no library.
 *
 * MODIAR_HOST, MODIAR_PORT   the server (default 127.0.0.1, 6634)
 * MODIAR_NAME, MODIAR_TOKEN  who plays; without a name the server takes the bot as a guest
 * -g GAMES  how many to play, one after the other (default 1; 0: until stopped)
 * -p POOL   the pool to play in (default practice)
 * -s SEED   the same seed makes the same choices
 *
 * One line a game goes to stdout, everything meant for a person to stderr. There is no JSON parser
 * here: `member` walks a line far enough to find a field of the message itself, never one of an
 * object inside it or a piece of a string. All memory is the two buffers below.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    SERVER_LINE = 16 * 1024, /* bytes, newline included: the longest line a server may send */
    CLIENT_LINE = 4096,      /* bytes, newline included: the longest line a server accepts */
    PITS = 6,
    GAME_ID = 128,           /* bytes, more than any game's name */
    TLS_ALERT = 0x15         /* begins the answer of a port that speaks TLS; no line does */
};

enum status { DONE = 0, USAGE = 2, COULD_NOT = 3 };

struct bot {
    int socket;
    const char *pool;
    int games;
    enum status status;      /* DONE once every game is played */
    int running;             /* games started and not ended */
    bool sought;             /* the seek is over, well or not */
    bool leaving;            /* bye is sent, or nothing is left to wait for */
    char input[SERVER_LINE]; /* what is read and not yet a whole line */
    size_t length;
};

/* ---- Reading a message ---- */

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\r");
}

/* `at` is the opening quote; returns what follows the closing one, or the end of a line cut short. */
static const char *skip_string(const char *at)
{
    for (at++; *at != '\0' && *at != '"'; at++)
        if (*at == '\\' && at[1] != '\0')
            at++;
    return *at == '"' ? at + 1 : at;
}

/* The value of the field `key` of the message on `line`, or NULL. */
static const char *member(const char *line, const char *key)
{
    size_t size = strlen(key);
    int depth = 0;

    for (const char *at = line; *at != '\0';) {
        if (*at == '"') {
            const char *start = at + 1;
            at = skip_string(at);
            const char *colon = skip_space(at);
            if (depth == 1 && *colon == ':' && (size_t)(at - start) == size + 1 && memcmp(start, key, size) == 0)
                return skip_space(colon + 1);
            continue;
        }
        if (*at == '{' || *at == '[')
            depth++;
        if (*at == '}' || *at == ']')
            depth--;
        at++;
    }
    return NULL;
}

/* Copies the string field `key`, escapes as they stand; an absent or too long one is "". */
static const char *text(const char *line, const char *key, char *out, size_t size)
{
    const char *value = member(line, key);

    out[0] = '\0';
    if (value != NULL && *value == '"') {
        const char *end = skip_string(value);
        size_t length = (size_t)(end - value) - 1;
        if (end[-1] == '"' && length > 0 && length <= size) {
            memcpy(out, value + 1, length - 1);
            out[length - 1] = '\0';
        }
    }
    return out;
}

/* The pits of `legal`, into `pits`; returns how many there are, 0 where the field makes no sense. */
static int legal_pits(const char *line, int pits[PITS])
{
    const char *at = member(line, "legal");
    int count = 0;

    if (at == NULL || *at != '[')
        return 0;
    for (at = skip_space(at + 1); *at >= '0' && *at < '0' + PITS && count < PITS; at = skip_space(at)) {
        pits[count++] = *at - '0';
        at = skip_space(at + 1);
        if (*at == ']')
            return count;
        if (*at != ',')
            return 0;
        at++;
    }
    return 0;
}

/* ---- Writing one ---- */

/* Sends one line, however many writes it takes. */
static bool send_line(const struct bot *bot, const char *line)
{
    size_t left = strlen(line);

    while (left > 0) {
        ssize_t sent = send(bot->socket, line, left, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0) {
            fprintf(stderr, "cannot send: %s\n", strerror(errno));
            return false;
        }
        line += sent;
        left -= (size_t)sent;
    }
    return true;
}

/* Names, tokens and pools go into a JSON string as they are: only what needs no escape is taken. */
static bool plain(const char *what, const char *value)
{
    for (const char *at = value; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' || (unsigned char)*at > '~' || *at == '"' || *at == '\\') {
            fprintf(stderr, "%s may hold printable ASCII without quotes and backslashes only\n", what);
            return false;
        }
    }
    return true;
}

static const char *setting(const char *name, const char *fallback)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : fallback;
}

static bool send_hello(const struct bot *bot)
{
    char line[CLIENT_LINE + 1];
    const char *name = setting("MODIAR_NAME", "");
    const char *token = setting("MODIAR_TOKEN", "");
    int size = snprintf(line, sizeof line,
                        "{\"type\":\"hello\",\"protocol\":1,\"client\":\"modiar random_bot.c\",\"ref\":\"start\""
                        "%s%s%s%s%s%s}\n",
                        *name ? ",\"name\":\"" : "", name, *name ? "\"" : "",
                        *token ? ",\"token\":\"" : "", token, *token ? "\"" : "");

    if (size < 0 || (size_t)size >= sizeof line) {
        fprintf(stderr, "name and token are too long for a line of %d bytes\n", CLIENT_LINE);
        return false;
    }
    return send_line(bot, line);
}

static bool send_seek(const struct bot *bot)
{
    char line[CLIENT_LINE + 1];
    int size = snprintf(line, sizeof line, "{\"type\":\"seek\",\"pool\":\"%s\",\"games\":%d,\"ref\":\"start\"}\n",
                        bot->pool, bot->games);

    if (size < 0 || (size_t)size >= sizeof line) {
        fprintf(stderr, "the pool's name is too long for a line of %d bytes\n", CLIENT_LINE);
        return false;
    }
    return send_line(bot, line);
}

/* ---- Playing ---- */

static bool play_turn(const struct bot *bot, const char *message)
{
    char game[GAME_ID], line[CLIENT_LINE];
    int pits[PITS];
    int count = legal_pits(message, pits);
    const char *ply = member(message, "ply");

    text(message, "game", game, sizeof game);
    if (count == 0 || ply == NULL || game[0] == '\0') {
        fprintf(stderr, "skipped a turn without game, ply or legal pits\n");
        return true;
    }
    snprintf(line, sizeof line, "{\"type\":\"move\",\"game\":\"%s\",\"pit\":%d,\"ply\":%ld}\n",
             game, pits[rand() % count], strtol(ply, NULL, 10));
    return send_line(bot, line);
}

static void print_ended(const char *message)
{
    char game[GAME_ID], result[16], termination[32];

    printf("%s %s %s\n", text(message, "game", game, sizeof game), text(message, "result", result, sizeof result),
           text(message, "termination", termination, sizeof termination));
    fflush(stdout);
}

/* A named bot may have come back to a game that outlasts its seek: that one is played out first. */
static bool bye_when_free(struct bot *bot)
{
    bot->leaving = bot->sought && bot->running == 0;
    return !bot->leaving || send_line(bot, "{\"type\":\"bye\"}\n");
}

static bool end_seek(struct bot *bot, const char *message)
{
    char reason[64], words[1024];

    bot->sought = true;
    if (strcmp(text(message, "reason", reason, sizeof reason), "done") == 0)
        bot->status = DONE;
    else
        fprintf(stderr, "the seek ended, %s %s\n", reason, text(message, "message", words, sizeof words));
    return bye_when_free(bot);
}

/* Answers one message; false where the connection is of no more use. */
static bool answer(struct bot *bot, const char *message)
{
    char type[32], code[64], words[1024];

    text(message, "type", type, sizeof type);
    if (strcmp(type, "welcome") == 0)
        return send_seek(bot);
    if (strcmp(type, "turn") == 0)
        return play_turn(bot, message);
    if (strcmp(type, "seek_ended") == 0)
        return end_seek(bot, message);
    if (strcmp(type, "seeking") == 0) {
        const char *reason = text(message, "reason", words, sizeof words);
        fprintf(stderr, "in %s: %s\n", bot->pool, *reason ? reason : "seeking");
    } else if (strcmp(type, "started") == 0) {
        bot->running++;
    } else if (strcmp(type, "ended") == 0) {
        bot->running--;
        print_ended(message);
        return bye_when_free(bot);
    } else if (strcmp(type, "error") == 0) {
        fprintf(stderr, "error %s: %s\n", text(message, "code", code, sizeof code),
                text(message, "message", words, sizeof words));
        /* Only hello and seek carry a ref: with one of them refused no game will come. */
        bot->leaving = member(message, "ref") != NULL;
        return !bot->leaving;
    } else if (strcmp(type, "goodbye") == 0 && !bot->leaving) {
        fprintf(stderr, "goodbye: %s\n", text(message, "message", words, sizeof words));
    }
    return true; /* a newer server may say more than this bot understands */
}

/* Answers every whole line of the input and keeps the rest. */
static bool answer_lines(struct bot *bot)
{
    char *start = bot->input, *end = bot->input + bot->length, *newline;
    bool good = true;

    while (good && (newline = memchr(start, '\n', (size_t)(end - start))) != NULL) {
        *newline = '\0';
        good = answer(bot, start);
        start = newline + 1;
    }
    bot->length = (size_t)(end - start);
    memmove(bot->input, start, bot->length);
    return good;
}

static void play(struct bot *bot)
{
    if (!send_hello(bot))
        return;
    for (;;) {
        if (bot->length == sizeof bot->input) {
            fprintf(stderr, "the server sent a line longer than %d bytes\n", SERVER_LINE);
            return;
        }
        ssize_t got = recv(bot->socket, bot->input + bot->length, sizeof bot->input - bot->length, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fprintf(stderr, "lost the connection: %s\n", strerror(errno));
        else if (got == 0 && !bot->leaving)
            fprintf(stderr, "the server closed the connection before the games were played\n");
        if (got <= 0)
            return;
        bot->length += (size_t)got;
        if (bot->input[0] == TLS_ALERT) {
            fprintf(stderr, "the port may speak TLS, which this bot does not; its page shows a tunnel\n");
            return;
        }
        if (!answer_lines(bot))
            return;
    }
}

/* ---- Starting ---- */

/* Returns a connected socket, or -1 with the reason told. */
static int connect_to(const char *host, const char *port)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found = NULL;
    int failed = getaddrinfo(host, port, &hints, &found);
    int result = -1, reason = 0, on = 1;

    if (failed != 0) {
        fprintf(stderr, "cannot connect to %s:%s: %s\n", host, port, gai_strerror(failed));
        return -1;
    }
    for (struct addrinfo *at = found; at != NULL && result < 0; at = at->ai_next) {
        result = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
        if (result >= 0 && connect(result, at->ai_addr, at->ai_addrlen) == 0)
            break;
        reason = errno;
        if (result >= 0)
            close(result);
        result = -1;
    }
    freeaddrinfo(found);
    if (result < 0)
        fprintf(stderr, "cannot connect to %s:%s: %s\n", host, port, strerror(reason));
    else /* a move is one small packet; Nagle's algorithm would hold it back on our own clock */
        setsockopt(result, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return result;
}

/* Reads the whole number that `what` is set to, from `least` to `most`, or tells why it cannot. */
static bool number(const char *what, const char *value, long least, long most, long *out)
{
    char *end = NULL;

    errno = 0;
    *out = strtol(value, &end, 10);
    if (end != value && *end == '\0' && errno == 0 && *out >= least && *out <= most)
        return true;
    fprintf(stderr, "%s is '%s': set it to a whole number from %ld to %ld\n", what, value, least, most);
    return false;
}

int main(int argc, char **argv)
{
    static struct bot bot = {.pool = "practice", .games = 1, .status = COULD_NOT};
    long seed = (long)time(NULL) ^ ((long)getpid() << 8), games = 1; /* two bots of one second differ */
    const char *port = setting("MODIAR_PORT", "6634");
    bool good = true;

    for (int option; (option = getopt(argc, argv, "g:p:s:")) != -1;) {
        switch (option) {
        case 'g': good = good && number("-g", optarg, 0, 1000000, &games); break;
        case 'p': bot.pool = optarg; break;
        case 's': good = good && number("-s", optarg, 0, 0x7fffffff, &seed); break;
        default: good = false;
        }
    }
    if (!good || optind != argc) {
        fprintf(stderr, "usage: %s [-g GAMES] [-p POOL] [-s SEED]\n", argv[0]);
        return USAGE;
    }
    if (!number("MODIAR_PORT", port, 1, 65535, &(long){0}) ||
        !plain("MODIAR_NAME", setting("MODIAR_NAME", "")) ||
        !plain("MODIAR_TOKEN", setting("MODIAR_TOKEN", "")) ||
        !plain("the pool's name", bot.pool))
        return USAGE;
    bot.games = (int)games;
    srand((unsigned)seed);
    bot.socket = connect_to(setting("MODIAR_HOST", "127.0.0.1"), port);
    if (bot.socket < 0)
        return COULD_NOT;
    play(&bot);
    close(bot.socket);
    return (int)bot.status;
}
