/* The options that every bot here has. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct options {
    const char *pool; /* --pool P */
    int64_t games;    /* --games N */
    const char *own;  /* the name of one that is the bot's own, with a number; NULL: none */
    int64_t least, most, number;
};

/* Reads the command line; false: it is wrong, and stderr says how. */
bool read_options(struct options *options, int argc, char **argv);

#endif
