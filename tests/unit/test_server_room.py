"""Bytes are counted for each connection and for all, and given back."""

from __future__ import annotations

from sys import getsizeof

import pytest

from dpsql.server.results import Failure
from dpsql.server.room import Store, size_of_rows


def test_rooms_share_a_store() -> None:
    store = Store(100, 60)
    one, two = store.room(), store.room()
    one.hold(60)
    with pytest.raises(Failure, match="this connection keeps too many bytes"):
        one.hold(61)
    with pytest.raises(Failure, match="all connections together"):
        two.hold(41)
    two.hold(40)
    with pytest.raises(Failure, match="all connections together"):
        two.hold(40, passing=1)
    assert store.held == 100
    one.settle(10)
    two.hold(60)
    one.settle(0)
    two.settle(0)
    assert store.held == 0


def test_a_refusal_changes_nothing() -> None:
    store = Store(100, 60)
    room = store.room()
    room.hold(50)
    with pytest.raises(Failure):
        room.hold(70)
    assert store.held == 50
    room.hold(20)
    assert store.held == 20


def test_a_message_that_passes_leaves_no_room_for_more() -> None:
    """The planted error counts only what is more than before: then a message would pay for what is kept."""
    room = Store(1_000, 60).room()
    room.hold(50, passing=100)
    with pytest.raises(Failure, match="this connection keeps too many bytes"):
        room.hold(61)
    room.hold(60)


def test_rows_are_counted_with_what_they_hold() -> None:
    text = "x" * 100_000
    flat, nested = size_of_rows([(1, text)]), size_of_rows([(1, [text, {"a": (text,)}])])
    assert getsizeof(text) < flat < getsizeof(text) + 300
    assert 2 * getsizeof(text) < nested < 2 * getsizeof(text) + 1_000


def test_what_is_sent_at_once_has_the_room_of_all() -> None:
    """More than a connection may keep, and no more than all may."""
    store = Store(most=100, each=40)
    room, other = store.room(), store.room()
    with pytest.raises(Failure, match="this connection keeps too many bytes"):
        room.hold(41)
    room.hold(10, passing=70)
    with pytest.raises(Failure, match="all connections together keep too many bytes"):
        other.hold(10, passing=20)
    room.settle(10)
    other.hold(10, passing=80)
    with pytest.raises(Failure) as refused:
        other.hold(0, passing=101)
    assert refused.value.fields["C"] == "53200"
    assert "in parts: ORDER BY" in refused.value.fields["H"]
