"""Plays any legal pit, each as likely as the other."""

import random
import sys

import modiar
from modiar.program import Choose, arguments


def chooser(seed: int | None) -> Choose:
    """A way to choose; the same seed makes the same choices."""
    generator = random.Random(seed)

    def choose(turn: modiar.Turn) -> modiar.Pit:
        return generator.choice(turn.legal)

    return choose


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--seed", type=int, metavar="S", help="the same seed makes the same choices")
    options = parser.parse_args()
    return modiar.run(chooser(options.seed), options.pool, options.games)


if __name__ == "__main__":
    sys.exit(main())
