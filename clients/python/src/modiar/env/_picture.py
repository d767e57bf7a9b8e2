"""Pictures of a position: a text, and an array of pixels made with numpy alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..rules import Position
from ._view import RenderMode

# (height, width, 3): red, green, blue.
Picture = NDArray[np.uint8]

# Pixels: a pit's square, the radius of its hole, a point of a digit.
SQUARE, RADIUS, POINT = 64, 28, 4

PAPER, HOLE, STORE, INK = (238, 226, 203), (163, 119, 75), (205, 176, 132), (40, 28, 16)

# North looks from above: its pits run from right to left.
_PITS = ((5, 4, 3), (0, 1, 2))

_DIGITS = (
    "### .#. ### ### #.# ### ### ### ### ###",
    "#.# ##. ..# ..# #.# #.. #.. ..# #.# #.#",
    "#.# .#. ### ### ### ### ### ..# ### ###",
    "#.# .#. #.. ..# ..# ..# #.# ..# #.# ..#",
    "### ### ### ### ..# ### ### ..# ### ###",
)


def picture(position: Position, mode: RenderMode) -> str | Picture:
    return ansi(position) if mode == "ansi" else pixels(position)


def ansi(position: Position) -> str:
    """The board in five lines: pits as `pit:seeds`, North's row above, and what each side has captured."""
    north, south = ("  ".join(f"{pit}:{position.pits[pit]:<2}" for pit in row).rstrip() for row in _PITS)
    captured = position.captured
    return (
        f"North, {captured.north} captured\n  {north}\n  {south}\nSouth, {captured.south} captured\n"
        f"ply {position.ply}, {position.side} to move\n"
    )


def pixels(position: Position) -> Picture:
    """(128, 320, 3) uint8: North's store, the pits, South's store, from left to right, with their seeds as numbers."""
    image = np.full((2 * SQUARE, 5 * SQUARE, 3), PAPER, np.uint8)
    image[:, :SQUARE] = image[:, -SQUARE:] = STORE
    ys, xs = np.ogrid[:SQUARE, :SQUARE]
    hole = (ys - SQUARE // 2) ** 2 + (xs - SQUARE // 2) ** 2 <= RADIUS**2
    for line, row in enumerate(_PITS):
        for column, pit in enumerate(row, 1):
            top, left = line * SQUARE, column * SQUARE
            image[top : top + SQUARE, left : left + SQUARE][hole] = HOLE
            _write(image, position.pits[pit], top + SQUARE // 2, left + SQUARE // 2)
    _write(image, position.captured.north, SQUARE, SQUARE // 2)
    _write(image, position.captured.south, SQUARE, 5 * SQUARE - SQUARE // 2)
    return image


def _write(image: Picture, number: int, y: int, x: int) -> None:
    """Writes a number around this point."""
    lines = [".".join(line[4 * digit : 4 * digit + 3] for digit in map(int, str(number))) for line in _DIGITS]
    points = np.array([[point == "#" for point in line] for line in lines])
    ink = points.repeat(POINT, axis=0).repeat(POINT, axis=1)
    height, width = ink.shape
    top, left = y - height // 2, x - width // 2
    image[top : top + height, left : left + width][ink] = INK
