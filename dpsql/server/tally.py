"""How many clients are connected, in all processes that serve together.

    tally = Tally(memory, slot, slots)      each process writes its own slot, and adds up all of them
    tally.enter("ana"); tally.of("ana"); tally.total; tally.leave("ana")

Names are counted by a hash: two names that share one share a limit, of 4,095 places.
Test: tests/unit/test_server_tally.py
"""

from __future__ import annotations

import mmap
from hashlib import blake2b

_WIDTH = 4096


class Tally:
    """Counts in memory that processes share; without ``memory``, in this one's own."""

    def __init__(self, memory: mmap.mmap | None = None, slot: int = 0, slots: int = 1) -> None:
        self._counts = memoryview(bytearray(size(slots)) if memory is None else memory).cast("H")
        self._own, self._starts = slot * _WIDTH, range(0, slots * _WIDTH, _WIDTH)

    @property
    def total(self) -> int:
        return sum(self._counts[start] for start in self._starts)

    def of(self, name: str) -> int:
        return sum(self._counts[start + _place(name)] for start in self._starts)

    def enter(self, name: str) -> None:
        self._counts[self._own] += 1
        self._counts[self._own + _place(name)] += 1

    def leave(self, name: str) -> None:
        self._counts[self._own] -= 1
        self._counts[self._own + _place(name)] -= 1

    def forget(self) -> None:
        """Forget this slot: its process has ended."""
        for at in range(self._own, self._own + _WIDTH):
            self._counts[at] = 0

    def close(self) -> None:
        self._counts.release()


def size(slots: int) -> int:
    """Return the bytes that so many processes need."""
    return 2 * _WIDTH * slots


def _place(name: str) -> int:
    """Return the place of a name; the first is that of the total."""
    return 1 + int.from_bytes(blake2b(name.encode(), digest_size=4).digest(), "big") % (_WIDTH - 1)
