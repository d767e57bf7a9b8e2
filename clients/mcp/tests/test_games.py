"""Games that an agent plays by the official client, over stdio, at a real daemon."""

from __future__ import annotations

import asyncio
import unittest
from typing import Any

from mcp.shared.exceptions import MCPError
from support import Agent, Case, agent, opponent, parameters


class Games(Case):
    async def test_a_whole_game_is_played_to_its_end(self) -> None:
        async with opponent(self.daemon), agent(parameters(self.daemon.port)) as player:
            table = await player.call("find_game", pool="practice")
            game = table["game"]
            self.assertEqual((table["status"], game["pool"], table["connected"]), ("your_turn", "practice", True))
            self.assertTrue(0 < game["your_ms_left"] <= 30_000, game)
            table = await player.to_the_end(table)
            end = table["end"]
            self.assertEqual((end["termination"], end["game"]), ("immobile", game["game"]))
            self.assertEqual(sum(end["score"].values()), 42)
            self.assertEqual((await player.call("results"))["results"], [end])
            self.assertIn("game_over: the game has ended, immobile", await player.refused("play", pit=0))
            self.assertEqual((await player.call("position"))["end"], end)

    async def test_two_agents_play_by_challenge(self) -> None:
        async with agent(parameters(self.daemon.port, MODIAR_NAME="Tanja")) as one:
            async with agent(parameters(self.daemon.port, MODIAR_NAME="Loubna")) as other:
                self.assertIn("unknown_bot", await one.refused("challenge", bot="Loubna"))
                await other.call("pools")
                for accept in (False, True):
                    asked, answered = await self.meet(one, other, accept)
                    self.assertEqual(accept, "declined" not in asked.get("refusal", ""))
                self.assertEqual((answered["game"]["you_are"], answered["game"]["opponent"]), ("north", "Tanja"))
                self.assertEqual((await one.call("resign"))["end"]["you"], "lost")
                self.assertEqual((await other.call("wait"))["end"]["you"], "won")

    async def meet(self, one: Agent, other: Agent, accept: bool) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the challenger and the challenged read."""
        asking = asyncio.create_task(one.ask("challenge", bot="Loubna", pool="blitz", side="south"))
        [challenge] = (await other.call("wait"))["challenges"]
        self.assertEqual((challenge["by"], challenge["you_are"], challenge["pool"]), ("Tanja", "north", "blitz"))
        answered = await other.call("answer_challenge", challenge=challenge["challenge"], accept=accept)
        asked = await asking
        return {"refusal": asked.text} if asked.error else asked.is_, answered

    async def test_a_challenge_that_nobody_answers_is_taken_back(self) -> None:
        async with agent(parameters(self.daemon.port)) as one:
            async with agent(parameters(self.daemon.port, MODIAR_NAME="Loubna")) as other:
                await other.call("pools")
                self.assertIn("cancelled: ", await one.refused("challenge", bot="loubna", wait_seconds=1))
                await other.until(lambda table: not table["challenges"])
                self.assertIn("unknown_challenge", await other.refused("answer_challenge", challenge="c1", accept=True))

    async def test_a_seek_is_taken_back_where_the_host_gives_the_call_up(self) -> None:
        async with agent(parameters(self.daemon.port)) as player:
            await player.call("pools")
            with self.assertRaisesRegex(MCPError, "timed out"):
                await player.client.call_tool("find_game", {}, read_timeout_seconds=1)
            await player.call("position")
            async with opponent(self.daemon):
                table = await player.call("wait", wait_seconds=1)
                self.assertEqual((table["status"], table["connected"]), ("no_game", True))

    async def test_a_seek_right_behind_one_that_was_given_up_is_another(self) -> None:
        async with agent(parameters(self.daemon.port)) as player:
            await player.call("pools")
            first = asyncio.create_task(player.client.call_tool("find_game", {}, read_timeout_seconds=2))
            await player.until(lambda table: "waiting for an opponent" in table["next"])
            with self.daemon.paused():  # so that it answers the end of the first when the second has begun
                with self.assertRaisesRegex(MCPError, "timed out"):
                    await first
                second = asyncio.create_task(player.call("find_game"))
                await player.call("position")
            async with opponent(self.daemon):
                self.assertEqual((await second)["status"], "your_turn")

    async def test_a_seek_without_an_opponent_is_taken_back(self) -> None:
        async with agent(parameters(self.daemon.port)) as player:
            table = await player.call("find_game", wait_seconds=1)
            self.assertEqual((table["status"], table["game"]), ("no_game", None))
            self.assertIn("in practice", table["next"])
            async with opponent(self.daemon):
                table = await player.call("wait", wait_seconds=1)
                self.assertEqual(table["status"], "no_game")
                self.assertEqual((await player.call("find_game"))["status"], "your_turn")

    async def test_an_illegal_pit_is_refused_by_its_clause_before_it_is_sent(self) -> None:
        async with opponent(self.daemon), agent(parameters(self.daemon.port)) as player:
            game = (await player.call("find_game"))["game"]
            theirs = 3 if game["you_are"] == "south" else 0
            for tool in ("play", "what_if"):
                said = await player.refused(tool, pit=theirs)
                self.assertIn(f"illegal_move: pit {theirs} breaks rules.move.own-row", said)
                self.assertIn(f"play one of {game['legal']}", said)
            table = await player.call("position")
            self.assertEqual((table["status"], table["game"]["moves"]), ("your_turn", game["moves"]))

    async def test_what_if_tells_what_play_then_does(self) -> None:
        async with opponent(self.daemon, thinks=True) as other, agent(parameters(self.daemon.port)) as player:
            await player.call("challenge", bot="Loubna", side="south")
            would = await player.call("what_if", pit=1)
            table = await player.call("play", pit=1, wait_seconds=0)
            self.assertEqual((table["status"], table["game"]["board"]), ("opponent_thinking", would["after"]))
            self.assertIn("call wait", table["next"])
            self.assertIn("not_your_turn", await player.refused("play", pit=2))
            self.assertIn("not_your_turn", await player.refused("what_if", pit=2))
            self.assertIn("games_limit", await player.refused("find_game"))
            other.may_play.set()
            table = await player.call("wait")
            self.assertEqual((table["status"], table["game"]["last"]["side"]), ("your_turn", "north"))

    async def test_resigning_loses_and_leaving_disconnects(self) -> None:
        async with opponent(self.daemon), agent(parameters(self.daemon.port)) as player:
            self.assertIn("game_over", await player.refused("resign"))
            await player.call("find_game")
            end = (await player.call("resign"))["end"]
            self.assertEqual((end["termination"], end["you"]), ("resignation", "lost"))
            self.assertFalse((await player.call("leave"))["connected"])
            self.assertIn("this bot has left the server", await player.refused("position"))
            self.assertEqual(len((await player.call("results"))["results"]), 1)
            await player.call("pools")
            self.assertTrue((await player.call("position"))["connected"])

    async def test_a_game_outlives_the_server(self) -> None:
        at_the_daemon = parameters(self.daemon.port)
        async with opponent(self.daemon), agent(at_the_daemon) as player, agent(at_the_daemon) as idle:
            await idle.call("pools")
            table = await player.call("find_game")
            self.daemon.kill()
            for each in (player, idle):
                await each.until(lambda table: not table["connected"])
            # What is played without a link is sent after the return.
            pit = table["game"]["legal"][0]
            table = await player.call("play", pit=pit, wait_seconds=0)
            self.assertEqual((table["status"], table["connected"]), ("opponent_thinking", False))
            self.assertIn("connection_lost", await idle.refused("challenge", bot="Loubna"))
            self.daemon.start()
            table = await player.to_the_end(await player.call("wait"))
            self.assertEqual(table["end"]["termination"], "immobile")
            mine = 0 if table["end"]["you_are"] == "south" else 1
            self.assertEqual(table["end"]["moves"][mine], str(pit))


if __name__ == "__main__":
    unittest.main()
