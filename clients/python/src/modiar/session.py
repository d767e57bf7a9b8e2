"""What a client does at each message, and when its link is lost: a machine without I/O, shared by the blocking client and
that of asyncio. They bring it messages and the time, send what is in `outbox`, and hand on what `next` gives.

                 connected            welcome
    ┌──────────┐  hello   ┌──────────┐        ┌────────┐ bye  ┌──────┐
    │ no link  │─────────▶│ greeting │───────▶│ let in │─────▶│ gone │
    └──────────┘          └──────────┘        └────────┘      └──────┘
          ▲    lost, pause      │     lost         │
          └─────────────────────┴──────────────────┘

Games and the goal outlast the link; seeks, pauses and a notice of draining end with it.
"""

from __future__ import annotations

import logging
import operator
import random
import time
from collections import deque
from dataclasses import replace

from . import wire
from .errors import AuthError, ConnectError, IllegalMove, ModiarError, ProtocolError
from .game import Game, Goal, Now, makes_sense, opponent_of, turn_of
from .rules import BySide, Pit, Side
from .settings import CONNECT_SECONDS, Settings
from .turn import Answer, Ended, Turn

__version__ = "0.1.0"

# Between two tries: a random time up to this, which doubles from the first to the last, so that not all bots come at once.
FIRST_PAUSE, LAST_PAUSE = 0.25, 15.0

# A bot that has to pause for longer asks again once a day.
LONGEST_PAUSE = 86_400.0

# How often a bot without a running game tries to come back.
IDLE_TRIES = 60

# A link that stood for so long has held, though nothing came of it.
HELD_SECONDS = 10.0

# A move that came over the rate is sent again after so many seconds, so often at most; a seek that came to nothing later.
MOVE_AGAIN_SECONDS, MOVE_AGAIN_TIMES, SEEK_AGAIN_SECONDS = 0.2, 5, 1.0

# Clocks differ: how much later than told a pause is taken to be over.
PENALTY_MARGIN_SECONDS = 1.0

# Ends that may be told again: a welcome repeats 64 at most.
ENDS_KEPT = 256

# The most games that a seek may name.
MOST_GAMES = 1_000_000

# The server closes for these, and to come back at once would not mend it.
FOR_GOOD = ("banned", "replaced", "flood", "handshake", "line_too_long")

# A name or token that does not let the bot in.
NOT_LET_IN = ("auth_failed", "name_taken", "bad_name", "registration_closed", "guests_closed")

# Other refusals of a hello or a seek that no second try would change.
REFUSED = ("bad_protocol", "bad_field", "unknown_pool")

# Marks of the messages whose answer matters; a move has its game as mark.
HELLO, SEEK, UNSEEK = "hello", "seek", "unseek"

log = logging.getLogger("modiar")


