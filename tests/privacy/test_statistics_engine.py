"""The second engine of a file: which measures it gets, and that nothing but time tells of it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.aggregates import Unbounded
from dpsql.audit.oracles import plan_of
from dpsql.details.quantiles.sql import bin_sql
from dpsql.engines.duckdb import DuckDB, lock_down
from dpsql.engines.relation_sql import relation_sql
from dpsql.engines.statistics_engine import StatisticsEngine
from dpsql.facts import known_calls as calls
from dpsql.facts.known_calls import known_calls
from dpsql.functions import ArgumentError, shelf
from dpsql.functions.core.meaning import call, fact_of
from dpsql.functions.core.printing import sql_of
from dpsql.functions.time.common import _DATES, _MOMENTS
from dpsql.ir.column import BIGINT, BOOLEAN, VARCHAR, Fact, Interval, Kind, type_named
from dpsql.ir.grid import grid_of
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.relation import (
    Aggregate,
    AggregateCall,
    Named,
    Ordering,
    Relation,
    Scan,
    ScanColumn,
    Window,
    WindowCall,
)
from dpsql.ir.scalar import Call, Literal, Ref, Scalar
from dpsql.ir.table import ExactTable
from dpsql.session import Session

ROWS = 60_000
"""More than the rows below which there is no second engine."""

POLICY = """
[budget]
epsilon = 1000
delta = 1e-6
[unit]
name = "person"
table = "people"
key = "person"
[tables.people.columns]
person = {}
age = { range = [0, 100] }
town = { values = ["a", "b"] }
seen = {}
"""
QUESTIONS = (
    "SELECT COUNT(*), SUM(age) FROM people",
    "SELECT town, SUM(age), AVG(age) FROM people WHERE seen < TIMESTAMP '2030-01-01' GROUP BY town",
    "SELECT day(CAST(seen AS DATE)) AS d, hour(seen) AS h, COUNT(*) FROM people GROUP BY d, h",
    "SELECT town, COUNT(*), MEDIAN(age), QUANTILE(age / 2, 0.9) FROM people GROUP BY town",
    "SELECT age // 10 AS decade, COUNT(*), SUM(age) FROM people GROUP BY decade",
    "SELECT COUNT(*) FROM people AS p SEMI JOIN people AS q ON q.person = p.person AND q.age * 2 > p.age",
    "SELECT town, COUNT(*) FROM people AS p WHERE NOT EXISTS "
    "(SELECT 1 FROM people AS q WHERE q.person = p.person AND hour(q.seen) < p.age) GROUP BY town",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """People of whom one was seen at the end of time, of which epoch_ns can be computed of nobody else."""
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT n AS person, (n % 90)::INTEGER AS age, "
            "CASE WHEN n % 3 = 0 THEN 'a' ELSE 'b' END AS town, "
            "CASE WHEN n = 7 THEN TIMESTAMP '290000-01-01' ELSE TIMESTAMP '2024-01-01' END AS seen "
            f"FROM range({ROWS}) AS t(n)"
        )
    path.with_suffix(".toml").write_text(POLICY)
    return path


def engine_of(db: dpsql.Connection) -> DuckDB:
    engine = db._open().engine
    assert isinstance(engine, DuckDB)
    return engine


def exact(session: Session, sql: str) -> list[object]:
    """Measure a query twice, and return the second exact table."""
    (planned,) = plan_of(session, sql, 1.0).measures
    for _ in range(2):
        table = session.engine.measure(planned)
    details = [repr(sorted(masses.items(), key=repr)) for masses in table.details]
    return [*sorted(zip(table.groups, table.sums.tolist(), strict=True), key=repr), *details]


def test_the_second_measure_of_a_table_is_made_there(path: Path) -> None:
    for sql in QUESTIONS:
        with dpsql.connect(path) as db:
            found = exact(db._open(), sql)
            assert engine_of(db)._second is not None
            engine_of(db)._alone = True
            assert exact(db._open(), sql) == found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM people WHERE epoch_ms(seen) > 0",
        "SELECT MEDIAN(age) FILTER (WHERE epoch_ms(seen) > 0) FROM people",
        "SELECT MEDIAN(greatest(0, least(epoch_ms(seen), 10))) FROM people",
        "SELECT MEDIAN(seen) FROM people WHERE seen BETWEEN DATE '2024-01-01' AND DATE '2024-12-31'",
        "SELECT MEDIAN(age * 1e9) FROM people",
        "SELECT MODE(town) FROM people",
    ],
)
def test_calls_that_are_not_on_the_list_are_left_to_the_first_engine(path: Path, sql: str) -> None:
    with dpsql.connect(path) as db:
        (planned,) = plan_of(db._open(), sql, 1.0).measures
        assert not known_calls(planned.measure)
        exact(db._open(), sql)
        assert engine_of(db)._second is None


def test_a_failure_there_is_answered_here(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted error: a call on the list that fails on the ends of its column."""
    sql = "SELECT COUNT(*) FROM people WHERE epoch_ns(seen) > 0"
    with dpsql.connect(path) as db:
        known = exact(db._open(), sql)
        monkeypatch.setattr(calls, "OF_ANYTHING", calls.OF_ANYTHING | {"epoch_ns"})
        (planned,) = plan_of(db._open(), sql, 1.0).measures
        assert known_calls(planned.measure)
        second = engine_of(db)._opened_beside()
        with pytest.raises(duckdb.Error):
            second._all("SELECT count(*) FROM people WHERE epoch_ns(seen) > 0")
        monkeypatch.setattr(StatisticsEngine, "_all", failing)
        assert exact(db._open(), sql) == known
        assert engine_of(db)._alone
        assert db.execute(sql).fetchall()


