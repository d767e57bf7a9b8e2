"""The tools and resources that an agent is offered, and the program around them: stdout is the protocol's alone."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
from collections.abc import AsyncGenerator, Generator
from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from modiar import SettingError, Settings, wire

from . import __version__, texts, views
from .game import Game
from .seat import ANSWER_SECONDS, Refused, Seat

# Exit status of a wrong setting, as that of every bot.
USAGE = 2

# What ends the program beside the end of stdin.
SIGNALS = (signal.SIGINT, signal.SIGTERM)

# The longest that a tool waits: many hosts give a call up after a minute.
MOST_SECONDS = 50

PitNumber = Annotated[int, Field(ge=0, le=5, description="absolute: South's are 0 1 2, North's 3 4 5")]
PoolName = Annotated[str | None, Field(max_length=64, description="one of `pools`; null: the slowest")]
Seconds = Annotated[int, Field(ge=0, le=MOST_SECONDS, description="how long to wait at most")]
Name = Annotated[str, Field(min_length=2, max_length=24, description="the bot's name, house-greedy say")]
ChallengeId = Annotated[str, Field(min_length=1, max_length=64, description="the id that `wait` and `position` list")]

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
BEGINS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)
DECIDES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True)

log = logging.getLogger("modiar")


@contextlib.contextmanager
def told() -> Generator[None]:
    """Tells the agent what was refused."""
    try:
        yield
    except Refused as refused:
        raise ToolError(str(refused)) from refused


class Tools:
    """What an agent may do, one method a tool; the docstrings are what it reads."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat

    def rules(self) -> str:
        """The rules of the game in short. Read them once, before the first game."""
        return texts.RULES

    async def pools(self) -> views.Pools:
        """The server's pools with their clocks, the slowest first, and who you are there. Connects if need be."""
        with told():
            client = await self._seat.open(again=True)
        return views.pools_view(client.welcome)

    async def find_game(self, pool: PoolName = None, wait_seconds: Seconds = 30) -> views.Table:
        """Seek one game in a pool and wait until it starts and it is your turn. If the time is over first, the seek is
        taken back. Your clock runs from the start of your turn: be ready to move."""
        over = time.monotonic() + wait_seconds
        with told():
            await self._seat.find(pool, wait_seconds)
            return await self._first_turn(over)

    async def challenge(
        self,
        bot: Name,
        pool: PoolName = None,
        side: Literal["south", "north", "random"] = "random",
        rated: bool = False,
        wait_seconds: Seconds = 30,
    ) -> views.Table:
        """Ask one bot for a game on the clock of a pool. Where the server has bots of its own, house-random,
        house-greedy, house-level1 to house-level8 and house-perfect accept at once. A game with a guest cannot be
        rated."""
        over = time.monotonic() + wait_seconds
        with told():
            await self._seat.challenge(bot, pool, side, rated, wait_seconds)
            return await self._first_turn(over)

    async def answer_challenge(self, challenge: ChallengeId, accept: bool) -> views.Table:
        """Accept or decline a challenge of another bot, which `wait` and `position` list. Accepted, its game starts at
        once."""
        with told():
            await self._seat.answer(challenge, accept)
            return await self._first_turn(time.monotonic() + ANSWER_SECONDS)

    async def position(self) -> views.Table:
        """What is true now: the board as numbers and as a picture, your side, what is legal, the clocks, the last ply,
        or how the game ended."""
        with told():
            await self._seat.open()
        return self._table()

    def what_if(self, pit: PitNumber) -> views.WhatIf:
        """What one legal move of yours would lead to, by the rules alone; nothing is sent, and your clock runs on."""
        with told():
            game = self._seat.my_game()
            self._seat.check(game, pit)
        return views.what_if_view(game.position, pit, game.side)

    async def play(self, pit: PitNumber, wait_seconds: Seconds = 30) -> views.Table:
        """Play a pit, then wait for your next turn or the end of the game. An illegal pit is refused before it is sent.
        If the opponent thinks longer, call `wait`."""
        with told():
            game = self._seat.play(pit)
            await self._seat.until(lambda: not _thinks(game) or game.refused is not None, wait_seconds)
            if game.refused and _thinks(game):
                raise Refused(_words(game.refused))
        return self._table()

    async def wait(self, wait_seconds: Seconds = 30) -> views.Table:
        """Wait until it is your turn, the game is over, or another bot challenges you."""
        with told():
            await self._seat.open()
            await self._seat.until(self._something_to_do, wait_seconds)
        return self._table()

    async def resign(self) -> views.Table:
        """Give the running game up: the opponent wins."""
        with told():
            game = self._seat.resign()
            await self._seat.until(lambda: game.over, ANSWER_SECONDS)
        return self._table()

    def results(self) -> views.Results:
        """The games that have ended since this program started."""
        return views.Results(results=[views.end_view(end, game) for end, game in self._seat.results])

    async def leave(self) -> views.Table:
        """Give a running game up, say goodbye to the server and disconnect. `find_game` or `challenge` connects
        again."""
        await self._seat.leave(resign=True)
        return self._table()

    async def board(self) -> str:
        """The current board as a picture, with its position in one line."""
        game = self._seat.game
        if not game:
            raise ResourceError("there is no game; call find_game or challenge")
        return f"{views.picture(game.position, game.side)}\n{game.position.text}\n"

    async def _first_turn(self, over: float) -> views.Table:
        """Waits for it until then, by time.monotonic()."""
        await self._seat.until(self._something_to_do, over - time.monotonic())
        return self._table()

    def _something_to_do(self) -> bool:
        game = self._seat.game
        if game and not game.shown:
            return not _thinks(game)
        return bool(self._seat.open_challenges())

    def _table(self) -> views.Table:
        game, challenges = self._seat.game, self._seat.open_challenges()
        if game and game.over:
            game.shown = True
        return views.Table(
            status=_status(game),
            next=self._next(game, bool(challenges)),
            connected=self._seat.connected,
            game=views.game_view(game) if game else None,
            end=views.end_view(game.end, game) if game and game.end else None,
            challenges=[views.challenge_view(challenge) for challenge in challenges],
        )

    def _next(self, game: Game | None, challenged: bool) -> str:
        """One sentence of what to do."""
        lost = "" if self._seat.connected else " (the link is lost and comes back by itself, your move with it)"
        if game and game.turn:
            return f"play one of {list(game.turn.legal)} before your_ms_left is over{lost}"
        if game and game.runs():
            return f"the opponent is still thinking{lost}; call wait"
        if challenged:
            return "answer a challenge with answer_challenge"
        if self._seat.away:
            return f"{self._seat.away}; call pools, find_game or challenge to connect again"
        if game and not game.end:
            return "the server does not know that game any more; call find_game or challenge"
        return f"no game is running{self._seat.waited_for()}; call find_game or challenge"


