"""The rules in numpy against those of the library, on the specification's vectors and on random plies."""

import copy
import pickle
import unittest
from typing import Any

import env_support  # noqa: F401 # pyright: ignore[reportUnusedImport] (first: it skips where the extra is absent)
import numpy as np
from support import lines

from modiar import BySide, IllegalMove, Position
from modiar.env import Rules, vector
from modiar.env.game import Game
from modiar.env.vector import ENDINGS, SelfPlay, View


def relative(position: Position) -> list[int]:
    """The pits, the mover's own first."""
    pits = list(position.pits)
    return pits if position.side == "south" else pits[3:] + pits[:3]


def seen(position: Position) -> list[int]:
    captured = list(position.captured)
    return [*relative(position), *(captured if position.side == "south" else reversed(captured))]


def random_actions(view: View, random: np.random.Generator) -> Any:
    return np.argmax(view.action_masks * random.random(view.action_masks.shape), axis=1)


class Outcomes(unittest.TestCase):
    def same(self, positions: list[Position]) -> None:
        """All three actions of each position, at once."""
        boards = np.array([relative(position) for position in positions], np.int64)
        legal, after, taken = vector.outcomes(boards, np.array([position.ply == 1 for position in positions]))
        for row, position in enumerate(positions):
            first = 0 if position.side == "south" else 3
            with self.subTest(position.text):
                self.assertEqual([first + action for action in np.flatnonzero(legal[row])], list(position.legal()))
                for pit in position.legal():
                    sown = position.play(pit)
                    left = np.roll(after[row, pit - first], 3).tolist()
                    self.assertEqual((left, taken[row, pit - first]), (relative(sown.after), sown.taken))

    def test_they_are_those_of_the_vectors(self) -> None:
        cases = [case for file in ("rules", "bots", "endless") for case in lines(f"vectors/{file}.jsonl")]
        positions = [Position.parse(case["position"]) for case in cases if "position" in case]
        for case in lines("vectors/positions.jsonl"):
            ply = 3 if case["side"] == "south" else 2
            positions.append(Position(tuple(case["pits"]), BySide(*case["captured"]), case["side"], ply))
        self.assertGreater(len(positions), 1500)
        self.same(positions)

    def test_they_refuse_what_the_vectors_refuse(self) -> None:
        for case in lines("vectors/rules-invalid.jsonl"):
            if {"position", "pit"} <= case.keys() and case["clause"] != "rules.move.own-row":
                position = Position.parse(case["position"])
                with self.assertRaises(IllegalMove):
                    position.play(case["pit"])
                self.same([position])