def test_groups_that_it_keeps_outlive_its_failure(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first measure's private groups are asked for after the second measure failed there."""
    each = "SELECT CAST(seen AS DATE) AS d, COUNT(*) AS n FROM people WHERE age {} 45 GROUP BY d"
    sql = f"SELECT a.d, a.n, b.n FROM ({each.format('<')}) AS a JOIN ({each.format('>=')}) AS b USING (d)"
    with dpsql.connect(path) as db:
        assert len(plan_of(db._open(), sql, 1.0).measures) == 2
        engine = engine_of(db)
        db.execute(sql, epsilon=1)
        second = engine._second
        assert second is not None
        real, measured = second.measure, list[MeasurePlan]()

        def once(planned: MeasurePlan) -> ExactTable | None:
            measured.append(planned)
            return real(planned) if len(measured) == 1 else None

        monkeypatch.setattr(second, "measure", once)
        ((day, *numbers),) = db.execute(sql, epsilon=2).fetchall()
        assert day == date(2024, 1, 1)
        assert all(abs(number - ROWS / 2) < ROWS / 10 for number in numbers)
        assert len(measured) == 2
        assert engine._alone


def failing(*given: object) -> list[tuple[object, ...]]:
    raise duckdb.InternalException("planted")


def test_an_interruption_there_is_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: object) -> list[tuple[object, ...]]:
        raise duckdb.InterruptException("planted")

    with dpsql.connect(path) as db:
        exact(db._open(), QUESTIONS[0])
        monkeypatch.setattr(StatisticsEngine, "_all", interrupted)
        with pytest.raises(dpsql.Error, match="D601"):
            db.execute(QUESTIONS[0])
        monkeypatch.undo()
        assert db.execute(QUESTIONS[0]).fetchall()  # paid for once


def test_connections_to_a_file_share_it_and_close_it(path: Path) -> None:
    with dpsql.connect(path) as one, dpsql.connect(path) as two:
        for db in (one, two):
            exact(db._open(), QUESTIONS[0])
        file = engine_of(one)._file
        assert file.informed is not None
        assert file is engine_of(two)._file
    assert file.informed is None


