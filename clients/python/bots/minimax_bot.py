"""Looks some plies ahead and plays the legal pit that leads furthest in seeds; of equal ones, the lowest."""

import sys

import modiar
from modiar.program import arguments


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--depth", type=int, default=6, metavar="D", help="how many plies it looks ahead (default: 6)")
    options = parser.parse_args()
    if options.depth < 1:
        parser.error(f"--depth is {options.depth}: look 1 ply ahead or more")

    def choose(turn: modiar.Turn) -> modiar.Pit:
        return turn.position.minimax(options.depth)

    return modiar.run(choose, options.pool, options.games)


if __name__ == "__main__":
    sys.exit(main())
