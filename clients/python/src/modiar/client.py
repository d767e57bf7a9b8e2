"""The blocking client: bytes and time for a `Session`."""

from __future__ import annotations

import contextlib
import selectors
import socket
import ssl
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from types import TracebackType

from . import wire
from .errors import ConnectError, LineTooLong, ProtocolError
from .game import Now
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

# How long to wait for the server's last lines: after a bye, and after Ctrl-C.
BYE_SECONDS, LEAVE_SECONDS = 1.0, 2.0

READ_BYTES = 65536

# How many ends of games a client remembers.
RESULTS_KEPT = 10_000

# Where Ctrl-C may come: anywhere, unless a program says otherwise.
Interruptible = AbstractContextManager[object]


class _Link:
    """One connection. What it cannot do is an OSError."""

    def __init__(self, settings: Settings, tls: ssl.SSLContext | None) -> None:
        self._socket = socket.create_connection((settings.host, settings.port), CONNECT_SECONDS)
        try:
            prepare(self._socket)
            if tls:
                self._socket = tls.wrap_socket(self._socket, server_hostname=settings.host)
        except OSError as error:
            self._socket.close()
            check_handshake(error)
            raise
        self._socket.settimeout(WRITE_SECONDS)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._socket, selectors.EVENT_READ)
        self._decoder = wire.Decoder()
        self._silent = True

    def send(self, messages: list[wire.ClientMessage]) -> None:
        self._socket.sendall(b"".join(map(wire.encode, messages)))

    def wait(self, seconds: float | None) -> bool:
        """Waits for something to read; False where there is nothing for so long."""
        if isinstance(self._socket, ssl.SSLSocket) and self._socket.pending():
            return True  # what TLS has opened already is no longer in the socket
        return bool(self._selector.select(seconds))

    def read(self) -> list[wire.ServerMessage]:
        """The messages of one read; the end of the connection is an error too."""
        data = self._socket.recv(READ_BYTES)
        if not data:
            raise ConnectError(NO_MESSAGE if self._silent else "the connection ended")
        if self._silent and only_tls(data) and not isinstance(self._socket, ssl.SSLSocket):
            raise ConnectError(MAY_SPEAK_TLS)
        try:
            messages = self._decoder.feed(data)
        except LineTooLong as error:
            raise ConnectError(str(error)) from error
        self._silent = self._silent and not messages
        return messages

    def close(self) -> None:
        self._selector.close()
        self._socket.close()


class Client:
    """A bot that is connected, and comes back by itself after a lost link. Leave it by `with` or `close`."""

    def __init__(
        self, settings: Settings | None = None, *, interruptible: Interruptible | None = None, register: bool = False
    ) -> None:
        """Connects and says hello. Whatever goes wrong here is raised: ConnectError, AuthError, ProtocolError."""
        self.results: deque[Ended] = deque(maxlen=RESULTS_KEPT)  # the newest last
        self.ended: Callable[[Ended], object] | None = None  # called at each end of a game
        self._settings = settings or Settings()
        self._tls = self._settings.context()
        self._session = Session(self._settings, self._answer, register)
        self._interruptible = interruptible or contextlib.nullcontext()
        self._link: _Link | None = None
        self._pause = 0.0  # before the next try to come back
        try:
            self._open()
            self._greet(time.monotonic() + CONNECT_SECONDS)
        except OSError as error:
            raise ConnectError(f"cannot connect to {self._settings.where}: {error}") from error
        finally:
            if not self._session.welcome:
                self._drop()

    @property
    def welcome(self) -> wire.Welcome:
        """What the server said last of itself and of this bot: name, ratings, pools, limits."""
        assert self._session.welcome, "a client exists once it is welcome"
        return self._session.welcome

    def turns(self, pool: str = "practice", games: int = 1) -> Iterator[Turn]:
        """Seeks so many games, 0 for no end, and yields each turn that is to be answered; ends after the last game."""
        self._session.seek(pool, games)
        while True:
            self._flush()
            while event := self._session.next():
                if isinstance(event, Turn):
                    yield event
                else:
                    self._tell(event)
            if self._session.failure:
                raise self._session.failure
            if self._session.done:
                return
            self._step()

    def close(self) -> None:
        """Says goodbye. Running games go on, and their clocks run."""
        self._session.bye()
        self._finish(BYE_SECONDS)

    def leave(self) -> None:
        """Resigns what is being played, and says goodbye."""
        self._session.leave()
        self._finish(LEAVE_SECONDS)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, KeyboardInterrupt):
            self.leave()
        else:
            self.close()

    def _tell(self, ended: Ended) -> None:
        self.results.append(ended)
        if self.ended:
            self.ended(ended)

    def _answer(self, turn: Turn, pit: Pit | None, raw: bool) -> None:
        if pit is None:
            self._session.resign(turn.game)
        else:
            self._session.play(turn, pit, raw)
        self._flush()

    # Bytes and time.

    def _open(self) -> None:
        with self._interruptible:
            self._link = _Link(self._settings, self._tls)
        self._session.connected()

    def _greet(self, until: float) -> None:
        """Waits for the answer to the first hello."""
        assert self._link
        while not self._session.welcome:
            self._send()
            self._read(until)
            if self._session.failure:
                raise self._session.failure
            if time.monotonic() > until:
                raise ConnectError("the server is silent: MODIAR_PORT may be no port for bots")

    def _step(self) -> None:
        """Reads what comes next, or what the time brings; without a link it comes back first."""
        try:
            if self._link is None:
                with self._interruptible:
                    time.sleep(self._pause)
                self._open()
            self._send()
            self._read(None)
        except OSError as error:
            self._lose(str(error))
        else:
            if self._session.useless:
                self._lose("it was refused")

    def _read(self, until: float | None) -> None:
        assert self._link
        times = [when for when in (until, self._session.wake_at) if when is not None]
        with self._interruptible:
            there = self._link.wait(max(0.0, min(times) - time.monotonic()) if times else None)
        now = Now.read()
        for message in self._link.read() if there else []:
            self._session.heard(message, now)
        self._session.woken(now)

    def _send(self) -> None:
        if self._link and self._session.outbox:
            self._link.send(self._session.outbox)
            self._session.outbox.clear()

    def _flush(self) -> None:
        """Sends what there is; a link that breaks at it is closed, and missed when it is read."""
        try:
            self._send()
        except OSError as error:
            self._lose(str(error))

    def _lose(self, cause: str) -> None:
        self._drop()
        if not self._session.failure:
            self._pause = self._session.lost(cause)

    def _drop(self) -> None:
        if self._link:
            self._link.close()
            self._link = None

    def _finish(self, seconds: float) -> None:
        """Reads the last lines, and hangs up."""
        until = time.monotonic() + seconds
        try:
            while self._link and time.monotonic() < until:
                self._send()
                self._read(until)
                while event := self._session.next():
                    if isinstance(event, Ended):
                        self._tell(event)
        except OSError:
            pass  # the server has hung up, or is gone or slow: there is nothing to wait for
        finally:
            self._drop()


def connect(settings: Settings | None = None) -> Client:
    """Connects a bot; what the settings do not say is read from the environment."""
    return Client(settings)


def register(name: str, settings: Settings | None = None) -> str:
    """Claims a name where the host lets bots do so, and returns its token. The server tells it this once."""
    with Client(replace(settings or Settings(), name=name, token=None), register=True) as client:
        token = client.welcome.get("token")
    if token is None:
        raise ProtocolError("registration_closed", f"{client.welcome['server']} registered nobody")
    return token
