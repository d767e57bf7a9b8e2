#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_GAMES = 1000000 };

/* Reads the whole number that an option is set to, or tells why it cannot. */
static bool read_number(const char *option, const char *text, int64_t least, int64_t most, int64_t *number)
{
    char *end = NULL;

    errno = 0;
    intmax_t value = strtoimax(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0 && value >= least && value <= most) {
        *number = value;
        return true;
    }
    fprintf(stderr, "%s is '%s': write a whole number from %" PRId64 " to %" PRId64 "\n", option, text, least, most);
    return false;
}

static bool read_option(struct options *options, const char *option, const char *value)
{
    if (strcmp(option, "--games") == 0)
        return read_number(option, value, 0, MOST_GAMES, &options->games);
    if (options->own != NULL && strcmp(option, options->own) == 0)
        return read_number(option, value, options->least, options->most, &options->number);
    options->pool = value;
    return true;
}

static bool is_option(const struct options *options, const char *text)
{
    return strcmp(text, "--games") == 0 || strcmp(text, "--pool") == 0 ||
           (options->own != NULL && strcmp(text, options->own) == 0);
}

bool read_options(struct options *options, int argc, char **argv)
{
    options->pool = "practice";
    options->games = 1;
    for (int at = 1; at < argc; at += 2) {
        if (!is_option(options, argv[at]) || at + 1 == argc) {
            fprintf(stderr, "usage: %s [--games N] [--pool P]", argv[0]);
            fprintf(stderr, options->own != NULL ? " [%s N]\n" : "\n", options->own);
            return false;
        }
        if (!read_option(options, argv[at], argv[at + 1]))
            return false;
    }
    return true;
}
