"""Units that are counted by their rows: those with several rows of a group are told apart, and no others.

Forty people with up to eight visits: some see a place once, some twice, some twice on other days only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.engines import corrected_sql, repeated_units, row_counts, special_units_sql
from dpsql.engines.corrected_sql import Special
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.fast_sums import FastSums
from dpsql.engines.measure_sql import measure_sql
from dpsql.engines.repeated_units import RepeatedUnits
from dpsql.engines.special_units import EVERYTHING
from dpsql.facts.light_units import RowSource
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.relation import ScanColumn

SCHEMA = """
CREATE TABLE people AS SELECT CAST(range AS BIGINT) AS person FROM range(1, 41);
CREATE TABLE visits (
    visit BIGINT UNIQUE, person BIGINT, place VARCHAR, day INTEGER, cost DOUBLE, seen TIMESTAMP
);
INSERT INTO visits
SELECT row_number() OVER (), person, 'p' || n % (1 + person % 8), n % 5, CASE WHEN n <> 3 THEN person END,
    CASE WHEN person = 7 THEN TIMESTAMP '290000-01-01' ELSE TIMESTAMP '2024-01-01' END
FROM range(1, 41) AS p(person), range(8) AS r(n) WHERE n <= person % 9;
INSERT INTO visits VALUES
    (9001, NULL, 'p0', 0, 10, NULL), (9002, 777, 'p1', 1, 10, NULL), (NULL, 3, 'p2', 1, 10, NULL),
    (9003, 5, NULL, 1, 10, NULL), (9004, 5, NULL, 2, 10, NULL);
CREATE TABLE lines (visit BIGINT, item BIGINT, amount DOUBLE);
INSERT INTO lines SELECT visit, visit % 3 + i, 5 FROM visits, range(2) AS r(i);
INSERT INTO lines VALUES (NULL, 1, 5), (9999, 1, 5), (1, 1, 5);
CREATE TABLE days (day INTEGER, kind VARCHAR);
INSERT INTO days VALUES (1, 'work'), (2, 'work'), (2, 'rest'), (3, 'rest');
CREATE TABLE items AS SELECT CAST(range AS BIGINT) AS item, 'n' || range AS name FROM range(3);
"""
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
key = "visit"
unit = { column = "person" }
rows_per_unit = 6
[tables.visits.columns]
visit = {}
person = {}
place = {}
day = { range = [0, 4] }
cost = { range = [0, 20] }
seen = {}
[tables.lines]
unit = { column = "visit", references = "visits.visit" }
rows_per_unit = 12
[tables.lines.columns]
visit = {}
item = {}
amount = { range = [0, 5] }
[tables.days]
public = true
[tables.items]
public = true
key = "item"
"""
BY_ROWS = (
    "SELECT place, COUNT(*) FROM visits GROUP BY place",
    "SELECT place, COUNT(*) FROM visits WHERE day < 2 GROUP BY place",
    "SELECT place, COUNT(cost), SUM(cost) FROM visits WHERE day > 2 GROUP BY place",
    "SELECT place, day, COUNT(*), SUM(cost) FROM visits GROUP BY place, day",
    "SELECT place, upper(place) AS p, COUNT(*) FROM visits GROUP BY place, p",
    "SELECT OPTIONS(max_groups_contributed = 2) place, COUNT(*), SUM(cost) FROM visits GROUP BY place",
    "SELECT place, COUNT(DISTINCT person) FROM visits WHERE cost > 2 GROUP BY place",
    "SELECT place, COUNT(*) FROM visits WHERE epoch_ns(seen) > 0 GROUP BY place",  # not of the last moments
    "SELECT item, COUNT(*), AVG(amount) FROM lines GROUP BY item",
    "SELECT item, COUNT(*), AVG(amount) FROM lines WHERE item < 2 GROUP BY item",
    "SELECT item, SUM(amount) FROM lines JOIN visits USING (visit) WHERE day < 2 GROUP BY item",
    "SELECT l.item, COUNT(*) FROM lines l JOIN items i ON l.item = i.item WHERE name <> 'n1' GROUP BY l.item",
    "SELECT item, COUNT(*) FROM lines l "
    "WHERE EXISTS (FROM lines WHERE visit = l.visit AND item < l.item) GROUP BY item",
    "SELECT v.place, COUNT(*) FROM visits v "
    "WHERE day IN (SELECT day FROM days WHERE kind = 'work') GROUP BY v.place",
)
BY_UNIT = (
    "SELECT place, COUNT(*) FROM visits JOIN days USING (day) GROUP BY place",  # two rows of one
    "SELECT upper(place) AS p, COUNT(*) FROM visits GROUP BY p",
    "SELECT day, COUNT(*), COUNT(DISTINCT person) FROM visits GROUP BY day",  # few groups, which are listed
    "SELECT place, day, COUNT(*) FROM visits GROUP BY ROLLUP (place, day)",  # a row is in several groups
    "SELECT COUNT(DISTINCT person) FROM visits",
)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[dpsql.Connection]:
    path = tmp_path / "repeated.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SCHEMA)
    path.with_suffix(".toml").write_text(POLICY)
    with dpsql.connect(path) as opened:
        yield opened


