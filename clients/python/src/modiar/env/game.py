"""One game as a daemon referees it: `modiar.rules`, and the ends that need more than one position (spec/rules.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ..errors import IllegalMove
from ..rules import BySide, Pit, Position

# In the order of `rules.end.rank`.
Ending = Literal["majority", "immobile", "repetition", "quiet_plies"]

# What a side has captured once the rest can no longer change who wins.
MAJORITY = 22


@dataclass(frozen=True)
class Rules:
    """What a pool may set; the defaults are those of the daemon."""

    repetition: int = 3  # the standing of the same pits and side to move that ends the game; 0: none does
    quiet_plies: int = 200  # so many plies in a row without a capture end the game; 0: none do
    majority: bool = False  # whether 22 captured seeds end it


@dataclass(frozen=True)
class Game:
    """A game at one moment, immutable."""

    rules: Rules
    position: Position
    quiet: tuple[tuple[int, ...], ...]  # the pits of each position since the last capture, this one the last

    @classmethod
    def start(cls, rules: Rules) -> Game:
        position = Position.start()
        return cls(rules, position, (position.pits,))

    def play(self, pit: Pit) -> Game:
        """The game after this ply. One that the rules forbid raises IllegalMove, one after the end a ValueError."""
        if self.ending and self.ending != "immobile":
            raise ValueError(f"pit {pit} comes after the end of the game by {self.ending}")
        after, taken = self.position.play(pit)
        return Game(self.rules, after, (after.pits,) if taken else (*self.quiet, after.pits))

    @cached_property
    def legal(self) -> tuple[Pit, ...]:
        """The pits that may be played, ascending; none where the game is over."""
        return () if self.ending else self._pits

    @cached_property
    def ending(self) -> Ending | None:
        """Why the game is over, or None; of several reasons the first by `rules.end.rank`."""
        rules = self.rules
        if rules.majority and max(self.position.captured) >= MAJORITY:
            return "majority"
        if not self._pits:
            return "immobile"
        # No position before a capture comes back, and of those since then every other one has this side to move.
        if rules.repetition and self.quiet[::-2].count(self.position.pits) >= rules.repetition:
            return "repetition"
        if rules.quiet_plies and len(self.quiet) > rules.quiet_plies:
            return "quiet_plies"
        return None

    @property
    def score(self) -> BySide:
        """The seeds of each side if the game ended here, its own row taken."""
        return self.position.score()

    @cached_property
    def _pits(self) -> tuple[Pit, ...]:
        return self.position.legal()


# A text of plies (`240315`), several to choose from, or none.
Opening = str | Sequence[str] | None


def after_openings(opening: Opening, rules: Rules) -> tuple[Game, ...]:
    """The games that may be begun with, one for each opening. One that cannot be played, or that ends the game, raises
    ValueError."""
    texts = ("",) if opening is None else (opening,) if isinstance(opening, str) else tuple(opening)
    if not texts:
        raise ValueError("opening is empty: give a text of plies, or several, or None")
    return tuple(_after(text, rules) for text in texts)


def _after(text: str, rules: Rules) -> Game:
    game = Game.start(rules)
    for ply, digit in enumerate(text, 1):
        if digit not in "012345":
            raise ValueError(f"opening {text!r} has {digit!r} at ply {ply}: a ply is a pit, 0 to 5")
        try:
            game = game.play(int(digit))
        except IllegalMove as error:
            raise ValueError(f"opening {text!r} cannot be played at ply {ply}: {error}") from error
    if game.ending:
        raise ValueError(f"opening {text!r} leaves nothing to play: it ends by {game.ending}")
    return game
