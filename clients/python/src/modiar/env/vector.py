"""Many boards at once, for self-play, in numpy: the one place with rules of its own, which a test compares with
`modiar.rules`.

Boards are kept as their mover sees them: pits 0 to 2 are its own, in sowing order, and 3 to 5 the other's. N is the
number of boards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..rules import PITS, SEEDS
from . import _view
from ._view import ACTIONS, Mask, Observation, Reward
from .game import MAJORITY, Ending, Game, Opening, Rules, after_openings

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

# Why a game ended, by the number that a step tells: 0 where it goes on, and the last for an illegal action.
ENDINGS: tuple[str, ...] = ("", *get_args(Ending), "illegal_move")
_ILLEGAL = len(ENDINGS) - 1

_ACTION: Ints = np.arange(ACTIONS)
_SEEDS: Ints = np.arange(SEEDS + 1)

# (43, 3, 6): how many seeds fall into a pit when so many are lifted from pit 0, 1 or 2.
_SOWN: Ints = (_SEEDS[:, None, None] - (np.arange(PITS) - _ACTION[:, None]) % PITS + PITS - 1) // PITS

# (43, 3): the pit of the last seed.
_LAST: Ints = (_ACTION + _SEEDS[:, None] - 1) % PITS

# (6, 6): all pits from one on backwards.
_BACKWARDS: Ints = (np.arange(PITS)[:, None] - np.arange(PITS)) % PITS

# What makes a number of six pits; two positions have the same only if they are the same.
_DIGITS: Ints = (SEEDS + 1) ** np.arange(PITS)


def _any(things: Ints | Bools) -> Bools:
    """Whether there is something along the last axis."""
    found: Bools = np.any(things, axis=-1)
    return found


class Outcomes(NamedTuple):
    """What each of the three actions leads to."""

    legal: Bools  # (N, 3)
    boards: Ints  # (N, 3, 6): after sowing and capture, as the mover still sees them
    taken: Ints  # (N, 3): seeds captured


def outcomes(boards: Ints, first: Bools) -> Outcomes:
    """The actions on boards (N, 6) as their movers see them; `first` (N,): the first ply of a game, which captures
    nothing. Of an illegal action the outcome means nothing."""
    seeds = boards[:, :ACTIONS]
    sown: Ints = np.repeat(boards[:, None, :], ACTIONS, axis=1)
    sown[:, _ACTION, _ACTION] = 0
    sown += _SOWN[seeds, _ACTION]
    path: Ints = _BACKWARDS[_LAST[seeds, _ACTION]]
    along = np.take_along_axis(sown, path, axis=2)
    even = ((along == 2) | (along == 4) | (along == 6)) & ~first[:, None, None]
    chain = np.logical_and.accumulate(even, axis=2)
    left = np.array(sown)
    np.put_along_axis(left, path, np.where(chain, 0, along), axis=2)
    slam: Bools = _any(sown[:, :, ACTIONS:]) & ~_any(left[:, :, ACTIONS:])
    legal: Bools = (seeds > 1) & ~slam
    feeding: Bools = legal & (_ACTION + seeds > ACTIONS)
    must_feed: Bools = ~_any(boards[:, ACTIONS:]) & _any(feeding)
    return Outcomes(np.where(must_feed[:, None], feeding, legal), left, np.where(chain, along, 0).sum(axis=2))


class View(NamedTuple):
    """All boards before their next ply, each as its mover sees it."""

    observations: Observation  # (N, 8) int8: own row, other row, own store, other store
    action_masks: Mask  # (N, 3) int8
    movers: NDArray[np.int8]  # (N,): 0 for player_0, South, 1 for player_1


class Step(NamedTuple):
    """What a ply on every board led to."""

    view: View  # where a game has ended: of the next one, which has begun
    rewards: NDArray[np.float32]  # (N,): of the player that made the ply; the other's is the opposite
    endings: NDArray[np.int8]  # (N,): an index of ENDINGS, 0 where the game goes on


def _standing(boards: Ints, movers: Ints) -> Ints:
    """(N,): a number that two positions with the same side to move share only if their pits are the same."""
    standing: Ints = 2 * (boards @ _DIGITS) + movers
    return standing


class _Boards:
    """N positions and what is remembered of each game."""

    def __init__(self, games: Sequence[Game]) -> None:
        seen = np.array([_view.observation(game.position, game.position.side) for game in games], np.int64)
        self.pits: Ints = seen[:, :PITS]  # (N, 6): the mover's first
        self.captured: Ints = seen[:, PITS:]  # (N, 2): by the mover, by the other
        self.movers = np.array([game.position.side == "north" for game in games], np.int64)
        self.first = np.array([game.position.ply == 1 for game in games])
        self.quiet: Ints = np.array([len(game.quiet) - 1 for game in games])  # plies since the last capture
        # (N, at least the most quiet plies + 1): the positions since then, this one at the index `quiet`.
        self.standings: Ints = np.zeros((len(games), self.quiet.max() + 1), np.int64)
        for row, game in enumerate(games):
            movers = (self.movers[row] + np.arange(len(game.quiet))[::-1]) % 2
            pits = [np.roll(pits, ACTIONS * mover) for pits, mover in zip(game.quiet, movers, strict=True)]
            self.standings[row, : len(game.quiet)] = _standing(np.array(pits), movers)

    def take(self, rows: Ints, source: _Boards, chosen: Ints) -> None:
        """Puts the chosen positions of `source` into these rows."""
        for name in ("pits", "captured", "movers", "first", "quiet"):
            getattr(self, name)[rows] = getattr(source, name)[chosen]
        self._make_room(source.standings.shape[1])
        self.standings[rows, : source.standings.shape[1]] = source.standings[chosen]

    def pass_on(self, pits: Ints, taken: Ints) -> None:
        """The mover leaves these pits (N, 6), as it sees them, with so many seeds taken, to the other."""
        self.pits = np.roll(pits, ACTIONS, axis=1)
        self.captured[:, 0] += taken
        self.captured = np.array(self.captured[:, ::-1])
        self.movers = 1 - self.movers
        self.first[:] = False
        self.quiet = np.where(taken > 0, 0, self.quiet + 1)
        self._make_room(self.quiet.max() + 1)
        self.standings[np.arange(len(pits)), self.quiet] = _standing(self.pits, self.movers)

    def stood(self) -> Ints:
        """(N,): how often the pits have stood with this side to move."""
        plies = np.arange(int(self.quiet.max()) + 1)
        past = self.standings[:, : len(plies)]
        now: Ints = np.take_along_axis(self.standings, self.quiet[:, None], axis=1)
        times: Ints = np.sum((past == now) & (plies <= self.quiet[:, None]), axis=1)
        return times

    def lead(self) -> Ints:
        """(N,): how many seeds the mover is ahead, each side's own row taken."""
        own, other = self.pits[:, :ACTIONS].sum(axis=1), self.pits[:, ACTIONS:].sum(axis=1)
        lead: Ints = self.captured[:, 0] + own - self.captured[:, 1] - other
        return lead

    def _make_room(self, width: int) -> None:
        missing = width - self.standings.shape[1]
        if missing > 0:  # at least twice as wide, so that it is seldom done
            missing = max(missing, self.standings.shape[1])
            self.standings = np.pad(self.standings, ((0, 0), (0, missing)))


