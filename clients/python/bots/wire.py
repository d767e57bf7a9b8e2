"""What every bot here shares: the connection, the settings, and the loop around `choose(turn) -> pit`.

MODIAR_HOST, MODIAR_PORT   the server; a local daemon if they are not set
MODIAR_TLS=1               speak TLS, as the port of a host with a certificate does
MODIAR_CA                  trust the certificates in this file in place of the system's; TLS too
MODIAR_NAME, MODIAR_TOKEN  who plays; without a name the server takes the bot as a guest

Results go to stdout, one line a game; everything meant for a person goes to stderr.
There is no reconnecting here: a bot whose connection breaks says so and ends, and its game waits on the
server with the clock running. returning_bot.py comes back.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import signal
import socket
import ssl
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypedDict

# Exit statuses, the same as the daemon's own commands; argparse uses 2 by itself.
DONE, USAGE, COULD_NOT, INTERRUPTED = 0, 2, 3, 130

# After Ctrl-C, how long to wait for the server's last lines.
LEAVE_SECONDS = 2.0

# The most games that a seek may name.
MOST_GAMES = 1_000_000

# What the answer of a port that speaks TLS to one who does not begins with; no line does.
TLS_ALERT = 0x15

# Carried by hello and seek alone: an error that brings it back means that no game will come.
REF = "start"

Message = dict[str, Any]


class Captured(TypedDict):
    """Seeds captured so far by each side."""

    south: int
    north: int


class Turn(TypedDict):
    """The fields of a `turn` that a bot decides on. Pits are absolute: 0 1 2 South's, 3 4 5 North's."""

    game: str
    ply: int  # the one to play; the game's first is 1
    side: str  # "south" or "north": the side to move, which is this bot
    pits: list[int]
    captured: Captured
    legal: list[int]  # never empty
    remaining_ms: dict[str, int]


Choose = Callable[[Turn], int]


class Interrupt:
    """Ctrl-C, let through only inside `with`: elsewhere it waits for the next such place, so that no message is lost
    half read or half answered. A second one waits for nothing."""

    def __init__(self) -> None:
        self._open = self._waiting = False
        # Where the shell has it ignored, or in another thread than the main one, nothing is changed.
        with contextlib.suppress(ValueError):
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                signal.signal(signal.SIGINT, self._heard)

    def _heard(self, *_: object) -> None:
        if self._open or self._waiting:
            self._let_through()
        self._waiting = True

    def _let_through(self) -> None:
        self._open = self._waiting = False
        raise KeyboardInterrupt

    def __enter__(self) -> None:
        self._open = True  # first: what comes from here on is not kept waiting
        if self._waiting:
            self._let_through()

    def __exit__(self, *_: object) -> None:
        self._open = False


class Server(NamedTuple):
    """Where the server is."""

    host: str
    port: int
    tls: ssl.SSLContext | None  # where its port speaks TLS

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def server() -> Server:
    """The server that the environment names; ValueError says which variable is wrong."""
    port = os.environ.get("MODIAR_PORT") or "6634"
    if not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError(f"MODIAR_PORT is {port!r}: set it to a number from 1 to 65535")
    tls = None
    ca, wanted = os.environ.get("MODIAR_CA") or None, os.environ.get("MODIAR_TLS") or None
    if wanted not in (None, "1"):
        raise ValueError(f"MODIAR_TLS is {wanted!r}: set it to 1, or unset it where the port speaks no TLS")
    if ca or wanted:
        try:
            tls = ssl.create_default_context(cafile=ca)
        except OSError as error:
            raise ValueError(f"MODIAR_CA is {ca!r}: {error}; name a file of certificates in PEM") from error
    return Server(os.environ.get("MODIAR_HOST") or "127.0.0.1", int(port), tls)


def identity() -> tuple[str | None, str | None]:
    """Name and token of the environment, where it has them."""
    return os.environ.get("MODIAR_NAME") or None, os.environ.get("MODIAR_TOKEN") or None


class Connection:
    """One connection to the server: JSON objects out, JSON objects in."""

    def __init__(self, server: Server, interrupt: Interrupt) -> None:
        self._interrupt = interrupt
        with interrupt:
            self._socket = socket.create_connection((server.host, server.port))
            # A move is one small packet; Nagle's algorithm would hold it back on our own clock.
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if server.tls:
                self._socket = self._encrypted(server.tls, server.host)
        # Read by hand: a file made of the socket would lose half a line to a read that takes too long.
        self._unread = b""
        self._alarm: float | None = None

    def _encrypted(self, tls: ssl.SSLContext, host: str) -> ssl.SSLSocket:
        try:
            return tls.wrap_socket(self._socket, server_hostname=host)
        except ssl.SSLError as error:
            if error.reason != "WRONG_VERSION_NUMBER":
                raise
            raise ConnectionError("the port speaks no TLS; unset MODIAR_TLS and MODIAR_CA") from error

    def send(self, type: str, **fields: object) -> None:
        """Sends one message; a field that is None is left out."""
        message = {"type": type} | {name: value for name, value in fields.items() if value is not None}
        line = json.dumps(message, separators=(",", ":")) + "\n"
        self._socket.sendall(line.encode())

    def messages(self) -> Iterator[Message]:
        """Yields what the server sends until it closes, and an empty message for each `wake`. A line that is no message is
        skipped, with a note."""
        while True:
            line, newline, rest = self._unread.partition(b"\n")
            if not newline:
                if not self._wait():
                    self._alarm = None
                    yield {}
                    continue
                received = self._socket.recv(65536)
                if not received:
                    return
                self._unread += received
                if self._unread[0] == TLS_ALERT and not isinstance(self._socket, ssl.SSLSocket):
                    raise ConnectionError("the port may speak TLS; set MODIAR_TLS=1")
                continue
            self._unread = rest
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                message = None
            if isinstance(message, dict):
                yield message
            elif line.strip():
                note(f"skipped a line that is not a message: {line[:80]!r}")

    def _wait(self) -> bool:
        """Waits for something to read; False where the time of `wake` comes first."""
        with self._interrupt:
            if isinstance(self._socket, ssl.SSLSocket) and self._socket.pending():
                return True  # what TLS has opened already is no longer in the socket
            left = self._socket.gettimeout() if self._alarm is None else max(0.0, self._alarm - time.monotonic())
            if select.select([self._socket], [], [], left)[0]:
                return True
            if self._alarm is None:
                raise TimeoutError("the server is silent")
            return False

    def wake(self, seconds: float) -> None:
        """After this many seconds `messages` yields an empty message, once."""
        self._alarm = time.monotonic() + seconds

    def hurry(self, seconds: float) -> None:
        """From now on a read that takes longer than this is an OSError."""
        self._socket.settimeout(seconds)

    def close(self) -> None:
        """Closes the connection. The server keeps the bot's games."""
        self._socket.close()


