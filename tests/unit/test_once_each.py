"""What is found once of a value, and let go with it."""

from __future__ import annotations

import gc
import weakref

from dpsql.once_each import once_each


class _Value:
    """Nothing but itself."""


def test_a_value_is_asked_once_and_equals_nothing_but_itself() -> None:
    asked = []

    @once_each
    def length(value: _Value) -> int:
        asked.append(value)
        return len(asked)

    first, second = _Value(), _Value()
    assert [length(first), length(first), length(second), length(first)] == [1, 1, 2, 1]


def test_what_was_found_goes_with_its_value() -> None:
    @once_each
    def beside(value: _Value) -> list[_Value]:
        return [_Value()]

    value = _Value()
    found = weakref.ref(beside(value)[0])
    assert beside(value)[0] is found()
    del value
    gc.collect()
    assert found() is None


def test_a_value_that_is_returned_as_it_came_keeps_nothing_alive() -> None:
    @once_each
    def same(value: _Value) -> _Value:
        return value

    value = same(_Value())
    assert same(value) is value
    held = weakref.ref(value)
    del value
    gc.collect()
    assert held() is None
