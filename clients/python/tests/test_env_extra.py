"""The extra `modiar[env]`, where it is absent: these run without it."""

import subprocess
import sys
import unittest

from support import CLIENT

NEEDED = ("numpy", "gymnasium", "pettingzoo")


def python(program: str) -> str:
    """What a program says on stderr; it finds the package of this checkout."""
    path = f"import sys; sys.path.insert(0, {str(CLIENT / 'src')!r}); "
    done = subprocess.run([sys.executable, "-c", path + program], capture_output=True, text=True, check=False)
    return done.stderr


class Extra(unittest.TestCase):
    def test_without_it_the_import_says_what_to_install(self) -> None:
        for module in NEEDED:
            with self.subTest(module):
                said = python(f"sys.modules[{module!r}] = None; import modiar.env")
                self.assertIn('pip install "modiar[env]"', said.splitlines()[-1])

    def test_the_library_does_not_import_it(self) -> None:
        self.assertEqual(python(f"import modiar, modiar.aio; assert not set({NEEDED}) & set(sys.modules)"), "")


if __name__ == "__main__":
    unittest.main()
