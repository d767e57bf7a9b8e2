"""What a program says of its server and itself, and what it is told where that is wrong."""

from __future__ import annotations

import os
import unittest
import unittest.mock
from typing import Any

import support  # noqa: F401 # pyright: ignore[reportUnusedImport] (it finds the library)

import modiar
from modiar import Settings


class Setting(unittest.TestCase):
    def test_a_wrong_one_is_named_with_its_value(self) -> None:
        wrong = [("HOST", "a..b"), ("PORT", "99999"), ("PORT", "abc"), ("TLS", "0"), ("CA", "absent.pem")]
        for variable, value in ((f"MODIAR_{name}", value) for name, value in wrong):
            with unittest.mock.patch.dict(os.environ, {variable: value}), self.assertLogs("modiar") as logged:
                self.assertEqual(modiar.run(lambda turn: turn.legal[0]), 2)
            self.assertIn(f"{variable} is {value!r}", logged.output[-1])

    def test_a_wrong_type_is_named_too(self) -> None:
        wrong: list[tuple[str, Any]] = [("port", "6634"), ("port", True), ("games", 1.5), ("games", True)]
        for name, value in wrong:
            with self.assertRaisesRegex(modiar.SettingError, f"{name} is {value!r}"):
                Settings(**{name: value})

    def test_a_token_is_not_shown(self) -> None:
        self.assertNotIn("secret", repr(Settings(token="secret")))


if __name__ == "__main__":
    unittest.main()