def test_it_is_locked_down(path: Path) -> None:
    with dpsql.connect(path) as db:
        exact(db._open(), QUESTIONS[0])
        second = engine_of(db)._second
        assert second is not None
        for sql in ("SET threads = 1", "COPY people TO '/tmp/people.csv'", "FROM read_text('/etc/hostname')"):
            with pytest.raises(duckdb.Error):
                second._all(sql)
        with pytest.raises(duckdb.Error):
            second._all("DELETE FROM people")


# ---- the list ----------------------------------------------------------------------------------------

GUARDED = {
    kind: tuple(re.findall(r"'[^']*'", ends)) for kind, ends in (("DATE", _DATES), ("TIMESTAMP", _MOMENTS))
}
"""The first and the last date that guards let through."""

ENDS = {
    "TINYINT": ("-128", "127"),
    "BIGINT": ("-9223372036854775808", "9223372036854775807"),
    "HUGEINT": ("-170141183460469231731687303715884105728", "170141183460469231731687303715884105727"),
    "UBIGINT": ("0", "18446744073709551615"),
    "DECIMAL(18,4)": ("-99999999999999.9999", "99999999999999.9999"),
    "DECIMAL(38,10)": ("-" + "9" * 28, "9" * 28),
    "FLOAT": ("'-inf'", "'nan'"),
    "DOUBLE": ("-1.7976931348623157e308", "'nan'"),
    "BOOLEAN": ("false", "true"),
    "DATE": ("'-infinity'", "'infinity'"),
    "DATE ": ("'5877642-06-25 (BC)'", "'5881580-07-10'"),
    "DATE  ": GUARDED["DATE"],
    "TIMESTAMP": ("'-infinity'", "'infinity'"),
    "TIMESTAMP ": ("'290309-12-22 (BC) 00:00:00'", "'294247-01-10 04:00:54.775806'"),
    "TIMESTAMP  ": GUARDED["TIMESTAMP"],
    "VARCHAR": ("''", "repeat('z', 100000)"),
}
"""The least and the largest value of a column of each type; of dates, those that guards let through, too."""


@pytest.fixture(scope="module")
def at_the_ends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StatisticsEngine]:
    path = tmp_path_factory.mktemp("ends") / "ends.duckdb"
    with duckdb.connect(str(path)) as connection:
        columns = ", ".join(f"x{i} {name.strip()}, y{i} {name.strip()}" for i, name in enumerate(ENDS))
        connection.execute(f"CREATE TABLE ends ({columns})")
        for place in (0, 1):
            values = ", ".join(
                f"CAST({end} AS {name.strip()})"
                for name, ends in ENDS.items()
                for end in (ends[place], ends[1 - place])  # where x is the least, y is the largest
            )
            connection.execute(f"INSERT INTO ends SELECT {values} FROM range(10)")
    with duckdb.connect(":memory:") as engine:
        engine.execute(f"ATTACH '{path}' AS beside (READ_ONLY)")
        lock_down(engine, "UTC", without=())
        opened = StatisticsEngine(engine, "beside")
        yield opened
        opened.close()


def listed() -> list[str]:
    texts = calls.OF_TEXTS | calls.OF_CONSTANTS
    return sorted(calls.OF_ANYTHING | calls.OF_NUMBERS | texts | calls.OF_MOMENTS | calls.IN_UNITS)


FACTS = {f"{x}{i}": Fact(type_named(name.strip())) for i, name in enumerate(ENDS) for x in "xy"}
RELATION = Scan("ends", tuple(ScanColumn(name, name, fact) for name, fact in FACTS.items()), (), None)
CONSTANTS: dict[str, tuple[str | int, ...]] = {
    **{"substring": (-3, 2), "left": (2,), "right": (2,)},
    **{"strpos": ("z",), "replace": ("z", "xyz")},
}
UNITS = (
    *("millennium", "century", "decade", "year", "quarter", "month", "week", "isoyear", "day"),
    *("hour", "minute", "second", "millisecond", "microsecond"),
)


