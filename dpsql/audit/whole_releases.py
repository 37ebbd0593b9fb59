"""Releases of whole statements: a secret coin says each time whether one unit was in the data.

    coin    rows of Oslo shown    their COUNT(*)    AVG(age)
       1                     1               241        54.2
       0                     1               238        53.9

Every release goes the engine's own way, with its noise, thresholds, choices, rounds and stages
(``releasing.release_stages``). Only the measuring is remembered: a measure that does not read earlier
releases is measured once for each of the two neighbours.

Test    tests/privacy/test_audit_attack.py
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from dpsql.errors import Error
from dpsql.ir.plan import MeasurePlan, Plan
from dpsql.ir.table import ExactTable, ReleasedTable
from dpsql.lazy_dataclass import dataclass
from dpsql.release.groups import plain
from dpsql.releasing import Measuring, release_stages
from dpsql.session import Session

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PLACES = 4_000
"""Of more numbers than these, the first are looked at."""

_REMEMBERED = 64
_SHOWN = -1


@dataclass(frozen=True, slots=True, repr=False)
class Releases:
    """One release a row, one released number or shown group a column; ``coins``: whether the unit was in."""

    numbers: NDArray[np.float64]
    coins: NDArray[np.bool_]


@dataclass(slots=True, repr=False)
class Remembered:
    """The exact tables of one of two neighbours; each is measured once."""

    measure: Measuring
    tables: dict[tuple[object, ...], ExactTable] = field(default_factory=dict)

    def __call__(self, planned: MeasurePlan) -> ExactTable:
        # a second round and a later stage read other rows each time: they differ in their relation
        key = planned.measure.name, planned.measure.relation, planned.noise, planned.groups, planned.rows
        found = self.tables.get(key)
        if found is None:
            if len(self.tables) >= _REMEMBERED:
                self.tables.clear()
            found = self.tables[key] = self.measure(planned)
        return found


def by_coins(
    session: Session,
    plans: Sequence[Plan],
    within: Measuring,
    without: Measuring,
    number: int,
    going: Callable[[], None],
) -> Releases:
    """Release the plans together, ``number`` times."""
    coins = np.frombuffer(os.urandom(number), dtype=np.uint8) % 2 == 1
    reading = {True: Remembered(within), False: Remembered(without)}
    columns: dict[object, int] = {}
    numbers = np.zeros((number, 16))
    for row, coin in enumerate(coins.tolist()):
        going()
        for place, value in _numbers(_released(session, plans, reading[coin])).items():
            column = columns.setdefault(place, len(columns))
            if column >= _PLACES:
                continue
            if column >= numbers.shape[1]:
                numbers = np.concatenate((numbers, np.zeros_like(numbers)), axis=1)
            numbers[row, column] = value
    return Releases(numbers[:, : len(columns)], coins)


def _released(session: Session, plans: Sequence[Plan], reading: Measuring) -> list[ReleasedTable]:
    session.sealed.begin()  # the limits are those of one answer
    try:
        return [table for plan in plans for table in release_stages(session, plan, read=reading)]
    except Error:
        return []  # more rows than can be handed down: that is seen, and a release too


def _numbers(tables: Sequence[ReleasedTable]) -> dict[object, float]:
    numbers: dict[object, float] = {}
    for which, table in enumerate(tables):
        for group, row in zip(table.groups, table.sums.tolist(), strict=True):
            name = which, plain(group)
            numbers[name, _SHOWN] = 1.0
            for place, value in enumerate(row):
                numbers[name, place] = float(value)
    return numbers


__all__ = ["Releases", "Remembered", "by_coins"]
