"""Import it before `modiar.env`. Where the extra is absent the tests of that file are skipped, and say so; with
MODIAR_REQUIRE_ALL they fail."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import unittest
import warnings
from collections.abc import Callable, Generator
from importlib import import_module
from typing import Any

import support  # noqa: F401 # pyright: ignore[reportUnusedImport] (it finds the package)

try:
    for _module in ("numpy", "gymnasium", "pettingzoo"):
        import_module(_module)
except ImportError as error:
    if os.environ.get("MODIAR_REQUIRE_ALL"):
        raise
    print(f"SKIPPED: {error.name} is not installed", file=sys.stderr)
    raise unittest.SkipTest(f"{error.name} is not installed") from error

from modiar.env import modiar_v0  # noqa: E402 (what it needs is there)

PLAYERS = ("player_0", "player_1")


@contextlib.contextmanager
def quiet() -> Generator[None, None, None]:
    """Without what the checkers print of themselves."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def play(env: Any, moves: str) -> None:
    """Plays pits, as digits."""
    for pit in moves:
        env.step(int(pit) % 3)


def lowest(mask: Any) -> int:
    return int(mask.argmax())


def record(env: Any, seed: int | None, games: int, choose: Callable[[Any], int] = lowest) -> list[Any]:
    """All that the agents are told in so many games, as lists; the first is seeded."""
    told: list[Any] = []
    for game in range(games):
        env.reset(seed=None if game else seed)
        for agent in env.agent_iter():
            seen, reward, terminated, truncated, info = env.last()
            told.append((agent, seen["observation"].tolist(), reward, terminated, truncated, info))
            env.step(None if terminated else choose(seen["action_mask"]))
    return told


def raw(**options: Any) -> modiar_v0.raw_env:
    """A raw environment, with the mask in the info, after its reset."""
    env = modiar_v0.raw_env(mask="info", **options)
    env.reset(seed=1)
    return env
