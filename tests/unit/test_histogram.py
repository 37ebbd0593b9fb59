"""HISTOGRAM over listed bins: DuckDB's own counts, at the price of one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from conditions import make

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.oracles import without_noise


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("histogram") / "people.duckdb"
    make(path, 300)
    return path


@pytest.fixture(scope="module")
def db(database: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(database) as connection:
        yield connection


@pytest.fixture(scope="module")
def plain(database: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{database}' AS other (READ_ONLY)")
        connection.execute("USE other")
        yield connection


HISTOGRAMS = (
    "HISTOGRAM(i, [0, 2])",
    "HISTOGRAM(n, [-5, -1, 3])",
    "HISTOGRAM(l, [1, 9007199254740992])",
    "HISTOGRAM(d, [0.5, 1, 1.1])",
    "HISTOGRAM(x, [0, 0.1, 2])",
    "HISTOGRAM(f, [0, 1])",
    "HISTOGRAM(t, ['2020-01-01', DATE '2020-01-02'])",
    "HISTOGRAM(m, ['2020-01-01', '2020-01-02 12:00:00'])",
    "HISTOGRAM(i // 2, [0]) FILTER (WHERE b)",
)


@pytest.mark.parametrize("sql", HISTOGRAMS)
def test_the_counts_of_duckdb(db: dpsql.Connection, plain: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Beside NULL, NaN and infinity; an empty last bin is shown here alone."""
    (ours,) = without_noise(db, f"SELECT {sql} FROM people", 1.0)[0]
    (theirs,) = plain.execute(f"SELECT {sql} FROM people").fetchall()[0]
    assert isinstance(ours, dict)
    assert {**ours, **theirs} == ours
    assert sum(ours.values()) == sum(theirs.values())
    assert list(ours)[: len(theirs)] == list(theirs)


@pytest.mark.parametrize("sql", [each for each in HISTOGRAMS if "(f" not in each])
def test_the_price_of_one_count(db: dpsql.Connection, sql: str) -> None:
    (each,) = plan_of(db._open(), f"SELECT {sql} FROM people", 1.0).stages[0].measures
    assert each.noise.sensitivity == 2**20


def test_as_many_bins_as_may_be(db: dpsql.Connection) -> None:
    def bins(count: int) -> str:
        return f"SELECT HISTOGRAM(l, [{', '.join(map(str, range(count)))}]), COUNT(*) FROM people"

    (each,) = plan_of(db._open(), bins(250), 1.0).stages[0].measures
    assert each.noise.sensitivity == 2**20  # all rows are a sum of the cells
    with pytest.raises(dpsql.Error, match="1 to 250 constants"):
        db.execute(bins(251))
