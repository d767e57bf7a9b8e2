"""The codec against the specification's schema, examples and transcripts."""

import json
import re
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support import SPEC, lines

from modiar import LineTooLong, wire
from modiar.wire import Decoder


def words(schema: Any) -> Iterator[str]:
    """Types, fields, codes and other words of a schema."""
    if isinstance(schema, dict):
        parts: dict[str, Any] = schema  # pyright: ignore[reportUnknownVariableType]
        properties = parts.get("properties", {})
        yield from properties
        yield from (word for word in [*parts.get("enum", []), parts.get("const")] if isinstance(word, str))
        for part in parts.values():
            yield from words(part)
    elif isinstance(schema, list):
        for part in schema:  # pyright: ignore[reportUnknownVariableType]
            yield from words(part)


class Schema(unittest.TestCase):
    def test_every_word_of_the_schema_is_known(self) -> None:
        known = set(re.findall(r"\w+", Path(wire.__file__).read_text(encoding="utf-8")))
        for schema in ("client", "server"):
            text = (SPEC / f"schema/{schema}.schema.json").read_text(encoding="utf-8")
            self.assertEqual(set(words(json.loads(text))) - known, set(), schema)

    def test_every_example_is_read_whole_byte_by_byte(self) -> None:
        for path in (SPEC / "schema/examples/server/valid").iterdir():
            message = json.loads(path.read_text(encoding="utf-8"))
            decoder, read = Decoder(), list[Any]()
            for byte in json.dumps(message).encode() + b"\r\n\n":
                read += decoder.feed(bytes([byte]))
            self.assertEqual(read, [message], path.name)
            self.assertTrue(wire.complete(read[0]), path.name)

    def test_every_line_of_the_transcripts_passes(self) -> None:
        for path in (SPEC / "transcripts").glob("*.jsonl"):
            for step in lines(f"transcripts/{path.name}"):
                if "send" in step:
                    line = wire.encode(step["send"])
                    self.assertEqual((json.loads(line), line[-1:]), (step["send"], b"\n"), path.name)
                if "expect" in step:
                    message = {name: value for name, value in step["expect"].items() if value != "$absent"}
                    self.assertEqual(Decoder().feed(json.dumps(message).encode() + b"\n"), [message], path.name)


class Reading(unittest.TestCase):
    def test_several_messages_come_in_one_read(self) -> None:
        read = Decoder().feed(b'{"type":"pong","time_ms":1}\r\n\r\n\n{"type":"pong","time_ms":2}\n{"type":')
        self.assertEqual(read, [{"type": "pong", "time_ms": 1}, {"type": "pong", "time_ms": 2}])

    def test_what_is_not_known_is_left_out(self) -> None:
        read = Decoder().feed(b'{"type":"news"}\n{"type":"pong","time_ms":1,"mood":"fine","ref":null}\n')
        self.assertEqual(read, [{"type": "pong", "time_ms": 1}])

    def test_a_line_that_is_no_message_is_skipped(self) -> None:
        for line in (b"[]", b"3", b"nonsense", b"\xff", b"{}", b'{"type":[]}', b'{"type":"pong","time_ms":true}', b"[" * 9000):
            with self.assertLogs("modiar", "WARNING"):
                read = Decoder().feed(line + b'\n{"type":"pong","time_ms":1}\n')
            self.assertEqual(len(read), 1, line)

    def test_a_word_that_a_newer_server_says_is_read(self) -> None:
        read = Decoder().feed(b'{"type":"goodbye","reason":"new","message":"so it is"}\n')
        self.assertEqual(read, [{"type": "goodbye", "reason": "new", "message": "so it is"}])

    def test_a_line_beyond_the_limit_is_an_error_and_is_not_kept(self) -> None:
        pong = b'{"type":"pong","time_ms":1%s}'
        longest = pong % (b" " * (wire.LINE_BYTES - len(pong) + 1))
        self.assertEqual(len(longest) + 1, wire.LINE_BYTES)
        self.assertEqual(len(Decoder().feed(longest + b"\n")), 1)
        for data in (b" " + longest + b"\n", b" " * wire.LINE_BYTES):
            with self.assertRaises(LineTooLong):
                Decoder().feed(data)

    def test_a_message_that_lacks_a_field_is_not_complete(self) -> None:
        (message,) = Decoder().feed(b'{"type":"welcome","bot":{"name":"ada"}}\n')
        self.assertFalse(wire.complete(message))


if __name__ == "__main__":
    unittest.main()
