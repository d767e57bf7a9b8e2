/* Plays any legal pit, each as likely as the other. The same --seed makes the same choices. */
#define _POSIX_C_SOURCE 200809L

#include "modiar.h"
#include "options.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int choose(const modiar_turn *turn, void *user)
{
    (void)user;
    return turn->legal[rand() % turn->legal_count];
}

int main(int argc, char **argv)
{
    struct options options = {.own = "--seed", .most = INT32_MAX, .number = time(NULL) ^ (time_t)getpid() << 8};

    if (!read_options(&options, argc, argv))
        return 2;
    srand((unsigned)options.number);
    return modiar_run(NULL, options.pool, options.games, choose, NULL);
}