def statements(
    db: dpsql.Connection, sql: str, repeated: float = 100, unrepeated: int = 0, size: int = 2**28
) -> tuple[MeasurePlan, DuckDB, FastSums]:
    """``size``: the bytes that copies may take."""
    engine = db._open().engine
    assert isinstance(engine, DuckDB)
    [planned] = plan_of(db._open(), sql, 1.0).measures
    limits = replace(EVERYTHING, copied=0, long=0, repeated=repeated, unrepeated=unrepeated, bytes=size)
    return planned, engine, FastSums(engine._all, limits)


def sums(engine: DuckDB, planned: MeasurePlan, sql: str) -> dict[str, tuple[object, ...]]:
    width = len(planned.keys)
    return {repr(row[:width]): row[width:] for row in engine._all(sql) if any(row[width:])}


def differs(db: dpsql.Connection, sql: str) -> bool:
    """Whether there are other sums where units are told apart: with copies of their rows, or without."""
    found = []
    for size in (0, 2**28):
        planned, engine, fast = statements(db, sql, size=size)
        found.append(sums(engine, planned, fast.statement(planned)))
    return found != [sums(engine, planned, measure_sql(planned))] * 2


def counts_rows(sql: str) -> bool:
    return "count(DISTINCT u)" not in sql


@pytest.mark.parametrize("sql", BY_ROWS)
def test_units_are_counted_by_rows(db: dpsql.Connection, sql: str) -> None:
    planned, _, fast = statements(db, sql)
    assert counts_rows(fast.statement(planned))
    assert not differs(db, sql)


@pytest.mark.parametrize("sql", BY_UNIT)
def test_units_are_not_counted_by_rows(db: dpsql.Connection, sql: str) -> None:
    planned, _, fast = statements(db, sql)
    assert not counts_rows(fast.statement(planned))
    assert not differs(db, sql)


def test_it_is_found_out_when_a_question_is_asked_again(db: dpsql.Connection) -> None:
    planned, _, fast = statements(db, BY_ROWS[1], unrepeated=1)
    assert [counts_rows(fast.statement(planned)) for _ in range(3)] == [False, True, True]


def test_units_of_too_many_rows_are_not_counted_by_rows(db: dpsql.Connection) -> None:
    planned, engine, fast = statements(db, BY_ROWS[0], repeated=1 / 10)
    assert not counts_rows(fast.statement(planned))
    assert not counts_rows(fast.statement(planned))
    left = "SELECT count(*) FROM duckdb_tables() WHERE temporary AND table_name LIKE 'special%'"
    before = engine._all(left)
    fast._repeated.forget()
    assert engine._all(left) == before, "what had too many rows was dropped at once"


