"""What an agent sees, may do and earns. Everything is told from its own side."""

from __future__ import annotations

import operator
from typing import Any, Literal, NamedTuple, SupportsIndex, get_args

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ..rules import SEEDS, BySide, Pit, Position, Side
from .game import Ending, Game

# (8,): own row, other row, own store, other store, in seeds.
Observation = NDArray[np.int8]

# (3,): 1 where the action may be played.
Mask = NDArray[np.int8]

Reward = Literal["sign", "margin"]
RenderMode = Literal["ansi", "rgb_array"]

OTHER: dict[Side, Side] = {"south": "north", "north": "south"}
FIRST_PIT: dict[Side, Pit] = {"south": 0, "north": 3}

# Pits of a row, which are the actions.
ACTIONS = 3


def observation_space() -> spaces.Space[Any]:
    return spaces.Box(0, SEEDS, (8,), np.int8)


def mask_space() -> spaces.Space[Any]:
    return spaces.Box(0, 1, (ACTIONS,), np.int8)


def action_space() -> spaces.Space[Any]:
    return spaces.Discrete(ACTIONS)


def observation(position: Position, side: Side) -> Observation:
    """(8,) int8: the pits in sowing order from the side's own first, then what it and the other captured."""
    first, pits, captured = FIRST_PIT[side], position.pits, position.captured
    return np.array([*pits[first:], *pits[:first], captured.of(side), captured.of(OTHER[side])], np.int8)


def action_mask(legal: tuple[Pit, ...]) -> Mask:
    """(3,) int8: 1 for each action of these pits of one row."""
    mask = np.zeros(ACTIONS, np.int8)
    mask[[pit % ACTIONS for pit in legal]] = 1
    return mask


class End(NamedTuple):
    """How a game ended."""

    termination: str  # the word of spec/messages/ended.md
    winner: Side | None
    score: BySide  # seeds; each side's own row is taken where the rules ended the game
    clause: str | None = None  # what an illegal action broke

    def reward(self, kind: Reward, side: Side) -> float:
        """What it is worth for a side. Only where the rules ended the game the lead in seeds counts."""
        if kind == "margin" and self.termination in get_args(Ending):
            return (self.score.of(side) - self.score.of(OTHER[side])) / SEEDS
        return 0.0 if self.winner is None else 1.0 if self.winner == side else -1.0

    def info(self) -> dict[str, Any]:
        told = {"termination": self.termination, "score": self.score._asdict()}
        return {**told, "clause": self.clause} if self.clause else told


def play(game: Game, action: int) -> tuple[Game, End | None]:
    """Plays an action of the side to move: the game after it, and its end, if it is one. An illegal action ends it."""
    side = game.position.side
    pit = FIRST_PIT[side] + action
    if pit not in game.legal:
        return game, End("illegal_move", OTHER[side], game.position.captured, game.position.clause(pit))
    game = game.play(pit)
    if game.ending is None:
        return game, None
    score = game.score
    winner: Side | None = None if score.south == score.north else "south" if score.south > score.north else "north"
    return game, End(game.ending, winner, score)


def check_word(name: str, word: object, words: tuple[object, ...]) -> None:
    if word not in words:
        raise ValueError(f"{name} is {word!r}: give one of {', '.join(map(repr, words))}")


def check_action(action: SupportsIndex) -> int:
    """An action as a number; another than 0, 1 or 2 raises ValueError, and what is no number TypeError."""
    number = operator.index(action)
    if not 0 <= number < ACTIONS:
        raise ValueError(f"action is {number}: give 0, 1 or 2")
    return number
