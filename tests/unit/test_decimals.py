"""Decimals as whole numbers of their last digit are those that a list would hold, here and in the engine."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pytest

from dpsql.ir.column import type_named
from dpsql.ir.finished import Decimals
from dpsql.ir.listed_groups import ListedGroups
from dpsql.post.sealed import _all_sent, _cast, array_of
from dpsql.post.single_sums import rounded

UNITS = (0, 1, -1, 5, -5, 10, 99, -100, 2**53, 2**53 + 1, -(2**53) - 1, 10**17 + 3, 2**62, -(2**62))


@pytest.mark.parametrize("scale", [0, 1, 2, 6, 15, 18, 22, 23, 30])
def test_they_are_the_same_values_and_floats(scale: int) -> None:
    decimals = Decimals(np.array(UNITS, dtype=np.int64), scale)
    known = rounded([(UNITS, Fraction(1, 10**scale))], type_named(f"DECIMAL(38,{scale})"))
    assert decimals == known
    assert repr(decimals) == repr(known)
    assert [decimals[place] for place in range(len(UNITS))] == known
    assert decimals[2:5] == known[2:5]
    for units in (UNITS, UNITS[:8], ()):
        some = Decimals(np.array(units, dtype=np.int64), scale)
        assert some.floats().tolist() == [float(value) for value in some]


@pytest.mark.parametrize("scale", [0, 1, 2, 6, 15, 18, 19])
def test_the_engine_reads_them_exactly(scale: int) -> None:
    values = Decimals(np.array(UNITS, dtype=np.int64), scale)
    kind = f"DECIMAL(38,{scale})"
    sent = _all_sent(values, kind)
    assert isinstance(sent, Decimals) == (scale <= 18)
    before, after = _cast(sent, kind)
    with duckdb.connect() as engine:
        engine.register("sent", {"c0": array_of(sent)})
        rows = engine.execute(f"SELECT {before}c0{after} FROM sent").fetchall()
    assert [value for (value,) in rows] == list(values)
    assert {value.as_tuple().exponent for (value,) in rows} == {-scale}


@pytest.mark.parametrize("scale", [7, 18, 30, 38])
def test_decimals_without_whole_digits_are_sent_as_texts_that_are_read(scale: int) -> None:
    values = [Decimal(n).scaleb(-scale) for n in (0, 1, 2, -1, 10**6 + 1)]
    kind = f"DECIMAL({scale},{scale})"
    with duckdb.connect() as engine:
        sent = list(_all_sent(values, kind))
        rows = engine.execute(f"SELECT unnest(TRY_CAST(? AS {kind}[]))", [sent]).fetchall()
    assert [value for (value,) in rows] == values


def test_what_the_type_does_not_hold_is_null() -> None:
    values = Decimals(np.array([99, 100, -100], dtype=np.int64), 1)
    before, after = _cast(values, "DECIMAL(2,1)")
    with duckdb.connect() as engine:
        engine.register("sent", {"c0": array_of(values)})
        rows = engine.execute(f"SELECT {before}c0{after} FROM sent").fetchall()
    assert rows == [(Decimal("9.9"),), (None,), (None,)]


def test_listed_groups_are_found_once() -> None:
    asked = []

    def groups() -> list[tuple[str | int, ...]]:
        asked.append(1)
        return [("b", 2), ("a", 3), ("a", 1)]

    listed = ListedGroups(groups)
    assert asked == []
    assert listed.order == [2, 1, 0]
    assert list(listed.ordered) == [("a", 1), ("a", 3), ("b", 2)]
    assert listed.ordered is listed.ordered
    assert listed.are_plain
    assert asked == [1]
    assert not ListedGroups(lambda: [(True,), (None,)]).are_plain
