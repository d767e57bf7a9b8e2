"""The bots as the specification defines them (spec/bots.md): `bots.greedy` and `bots.minimax` are in test_rules.py."""

import sys
import time
import unittest
from collections import Counter

from support import CLIENT, GAME

from modiar import BySide, Position, Turn

sys.path.insert(0, str(CLIENT / "bots"))

import first_bot  # noqa: E402 (the bots are programs, not a package)
import random_bot  # noqa: E402


def never(*_: object) -> None:
    raise AssertionError("a choice answers nothing by itself")


TURN = Turn(
    game=GAME,
    ply=1,
    side="south",
    position=Position.start(),
    legal=(0, 1, 2),
    remaining_ms=BySide(30_000, 30_000),
    deadline=time.monotonic() + 30,
    opponent=None,
    rated=False,
    pool="practice",
    last=None,
    _answer=never,
)


class Random(unittest.TestCase):
    def test_each_legal_pit_is_as_likely_as_the_other(self) -> None:
        """`bots.random`"""
        for choose in (random_bot.chooser(1), first_bot.choose):
            counts = Counter(choose(TURN) for _ in range(3000))
            self.assertEqual(set(counts), {0, 1, 2})
            self.assertTrue(all(850 < count < 1150 for count in counts.values()), counts)

    def test_a_seed_makes_the_same_choices(self) -> None:
        one, other = random_bot.chooser(7), random_bot.chooser(7)
        self.assertEqual([one(TURN) for _ in range(50)], [other(TURN) for _ in range(50)])


if __name__ == "__main__":
    unittest.main()
