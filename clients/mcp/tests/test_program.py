"""The program around the tools: what it offers, what it refuses, how it begins and ends, and what it never shows."""

from __future__ import annotations

import signal
import subprocess
import sys
import unittest
from dataclasses import replace
from typing import Any

from support import PATIENCE, Agent, Case, agent, opponent, parameters, scripted, until

import modiar
import modiar_mcp

TOOLS = {
    "rules": (True, False), "pools": (True, False), "position": (True, False), "what_if": (True, False),
    "wait": (True, False), "results": (True, False), "find_game": (False, False), "challenge": (False, False),
    "answer_challenge": (False, False), "play": (False, True), "resign": (False, True), "leave": (False, True),
}  # fmt: skip

RUN = "from modiar_mcp.server import main; main()"
PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'

# A port where nobody listens.
NOWHERE = 1


class Offers(unittest.IsolatedAsyncioTestCase):
    async def test_each_tool_has_its_schemas_and_says_what_it_does_to_the_world(self) -> None:
        async with agent(parameters(NOWHERE)) as player:
            tools = {tool.name: tool for tool in (await player.client.list_tools()).tools}
            self.assertEqual(tools.keys(), TOOLS.keys())
            for name, (reads, destroys) in TOOLS.items():
                tool = tools[name]
                hints = tool.annotations
                assert hints and tool.description
                self.assertEqual((bool(hints.read_only_hint), bool(hints.destructive_hint)), (reads, destroys), name)
                self.assertEqual(tool.output_schema is None, name == "rules")
            pit = tools["play"].input_schema["properties"]["pit"]
            self.assertEqual((pit["type"], pit["minimum"], pit["maximum"]), ("integer", 0, 5))

    async def test_the_rules_need_no_server(self) -> None:
        async with agent(parameters(NOWHERE), mode="legacy") as player:
            server = player.client.server_info
            assert server
            self.assertEqual((server.name, server.version), ("modiar", modiar_mcp.__version__))
            self.assertIn("find_game", player.client.instructions or "")
            said = (await player.ask("rules")).text
            self.assertIn("rules.slam.banned", said)
            [page] = (await player.client.read_resource("modiar://rules")).contents
            self.assertIn(page.model_dump()["text"], said)

    async def test_a_server_that_is_not_there_is_named(self) -> None:
        async with agent(parameters(NOWHERE)) as player:
            for tool in ("pools", "position", "find_game", "wait"):
                self.assertIn("cannot connect to 127.0.0.1:1: ", await player.refused(tool))
            self.assertIn("game_over: no game is running", await player.refused("play", pit=0))

    async def test_a_server_without_pools_or_words_is_borne(self) -> None:
        rules = {"name": "modiar", "repetition": 3, "quiet_plies": 200, "majority": False, "illegal_moves": 3}
        time = {"base_ms": 60000, "increment_ms": 1000, "grace_ms": 50}
        pool = {"name": "practice", "time": time, "rated": False, "openings": "start", "rules": rules}
        welcome: dict[str, Any] = {
            "type": "welcome", "protocol": 1, "server": "modiar/9", "pools": [pool], "games": [], "missed": [],
            "bot": {"name": "guest-1", "guest": True, "ratings": {}},
            "limits": {"line_bytes": 4096, "messages_per_s": 20, "games": 1},
        }  # fmt: skip
        penalised = {"type": "seek_ended", "pool": "practice", "reason": "penalised", "until_ms": 1}
        async with scripted({"hello": {**welcome, "pools": []}}) as port, agent(parameters(port)) as player:
            for pool_name in (None, "practice"):
                self.assertIn("the server has no pool", await player.refused("find_game", pool=pool_name))
        async with scripted({"hello": welcome, "seek": penalised}) as port, agent(parameters(port)) as player:
            table = await player.call("find_game", wait_seconds=0)
            self.assertIn("penalised: this bot has to pause", table["next"])

    async def test_an_unknown_tool_and_bad_arguments_are_told(self) -> None:
        async with agent(parameters(NOWHERE)) as player:
            self.assertIn("Unknown tool: castle", await player.refused("castle"))
            for pit in (-1, 6, "a", None, 2.5):
                self.assertIn("pit\n", await player.refused("play", pit=pit))
            self.assertIn("wait_seconds\n", await player.refused("wait", wait_seconds=51))
            self.assertIn("side\n", await player.refused("challenge", bot="Tanja", side="west"))
            self.assertIn("bot\n", await player.refused("challenge"))

    def test_a_wrong_setting_ends_it_and_is_named(self) -> None:
        started = parameters(NOWHERE, MODIAR_PORT="abc")
        ended = subprocess.run(
            [started.command, *started.args], env=started.env, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        self.assertEqual((ended.returncode, ended.stdout), (2, ""))
        self.assertIn("MODIAR_PORT is 'abc'", ended.stderr)


class Ends(Case):
    async def begin(self, player: Agent) -> str:
        """The id of a game that has begun."""
        game: str = (await player.call("find_game"))["game"]["game"]
        return game

    async def test_a_guest_resigns_when_stdin_is_closed(self) -> None:
        async with opponent(self.daemon) as other:
            async with agent(parameters(self.daemon.port)) as player:
                game = await self.begin(player)
            await until(lambda: bool(other.client.results))
            self.assertEqual((other.client.results[0].game, other.client.results[0].termination), (game, "resignation"))

    async def test_a_registered_bot_comes_back_to_its_game_and_shows_no_token(self) -> None:
        token = modiar.register("ada", self.daemon.settings)
        started = parameters(self.daemon.port, MODIAR_NAME="ada", MODIAR_TOKEN=token)
        shown: list[str] = []
        async with opponent(self.daemon):
            async with agent(started) as player:
                game = await self.begin(player)
                shown += [player.log(), (await player.ask("pools")).text]
            async with agent(started) as player:
                answer = await player.ask("position")
                self.assertEqual((answer.is_["status"], answer.is_["game"]["game"]), ("your_turn", game))
                end = await player.to_the_end(answer.is_)
                self.assertEqual(end["end"]["game"], game)
                shown += [player.log(), answer.text, str(end)]
        self.assertIn("playing as ada", shown[0])
        self.assertNotIn(token.removeprefix("modiar-"), "\n".join(shown))

    async def test_a_bot_that_is_replaced_stays_away_until_it_is_told_to_come(self) -> None:
        token = modiar.register("ada", self.daemon.settings)
        async with agent(parameters(self.daemon.port, MODIAR_NAME="ada", MODIAR_TOKEN=token)) as player:
            await player.call("pools")
            with modiar.connect(replace(self.daemon.settings, name="ada", token=token)):
                self.assertIn("replaced: ", (await player.ask("wait")).text)
                self.assertIn("replaced: ", await player.refused("position"))
            self.assertEqual((await player.call("pools"))["you"], "ada")

    async def test_a_wrong_token_is_told_by_its_code(self) -> None:
        modiar.register("ada", self.daemon.settings)
        async with agent(parameters(self.daemon.port, MODIAR_NAME="ada", MODIAR_TOKEN="modiar-secret")) as player:
            said = await player.refused("find_game")
            self.assertIn("auth_failed: ", said)
            self.assertNotIn("modiar-secret", said + player.log())


class Program(unittest.TestCase):
    def test_ctrl_c_and_sigterm_end_it_while_stdin_is_open(self) -> None:
        started = parameters(NOWHERE)
        # A shell's background has SIGINT ignored, and so would the program.
        begin = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {RUN}"
        for number in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen(
                [sys.executable, "-c", begin],
                env=started.env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            ) as program:
                assert program.stdin and program.stdout and program.stderr
                program.stdin.write(PING)
                program.stdin.flush()
                self.assertIn('"id":1', program.stdout.readline())
                program.send_signal(number)
                self.assertEqual(program.wait(PATIENCE), 128 + number)
                self.assertEqual(program.stderr.read(), "")

    def test_it_says_nothing_on_stdout_and_ends_with_stdin(self) -> None:
        started = parameters(NOWHERE)
        words = [started.command, *started.args]
        ended = subprocess.run(words, env=started.env, input="", capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stdout), (0, ""), ended.stderr)


if __name__ == "__main__":
    unittest.main()
