"""Where a single agent plays: at a table with somebody else, who answers by himself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol, get_args

import numpy as np

from ..rules import Pit, Position, Side
from . import _view
from ._view import FIRST_PIT, OTHER, End, Mask, Observation
from .game import Game

# From what it sees, (8,) int8, and its action mask, (3,) int8, to an action. One that is illegal loses.
Policy = Callable[[Observation, Mask], int]

# The reference bots of spec/bots.md.
Bot = Literal["random", "greedy", "minimax"]

# Those that leave nothing to chance.
_SETTLED: dict[str, Callable[[Position], Pit]] = {"greedy": Position.greedy, "minimax": Position.minimax}

Seat = Literal["south", "north", "random"]


class Scene(NamedTuple):
    """What the agent finds when it is to move, or when the game is over."""

    position: Position
    side: Side  # the agent's
    legal: tuple[Pit, ...]
    end: End | None


class Table(Protocol):
    def begin(self, random: np.random.Generator) -> Scene:
        """A new game; one that is not over is given up."""
        ...

    def play(self, action: int) -> Scene:
        """What the agent's action and the answer to it lead to."""
        ...

    def close(self) -> None: ...


class LocalTable:
    """A table with a policy or a reference bot, under the rules of this library."""

    def __init__(self, opponent: Bot | Policy, seat: Seat, starts: tuple[Game, ...]) -> None:
        if not callable(opponent):
            _view.check_word("opponent", opponent, get_args(Bot))
        self._opponent = opponent
        self._seat: Seat = seat
        self._starts = starts

    def begin(self, random: np.random.Generator) -> Scene:
        self._random = random
        self._game = self._starts[random.integers(len(self._starts))]
        self._end: End | None = None
        self._side: Side = ("south", "north")[random.integers(2)] if self._seat == "random" else self._seat
        return self._answered()

    def play(self, action: int) -> Scene:
        self._move(action)
        return self._answered()

    def close(self) -> None:
        """There is nothing to close."""

    def _answered(self) -> Scene:
        if self._end is None and self._game.position.side != self._side:
            self._move(self._choice())
        return Scene(self._game.position, self._side, () if self._end else self._game.legal, self._end)

    def _move(self, action: int) -> None:
        self._game, self._end = _view.play(self._game, action)

    def _choice(self) -> int:
        """The opponent's action."""
        position, side, legal = self._game.position, OTHER[self._side], self._game.legal
        if callable(self._opponent):
            seen, mask = _view.observation(position, side), _view.action_mask(legal)
            return _view.check_action(self._opponent(seen, mask))
        if self._opponent == "random":
            return legal[self._random.integers(len(legal))] - FIRST_PIT[side]
        return _SETTLED[self._opponent](position) - FIRST_PIT[side]
