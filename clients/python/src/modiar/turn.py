"""What a bot is told: a turn that wants a pit, and the end of a game."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from . import wire
from .rules import BySide, Pit, Position, Side


class Last(NamedTuple):
    """The ply before a turn."""

    ply: int
    side: Side
    pit: Pit
    taken: int  # seeds
    elapsed_ms: int


@dataclass(frozen=True)
class Turn:
    """This bot is to move in a game. A turn never changes."""

    game: str
    ply: int  # to be played; the first of a game is 1
    side: Side  # this bot's
    position: Position
    legal: tuple[Pit, ...]  # ascending, never empty
    remaining_ms: BySide
    deadline: float  # by time.monotonic(): the move must have reached the server before it
    opponent: str | None  # by name
    rated: bool
    pool: str
    last: Last | None  # None at the first ply after the opening
    _answer: Answer = field(repr=False, compare=False)

    def play(self, pit: Pit, raw: bool = False) -> None:
        """Plays a pit. One that the rules forbid raises IllegalMove and is not sent, unless `raw` says to send it
        anyway, and what is no integer TypeError. A lost link is no error: the pit is sent when the bot has come back."""
        self._answer(self, operator.index(pit), raw)

    def resign(self) -> None:
        """Gives the game up."""
        self._answer(self, None, False)


@dataclass(frozen=True)
class Ended:
    """A game is over."""

    game: str
    result: wire.Result  # the side that won, draw, or none: the game does not count
    termination: str  # why: spec/messages/ended.md lists the words
    score: BySide  # seeds
    side: Side | None  # this bot's; None where the game ended before its start was told
    rating: wire.Change | None  # of this bot, where the game was rated
    detail: wire.Detail | None  # of an illegal move


# Takes the answer to a turn: a pit, sent even against the rules where the last says so, or None to resign.
Answer = Callable[[Turn, Pit | None, bool], None]
