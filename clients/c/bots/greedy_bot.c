/* Plays the legal pit that captures most on this ply; of equal ones, the lowest. */
#include "modiar.h"
#include "options.h"

static int choose(const modiar_turn *turn, void *user)
{
    (void)user;
    return modiar_position_greedy(&turn->position);
}

int main(int argc, char **argv)
{
    struct options options = {0};

    if (!read_options(&options, argc, argv))
        return 2;
    return modiar_run(NULL, options.pool, options.games, choose, NULL);
}
