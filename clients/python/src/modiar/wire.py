"""The wire in one file: every message of protocol 1 (spec/messages), and the codec, without I/O.

A message is a dict with a `type`; these classes say what else is in it. A class in two steps has first the fields that are
always there, then, with `total=False`, those that may be absent. Where a newer server may say more words than are known
here, the field is a `str` too.
"""

from __future__ import annotations

import json
import logging
from functools import lru_cache
from typing import Any, Literal, TypedDict, cast, get_args, get_origin, get_type_hints, is_typeddict

from .errors import LineTooLong
from .rules import Side

PROTOCOL = 1

# The longest line that a server writes, its ending included.
LINE_BYTES = 16_384

Ref = str | int  # a mark of the client's that returns on the direct reply

ErrorCode = Literal[
    "bad_json", "bad_utf8", "line_too_long", "bad_field", "unknown_type", "expected_hello", "unexpected_hello",
    "bad_protocol", "auth_failed", "name_taken", "bad_name", "registration_closed", "guests_closed",
    "too_many_connections", "rate_limited", "unknown_pool", "unknown_bot", "unknown_challenge", "already_seeking",
    "games_limit", "wrong_game", "not_your_turn", "stale_ply", "duplicate", "game_over", "illegal_move", "draining",
    "internal",
]  # fmt: skip
Result = Literal["south", "north", "draw", "none"]
Termination = Literal[
    "immobile", "repetition", "quiet_plies", "majority", "resignation", "time_forfeit", "illegal_move", "aborted",
    "server_error",
]  # fmt: skip
GoodbyeReason = Literal[
    "bye", "handshake", "replaced", "flood", "slow_reader", "line_too_long", "banned", "draining", "internal"
]
SeekEndedReason = Literal["cancelled", "done", "draining", "penalised"]
ChallengeEndedReason = Literal["declined", "expired", "cancelled", "unavailable", "draining"]
NoticeCode = Literal["draining"]


class Marked(TypedDict, total=False):
    """A message that may carry the client's mark, or bring it back."""

    ref: Ref


# From the client to the server.


class _Hello(Marked):
    type: Literal["hello"]
    protocol: int


class Hello(_Hello, total=False):
    name: str
    token: str
    register: bool
    resume: str  # brings a guest back
    client: str
    version: str  # the bot's build
    games: int  # most at once
    updates: bool  # whether `moved` is wanted


class _Seek(Marked):
    type: Literal["seek"]
    pool: str


class Seek(_Seek, total=False):
    games: int  # 0: until unseek


class _Unseek(Marked):
    type: Literal["unseek"]


class Unseek(_Unseek, total=False):
    pool: str


class _Challenge(Marked):
    type: Literal["challenge"]
    opponent: str
    pool: str


class Challenge(_Challenge, total=False):
    side: Literal["south", "north", "random"]  # of the challenger, in the first game
    rated: bool
    games: int


class Accept(Marked):
    type: Literal["accept"]
    challenge: str


class Decline(Marked):
    type: Literal["decline"]
    challenge: str


class _Move(Marked):
    type: Literal["move"]
    game: str
    pit: int


class Move(_Move, total=False):
    ply: int


class Resign(Marked):
    type: Literal["resign"]
    game: str


class Watch(Marked):
    type: Literal["watch"]
    game: str


class Unwatch(Marked):
    type: Literal["unwatch"]
    game: str


class Ping(Marked):
    type: Literal["ping"]


class Bye(Marked):
    type: Literal["bye"]


ClientMessage = (
    Hello | Seek | Unseek | Challenge | Accept | Decline | Move | Resign | Watch | Unwatch | Ping | Bye
)


# From the server to the client: first what its messages are made of.


class Sides(TypedDict):
    south: int
    north: int


class _Time(TypedDict):
    base_ms: int
    increment_ms: int
    grace_ms: int  # not charged, at each move


class Time(_Time, total=False):
    move_ms: int  # the most for one move


class Rules(TypedDict):
    name: str
    repetition: int  # 0: off
    quiet_plies: int  # 0: off
    majority: bool
    illegal_moves: int  # how many are forgiven


class Pool(TypedDict):
    name: str
    time: Time
    rated: bool
    openings: Literal["start", "balanced"] | str
    rules: Rules


class Standing(TypedDict):
    rating: float
    rd: float
    games: int


class Bot(TypedDict):
    name: str
    guest: bool
    ratings: dict[str, Standing]  # by pool


class Limits(TypedDict):
    line_bytes: int
    messages_per_s: int
    games: int  # at once


class _Player(TypedDict):
    name: str
    guest: bool


class Player(_Player, total=False):
    rating: float
    version: str


class _Challenger(TypedDict):
    name: str


class Challenger(_Challenger, total=False):
    rating: float


class Last(TypedDict):
    ply: int
    side: Side
    pit: int
    taken: int
    elapsed_ms: int


class Detail(TypedDict):
    pit: int
    clause: str
    legal: list[int]


class Change(TypedDict):
    before: float
    after: float
    rd: float


class _Ended(TypedDict):
    type: Literal["ended"]
    game: str
    result: Result
    termination: Termination | str
    score: Sides  # seeds
    pits: list[int]  # before each side takes its own row
    ply: int  # the last that was played


class Ended(_Ended, total=False):
    detail: Detail
    rating: Change


class _Welcome(Marked):
    type: Literal["welcome"]
    protocol: int
    server: str
    bot: Bot
    pools: list[Pool]
    limits: Limits
    games: list[str]
    missed: list[Ended]


class Welcome(_Welcome, total=False):
    token: str
    resume: str


class _Seeking(Marked):
    type: Literal["seeking"]
    pool: str
    waiting: int  # bots


class Seeking(_Seeking, total=False):
    reason: str


