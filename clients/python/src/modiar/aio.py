"""The same for asyncio: a client of its own around the `Session` that the blocking one has too.

    async with modiar.aio.connect() as client:
        async for turn in client.turns(games=10):
            turn.play(turn.legal[0])

A turn may as well be given to a task that plays it later: the loop goes on with what else the server says.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import signal
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from types import TracebackType
from typing import Any, TypeVar

from . import wire
from .client import BYE_SECONDS, LEAVE_SECONDS, READ_BYTES, RESULTS_KEPT
from .errors import ConnectError, LineTooLong
from .game import Now
from .program import DONE, INTERRUPTED, REASONS, give_up, resign, tell, tell_people
from .rules import Pit
from .session import Session
from .settings import (
    CONNECT_SECONDS,
    MAY_SPEAK_TLS,
    NO_MESSAGE,
    WRITE_SECONDS,
    Settings,
    check_handshake,
    only_tls,
    prepare,
)
from .turn import Ended, Turn

Choose = Callable[[Turn], Pit | Awaitable[Pit]]
Outcome = TypeVar("Outcome")


class _Link:
    """One connection. What it cannot do is an OSError."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, tls: bool) -> None:
        self._reader, self._writer, self._tls = reader, writer, tls
        self._decoder = wire.Decoder()
        self._silent = True
        # Kept from one wait to the next, so that no byte is lost to a wait that ends before it.
        self._reading = asyncio.ensure_future(reader.read(READ_BYTES))

    @classmethod
    async def open(cls, settings: Settings, tls: ssl.SSLContext | None) -> _Link:
        opening = asyncio.open_connection(
            settings.host, settings.port, ssl=tls, server_hostname=settings.host if tls else None
        )
        try:
            reader, writer = await _within(CONNECT_SECONDS, opening)
        except OSError as error:
            check_handshake(error)
            raise
        prepare(writer.get_extra_info("socket"))
        return cls(reader, writer, tls is not None)

    def send(self, messages: list[wire.ClientMessage]) -> None:
        self._writer.write(b"".join(map(wire.encode, messages)))

    async def drain(self) -> None:
        """Waits until the system has taken what was sent."""
        await _within(WRITE_SECONDS, self._writer.drain())

    async def wait(self, seconds: float | None) -> bool:
        """Waits for something to read; False where there is nothing for so long."""
        done, _ = await asyncio.wait({self._reading}, timeout=seconds)
        return bool(done)

    def read(self) -> list[wire.ServerMessage]:
        """The messages of what `wait` has found; the end of the connection is an error too."""
        data = self._reading.result()
        if not data:
            raise ConnectError(NO_MESSAGE if self._silent else "the connection ended")
        if self._silent and only_tls(data) and not self._tls:
            raise ConnectError(MAY_SPEAK_TLS)
        try:
            messages = self._decoder.feed(data)
        except LineTooLong as error:
            raise ConnectError(str(error)) from error
        self._silent = self._silent and not messages
        self._reading = asyncio.ensure_future(self._reader.read(READ_BYTES))
        return messages

    def close(self) -> None:
        self._reading.cancel()
        self._writer.close()


async def _within(seconds: float, work: Coroutine[Any, Any, Outcome]) -> Outcome:
    """Waits so long at most. asyncio.wait_for may lose a cancellation that comes as the work is done."""
    task = asyncio.create_task(work)
    try:
        if not (await asyncio.wait({task}, timeout=seconds))[0]:
            raise ConnectError("timed out")
    finally:
        task.cancel()
    return task.result()


