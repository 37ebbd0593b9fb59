"""Failed logins make the next ones wait: after 5 of one name from one address, 1, 2, 4 .. 60 seconds.

    wait = backoff.begin(address, name, now)     0.0: it may be tried, and is counted as tried from here on
    backoff.end(address, name, proved, now)      it proved to know the password, did not, or left (None)

Names alone are not counted, else anybody could lock an analyst out; a whole address is counted too, with more
patience, so that it cannot try many names. All of this machine have one address (''), which is not counted.
Unknown names count like known ones.

Counts are in memory that all processes share, found by a hash with the server's secret: 8 places for each of
4,096 hashes, where the one that was used longest ago gives way.

Claim   however many attempts run at once, and in however many processes, no more are tried than one by one.
Proof   ``begin`` looks and counts under one lock, before the attempt. What runs and what failed together are
        at most what is free, or one.
Test    tests/unit/test_server_backoff.py
"""

from __future__ import annotations

import fcntl
import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

from dpsql.lazy_dataclass import dataclass

_FREE = {"name": 5, "address": 50}
_LONGEST = 60.0
_FORGOTTEN = 900.0
_ABANDONED = 30.0
"""Seconds after which an attempt runs no more: its process was killed."""

_PLACE = struct.Struct("<QIIdd")
_WAYS, _HASHES = 8, 4096
SIZE = _PLACE.size * _WAYS * _HASHES

_Key = tuple[str, str, str]


@dataclass(slots=True)
class _Count:
    """What is counted for a key, and where."""

    place: int
    tag: int
    failed: int = 0
    running: int = 0
    last: float = 0.0
    begun: float = 0.0


class Backoff:
    """Failures by address, and by address and name; ``now`` is in seconds of the machine's steady clock.

    ``lock`` is a file that the processes share; without it there is one process.
    """

    def __init__(self, memory: mmap.mmap | None = None, secret: bytes = b"", lock: int | None = None) -> None:
        self._memory = bytearray(SIZE) if memory is None else memory
        self._secret, self._lock = secret, lock

    def begin(self, address: str, name: str, now: float) -> float | None:
        """Count an attempt, and return 0.0; or return for how many seconds it must wait.

        None: others of this name or address run, and must end first.
        """
        with self._locked():
            counts = {key: self._count(key, now) for key in _keys(address, name)}
            wait = max(_wait(count, _FREE[kind], now) for (kind, *_), count in counts.items())
            if wait > 0:
                return wait
            if any(each.running >= max(1, _FREE[kind] - each.failed) for (kind, *_), each in counts.items()):
                return None
            for each in counts.values():
                each.running, each.begun = each.running + 1, now
                self._keep(each)
        return 0.0

    def end(self, address: str, name: str, proved: bool | None, now: float) -> None:
        """Note how an attempt ended; a proof forgets the failures of this name from this address."""
        with self._locked():
            for key in _keys(address, name):
                count = self._count(key, now)
                count.running = max(0, count.running - 1)
                if proved is False:
                    count.failed, count.last = count.failed + 1, now
                elif proved and key[0] == "name":
                    count.failed = 0
                self._keep(count)

    # ---- memory ------------------------------------------------------------------------------------

    def _count(self, key: _Key, now: float) -> _Count:
        """Return what is counted for a key; if nothing is, zero in the place that is used longest ago."""
        digest = blake2b("\0".join(key).encode(), key=self._secret[:64], digest_size=12).digest()
        tag = int.from_bytes(digest[:8], "big") | 1
        first = int.from_bytes(digest[8:], "big") % _HASHES * _WAYS
        places = range(first * _PLACE.size, (first + _WAYS) * _PLACE.size, _PLACE.size)
        counts = [_Count(place, *_PLACE.unpack_from(self._memory, place)) for place in places]
        oldest = min(counts, key=lambda count: max(count.last, count.begun))
        found = next((count for count in counts if count.tag == tag), _Count(oldest.place, tag))
        if now - found.last > _FORGOTTEN:
            found.failed = 0
        if now - found.begun > _ABANDONED:
            found.running = 0
        return found

    def _keep(self, count: _Count) -> None:
        numbers = count.tag, count.failed, count.running, count.last, count.begun
        _PLACE.pack_into(self._memory, count.place, *numbers)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if self._lock is None:
            yield
            return
        fcntl.lockf(self._lock, fcntl.LOCK_EX)  # whoever is killed gives it back
        try:
            yield
        finally:
            fcntl.lockf(self._lock, fcntl.LOCK_UN)


def _wait(count: _Count, free: int, now: float) -> float:
    over = count.failed - free
    if over < 0:
        return 0.0
    return max(0.0, count.last + min(_LONGEST, 2.0 ** min(over, 10)) - now)


def _keys(address: str, name: str) -> tuple[_Key, ...]:
    own: _Key = "name", address, name
    return (own, ("address", address, "")) if address else (own,)
