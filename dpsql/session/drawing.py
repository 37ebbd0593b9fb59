"""The time from the first noise of a release until it is in the ledger, in which nothing is interrupted.

    with session.drawing: ...                  noise, then store
    with session.drawing.paused() as is_so:    whether the engines may be interrupted

What an engine is asked in this time, and how long it takes, depends on the noise: whether a query was
interrupted would tell of it, and a repeat would draw it anew, free.

Claim   no interruption begins between ``with drawing`` and its end, and no noise while one is under way.
Proof   Both hold one lock. A handler of a signal may run in the thread that draws, which holds the lock
        already: it is told by the depth.
Test    tests/privacy/test_interrupted_noise.py
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Drawing:
    def __init__(self) -> None:
        self._lock, self._depth = threading.RLock(), 0

    def __enter__(self) -> None:
        self._lock.acquire()
        self._depth += 1

    def __exit__(self, *error: object) -> None:
        self._depth -= 1
        self._lock.release()

    @contextmanager
    def paused(self) -> Iterator[bool]:
        """Whether no noise is drawn now; if so, none is drawn before the end of this."""
        if not self._lock.acquire(blocking=False):
            yield False
            return
        try:
            yield self._depth == 0
        finally:
            self._lock.release()
