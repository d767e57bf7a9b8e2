"""A live bot on a daemon as the opponent of `ModiarSingle`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..client import Client
from ..rules import Side
from ..settings import Settings
from ..turn import Ended, Turn
from ._table import Scene
from ._view import FIRST_PIT, End

# The end that is none: the game does not count, and the environment truncates it.
ABORTED = "aborted"


class LadderOpponent:
    """Whoever the daemon of these settings pairs with in a pool; each game is sought when the environment is reset.

    What the daemon says is the truth: sides, legal pits, ends and scores. Between two steps the clock runs. A lost link
    is mended by the client; one that is lost for good raises ConnectError, AuthError or ProtocolError from `reset` or
    `step`.
    """

    def __init__(self, settings: Settings | None = None, pool: str = "practice") -> None:
        """Connects at the first reset."""
        self._settings = settings
        self._pool = pool
        self._client: Client | None = None
        self._turns: Iterator[Turn] = iter(())
        self._turn: Turn | None = None  # the one that is to be answered
        self._game: str | None = None  # the one that is played since the last reset

    def begin(self, random: np.random.Generator) -> Scene:
        """Seeks a game and waits until it is the agent's turn; the seed has no part in it. A game that is not over is
        resigned."""
        del random
        while self._turn and self._turn.game == self._game:
            self._turn.resign()
            self._turn = next(self._turns, None)
        if self._client is None:
            self._client = Client(self._settings)
        while self._turn is None:
            # Again, where a game ended before it was this side's turn.
            self._turns = self._client.turns(self._pool)
            self._turn = next(self._turns, None)
        self._game = self._turn.game
        return _scene(self._turn)

    def play(self, action: int) -> Scene:
        """Sends the pit, legal or not, and waits for the next turn or the end."""
        assert self._turn, "a scene without an end has a turn"
        before = self._turn
        before.play(FIRST_PIT[before.side] + action, raw=True)
        self._turn = next(self._turns, None)
        if self._turn and self._turn.game == before.game:
            return _scene(self._turn)
        # Another game: this one was aborted, and its seek has gone on. That game waits for the next reset.
        return Scene(before.position, before.side, (), _end(self._ended(before.game)))

    def close(self) -> None:
        """Resigns what is being played, and says goodbye."""
        if self._client and self._turn:
            self._client.leave()
        elif self._client:
            self._client.close()
        self._client = self._turn = None

    def _ended(self, game: str) -> Ended:
        assert self._client
        return next(ended for ended in reversed(self._client.results) if ended.game == game)


def _scene(turn: Turn) -> Scene:
    return Scene(turn.position, turn.side, turn.legal, None)


def _end(ended: Ended) -> End:
    winner: Side | None = ended.result if ended.result in ("south", "north") else None
    return End(ended.termination, winner, ended.score, ended.detail["clause"] if ended.detail else None)
