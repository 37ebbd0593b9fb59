"""Files that Spark reads: exact tables, refusals before payment, settings, silence, planted errors."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from postgres_worlds import EVERYTHING
from sparks import MASTER, needs_spark
from test_postgres import NOTES, POLICY, QUERIES, TABLES

import dpsql
from dpsql.audit import plan_of
from dpsql.engines import arithmetic, fast_sums, join_order
from dpsql.engines.arithmetic import Arithmetic, in_halves
from dpsql.engines.dialect import MANY, Dialect
from dpsql.engines.exact_tables import measured
from dpsql.engines.folder import Folder
from dpsql.engines.spark.address import LocalAddress
from dpsql.engines.spark.dialect import Spark, backquoted
from dpsql.engines.spark.engine import SparkEngine
from dpsql.engines.spark.texts import MOST_BYTES
from dpsql.engines.special_units import Limits
from dpsql.engines.stored_groups import StoredGroups
from dpsql.ir.column import Fact, type_named
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.relation import Materialized, ScanColumn, scans
from dpsql.ir.table import ExactTable
from dpsql.session.checks import parse_policy

pytestmark = needs_spark

MORE = (
    "SELECT MEDIAN(age), MAX(income) FROM people",
    "SELECT kind, COUNT(DISTINCT visit) FROM visits GROUP BY kind",
    "SELECT CORR(age, income) FROM people",
    "SELECT SUM(cost) FROM visits",
    "SELECT p.ward, SUM(n) FROM (SELECT id, row_number() OVER (PARTITION BY id ORDER BY visit) AS n "
    "FROM visits) v JOIN people p USING (id) WHERE n < 4 GROUP BY p.ward",
)


def made(folder: Path) -> Path:
    """Write a folder of parquet files, and its policy beside it."""
    folder.mkdir()
    with duckdb.connect() as db:
        db.execute(TABLES)
        for table in ("people", "visits", "wards"):
            db.execute(f"COPY {table} TO '{folder / table}.parquet'")
    folder.with_suffix(".toml").write_text(POLICY)
    return folder


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("spark") / "clinic")


@pytest.fixture
def here(clinic: Path, tmp_path: Path) -> Iterator[dpsql.Connection]:
    address = f"spark:{MASTER}:{clinic}"
    with dpsql.connect(address, clinic.with_suffix(".toml"), tmp_path / "a.ledger") as db:
        yield db


def engine_of(db: dpsql.Connection) -> SparkEngine:
    engine = db._open().engine
    assert isinstance(engine, SparkEngine)
    return engine


def sums_of(exact: ExactTable) -> dict[str, tuple[int, ...]]:
    rows = zip(exact.groups, exact.sums.tolist(), strict=True)
    return {repr(group): tuple(sums) for group, sums in rows if any(sums)}


def masses_of(exact: ExactTable) -> list[dict[str, tuple[list[int], list[int]]]]:
    return [
        {repr(group): (places.tolist(), weights.tolist()) for group, (places, weights) in masses.items()}
        for masses in exact.details
    ]


def both(db: dpsql.Connection, clinic: Path, sql: str) -> Iterator[tuple[ExactTable, ExactTable]]:
    session = db._open()
    with dpsql.connect(clinic, clinic.with_suffix(".toml"), clinic.with_name("b.ledger")) as other:
        there = other._open().engine
        assert isinstance(there, Folder)
        for planned in plan_of(session, sql, 1.0).measures:
            session.engine.measure_sql(planned)
            yield session.engine.measure(planned), measured(planned, there._all, there._arrays)


def exact_tables_are_those_of_duckdb(here: dpsql.Connection, clinic: Path) -> None:
    for sql in (*QUERIES, *MORE):
        for ours, theirs in both(here, clinic, sql):
            assert sums_of(ours) == sums_of(theirs), sql
            assert masses_of(ours) == masses_of(theirs), sql
            assert sums_of(ours) or masses_of(ours), sql


def test_exact_tables_are_those_of_duckdb(here: dpsql.Connection, clinic: Path) -> None:
    exact_tables_are_those_of_duckdb(here, clinic)


def test_a_repeat_is_free_and_is_the_folders_too(
    here: dpsql.Connection, clinic: Path, tmp_path: Path
) -> None:
    first = here.execute(QUERIES[0])
    again = here.execute(QUERIES[0])
    assert (first.repeated, again.repeated, again.rows) == (False, True, first.rows)
    with dpsql.connect(clinic, clinic.with_suffix(".toml"), tmp_path / "a.ledger") as other:
        assert other.execute(QUERIES[0]).rows == first.rows
        assert other.budget.spent == here.budget.spent


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("SELECT COUNT(*) FROM people WHERE sin(age) > .3", "the function sin"),
        ("SELECT COUNT(*) FROM people WHERE levenshtein(ward, 'a') = 0", "the function levenshtein"),
        ("SELECT DP_SAMPLE(skewness(age), -5, 5) FROM people", "blocks"),
        ("SELECT COUNT(*) FROM (SELECT id, FIRST(kind ORDER BY visit) AS k FROM visits GROUP BY id) "
         "WHERE k = 'k1'", "first within a unit"),
    ],
)  # fmt: skip
def test_what_is_not_vetted_costs_nothing(here: dpsql.Connection, sql: str, what: str) -> None:
    with pytest.raises(dpsql.OperationalError, match=what) as caught:
        here.execute(sql)
    assert caught.value.code == "D605"
    assert here.budget.spent == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.sql.ansi.enabled", "true"),
        ("spark.sql.session.timeZone", "Asia/Tokyo"),
        ("spark.sql.files.ignoreMissingFiles", "true"),
        ("spark.sql.caseSensitive", "false"),
    ],
)
def test_another_setting_is_refused(here: dpsql.Connection, name: str, value: str) -> None:
    """An ANSI session above all: there a cast of one person's row fails."""
    engine = engine_of(here)
    [planned] = plan_of(here._open(), "SELECT SUM(income) FROM people", 1.0).measures
    engine._session.conf.set(name, value)
    with pytest.raises(dpsql.OperationalError) as caught:
        engine.measure(planned)
    assert caught.value.code == "D602"
    assert name in caught.value.title


