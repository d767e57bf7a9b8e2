/* What the library promises, against a server that keeps to a script. It is one unit with the library, as the driver is. */
#include "../modiar.c"

#include <sys/wait.h>

static int failures;

static void check(bool good, const char *what)
{
    if (!good) {
        failures++;
        fprintf(stderr, "failed: %s\n", what);
    }
}

/* ---- The rules ---- */

static void test_rules_keep_all_seeds(void)
{
    for (unsigned game = 0; game < 2000; game++) {
        modiar_position position = modiar_position_start(), again;
        char text[MODIAR_POSITION_BYTES];
        int legal[MODIAR_LEGAL], taken, count;
        while ((count = modiar_position_legal(&position, legal)) > 0 && position.ply < 300) {
            for (int pit = -1; pit <= MODIAR_PITS; pit++) {
                modiar_position after;
                bool is_legal = false;
                for (int i = 0; i < count; i++)
                    is_legal = is_legal || legal[i] == pit;
                check(is_legal == (modiar_position_play(&position, pit, &after, &taken) == NULL), "legal is playable");
            }
            modiar_position_play(&position, legal[rand() % count], &position, &taken);
            check(modiar_position_parse(modiar_position_text(&position, text), &again) == NULL, "42 seeds in all");
            check(memcmp(&again, &position, sizeof again) == 0, "text to value to text");
        }
    }
}

/* ---- The codec ---- */

#define WELCOME \
    "{\"type\":\"welcome\",\"protocol\":1,\"server\":\"modiar/0.1.0\",\"bot\":{\"name\":\"guest-1\",\"guest\":true," \
    "\"ratings\":{\"blitz\":{\"rating\":1500.0,\"rd\":290.318964,\"games\":12}}},\"resume\":\"modiar-0123456789abcdef\"," \
    "\"pools\":[{\"name\":\"practice\",\"time\":{\"base_ms\":60000}}],\"games\":["
#define STARTED(id) "{\"type\":\"started\",\"game\":\"" id "\",\"pool\":\"practice\",\"rated\":false,\"side\":\"south\"," \
    "\"south\":{\"name\":\"guest-1\"},\"north\":{\"name\":\"foe\"},\"resumed\":false}"
#define TURN(id) "{\"type\":\"turn\",\"game\":\"" id "\",\"ply\":1,\"side\":\"south\",\"pits\":[7,7,7,7,7,7]," \
    "\"captured\":{\"south\":0,\"north\":0},\"legal\":[0,1,2],\"remaining_ms\":{\"south\":60000,\"north\":60000}}"
#define ENDED(id, how) "{\"type\":\"ended\",\"game\":\"" id "\",\"result\":\"" how "\",\"termination\":\"aborted\"," \
    "\"score\":{\"south\":1,\"north\":2},\"pits\":[7,7,7,7,7,7],\"ply\":0}"
#define DONE "{\"type\":\"seek_ended\",\"pool\":\"practice\",\"reason\":\"done\"}"
#define ERROR(code, game) "{\"type\":\"error\",\"code\":\"" code "\",\"message\":\"no\",\"fatal\":false,\"game\":\"" game "\"" \
    ",\"clause\":\"rules.move.own-row\",\"legal\":[2]}"

static modiar_decoder decoder;
static modiar_message message;

/* Feeds bytes, and appends each message as it is held. */
static void decode(const char *bytes, size_t size, char *out, size_t room)
{
    while (modiar_decoder_feed(&decoder, &bytes, &size, &message) != MODIAR_NOTHING)
        modiar_encode(&message, out + strlen(out), room - strlen(out));
}