def test_their_rows_are_a_part_of_those_that_are_read(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the few rows that meet the condition, say, and a hundredth of the table."""
    monkeypatch.setattr(repeated_units, "_SAMPLE", 1)
    where = "day < 2"
    asked = f"SELECT place, COUNT(*) FROM visits WHERE {where} GROUP BY place"
    planned, engine, fast = statements(db, asked)
    rows, met = (
        int(engine._all(f"SELECT count(*) FROM visits{each}")[0][0]) for each in ("", f" WHERE {where}")
    )
    repeated = fast._repeated
    repeated.counted(planned, *fast._sources(planned), Special())
    [found] = repeated._tables.values()
    assert found is not None
    assert found.rows / rows < found.rows / met
    for most, counted in ((found.rows, True), (found.rows - 1, False)):
        planned, _, fast = statements(db, asked, repeated=most / met)
        assert counts_rows(fast.statement(planned)) is counted


def test_what_was_found_is_forgotten_with_the_version_of_the_data(db: dpsql.Connection) -> None:
    planned, _, fast = statements(db, BY_ROWS[0])
    fast.statement(planned)
    fast.statement(planned)
    assert len(fast._repeated._tables) == 1
    fast.forget()
    assert not fast._repeated._tables


OF_ITEMS = "SELECT item, COUNT(*) FROM lines WHERE item < 2 GROUP BY item"


@pytest.mark.parametrize("sql", [OF_ITEMS, BY_ROWS[9]])
def test_rows_of_repeated_units_are_copied(db: dpsql.Connection, sql: str) -> None:
    for size, copied in ((0, False), (2**28, True)):
        planned, _, fast = statements(db, sql, size=size)
        assert ('"rows ' in fast.statement(planned)) is copied


def test_texts_are_not_copied(db: dpsql.Connection) -> None:
    """They may be of any length."""
    planned, _, fast = statements(db, BY_ROWS[1])
    printed = fast.statement(planned)
    assert counts_rows(printed)
    assert '"rows ' not in printed


def test_rows_that_do_not_meet_the_conditions_are_not_copied(db: dpsql.Connection) -> None:
    planned, engine, fast = statements(db, OF_ITEMS)
    fast.statement(planned)
    [(found, copy)] = [(f, f.copy) for f in fast._repeated._tables.values() if f is not None]
    assert copy is not None
    assert engine._all(f"SELECT count(*) FROM {copy.table}") == [(found.rows,)]
    [(every,)] = engine._all(f"SELECT count(*) FROM lines WHERE visit IN (SELECT k FROM {found.name})")
    assert found.rows < every


def test_a_copy_gets_the_columns_that_are_asked_for(db: dpsql.Connection) -> None:
    planned, engine, fast = statements(db, OF_ITEMS)
    further, *_ = statements(db, "SELECT item, SUM(amount), COUNT(*) FROM lines WHERE item < 2 GROUP BY item")
    texts = [fast.statement(each) for each in (planned, further, planned)]
    assert '"rows ' in texts[0]
    assert texts[0] != texts[2], "the copy has more columns by now"
    assert sums(engine, planned, texts[2]) == sums(engine, planned, measure_sql(planned))
    assert sums(engine, further, fast.statement(further)) == sums(engine, further, measure_sql(further))
    assert len([each for each in fast._repeated._tables.values() if each is not None and each.copy]) == 1
    fast.forget()
    assert not engine._all("SELECT 1 FROM duckdb_tables() WHERE temporary AND table_name LIKE 'rows %'")


FAILING = (
    BY_ROWS[7],
    "SELECT place, COUNT(*), SUM(cost) FROM visits WHERE epoch_ns(seen) > 0 AND day < 4 GROUP BY place",
    "SELECT SUM(cost) FROM visits WHERE epoch_ns(seen) > 0",
)


@pytest.mark.parametrize("sql", FAILING)
def test_no_value_makes_finding_out_fail(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    """Planted: the condition stands beside the table, where DuckDB tests it on the ends of the column."""
    [planned] = plan_of(db._open(), sql, 1.0).measures
    engine = db._open().engine
    assert isinstance(engine, DuckDB)

    def asked() -> list[str]:
        limits = replace(EVERYTHING, before=1, few=0, copied=0, long=0)
        fast = FastSums(engine._all, limits)
        return [fast.statement(planned) for _ in range(3)]

    known = sums(engine, planned, measure_sql(planned))
    assert [sums(engine, planned, each) for each in asked()] == [known] * 3

    def beside(table: str, where: str, *given: object) -> str:
        return f"{table} AS t WHERE {where}"

    for module in (special_units_sql, row_counts):
        monkeypatch.setattr(module, "meeting_sql", beside)
    with pytest.raises(duckdb.ConversionException):
        asked()


@pytest.mark.parametrize(
    ("sql", "first"),
    [
        ("SELECT day, COUNT(*), SUM(cost) FROM visits GROUP BY day", True),
        ("SELECT day, SUM(cost) FROM visits WHERE day < 4 GROUP BY day", True),
        ("SELECT day, SUM(cost) FROM visits WHERE day = 4 GROUP BY day", False),  # few rows
        ("SELECT day, COUNT(*) FROM visits JOIN lines USING (visit) GROUP BY day", False),  # perhaps few
        ("SELECT SUM(cost) FROM visits", False),  # a sum per unit is small
    ],
)
def test_a_first_measure_of_most_rows_finds_out_who_is_special(
    db: dpsql.Connection, sql: str, first: bool
) -> None:
    [planned] = plan_of(db._open(), sql, 1.0).measures
    engine = db._open().engine
    assert isinstance(engine, DuckDB)
    fast = FastSums(engine._all, replace(EVERYTHING, before=1))
    assert (fast.statement(planned) != measure_sql(planned)) is first
    assert fast.statement(planned) != measure_sql(planned)
    known = sums(engine, planned, measure_sql(planned))
    assert sums(engine, planned, fast.statement(planned)) == known


# ---- planted errors ------------------------------------------------------------------------------------


def a_row_too_many(patch: pytest.MonkeyPatch) -> None:
    printed = special_units_sql.repeated_sql
    patch.setattr(
        repeated_units, "repeated_sql", lambda *given: printed(*given).replace("count(*) > 1", "count(*) > 2")
    )


def fewer_rows_counted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(repeated_units, "conditions_sql", lambda *given: "t.day < 1")


def rows_of_one_row(patch: pytest.MonkeyPatch) -> None:
    found = repeated_units.counted_keys

    def counted(planned: MeasurePlan, source: RowSource) -> tuple[ScanColumn, ...]:
        return found(planned, replace(source, fan=1))

    patch.setattr(repeated_units, "counted_keys", counted)


def smaller_groups(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(repeated_units, "counted_keys", lambda _, source: source.scan.columns)


def repeated_units_left_in(patch: pytest.MonkeyPatch) -> None:
    changes = corrected_sql._of_cells
    patch.setattr(
        corrected_sql,
        "_of_cells",
        lambda planned, row, codes, by_rows: changes(planned, row, codes, False),
    )


def rows_of_nobody(patch: pytest.MonkeyPatch) -> None:
    counted = RepeatedUnits.counted
    patch.setattr(RepeatedUnits, "counted", lambda *given: replace(counted(*given), nobody=None))


def rows_that_are_not_copied(patch: pytest.MonkeyPatch) -> None:
    copied = repeated_units.copy_sql
    patch.setattr(repeated_units, "copy_sql", lambda *given: f"{copied(*given)} LIMIT 3")


@pytest.mark.parametrize(
    ("planted", "sql"),
    [
        (rows_that_are_not_copied, BY_ROWS[9]),
        (a_row_too_many, BY_ROWS[0]),
        (fewer_rows_counted, BY_ROWS[0]),
        (rows_of_one_row, BY_UNIT[0]),
        (smaller_groups, BY_ROWS[1]),
        (repeated_units_left_in, BY_ROWS[0]),
        (rows_of_nobody, BY_ROWS[8]),
    ],
)
def test_planted_errors_are_found(
    db: dpsql.Connection,
    monkeypatch: pytest.MonkeyPatch,
    planted: Callable[[pytest.MonkeyPatch], None],
    sql: str,
) -> None:
    assert not differs(db, sql)
    planted(monkeypatch)
    assert differs(db, sql)
