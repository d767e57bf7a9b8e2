/* Plays the legal pit of the highest worth, --depth plies looked at; of equal ones, the lowest. */
#include "modiar.h"
#include "options.h"

static int choose(const modiar_turn *turn, void *user)
{
    const struct options *options = user;

    return modiar_position_minimax(&turn->position, (int)options->number);
}

int main(int argc, char **argv)
{
    struct options options = {.own = "--depth", .least = 1, .most = 20, .number = 6};

    if (!read_options(&options, argc, argv))
        return 2;
    return modiar_run(NULL, options.pool, options.games, choose, &options);
}
