"""What ENV.md shows, and the example that it names."""

import contextlib
import io
import os
import re
import subprocess
import sys
import unittest
from typing import Any

import env_support  # noqa: F401 # pyright: ignore[reportUnusedImport] (it skips where the extra is absent)
from support import CLIENT


class Page(unittest.TestCase):
    def test_its_blocks_run_one_after_the_other(self) -> None:
        page = (CLIENT / "ENV.md").read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 3)
        names: dict[str, Any] = {}
        for block in blocks:
            with self.subTest(block), contextlib.redirect_stdout(io.StringIO()):
                exec(block, names)

    def test_the_example_learns_and_says_how_well(self) -> None:
        example = CLIENT / "examples/selfplay.py"
        self.assertLessEqual(len(example.read_text(encoding="utf-8").splitlines()), 40)
        environment = {**os.environ, "PYTHONPATH": str(CLIENT / "src")}
        played = subprocess.run(
            [sys.executable, str(example), "20"], env=environment, capture_output=True, text=True, check=True
        )
        self.assertRegex(played.stdout, r"^won [0-9]+ of 500 games against random\n$")


if __name__ == "__main__":
    unittest.main()
