"""Tuples of plain values are written at once, and as they were when each value was written alone."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction

import pytest

from dpsql.ir.column import Interval
from dpsql.plan.written_form import written

DAY = datetime.date(2024, 2, 29)


@pytest.mark.parametrize(
    "value",
    [
        (),
        (1,),
        ((),),
        ((), ()),
        ((1, "it's"), (None, True)),
        ((1.0, -0.0, math.nan), (math.inf, Decimal("1.10"), Fraction(1, 3))),
        ((1, (2,)), (3,)),
        (1, (2, 3)),
        ((DAY,), (Interval(0, 1),)),
        (Interval(0, 1), 2),
    ],
)
def test_tuples_are_written_as_their_values_are(value: tuple[object, ...]) -> None:
    assert written(value) == one_by_one(value)


def one_by_one(value: object) -> str:
    if not isinstance(value, tuple):
        return written(value)
    items = ", ".join(map(one_by_one, value))
    return f"({items},)" if len(value) == 1 else f"({items})"
