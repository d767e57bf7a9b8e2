"""The bot that an agent moves: one client of `modiar.aio`, followed in the background, and what is known of its games.

    no client ──open──▶ connected ◀──by itself──▶ link lost
        ▲                   │
        └── leave, failure ─┘
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import time
from collections.abc import AsyncGenerator, Callable
from typing import Literal

import modiar.aio
from modiar import Ended, ModiarError, Pit, Settings, wire

from .game import Game
from .texts import CLAUSES
from .views import slowest_first

# The side that a challenger asks for.
Asked = Literal["south", "north", "random"]

# How long the server may take to answer what it answers at once, and to tell the games of a bot that comes back.
ANSWER_SECONDS = 5.0

# After these a move counts, or is sent again by the client.
NO_REFUSAL = ("duplicate", "rate_limited")

# What the ends of a seek mean to an agent that waits, where the server does not say it.
SEEK_ENDS = {"penalised": "this bot has to pause", "draining": "the server is about to stop"}

# How many ends of games are kept.
RESULTS_KEPT = 100

log = logging.getLogger("modiar")


class Refused(Exception):
    """What was asked for cannot be done now; the text begins with a code, and says what to do."""


class Request:
    """A message whose answer is awaited: by its mark, and a challenge by its id too."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.challenge: str | None = None
        self.refusal: str | None = None  # code and words


