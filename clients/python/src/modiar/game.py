"""What is to be played, a running game, and the turns of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

from . import wire
from .rules import BySide, Pit, Position, Side
from .turn import Answer, Last, Turn

# All that there are on a board, those that were captured with them.
SEEDS = 42


class Now(NamedTuple):
    """The time at which something was heard."""

    monotonic: float
    unix: float

    @classmethod
    def read(cls) -> Now:
        return cls(time.monotonic(), time.time())


@dataclass
class Goal:
    """What the bot is to play."""

    pool: str
    games: int  # 0: for ever
    played: int = 0
    cancelled: bool = False

    def left(self) -> int:
        return self.games - self.played if self.games else 0

    def reached(self) -> bool:
        return self.cancelled or (self.games > 0 and self.played >= self.games)


@dataclass
class Game:
    """A running game of this bot."""

    started: wire.Started | None = None
    turn: Turn | None = None  # the newest
    asked: int = 0  # the ply that the bot was asked for last
    answer: tuple[int, Pit] | None = None  # ply and pit of the newest move
    limited: int = 0  # how often that move came over the rate
    resigned: bool = False


def makes_sense(turn: wire.Turn) -> bool:
    """Whether six pits hold no more than there is, and one of them at least may be played."""
    numbers, legal = [*turn["pits"], *turn["captured"].values()], turn["legal"]
    seeds = all(isinstance(number, int) and 0 <= number <= SEEDS for number in numbers)
    return seeds and len(turn["pits"]) == 6 and bool(legal) and all(pit in range(6) for pit in legal)


def opponent_of(started: wire.Started, side: Side) -> str:
    return started["north" if side == "south" else "south"]["name"]


def turn_of(message: wire.Turn, started: wire.Started | None, now: Now, answer: Answer) -> Turn:
    """A turn with what is known of its game; a deadline counts from its arrival."""
    side, remaining = message["side"], BySide(**message["remaining_ms"])
    left = remaining.of(side)
    opponent, rated, pool = None, False, ""
    if started:
        opponent, rated, pool = opponent_of(started, side), started["rated"], started["pool"]
        left = min(left, started["time"].get("move_ms", left))
    return Turn(
        game=message["game"],
        ply=message["ply"],
        side=side,
        position=Position(tuple(message["pits"]), BySide(**message["captured"]), side, message["ply"]),
        legal=tuple(message["legal"]),
        remaining_ms=remaining,
        deadline=now.monotonic + left / 1000,
        opponent=opponent,
        rated=rated,
        pool=pool,
        last=Last(**message["last"]) if "last" in message else None,
        _answer=answer,
    )
