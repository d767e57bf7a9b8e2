"""Plays the first legal pit, and comes back to its games after a lost link or a restart of the server.

A guest comes back by the resume token of its welcome, a registered bot by its token.
"""

import random
import sys
import time
from collections import deque
from collections.abc import Iterator

import wire

# Between two tries: a random time up to this, which doubles from the first to the last, so that not all bots come at once.
FIRST_PAUSE, LAST_PAUSE = 0.25, 15.0

# As many ends as a welcome tells again at most.
MISSED = 64

# The server closes for these, and to come back at once would not mend it.
FOR_GOOD = ("banned", "replaced", "flood")


class Returning:
    """One bot over all its connections. Each of them is told by its welcome what goes on."""

    def __init__(self, choose: wire.Choose, pool: str, games: int) -> None:
        self._choose = choose
        self._pool = pool
        self._games = games
        self._name, self._token = wire.identity()
        self._resume: str | None = None
        self._sides: dict[str, str] = {}  # of the games going on
        self._played = 0
        self._over: deque[str] = deque(maxlen=MISSED)  # by id: an end that was told may be told again in `missed`
        self._seeking = self._paused = self._welcomed = self._heard = False
        self._status: int | None = None  # once there is nothing to come back for

    def run(self, server: wire.Server) -> int:
        """Plays until all games are over; returns the exit status."""
        interrupt, pause = wire.Interrupt(), FIRST_PAUSE
        while True:
            try:
                connection = wire.Connection(server, interrupt)
                try:
                    for message in self._messages(connection):
                        self._answer(connection, message)
                        pause, self._heard = FIRST_PAUSE, True
                        if self._status is not None and not self._welcomed:
                            break  # who was never let in has nothing to wait for
                finally:
                    connection.close()
            except OSError as error:
                wire.note(f"no connection to {server}: {error}")
                if not self._welcomed:
                    return wire.COULD_NOT  # the settings are wrong, or nobody is there: waiting mends neither
            if self._status is not None:
                return self._status
            if not self._heard:
                wire.note(f"{server} closed without a message: MODIAR_PORT may be no port for bots")
                return wire.COULD_NOT
            wire.note("the connection ended; this bot comes back")
            with interrupt:
                time.sleep(random.uniform(0, pause))
            pause = min(2 * pause, LAST_PAUSE)

    def _messages(self, connection: wire.Connection) -> Iterator[wire.Message]:
        self._seeking = self._paused = False  # these end with their connection, games do not
        connection.send(
            "hello", protocol=1, name=self._name, token=self._token, resume=self._resume, ref=wire.REF
        )
        return connection.messages()

    def _answer(self, connection: wire.Connection, message: wire.Message) -> None:
        match message.get("type"):
            case "welcome":
                # The name too: who comes back without one is somebody else.
                self._name = message["bot"]["name"]
                self._resume = message.get("resume")
                if self._welcomed:
                    wire.note(f"back as {self._name}")
                    for ended in message["missed"]:
                        self._ended(ended)
                else:
                    wire.note(f"playing as {self._name} on {message['server']}")
                    # What a registered bot missed before this program started is none of its games.
                    self._over.extend(ended["game"] for ended in message["missed"])
                self._welcomed = True
                self._sides = {game: side for game, side in self._sides.items() if game in message["games"]}
                if not message["games"]:  # else `started` and `turn` of each follow
                    self._go_on(connection)
            case "seeking":
                wire.note(f"in {message['pool']}: {message.get('reason') or 'seeking'}")
            case "started":
                self._sides[message["game"]] = message["side"]
            case "turn":
                # With the ply an answer that comes twice, on both sides of a lost link, is played once.
                connection.send("move", game=message["game"], pit=self._choose(message), ply=message["ply"])
            case "ended":
                self._ended(message)
                self._go_on(connection)
            case "seek_ended":
                self._seeking = False
                if message["reason"] == "penalised":
                    # A little later: clocks differ. Should the pause hold still, the answer is its new end.
                    connection.wake(wire.tell_seek_end(message) + 1)
                    self._paused = True
                elif message["reason"] == "done":
                    self._go_on(connection)
            case None:
                self._paused = False
                self._go_on(connection)
            case "error":
                wire.note(f"error {message['code']}: {message['message']}")
                if message.get("ref") == wire.REF and message["code"] not in ("draining", "too_many_connections"):
                    self._give_up(connection, "it was refused")
            case "goodbye" if message["reason"] in FOR_GOOD:
                wire.note(f"goodbye: {message['message']}")
                self._status = wire.COULD_NOT

    def _go_on(self, connection: wire.Connection) -> None:
        """Where nothing is played and nothing sought: seeks what is left, or leaves."""
        if self._sides or self._seeking or self._paused:
            return
        if not self._games or self._played < self._games:
            # None wanted means no end, of the bot as of a seek.
            left = self._games - self._played if self._games else 0
            connection.send("seek", pool=self._pool, games=left, ref=wire.REF)
            self._seeking = True
        elif self._status is None:
            self._status = wire.DONE
            connection.send("bye")

    def _ended(self, message: wire.Message) -> None:
        game = message["game"]
        side = self._sides.pop(game, "unknown")
        # An aborted game is not counted in a seek either.
        if game not in self._over and message["result"] != "none":
            self._over.append(game)
            self._played += 1
            wire.tell(message, side)

    def _give_up(self, connection: wire.Connection, why: str) -> None:
        wire.note(why)
        self._status = wire.COULD_NOT
        if self._welcomed:
            connection.send("bye")


def first(turn: wire.Turn) -> int:
    return turn["legal"][0]


def main() -> int:
    options = wire.arguments(__doc__).parse_args()
    try:
        return Returning(first, options.pool, options.games).run(wire.server())
    except ValueError as error:
        wire.note(str(error))
        return wire.USAGE
    except KeyboardInterrupt:
        return wire.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