class Seat:
    """One bot. Its methods raise Refused."""

    def __init__(self, settings: Settings) -> None:
        self.results: list[tuple[Ended, Game | None]] = []  # the newest last
        self.challenges: dict[str, tuple[wire.Challenged, float]] = {}  # that wait for an answer, and until when
        self.away = ""  # why there is no client any more
        self._settings = settings
        self._client: modiar.aio.Client | None = None
        self._following: asyncio.Task[None] | None = None
        self._games: dict[str, Game] = {}
        self._request: Request | None = None
        self._marks = itertools.count(1)
        self._sought = False
        self._waited_for = ""  # what the newest seek waits for, in the server's words
        self._busy = asyncio.Lock()  # held while a game is looked for
        self._opening = asyncio.Lock()
        self._changed = asyncio.Event()

    # What is true now.

    @property
    def connected(self) -> bool:
        return self._client is not None and self._client.linked

    @property
    def game(self) -> Game | None:
        """The game that wants a move, else one that runs, else the newest."""
        games = list(self._games.values())
        first = (game for wanted in (Game.is_mine, Game.runs) for game in games if wanted(game))
        return next(first, games[-1] if games else None)

    @property
    def running(self) -> bool:
        return self.game is not None and self.game.runs()

    def open_challenges(self) -> list[wire.Challenged]:
        now = time.monotonic()
        self.challenges = {name: known for name, known in self.challenges.items() if known[1] > now}
        return [challenge for challenge, _ in self.challenges.values()]

    def waited_for(self) -> str:
        """Why the newest seek found no game, where it found none."""
        return f" ({self._waited_for})" if self._waited_for else ""

    def my_game(self) -> Game:
        """The game in which it is the bot's turn."""
        game = self.game
        if game and game.is_mine():
            return game
        if game and game.runs():
            raise Refused("not_your_turn: the opponent is to move; call wait")
        if game and game.end:
            raise Refused(f"game_over: the game has ended, {game.end.termination}; call find_game or challenge")
        raise Refused(f"game_over: no game is running{self._why()}; call find_game or challenge")

    # What may be done.

    async def open(self, again: bool = False) -> modiar.aio.Client:
        """The client, connected at the first need; once it was given up, only where it is to be tried `again`."""
        async with self._opening:
            if self._client:
                return self._client
            if self.away and not again:
                raise Refused(f"{self.away}; call pools, find_game or challenge to connect again")
            client = modiar.aio.connect(self._settings)
            client.heard, client.ended = self._heard, self._ended
            try:
                await client.__aenter__()
            except ModiarError as error:
                raise Refused(str(error)) from error
            self._client, self.away = client, ""
            self._following = asyncio.create_task(self._follow(client))
        listed = client.welcome["games"]
        await self.until(lambda: all(self._is_told(name) for name in listed), ANSWER_SECONDS)
        return client

    def _is_told(self, name: str) -> bool:
        """Whether all is there that is told of a game at a return."""
        return name in self._games and self._games[name].is_told()

    async def until(self, ready: Callable[[], bool], seconds: float) -> bool:
        """Waits until something is so, or the connection failed; whether it is so."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._until(ready), seconds)
        return ready()

    async def find(self, pool: str | None, seconds: float) -> None:
        """Seeks one game, in the slowest pool where none is named, and takes the seek back when the time is over."""
        async with self._sitting_down():
            client = await self.open(again=True)
            self._check_free()
            name = self._pool(client, pool)
            # The end of a seek that was taken back is not that of this one.
            await self.until(lambda: not self._sought, ANSWER_SECONDS)
            self._waited_for = f"the seek in {name} was taken back"
            self._sought = client.linked
            client.seek(name)
            try:
                await self.until(lambda: self.running, seconds)
            finally:
                if not self.running:
                    client.unseek()
            # A game that starts as the seek is taken back is played.
            await self.until(lambda: self.running or not self._sought, ANSWER_SECONDS)

    async def challenge(self, bot: str, pool: str | None, side: Asked, rated: bool, seconds: float) -> None:
        """Asks one bot for a game, and takes that back when the time is over."""
        async with self._sitting_down():
            client = await self.open(again=True)
            self._check_free()
            name = self._pool(client, pool)
            request = self._ask({"type": "challenge", "opponent": bot, "pool": name, "side": side, "rated": rated})
            try:
                there = await self.until(lambda: self.running or request.refusal is not None, seconds)
            finally:
                if not self.running and not request.refusal and request.challenge:
                    client.send({"type": "decline", "challenge": request.challenge})
            if not there:
                await self.until(lambda: self.running or request.refusal is not None, ANSWER_SECONDS)
            if not self.running:
                raise Refused(request.refusal or f"expired: {bot} did not answer in {seconds:.0f} s; call find_game")

    async def answer(self, challenge: str, accept: bool) -> None:
        """Takes a challenge up, or turns it down."""
        async with self._sitting_down():
            await self.open()
            if challenge not in {known["challenge"] for known in self.open_challenges()}:
                raise Refused("unknown_challenge: no such challenge waits; wait and position list those that do")
            if accept:
                self._check_free()
            request = self._ask(
                {"type": "accept", "challenge": challenge} if accept else {"type": "decline", "challenge": challenge}
            )
            request.challenge = challenge
            await self.until(lambda: self.running or request.refusal is not None, ANSWER_SECONDS)
            self.challenges.pop(challenge, None)
            if accept and not self.running:
                raise Refused(request.refusal or "internal: the server did not answer; call position")

    def play(self, pit: Pit) -> Game:
        """Plays a pit in the game that wants a move; where the link is lost it is sent after the return."""
        game = self.my_game()
        self.check(game, pit)
        game.play(pit)
        return game

    def check(self, game: Game, pit: Pit) -> None:
        """Refuses a pit that the rules forbid."""
        if clause := game.position.clause(pit):
            raise Refused(
                f"illegal_move: pit {pit} breaks {clause}: {CLAUSES[clause]}; nothing was sent and your clock runs: "
                f"play one of {list(game.position.legal())}"
            )

    def resign(self) -> Game:
        """Gives the running game up; its end is told later."""
        game = self.game
        if not self._client or not game or not game.runs():
            raise Refused("game_over: no game is running; there is nothing to resign")
        self._client.resign(game.started["game"])
        return game

    async def leave(self, resign: bool) -> None:
        """Says goodbye. Without `resign` a running game goes on, and a registered bot may come back to it."""
        client, following = self._client, self._following
        self._client = self._following = None
        self.away = "this bot has left the server"
        self._note()
        if not client or not following:
            return
        following.cancel()
        await asyncio.wait({following})
        await (client.leave() if resign else client.close())
        for game in self._games.values():
            game.forget()

    async def stop(self) -> None:
        """The program ends: a guest, whom nobody can be again, resigns; a registered bot may come back to its game."""
        guest = self._client is not None and self._client.welcome["bot"]["guest"]
        await self.leave(resign=guest)

    # In the background.

    async def _follow(self, client: modiar.aio.Client) -> None:
        try:
            async for turn in client.follow():
                if game := self._games.get(turn.game):
                    game.ask(turn)
                    self._note()
        except ModiarError as error:
            log.error("%s", error)
            self.away, self._client, self._following = str(error), None, None
            for game in self._games.values():
                game.forget()
            self._note()

    def _heard(self, message: wire.ServerMessage) -> None:
        if message["type"] == "welcome":
            self._welcomed(message)
        elif message["type"] == "started" and "side" in message:
            self._started(message, message["side"])
        elif message["type"] == "turn" and message["game"] in self._games:
            self._games[message["game"]].told_turn(message)
        elif message["type"] == "seeking":
            self._sought = True
            self._waited_for = f"in {message['pool']}: {message.get('reason', 'no other bot seeks there now')}"
        elif message["type"] == "seek_ended":
            self._sought = False
            if meaning := SEEK_ENDS.get(message["reason"]):
                self._waited_for = f"{message['reason']}: {message.get('message', meaning)}"
        else:
            self._heard_of_requests(message)
        self._note()

    def _heard_of_requests(self, message: wire.ServerMessage) -> None:
        request = self._request
        if message["type"] == "challenged":
            self.challenges[message["challenge"]] = message, time.monotonic() + message["expires_ms"] / 1000
        elif message["type"] == "challenge_sent" and request and message.get("ref") == request.mark:
            request.challenge = message["challenge"]
        elif message["type"] == "challenge_ended":
            self.challenges.pop(message["challenge"], None)
            if request and request.challenge == message["challenge"]:
                request.refusal = f"{message['reason']}: the challenge is over without a game"
        elif message["type"] == "error":
            mark = message.get("ref")
            if request and mark == request.mark:
                request.refusal = f"{message['code']}: {message['message']}"
            game = self._games.get(str(mark))
            if game and message["code"] not in NO_REFUSAL:
                game.refused = message

    def _welcomed(self, welcome: wire.Welcome) -> None:
        self._sought = False
        self.challenges.clear()  # they ended with the link
        for name, game in self._games.items():
            if name not in welcome["games"]:
                game.forget()  # its end, where there is one, is told next

    def _started(self, message: wire.Started, side: modiar.Side) -> None:
        self._waited_for = ""
        if game := self._games.get(message["game"]):
            game.begin(message)
        else:
            self._games = {name: game for name, game in self._games.items() if game.runs()}
            self._games[message["game"]] = Game(message, side)

    def _ended(self, end: Ended) -> None:
        game = self._games.get(end.game)
        if game:
            game.finish(end)
        self.results = [*self.results, (end, game)][-RESULTS_KEPT:]
        if end.result == "none" and self._client:
            self._client.unseek()  # the seek would begin another game unasked
        self._note()

    # Helpers.

    async def _until(self, ready: Callable[[], bool]) -> None:
        while not ready() and self._client:
            await self._changed.wait()

    def _note(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    @contextlib.asynccontextmanager
    async def _sitting_down(self) -> AsyncGenerator[None]:
        """One game is looked for at a time."""
        if self._busy.locked():
            raise Refused("already_seeking: a game is looked for already; wait for that call to answer")
        async with self._busy:
            yield

    def _ask(self, message: wire.ClientMessage) -> Request:
        if not self._client or not self._client.linked:
            raise Refused("connection_lost: it comes back by itself; ask again in a moment")
        self._request = Request(f"ask-{next(self._marks)}")
        message["ref"] = self._request.mark
        self._client.send(message)
        return self._request

    def _check_free(self) -> None:
        if self.running:
            raise Refused("games_limit: a game is running; play it to its end, or resign")

    def _pool(self, client: modiar.aio.Client, pool: str | None) -> str:
        """The pool of this name, or the slowest."""
        pools = [known["name"] for known in slowest_first(client.welcome["pools"])]
        if not pools:
            raise Refused("unknown_pool: the server has no pool; ask its host")
        if pool is not None and pool not in pools:
            raise Refused(f"unknown_pool: there is no pool {pool!r}; take one of {', '.join(pools)}")
        return pool or pools[0]

    def _why(self) -> str:
        return f" ({self.away})" if self.away else ""