static void test_packets_may_be_split_anywhere(void)
{
    static const char lines[] = WELCOME "\"g1\"],\"missed\":[" ENDED("g0", "draw") "],\"new\":[{}]}\r\n\r\n\n" TURN("g1") "\n[]\n" DONE "\n";
    char whole[4096] = "";

    decode(lines, sizeof lines - 1, whole, sizeof whole);
    check(strstr(whole, "290.318964") != NULL && strstr(whole, "\"reason\":\"done\"") != NULL, "all is read");
    for (size_t at = 0; at < sizeof lines; at++) {
        char parts[4096] = "";
        decode(lines, at, parts, sizeof parts);
        decode(lines + at, sizeof lines - 1 - at, parts, sizeof parts);
        check(strcmp(parts, whole) == 0, "the same in two packets");
    }
}

static void test_no_bytes_break_the_decoder(void)
{
    static const char *const seeds[] = {WELCOME "\"g1\"],\"missed\":[" ENDED("g0", "draw") "]}", TURN("g1"), ERROR("internal", "g1"),
                                        "{\"type\":\"go\\u006fdbye\",\"message\":\"\\ud83d\\ude00\\ud800\",\"reason\":\"\xc3\xa9\"}"};
    static char line[2048], out[MODIAR_LINE_BYTES * 8];

    for (int round = 0; round < 30000; round++) {
        size_t length = (size_t)snprintf(line, sizeof line, "%s\n", seeds[rand() % (int)COUNT(seeds)]);
        for (int changes = rand() % 6; changes > 0; changes--) {
            size_t at = (size_t)rand() % (length - 1);
            if (rand() % 3 == 0)
                line[at] = (char)rand();
            else
                line[at] = "{}[]\",:\\u0e-.9tn \r\n"[rand() % 19];
        }
        out[0] = '\0';
        decode(line, length, out, sizeof out);
        decode("\n", 1, out, sizeof out);
        check(!decoder.too_long, "a short line is none too long");
    }
}

static void test_a_line_has_its_limit(void)
{
    static char line[MODIAR_LINE_BYTES + 2];
    const char *bytes = line;
    size_t size = MODIAR_LINE_BYTES;

    memset(line, ' ', sizeof line);
    memcpy(line, "{\"type\":\"pong\"}", 15);
    line[MODIAR_LINE_BYTES - 1] = '\n';
    check(modiar_decoder_feed(&decoder, &bytes, &size, &message) == MODIAR_PONG, "the longest line");
    line[MODIAR_LINE_BYTES - 1] = ' ';
    bytes = line;
    size = MODIAR_LINE_BYTES + 1;
    check(modiar_decoder_feed(&decoder, &bytes, &size, &message) == MODIAR_TOO_LONG, "one byte more");
    memset(&decoder, 0, sizeof decoder);
}

/* ---- A server with a script ---- */

/*
 * A step is a letter and a text: `a` accepts a connection, `c` closes it, `>` sends a line, `<` reads one that holds the
 * text, and `=` one that is the same as the line before it. The script ends with NULL.
 */
static bool keep_script(int listener, const char *const *script)
{
    char line[4096], before[4096] = "";
    FILE *peer = NULL;

    for (; *script != NULL; script++) {
        const char *text = *script + 1;
        bool good = true;
        switch (**script) {
        case 'a': peer = fdopen(accept(listener, NULL, NULL), "r+"); break;
        case 'c': good = fclose(peer) == 0; break;
        case '>':
            fseek(peer, 0, SEEK_CUR);
            good = fprintf(peer, "%s\n", text) > 0 && fflush(peer) == 0;
            break;
        default:
            fseek(peer, 0, SEEK_CUR);
            good = fgets(line, sizeof line, peer) != NULL &&
                   (**script == '<' ? strstr(line, text) != NULL : strcmp(line, before) == 0);
            if (!good)
                fprintf(stderr, "the script wants %s, and read %s\n", *script, line);
            memcpy(before, line, sizeof before);
        }
        if (!good)
            return false;
    }
    return true;
}

static int chosen, endings;
static const char *answers = "0"; /* the digits to choose, one after the other; the last one for ever */

static int choose(const modiar_turn *turn, void *user)
{
    (void)user;
    check(turn->legal_count > 0 && strcmp(turn->opponent, "foe") == 0, "a turn is whole");
    check(turn->deadline_ms > modiar_now_ms(), "there is time");
    int pit = answers[chosen] - '0';
    chosen += answers[chosen + 1] != '\0';
    return pit;
}

