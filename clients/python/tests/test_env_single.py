"""The Gymnasium environment, against its bots, policies, and a server that says what a daemon may say."""

import copy
import pickle
import unittest
from collections.abc import Callable
from typing import Any

from env_support import lowest, quiet  # isort: skip (first: it skips where the extra is absent)
import gymnasium
from gymnasium.utils.env_checker import check_env
from support import ENDED, GAME, STARTED, TURN, Message, Peer, Server

from modiar import ConnectError, Position, ProtocolError, Settings
from modiar.env import LadderOpponent, ModiarSingle

DONE: Message = {"type": "seek_ended", "pool": "practice", "reason": "done"}
OTHER_GAME = GAME[:-1] + "6"


def make(**options: Any) -> Any:
    return gymnasium.make("ModiarSingle-v0", **options)


def record(env: Any, seed: int | None, games: int) -> list[Any]:
    """All that the agent is told in so many games, as lists; the first is seeded."""
    told: list[Any] = []
    for game in range(games):
        seen, info = env.reset(seed=None if game else seed)
        over, reward = False, 0.0
        while not over:
            told.append((seen.tolist(), info["side"], info["action_mask"].tolist()))
            seen, reward, over, truncated, info = env.step(lowest(info["action_mask"]))
            assert not truncated
        told.append((seen.tolist(), info["side"], reward, info["termination"], info["score"]))
    return told


def zero(_seen: Any, _mask: Any) -> int:
    return 0


class Single(unittest.TestCase):
    def test_the_checker_passes(self) -> None:
        for options in ({}, {"opponent": "greedy", "reward": "margin"}, {"side": "north", "render_mode": "rgb_array"}):
            with self.subTest(options), quiet():
                check_env(make(**options).unwrapped)

    def test_a_seed_gives_the_same_games(self) -> None:
        openings = ["", "2", "24"]
        games = record(make(opening=openings), 1, 30)
        self.assertEqual(games, record(make(opening=openings), 1, 30))
        self.assertNotEqual(games, record(make(opening=openings), 2, 30))
        self.assertEqual({told[1] for told in games}, {"south", "north"})

    def test_the_bots_play_what_they_are_defined_to_play(self) -> None:
        """`bots.greedy` and `bots.minimax`, against one that plays the lowest pit."""
        bots: dict[str, Callable[[Position], int]] = {"greedy": Position.greedy, "minimax": Position.minimax}
        for bot, choice in bots.items():
            env, position, over = make(opponent=bot, side="south"), Position.start(), False
            _, info = env.reset()
            while not over:
                position = position.play(position.legal()[0]).after
                if position.legal():
                    position = position.play(choice(position)).after
                seen, _, over, _, info = env.step(lowest(info["action_mask"]))
                self.assertEqual(seen.tolist(), [*position.pits, *position.captured])
            self.assertEqual((info["termination"], position.legal()), ("immobile", ()))

    def test_the_random_bot_plays_every_legal_pit(self) -> None:
        replies: set[int] = set()
        for seed in range(30):
            env = make(side="south")
            env.reset(seed=seed)
            seen = env.step(0)[0].tolist()
            after = Position.start().play(0).after
            replies |= {pit for pit in (3, 4, 5) if seen[:6] == list(after.play(pit).after.pits)}
        self.assertEqual(replies, {3, 4, 5})

    def test_a_policy_sees_the_board_from_its_own_side(self) -> None:
        asked: list[tuple[Any, Any]] = []

        def policy(seen: Any, mask: Any) -> int:
            asked.append((seen.tolist(), mask.tolist()))
            return lowest(mask)

        env = make(opponent=policy, side="north", opening="24")
        seen, info = env.reset()
        position = Position.start().play(2).after.play(4).after
        self.assertEqual(asked, [([*position.pits, *position.captured], [1, 1, 1])])
        position = position.play(0).after
        self.assertEqual(seen.tolist(), [*position.pits[3:], *position.pits[:3], *reversed(position.captured)])
        self.assertEqual(info["side"], "north")

    def test_an_illegal_action_loses_and_one_of_the_opponent_wins(self) -> None:
        env = make(side="south", opening="2424", reward="margin")
        env.reset()
        _, reward, over, truncated, info = env.step(2)
        self.assertEqual((reward, over, truncated, info["clause"]), (-1.0, True, False, "rules.move.singleton"))
        self.assertFalse(info["action_mask"].any())
        env = make(opponent=zero, side="south", opening="03", reward="margin")
        _, info = env.reset()
        _, reward, over, truncated, info = env.step(1)
        self.assertEqual((reward, over, truncated, info["termination"]), (1.0, True, False, "illegal_move"))

    def test_a_game_that_the_opponents_first_ply_ends_is_told_at_the_first_step(self) -> None:
        env = make(opponent=zero, side="south", opening="031")
        _, info = env.reset()
        self.assertEqual((info["termination"], info["action_mask"].any()), ("illegal_move", False))
        _, reward, over, _, info = env.step(0)
        self.assertEqual((reward, over, info["termination"]), (1.0, True, "illegal_move"))

    def test_what_is_wrong_is_named(self) -> None:
        for name, word in (("opponent", "house"), ("side", "east"), ("reward", "seeds"), ("render_mode", "human")):
            wrong: dict[str, Any] = {name: word}
            with self.assertRaisesRegex(ValueError, f"^{name} is '{word}'"):
                ModiarSingle(**wrong)
        with self.assertRaisesRegex(ValueError, "call reset first"):
            ModiarSingle().step(0)
        env = ModiarSingle()
        env.reset()
        with self.assertRaisesRegex(ValueError, "give 0, 1 or 2"):
            env.step(3)

    def test_a_copy_goes_on_alike(self) -> None:
        env: Any = ModiarSingle(opening=["", "24"])
        env.reset(seed=4)
        copies: list[Any] = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
        told = record(env, None, 5)
        for one in copies:
            self.assertEqual(record(one, None, 5), told)

    def test_it_is_drawn(self) -> None:
        env = make(render_mode="ansi", side="south")
        env.reset()
        self.assertIn("ply 1, south to move", env.render())
        with self.assertWarnsRegex(UserWarning, "render_mode"):
            env = ModiarSingle()
            env.reset()
            self.assertIsNone(env.render())


