"""Both clients against a server that does what a server may do, and what a network does."""

from __future__ import annotations

import contextlib
import io
import signal
import time
import unittest
import unittest.mock
from collections.abc import Callable
from typing import Any, ClassVar

from support import ENDED, GAME, STARTED, TURN, WELCOME, Message, Peer, Server, press_ctrl_c

import modiar
import modiar.aio
from modiar import Settings, Turn

RESULT = f"{GAME} north repetition south 18-24\n"
WITHOUT_RESUME = {name: value for name, value in WELCOME.items() if name != "resume"}
DONE: Message = {"type": "seek_ended", "pool": "practice", "reason": "done"}
RESUME = "modiar-7e261f3a39f689e8e8fc7372849d305f759113bf7ea6ddc358fb5206c73dcf92"


def refusal(code: str, ref: object, **fields: object) -> Message:
    return {"type": "error", "code": code, "message": "no", "fatal": False, "ref": ref, **fields}


def norths(_: Turn) -> int:
    return 4


def text(_: Turn) -> str:
    return "0"


def nothing(_: Turn) -> None:
    """As where `return` was forgotten."""


def begin(peer: Peer) -> None:
    """Lets a bot in and asks for the first move."""
    peer.welcome()
    peer.hear("seek")
    peer.say(STARTED, TURN)


def end(peer: Peer) -> None:
    """Ends the game and hears the bot out."""
    peer.say(ENDED, DONE)
    peer.hear("bye")
    peer.say({"type": "goodbye", "reason": "bye", "message": "well played"})


