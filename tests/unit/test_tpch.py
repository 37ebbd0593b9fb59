"""TPC-H with the customer as the unit, on a few hundred rows in its shape: what the noise is made for.

grammar_tests/tpch judges the answers, on data that tpchgen-cli makes; here the tables are nearly empty.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.ir.plan import Norm, Shape
from dpsql.plan.unit_norms import l2_squared

TPCH = Path(__file__).resolve().parents[2] / "grammar_tests" / "tpch"
LINES, ORDERS, ONE = 100, 25, 1  # rows_per_unit in the policy; a customer has one row of their own
FREE = (2, 11, 16)

# The rows of one customer, and the families of sums over them, per stage. An average and the sum or count
# of the same rows are one family, so query 1 has five: quantity, price, discount, and two products. So are
# sums over rows of which none is in two: queries 8, 12 and 14 (a part and the rest of a total). Keys
# that no declaration, no public table and no condition lists are shown from a number of customers on, whose
# count is a family of its own where rows are summed: query 15.
FAMILIES = {
    1: [(LINES, 5)],
    4: [(ORDERS, 1)],
    5: [(LINES, 1)],
    6: [(LINES, 1)],
    7: [(LINES, 1)],
    8: [(LINES, 1)],
    9: [(LINES, 1)],
    12: [(LINES, 1)],
    13: [(ONE, 1)],
    14: [(LINES, 1)],
    15: [(LINES, 2)],
    17: [(LINES, 1), (LINES, 1)],
    19: [(LINES, 1)],
    20: [(LINES, 1)],
    21: [(LINES, 1)],
    22: [(ONE, 1), (ONE, 1)],
}


def text(number: int) -> str:
    return (TPCH / f"q{number:02d}.sql").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Connection]:
    path = tmp_path_factory.mktemp("tpch") / "tpch.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute((TPCH / "schema.sql").read_text(encoding="utf-8"))
        connection.execute((TPCH / "tiny.sql").read_text(encoding="utf-8"))
    with dpsql.connect(path, TPCH / "policy.toml") as connection:
        yield connection


@pytest.mark.parametrize("number", FAMILIES)
def test_sensitivity_is_rows_times_families(db: dpsql.Connection, number: int) -> None:
    """L1: rows * sum of the families' most; L2: rows * the root of their squares' sum, rounded up.

    A hidden count of customers counts one of them once in a group (unit_norms).
    """
    stages = plan_of(db._open(), text(number), 1.0).stages
    for stage, (rows, families) in zip(stages, FAMILIES[number], strict=True):
        (each,) = stage.measures
        most = [family.most for family in each.measure.families]
        assert len(most) == families
        assert each.shape is (Shape.ROWS if rows == ONE else Shape.CELLS if each.keys else Shape.UNIT)
        root = math.isqrt(sum(m * m for m in most) - 1) + 1
        expected = {Norm.L1: rows * sum(most), Norm.L2: rows * root}
        if rows != ONE and each.measure.units is not None:
            unit = each.measure.statistics[each.measure.units].most
            (row,) = {*most} - {unit}
            expected[Norm.L2] = math.isqrt(l2_squared(rows, None, row**2, unit**2) - 1) + 1
        assert each.noise.sensitivity == expected[each.noise.norm]


@pytest.mark.parametrize("number", [*FREE, *FAMILIES])
def test_answered(db: dpsql.Connection, number: int) -> None:
    answer = db.execute(text(number))
    assert answer.cost == (0.0 if number in FREE else 1.0)
    assert len(answer.rows) == len(answer.margins)


@pytest.mark.parametrize("number", [3, 10, 18])
def test_refused(db: dpsql.Connection, number: int) -> None:
    """They list single orders or customers."""
    with pytest.raises(dpsql.Error, match=r"identifies single customers[\s\S]*aggregate") as caught:
        db.execute(text(number))
    assert caught.value.code == "D403"
