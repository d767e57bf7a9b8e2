"""The PettingZoo environment: its checkers, and the specification's vectors ply by ply."""

import copy
import pickle
import random
import unittest
from typing import Any, get_args

from env_support import PLAYERS, play, quiet, raw, record  # isort: skip (it skips where the extra is absent)
import numpy as np
import pettingzoo.test
from support import lines

from modiar import BySide, Position
from modiar.env import Rules, modiar_v0
from modiar.env.game import Ending, Game
from modiar.env.modiar_v0 import MaskPlace

# They say nothing of their types.
api_test: Any = vars(pettingzoo.test)["api_test"]
seed_test: Any = vars(pettingzoo.test)["seed_test"]


def shown(position: Position, player: str) -> list[int]:
    """What a player must see of a position, said otherwise than the environment says it."""
    south, north = list(position.pits[:3]), list(position.pits[3:])
    captured = list(position.captured)
    return [*south, *north, *captured] if player == "player_0" else [*north, *south, *reversed(captured)]


class Checkers(unittest.TestCase):
    def test_the_api_test_passes(self) -> None:
        for mask in get_args(MaskPlace):
            with self.subTest(mask), quiet():
                for _ in range(50):  # it stops at the end of a game, after some 20 of its cycles
                    api_test(modiar_v0.env(mask=mask), num_cycles=1000)
                api_test(modiar_v0.raw_env(mask=mask, reward="margin", opening=("", "24")), num_cycles=1000)

    def test_the_seed_test_passes(self) -> None:
        for mask in get_args(MaskPlace):
            with self.subTest(mask), quiet():
                seed_test(lambda mask=mask: modiar_v0.env(mask=mask, opening=("0", "24", "1")), num_cycles=500)


class Vectors(unittest.TestCase):
    def shows(self, env: Any, position: Position, over: bool = False) -> None:
        """All that the environment tells while nothing has ended, or at the end."""
        legal = [] if over else [pit % 3 for pit in position.legal()]
        mover = "player_0" if position.side == "south" else "player_1"
        for player in PLAYERS:
            self.assertEqual(env.observe(player).tolist(), shown(position, player))
            mask = np.flatnonzero(env.infos[player]["action_mask"]).tolist()
            self.assertEqual(mask, legal if player == mover else [])
        self.assertEqual(env.agent_selection, mover)
        self.assertEqual(env.terminations, dict.fromkeys(PLAYERS, over))
        self.assertEqual(env.truncations, dict.fromkeys(PLAYERS, False))

    def follow(self, env: Any, moves: str) -> Position:
        """Plays, and compares each position before the last."""
        position = Position.start()
        for pit in moves:
            self.shows(env, position)
            self.assertEqual(set(env.rewards.values()), {0.0})
            play(env, pit)
            position = position.play(int(pit)).after
        return position

    def ends(self, env: Any, score: BySide, ending: str) -> None:
        """Told to both, and zero-sum."""
        margin = (score.south - score.north) / 42
        self.assertEqual(env.rewards, {"player_0": margin, "player_1": -margin})
        for player in PLAYERS:
            info = {name: told for name, told in env.infos[player].items() if name != "action_mask"}
            self.assertEqual(info, {"termination": ending, "score": score._asdict()})

    def test_every_game_is_played_to_its_end(self) -> None:
        for case in lines("vectors/games.jsonl"):
            with self.subTest(case):
                env = raw(reward="margin")
                self.shows(env, self.follow(env, case["moves"]), over=True)
                self.ends(env, BySide(**case["score"]), "immobile")

    def test_endless_play_ends_as_the_rules_say(self) -> None:
        for case in lines("vectors/endless.jsonl"):
            with self.subTest(case):
                env = raw(reward="margin", rules=Rules(**case["rules"]))
                last = self.follow(env, case["moves"])
                self.assertEqual(last.text, case["position"])
                self.shows(env, last, over=case["ending"] is not None)
                if case["ending"]:
                    self.ends(env, BySide(**case["score"]), case["ending"])

    def test_every_clause_holds(self) -> None:
        for case in lines("vectors/rules.jsonl"):
            with self.subTest(case):
                if "moves" in case:
                    self.assertEqual(self.follow(raw(), case["moves"]).text, case["after"])
                    continue
                position = Position.parse(case["position"])
                game = Game(Rules(), position, (position.pits,))
                self.assertEqual(list(game.legal), case.get("legal", list(game.legal)))
                if "pit" in case:
                    self.assertEqual(game.play(case["pit"]).position.text, case["after"])
                if "score" in case:
                    self.assertEqual((game.ending, game.score._asdict()), ("immobile", case["score"]))


