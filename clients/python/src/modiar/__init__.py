"""Bots for Modiar.

    import modiar

    def choose(turn: modiar.Turn) -> int:
        return turn.legal[0]

    raise SystemExit(modiar.run(choose))

Level 1 is `run`, a whole program. Level 2 is `connect`, for a loop of your own over `client.turns()`. Level 3 is the codec in
`modiar.wire`. `modiar.rules` plays, and `modiar.aio` is the same for asyncio.
"""

import logging

from .client import Client, connect, register
from .errors import (
    AuthError,
    BadPosition,
    ConnectError,
    IllegalMove,
    LineTooLong,
    ModiarError,
    ProtocolError,
    SettingError,
)
from .program import run
from .rules import BySide, Pit, Position, Side
from .session import __version__
from .settings import Settings
from .turn import Ended, Last, Turn

__all__ = [
    "AuthError",
    "BadPosition",
    "BySide",
    "Client",
    "ConnectError",
    "Ended",
    "IllegalMove",
    "Last",
    "LineTooLong",
    "ModiarError",
    "Pit",
    "Position",
    "ProtocolError",
    "SettingError",
    "Settings",
    "Side",
    "Turn",
    "__version__",
    "connect",
    "register",
    "run",
]

# As a library it is silent, unless the program listens.
logging.getLogger("modiar").addHandler(logging.NullHandler())
