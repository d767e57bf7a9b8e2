"""Where the server is and who plays: what a program says, else what the environment says, else a default."""

from __future__ import annotations

import os
import socket
import ssl
from dataclasses import dataclass, field

from .errors import ConnectError, SettingError

# How long a connection may take to be made, and the server to answer a hello: with a registration it may take 10 s.
CONNECT_SECONDS = 15.0

# How long a write may take; a server that reads nothing for so long is lost.
WRITE_SECONDS = 10.0

# Silence after which the system asks whether the other end is still there, and how often.
_QUIET_SECONDS, _PROBE_SECONDS, _PROBES = 30, 10, 3

# What the answer of a port that speaks TLS to one who does not begins with; no line does.
_TLS_ALERT = b"\x15"


def _text(variable: str) -> str | None:
    return os.environ.get(variable) or None


def _port() -> int:
    port = _text("MODIAR_PORT") or "6634"
    if not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise SettingError(f"MODIAR_PORT is {port!r}: set it to a number from 1 to 65535")
    return int(port)


def _tls() -> bool:
    wanted = _text("MODIAR_TLS")
    if wanted not in (None, "1"):
        raise SettingError(f"MODIAR_TLS is {wanted!r}: set it to 1, or unset it where the port speaks no TLS")
    return wanted == "1"


@dataclass(frozen=True)
class Settings:
    """What to connect to, and as whom; a field that is not given is read from the environment. Wrong ones raise
    SettingError."""

    host: str = field(default_factory=lambda: _text("MODIAR_HOST") or "127.0.0.1")
    port: int = field(default_factory=_port)
    name: str | None = field(default_factory=lambda: _text("MODIAR_NAME"))  # None: a guest
    token: str | None = field(default_factory=lambda: _text("MODIAR_TOKEN"), repr=False)
    tls: bool = field(default_factory=_tls)
    ca: str | None = field(default_factory=lambda: _text("MODIAR_CA"))  # a file of certificates to trust; TLS too
    version: str | None = None  # the bot's build, for standings and records
    games: int = 1  # the most at once

    def __post_init__(self) -> None:
        try:
            self.host.encode("idna")
        except UnicodeError as error:
            raise SettingError(f"MODIAR_HOST is {self.host!r}: set it to a name or an address") from error
        # A text or True may come from whoever checks no types.
        if type(self.port) is not int or not 0 < self.port < 65536:
            raise SettingError(f"port is {self.port!r}: set it to a number from 1 to 65535")
        if type(self.games) is not int or self.games < 1:
            raise SettingError(f"games is {self.games!r}: a bot plays at least 1 at once")

    @property
    def where(self) -> str:
        return f"{self.host}:{self.port}"

    def context(self) -> ssl.SSLContext | None:
        """How to speak TLS, where the settings want it."""
        if not self.tls and not self.ca:
            return None
        try:
            return ssl.create_default_context(cafile=self.ca)
        except OSError as error:
            raise SettingError(f"MODIAR_CA is {self.ca!r}: {error}; name a file of certificates in PEM") from error


def prepare(connection: socket.socket) -> None:
    """Sets what every connection needs."""
    # A move is one small packet; Nagle's algorithm would hold it back on our own clock.
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    options = {"TCP_KEEPIDLE": _QUIET_SECONDS, "TCP_KEEPINTVL": _PROBE_SECONDS, "TCP_KEEPCNT": _PROBES}
    for option, number in options.items():
        if hasattr(socket, option):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), number)


def check_handshake(error: OSError) -> None:
    """Says what to do, where a handshake failed because the port speaks no TLS."""
    if isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER":
        raise ConnectError("the port speaks no TLS; unset MODIAR_TLS and MODIAR_CA") from error


def only_tls(first: bytes) -> bool:
    """Whether these first bytes of a connection without TLS come from a port that speaks it."""
    return first[:1] == _TLS_ALERT


MAY_SPEAK_TLS = "the port may speak TLS; set MODIAR_TLS=1"
NO_MESSAGE = "it closed without a message: MODIAR_PORT may be no port for bots"
