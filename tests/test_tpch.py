"""TPC-H with the customer as the unit, on a few hundred rows in its shape: answered and refused."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.oracles import coarseness, meaning, without_noise
from dpsql.ir.plan import Norm, Shape

TPCH = Path(__file__).resolve().parent.parent / "benchmarks" / "tpch"
ROWS = 100  # rows_per_unit of lineitem in the policy
ANSWERED = (1, 5, 6, 12, 14)


def text(number: int) -> str:
    return (TPCH / f"q{number:02d}.sql").read_text()


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Connection]:
    path = tmp_path_factory.mktemp("tpch") / "tpch.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute((TPCH / "schema.sql").read_text())
        connection.execute((TPCH / "tiny.sql").read_text())
    with dpsql.connect(path, TPCH / "policy.toml") as connection:
        yield connection


# What one line of a customer adds at most, by family: an average and the sum or count of the same rows
# are one family, so query 1 has five (quantity, price, discount, and two products).
FAMILIES = {1: 5, 5: 1, 6: 1, 12: 2, 14: 2}


@pytest.mark.parametrize("number", ANSWERED)
def test_sensitivity_is_rows_times_families(db: dpsql.Connection, number: int) -> None:
    """L1: rows * sum of the families' most; L2: rows * the root of their squares' sum, rounded up."""
    (stage,) = plan_of(db._open(), text(number), 1.0).stages
    (each,) = stage.measures
    most = [family.most for family in each.measure.families]
    assert len(most) == FAMILIES[number]
    assert each.shape is (Shape.CELLS if each.keys else Shape.UNIT)
    root = math.isqrt(sum(m * m for m in most) - 1) + 1
    expected = {Norm.L1: ROWS * sum(most), Norm.L2: ROWS * root}
    assert each.noise.sensitivity == expected[each.noise.norm]


@pytest.mark.parametrize("number", ANSWERED)
def test_answered(db: dpsql.Connection, number: int) -> None:
    answer = db.execute(text(number))
    assert answer.cost == 1.0
    assert len(answer.rows) == len(answer.margins)


@pytest.mark.parametrize("number", ANSWERED)
def test_meaning(db: dpsql.Connection, number: int) -> None:
    """Nobody has more than 16 lines, so nothing is clipped: without noise it is plain DuckDB's answer."""
    plan = plan_of(db._open(), text(number), 1.0)
    ours = without_noise(db, text(number), 1.0)
    plain = db._open().engine._connection.cursor().execute(text(number)).fetchall()  # type: ignore[attr-defined]
    assert plain
    assert any(row[-1] for row in plain)
    assert meaning(ours, plain, 640 * coarseness(plan), more_allowed=number in (1, 5, 12)) == []


@pytest.mark.parametrize("number", [3, 10, 18])
def test_refused(db: dpsql.Connection, number: int) -> None:
    """They list single orders or customers."""
    before = db.budget.spent
    with pytest.raises(dpsql.Error) as caught:
        db.execute(text(number))
    assert caught.value.code == "D403"
    assert "one customer" in str(caught.value)
    assert "aggregate" in str(caught.value)
    assert db.budget.spent == before
