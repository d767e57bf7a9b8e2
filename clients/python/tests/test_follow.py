"""The asyncio client where the program asks for games by itself."""

from __future__ import annotations

import asyncio
import unittest

from support import ENDED, GAME, STARTED, TURN, Peer, Server

import modiar.aio
from modiar import Settings


class Follow(unittest.IsolatedAsyncioTestCase):
    """A program that asks for games by itself."""

    async def test_a_game_that_was_not_sought_is_played_and_everything_is_told(self) -> None:
        def meet(peer: Peer) -> None:
            peer.welcome()
            self.assertEqual(peer.hear("challenge")["opponent"], "Loubna")
            peer.say(STARTED, TURN)
            self.assertEqual(peer.hear("move")["pit"], 2)
            peer.say({**TURN, "ply": TURN["ply"] + 2})
            peer.hear("resign")
            peer.say(ENDED)
            peer.hear("bye")

        server, heard = Server(meet), list[str]()
        async with modiar.aio.connect(Settings("127.0.0.1", server.port, None, None)) as client:
            self.assertTrue(client.linked)
            client.heard = lambda message: heard.append(message["type"])
            over = asyncio.Event()
            client.ended = lambda _: over.set()
            client.send({"type": "challenge", "opponent": "Loubna", "pool": "practice"})
            following = asyncio.create_task(self.answer(client))
            await asyncio.wait_for(over.wait(), 10)
            following.cancel()
            await asyncio.wait({following})
        await asyncio.to_thread(server.join)
        self.assertEqual(heard, ["started", "turn", "turn", "ended"])
        self.assertEqual([ended.game for ended in client.results], [GAME])

    async def answer(self, client: modiar.aio.Client) -> None:
        async for turn in client.follow():
            if turn.ply == TURN["ply"]:
                turn.play(turn.legal[-1])
            else:
                client.resign(turn.game)

    async def test_a_seek_is_taken_back(self) -> None:
        def meet(peer: Peer) -> None:
            peer.welcome()
            peer.hear("seek")
            peer.hear("unseek")
            peer.say({"type": "seek_ended", "pool": "practice", "reason": "cancelled", "ref": "unseek"})
            peer.hear("bye")  # it seeks no more

        server = Server(meet)
        async with modiar.aio.connect(Settings("127.0.0.1", server.port, None, None)) as client:
            client.seek("practice")
            client.unseek()
            ended = asyncio.Event()
            client.heard = lambda _: ended.set()
            following = asyncio.create_task(self.answer(client))
            await asyncio.wait_for(ended.wait(), 10)
            following.cancel()
            await asyncio.wait({following})
        await asyncio.to_thread(server.join)


if __name__ == "__main__":
    unittest.main()
