"""A whole program around a function from a turn to a pit: results, what people read, Ctrl-C and the exit status."""

from __future__ import annotations

import argparse
import contextlib
import logging
import signal
from collections.abc import Callable

from .client import Client
from .errors import ConnectError, ModiarError, ProtocolError, SettingError
from .rules import Pit
from .session import MOST_GAMES, log
from .settings import Settings
from .turn import Ended, Turn

# Exit statuses, the same as the daemon's own commands; argparse uses 2 by itself.
DONE, USAGE, COULD_NOT, INTERRUPTED = 0, 2, 3, 130

Choose = Callable[[Turn], Pit]

# What ends a program with a word to a person and no trace.
REASONS = (SettingError, ConnectError, ProtocolError)


def run(
    choose: Choose,
    pool: str = "practice",
    games: int = 1,
    settings: Settings | None = None,
    strict: bool = False,
) -> int:
    """Plays so many games, 0 for no end, and returns the exit status. Results go to stdout, one line a game; what is meant
    for people goes to stderr.

    Where `choose` raises, its trace is told and the game resigned; with `strict` the error then reaches the caller.
    Ctrl-C resigns and leaves.
    """
    tell_people()
    interrupt = Interrupt()
    try:
        with Client(settings, interruptible=interrupt) as client:
            client.ended = tell
            for turn in client.turns(pool, games):
                _play(choose, turn, interrupt, strict)
    except KeyboardInterrupt:
        return INTERRUPTED
    except REASONS as reason:
        return give_up(reason)
    return DONE


def _play(choose: Choose, turn: Turn, interrupt: Interrupt, strict: bool) -> None:
    try:
        with interrupt:
            pit = choose(turn)
        turn.play(pit)
    except Exception:
        resign(turn)
        if strict:
            raise


def resign(turn: Turn) -> None:
    """Gives up a game in which the bot itself has failed, and tells what happened."""
    log.exception(
        "no move in game %s at ply %d, position %s: the game is resigned", turn.game, turn.ply, turn.position.text
    )
    turn.resign()


def tell(ended: Ended) -> None:
    """Prints a game's end as every bot does, and behind it the own side and the score."""
    score = f"{ended.score.south}-{ended.score.north}"
    print(ended.game, ended.result, ended.termination, ended.side or "unknown", score, flush=True)
    if detail := ended.detail:
        log.warning("pit %d breaks %s; legal were %s", detail["pit"], detail["clause"], detail["legal"])


def tell_people() -> None:
    """Shows the log on stderr, unless the program has made its own arrangements."""
    handlers = [*log.handlers, *logging.getLogger().handlers]
    if all(isinstance(handler, logging.NullHandler) for handler in handlers):
        log.addHandler(logging.StreamHandler())
        log.setLevel(logging.INFO)


def give_up(reason: ModiarError) -> int:
    """Tells a person why the program ends; returns its exit status."""
    log.error("error %s" if isinstance(reason, ProtocolError) else "%s", reason)
    return USAGE if isinstance(reason, SettingError) else COULD_NOT


class Interrupt(contextlib.AbstractContextManager[None]):
    """Ctrl-C, let through only inside `with`: elsewhere it waits for the next such place, so that no message is lost
    half read or half answered. A second one waits for nothing."""

    def __init__(self) -> None:
        self._open = self._waiting = False
        # Where the shell has it ignored, or in another thread than the main one, nothing is changed.
        with contextlib.suppress(ValueError):
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                signal.signal(signal.SIGINT, self._heard)

    def _heard(self, *_: object) -> None:
        if self._open or self._waiting:
            self._let_through()
        self._waiting = True

    def _let_through(self) -> None:
        self._open = self._waiting = False
        raise KeyboardInterrupt

    def __enter__(self) -> None:
        self._open = True  # first: what comes from here on is not kept waiting
        if self._waiting:
            self._let_through()

    def __exit__(self, *_: object) -> None:
        self._open = False


def arguments(description: str | None) -> argparse.ArgumentParser:
    """The options that every bot has; a bot adds its own before it parses."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--games", type=_game_count, default=1, metavar="N", help="how many to play; 0: until stopped (default: 1)"
    )
    parser.add_argument("--pool", default="practice", metavar="P", help="the pool to play in (default: practice)")
    return parser


def _game_count(text: str) -> int:
    """The number of `--games`; argparse tells what is wrong with another text, and ends with status 2."""
    if not text.isascii() or not text.isdigit() or int(text) > MOST_GAMES:
        raise argparse.ArgumentTypeError(f"{text!r}: write a whole number from 0 to {MOST_GAMES}")
    return int(text)