class Player:
    """Answers the server's messages for one bot, one game after the other."""

    def __init__(
        self, connection: Connection, choose: Choose, pool: str, games: int, interrupt: Interrupt
    ) -> None:
        self._connection = connection
        self._interrupt = interrupt
        self._choose = choose
        self._pool = pool
        self._games = games
        self._sides: dict[str, str] = {}  # of the games going on
        self._turns: dict[str, Turn] = {}  # the newest of each, until its move stands
        self._sought = False  # the seek is over, well or not
        self._status = COULD_NOT  # until every game is played

    def play(self) -> int:
        """Plays until the seek is done or the server hangs up; returns the exit status."""
        name, token = identity()
        self._connection.send(
            "hello",
            protocol=1,
            name=name,
            token=token,
            client="modiar python bots",
            ref=REF,
        )
        for message in self._connection.messages():
            self._answer(message)
            if message.get("type") == "error" and message.get("ref") == REF:
                return COULD_NOT
        if not self._sought:
            note("the server closed the connection before the games were played")
        return self._status

    def leave(self) -> None:
        """Stops seeking, resigns what is being played and says goodbye; the results are still told."""
        self._connection.hurry(LEAVE_SECONDS)
        self._connection.send("unseek", pool=self._pool)
        for message in self._connection.messages():
            match message.get("type"):
                case "started":
                    self._started(message)
                case "seek_ended":  # no game starts after it
                    self._sought = True
                    for game in self._sides:
                        self._connection.send("resign", game=game)
                    self._bye_when_free()
                case "ended":
                    self._ended(message)
                    self._bye_when_free()

    def _answer(self, message: Message) -> None:
        match message.get("type"):
            case "welcome":
                note(f"playing as {message['bot']['name']} on {message['server']}")
                self._connection.send("seek", pool=self._pool, games=self._games, ref=REF)
            case "seeking":
                note(f"in {message['pool']}: {message.get('reason') or 'seeking'}")
            case "started":
                self._started(message)
            case "turn":
                self._turns[message["game"]] = message  # type: ignore[assignment]
                self._move(message["game"])
            case "ended":
                self._ended(message)
                self._bye_when_free()
            case "seek_ended":
                self._sought = True
                if message["reason"] == "done":
                    self._status = DONE
                else:
                    tell_seek_end(message)
                self._bye_when_free()
            case "error":
                note(f"error {message['code']}: {message['message']}")
                if message["code"] == "illegal_move":
                    self._move(message["game"])  # it is forgiven, and no turn is told again
            case "notice":
                note(message["message"])
            case "goodbye" if message["reason"] != "bye":
                note(f"goodbye: {message['message']}")
            case _:
                pass  # a newer server may say more than these bots understand

    def _move(self, game: str) -> None:
        turn = self._turns[game]
        with self._interrupt:
            pit = self._choose(turn)
        if not isinstance(pit, int):
            raise TypeError(f"choose returned {pit!r}: return one of turn['legal'], here {turn['legal']}")
        self._connection.send("move", game=game, pit=pit, ply=turn["ply"])

    def _started(self, message: Message) -> None:
        self._sides[message["game"]] = message["side"]

    def _bye_when_free(self) -> None:
        """A named bot may have come back to a game that outlasts its seek: that one is played out first."""
        if self._sought and not self._sides:
            self._connection.send("bye")

    def _ended(self, message: Message) -> None:
        self._turns.pop(message["game"], None)
        tell(message, self._sides.pop(message["game"], "unknown"))


