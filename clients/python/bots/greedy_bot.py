"""Plays the legal pit that captures most on this ply; of equal ones, the lowest."""

import sys

import wire

PITS = 6


def play(pits: list[int], pit: int, ply: int) -> tuple[list[int], int]:
    """Sows `pit` and captures; returns the pits afterwards and the number of seeds taken.

    Whether the move is legal is not asked: `turn` lists the legal pits.
    """
    after = pits.copy()
    seeds, after[pit] = after[pit], 0
    for step in range(seeds):  # the first seed goes back into the pit it came from
        after[(pit + step) % PITS] += 1
    if ply == 1:  # the first ply of the game forfeits its capture
        return after, 0
    taken = 0
    last = (pit + seeds - 1) % PITS
    while after[last] in (2, 4, 6):  # backwards from the last seed, across both rows
        taken += after[last]
        after[last] = 0
        last = (last - 1) % PITS
    return after, taken


def choose(turn: wire.Turn) -> int:
    def gain(pit: int) -> int:
        return play(turn["pits"], pit, turn["ply"])[1]

    return max(sorted(turn["legal"]), key=gain)  # max keeps the first of equal ones


def main() -> int:
    options = wire.arguments(__doc__).parse_args()
    return wire.run(choose, options.pool, options.games)


if __name__ == "__main__":
    sys.exit(main())
