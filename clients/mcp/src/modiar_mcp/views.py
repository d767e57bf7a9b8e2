"""What the tools answer: the shapes that an agent reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from modiar import BySide, Ended, Position, Side, wire

from .game import Game

Seeds = Annotated[int, Field(ge=0, le=42)]
SIDES: tuple[Side, Side] = ("north", "south")  # from above, as the board is drawn

Status = Literal["no_game", "your_turn", "opponent_thinking", "ended"]


class Both(BaseModel):
    """A number for each side."""

    south: int
    north: int


class Board(BaseModel):
    """A position."""

    pits: list[Seeds] = Field(description="seeds in pits 0 to 5; South's are 0 1 2, North's 3 4 5")
    captured: Both
    side_to_move: Side
    ply: int = Field(description="to be played; the first of a game is 1")
    text: str = Field(description="the position in one line")
    picture: str


class LastPly(BaseModel):
    """The ply before."""

    ply: int
    side: Side
    pit: int
    taken: Seeds
    elapsed_ms: int = Field(description="by the server's clock; of your own ply as it was measured here")


class Detail(BaseModel):
    """The illegal move that ended a game."""

    pit: int
    clause: str
    legal: list[int]


class End(BaseModel):
    """How a game ended."""

    game: str
    result: str = Field(description="the side that won, draw, or none: the game does not count")
    termination: str = Field(description="why it ended: immobile, repetition, resignation, time_forfeit, aborted, …")
    score: Both
    you_are: Side | None
    you: Literal["won", "lost", "drew", "none"]
    rating_before: float | None = None
    rating_after: float | None = None
    detail: Detail | None = None
    opponent: str | None = None
    pool: str | None = None
    moves: str | None = Field(None, description="the pits in the order played, as far as they were told")


class GameView(BaseModel):
    """A game of this bot."""

    game: str
    pool: str
    rated: bool
    opponent: str
    you_are: Side
    board: Board
    legal: list[int] = Field(description="what you may play now; empty while it is not your turn")
    your_ms_left: int | None = Field(description="what is left for this move, now; null while it is not your turn")
    remaining_ms: Both = Field(description="both clocks as they were last told, at the start of your last turn")
    increment_ms: int
    illegal_moves_forgiven: int
    last: LastPly | None
    moves: str = Field(description="the pits in the order played")


class ChallengeView(BaseModel):
    """A challenge of another bot that waits for an answer."""

    challenge: str
    by: str
    pool: str
    you_are: Literal["south", "north", "random"]
    rated: bool
    games: int


class Table(BaseModel):
    """What is true now."""

    status: Status
    next: str = Field(description="what to do")
    connected: bool = Field(description="whether there is a link to the server now; a lost one comes back by itself")
    game: GameView | None = None
    end: End | None = None
    challenges: list[ChallengeView] = []


class WhatIf(BaseModel):
    """What a move would lead to, by the rules alone."""

    pit: int
    taken: Seeds
    after: Board
    replies: list[int] = Field(description="what the opponent could play then")
    ends: bool = Field(description="whether the opponent could not move, and the game would end")
    score: Both | None = Field(description="the final score, if it ends")


class PoolView(BaseModel):
    """A pool: bots that seek in it play each other."""

    name: str
    base_ms: int
    increment_ms: int
    move_ms: int | None = Field(description="the most for one move; null: no such limit")
    grace_ms: int = Field(description="never charged, of each move")
    rated: bool
    openings: str
    illegal_moves_forgiven: int


class Pools(BaseModel):
    """The server, and who this bot is on it."""

    server: str
    you: str
    guest: bool = Field(description="a guest's games are unrated")
    ratings: dict[str, float]
    pools: list[PoolView] = Field(description="the slowest first")


class Results(BaseModel):
    """What has ended since this program started, the newest last."""

    results: list[End]


def picture(position: Position, side: Side | None) -> str:
    """The board as a person draws it, each pit with its number."""
    rows = [" ".join(f"{pit}:[{position.pits[pit]:2}]" for pit in row) for row in ((5, 4, 3), (0, 1, 2))]
    names = {name: f"{name.capitalize()}{' (you)' if name == side else ''}" for name in SIDES}
    north, south = (f"{names[name]}, captured {position.captured.of(name)}" for name in SIDES)
    return "\n".join([north, *rows, south])


def both(numbers: BySide) -> Both:
    return Both(south=numbers.south, north=numbers.north)


def board(position: Position, side: Side | None) -> Board:
    return Board(
        pits=list(position.pits),
        captured=both(position.captured),
        side_to_move=position.side,
        ply=position.ply,
        text=position.text,
        picture=picture(position, side),
    )


def game_view(game: Game) -> GameView:
    started = game.started
    return GameView(
        game=started["game"],
        pool=started["pool"],
        rated=started["rated"],
        opponent=game.opponent,
        you_are=game.side,
        board=board(game.position, game.side),
        legal=list(game.turn.legal) if game.turn else [],
        your_ms_left=game.ms_left,
        remaining_ms=both(game.remaining_ms),
        increment_ms=started["time"]["increment_ms"],
        illegal_moves_forgiven=started["rules"]["illegal_moves"],
        last=LastPly(**game.last._asdict()) if game.last else None,
        moves=game.moves,
    )


def end_view(end: Ended, game: Game | None) -> End:
    outcome: Literal["won", "lost", "drew", "none"] = "none"
    if end.result == "draw":
        outcome = "drew"
    elif end.result != "none" and end.side:
        outcome = "won" if end.result == end.side else "lost"
    return End(
        game=end.game,
        result=end.result,
        termination=end.termination,
        score=both(end.score),
        you_are=end.side,
        you=outcome,
        rating_before=end.rating["before"] if end.rating else None,
        rating_after=end.rating["after"] if end.rating else None,
        detail=Detail(**end.detail) if end.detail else None,
        opponent=game.opponent if game else None,
        pool=game.started["pool"] if game else None,
        moves=game.moves if game else None,
    )


def what_if_view(position: Position, pit: int, side: Side) -> WhatIf:
    """The pit must be legal."""
    after, taken = position.play(pit)
    replies = list(after.legal())
    score = None if replies else both(after.score())
    return WhatIf(pit=pit, taken=taken, after=board(after, side), replies=replies, ends=not replies, score=score)


def challenge_view(challenge: wire.Challenged) -> ChallengeView:
    sides: dict[str, Literal["south", "north", "random"]] = {"south": "north", "north": "south", "random": "random"}
    return ChallengeView(
        challenge=challenge["challenge"],
        by=challenge["from"]["name"],
        pool=challenge["pool"],
        you_are=sides[challenge["side"]],
        rated=challenge["rated"],
        games=challenge["games"],
    )


def slowest_first(pools: Iterable[wire.Pool]) -> list[wire.Pool]:
    """By what a side has for its first forty moves, of which no one may take longer than the pool lets it."""

    def budget(pool: wire.Pool) -> int:
        moment = pool["time"]
        whole = moment["base_ms"] + 40 * moment["increment_ms"]
        return min(whole, 40 * moment["move_ms"]) if "move_ms" in moment else whole

    return sorted(pools, key=budget, reverse=True)


def pools_view(welcome: wire.Welcome) -> Pools:
    return Pools(
        server=welcome["server"],
        you=welcome["bot"]["name"],
        guest=welcome["bot"]["guest"],
        ratings={pool: standing["rating"] for pool, standing in welcome["bot"]["ratings"].items()},
        pools=[
            PoolView(
                name=pool["name"],
                base_ms=pool["time"]["base_ms"],
                increment_ms=pool["time"]["increment_ms"],
                move_ms=pool["time"].get("move_ms"),
                grace_ms=pool["time"]["grace_ms"],
                rated=pool["rated"],
                openings=pool["openings"],
                illegal_moves_forgiven=pool["rules"]["illegal_moves"],
            )
            for pool in slowest_first(welcome["pools"])
        ],
    )
