"""Plays any legal pit, each as likely as the other."""

import random
import sys

import wire


def main() -> int:
    parser = wire.arguments(__doc__)
    parser.add_argument("--seed", type=int, metavar="S", help="the same seed makes the same choices")
    options = parser.parse_args()
    generator = random.Random(options.seed)

    def choose(turn: wire.Turn) -> int:
        return generator.choice(turn["legal"])

    return wire.run(choose, options.pool, options.games)


if __name__ == "__main__":
    sys.exit(main())
