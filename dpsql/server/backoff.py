"""Failed logins make the next ones wait: after 5 of one name from one address, 1, 2, 4 .. 60 seconds.

Names alone are not counted, else anybody could lock an analyst out; a whole address is counted too, with more
patience, so that it cannot try many names. All of this machine have one address (''), which is not counted.
Unknown names count like known ones.
Test: tests/unit/test_server_verifiers.py
"""

from __future__ import annotations

from collections import OrderedDict

_FREE = {"name": 5, "address": 50}
_LONGEST = 60.0
_FORGOTTEN = 900.0
_MOST = 10_000

_Key = tuple[str, str, str]


class Backoff:
    """Failures by address, and by address and name; ``now`` is in seconds of a steady clock."""

    def __init__(self) -> None:
        self._failed: OrderedDict[_Key, tuple[int, float]] = OrderedDict()

    def wait(self, address: str, name: str, now: float) -> float:
        """Return for how many seconds this login must wait; 0.0 if it may be tried."""
        return max(self._wait(key, now) for key in _keys(address, name))

    def _wait(self, key: _Key, now: float) -> float:
        count, last = self._failed.get(key, (0, now))
        over = count - _FREE[key[0]]
        if over < 0:
            return 0.0
        return max(0.0, last + min(_LONGEST, 2.0 ** min(over, 10)) - now)

    def failed(self, address: str, name: str, now: float) -> None:
        for key in _keys(address, name):
            count, last = self._failed.pop(key, (0, now))
            self._failed[key] = (1 if now - last > _FORGOTTEN else count + 1), now
        while len(self._failed) > _MOST:
            self._failed.popitem(last=False)

    def passed(self, address: str, name: str) -> None:
        """Forget the failures of this name from this address."""
        self._failed.pop(("name", address, name), None)


def _keys(address: str, name: str) -> tuple[_Key, ...]:
    own: _Key = "name", address, name
    return (own, ("address", address, "")) if address else (own,)
