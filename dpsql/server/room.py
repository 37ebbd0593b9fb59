"""How many bytes connections keep between messages: each has its room, and all of a process share a store.

    room = store.room("ana")
    room.admit()         before a question is paid: refused where too much is kept already
    room.settle(size)    this connection keeps so many bytes: of an answer that was paid for, however many
    room.hold(size)      the same of what a client sends; refused where there is no room

No answer is refused for its size once it is paid for, so what is kept exceeds its limits by the answers of
the questions that run at once. Whoever keeps little always has room: the crowd of others takes none of it.
Sizes are of Python's objects, so a row of one small number is some hundred bytes.
Test: tests/unit/test_server_room.py, tests/drivers/test_server_limits.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from sys import getsizeof
from typing import Any

from dpsql.server.results import failed

_NESTED = (list, tuple, dict, set, frozenset)
_PLACE = 8
"""Bytes of a reference to an object."""

LITTLE = 16 << 20
"""Bytes that each analyst may keep, whatever others do."""


class Store:
    """The bytes that all connections of a process may keep together, and those of each analyst."""

    def __init__(self, most: int, each: int) -> None:
        self.most, self.each = most, each
        self.of = Counter[str]()

    @property
    def held(self) -> int:
        return self.of.total()

    def room(self, analyst: str) -> Room:
        return Room(self, analyst)


class Room:
    """What one connection keeps."""

    def __init__(self, store: Store, analyst: str) -> None:
        self._store, self._analyst, self._held = store, analyst, 0

    def admit(self) -> None:
        """Raise ``Failure`` where there is no room for any answer. It depends on what is kept, on no data."""
        self._check(1)

    def hold(self, size: int, passing: bool = False) -> None:
        """Keep so many bytes, or raise ``Failure`` and keep what was kept.

        A message that is ``passing`` needs room among all alone: it is refused when it is known what it asks.
        """
        self._check(size - self._held, passing)
        self.settle(size)

    def settle(self, size: int) -> None:
        """Keep so many bytes in all."""
        of = self._store.of
        of[self._analyst] += size - self._held
        self._held = size
        if not of[self._analyst]:
            del of[self._analyst]

    def _check(self, more: int, passing: bool = False) -> None:
        store = self._store
        own = store.of[self._analyst] + more
        if own > store.each and not passing:
            raise failed(
                "54000",
                "your connections keep too many bytes",
                "close cursors and statements, and read what was asked; nothing was paid for this",
            )
        if own > LITTLE and store.held + more > store.most:
            raise failed(
                "53200", "all connections together keep too many bytes", "try again later; nothing was paid"
            )


def size_of_rows(rows: Iterable[tuple[Any, ...]]) -> int:
    """Return about how many bytes rows take."""
    return sum(getsizeof(row) + _PLACE + size_of_values(row) for row in rows)


def size_of_values(values: Iterable[Any]) -> int:
    """Return about how many bytes values take, with what lists and maps hold."""
    return sum(map(_size, values))


def _size(value: Any) -> int:
    if isinstance(value, _NESTED):
        inner = chain(value, value.values()) if isinstance(value, dict) else value
        return getsizeof(value) + size_of_values(inner)
    return getsizeof(value)
