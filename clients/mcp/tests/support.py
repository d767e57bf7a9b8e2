"""What the tests share: a daemon of their own, an agent that is the official client, and an opponent of our library."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

FOLDER = Path(__file__).resolve().parents[1]
PROJECT = FOLDER.parents[1]
SOURCES = [str(FOLDER / "src"), str(PROJECT / "clients/python/src")]
sys.path[:0] = SOURCES

# The daemon's program: the test that runs this one names it.
PROGRAM = os.environ.get("MODIAR", str(PROJECT / "target/debug/modiar"))

from mcp import Client  # noqa: E402
from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: E402
from mcp_types import CallToolResult, TextContent  # noqa: E402

import modiar.aio  # noqa: E402
from modiar import wire  # noqa: E402

# A test of asyncio's own complains of each step that takes its time.
logging.getLogger("asyncio").setLevel(logging.ERROR)

PATIENCE = 30.0  # seconds, for what takes a moment

POOLS = """\
registration = true
[[pool]]
name = "blitz"
base_ms = 30000
increment_ms = 200
openings = "start"
[[pool]]
name = "practice"
base_ms = 60000
increment_ms = 1000
illegal_moves = 3
rated = false
openings = "start"
"""


class Daemon:
    """A daemon on a free port."""

    def __init__(self, config: str, house_bots: bool) -> None:
        self.port = 0
        self._folder = tempfile.TemporaryDirectory()
        self._house_bots = str(house_bots).lower()
        self._config = Path(self._folder.name) / "modiar.toml"
        self._config.write_text(config, encoding="utf-8")

    def start(self) -> None:
        """Starts it, at the port that it had if it was started before."""
        settings = {"MODIAR_DATA": f"{self._folder.name}/data", "MODIAR_HOUSE_BOTS": self._house_bots, "MODIAR_OVERLOAD_MS": "0"}
        words = [PROGRAM, "serve", "--config", str(self._config), "--bots", f"127.0.0.1:{self.port}"]
        self._process = subprocess.Popen(
            [*words, "--http", "127.0.0.1:0"],
            env={"PATH": os.environ["PATH"], **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout
        self.port = int(json.loads(self._process.stdout.readline())["bots"].rpartition(":")[2])

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    @contextlib.contextmanager
    def paused(self) -> Generator[None]:
        """It does nothing meanwhile."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def remove(self) -> None:
        """Kills it, and what it stored."""
        self.kill()
        self._folder.cleanup()

    @property
    def settings(self) -> modiar.Settings:
        return modiar.Settings("127.0.0.1", self.port, None, None, False, None)


@contextlib.asynccontextmanager
async def scripted(answers: dict[str, dict[str, Any]]) -> AsyncGenerator[int]:
    """A server that answers each message of these types so, and no other; its port."""

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for line in reader:
            if answer := answers.get(json.loads(line)["type"]):
                writer.write(json.dumps(answer).encode() + b"\n")
        writer.close()

    server = await asyncio.start_server(meet, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


class Answer:
    """What a tool answered."""

    def __init__(self, result: CallToolResult) -> None:
        self.error = bool(result.is_error)
        self.text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
        self.is_: dict[str, Any] = result.structured_content or {}


class Agent:
    """An agent at the board, and what its program wrote to stderr."""

    def __init__(self, client: Client, log: IO[str]) -> None:
        self.client, self._log = client, log

    async def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """What the tool answers, which must be no error."""
        answer = await self.ask(tool, **arguments)
        assert not answer.error, answer.text
        return answer.is_

    async def refused(self, tool: str, **arguments: object) -> str:
        """What the tool says to what cannot be done."""
        answer = await self.ask(tool, **arguments)
        assert answer.error, answer.text
        return answer.text

    async def ask(self, tool: str, **arguments: object) -> Answer:
        return Answer(await self.client.call_tool(tool, arguments))

    async def until(self, so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The table, once it is so, which a moment brings."""

        async def look() -> dict[str, Any]:
            while not so(table := await self.call("position")):
                await asyncio.sleep(0.01)
            return table

        return await asyncio.wait_for(look(), PATIENCE)

    async def to_the_end(self, table: dict[str, Any]) -> dict[str, Any]:
        """Plays the first legal pit until the game is over."""
        while table["status"] != "ended":
            mine = table["status"] == "your_turn"
            table = await (self.call("play", pit=table["game"]["legal"][0]) if mine else self.call("wait"))
        return table

    def log(self) -> str:
        self._log.seek(0)
        return self._log.read()


def parameters(port: int, **environment: str) -> StdioServerParameters:
    """How to start the program of this checkout."""
    settings = {"PYTHONPATH": os.pathsep.join(SOURCES), "PYTHONDONTWRITEBYTECODE": "1", "MODIAR_PORT": str(port)}
    return StdioServerParameters(command=sys.executable, args=["-m", "modiar_mcp"], env={**settings, **environment})


@contextlib.asynccontextmanager
async def agent(started: StdioServerParameters, mode: str = "auto") -> AsyncGenerator[Agent]:
    """The official client; in the mode `legacy` it begins by `initialize`, as hosts do that know no newer way."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
        async with Client(stdio_client(started, log), mode=mode) as client:
            yield Agent(client, log)


class Opponent:
    """A bot of our library that seeks a game, takes every challenge up, and plays the last legal pit when it is let."""

    def __init__(self, client: modiar.aio.Client) -> None:
        self.client = client
        self.may_play = asyncio.Event()
        client.heard = self._heard

    async def play(self) -> None:
        async for turn in self.client.follow():
            await self.may_play.wait()
            turn.play(turn.legal[-1])

    def _heard(self, message: wire.ServerMessage) -> None:
        if message["type"] == "challenged":
            self.client.send({"type": "accept", "challenge": message["challenge"]})


@contextlib.asynccontextmanager
async def opponent(daemon: Daemon, thinks: bool = False) -> AsyncGenerator[Opponent]:
    """Seeks in practice; one that `thinks` seeks nothing, and plays nothing until it may."""
    async with modiar.aio.connect(replace(daemon.settings, name="Loubna")) as client:
        bot = Opponent(client)
        if not thinks:
            bot.may_play.set()
            client.seek("practice")
        playing = asyncio.create_task(bot.play())
        try:
            yield bot
        finally:
            playing.cancel()
            await asyncio.wait({playing})


async def until(ready: Callable[[], bool]) -> None:
    """Waits for something that a moment brings."""

    async def look() -> None:
        while not ready():
            await asyncio.sleep(0.01)

    await asyncio.wait_for(look(), PATIENCE)


class Case(unittest.IsolatedAsyncioTestCase):
    """A test with a daemon."""

    config = POOLS
    house_bots = False

    def setUp(self) -> None:
        self.daemon = Daemon(self.config, self.house_bots)
        self.daemon.start()
        self.addCleanup(self.daemon.remove)