def test_messages_of_spark_stay_inside(
    here: dpsql.Connection, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    engine = engine_of(here)
    with pytest.raises(dpsql.OperationalError) as caught:
        engine._collected("SELECT raise_error(concat('Longyear', 'byen'))")
    assert caught.value.code == "D601"
    assert caught.value.__cause__ is None
    shown = capfd.readouterr()
    assert "Longyearbyen" not in f"{shown.out}{shown.err}{caplog.text}{caught.value!r}"


ENDLESS = "SELECT count(*) FROM range(1000000000000) AS a CROSS JOIN range(1000000) AS b"


def test_a_job_can_be_interrupted(here: dpsql.Connection) -> None:
    a_job_can_be_interrupted(here)


def a_job_can_be_interrupted(here: dpsql.Connection) -> None:
    engine = engine_of(here)
    timer = threading.Timer(5, here.interrupt)
    timer.start()
    with pytest.raises(dpsql.OperationalError) as caught:
        engine._collected(ENDLESS)
    timer.join()
    assert caught.value.code == "D601"
    assert caught.value.__cause__ is None
    assert caught.value.title == "the query was interrupted"
    assert len(here.execute(QUERIES[0]).rows) == 3


def replaced(folder: Path) -> None:
    with duckdb.connect() as made:
        made.execute(f"COPY (FROM '{folder}/visits/a.parquet' LIMIT 400) TO '{folder}/other.parquet'")
    os.replace(folder / "other.parquet", folder / "visits" / "a.parquet")


def added(folder: Path) -> None:
    (folder / "visits" / "b.parquet").write_bytes((folder / "visits" / "a.parquet").read_bytes())


def taken_away(folder: Path) -> None:
    (folder / "visits" / "c.parquet").unlink()


@pytest.mark.parametrize("change", [replaced, added, taken_away])
def test_each_change_of_the_files_is_seen(
    clinic: Path, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    each_change_is_seen(lambda folder: f"spark:{MASTER}:{folder}", clinic, tmp_path, change)


def each_change_is_seen(
    address_of: Callable[[Path], str], clinic: Path, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    folder = tmp_path / "moving"
    (folder / "visits").mkdir(parents=True)
    for name, at in (("people", ""), ("wards", ""), ("visits", "visits/a"), ("visits", "visits/c")):
        (folder / f"{at or name}.parquet").write_bytes((clinic / f"{name}.parquet").read_bytes())
    policy, ledger = tmp_path / "moving.toml", tmp_path / "m.ledger"
    policy.write_text(POLICY.replace("[tables.visits]\n", '[tables.visits]\nfiles = "visits/*.parquet"\n'))
    sql = "SELECT COUNT(*) FROM visits"
    with dpsql.connect(address_of(folder), policy, ledger) as db:
        assert not db.execute(sql).repeated
        assert db.execute(sql).repeated
        change(folder)
        if change is not added:  # which an open session does not read
            with pytest.raises(dpsql.OperationalError, match="changed"):
                db.execute("SELECT COUNT(*) FROM visits WHERE cost > 1")
    with dpsql.connect(address_of(folder), policy, ledger) as db:
        assert not db.execute(sql).repeated


def test_what_was_found_is_of_its_own_version(clinic: Path, tmp_path: Path) -> None:
    """Busy units are found anew in new files of the same name, though what was found before is still kept."""
    folder = tmp_path / "grown"
    folder.mkdir()
    for file in clinic.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    rules = parse_policy(clinic.with_suffix(".toml").read_text(), "clinic.toml")
    with dpsql.connect(clinic, clinic.with_suffix(".toml"), tmp_path / "g.ledger") as db:
        sql = "SELECT kind, COUNT(*), SUM(cost) FROM visits GROUP BY kind"
        [planned] = plan_of(db._open(), sql, 1.0).measures
    assert isinstance(planned, MeasurePlan)
    tables = []
    engines = []
    for busy in (0, 5000):
        with duckdb.connect() as made:
            more = f"SELECT * FROM v UNION ALL SELECT v.* FROM (FROM v LIMIT 1) v, range({busy})"
            made.execute(f"CREATE TABLE v AS FROM '{clinic}/visits.parquet'")
            made.execute(f"COPY ({more}) TO '{folder}/new.parquet'")
        os.replace(folder / "new.parquet", folder / "visits.parquet")
        engine = SparkEngine(LocalAddress(folder, MASTER[6:-1]), rules, EVERYTHING)
        engines.append(engine)
        there = Folder(folder, rules)
        tables.append(sums_of(engine.measure(planned)))
        assert tables[-1] == sums_of(measured(planned, there._all, there._arrays))
        there.close()
    for engine in engines:
        engine.close()


def test_first_measures_add_up_in_64_bits(here: dpsql.Connection, clinic: Path) -> None:
    """Before anything is found of a large table, its number of rows says that sums fit."""
    rules = parse_policy(clinic.with_suffix(".toml").read_text(), "clinic.toml")
    there = Folder(clinic, rules)
    with closing(SparkEngine(LocalAddress(clinic, MASTER[6:-1]), rules, Limits(least=0, before=99))) as first:
        for sql in QUERIES:
            for planned in plan_of(here._open(), sql, 1.0).measures:
                assert isinstance(planned, MeasurePlan)
                assert "sum(CAST(g" not in first._fast_sums().statement(planned)
                known = sums_of(measured(planned, there._all, there._arrays))
                assert sums_of(first.measure(planned)) == known, sql
    there.close()


BEDS = (
    "SELECT w.beds, COUNT(*), SUM(v.cost) FROM people p JOIN visits v ON v.id = p.id "
    "JOIN wards w ON w.ward = p.ward AND w.beds > 5 GROUP BY w.beds"
)


def test_public_rows_are_joined_first(
    here: dpsql.Connection, clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: what is joined early loses its conditions."""
    [planned] = plan_of(here._open(), BEDS, 1.0).measures
    assert isinstance(planned, MeasurePlan)
    printed = engine_of(here).measure_sql(planned)
    tables = [each.table for each in scans(planned.measure.relation) if each.owner is not None]
    assert tables == ["people", "visits"]
    places = {table: printed.index(f'"{column}') for table, column in (("wards", "beds"), ("visits", "cost"))}
    assert places["wards"] < places["visits"]
    for ours, theirs in both(here, clinic, BEDS):
        assert sums_of(ours) == sums_of(theirs)
    monkeypatch.setattr(join_order, "_on", lambda table: "true" if table.early else " AND ".join(table.on))
    for ours, theirs in both(here, clinic, BEDS):
        assert sums_of(ours) != sums_of(theirs)


def test_what_is_found_is_read_from_the_cache(here: dpsql.Connection, clinic: Path) -> None:
    rules = parse_policy(clinic.with_suffix(".toml").read_text(), "clinic.toml")
    [planned] = plan_of(here._open(), QUERIES[3], 1.0).measures
    assert isinstance(planned, MeasurePlan)
    with closing(SparkEngine(LocalAddress(clinic, MASTER[6:-1]), rules, EVERYTHING)) as engine:
        engine.measure(planned)
        sql = engine._fast_sums().statement(planned)
        assert "WITH q" in sql
        plan = engine._session.sql(backquoted(sql))._jdf.queryExecution().executedPlan().toString()
        assert "InMemoryTableScan" in plan


@pytest.mark.parametrize("before", [0, 99])
def test_what_64_bits_do_not_hold_is_added_up_in_halves(
    here: dpsql.Connection, clinic: Path, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    monkeypatch.setattr(fast_sums, "fits", lambda *_: False)
    rules = parse_policy(clinic.with_suffix(".toml").read_text(), "clinic.toml")
    there, limits = Folder(clinic, rules), Limits(least=0, before=before, copied=0, long=0)
    with closing(SparkEngine(LocalAddress(clinic, MASTER[6:-1]), rules, limits)) as engine:
        for sql in QUERIES:
            for planned in plan_of(here._open(), sql, 1.0).measures:
                assert isinstance(planned, MeasurePlan)
                known = sums_of(measured(planned, there._all, there._arrays))
                assert sums_of(engine.measure(planned)) == known, sql
                if planned.measure.statistics:
                    statement = engine._fast_sums().statement(planned)
                    assert "shiftright" in statement or "sum(" not in statement
    there.close()


def test_halves_with_a_gap_are_found(
    here: dpsql.Connection, clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: the lower half lacks its upper bits."""

    def gaping(dialect: Dialect) -> Arithmetic:
        right = in_halves(dialect)
        return replace(
            right, summed=lambda sql: right.summed(sql).replace(f"& {2**32 - 1}", f"& {2**16 - 1}")
        )

    monkeypatch.setattr(fast_sums, "fits", lambda *_: False)
    monkeypatch.setattr(arithmetic, "in_halves", gaping)
    rules = parse_policy(clinic.with_suffix(".toml").read_text(), "clinic.toml")
    [planned] = plan_of(here._open(), "SELECT COUNT(*), SUM(cost) FROM visits", 1.0).measures
    assert isinstance(planned, MeasurePlan)
    limits = Limits(least=0, before=99)
    with (
        closing(Folder(clinic, rules)) as there,
        closing(SparkEngine(LocalAddress(clinic, MASTER[6:-1]), rules, limits)) as engine,
    ):
        known = sums_of(measured(planned, there._all, there._arrays))
        assert sums_of(engine.measure(planned)) != known


ENDS = [
    [2**63 - 1] * 5,
    [-(2**63)] * 5,
    [2**63 - 1, -(2**63), -1, 0, 1],
    [-1] * 7,
    [2**32 - 1, 2**32, -(2**32), 2**31, -(2**31)],
    [],
]


@pytest.mark.parametrize("kind", ["bigint", "int"])
@pytest.mark.parametrize("values", ENDS)
def test_halves_of_whole_numbers_add_up_to_them(here: dpsql.Connection, values: list[int], kind: str) -> None:
    engine = engine_of(here)
    kept = [value for value in values if kind == "bigint" or -(2**31) <= value < 2**31]
    rows = ", ".join(f"(CAST('{value}' AS {kind}))" for value in kept) or f"(CAST(NULL AS {kind}))"
    summed = in_halves(engine._dialect()).summed("x")
    assert engine._collected(f"SELECT {summed} AS s FROM VALUES {rows} AS t(x)") == [(sum(kept),)]


def test_long_lists_of_whole_numbers_are_one_text(here: dpsql.Connection) -> None:
    engine, names = engine_of(here), ("a", "b")
    columns = tuple(ScanColumn(name, "BIGINT", Fact(type_named("BIGINT"))) for name in names)
    ends = ((2**63 - 1, -(2**63)), (None, -1), (0, None), (None, None))
    rows = (*ends, *((i, -i) for i in range(MANY)))
    printed = engine._dialect().fixed_rows(Materialized(columns, rows))
    assert "VALUES" not in printed
    assert engine._collected(printed) == list(rows)


def test_private_groups_come_in_batches(here: dpsql.Connection, clinic: Path) -> None:
    sql = "SELECT visit, COUNT(*), SUM(cost) FROM visits GROUP BY visit"
    [planned] = plan_of(here._open(), sql, 1.0).measures
    assert isinstance(planned, MeasurePlan)
    exact = engine_of(here).measure(planned)
    assert isinstance(exact.groups, StoredGroups)
    [(_, theirs)] = both(here, clinic, sql)
    assert sums_of(exact) == sums_of(theirs)
    assert len(exact.groups) > 100


@pytest.mark.parametrize(
    "address",
    ["spark:local[2]", "spark+connect://host:15002", "spark:local[0]:/data", "spark:yarn:/data", "spark:"],
)
def test_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(dpsql.OperationalError) as caught:
        dpsql.connect(address)
    assert caught.value.code == "D602"


# ---- planted errors ------------------------------------------------------------------------------------


def cutting(self: Spark, sql: str) -> str:
    return f"CAST({sql} AS bigint)"


def narrow_sums(self: Spark, sql: str) -> str:
    return f"coalesce(sum(CAST({sql} AS decimal(3,0))), 0)"


@pytest.mark.parametrize(("method", "plant"), [("whole", cutting), ("summed", narrow_sums)])
def test_planted_errors_are_found(
    here: dpsql.Connection, clinic: Path, monkeypatch: pytest.MonkeyPatch, method: str, plant: object
) -> None:
    """A cast that cuts, and a sum of decimals that overflow to NULL."""
    monkeypatch.setattr(Spark, method, plant)
    pairs = list(both(here, clinic, "SELECT SUM(cost * 1.37) FROM visits"))
    assert any(sums_of(ours) != sums_of(theirs) for ours, theirs in pairs)


def test_a_unit_of_more_than_the_engine_adds_up_keeps_nothing(here: dpsql.Connection) -> None:
    """Where the squares of a unit's cells add up to NULL, its factor is 0."""
    session = here._open()
    [planned] = plan_of(session, "SELECT kind, COUNT(*), SUM(cost) FROM visits GROUP BY kind", 1.0).measures
    assert isinstance(planned, MeasurePlan)
    engine = engine_of(here)
    whole = sums_of(engine.measure(planned))

    class Full(Spark):
        def wide(self, sql: str) -> str:
            return "CAST(NULL AS decimal(38,0))" if sql.startswith("s") else super().wide(sql)

    [sql] = [sql for sql in engine._printed(planned) if "AS h" in sql or ", h AS" in sql] or [""]
    if not sql:
        pytest.skip("this clip needs no sum of squares")
    from dpsql.engines.measure_sql import measure_sql

    rows = engine._collected(measure_sql(planned, dialect=Full(engine._selects)))
    assert whole
    assert all(total == 0 for row in rows for total in row[1:])


def test_quotes_of_names_come_in_pairs() -> None:
    assert backquoted('SELECT "a b" AS "c" FROM t') == "SELECT `a b` AS `c` FROM t"


@pytest.mark.parametrize(("more", "code"), [(0, ""), (1, "D602")])
def test_a_text_that_is_too_long_is_found_at_opening(tmp_path: Path, more: int, code: str) -> None:
    """Whether the longest text has room in a row may not depend on whose it is."""
    (tmp_path / "notes").mkdir()
    with duckdb.connect() as made:
        rows = "SELECT n AS id, 'n' || n AS note FROM range(500) AS t(n) UNION ALL SELECT 500, repeat('1', ?)"
        made.execute(f"COPY ({rows}) TO '{tmp_path}/notes/notes.parquet'", [MOST_BYTES + more])
    (tmp_path / "notes.toml").write_text(NOTES)
    found = ""
    try:
        with dpsql.connect(f"spark:{MASTER}:{tmp_path}/notes") as db:
            letters = "upper(translate(note, '1', '\u0390'))"
            assert len(db.execute(f"SELECT COUNT(*) FROM notes WHERE length({letters}) > 3").rows) == 1
    except dpsql.Error as error:
        found = error.code
    assert found == code
