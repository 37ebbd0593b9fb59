"""Public keys of one row: their combinations, alone and in grouping sets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpsql.ir.plan import PublicKeys

ROWS = ((1, "clinic"), (2, "clinic"), (3, None))


def test_keys_of_one_row_have_its_combinations_and_others_all() -> None:
    keys = PublicKeys(((1, 2, 3), ("F", "M"), ("clinic", None)), tied=(((0, 2), ROWS),))
    assert keys.sizes() == {0: 6}
    assert set(keys.groups()) == {(place, sex, kind) for place, kind in ROWS for sex in ("F", "M")}


def test_in_grouping_sets_they_have_what_is_left_of_a_row() -> None:
    keys = PublicKeys(
        ((0, 1, 2), (1, 2, 3), ("clinic", None)),
        sets=((0, (1, 2)), (1, (2,)), (2, ())),
        tied=(((1, 2), ROWS),),
    )
    assert keys.sizes() == {0: 3, 1: 2, 2: 1}
    assert [*keys.groups()] == [
        *((0, *row) for row in ROWS),
        (1, None, "clinic"),
        (1, None, None),
        (2, None, None),
    ]
    assert [*replace(keys, sets=()).groups()] != [*keys.groups()], (
        "its own, not those of the plan it was made of"
    )


def test_no_combination_is_shown_twice() -> None:
    with pytest.raises(ValueError, match="twice"):
        PublicKeys(((1,), ("a",)), tied=(((0, 1), ((1, "a"), (1, "a"))),))