static void count_ended(const modiar_ended *ended, void *user)
{
    (void)user;
    endings += ended->game[0] == 'g';
}

static void no_log(modiar_level level, const char *text, void *user)
{
    (void)level;
    (void)user;
    check(strstr(text, "secret") == NULL, "no token in the log");
}

/* Plays one game against a script; the exit status of modiar_run, or -1 where the script was not kept. */
static int play_script(const char *const *script, const char *pits)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), status = 0;
    modiar_settings settings = {.log = no_log, .ended = count_ended, .token = "secret"};

    bind(listener, (struct sockaddr *)&address, size);
    listen(listener, 8);
    getsockname(listener, (struct sockaddr *)&address, &size);
    fflush(stdout);
    pid_t server = fork();
    if (server == 0) {
        alarm(20);
        _exit(keep_script(listener, script) ? 0 : 1);
    }
    close(listener);
    chosen = endings = 0;
    answers = pits;
    settings.host = "127.0.0.1";
    settings.port = ntohs(address.sin_port);
    int result = modiar_run(&settings, "practice", 1, choose, NULL);
    waitpid(server, &status, 0);
    return status == 0 ? result : -1;
}

#define LOGIN "a", "<\"type\":\"hello\"", ">" WELCOME "],\"missed\":[]}", "<\"type\":\"seek\""
#define BYE "<\"type\":\"bye\"", ">{\"type\":\"goodbye\",\"reason\":\"bye\",\"message\":\"bye\"}", "c", NULL

static void test_a_turn_is_answered_once(void)
{
    static const char *const script[] = {
        LOGIN, ">" STARTED("g1"), ">" TURN("g1"), "<\"pit\":1", ">" TURN("g1"), "=", "c",
        "a", "<\"name\":\"guest-1\"", ">" WELCOME "\"g1\"],\"missed\":[]}", ">" STARTED("g1"), ">" TURN("g1"), "<\"pit\":1,\"ply\":1",
        ">" ENDED("g1", "south"), ">" ENDED("g1", "south"), BYE};

    check(play_script(script, "102") == 0, "a lost link");
    check(chosen == 1 && endings == 1, "chosen and told once");
}

static void test_missed_games_count_once(void)
{
    static const char *const script[] = {
        "a", "<\"type\":\"hello\"", ">" WELCOME "],\"missed\":[" ENDED("g0", "draw") "]}", "<\"games\":1",
        ">" STARTED("g1"), ">" TURN("g1"), "<\"pit\":0", "c",
        "a", "<\"resume\":\"modiar-0123456789abcdef\"",
        ">" WELCOME "],\"missed\":[" ENDED("g0", "draw") "," ENDED("g1", "none") "]}", "<\"games\":1",
        ">" STARTED("g2"), "c", "a", "<hello", ">" WELCOME "],\"missed\":[" ENDED("g1", "none") "," ENDED("g2", "north") "]}", BYE};

    check(play_script(script, "0") == 0 && endings == 2, "missed games");
}

static void test_what_is_not_known_is_ignored(void)
{
    static const char *const script[] = {
        LOGIN, ">{\"type\":\"weather\",\"sun\":[1,{\"a\":1e400}]}", ">nonsense", ">{\"type\":5}", ">{\"type\":\"turn\"}", ">",
        ">{\"type\":\"turn\",\"game\":\"g1\",\"ply\":\"x\",\"legal\":[9]}", ">{\"new\":{},\"type\":\"pong\"}",
        ">" STARTED("g1"), ">" TURN("g1"), "<\"pit\":2", ">" ERROR("duplicate", "g1"), ">" ERROR("brand_new", "g1"),
        ">" ENDED("g1", "draw"), ">" DONE, BYE};

    check(play_script(script, "2") == 0, "unknown messages and fields");
}