@pytest.mark.parametrize("function", listed())
def test_no_call_on_the_list_fails_at_the_ends_of_its_columns(
    at_the_ends: StatisticsEngine, function: str
) -> None:
    """Each call of columns of each type, and of two types, where it may be written."""
    tried = 0
    for each in written(function):
        sql = sql_of(each, FACTS.__getitem__, lambda name: f'"{name}"')
        at_the_ends._all(f"SELECT count({sql}), min({sql}) FROM ends WHERE ({sql}) IS NOT NULL")
        tried += 1
    assert tried


NUMBERS = [name for name in ENDS if type_named(name.strip()).kind in (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("ends", [(0, 100), (-5, 90_000), (-1e300, 1e300), (0, 2.0**60)])
def test_no_bin_fails_at_the_ends_of_its_column(
    at_the_ends: StatisticsEngine, name: str, ends: tuple[float, float]
) -> None:
    fact = Fact(type_named(name))
    place = bin_sql("x", fact, grid_of(fact, Interval(*ends)))
    rows = f"SELECT {place} AS b FROM (SELECT x{[*ENDS].index(name)} AS x FROM ends)"
    at_the_ends._all(f"SELECT b, count(*) FROM ({rows}) WHERE b IS NOT NULL GROUP BY b")


def written(function: str) -> Iterator[Call]:
    """Yield the calls of columns of any two types that the binder would accept."""
    casts = [type_named(name) for name in ("DOUBLE", "INTEGER", "DECIMAL(18,2)", "HUGEINT", "DATE")]
    least, most = shelf()[function].arity
    for first, second in itertools.product(range(len(ENDS)), repeat=2):
        columns: list[Scalar] = [Ref(f"x{first}"), Ref(f"y{second}"), Ref(f"y{first}")]
        several = [
            columns[:count] for count in range(max(least, 1), min(most, 3) + 1) if count > 1 or not second
        ]
        if function in calls.OF_TEXTS:
            several = [[columns[0], Literal("a", VARCHAR)][:most]]
        if function in calls.OF_CONSTANTS:
            given = CONSTANTS.get(function, ())
            constants = [Literal(each, VARCHAR if isinstance(each, str) else BIGINT) for each in given]
            several = [[columns[0], *constants]]
        if function in calls.IN_UNITS:
            several = [[Literal(unit, VARCHAR), *columns][:most] for unit in UNITS]
        for given, target in itertools.product(several, casts if function == "cast" else [None]):
            try:
                made = call(function, given, FACTS.__getitem__, target)
                fact_of(made, FACTS.__getitem__)
            except (ArgumentError, dpsql.Error):
                continue
            if function not in calls.IN_UNITS or calls._known(made, RELATION):
                yield made


def within_units(function: str) -> Iterator[Relation]:
    """Yield relations of which a column is what a call within units gives, of a column of each type."""
    for name, fact in FACTS.items():
        number = fact.type.kind in (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
        if not (number if function in ("sum", "avg") else fact.type == BOOLEAN or "bool" not in function):
            continue
        ranged = replace(fact, domain=Interval(-1e9, 1e9)) if fact.type.kind is Kind.FLOAT else fact
        table = replace(RELATION, columns=(*RELATION.columns, ScanColumn("x", name, ranged)), size=20)
        argument = () if function in ("row_number", "rank", "dense_rank") else (Ref("x"),)
        if function in calls.WITHIN_UNITS:
            yield Aggregate(table, (Named("k", Ref("x0")),), (AggregateCall("v", function, *argument),))
        yield Window(table, WindowCall("v", function, argument, (Ref("x0"),), (Ordering(Ref("x")),)))


@pytest.mark.parametrize("function", sorted(calls.WINDOWS))
def test_no_call_within_units_fails_at_the_ends_of_its_columns(
    at_the_ends: StatisticsEngine, function: str
) -> None:
    tried = 0
    for relation in within_units(function):
        with suppress(Unbounded):  # a sum of numbers of 38 digits is refused
            sql = relation_sql(relation)
            at_the_ends._all(f"SELECT count(v), min(v), max(v) FROM ({sql}) WHERE v IS NOT NULL")
            tried += 1
    assert tried
