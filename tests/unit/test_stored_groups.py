"""Groups that the engine keeps are those that are fetched, and only what is shown becomes Python objects."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

import duckdb
import numpy as np
import pytest
from numpy.typing import NDArray

import dpsql
from dpsql.audit import plan_of
from dpsql.engines import stored_groups
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.exact_tables import measured
from dpsql.engines.fast_sums import FastSums
from dpsql.engines.special_units import Limits
from dpsql.engines.statistics_engine import StatisticsEngine
from dpsql.engines.stored_groups import StoredGroups
from dpsql.fuzz.judges import weights_shown
from dpsql.ir.plan import MeasurePlan, Noise
from dpsql.ir.table import ReleasedTable
from dpsql.mechanisms.exponential import Choices, Chosen, choose
from dpsql.release.release import release

SCHEMA = """
CREATE TABLE visits AS
SELECT range % 97 AS person, CASE WHEN range % 50 > 0 THEN 'p' || (range * range) % 311 END AS place,
       DATE '2024-01-01' + CAST(range % 3 AS INTEGER) AS day, range % 7 AS cost
FROM range(5000);
CREATE TABLE people AS SELECT range AS person FROM range(97);
"""
Measuring: TypeAlias = tuple[dpsql.Connection, DuckDB, DuckDB | StatisticsEngine]

POLICY = """
[budget]
epsilon = 1000
delta = 1e-6
[query]
epsilon = 1.0
max_epsilon = 10.0
[unit]
name = "person"
table = "people"
key = "person"
[tables.people.columns]
person = {}
[tables.visits]
unit = { column = "person" }
rows_per_unit = 20
[tables.visits.columns]
person = {}
place = {}
day = {}
cost = { range = [0, 6] }
"""
QUERIES = (
    "SELECT place, COUNT(*) AS n, SUM(cost) FROM visits GROUP BY place",
    "SELECT place, day, AVG(cost) FROM visits GROUP BY place, day",
    "SELECT DISTINCT place FROM visits",
    "SELECT place, day, COUNT(*), MEDIAN(cost), MAX(cost) FROM visits GROUP BY place, day",
)


@pytest.fixture(params=[False, True], ids=["the first engine", "the second"])
def engine(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Measuring]:
    """A connection, its engine, and which of the two engines of the file measures and keeps the groups."""
    path = tmp_path / "visits.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SCHEMA)
    path.with_suffix(".toml").write_text(POLICY)
    with dpsql.connect(path) as db:
        opened = db._open().engine
        assert isinstance(opened, DuckDB)
        opened._sums = FastSums(opened._all, Limits(least=0, before=0))
        opened._alone = not request.param
        if opened._alone:
            yield db, opened, opened
            return
        opened._second = second = opened._opened_beside()
        second._sums = FastSums(second._all, Limits(least=0, before=0, keys=0))
        yield db, opened, second


def silence(noise: Noise, size: int) -> NDArray[np.int64]:
    return np.zeros(size, np.int64)


def first(choices: Choices, rate: Fraction) -> Chosen:
    """Choose without chance."""
    return choose(choices, rate, bytes)


def of(table: ReleasedTable) -> list[tuple[object, ...]]:
    return [(group, *row) for group, row in zip(table.groups, table.sums.tolist(), strict=True)]


@pytest.mark.parametrize("sql", QUERIES)
@pytest.mark.parametrize("few", [0, 10_000], ids=["read in parts", "asked for"])
def test_what_is_shown_is_the_same(
    engine: Measuring, monkeypatch: pytest.MonkeyPatch, sql: str, few: int
) -> None:
    monkeypatch.setattr(stored_groups, "FEW", few)
    monkeypatch.setattr(stored_groups, "PART", 64)
    db, opened, _ = engine
    [planned] = plan_of(db._open(), sql, 1.0).measures
    stored, fetched = opened.measure(planned), measured(planned, opened._all, opened._arrays)
    assert isinstance(stored.groups, StoredGroups)
    assert sorted(map(repr, stored.groups)) == sorted(map(repr, fetched.groups))
    assert {repr(group): row for group, row in zip(stored.groups, stored.sums.tolist(), strict=True)} == {
        repr(group): row for group, row in zip(fetched.groups, fetched.sums.tolist(), strict=True)
    }
    assert [*map(weights_shown, stored.details)] == [*map(weights_shown, fetched.details)]
    for threshold in (1, _middle(planned, stored.sums), 2**60):
        shown = of(release(stored, planned, silence, threshold, first))
        assert shown == of(release(fetched, planned, silence, threshold, first))
    assert shown == []
    assert stored.groups[0] == next(iter(stored.groups)) == stored.groups[:2][0]


def _middle(planned: MeasurePlan, sums: NDArray[np.int64]) -> int:
    """Return a threshold that some groups reach and others do not."""
    counts = np.sort(sums[:, getattr(planned.rule, "statistic", 0)])
    assert counts[0] < counts[-1]
    return int(counts[len(counts) // 2])


def test_tables_are_dropped_when_nobody_holds_their_groups(
    engine: Measuring,
) -> None:
    db, _, keeper = engine
    for number in range(5):
        db.execute(f"{QUERIES[0]} -- {number}", epsilon=1 + number / 100)
    gc.collect()
    kept = keeper._all("SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE 'groups %'")
    assert kept == [(1,)]


def test_a_table_whose_sums_were_not_read_is_dropped(
    engine: Measuring, monkeypatch: pytest.MonkeyPatch
) -> None:
    db, _, keeper = engine
    with monkeypatch.context() as patch:
        patch.setattr(stored_groups.np, "stack", interrupted)
        for number in range(3):
            with pytest.raises(KeyboardInterrupt):
                db.execute(f"{QUERIES[0]} -- {number}", epsilon=1 + number / 100)
    db.execute(QUERIES[0], epsilon=2)
    gc.collect()
    kept = keeper._all("SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE 'groups %'")
    assert kept == [(1,)]


def interrupted(*given: object, **named: object) -> None:
    raise KeyboardInterrupt


def test_exact_groups_are_neither_shown_nor_stored(engine: Measuring) -> None:
    db, opened, _ = engine
    [planned] = plan_of(db._open(), QUERIES[0], 1.0).measures
    groups = opened.measure(planned).groups
    assert repr(groups) == "StoredGroups(not shown)"
    with pytest.raises(TypeError, match="never stored"):
        pickle.dumps(groups)
