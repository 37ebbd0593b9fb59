"""The time from the first noise of a release until it is in the ledger, in which nothing interrupts.

    with session.drawing():       noise, then store
        ...
    session.drawing.heed()        who wanted to interrupt meanwhile does it now

What an engine is asked in this time, and how long it takes, depends on the noise: whether a query was
interrupted would tell of it, and a repeat would draw it anew, free. An engine that fails in it has the same
effect; that an analyst can bring it about by the noise alone is not known.

Claim   no interruption begins while noise is drawn. One that began before is over soon, or meets a read that
        is made again (engines/stored_groups.py).
Proof   ``defers`` is asked before each, and what it sees is locked from before the first noise on.
        A signal may stop any line of Python: so each drawing has a lock of its own, which C code lets go, and
        which is forgotten with it. Whoever can send a signal to the thread that asks runs in the owner's
        process: its KeyboardInterrupt is not held back.
Test    tests/privacy/test_interrupted_noise.py
"""

from __future__ import annotations

import threading
from weakref import WeakSet

from dpsql.errors import interrupted


class Drawing:
    def __init__(self) -> None:
        self._locks: WeakSet[threading.Lock] = WeakSet()
        self._late = False

    def __call__(self) -> threading.Lock:
        """Return what is to be held while noise is drawn."""
        lock = threading.Lock()
        self._locks.add(lock)
        self._late = False
        return lock

    def defers(self) -> bool:
        """Whether noise is drawn now, so that nothing may be interrupted; ``heed`` tells of it then."""
        drawn = any(lock.locked() for lock in list(self._locks))
        self._late = self._late or drawn
        return drawn

    def heed(self) -> None:
        """Raise D601 if the query was to be interrupted while noise was drawn: that is stored now."""
        late, self._late = self._late, False
        if late:
            raise interrupted()
