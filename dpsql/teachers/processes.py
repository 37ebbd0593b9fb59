"""Teachers, each in a process of its own, one after the other.

    with Teachers(ballot, labels) as teachers:      the learner's file is loaded, before anything is paid
        teachers.answers(rows)                      one number of a label for each public row

Claim   the answers of a teacher are a random function of its own rows and the public ones, whatever other
        teachers have or do.
Proof   A teacher is forked from a process that has the learner and the public rows, and never a private one;
        its rows come through a socket that only it has. It has a temporary folder of its own, its random
        numbers are seeded anew, and it ends, with the processes that it started, before the next one starts;
        where the vote is interrupted it ends at once, and its folder is removed. That is in the folder of the
        process that votes: if all are killed, the next that opens anything removes it (engines/spill.py).
        So none slows another down. Its time is that of the processor, which others do not use; only one that
        waits for something else is stopped by the clock. Its memory is limited beside what the learner's file
        took to be loaded, which had no rows. No rows, an error, too much time or memory, too few or too many
        labels and an unlisted one are the first label; what it prints goes nowhere.
        Code that wants to get around this can, through files and sockets: it is the owner's.
Test    tests/privacy/test_votes.py
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from dpsql.engines.spill import own_folder
from dpsql.errors import InterfaceError
from dpsql.ir.column import Value
from dpsql.ir.votes import Ballot, Example
from dpsql.teachers.teacher_program import NUMBER, WAITING, receive, send

PROGRAM = Path(__file__).with_name("teacher_program.py")
INSIDE = "DPSQL_TEACHER"
"""Set in the environment of learners: they ask no votes themselves."""

_LOADING = 120.0  # seconds that a learner's file may take to be loaded
_STOPPING = 5.0  # seconds
_ENVIRONMENT = {INSIDE: "1", "PYTHONHASHSEED": "0"}
_ENVIRONMENT |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Teachers:
    """The process that teachers are forked from."""

    def __init__(self, ballot: Ballot, labels: Sequence[Value]) -> None:
        self._ballot, self._labels, self._over = ballot, labels, False
        self._start()

    def _start(self) -> None:
        learner, ballot = self._ballot.learner, self._ballot
        self._folder = tempfile.mkdtemp(prefix="teachers-", dir=own_folder())
        self._end, other = socket.socketpair()
        with other:
            self._process = subprocess.Popen(
                [sys.executable, str(PROGRAM)],
                stdin=other.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **_ENVIRONMENT},
                start_new_session=True,  # the terminal's Ctrl-C is the parent's to hear
            )
        self._end.settimeout(_LOADING)
        said = "it takes too long"
        with suppress(OSError, EOFError):
            asked = (learner.module, learner.file, learner.function, list(ballot.rows), list(self._labels))
            limits = (ballot.seconds, ballot.megabytes)
            send(self._end, (list(sys.path), *asked, *limits, self._folder))
            said = receive(self._end)
        if said:
            self.close()
            raise InterfaceError(
                f"the learner {learner.function} cannot be loaded from its file: {said}",
                help="a script that calls dpsql.vote does so under if __name__ == '__main__':",
            )
        self._end.settimeout((WAITING + 1) * ballot.seconds + 30)

    def answers(self, rows: Sequence[Example]) -> list[int]:
        """Return the number of the label that a teacher gives to each public row."""
        size = NUMBER.size * len(self._ballot.rows)
        try:
            body = b"" if self._over else self._answered(rows, size)
        except (OSError, EOFError):  # it stopped the process that it was forked from
            self.close()
            self._start_again()
            body = b""
        places = [place for (place,) in NUMBER.iter_unpack(body)] if len(body) == size else []
        return [place if place < len(self._labels) else 0 for place in places] or [0] * (size // NUMBER.size)

    def _start_again(self) -> None:
        """Start a new process; where a teacher has left none to be started, the rest give the first label."""
        try:
            self._start()
        except (InterfaceError, OSError):
            shutil.rmtree(self._folder, ignore_errors=True)
            self._over = True

    def _answered(self, rows: Sequence[Example], size: int) -> bytes:
        own, its = socket.socketpair()
        with own:
            with its:
                socket.send_fds(self._end, [b"1"], [its.fileno()])
            with suppress(OSError):  # a teacher that ended early
                own.settimeout(self._end.gettimeout())
                labelled = [(self._labels[place], *others) for place, *others in rows]
                send(own, labelled)
            body = bytearray()
            with suppress(OSError):
                while len(body) <= size and (part := own.recv(size + 1 - len(body))):
                    body += part
        receive(self._end)
        return bytes(body)

    def close(self) -> None:
        if self._over:
            return
        self._end.close()
        self._process.terminate()  # it stops the teacher too
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOPPING)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Teachers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