class Scenes:
    """What holds of both clients; each has a class below."""

    class Client(unittest.TestCase):
        run_bot: ClassVar[Callable[..., int]]

        def setUp(self) -> None:
            self.asked: list[Turn] = []

        def choose(self, turn: Turn) -> int:
            self.asked.append(turn)
            return turn.legal[0]

        def play(self, *meetings: Callable[[Peer], None], status: int = 0, **arguments: Any) -> tuple[str, str]:
            """What the bot printed and logged while it met the server so."""
            server = Server(*meetings)
            settings = Settings("127.0.0.1", server.port, arguments.pop("name", None), arguments.pop("token", None))
            choose = arguments.pop("choose", self.choose)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), self.assertLogs("modiar") as logged:
                outcome = type(self).run_bot(choose, settings=settings, **arguments)
            server.join()
            text = "\n".join(record.getMessage() for record in logged.records)
            self.assertEqual(outcome, status, text)
            return printed.getvalue(), text

        def test_a_game_is_played_and_told(self) -> None:
            def meet(peer: Peer) -> None:
                begin(peer)
                move = peer.hear("move")
                self.assertEqual((move["game"], move["pit"], move["ply"]), (GAME, 0, 1))
                end(peer)

            printed, logged = self.play(meet)
            self.assertEqual(printed, RESULT)
            self.assertIn("playing as Loubna on modiar/0.1.0", logged)
            (turn,) = self.asked
            self.assertEqual((turn.opponent, turn.pool, turn.rated, turn.last), ("house-level3", "blitz", True, None))
            self.assertTrue(25 < turn.deadline - time.monotonic() <= 30)

        def test_whatever_else_the_server_says_is_passed_over(self) -> None:
            def meet(peer: Peer) -> None:
                peer.say_bytes(b"\r\n")
                peer.welcome(mood="fine")
                peer.hear("seek")
                peer.say({"type": "news"}, STARTED)
                for byte in b'no json\n{"type":"turn"}\n':
                    peer.say_bytes(bytes([byte]))
                peer.say({**TURN, "mood": [1]})
                peer.hear("move")
                end(peer)

            printed, logged = self.play(meet)
            self.assertEqual(printed, RESULT)
            self.assertIn("skipped a line that is not a message", logged)

        def test_a_turn_that_makes_no_sense_is_passed_over(self) -> None:
            def meet(peer: Peer) -> None:
                peer.welcome()
                peer.hear("seek")
                peer.say(STARTED)
                for pits in ([7, 7], [2**40, 7, 7, 7, 7, 7], [-1, 7, 7, 7, 7, 7]):
                    peer.say({**TURN, "pits": pits})
                for legal in ([], [7]):
                    peer.say({**TURN, "legal": legal})
                peer.say(TURN)
                peer.hear("move")
                end(peer)

            _, logged = self.play(meet)
            self.assertEqual(logged.count("makes no sense"), 5)

        def test_after_a_lost_link_the_same_pit_is_sent_and_nobody_is_asked_again(self) -> None:
            def break_off(peer: Peer) -> None:
                begin(peer)
                peer.hear("move")

            def go_on(peer: Peer) -> None:
                hello = peer.welcome(games=[GAME])
                self.assertEqual((hello["name"], hello["resume"]), ("Loubna", RESUME))
                peer.say({**STARTED, "resumed": True}, TURN)
                self.assertEqual(peer.hear("move")["pit"], 0)
                end(peer)

            printed, logged = self.play(break_off, go_on)
            self.assertEqual((printed, len(self.asked)), (RESULT, 1))
            self.assertIn("this bot comes back", logged)

        def test_a_server_that_is_silent_on_the_return_is_left(self) -> None:
            def break_off(peer: Peer) -> None:
                begin(peer)
                peer.hear("move")

            def say_nothing(peer: Peer) -> None:
                peer.hear("hello")
                peer.hear("end of file")  # it hangs up

            def go_on(peer: Peer) -> None:
                peer.welcome(games=[GAME])
                peer.say({**STARTED, "resumed": True}, TURN)
                peer.hear("move")
                end(peer)

            with unittest.mock.patch("modiar.session.CONNECT_SECONDS", 0.5):
                printed, _ = self.play(break_off, say_nothing, go_on)
            self.assertEqual(printed, RESULT)

        def test_a_game_that_ended_meanwhile_counts_once(self) -> None:
            def break_off(peer: Peer) -> None:
                begin(peer)
                peer.hear("move")
                peer.say(ENDED)

            def tell_again(peer: Peer) -> None:
                peer.welcome(missed=[ENDED])
                self.assertEqual(peer.hear("seek")["games"], 1)
                peer.say({**STARTED, "game": "g2"}, {**TURN, "game": "g2"})
                peer.hear("move")
                peer.say({**ENDED, "game": "g2"}, DONE)
                peer.hear("bye")

            printed, _ = self.play(break_off, tell_again, games=2)
            self.assertEqual(printed, RESULT + RESULT.replace(GAME, "g2"))

        def test_what_was_missed_before_the_program_started_is_none_of_its_games(self) -> None:
            def meet(peer: Peer) -> None:
                peer.welcome(missed=[{**ENDED, "game": "g0"}])
                peer.hear("seek")
                peer.say(STARTED, TURN)
                peer.hear("move")
                end(peer)

            self.assertEqual(self.play(meet)[0], RESULT)

        def test_an_aborted_game_is_not_counted(self) -> None:
            def meet(peer: Peer) -> None:
                begin(peer)
                peer.hear("move")
                aborted = {name: value for name, value in ENDED.items() if name != "rating"}
                peer.say({**aborted, "result": "none", "termination": "aborted"})
                peer.say({**STARTED, "game": "g2"}, {**TURN, "game": "g2"})
                peer.hear("move")
                peer.say({**ENDED, "game": "g2"}, DONE)
                peer.hear("bye")

            self.assertEqual(len(self.play(meet)[0].splitlines()), 2)

        def test_a_choice_that_fails_resigns_the_game(self) -> None:
            def fails(_: Turn) -> int:
                raise KeyError("no idea")

            for choose in (fails, norths, text, nothing):

                def meet(peer: Peer) -> None:
                    begin(peer)
                    peer.hear("resign")
                    end(peer)

                printed, logged = self.play(meet, choose=choose)
                self.assertEqual(printed, RESULT)
                self.assertIn(f"no move in game {GAME} at ply 1, position 7.7.7-7.7.7 0-0 s 1", logged)

        def test_strict_lets_the_failure_of_a_choice_through(self) -> None:
            def meet(peer: Peer) -> None:
                begin(peer)
                peer.hear("resign")
                peer.say(ENDED, DONE)
                peer.hear("bye")

            with self.assertRaises(modiar.IllegalMove):
                self.play(meet, choose=norths, strict=True)

        def test_a_resignation_outlasts_the_link(self) -> None:
            def break_off(peer: Peer) -> None:
                begin(peer)
                peer.hear("resign")

            def go_on(peer: Peer) -> None:
                peer.welcome(games=[GAME])
                peer.say({**STARTED, "resumed": True}, TURN)
                peer.hear("resign")
                end(peer)

            self.play(break_off, go_on, choose=norths)

        def test_a_forgiven_pit_is_chosen_again(self) -> None:
            def meet(peer: Peer) -> None:
                begin(peer)
                peer.hear("move")
                peer.say(refusal("illegal_move", GAME, game=GAME, clause="rules.slam.banned", legal=[2]))
                self.assertEqual(peer.hear("move")["pit"], 2)
                peer.say(refusal("stale_ply", GAME, game=GAME), refusal("duplicate", GAME, game=GAME))
                end(peer)

            self.play(meet)
            self.assertEqual([turn.legal for turn in self.asked], [(0, 1, 2), (2,)])

        def test_a_move_over_the_rate_is_sent_again(self) -> None:
            def meet(peer: Peer) -> None:
                begin(peer)
                for _ in range(6):
                    move = peer.hear("move")
                    peer.say(refusal("rate_limited", move["ref"]))
                end(peer)

            self.play(meet)
            self.assertEqual(len(self.asked), 1)

        def test_a_pause_is_told_and_waited_for(self) -> None:
            def meet(peer: Peer) -> None:
                peer.welcome()
                peer.hear("seek")
                until, why = int((time.time() + 1) * 1000), "too slow"
                peer.say({**DONE, "reason": "penalised", "until_ms": until, "message": why})
                begun = time.monotonic()
                peer.hear("seek")
                self.assertGreater(time.monotonic() - begun, 1)
                peer.say({"type": "goodbye", "reason": "replaced", "message": "another connection"})

            _, logged = self.play(meet, status=3)
            self.assertIn("the seek ended, penalised: too slow; the next seek may come in 1 s", logged)
            self.assertIn("goodbye: another connection", logged)

        def test_a_pause_for_ever_is_no_error(self) -> None:
            def meet(peer: Peer) -> None:
                peer.welcome()
                peer.hear("seek")
                peer.say({**DONE, "reason": "penalised", "until_ms": 2**53, "message": "far"})
                time.sleep(0.2)
                peer.say({"type": "goodbye", "reason": "replaced", "message": "another connection"})

            _, logged = self.play(meet, status=3)
            self.assertIn("goodbye: another connection", logged)

        def test_a_seek_that_ends_for_an_unknown_reason_is_not_sought_again_at_once(self) -> None:
            def meet(peer: Peer) -> None:
                peer.welcome()
                peer.hear("seek")
                peer.say({**DONE, "reason": "a reason of later"})
                begun = time.monotonic()
                peer.hear("seek")
                self.assertGreater(time.monotonic() - begun, 0.9)
                peer.say({"type": "goodbye", "reason": "replaced", "message": "another connection"})

            _, logged = self.play(meet, status=3)
            self.assertIn("the seek ended, a reason of later", logged)

        def test_a_server_that_drains_is_waited_for(self) -> None:
            def drain(peer: Peer) -> None:
                peer.welcome()
                peer.hear("seek")
                peer.say({"type": "notice", "code": "draining", "message": "so long"}, {**DONE, "reason": "draining"})

            def refuse(peer: Peer) -> None:
                peer.hear("hello")
                peer.say(refusal("draining", "hello"))
                peer.hear("end of file")

            def meet(peer: Peer) -> None:
                begin(peer)
                peer.hear("move")
                end(peer)

            self.assertEqual(self.play(drain, refuse, meet)[0], RESULT)

        def test_a_guest_that_is_forgotten_comes_back_as_another(self) -> None:
            def break_off(peer: Peer) -> None:
                peer.welcome()

            def forget(peer: Peer) -> None:
                self.assertIn("resume", peer.hear("hello"))
                peer.say(refusal("auth_failed", "hello"))

            def meet(peer: Peer) -> None:
                hello = peer.welcome()
                self.assertFalse({"name", "resume"} & hello.keys())
                peer.hear("seek")
                peer.say(STARTED, TURN)
                peer.hear("move")
                end(peer)

            self.assertEqual(self.play(break_off, forget, meet)[0], RESULT)

        def test_a_token_that_is_refused_twice_ends(self) -> None:
            def break_off(peer: Peer) -> None:
                peer.hear("hello")
                peer.say(WITHOUT_RESUME)

            def refuse(peer: Peer) -> None:
                self.assertEqual(peer.hear("hello")["token"], "modiar-secret")
                peer.say(refusal("auth_failed", "hello"))

            _, logged = self.play(break_off, refuse, refuse, status=3, name="ada", token="modiar-secret")
            self.assertIn("error auth_failed: no", logged)
            self.assertNotIn("secret", logged)

        def test_a_refused_hello_or_seek_ends_at_once(self) -> None:
            def refuse(peer: Peer) -> None:
                peer.hear("hello")
                peer.say(refusal("name_taken", "hello"))

            def refuse_pool(peer: Peer) -> None:
                peer.welcome()
                peer.hear("seek")
                peer.say(refusal("unknown_pool", "seek"))
                peer.hear("bye")

            self.assertIn("error name_taken: no", self.play(refuse, status=3)[1])
            self.assertIn("error unknown_pool: no", self.play(refuse_pool, status=3)[1])

        def test_a_port_that_is_none_for_bots_is_told(self) -> None:
            def hang_up(peer: Peer) -> None:
                peer.hear("hello")

            def alert(peer: Peer) -> None:
                peer.hear("hello")
                peer.say_bytes(b"\x15\x03\x03\x00\x02\x02\x32")

            self.assertIn("MODIAR_PORT may be no port for bots", self.play(hang_up, status=3)[1])
            self.assertTrue(self.play(alert, status=3)[1].endswith("the port may speak TLS; set MODIAR_TLS=1"))

        def test_ctrl_c_resigns_and_leaves(self) -> None:
            self.addCleanup(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))
            signal.signal(signal.SIGINT, signal.default_int_handler)

            def press(turn: Turn) -> int:
                press_ctrl_c()
                return turn.legal[0]

            def meet(peer: Peer) -> None:
                begin(peer)
                if peer.hear("move", "unseek")["type"] == "move":
                    peer.hear("unseek")
                peer.say({**DONE, "reason": "cancelled", "ref": "unseek"})
                peer.hear("resign")
                peer.say(ENDED)
                peer.hear("bye")

            self.assertEqual(self.play(meet, status=130, choose=press)[0], RESULT)


