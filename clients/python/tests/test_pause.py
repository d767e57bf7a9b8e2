"""A bot that has to pause says why, and seeks again when the pause is over."""

import contextlib
import io
import json
import socket
import sys
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bots"))

import returning_bot  # noqa: E402 (the bots are programs, not a package)
import wire  # noqa: E402

WELCOME = {"type": "welcome", "bot": {"name": "ada"}, "server": "test", "games": [], "missed": []}


def serve(listener: socket.socket, heard: list[str]) -> None:
    """Lets one bot in, answers its first seek with a pause of a second, and sends it away after the second."""
    connection, _ = listener.accept()
    with connection, connection.makefile("rw") as lines:

        def say(message: wire.Message) -> None:
            lines.write(json.dumps(message) + "\n")
            lines.flush()

        for line in lines:
            message = json.loads(line)
            heard.append(message["type"])
            if message["type"] == "hello":
                say(WELCOME)
            elif message["type"] == "seek" and heard.count("seek") == 1:
                until = int((time.time() + 1) * 1000)
                say({"type": "seek_ended", "pool": "p", "reason": "penalised", "until_ms": until, "message": "too slow"})
            else:
                say({"type": "goodbye", "reason": "replaced", "message": "another connection"})
                return


class Pause(unittest.TestCase):
    def test_it_is_told_and_waited_for(self) -> None:
        heard: list[str] = []
        with socket.create_server(("127.0.0.1", 0)) as listener:
            server = threading.Thread(target=serve, args=(listener, heard), daemon=True)
            server.start()
            bot = returning_bot.Returning(returning_bot.first, "p", 1)
            with contextlib.redirect_stderr(io.StringIO()) as told:
                bot.run(wire.Server("127.0.0.1", listener.getsockname()[1], None))
            server.join(5)
        self.assertEqual(heard, ["hello", "seek", "seek"])
        self.assertIn("the seek ended, penalised: too slow; the next seek may come in 1 s", told.getvalue())


if __name__ == "__main__":
    unittest.main()
