#include "modiar.h"

static int first(const modiar_turn *turn, void *user)
{
    (void)user;
    return turn->legal[0];
}

int main(void)
{
    return modiar_run(NULL, "practice", 1, first, NULL);
}
