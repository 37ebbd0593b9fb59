"""A pseudo-terminal for tests of commands that ask."""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import signal
import subprocess
import sys


class Terminal:
    """A command at a terminal without any ability; a test types, and reads the screen."""

    def __init__(self, *words: str) -> None:
        ours, theirs = os.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dpsql.cli", *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            env=os.environ | {"PYTHONUTF8": "1", "TERM": "dumb"},
        )
        os.close(theirs)
        self.screen, self.seen, self.ours = "", 0, ours
        self.decoded = codecs.getincrementaldecoder("utf-8")()

    def until(self, words: str) -> None:
        """Wait for these words at the end of the screen."""
        while not self.screen.rstrip().endswith(words):
            assert self._read(), self.screen

    def after(self, words: str) -> None:
        """Wait for these words anywhere on what is new on the screen."""
        while words not in self.screen[self.seen :]:
            assert self._read(), self.screen
        self.seen = self.screen.index(words, self.seen) + len(words)

    def _read(self) -> bool:
        """Something more on the screen; False at the end, or after minutes of nothing."""
        if not select.select([self.ours], [], [], 300)[0]:
            return False
        try:
            part = os.read(self.ours, 4096)
        except OSError:  # how a terminal says that its other side is closed
            return False
        self.screen += self.decoded.decode(part)  # a character may come in two parts
        return bool(part)

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def interrupt(self) -> None:
        """Ctrl-C, again if it came between the prompt and the wait for a line: a person is not that fast."""
        while self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):  # asked once more
                self.process.wait(10)

    def end(self) -> int:
        while self._read():
            pass
        self.process.kill()
        code = self.process.wait()
        os.close(self.ours)
        return code
