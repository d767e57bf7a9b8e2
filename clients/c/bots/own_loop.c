#include "modiar.h"

#include <stdio.h>

static void tell(const modiar_ended *ended, void *user)
{
    (void)user;
    printf("%s %s\n", ended->game, ended->result);
}

int main(void)
{
    static modiar_client client; /* some 90 KB */
    modiar_settings settings = {.ended = tell};
    modiar_turn turn;
    modiar_status status = modiar_connect(&client, &settings);

    if (status == MODIAR_OK)
        status = modiar_turns(&client, "practice", 2);
    while (status == MODIAR_OK && (status = modiar_next_turn(&client, &turn)) == MODIAR_OK)
        status = modiar_play(&client, &turn, turn.legal[0]);
    if (status != MODIAR_DONE)
        fprintf(stderr, "%s\n", modiar_error(&client));
    modiar_close(&client);
    return status != MODIAR_DONE;
}