class Games(unittest.TestCase):
    def replay(self, moves: str, **options: Any) -> tuple[list[int], float]:
        """The endings at each ply on one board, and the last reward."""
        boards, reward = SelfPlay(1, "margin", **options), 0.0
        endings: list[int] = []
        for pit in moves:
            step = boards.step([int(pit) % 3])
            endings.append(int(step.endings[0]))
            reward = float(step.rewards[0])
        return endings, reward

    def ends(self, moves: str, ending: str | None, score: BySide, **options: Any) -> None:
        endings, reward = self.replay(moves, **options)
        self.assertEqual(endings, [0] * (len(moves) - 1) + [ENDINGS.index(ending or "")])
        mover = 1 if len(moves) % 2 else -1  # South made the last ply, or North did
        self.assertAlmostEqual(reward, mover * (score.south - score.north) / 42 if ending else 0.0, places=6)

    def test_endless_play_ends_as_the_vectors_say(self) -> None:
        for case in lines("vectors/endless.jsonl"):
            with self.subTest(case):
                if not case["moves"]:
                    continue  # nothing is played
                self.ends(case["moves"], case["ending"], BySide(**case["score"]), rules=Rules(**case["rules"]))

    def test_whole_games_side_by_side_end_as_the_vectors_say(self) -> None:
        cases = list(lines("vectors/games.jsonl"))
        boards = SelfPlay(len(cases), "margin")
        view = boards.reset()
        for ply in range(max(len(case["moves"]) for case in cases)):
            actions = view.action_masks.argmax(axis=1)  # of a board whose game is over, and another begun
            for row, case in enumerate(cases):
                if ply < len(case["moves"]):
                    actions[row] = int(case["moves"][ply]) % 3
            view, rewards, endings = boards.step(actions)
            for row, case in enumerate(cases):
                if ply < len(case["moves"]):
                    over, lead = ply + 1 == len(case["moves"]), case["score"]["south"] - case["score"]["north"]
                    self.assertEqual(ENDINGS[endings[row]], "immobile" if over else "", case)
                    expected = lead * (-1 if ply % 2 else 1) / 42 if over else 0.0
                    self.assertAlmostEqual(float(rewards[row]), expected, places=6)

    def test_an_opening_counts_for_the_limits(self) -> None:
        """`rules.endless.opening`"""
        moves = "240315042315042315042"
        for plies in (19, 20):
            boards = SelfPlay(3, opening=moves[:plies])
            steps = [boards.step([int(pit) % 3] * 3) for pit in moves[plies:]]
            step = steps[-1]
            self.assertEqual(step.endings.tolist(), [ENDINGS.index("repetition")] * 3)
            self.assertEqual(step.view.movers.tolist(), [plies % 2] * 3)

    def test_random_plies_are_those_of_the_library(self) -> None:
        for rules in (Rules(), Rules(repetition=2, quiet_plies=8, majority=True), Rules(0, 5)):
            self.compare(40, 120, rules)

    def compare(self, count: int, plies: int, rules: Rules) -> None:
        """Boards at once and games one by one, with some illegal actions among the plies."""
        random = np.random.default_rng(1)
        boards, games = SelfPlay(count, rules=rules), [Game.start(rules)] * count
        view, told = boards.reset(seed=1), set[str]()
        for _ in range(plies):
            self.assertEqual(view.observations.tolist(), [seen(game.position) for game in games])
            self.assertEqual(view.movers.tolist(), [int(game.position.side == "north") for game in games])
            masks = [[int(3 * mover + action in game.legal) for action in range(3)]
                     for game, mover in zip(games, view.movers.tolist(), strict=True)]  # fmt: skip
            self.assertEqual(view.action_masks.tolist(), masks)
            actions = random_actions(view, random)
            actions[random.random(count) < 0.01] = 0
            view, rewards, endings = boards.step(actions)
            for row, action in enumerate(actions.tolist()):
                games[row], ending, reward = self.one(games[row], action)
                told.add(ending)
                self.assertEqual((ENDINGS[endings[row]], rewards[row]), (ending, reward))
        self.assertLessEqual({"", "immobile", "illegal_move"}, told)

    def one(self, game: Game, action: int) -> tuple[Game, str, float]:
        """A ply of one game: what follows, why it ended, what the mover earned."""
        side, new = game.position.side, Game.start(game.rules)
        pit = action if side == "south" else 3 + action
        if pit not in game.legal:
            return new, "illegal_move", -1.0
        game = game.play(pit)
        if not game.ending:
            return game, "", 0.0
        lead = (game.score.south - game.score.north) * (1 if side == "south" else -1)
        return new, game.ending, float(np.sign(lead))


class Batches(unittest.TestCase):
    def record(self, boards: SelfPlay, seed: int) -> list[list[int]]:
        random, view = np.random.default_rng(5), boards.reset(seed)
        told: list[list[int]] = []
        for _ in range(60):
            view = boards.step(random_actions(view, random)).view
            told.append(view.observations.tolist())
        return told

    def test_a_seed_gives_the_same_games(self) -> None:
        one, other = (SelfPlay(8, opening=["", "0", "24", "2403"]) for _ in range(2))
        games = self.record(one, 3)
        self.assertEqual(games, self.record(other, 3))
        self.assertNotEqual(games, self.record(other, 4))

    def test_a_copy_goes_on_alike(self) -> None:
        boards = SelfPlay(4)
        view = boards.reset(seed=1)
        boards.step(view.action_masks.argmax(axis=1))
        copies: list[SelfPlay] = [copy.deepcopy(boards), pickle.loads(pickle.dumps(boards))]
        expected = boards.step([1] * 4).view.observations.tolist()
        for one in copies:
            self.assertEqual(one.step([1] * 4).view.observations.tolist(), expected)

    def test_shapes_and_types_are_as_told(self) -> None:
        boards = SelfPlay(5)
        view = boards.reset()
        step = boards.step(np.zeros(5, np.int8))
        arrays = (*view, *step.view, step.rewards, step.endings)
        shapes = [(5, 8), (5, 3), (5,)] * 2 + [(5,), (5,)]
        self.assertEqual([array.shape for array in arrays], shapes)
        self.assertEqual([str(array.dtype) for array in arrays], ["int8"] * 6 + ["float32", "int8"])

    def test_what_is_no_action_is_refused(self) -> None:
        wrong: list[Any] = [[0], [0, 3], [0, -1], [0.0, 1.0], [[0, 1]]]
        for actions in wrong:
            with self.assertRaisesRegex(ValueError, "give 2 numbers from 0 to 2"):
                SelfPlay(2).step(actions)
        with self.assertRaisesRegex(ValueError, "1 or more"):
            SelfPlay(0)


if __name__ == "__main__":
    unittest.main()