class _SeekEnded(Marked):
    type: Literal["seek_ended"]
    pool: str
    reason: SeekEndedReason | str


class SeekEnded(_SeekEnded, total=False):
    until_ms: int  # Unix time
    message: str


# In a form of its own, for the field is a word of Python.
_From = TypedDict("_From", {"from": Challenger})


class Challenged(_From):
    type: Literal["challenged"]
    challenge: str
    pool: str
    side: Literal["south", "north", "random"]
    rated: bool
    games: int
    expires_ms: int


class ChallengeSent(Marked):
    type: Literal["challenge_sent"]
    challenge: str


class ChallengeEnded(Marked):
    type: Literal["challenge_ended"]
    challenge: str
    reason: ChallengeEndedReason | str


class _Started(Marked):
    type: Literal["started"]
    game: str
    pool: str
    rated: bool
    south: Player
    north: Player
    time: Time
    rules: Rules
    opening: str  # pits as digits
    moves: str  # the opening included
    ply: int  # to be played
    side_to_move: Side
    pits: list[int]
    captured: Sides  # seeds
    remaining_ms: Sides
    resumed: bool


class Started(_Started, total=False):
    side: Side  # absent for a spectator
    spectator: bool


class _Turn(TypedDict):
    type: Literal["turn"]
    game: str
    ply: int  # to be played
    side: Side
    pits: list[int]
    captured: Sides  # seeds
    legal: list[int]
    remaining_ms: Sides


class Turn(_Turn, total=False):
    last: Last


class Moved(TypedDict):
    type: Literal["moved"]
    game: str
    ply: int
    side: Side
    pit: int
    taken: int
    elapsed_ms: int
    pits: list[int]
    captured: Sides  # seeds
    remaining_ms: Sides


class _Error(Marked):
    type: Literal["error"]
    code: ErrorCode | str
    message: str
    fatal: bool


class Error(_Error, total=False):
    game: str
    field: str
    clause: str
    legal: list[int]
    supported: list[int]


class _Notice(TypedDict):
    type: Literal["notice"]
    code: NoticeCode | str
    message: str


class Notice(_Notice, total=False):
    until_ms: int  # Unix time


class Goodbye(Marked):
    type: Literal["goodbye"]
    reason: GoodbyeReason | str
    message: str


class Pong(Marked):
    type: Literal["pong"]
    time_ms: int  # Unix time


class Unwatched(Marked):
    type: Literal["unwatched"]
    game: str


ServerMessage = (
    Welcome | Seeking | SeekEnded | Challenged | ChallengeSent | ChallengeEnded | Started | Turn | Moved | Ended | Error
    | Notice | Goodbye | Pong | Unwatched
)  # fmt: skip


# The codec.

_log = logging.getLogger("modiar")

# What a newer server says is noted once each, and of no more words than this.
_MOST_NOTED = 100
_noted: set[str] = set()


def encode(message: ClientMessage) -> bytes:
    """The line of a message: compact JSON in ASCII and a newline."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


class Decoder:
    """Makes messages of bytes as they come, however they are cut."""

    def __init__(self) -> None:
        self._unread = b""

    def feed(self, data: bytes) -> list[ServerMessage]:
        """The messages that these bytes complete, with known fields only. A line that is no message is skipped, with a
        note in the log; a line that is too long raises LineTooLong."""
        *lines, self._unread = (self._unread + data).split(b"\n")
        if any(len(line) >= LINE_BYTES for line in (*lines, self._unread)):
            raise LineTooLong(f"the server sent a line of more than {LINE_BYTES} bytes")
        messages = (_message(line) for line in lines if line.strip())
        return [message for message in messages if message]


def complete(message: ServerMessage) -> bool:
    """Whether the message has every field that it must have."""
    return _complete(_KINDS[message["type"]], message)


def _message(line: bytes) -> Any:
    try:
        value: Any = json.loads(line.decode())
        name = value["type"]
        if name in _KINDS:
            return _known(_KINDS[name], value, name)
        _note(f"ignored a message of the unknown type {name!r}")
    except (ValueError, TypeError, LookupError, RecursionError):
        _log.warning("skipped a line that is not a message: %r", line[:80])


def _note(text: str) -> None:
    if text not in _noted and len(_noted) < _MOST_NOTED:
        _noted.add(text)
        _log.debug("%s", text)


@lru_cache(maxsize=None)
def _fields(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


_KINDS = {get_args(_fields(kind)["type"])[0]: kind for kind in get_args(ServerMessage)}


def _known(hint: Any, value: Any, where: str) -> Any:
    """The value with known fields only, and without those that are null; ValueError where it is of another type."""
    origin, of, kind = get_origin(hint), get_args(hint), cast(object, type(value))
    if is_typeddict(hint) and kind is dict:
        fields = _fields(hint)
        for name in value.keys() - fields.keys():
            _note(f"ignored the unknown field {name!r} of {where}")
        present = (name for name in fields if value.get(name) is not None)
        return {name: _known(fields[name], value[name], where) for name in present}
    if origin is list and kind is list:
        return [_known(of[0], part, where) for part in value]
    if origin is dict and kind is dict:
        return {name: _known(of[1], part, where) for name, part in value.items()}
    if value in of if origin is Literal else kind in (of or (hint, int if hint is float else hint)):
        return value
    raise ValueError(f"{value!r} is no {hint}")


def _complete(hint: Any, value: Any) -> bool:
    if is_typeddict(hint):
        there = hint.__required_keys__ <= value.keys()
        return there and all(_complete(_fields(hint)[name], part) for name, part in value.items())
    if get_origin(hint) is list:
        return all(_complete(get_args(hint)[0], part) for part in value)
    if get_origin(hint) is dict:
        return all(_complete(get_args(hint)[1], part) for part in value.values())
    return True
