"""How many bytes connections keep between messages: each has its room, and all of a process share a store.

    room = store.room()
    room.hold(size)      from now on this connection keeps so many bytes; refused where there is no room
    room.settle(size)    it keeps less

Sizes are of Python's objects, so a row of one small number is some hundred bytes.
Test: tests/unit/test_server_room.py, tests/drivers/test_server_limits.py
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from sys import getsizeof
from typing import Any

from dpsql.server.results import failed

_NESTED = (list, tuple, dict, set, frozenset)
_PLACE = 8
"""Bytes of a reference to an object."""


class Store:
    """The bytes that all connections of a process may keep together, and each of them."""

    def __init__(self, most: int, each: int) -> None:
        self.most, self.each = most, each
        self.held = 0

    def room(self) -> Room:
        return Room(self)


class Room:
    """What one connection keeps."""

    def __init__(self, store: Store) -> None:
        self._store, self._held = store, 0

    def hold(self, size: int, passing: int = 0) -> None:
        """Keep so many bytes, or raise ``Failure`` and keep what was kept.

        Those of a message that is ``passing`` are counted among all.
        """
        if size > self._store.each and not passing:
            raise failed(
                "54000",
                "this connection keeps too many bytes",
                "close cursors and statements; ask again, free, in parts: ORDER BY ... LIMIT 100000 OFFSET 0",
            )
        size += passing
        if size > self._held and self._store.held + size - self._held > self._store.most:
            raise failed(
                "53200",
                "all connections together keep too many bytes",
                "ask again later, free, or in parts: ORDER BY ... LIMIT 100000 OFFSET 0",
            )
        self.settle(size)

    def settle(self, size: int) -> None:
        """Keep so many bytes in all, because others are gone."""
        self._store.held += size - self._held
        self._held = size


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