class Client:
    """A bot that is connected, and comes back by itself after a lost link. `connect` makes it."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.results: deque[Ended] = deque(maxlen=RESULTS_KEPT)  # the newest last
        self.ended: Callable[[Ended], object] | None = None  # called at each end of a game
        self.heard: Callable[[wire.ServerMessage], object] | None = None  # called at each message, once it has counted
        self._settings = settings or Settings()
        self._tls = self._settings.context()
        self._session = Session(self._settings, self._answer)
        self._link: _Link | None = None
        self._pause = 0.0  # before the next try to come back

    async def __aenter__(self) -> Client:
        """Connects and says hello. Whatever goes wrong here is raised: ConnectError, AuthError, ProtocolError."""
        try:
            await self._open()
            await self._greet(time.monotonic() + CONNECT_SECONDS)
        except OSError as error:
            raise ConnectError(f"cannot connect to {self._settings.where}: {error}") from error
        finally:
            if not self._session.welcome:
                self._drop()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, (KeyboardInterrupt, asyncio.CancelledError)):
            await self.leave()
        else:
            await self.close()

    @property
    def welcome(self) -> wire.Welcome:
        """What the server said last of itself and of this bot: name, ratings, pools, limits."""
        assert self._session.welcome, "a client is welcome once it is entered"
        return self._session.welcome

    async def turns(self, pool: str = "practice", games: int = 1) -> AsyncIterator[Turn]:
        """Seeks so many games, 0 for no end, and yields each turn that is to be answered; ends after the last game."""
        self._session.seek(pool, games)
        while True:
            for turn in self._turns():
                yield turn
            if self._session.done:
                return
            await self._step()

    # For a program that has more to do than to seek: a loop without an end, and what may be asked for beside it.

    async def follow(self) -> AsyncIterator[Turn]:
        """Yields each turn that is to be answered, whatever began its game, and comes back without an end."""
        while True:
            for turn in self._turns():
                yield turn
            await self._step()

    @property
    def linked(self) -> bool:
        """Whether there is a link on which the server has let this bot in."""
        return self._link is not None and self._session.let_in

    def seek(self, pool: str, games: int = 1) -> None:
        """Seeks so many games; `follow` yields their turns."""
        self._session.seek(pool, games)
        self._send()

    def unseek(self) -> None:
        """Seeks no more. Running games go on."""
        self._session.unseek()
        self._send()

    def resign(self, game: str) -> None:
        """Gives a running game up, whose turn it may be."""
        self._session.resign(game)
        self._send()

    def send(self, message: wire.ClientMessage) -> None:
        """Sends a message of the program's own; `heard` is told the answer. Without a link it is lost."""
        self._session.outbox.append(message)
        self._send()

    async def close(self) -> None:
        """Says goodbye. Running games go on, and their clocks run."""
        self._session.bye()
        await self._finish(BYE_SECONDS)

    async def leave(self) -> None:
        """Resigns what is being played, and says goodbye."""
        self._session.leave()
        await self._finish(LEAVE_SECONDS)

    def _turns(self) -> Iterator[Turn]:
        """Sends what there is, and yields the turns that have come."""
        self._send()
        while event := self._session.next():
            if isinstance(event, Turn):
                yield event
            else:
                self._tell(event)
        if self._session.failure:
            raise self._session.failure

    def _tell(self, ended: Ended) -> None:
        self.results.append(ended)
        if self.ended:
            self.ended(ended)

    def _answer(self, turn: Turn, pit: Pit | None, raw: bool) -> None:
        if pit is None:
            self._session.resign(turn.game)
        else:
            self._session.play(turn, pit, raw)
        self._send()

    # Bytes and time.

    async def _open(self) -> None:
        self._link = await _Link.open(self._settings, self._tls)
        self._session.connected()

    async def _greet(self, until: float) -> None:
        """Waits for the answer to the first hello."""
        while not self._session.welcome:
            await self._read(until)
            if self._session.failure:
                raise self._session.failure
            if time.monotonic() > until:
                raise ConnectError("the server is silent: MODIAR_PORT may be no port for bots")

    async def _step(self) -> None:
        """Reads what comes next, or what the time brings; without a link it comes back first."""
        try:
            if self._link is None:
                await asyncio.sleep(self._pause)
                await self._open()
            await self._read(None)
        except OSError as error:
            self._lose(str(error))
        else:
            if self._session.useless:
                self._lose("it was refused")

    async def _read(self, until: float | None) -> None:
        assert self._link
        self._send()
        await self._link.drain()
        times = [when for when in (until, self._session.wake_at) if when is not None]
        there = await self._link.wait(max(0.0, min(times) - time.monotonic()) if times else None)
        now = Now.read()
        for message in self._link.read() if there else []:
            self._session.heard(message, now)
            if self.heard and wire.complete(message):
                self.heard(message)
        self._session.woken(now)

    def _send(self) -> None:
        """Sends what there is; whether it arrives is found out when the link is read."""
        if self._link and self._session.outbox:
            self._link.send(self._session.outbox)
            self._session.outbox.clear()

    def _lose(self, cause: str) -> None:
        self._drop()
        if not self._session.failure:
            self._pause = self._session.lost(cause)

    def _drop(self) -> None:
        if self._link:
            self._link.close()
            self._link = None

    async def _finish(self, seconds: float) -> None:
        """Reads the last lines, and hangs up."""
        until = time.monotonic() + seconds
        try:
            while self._link and time.monotonic() < until:
                await self._read(until)
                while event := self._session.next():
                    if isinstance(event, Ended):
                        self._tell(event)
        except OSError:
            pass  # the server has hung up, or is gone or slow: there is nothing to wait for
        finally:
            self._drop()


def connect(settings: Settings | None = None) -> Client:
    """A bot to enter by `async with`, which connects it; what the settings do not say is read from the environment."""
    return Client(settings)


def run(
    choose: Choose,
    pool: str = "practice",
    games: int = 1,
    settings: Settings | None = None,
    strict: bool = False,
) -> int:
    """`modiar.run` with a `choose` that may be a coroutine function; several games are then thought about at once."""
    tell_people()
    try:
        return asyncio.run(_run(choose, pool, games, settings, strict))
    except KeyboardInterrupt:
        return INTERRUPTED
    except REASONS as reason:
        return give_up(reason)


async def _run(choose: Choose, pool: str, games: int, settings: Settings | None, strict: bool) -> int:
    _cancel_at_ctrl_c()
    thoughts: set[asyncio.Task[None]] = set()
    try:
        async with Client(settings) as client:
            client.ended = tell
            try:
                async for turn in client.turns(pool, games):
                    _raise_of(thoughts)
                    thoughts.add(asyncio.create_task(_play(choose, turn, strict)))
                    await asyncio.sleep(0)  # lets a choice that waits for nothing be made before anything is read
            finally:
                for thought in thoughts:
                    thought.cancel()
        _raise_of(thoughts)
    except asyncio.CancelledError:
        return INTERRUPTED
    return DONE


async def _play(choose: Choose, turn: Turn, strict: bool) -> None:
    try:
        choice = choose(turn)
        turn.play(await choice if inspect.isawaitable(choice) else choice)
    except Exception:
        resign(turn)
        if strict:
            raise


def _raise_of(thoughts: set[asyncio.Task[None]]) -> None:
    """Forgets the thoughts that have ended; an error of one is raised."""
    for thought in [thought for thought in thoughts if thought.done()]:
        thoughts.discard(thought)
        if not thought.cancelled():
            thought.result()


def _cancel_at_ctrl_c() -> None:
    """The first Ctrl-C cancels this task, a second one interrupts what that does."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task

    def heard() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        task.cancel()

    # Where the shell has it ignored, nothing is changed; elsewhere than in Unix's main thread Python does what it does.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(signal.SIGINT, heard)
