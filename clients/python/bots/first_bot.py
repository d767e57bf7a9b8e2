import random

import modiar


def choose(turn: modiar.Turn) -> modiar.Pit:
    return random.choice(turn.legal)


if __name__ == "__main__":
    raise SystemExit(modiar.run(choose))
