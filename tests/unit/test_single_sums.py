"""Stored tables of single sums are shown without arrays: the same columns as arrays give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.ir.finished import Finished
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.table import ReleasedTable, Rows
from dpsql.post.finish import finish
from dpsql.post.single_sums import columns_of

SINGLE = [
    "SELECT COUNT(*) FROM patients",
    "SELECT COUNT(DISTINCT patient_id) FROM patients",
    "SELECT COUNT(*) FILTER (WHERE age > 40) AS older FROM patients WHERE smoker",
    "SELECT ward, COUNT(*) FROM patients WHERE ward IN ('A', 'B') GROUP BY ward",
]
OTHERS = ["SELECT AVG(age) FROM patients", "SELECT COUNT(*), AVG(age), STDDEV(age) FROM patients"]
SUMS = [f"SELECT SUM({each}) FROM patients" for each in ("age", "height", "age / 3", "income", "age - 50")]


def measures(db: dpsql.Connection, sql: str) -> list[MeasurePlan]:
    return list(plan_of(db._open(), sql, 1.0).stages[0].measures)


def both(planned: MeasurePlan, seed: int) -> tuple[list[Finished], list[Finished] | None]:
    """The columns that arrays give, and those of the same table as it is stored."""
    random = np.random.default_rng(seed)
    known = planned.rule.groups_listed()
    width, groups = planned.measure.width, [()] if known is None else known.groups
    sizes = 2.0 ** random.integers(0, 61, (len(groups), width))
    sums = np.rint(random.uniform(-1, 1, (len(groups), width)) * sizes).astype(np.int64)
    stored = Rows(sums.tolist(), width)
    single = columns_of(groups, stored, planned, 0.95)
    as_stored = finish(ReleasedTable([*groups], stored), planned)
    if single is not None:
        assert list(map(listed, as_stored)) == list(map(listed, single))
    return finish(ReleasedTable([*groups], sums), planned), single


def listed(column: Finished) -> tuple[Any, ...]:
    ends = (column.margins, column.low, column.high)
    return (
        *(column.name, column.type, column.values, list(map(type, column.values))),
        *(None if each is None else list(map(repr, each.tolist())) for each in ends),
    )


@pytest.mark.parametrize("sql", [*SINGLE, *SUMS])
def test_the_same_columns_as_of_arrays(db: dpsql.Connection, sql: str) -> None:
    """Bit for bit: values with their Python types, half-widths and intervals."""
    for planned in measures(db, sql):
        for seed in range(50):
            of_arrays, single = both(planned, seed)
            assert single is not None or sql in SUMS, "a sum may have several cells"
            if single is not None:
                assert list(map(listed, single)) == list(map(listed, of_arrays))


@pytest.mark.parametrize("sql", OTHERS)
def test_what_is_made_of_several_sums_goes_through_arrays(db: dpsql.Connection, sql: str) -> None:
    for planned in measures(db, sql):
        assert both(planned, 1)[1] is None


def test_a_repeat_is_the_first_answer(clinic: Path) -> None:
    """In another session, which keeps nothing of the first one."""
    with dpsql.connect(clinic) as db:
        first = [db.execute(sql, epsilon=0.1) for sql in [*SINGLE, *SUMS]]
    with dpsql.connect(clinic) as db:
        again = [db.execute(sql, epsilon=0.1) for sql in [*SINGLE, *SUMS]]
    assert all(each.repeated for each in again)
    for one, other in zip(first, again, strict=True):
        assert (one.rows, one.margins, one.types) == (other.rows, other.margins, other.types)