def tell(ended: Message, side: str) -> None:
    """Prints a game's end as every bot does, and behind it the own side and the score."""
    score = ended["score"]
    print(
        f"{ended['game']} {ended['result']} {ended['termination']} {side} {score['south']}-{score['north']}",
        flush=True,
    )
    if detail := ended.get("detail"):
        note(f"pit {detail['pit']} breaks {detail['clause']}; legal were {detail['legal']}")


def tell_seek_end(message: Message) -> float:
    """Tells a person why a seek has ended; in how many seconds the next may be sent."""
    pause = max(0.0, message.get("until_ms", 0) / 1000 - time.time())
    why = f": {message['message']}; the next seek may come in {pause:.0f} s" if "message" in message else ""
    note(f"the seek ended, {message['reason']}{why}")
    return pause


def note(text: str) -> None:
    """Tells a person something, apart from the results."""
    print(text, file=sys.stderr, flush=True)


def game_count(text: str) -> int:
    """The number of `--games`; argparse tells what is wrong with another text, and ends with status 2."""
    if not text.isascii() or not text.isdigit() or int(text) > MOST_GAMES:
        raise argparse.ArgumentTypeError(f"{text!r}: write a whole number from 0 to {MOST_GAMES}")
    return int(text)


def arguments(description: str | None) -> argparse.ArgumentParser:
    """The options that every bot has; a bot adds its own before it parses."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--games", type=game_count, default=1, metavar="N", help="how many to play; 0: until stopped (default: 1)"
    )
    parser.add_argument("--pool", default="practice", metavar="P", help="the pool to play in (default: practice)")
    return parser


def run(choose: Choose, pool: str, games: int) -> int:
    """Connects, plays and returns the exit status. Ctrl-C resigns and leaves."""
    try:
        where = server()
    except ValueError as error:
        note(str(error))
        return USAGE
    connection = player = None
    interrupt = Interrupt()
    try:
        connection = Connection(where, interrupt)
        player = Player(connection, choose, pool, games, interrupt)
        return player.play()
    except KeyboardInterrupt:
        if player:
            # The server may be gone or slow, or Ctrl-C may come again: then there is nothing to wait for.
            with contextlib.suppress(OSError, KeyboardInterrupt):
                player.leave()
        return INTERRUPTED
    except OSError as error:
        note(f"{'lost the connection' if connection else 'cannot connect'} to {where}: {error}")
        return COULD_NOT
    finally:
        if connection:
            connection.close()