class Session:
    """One bot over all its connections."""

    def __init__(self, settings: Settings, answer: Answer, register: bool = False) -> None:
        self.outbox: list[wire.ClientMessage] = []
        self.welcome: wire.Welcome | None = None  # the newest
        self.failure: ModiarError | None = None  # there is nothing to come back for
        self.useless = False  # this link: it is to be closed, and another made
        self._settings = settings
        self._answer = answer
        self._register = register
        self._name, self._token = settings.name, settings.token
        self._resume: str | None = None
        self._events: deque[Turn | Ended] = deque()
        self._games: dict[str, Game] = {}
        self._over: deque[str] = deque(maxlen=ENDS_KEPT)
        self._goal: Goal | None = None
        self._pause, self._tries, self._refusals = FIRST_PAUSE, 0, 0
        self._leaving, self._welcomed_at = False, 0.0
        self._forget_the_link()

    # The link.

    def connected(self) -> None:
        """There is a new link: says hello."""
        self._forget_the_link()
        self._alarms[HELLO] = time.monotonic() + CONNECT_SECONDS
        hello: wire.Hello = {"type": "hello", "protocol": wire.PROTOCOL, "ref": HELLO}
        hello["client"] = f"modiar-python/{__version__}"
        if self._name:
            hello["name"] = self._name
        if self._resume:
            hello["resume"] = self._resume
        elif self._token:
            hello["token"] = self._token
        if self._settings.version:
            hello["version"] = self._settings.version
        if self._settings.games > 1:
            hello["games"] = self._settings.games
        if self._register:
            hello["register"] = True
        self.outbox.append(hello)

    def lost(self, cause: str) -> float:
        """There is no link, or no new one; returns the seconds to wait before the next try."""
        if self._moved or (self._let_in and time.monotonic() - self._welcomed_at >= HELD_SECONDS):
            self._pause = FIRST_PAUSE
        self._forget_the_link()
        self._tries += 1
        if not self._games and self._tries > IDLE_TRIES:
            raise ConnectError(f"cannot come back to {self._settings.where} in {IDLE_TRIES} tries: {cause}")
        pause = random.uniform(0, self._pause)
        self._pause = min(2 * self._pause, LAST_PAUSE)
        log.warning(
            "no link to %s: %s; this bot comes back, try %d in %.1f s", self._settings.where, cause, self._tries, pause
        )
        return pause

    def _forget_the_link(self) -> None:
        self.outbox.clear()
        self.useless = self._let_in = self._seeking = self._draining = self._bye = self._unsought = False
        self._moved = False  # a move of the bot has counted, so that this link was of use
        self._alarms: dict[str, float] = {}  # when to seek again, or to send the move of a game again

    # The bot.

    def seek(self, pool: str, games: int) -> None:
        """Sets what to play, and begins."""
        if not 0 <= games <= MOST_GAMES:
            raise ValueError(f"games is {games}: play from 0, which is without end, to {MOST_GAMES}")
        self._goal = Goal(pool, games)
        self._go_on()

    def unseek(self) -> None:
        """Takes back what is sought. Running games go on."""
        self._alarms.pop(SEEK, None)
        if self._goal:
            self._goal.cancelled = True
        if self._let_in and self._seeking:
            self.outbox.append({"type": "unseek", "ref": UNSEEK})
        self._go_on()

    @property
    def let_in(self) -> bool:
        """Whether the server has let this bot in on the link that there is."""
        return self._let_in

    @property
    def done(self) -> bool:
        """Whether everything that was to be played is over."""
        return self._goal is None

    def next(self) -> Turn | Ended | None:
        """The oldest thing that the bot has not been told."""
        if not self._events:
            return None
        event = self._events.popleft()
        if isinstance(event, Turn):
            self._games[event.game].asked = event.ply
        return event

    def play(self, turn: Turn, pit: Pit, raw: bool) -> None:
        """Answers a turn, once. Where there is no link the server asks again after the return, and reads this pit."""
        try:
            pit = operator.index(pit)
        except TypeError:
            raise TypeError(f"{pit!r} is no pit: play one of turn.legal, here {turn.legal}") from None
        if not raw and pit not in turn.legal:
            # What the server has called illegal is so, whatever is thought here.
            raise IllegalMove(pit, turn.position.clause(pit) or "verdict.legality", turn.legal)
        game = self._games.get(turn.game)
        if game is None or (game.answer and game.answer[0] >= turn.ply):
            log.debug("ply %d of %s wants no answer any more", turn.ply, turn.game)
            return
        game.answer, game.limited = (turn.ply, pit), 0
        self._tell(turn.game)

    def resign(self, game: str) -> None:
        if game in self._games:
            self._games[game].resigned = True
            self._tell(game)

    def leave(self) -> None:
        """Stops seeking, resigns what is being played, and says goodbye; what ends is still told."""
        self._leaving = True
        self._events = deque(event for event in self._events if isinstance(event, Ended))
        if self._let_in:
            self.outbox.append({"type": "unseek", "ref": UNSEEK})

    def bye(self) -> None:
        """Says goodbye. Running games go on without the bot."""
        self._leaving = self._bye = True
        if self._let_in:
            self.outbox.append({"type": "bye"})

    # The time.

    @property
    def wake_at(self) -> float | None:
        """When, by time.monotonic(), `woken` is to be called, if nothing is heard before."""
        return min(self._alarms.values(), default=None)

    def woken(self, now: Now) -> None:
        for what in [what for what, when in self._alarms.items() if when <= now.monotonic]:
            del self._alarms[what]
            if what == SEEK:
                self._go_on()
            elif what == HELLO:
                self.useless = True  # the server is silent
            else:
                self._tell(what)

    # What the server says.

    def heard(self, message: wire.ServerMessage, now: Now) -> None:
        if not wire.complete(message):
            log.warning("ignored a %s that lacks a field", message["type"])
        elif message["type"] == "error":
            self._refused(message, now) if self._let_in else self._not_let_in(message)
        elif message["type"] == "goodbye":
            self._goodbye(message)
        elif message["type"] == "welcome":
            self._welcomed(message)
        elif message["type"] == "notice":
            log.warning("%s", message["message"])
            self._draining |= message["code"] == "draining"
        elif message["type"] in ("seeking", "seek_ended", "started", "turn", "ended"):
            self._heard_of_games(message, now)

    def _heard_of_games(self, message: wire.ServerMessage, now: Now) -> None:
        if message["type"] == "seeking":
            log.info("in %s: %s", message["pool"], message.get("reason") or "seeking")
        elif message["type"] == "seek_ended":
            self._seek_ended(message, now)
        elif message["type"] == "started" and "side" in message:
            self._started(message, message["side"])
        elif message["type"] == "turn":
            self._turn(message, now)
        elif message["type"] == "ended":
            self._ended(message)
            self._go_on()

    def _started(self, message: wire.Started, side: Side) -> None:
        self._games.setdefault(message["game"], Game()).started = message
        verb, opponent = "back in" if message["resumed"] else "in", opponent_of(message, side)
        log.info("%s game %s as %s against %s, pool %s", verb, message["game"], side, opponent, message["pool"])

    def _welcomed(self, message: wire.Welcome) -> None:
        again, self.welcome = self.welcome is not None, message
        self._let_in, self._register, self._welcomed_at = True, False, time.monotonic()
        self._tries = self._refusals = 0
        self._alarms.pop(HELLO, None)
        # The name too: who comes back without one is somebody else.
        self._name = message["bot"]["name"]
        self._resume = message.get("resume")
        self._token = message.get("token", self._token)
        if again:
            log.info("back as %s", self._name)
            for ended in message["missed"]:
                self._ended(ended)
        else:
            log.info("playing as %s on %s", self._name, message["server"])
            # What a registered bot missed before this program started is none of its games.
            self._over.extend(ended["game"] for ended in message["missed"])
        self._games = {game: self._games.get(game) or Game() for game in message["games"]}
        self._events = deque(event for event in self._events if isinstance(event, Ended))
        self._go_on()  # `started` and `turn` of each game follow

    def _not_let_in(self, message: wire.Error) -> None:
        """A hello was refused: for good, or until the next try."""
        error = _error(message)
        if self.welcome is None or message["code"] in REFUSED:
            self.failure = error
            return
        log.warning("error %s", error)
        self.useless = True
        if message["code"] not in NOT_LET_IN:
            return
        self._refusals += 1
        if self._refusals > 1:
            self.failure = error
        elif self._resume and not self._games:
            # The server has forgotten this guest, and nothing is lost by being another.
            self._name = self._resume = None

    def _refused(self, message: wire.Error, now: Now) -> None:
        """A message other than hello was refused."""
        code, mark = message["code"], message.get("ref")
        name = message.get("game", str(mark))
        error, game = _error(message), self._games.get(name)
        if mark == SEEK:
            self._seek_refused(error, now)
        elif code == "illegal_move" and game and game.turn:
            # It is forgiven, and no turn is told again.
            game.answer, game.asked = None, 0
            legal = tuple(message.get("legal", game.turn.legal))
            self._ask(game, replace(game.turn, legal=legal))
        elif code == "rate_limited" and game and game.answer and game.limited < MOVE_AGAIN_TIMES:
            game.limited += 1
            self._alarms[name] = now.monotonic + MOVE_AGAIN_SECONDS
        if self.failure is not error:  # which its receiver tells
            log.warning("error %s", error)

    def _seek_refused(self, error: ProtocolError, now: Now) -> None:
        self._seeking = error.code == "already_seeking"
        if error.code in ("draining", "too_many_connections"):
            self.useless = True
        elif error.code in REFUSED:
            self.failure = error
        elif not self._seeking:
            self._alarms[SEEK] = now.monotonic + SEEK_AGAIN_SECONDS

    def _goodbye(self, message: wire.Goodbye) -> None:
        if message["reason"] == "bye" and self._bye:
            return
        log.warning("goodbye: %s", message["message"])
        if self.welcome is None or message["reason"] in FOR_GOOD:
            self.failure = ProtocolError(message["reason"], message["message"], fatal=True)
        else:
            self.useless = True

    # Games.

    def _turn(self, message: wire.Turn, now: Now) -> None:
        if not makes_sense(message):
            log.warning("skipped a turn of %s that makes no sense", message["game"])
            return
        game = self._games.setdefault(message["game"], Game())
        self._moved |= bool(game.turn and game.answer and game.answer[0] == game.turn.ply != message["ply"])
        if game.resigned or (game.answer and game.answer[0] == message["ply"]):
            self._tell(message["game"])  # it was lost, or this turn was told before it came
        elif game.asked != message["ply"] and not self._leaving:
            self._ask(game, turn_of(message, game.started, now, self._answer))

    def _ask(self, game: Game, turn: Turn) -> None:
        game.turn = turn
        self._drop_turns(turn.game)
        self._events.append(turn)

    def _drop_turns(self, game: str) -> None:
        """Turns of this game that the bot has not been told are out of date."""
        self._events = deque(
            event for event in self._events if isinstance(event, Ended) or event.game != game
        )

    def _tell(self, name: str) -> None:
        """Sends what the bot has decided in this game, where there is a link."""
        game = self._games.get(name)
        if not self._let_in or not game:
            return
        if game.resigned:
            self.outbox.append({"type": "resign", "game": name})
        elif game.answer:
            ply, pit = game.answer
            # With the ply an answer that comes twice, on both sides of a lost link, is played once.
            self.outbox.append({"type": "move", "game": name, "pit": pit, "ply": ply, "ref": name})

    def _ended(self, message: wire.Ended) -> None:
        game = self._games.pop(message["game"], None)
        self._moved |= bool(game and game.answer)
        self._drop_turns(message["game"])
        if message["game"] in self._over:
            return
        self._over.append(message["game"])
        if self._goal and message["result"] != "none":  # nor is that one counted in a seek
            self._goal.played += 1
        side = game.started.get("side") if game and game.started else None
        score, rating, detail = BySide(**message["score"]), message.get("rating"), message.get("detail")
        self._events.append(
            Ended(message["game"], message["result"], message["termination"], score, side, rating, detail)
        )

    # Seeks.

    def _go_on(self) -> None:
        """Where nothing is played and nothing sought: seeks what is left, or is done."""
        if not self._let_in or self._games or self._seeking:
            return
        if self._leaving:
            if self._unsought and not self._bye:
                self.bye()
        elif self._goal and self._goal.reached():
            self._goal = None
        elif self._goal and not self._draining and SEEK not in self._alarms:
            self.outbox.append({"type": "seek", "pool": self._goal.pool, "games": self._goal.left(), "ref": SEEK})
            self._seeking = True

    def _seek_ended(self, message: wire.SeekEnded, now: Now) -> None:
        reason, self._seeking = message["reason"], False
        if self._goal and reason == "cancelled":
            self._goal.cancelled = True
        reached = self._goal is None or self._goal.reached()
        why = ""
        if reason == "penalised":
            pause = min(max(0.0, message.get("until_ms", 0) / 1000 - now.unix), LONGEST_PAUSE)
            why = f": {message.get('message', 'misconduct')}; the next seek may come in {pause:.0f} s"
            self._alarms[SEEK] = now.monotonic + pause + PENALTY_MARGIN_SECONDS
        elif reason != "draining" and not reached:
            self._alarms[SEEK] = now.monotonic + SEEK_AGAIN_SECONDS
        if not reached:
            log.warning("the seek ended, %s%s", reason, why)
        self._draining |= reason == "draining"
        if self._leaving:
            self._unsought = True  # no game starts after it
            self._alarms.clear()
            for game in self._games:
                self.resign(game)
        self._go_on()


def _error(message: wire.Error) -> ProtocolError:
    kind = AuthError if message["code"] in NOT_LET_IN else ProtocolError
    return kind(
        message["code"], message["message"], message.get("field"), message.get("clause"), message["fatal"]
    )
