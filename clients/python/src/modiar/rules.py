"""The rules of the game (spec/rules.md) and the reference bots' choice (spec/bots.md), without I/O.

Pits are absolute and numbered in sowing order: South's are 0 1 2, North's 3 4 5, and after 5 comes 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .errors import BadPosition, IllegalMove

Pit = int
Side = Literal["south", "north"]

PITS = 6
SEEDS = 42

# The largest numbers that a text may name.
_MOST_SEEDS, _LAST_PLY = 255, 2**32 - 1

_ROWS: dict[Side, range] = {"south": range(3), "north": range(3, 6)}
_OTHER: dict[Side, Side] = {"south": "north", "north": "south"}
_NUMBER = r"(0|[1-9][0-9]{0,9})"
_ROW = rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}"
_TEXT = re.compile(rf"{_ROW}-{_ROW} {_NUMBER}-{_NUMBER} ([sn]) {_NUMBER}")


class BySide(NamedTuple):
    """A number for each side: seeds, or milliseconds."""

    south: int
    north: int

    def of(self, side: Side) -> int:
        return self.south if side == "south" else self.north


class Sown(NamedTuple):
    """What a move leads to: the position after it, and the seeds that it captured."""

    after: Position
    taken: int


@dataclass(frozen=True)
class Position:
    """A position, immutable. Seeds on the board and seeds captured are 42 together."""

    pits: tuple[int, ...]  # seeds in pits 0 to 5
    captured: BySide
    side: Side  # to move
    ply: int  # to be played; the first of a game is 1

    @classmethod
    def start(cls) -> Position:
        return cls((7,) * PITS, BySide(0, 0), "south", 1)

    @classmethod
    def parse(cls, text: str) -> Position:
        """Reads a position as `text` writes it; another text raises BadPosition."""
        match = _TEXT.fullmatch(text)
        if not match:
            raise BadPosition(text, "rules.text.position")
        *numbers, letter, last = match.groups()
        seeds, ply = tuple(map(int, numbers)), int(last)
        if max(seeds) > _MOST_SEEDS or not 0 < ply <= _LAST_PLY:
            raise BadPosition(text, "rules.text.position")
        if sum(seeds) != SEEDS:
            raise BadPosition(text, "rules.board.conserved")
        side: Side = "south" if letter == "s" else "north"
        if side != ("south" if ply % 2 else "north"):
            raise BadPosition(text, "rules.turn.south-first")
        return cls(seeds[:PITS], BySide(*seeds[PITS:]), side, ply)

    @property
    def text(self) -> str:
        """For example `7.7.7-7.7.7 0-0 s 1`: both rows in sowing order, captured, side to move, ply."""
        south, north = (".".join(str(self.pits[pit]) for pit in row) for row in _ROWS.values())
        return f"{south}-{north} {self.captured.south}-{self.captured.north} {self.side[0]} {self.ply}"

    def legal(self) -> tuple[Pit, ...]:
        """The pits that the side to move may play, ascending; none where the game is over."""
        return tuple(pit for pit, _ in self._moves())

    def clause(self, pit: Pit) -> str | None:
        """The id of the clause that this pit breaks; None for a legal one."""
        if clause := self._clause_before_feeding(pit):
            return clause
        return None if pit in self.legal() else "rules.feed.must"

    def play(self, pit: Pit) -> Sown:
        """Plays a pit; one that is not legal raises IllegalMove."""
        if clause := self.clause(pit):
            raise IllegalMove(pit, clause, self.legal())
        return self._sow(pit)

    def score(self) -> BySide:
        """What each side has once it has taken its own row, as at the end of a game."""
        rows = (sum(self.pits[pit] for pit in row) for row in _ROWS.values())
        return BySide(*(captured + row for captured, row in zip(self.captured, rows, strict=True)))

    def value(self, depth: int) -> int:
        """`bots.worth`: the lead in seeds of the side to move, if both play their best for `depth` plies."""
        moves = self._moves()
        if moves and depth > 0:
            return max(-sown.after.value(depth - 1) for _, sown in moves)
        seeds = self.captured if moves else self.score()
        return seeds.of(self.side) - seeds.of(_OTHER[self.side])

    def greedy(self) -> Pit:
        """`bots.greedy`: the legal pit that captures most; of equal ones the lowest."""
        return max(self._moves(), key=lambda move: move[1].taken)[0]

    def minimax(self, depth: int = 6) -> Pit:
        """`bots.minimax`: the legal pit of the highest worth at `depth` plies; of equal ones the lowest."""
        return max(self._moves(), key=lambda move: -move[1].after.value(depth - 1))[0]

    def _moves(self) -> list[tuple[Pit, Sown]]:
        """The legal pits, ascending, and what they lead to."""
        moves = [(pit, self._sow(pit)) for pit in _ROWS[self.side] if not self._clause_before_feeding(pit)]
        if not any(self.pits[pit] for pit in _ROWS[_OTHER[self.side]]):
            # The opponent's row is empty: who can feed it must.
            moves = [move for move in moves if self._reaches_the_other_row(move[0])] or moves
        return moves

    def _clause_before_feeding(self, pit: Pit) -> str | None:
        if pit not in _ROWS[self.side]:
            return "rules.move.own-row"
        if self.pits[pit] == 0:
            return "rules.move.empty-pit"
        if self.pits[pit] == 1:
            return "rules.move.singleton"
        return "rules.slam.banned" if self._slams(pit) else None

    def _slams(self, pit: Pit) -> bool:
        """Whether the move captures in the opponent's row and leaves nothing there."""
        row = _ROWS[_OTHER[self.side]]
        sown, left = self._after_sowing(pit), self._sow(pit).after.pits
        return any(sown[other] for other in row) and not any(left[other] for other in row)

    def _reaches_the_other_row(self, pit: Pit) -> bool:
        return pit + self.pits[pit] - 1 > _ROWS[self.side][-1]

    def _after_sowing(self, pit: Pit) -> list[int]:
        pits = list(self.pits)
        seeds, pits[pit] = pits[pit], 0
        for step in range(seeds):  # the first seed goes back into the pit it came from
            pits[(pit + step) % PITS] += 1
        return pits

    def _sow(self, pit: Pit) -> Sown:
        """Sows and captures, whether it is legal or not."""
        pits, taken = self._after_sowing(pit), 0
        last = (pit + self.pits[pit] - 1) % PITS
        while self.ply > 1 and pits[last] in (2, 4, 6):  # the first ply of the game captures nothing
            taken += pits[last]
            pits[last] = 0
            last = (last - 1) % PITS  # backwards, across both rows
        south, north = self.captured
        captured = BySide(south + taken, north) if self.side == "south" else BySide(south, north + taken)
        return Sown(Position(tuple(pits), captured, _OTHER[self.side], self.ply + 1), taken)