class Ends(unittest.TestCase):
    def loses(self, env: Any, pit: int, clause: str) -> None:
        """The mover loses by this pit."""
        mover = env.agent_selection
        (other,) = set(PLAYERS) - {mover}
        self.assertEqual(env.infos[mover]["action_mask"][pit % 3], 0)
        play(env, str(pit))
        self.assertEqual(env.rewards, {mover: -1.0, other: 1.0})
        self.assertEqual(env.terminations, dict.fromkeys(PLAYERS, True))
        self.assertEqual(env.truncations, dict.fromkeys(PLAYERS, False))
        for player in PLAYERS:
            self.assertEqual((env.infos[player]["termination"], env.infos[player]["clause"]), ("illegal_move", clause))
            self.assertFalse(env.infos[player]["action_mask"].any())

    def test_an_illegal_action_loses_whatever_the_reward(self) -> None:
        for reward in ("sign", "margin"):
            self.loses(raw(reward=reward, opening="2424"), 2, "rules.move.singleton")
            self.loses(raw(reward=reward, opening="051"), 5, "rules.move.singleton")
            self.loses(raw(reward=reward, opening="0413"), 1, "rules.move.empty-pit")

    def test_what_the_vectors_call_illegal_loses(self) -> None:
        seen = 0
        for case in lines("vectors/rules-invalid.jsonl"):
            if "ply" not in case or "over" in case or case["clause"] == "rules.move.own-row":
                continue
            *before, last = case["moves"]
            env = raw(rules=Rules(**case["rules"]))
            play(env, "".join(before))
            self.loses(env, int(last), case["clause"])
            seen += 1
        self.assertGreater(seen, 0)

    def test_both_agents_leave_after_the_end(self) -> None:
        for seed in range(20):
            *_, last, final = record(modiar_v0.env(), seed, 1)
            self.assertEqual({last[0], final[0]}, set(PLAYERS))
            self.assertEqual((last[2] + final[2], last[3], final[3]), (0.0, True, True))

    def test_random_games_are_zero_sum_and_terminate(self) -> None:
        chance = random.Random(1)
        told = record(modiar_v0.env(), 1, 100, lambda mask: chance.choice(np.flatnonzero(mask).tolist()))
        ends = [each for each in told if each[3]]
        self.assertEqual(len(ends), 200)
        self.assertEqual(sum(each[2] for each in ends), 0.0)
        self.assertTrue(all(each[5]["termination"] in get_args(Ending) for each in ends))
        self.assertFalse(any(each[4] for each in told))

    def test_what_is_no_action_is_refused(self) -> None:
        for action in (-1, 3):
            with self.assertRaisesRegex(ValueError, "give 0, 1 or 2"):
                raw().step(action)
        with self.assertRaises(AssertionError):
            raw().step(None)
        with self.assertRaisesRegex(ValueError, "after the end"):
            Game.start(Rules(quiet_plies=1)).play(0).play(3)


class Options(unittest.TestCase):
    def test_a_wrong_word_is_named(self) -> None:
        for name, word in (("reward", "seeds"), ("mask", "both"), ("render_mode", "human")):
            wrong: dict[str, Any] = {name: word}
            with self.assertRaisesRegex(ValueError, f"^{name} is '{word}'"):
                modiar_v0.env(**wrong)

    def test_a_wrong_opening_is_named(self) -> None:
        wrong = {"3": "at ply 1", "06": "has '6' at ply 2", "00": "at ply 2", "14042425142304": "ends by immobile"}
        for opening, text in wrong.items():
            with self.assertRaisesRegex(ValueError, text):
                modiar_v0.env(opening=["", opening])
        with self.assertRaisesRegex(ValueError, "opening is empty"):
            modiar_v0.env(opening=[])

    def test_an_opening_is_played_first(self) -> None:
        env = raw(opening="240")
        position = Position.start().play(2).after.play(4).after.play(0).after
        self.assertEqual(env.agent_selection, "player_1")
        self.assertEqual(env.observe("player_1").tolist(), shown(position, "player_1"))

    def test_the_plies_of_an_opening_count_for_the_limits(self) -> None:
        """`rules.endless.opening`"""
        moves = "240315042315042315042"
        env = raw(opening=moves[:-1])
        play(env, moves[-1])
        self.assertEqual(env.infos["player_0"]["termination"], "repetition")

    def test_the_seed_chooses_the_openings(self) -> None:
        openings = ["", "2", "24", "240", "0", "1"]
        one, other, third = (modiar_v0.env(opening=openings) for _ in range(3))
        games = record(one, 7, 20)
        self.assertEqual(games, record(other, 7, 20))
        self.assertNotEqual(games, record(third, 8, 20))
        starts = {tuple(told[1]) for told in games if told[1][6:] == [0, 0]}
        self.assertGreater(len(starts), 3)

    def test_a_copy_goes_on_alike(self) -> None:
        env: Any = modiar_v0.env(opening=["", "2", "24"])
        env.reset(seed=3)
        play(env, "2")
        copies: list[Any] = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
        for one in copies:
            self.assertEqual(one.agent_selection, env.agent_selection)
            self.assertEqual(one.last()[0]["observation"].tolist(), env.last()[0]["observation"].tolist())
        told = record(env, None, 5)
        for one in copies:
            self.assertEqual(record(one, None, 5), told)


class Pictures(unittest.TestCase):
    def test_the_board_is_shown_as_text(self) -> None:
        env = raw(render_mode="ansi", opening="240")
        text = "North, 0 captured\n  5:11  4:3   3:10\n  0:2   1:11  2:5\nSouth, 0 captured\nply 4, north to move\n"
        self.assertEqual(env.render(), text)

    def test_the_board_is_drawn(self) -> None:
        env = raw(render_mode="rgb_array")
        before = env.render()
        assert isinstance(before, np.ndarray)
        self.assertEqual((before.shape, before.dtype), ((128, 320, 3), np.dtype(np.uint8)))
        play(env, "2")
        after = env.render()
        assert isinstance(after, np.ndarray)
        changed = np.argwhere((before != after).any(axis=2))
        self.assertGreater(len(changed), 100)
        self.assertTrue((changed[:, 1] >= 64).all() and (changed[:, 1] < 256).all(), "the stores are as they were")

    def test_without_a_mode_there_is_a_word_and_no_picture(self) -> None:
        with self.assertWarnsRegex(UserWarning, "render_mode"):
            self.assertIsNone(raw().render())


if __name__ == "__main__":
    unittest.main()
