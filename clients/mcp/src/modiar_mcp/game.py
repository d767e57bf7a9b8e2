"""What a bot knows of one of its games: the server's messages, and the moves of its own, put together."""

from __future__ import annotations

import time

from modiar import BySide, Ended, Last, Pit, Position, Side, Turn, wire

# A side's first ply must come within so much charged time (forfeit.no-show).
FIRST_PLY_MS = 30_000


class Game:
    """A game of this bot. It is the bot's turn while `turn` is there."""

    def __init__(self, started: wire.Started, side: Side) -> None:
        self.side: Side = side
        self.turn: Turn | None = None
        self.last: Last | None = None
        self._answer: tuple[int, Pit] | None = None  # ply and pit of the newest move
        self.refused: wire.Error | None = None  # what the server said to the newest move, if it was not taken
        self.end: Ended | None = None
        self.over = False  # without an end, where the server does not know the game any more
        self.shown = False  # whether the agent has been told that it is over
        self.begin(started)

    def begin(self, started: wire.Started) -> None:
        """Takes the state over that the server tells at a start, or at a return."""
        self.started = started
        self.moves = started["moves"]
        captured = BySide(**started["captured"])
        self.position = Position(tuple(started["pits"]), captured, started["side_to_move"], started["ply"])
        self._clocks(started["remaining_ms"])
        if self.turn and self.turn.ply != started["ply"]:
            self.turn = None
        if self._answer and self._answer[0] == started["ply"]:
            self._show(self._answer[1])  # it was lost with the link, and the client sends it again

    def told_turn(self, message: wire.Turn) -> None:
        """It is the bot's turn: maybe again, after a lost link, and with a clock that was wound back."""
        self._clocks(message["remaining_ms"])
        if self._answer and self._answer[0] == message["ply"]:
            return  # the client sends the answer again
        self.position = Position(
            tuple(message["pits"]), BySide(**message["captured"]), message["side"], message["ply"]
        )
        self.last = Last(**message["last"]) if "last" in message else None
        if self.last and self.last.ply == len(self.moves) + 1:
            self.moves += str(self.last.pit)

    def ask(self, turn: Turn) -> None:
        """The bot may answer this turn: after a move that the server forgave, one that it has answered before."""
        self.turn, self.position, self.moves = turn, turn.position, self.moves[: turn.ply - 1]

    def play(self, pit: Pit) -> None:
        """Answers the turn with a legal pit."""
        assert self.turn
        self.turn.play(pit)
        self._answer, self.turn, self.refused = (self.turn.ply, pit), None, None
        self._show(pit)

    def is_mine(self) -> bool:
        return self.turn is not None

    def is_told(self) -> bool:
        """Whether its turn is there too, where the bot is to move."""
        return self.over or self.is_mine() or self.position.side != self.side

    def runs(self) -> bool:
        return not self.over

    def forget(self) -> None:
        """The server has the game no more, or this bot has no way to it."""
        self.turn, self.over = None, True

    def finish(self, end: Ended) -> None:
        self.forget()
        self.end = end

    @property
    def opponent(self) -> str:
        return self.started["north" if self.side == "south" else "south"]["name"]

    @property
    def ms_left(self) -> int | None:
        """What is left now for the bot's move, while it is its turn."""
        if not self.turn:
            return None
        limits = [self.remaining_ms.of(self.side), self.started["time"].get("move_ms", FIRST_PLY_MS * 1000)]
        if self.position.ply <= len(self.started["opening"]) + 2:
            limits.append(FIRST_PLY_MS)
        return max(0, min(limits) - round(1000 * (time.monotonic() - self._since)))

    def _show(self, pit: Pit) -> None:
        """Puts a move of the bot's own on the board, before the server has told it."""
        elapsed_ms = round(1000 * (time.monotonic() - self._since))
        after, taken = self.position.play(pit)
        self.last = Last(self.position.ply, self.side, pit, taken, elapsed_ms)
        self.position, self.moves = after, self.moves + str(pit)

    def _clocks(self, remaining_ms: wire.Sides) -> None:
        self.remaining_ms, self._since = BySide(**remaining_ms), time.monotonic()
