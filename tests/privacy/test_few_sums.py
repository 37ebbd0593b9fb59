"""Tables of few rows are added up in 64 bits, and words of a list are one text: the sums are the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.engines import fast_sums, measure_sql
from dpsql.engines.arithmetic import FEW
from dpsql.engines.duckdb import DuckDB
from dpsql.ir.plan import MeasurePlan

ROWS = """
CREATE TABLE visits (person INTEGER, place VARCHAR, day BIGINT, cost DOUBLE);
INSERT INTO visits
SELECT n % 17, 'p' || n % 40, n % 9, n % 50 FROM range(400) AS r(n);
INSERT INTO visits
SELECT 3, 'p' || n % 30, [9223372036854775807, -9223372036854775808, 0, NULL][1 + n % 4],
    ['infinity', '-infinity', 'nan', '1e300', NULL][1 + n % 5]::DOUBLE
FROM range(300) AS r(n);
INSERT INTO visits SELECT 3, 'p1,p2', 1, 50 FROM range(500);
INSERT INTO visits VALUES
    (5, 'P1', 1, 1), (5, 'null', 1, 1), (5, NULL, 1, 1), (5, '', 1, 1), (5, 'p1,p2', 1, 1), (5, '[p1]', 1, 1),
    (5, ' p1', 1, 1), (5, 'p1 ', 1, 1), (5, '''p1''', 1, 1), (NULL, 'p1', 1, 1);
"""
WORDS = [f"p{number}" for number in range(25)]
ODD = [*WORDS[1:], "p 0"], [*WORDS[1:], "NULL"], [*WORDS[1:], "it's"], [*WORDS[1:], ""], WORDS[:20]
POLICY = """
[budget]
epsilon = 1000
delta = 1e-6
accountant = "{accountant}"
[unit]
name = "person"
column = "person"
[tables.visits]
rows_per_unit = 30
[tables.visits.columns]
person = {{}}
place = {{ values = {words!r} }}
day = {{ range = [0, 8] }}
cost = {{ range = [0, 60] }}
"""
QUESTIONS = (
    "SELECT COUNT(*), SUM(cost), AVG(day) FROM visits",
    "SELECT place, COUNT(*), SUM(day), AVG(cost), COUNT(DISTINCT person) FROM visits GROUP BY place",
    "SELECT place, day, VAR_SAMP(cost), SUM(cost) FILTER (WHERE day < 4) FROM visits GROUP BY place, day",
    "SELECT place, MEDIAN(cost), COUNT(*) FROM visits GROUP BY ROLLUP (place)",
)


@pytest.fixture(params=["zcdp", "approx"])
def accountant(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def opened(folder: Path, words: list[str], accountant: str) -> dpsql.Connection:
    path = folder / "visits.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(ROWS)
    policy = POLICY.format(words=words, accountant=accountant)
    path.with_suffix(".toml").write_text(policy)
    return dpsql.connect(path)


@pytest.fixture
def db(tmp_path: Path, accountant: str) -> Iterator[dpsql.Connection]:
    with opened(tmp_path, WORDS, accountant) as connection:
        yield connection


def sums(db: dpsql.Connection, sql: str) -> list[list[str]]:
    """The sums by the statement of few rows, and by the one of any."""
    [planned] = plan_of(db._open(), sql, 1.0).measures
    assert isinstance(planned, MeasurePlan)
    engine = db._open().engine
    assert isinstance(engine, DuckDB)
    few = fast_sums.FastSums(engine._all).statement(planned)
    assert few != measure_sql.measure_sql(planned, True)
    width = len(planned.keys)
    listed = {group[0] for group in planned.rule.groups_listed().groups} if width else set()  # type: ignore[union-attr]  # they are public
    found = []
    for each in (few, measure_sql.measure_sql(planned)):
        rows = [row for row in engine._all(each) if any(row[width:])]
        found.append(sorted(repr(row) for row in rows if not width or row[0] in listed or width > 2))
    return found


@pytest.mark.parametrize("sql", QUESTIONS)
def test_few_rows_have_the_sums_of_any(db: dpsql.Connection, sql: str) -> None:
    few, every = sums(db, sql)
    assert few == every
    assert few


@pytest.mark.parametrize("words", ODD, ids=lambda words: words[-1])
def test_other_texts_are_compared_one_by_one(tmp_path: Path, words: list[str]) -> None:
    with opened(tmp_path, words, "zcdp") as db:
        [planned] = plan_of(db._open(), QUESTIONS[1], 1.0).measures
        assert isinstance(planned, MeasurePlan)
        assert "AS VARCHAR[])" not in measure_sql.measure_sql(planned, True)
        few, every = sums(db, QUESTIONS[1])
        assert few == every


@pytest.mark.parametrize(("most", "function"), [(100, "list_position"), (0, "list_contains")])
def test_words_are_one_text(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch, most: int, function: str
) -> None:
    monkeypatch.setattr(measure_sql, "_SEARCHED", most)
    [planned] = plan_of(db._open(), QUESTIONS[1], 1.0).measures
    assert isinstance(planned, MeasurePlan)
    assert function in measure_sql.measure_sql(planned, True)
    few, every = sums(db, QUESTIONS[1])
    assert few == every


def test_a_sum_of_fewer_bits_is_found(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: sums of 32 bits."""
    narrow = replace(FEW, summed="CAST(coalesce(sum({}), 0) % 65536 AS BIGINT)".format)
    monkeypatch.setattr(fast_sums, "FEW", narrow)
    few, every = sums(db, QUESTIONS[1])
    assert few != every


def test_a_word_too_many_is_found(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the text is read as words between commas, so that one with a comma is two of them."""
    as_text = measure_sql._as_text

    def contained(*given: object) -> str | None:
        printed = as_text(*given)  # type: ignore[arg-type]  # what it is called with
        return None if printed is None else f"contains('{','.join(WORDS)}', CAST({given[0]} AS VARCHAR))"

    monkeypatch.setattr(measure_sql, "_as_text", contained)
    few, every = sums(db, QUESTIONS[1])
    assert few != every