class SelfPlay:
    """So many games at once, each with a player on either side; one that ends is followed by another at once."""

    def __init__(
        self,
        boards: int,
        reward: Reward = "sign",
        opening: Opening = None,
        rules: Rules = Rules(),  # noqa: B008 (immutable)
    ) -> None:
        """`reward`, `opening` and `rules` are as in `modiar_v0`. A wrong one, or no board, raises ValueError."""
        _view.check_word("reward", reward, get_args(Reward))
        if boards < 1:
            raise ValueError(f"boards is {boards}: play on 1 or more")
        self.boards = boards
        self._reward: Reward = reward
        self._rules = rules
        games = after_openings(opening, rules)
        self._starts = _Boards(games)
        self._now = _Boards([games[0]] * boards)
        self._outcomes = outcomes(self._now.pits, self._now.first)
        self._random = np.random.default_rng()
        self._begin(np.arange(boards))

    def reset(self, seed: int | None = None) -> View:
        """Begins all games. The seed chooses their openings and those of the following games."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self._begin(np.arange(self.boards))
        return self._view()

    def step(self, actions: ArrayLike) -> Step:
        """Plays an action of 0 to 2 on every board, (N,); another shape or number raises ValueError."""
        chosen = self._checked(actions)
        every = np.arange(self.boards)
        illegal = ~self._outcomes.legal[every, chosen]
        self._now.pass_on(self._outcomes.boards[every, chosen], self._outcomes.taken[every, chosen])
        self._outcomes = outcomes(self._now.pits, self._now.first)
        endings = self._endings(illegal)
        rewards = self._rewards(endings)
        self._begin(np.flatnonzero(endings))
        return Step(self._view(), rewards, endings)

    def _checked(self, actions: ArrayLike) -> Ints:
        chosen = np.asarray(actions)
        if chosen.shape != (self.boards,) or chosen.dtype.kind not in "iu" or not np.isin(chosen, _ACTION).all():
            raise ValueError(f"actions are {actions!r}: give {self.boards} numbers from 0 to 2")
        return chosen.astype(np.int64)

    def _begin(self, rows: Ints) -> None:
        """Begins new games on these boards."""
        if rows.size:
            self._now.take(rows, self._starts, self._random.integers(len(self._starts.pits), size=rows.size))
            self._outcomes = outcomes(self._now.pits, self._now.first)

    def _endings(self, illegal: Bools) -> NDArray[np.int8]:
        """By `rules.end.rank`, after an illegal action."""
        rules, now = self._rules, self._now
        never = np.zeros(self.boards, np.bool_)
        reasons: list[Bools] = [
            illegal,
            now.captured.max(axis=1) >= MAJORITY if rules.majority else never,
            ~_any(self._outcomes.legal),
            now.stood() >= rules.repetition if rules.repetition else never,
            now.quiet >= rules.quiet_plies if rules.quiet_plies else never,
        ]
        return np.select(reasons, [_ILLEGAL, 1, 2, 3, 4], 0).astype(np.int8)

    def _rewards(self, endings: NDArray[np.int8]) -> NDArray[np.float32]:
        lead = -self._now.lead()  # of the player that made the ply
        worth = lead / SEEDS if self._reward == "margin" else np.sign(lead)
        return np.select([endings == 0, endings == _ILLEGAL], [0.0, -1.0], worth).astype(np.float32)

    def _view(self) -> View:
        now = self._now
        seen = np.concatenate([now.pits, now.captured], axis=1)
        return View(seen.astype(np.int8), self._outcomes.legal.astype(np.int8), now.movers.astype(np.int8))
