"""All 22 TPC-H queries at scale 0.01 with the customer as the unit: 19 are answered, 3 list customers.

    2, 11, 16    public tables alone: exact and free
    17, 22       two stages: the inner average is released, then a public value to the outer query
    3, 10, 18    refused: each row would be about one customer

Two policies: `policy.toml` clips the busiest customers (sensitivity), the calm one clips nobody (meaning).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import duckdb
import pytest

import dpsql
from benchmarks.data import TPCH, tpch, tpch_queries
from benchmarks.timing import Setting
from dpsql.audit import plan_of
from dpsql.audit.neighbours import without
from dpsql.audit.oracles import meaning, sensitivity, without_noise
from dpsql.engines.duckdb import DuckDB
from dpsql.ir.plan import PublicKeys, Shape

TEXTS = tpch_queries()
REFUSED = {3: "l_orderkey", 10: "c_custkey", 18: "c_name"}  # the key that identifies single customers
FREE = (2, 11, 16)
STAGES = {17: 2, 22: 2}
ANSWERED = sorted(TEXTS.keys() - REFUSED.keys())

# Where the validation parameters find nothing in so few rows: others that find something.
OTHER_PARAMETERS = {
    8: {"BRAZIL": "KENYA", "AMERICA": "AFRICA"},
    17: {"Brand#23": "Brand#44", "MED BOX": "WRAP CAN"},
}

MOST = {"orders": 32, "lineitem": 139}  # rows of the busiest customers; the policy allows 25 and 100
CALM = {"rows_per_unit = 25\n": "rows_per_unit = 32\n", "rows_per_unit = 100\n": "rows_per_unit = 139\n"}

LINES = (
    "FROM customer LEFT JOIN orders ON o_custkey = c_custkey LEFT JOIN lineitem ON l_orderkey = o_orderkey"
)
CHOSEN = {
    "the customer with most lines": f"SELECT c_custkey {LINES} GROUP BY 1 ORDER BY COUNT(l_orderkey) DESC, 1",
    "the one with most orders": "SELECT o_custkey FROM orders GROUP BY 1 ORDER BY COUNT(*) DESC, 1",
    "the one with the dearest line": f"SELECT c_custkey {LINES} ORDER BY l_extendedprice DESC NULLS LAST, 1",
    "a rich one without orders": f"SELECT c_custkey {LINES} WHERE o_orderkey IS NULL ORDER BY c_acctbal DESC",
    "one at random": "SELECT o_custkey FROM orders ORDER BY hash(o_custkey, 1)",
    "another at random": "SELECT o_custkey FROM orders ORDER BY hash(o_custkey, 2)",
}


@dataclass(frozen=True)
class World:
    """TPC-H with its two policies, itself as plain DuckDB sees it, and without one customer each."""

    clipped: dpsql.Connection
    calm: dpsql.Connection
    plain: duckdb.DuckDBPyConnection
    whole: DuckDB
    neighbours: list[tuple[str, DuckDB]]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("tpch")
    path = tpch(Setting(False, 0.01, folder))
    calm = (TPCH / "policy.toml").read_text(encoding="utf-8")
    for said, instead in CALM.items():
        assert calm.count(said) == 1
        calm = calm.replace(said, instead)
    (folder / "calm.toml").write_text(calm, encoding="utf-8")
    policies = {"clipped": TPCH / "policy.toml", "calm": folder / "calm.toml"}
    owners = {name: dpsql.connect(path, policy, folder / name) for name, policy in policies.items()}
    known = owners["calm"]._open().known
    for owner in owners.values():
        owner.close()
    with duckdb.connect(str(path), read_only=True) as connection:
        units = {name: connection.execute(sql).fetchall()[0][0] for name, sql in CHOSEN.items()}
    neighbours = []
    for name, unit in units.items():
        copy = folder / f"without-{unit}.duckdb"
        without(path, copy, known, unit)
        neighbours.append((name, DuckDB(copy)))
    owners = {name: dpsql.connect(path, policy, folder / name) for name, policy in policies.items()}
    whole = DuckDB(path)
    plain = owners["calm"]._open().engine._connection.cursor()  # type: ignore[attr-defined]  # DuckDB's own
    yield World(**owners, plain=plain, whole=whole, neighbours=neighbours)
    for each in (*owners.values(), whole, *(engine for _, engine in neighbours)):
        each.close()


def text(number: int) -> str:
    """The query with parameters that find something."""
    sql = TEXTS[number]
    for said, instead in OTHER_PARAMETERS.get(number, {}).items():
        assert said in sql
        sql = sql.replace(said, instead)
    return sql.rstrip().rstrip(";")


def test_all_are_here() -> None:
    assert sorted(TEXTS) == list(range(1, 23))
    assert len(ANSWERED) == 19


@pytest.mark.parametrize("number", ANSWERED)
def test_answered(number: int, world: World) -> None:
    """The text as it stands, with noise, at the default price; on public tables alone at none."""
    before = world.clipped.budget.spent
    answer = world.clipped.execute(TEXTS[number])
    assert answer.cost == (0.0 if number in FREE else 1.0)
    assert (world.clipped.budget.spent > before) == (number not in FREE)
    plan = plan_of(world.clipped._open(), TEXTS[number], 1.0)
    assert len(plan.stages) == STAGES.get(number, 1)
    assert bool(plan.events) == (number not in FREE)


@pytest.mark.parametrize("number", REFUSED)
def test_refused(number: int, world: World) -> None:
    """It points at the key, says what is wrong with it, and offers an aggregate; nothing is paid."""
    before = world.clipped.budget.spent
    with pytest.raises(dpsql.Error) as caught:
        world.clipped.execute(TEXTS[number])
    assert caught.value.code == "D403"
    assert caught.value.position is not None
    line, column = caught.value.position
    assert TEXTS[number].splitlines()[line - 1][column - 1 :].startswith(REFUSED[number])
    assert "identifies single customers" in str(caught.value)
    assert "aggregate" in str(caught.value.help)
    assert world.clipped.budget.spent == before


def test_the_calm_policy_clips_nobody_and_the_other_somebody(world: World) -> None:
    for table, most in MOST.items():
        join = "" if table == "orders" else "JOIN lineitem ON l_orderkey = o_orderkey"
        counts = f"SELECT COUNT(*) AS n FROM orders {join} GROUP BY o_custkey"
        assert world.plain.execute(f"SELECT MAX(n) FROM ({counts})").fetchall() == [(most,)]


@pytest.mark.parametrize("number", ANSWERED)
def test_meaning(number: int, world: World) -> None:
    """Without noise and clips the answer is plain DuckDB's, with more rows for empty public groups alone."""
    sql = text(number)
    plain = world.plain.execute(sql).fetchall()
    assert plain
    assert all(value is not None for row in plain for value in row)
    measures = [
        each for stage in plan_of(world.calm._open(), sql, 1.0).stages for each in stage.measures if each.keys
    ]
    public = any(isinstance(each.rule, PublicKeys) for each in measures)
    assert meaning(without_noise(world.calm, sql, 1.0), plain, 0.0, public) == []


@pytest.mark.parametrize("number", [number for number in ANSWERED if number not in FREE])
def test_sensitivity(number: int, world: World) -> None:
    """Without any one of six customers the exact sums move by no more than declared."""
    session = world.clipped._open()
    plan = plan_of(session, text(number), 1.0)
    assert plan.stages[0].measures
    assert sensitivity(plan, world.whole, world.neighbours, session.sealed) == []


def test_the_customers_are_busy_enough_for_the_clip(world: World) -> None:
    """Were all lines counted, 139 instead of 100, the customer with most of them would be noticed."""
    session = world.clipped._open()
    plan = plan_of(session, "SELECT COUNT(*) FROM lineitem", 1.0)
    (stage,) = plan.stages
    (each,) = stage.measures
    bare = replace(plan, stages=(replace(stage, measures=(replace(each, shape=Shape.ROWS),)),))
    assert sensitivity(plan, world.whole, world.neighbours) == []
    found = sensitivity(bare, world.whole, world.neighbours)
    assert found[0].startswith("without the customer with most lines: L2 moves by")
