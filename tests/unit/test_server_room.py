"""Bytes are counted for each analyst and for all, and given back."""

from __future__ import annotations

from sys import getsizeof

import pytest

from dpsql.server.results import Failure
from dpsql.server.room import LITTLE, Store, size_of_rows

MB = 1 << 20


def test_rooms_share_a_store() -> None:
    store = Store(100 * MB, 60 * MB)
    ana, bob, again = store.room("ana"), store.room("bob"), store.room("ana")
    ana.hold(50 * MB)
    again.hold(10 * MB)
    with pytest.raises(Failure, match="your connections keep too many bytes"):
        again.hold(11 * MB)
    with pytest.raises(Failure, match="all connections together"):
        bob.hold(41 * MB)
    bob.hold(40 * MB)
    assert store.held == 100 * MB
    ana.settle(10 * MB)
    bob.hold(60 * MB)
    for room in (ana, bob, again):
        room.settle(0)
    assert store.held == 0
    assert not store.of, "names are not kept without bytes"


def test_a_refusal_changes_nothing() -> None:
    store = Store(100 * MB, 60 * MB)
    room = store.room("ana")
    room.hold(50 * MB)
    with pytest.raises(Failure):
        room.hold(70 * MB)
    assert store.held == 50 * MB
    room.hold(20 * MB)
    assert store.held == 20 * MB


def test_a_message_that_passes_leaves_no_room_for_more() -> None:
    """The planted error counts only what is more than before: then a message would pay for what is kept."""
    room = Store(1_000 * MB, 60 * MB).room("ana")
    room.hold(50 * MB)
    room.hold(150 * MB, passing=True)
    with pytest.raises(Failure, match="your connections keep too many bytes"):
        room.hold(61 * MB)
    room.hold(60 * MB)


def test_a_question_is_refused_before_it_is_paid_and_its_answer_never() -> None:
    store = Store(100 * MB, 60 * MB)
    ana, bob, eve = store.room("ana"), store.room("bob"), store.room("eve")
    ana.hold(59 * MB)
    ana.admit()
    ana.settle(90 * MB)
    with pytest.raises(Failure, match="your connections keep") as refused:
        ana.admit()
    assert refused.value.fields["C"] == "54000"
    bob.admit()
    bob.settle(50 * MB)
    with pytest.raises(Failure, match="all connections together") as refused:
        bob.admit()
    assert refused.value.fields["C"] == "53200"
    assert "nothing was paid" in refused.value.fields["H"]
    eve.hold(LITTLE - 1)
    eve.admit()
    eve.hold(LITTLE)
    with pytest.raises(Failure, match="all connections together"):
        eve.admit()


def test_rows_are_counted_with_what_they_hold() -> None:
    text = "x" * 100_000
    flat, nested = size_of_rows([(1, text)]), size_of_rows([(1, [text, {"a": (text,)}])])
    assert getsizeof(text) < flat < getsizeof(text) + 300
    assert 2 * getsizeof(text) < nested < 2 * getsizeof(text) + 1_000
