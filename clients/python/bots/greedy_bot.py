"""Plays the legal pit that captures most on this ply; of equal ones, the lowest."""

import sys

import modiar
from modiar.program import arguments


def choose(turn: modiar.Turn) -> modiar.Pit:
    return turn.position.greedy()


def main() -> int:
    options = arguments(__doc__).parse_args()
    return modiar.run(choose, options.pool, options.games)


if __name__ == "__main__":
    sys.exit(main())