static void test_an_illegal_choice_resigns_and_goes_on(void)
{
    static const char *const script[] = {
        LOGIN, ">" STARTED("g1"), ">" TURN("g1"), "<\"type\":\"resign\"", ">" ENDED("g1", "none"), ">" DONE, "<\"type\":\"seek\"",
        ">" STARTED("g2"), ">" TURN("g2"), "<\"pit\":0", ">" ENDED("g2", "draw"), ">" DONE, BYE};

    check(play_script(script, "40") == 0, "an illegal choice");
}

static void test_a_forgiven_move_is_chosen_once_more(void)
{
    static const char *const script[] = {
        LOGIN, ">" STARTED("g1"), ">" TURN("g1"), "<\"pit\":0", ">" ERROR("illegal_move", "g1"), "<\"pit\":2",
        ">" ERROR("illegal_move", "g1"), "<resign", ">" ENDED("g1", "north"), ">" DONE, BYE};

    check(play_script(script, "02") == 0, "a forgiven move");
}

static void test_what_was_limited_is_sent_again(void)
{
    static const char *const script[] = {
        LOGIN, ">{\"type\":\"error\",\"code\":\"rate_limited\",\"message\":\"no\",\"fatal\":false,\"ref\":\"seek\"}", "<\"type\":\"seek\"",
        ">" STARTED("g1"), ">" TURN("g1"), "<\"pit\":0", ">" ERROR("rate_limited", "g1"), "=",
        ">{\"type\":\"error\",\"code\":\"rate_limited\",\"message\":\"no\",\"fatal\":false,\"ref\":\"g1\"}", "=",
        ">" ENDED("g1", "north"), ">" DONE, BYE};

    check(play_script(script, "0") == 0, "limited");
}

static void test_a_refusal_ends_it(void)
{
    static const char *const taken[] = {"a", "<hello", ">" ERROR("auth_failed", ""), "c", NULL};
    static const char *const pool[] = {
        LOGIN, ">{\"type\":\"error\",\"code\":\"unknown_pool\",\"message\":\"no\",\"fatal\":false,\"ref\":\"seek\"}", "<bye", "c", NULL};
    static const char *const replaced[] = {LOGIN, ">{\"type\":\"goodbye\",\"reason\":\"replaced\",\"message\":\"no\"}", "c", NULL};
    static const char *const silent[] = {"a", "c", NULL};

    check(play_script(taken, "0") == 3, "auth_failed");
    check(play_script(pool, "0") == 3, "unknown_pool");
    check(play_script(replaced, "0") == 3, "replaced");
    check(play_script(silent, "0") == 3, "closed without a word");
}

static void test_a_wrong_setting_is_named(void)
{
    static modiar_client client;
    modiar_settings settings = {.host = "no-such-host.invalid"};

    check(modiar_connect(&client, &settings) == MODIAR_CONNECT_ERROR && strstr(modiar_error(&client), "invalid:") != NULL, "host");
    setenv("MODIAR_PORT", "99999", 1);
    check(modiar_connect(&client, NULL) == MODIAR_BAD_SETTING && strstr(modiar_error(&client), "'99999'") != NULL, "port");
    unsetenv("MODIAR_PORT");
    setenv("MODIAR_TLS", "1", 1);
    check(modiar_connect(&client, NULL) == MODIAR_BAD_SETTING && strstr(modiar_error(&client), "tunnel") != NULL, "TLS");
    unsetenv("MODIAR_TLS");
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    test_rules_keep_all_seeds();
    test_packets_may_be_split_anywhere();
    test_no_bytes_break_the_decoder();
    test_a_line_has_its_limit();
    test_a_turn_is_answered_once();
    test_missed_games_count_once();
    test_what_is_not_known_is_ignored();
    test_an_illegal_choice_resigns_and_goes_on();
    test_a_forgiven_move_is_chosen_once_more();
    test_what_was_limited_is_sent_again();
    test_a_refusal_ends_it();
    test_a_wrong_setting_is_named();
    printf("%d failed\n", failures);
    return failures == 0 ? 0 : 1;
}