def begin(peer: Peer, game: str = GAME) -> None:
    """Lets a bot in, pairs it, and asks for the first move."""
    peer.welcome()
    peer.hear("seek")
    peer.say({**STARTED, "game": game}, {**TURN, "game": game})


def bye(peer: Peer) -> None:
    peer.hear("bye")
    peer.say({"type": "goodbye", "reason": "bye", "message": "well played"})


class Ladder(unittest.TestCase):
    def meet(self, meeting: Callable[[Peer], None]) -> tuple[Any, Server]:
        """An environment whose opponent is behind a server, after its first reset."""
        server = Server(meeting)
        env: Any = ModiarSingle(LadderOpponent(Settings("127.0.0.1", server.port)), reward="margin")
        seen, info = env.reset()
        self.assertEqual(seen.tolist(), [7] * 6 + [0, 0])
        self.assertEqual((info["side"], info["action_mask"].tolist()), ("south", [1, 1, 1]))
        return env, server

    def test_a_game_ends_as_the_server_says(self) -> None:
        def meeting(peer: Peer) -> None:
            begin(peer)
            self.assertEqual(peer.hear("move")["pit"], 2)
            north = {"ply": 4, "side": "north", "pits": [2, 11, 5, 10, 3, 11], "legal": [4]}
            peer.say({**TURN, **north})  # an env follows even a server that has other rules
            self.assertEqual(peer.hear("move")["pit"], 4)
            peer.say(ENDED, DONE)
            bye(peer)

        env, server = self.meet(meeting)
        seen, reward, over, _, info = env.step(2)
        self.assertEqual((seen.tolist(), reward, over), ([10, 3, 11, 2, 11, 5, 0, 0], 0.0, False))
        self.assertEqual((info["side"], info["action_mask"].tolist()), ("north", [0, 1, 0]))
        _, reward, over, truncated, info = env.step(1)
        self.assertEqual((reward, over, truncated), (6 / 42, True, False))
        self.assertEqual((info["termination"], info["score"]), ("repetition", {"south": 18, "north": 24}))
        env.close()
        server.join()

    def test_an_illegal_action_is_the_servers_to_judge(self) -> None:
        detail = {"pit": 2, "clause": "rules.move.singleton", "legal": [0, 1]}

        def meeting(peer: Peer) -> None:
            peer.welcome()
            peer.hear("seek")
            peer.say(STARTED, {**TURN, "legal": [0, 1]})
            move = peer.hear("move")
            forgiven = {"type": "error", "code": "illegal_move", "message": "no", "fatal": False, "ref": move["ref"]}
            peer.say({**forgiven, "game": GAME, "clause": "rules.move.singleton", "legal": [0, 1]})
            self.assertEqual(peer.hear("move")["pit"], 2)
            peer.say({**ENDED, "termination": "illegal_move", "detail": detail}, DONE)
            bye(peer)

        server = Server(meeting)
        env: Any = ModiarSingle(LadderOpponent(Settings("127.0.0.1", server.port)), reward="margin")
        env.reset()
        self.assertEqual(env.step(2)[1:4], (0.0, False, False))
        _, reward, over, truncated, info = env.step(2)
        self.assertEqual((reward, over, truncated, info["clause"]), (-1.0, True, False, "rules.move.singleton"))
        env.close()
        server.join()

    def test_an_aborted_game_truncates_and_the_next_is_not_sought_twice(self) -> None:
        def meeting(peer: Peer) -> None:
            begin(peer)
            peer.hear("move")
            peer.say({**ENDED, "result": "none", "termination": "aborted"})  # the seek goes on
            peer.say({**STARTED, "game": OTHER_GAME}, {**TURN, "game": OTHER_GAME})
            self.assertEqual(peer.hear("move")["game"], OTHER_GAME)
            peer.say({**ENDED, "game": OTHER_GAME}, DONE)
            bye(peer)

        env, server = self.meet(meeting)
        self.assertEqual(env.step(0)[1:4], (0.0, False, True))
        _, info = env.reset()
        self.assertTrue(info["action_mask"].all())
        self.assertEqual(env.step(0)[1:4], (-6 / 42, True, False))
        env.close()
        server.join()

    def test_a_reset_resigns_what_is_being_played(self) -> None:
        def meeting(peer: Peer) -> None:
            begin(peer)
            peer.hear("resign")
            peer.say({**ENDED, "termination": "resignation"}, DONE)
            peer.hear("seek")
            peer.say({**STARTED, "game": OTHER_GAME}, {**TURN, "game": OTHER_GAME})
            peer.hear("unseek")
            peer.say({**DONE, "reason": "cancelled"})
            peer.hear("resign")
            peer.say({**ENDED, "game": OTHER_GAME, "termination": "resignation"})
            bye(peer)

        env, server = self.meet(meeting)
        env.reset()
        env.close()
        server.join()

    def test_a_link_that_is_lost_for_good_is_an_error(self) -> None:
        def meeting(peer: Peer) -> None:
            begin(peer)
            peer.hear("move")
            peer.say({"type": "goodbye", "reason": "banned", "message": "not here"})

        env, server = self.meet(meeting)
        with self.assertRaisesRegex(ProtocolError, "banned"):
            env.step(0)
        server.join()
        with self.assertRaises(ConnectError):
            ModiarSingle(LadderOpponent(Settings("127.0.0.1", server.port))).reset()


if __name__ == "__main__":
    unittest.main()
