"""What the tests share: where things are, and a server that says what it is told to. Import it before `modiar`: it finds the
package in this checkout."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

CLIENT = Path(__file__).resolve().parents[1]
SPEC = CLIENT.parents[1] / "spec"
sys.path.insert(0, str(CLIENT / "src"))

Message = dict[str, Any]

GAME = "g0192f0c1a2b37c4d8e5f60718293a4b5"
TURN: Message = json.loads((SPEC / "schema/examples/server/valid/turn.json").read_text(encoding="utf-8"))
ENDED: Message = json.loads((SPEC / "schema/examples/server/valid/ended.json").read_text(encoding="utf-8"))
STARTED: Message = json.loads((SPEC / "schema/examples/server/valid/started.json").read_text(encoding="utf-8"))
WELCOME: Message = json.loads((SPEC / "schema/examples/server/valid/welcome.json").read_text(encoding="utf-8"))


def lines(file: str) -> Iterator[Message]:
    """The objects of a file of the specification, one a line."""
    with (SPEC / file).open(encoding="utf-8") as text:
        yield from map(json.loads, text)


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


class Peer:
    """The server's end of one connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile("r", encoding="utf-8")

    def hear(self, *kinds: str) -> Message:
        """The next message, which must be of one of these types."""
        message: Message = json.loads(self._lines.readline() or '{"type": "end of file"}')
        assert message["type"] in kinds, f"{message} is not {kinds}"
        return message

    def say(self, *messages: Message) -> None:
        self.say_bytes(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def say_bytes(self, data: bytes) -> None:
        self._connection.sendall(data)

    def welcome(self, **fields: object) -> Message:
        """Hears a hello and lets the bot in."""
        hello = self.hear("hello")
        self.say({**WELCOME, **fields})
        return hello

    def close(self) -> None:
        self._lines.close()
        self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()


class Server:
    """Meets one connection after the other with a function each, in a thread; `join` raises what went wrong in them."""

    def __init__(self, *meetings: Callable[[Peer], None]) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, args=(meetings,), daemon=True)
        self._thread.start()

    def _serve(self, meetings: tuple[Callable[[Peer], None], ...]) -> None:
        try:
            for meet in meetings:
                connection, _ = self._listener.accept()
                connection.settimeout(10)
                peer = Peer(connection)
                meet(peer)
                peer.close()
        except BaseException as failure:  # told by join
            self._failure = failure
        finally:
            self._listener.close()

    def join(self) -> None:
        self._thread.join(20)
        if self._failure:
            raise self._failure
        assert not self._thread.is_alive(), "the server still waits"