class Blocking(Scenes.Client):
    run_bot = staticmethod(modiar.run)

    def test_a_loop_of_ones_own_may_send_what_is_illegal(self) -> None:
        def meet(peer: Peer) -> None:
            begin(peer)
            self.assertEqual(peer.hear("move")["pit"], 3)
            end(peer)

        server = Server(meet)
        with modiar.connect(Settings("127.0.0.1", server.port, None, None)) as client:
            for turn in client.turns():
                with self.assertRaises(modiar.IllegalMove) as refused:
                    turn.play(3)
                self.assertEqual(refused.exception.clause, "rules.move.own-row")
                turn.play(3, raw=True)
        server.join()
        self.assertEqual([ended.score for ended in client.results], [(18, 24)])

    def test_a_name_is_registered(self) -> None:
        def meet(peer: Peer) -> None:
            hello = peer.welcome(token="modiar-0123456789abcdef")
            self.assertEqual((hello["name"], hello["register"]), ("ada", True))
            peer.hear("bye")

        server = Server(meet)
        settings = Settings("127.0.0.1", server.port, None, "another")
        self.assertEqual(modiar.register("ada", settings), "modiar-0123456789abcdef")
        server.join()

    def test_a_server_that_is_not_there_is_named_at_once(self) -> None:
        for run in (modiar.run, modiar.aio.run):
            with self.assertLogs("modiar") as logged:
                status = run(lambda turn: turn.legal[0], settings=Settings("127.0.0.1", 1))
            self.assertEqual(status, 3)
            self.assertIn("cannot connect to 127.0.0.1:1: ", logged.output[-1])


class Asyncio(Scenes.Client):
    run_bot = staticmethod(modiar.aio.run)

    def test_a_coroutine_may_choose(self) -> None:
        async def choose(turn: Turn) -> int:
            return turn.legal[-1]

        def meet(peer: Peer) -> None:
            begin(peer)
            self.assertEqual(peer.hear("move")["pit"], 2)
            end(peer)

        self.assertEqual(self.play(meet, choose=choose)[0], RESULT)


if __name__ == "__main__":
    unittest.main()
