"""What can go wrong, one class a kind of it. All are `ModiarError`, so that one `except` catches them."""

from __future__ import annotations


class ModiarError(Exception):
    """The root of all errors here."""


class SettingError(ModiarError, ValueError):
    """A setting is wrong; the text names it, its value and what to do."""


class ConnectError(ModiarError, OSError):
    """The server could not be reached, or did not stay; the text names host, port and cause."""


class ProtocolError(ModiarError):
    """The server refused something for good. `code` is one of spec/errors.md, or the reason of a goodbye."""

    def __init__(
        self, code: str, message: str, field: str | None = None, clause: str | None = None, fatal: bool = False
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.field = field
        self.clause = clause
        self.fatal = fatal


class AuthError(ProtocolError):
    """The server does not let this bot in under this name: auth_failed, name_taken, bad_name, registration_closed,
    guests_closed."""


class LineTooLong(ModiarError):
    """The server sent a line that is longer than any it may send; what follows it can no longer be read."""


class IllegalMove(ModiarError, ValueError):
    """The rules forbid this pit here; `clause` says which of them (spec/rules.md)."""

    def __init__(self, pit: int, clause: str, legal: tuple[int, ...]) -> None:
        super().__init__(f"pit {pit} breaks {clause}; legal are {list(legal)}")
        self.pit = pit
        self.clause = clause
        self.legal = legal


class BadPosition(ModiarError, ValueError):
    """A text is no position; `clause` says why: rules.text.position, rules.board.conserved or
    rules.turn.south-first."""

    def __init__(self, text: str, clause: str) -> None:
        super().__init__(f"{text!r} breaks {clause}; the start is written 7.7.7-7.7.7 0-0 s 1")
        self.clause = clause
