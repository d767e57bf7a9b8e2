"""The greedy bot's sowing and capture against the specification's positions."""

import json
import sys
import unittest
from pathlib import Path

CLIENT = Path(__file__).resolve().parents[1]
VECTORS = CLIENT.parents[1] / "spec" / "vectors" / "positions.jsonl"
sys.path.insert(0, str(CLIENT / "bots"))

import greedy_bot  # noqa: E402 (the bots are programs, not a package)
import wire  # noqa: E402

MIDGAME = 9  # a ply where nothing is forfeited


def turn(pits: list[int], legal: list[int], ply: int = MIDGAME) -> wire.Turn:
    captured: wire.Captured = {"south": 0, "north": 42 - sum(pits)}
    remaining = {"south": 30_000, "north": 30_000}
    return {
        "game": "g",
        "ply": ply,
        "side": "south",
        "pits": pits,
        "captured": captured,
        "legal": legal,
        "remaining_ms": remaining,
    }


class Vectors(unittest.TestCase):
    def test_every_move_with_a_known_outcome_leads_there(self) -> None:
        moves = 0
        for number, line in enumerate(VECTORS.read_text(encoding="utf-8").splitlines(), 1):
            vector = json.loads(line)
            mover = ("south", "north").index(vector["side"])
            for pit, expected in vector["after"].items():
                with self.subTest(line=number, pit=pit):
                    after, taken = greedy_bot.play(vector["pits"], int(pit), vector.get("ply", MIDGAME))
                    self.assertEqual(after, expected["pits"])
                    self.assertEqual(taken, expected["captured"][mover] - vector["captured"][mover])
                    moves += 1
        self.assertGreater(moves, 0, f"{VECTORS} holds no move")


class Choice(unittest.TestCase):
    def test_the_first_ply_forfeits_its_capture(self) -> None:
        start = [7] * 6
        self.assertEqual(greedy_bot.play(start, 0, 1), ([2, 8, 8, 8, 8, 8], 0))
        self.assertEqual(greedy_bot.play(start, 0, 2), ([0, 8, 8, 8, 8, 8], 2))

    def test_the_chain_stops_at_the_first_pit_that_is_not_taken(self) -> None:
        self.assertEqual(greedy_bot.play([1, 4, 3, 0, 1, 5], 1, MIDGAME), ([1, 1, 4, 1, 0, 5], 2))

    def test_it_takes_most(self) -> None:
        pits = [2, 3, 2, 5, 7, 3]  # pit 0 takes the 4 in pit 1; pits 1 and 2 take the 6 in pit 3
        self.assertEqual(greedy_bot.choose(turn(pits, [0, 1, 2])), 1)
        self.assertEqual(greedy_bot.choose(turn(pits, [0])), 0, "only what is legal")

    def test_of_equal_ones_it_takes_the_lowest_whatever_the_order(self) -> None:
        start = [7] * 6  # every pit takes its own two seeds
        self.assertEqual(greedy_bot.choose(turn(start, [2, 0, 1])), 0)

    def test_the_board_of_the_turn_is_left_alone(self) -> None:
        pits = [7] * 6
        greedy_bot.choose(turn(pits, [0, 1, 2]))
        self.assertEqual(pits, [7] * 6)


if __name__ == "__main__":
    unittest.main()