def _thinks(game: Game) -> bool:
    return game.runs() and not game.is_mine()


def _words(error: wire.Error) -> str:
    """Code, clause where there is one, and what the server says of it."""
    clause = f" ({error['clause']})" if "clause" in error else ""
    return f"{error['code']}{clause}: {error['message']}"


def _status(game: Game | None) -> views.Status:
    if not game:
        return "no_game"
    if game.over:
        return "ended"
    return "your_turn" if game.is_mine() else "opponent_thinking"


def serve(settings: Settings) -> MCPServer[None]:
    """The server with all its tools; the bot says goodbye when it ends."""
    seat = Seat(settings)

    @contextlib.asynccontextmanager
    async def lifespan(_: MCPServer[None]) -> AsyncGenerator[None]:
        _stop_at_signals(seat)
        try:
            yield
        finally:
            await seat.stop()

    server: MCPServer[None] = MCPServer(
        "modiar", version=__version__, instructions=texts.INSTRUCTIONS, lifespan=lifespan, log_level="WARNING"
    )
    tools = Tools(seat)
    for read in (tools.pools, tools.position, tools.what_if, tools.wait, tools.results):
        server.add_tool(read, annotations=READS)
    for begin in (tools.find_game, tools.challenge, tools.answer_challenge):
        server.add_tool(begin, annotations=BEGINS)
    for decide in (tools.play, tools.resign, tools.leave):
        server.add_tool(decide, annotations=DECIDES)
    server.add_tool(tools.rules, annotations=READS, structured_output=False)
    server.resource("modiar://rules", name="rules", mime_type="text/plain")(tools.rules)
    server.resource("modiar://board", name="board", mime_type="text/plain")(tools.board)
    return server


def _stop_at_signals(seat: Seat) -> None:
    """Ctrl-C and SIGTERM say goodbye as the end of stdin does; a second one waits for nothing."""
    loop, stopping = asyncio.get_running_loop(), list[asyncio.Task[None]]()

    def heard(number: int) -> None:
        for signal_ in SIGNALS:
            loop.remove_signal_handler(signal_)
            signal.signal(signal_, signal.SIG_DFL)
        stopping.append(loop.create_task(seat.stop()))
        # The thread that waits for stdin would not let the interpreter end.
        stopping[0].add_done_callback(lambda _: os._exit(128 + number))

    for number in SIGNALS:
        # Where the shell has it ignored, nothing is changed; elsewhere than on Unix Python does what it does.
        if signal.getsignal(number) is not signal.SIG_IGN:
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, heard, number)


def main() -> None:
    """`modiar-mcp`: serves one agent on stdin and stdout until stdin ends."""
    parser = argparse.ArgumentParser(prog="modiar-mcp", description="Modiar for agents that speak MCP, over stdio.")
    parser.add_argument("--version", action="version", version=f"modiar-mcp {__version__}")
    parser.parse_args()
    try:
        settings = Settings()
        settings.context()
    except SettingError as error:
        sys.exit(refuse(error))
    server = serve(settings)
    log.setLevel(logging.INFO)
    server.run()


def refuse(error: SettingError) -> int:
    """Tells a person which setting is wrong; returns the exit status."""
    print(error, file=sys.stderr)
    return USAGE
