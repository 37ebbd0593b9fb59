"""What a function of one value found, kept for as long as that value lives.

    @once_each
    def types_of(relation): ...       # the same relation again: the types that were found first

Values are told apart by identity, and are never changed. What is found must not hold the value itself, which
would never be let go; a value that is returned as it came is not kept.

Test: tests/unit/test_once_each.py
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

K = TypeVar("K")
V = TypeVar("V")


def once_each(find: Callable[[K], V]) -> Callable[[K], V]:
    found: WeakKeyDictionary[K, V] = WeakKeyDictionary()

    @wraps(find)
    def kept(value: K) -> V:
        try:
            return found[value]
        except KeyError:
            pass
        made = find(value)
        if made is not value:
            found[value] = made
        return made

    return kept
