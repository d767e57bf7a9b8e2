"""Ctrl-C comes where nothing is half done."""

import signal
import unittest

from support import press_ctrl_c

from modiar.program import Interrupt


class CtrlC(unittest.TestCase):
    def setUp(self) -> None:
        self.addCleanup(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.interrupt = Interrupt()

    def test_it_waits_for_the_next_open_place(self) -> None:
        press_ctrl_c()
        with self.assertRaises(KeyboardInterrupt), self.interrupt:
            self.fail("it was let through before")
        with self.interrupt:
            pass  # it came once

    def test_it_comes_at_once_where_it_may(self) -> None:
        with self.assertRaises(KeyboardInterrupt), self.interrupt:
            press_ctrl_c()
            self.fail("it was kept waiting")

    def test_a_second_one_waits_for_nothing(self) -> None:
        press_ctrl_c()
        with self.assertRaises(KeyboardInterrupt):
            press_ctrl_c()

    def test_where_the_shell_ignores_it_it_stays_ignored(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        Interrupt()
        self.assertIs(signal.getsignal(signal.SIGINT), signal.SIG_IGN)


if __name__ == "__main__":
    unittest.main()
