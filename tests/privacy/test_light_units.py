"""Units at the edge of a clip: those below it are summed with all others, and none above it is.

A unit of each size from 1 to 60 rows, each value at the end of its range: whoever is taken for light, and is
not, changes a sum.
"""

from __future__ import annotations

import pickle
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.engines import corrected_sql, fast_sums, row_copies, special_units, special_units_sql
from dpsql.engines import measure_sql as measure_sql_module
from dpsql.engines.arithmetic import DOUBLES, TIES, WHOLE, fits
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.extremes import Extremes
from dpsql.engines.fast_sums import FastSums
from dpsql.engines.measure_sql import CELL, measure_sql
from dpsql.engines.relation_sql import Reading
from dpsql.engines.special_units import EVERYTHING, SpecialUnits
from dpsql.engines.special_units_sql import Counted
from dpsql.engines.unit_totals import UnitTotals
from dpsql.facts import light_units
from dpsql.facts.lent_units import needs_units
from dpsql.ir.column import Interval
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.relation import Link, Relation, Scan, ScanColumn
from dpsql.ir.statistic import Statistic
from dpsql.policy import check

SCHEMA = """
CREATE TABLE people (person BIGINT);
INSERT INTO people SELECT range FROM range(1, 61);
CREATE TABLE visits (
    visit BIGINT UNIQUE, person BIGINT, ward VARCHAR, day INTEGER, cost DOUBLE, stars INTEGER,
    place VARCHAR, tax DOUBLE
);
INSERT INTO visits
SELECT row_number() OVER (), person, ['a', 'b', NULL][1 + n % 3], n % 5, 100, 5, 'p' || n % 7, 0
FROM range(1, 61) AS p(person), range(60) AS r(n) WHERE n < person;
INSERT INTO visits VALUES
    (NULL, 1, 'a', 0, 1, 1, 'p', 0), (9001, NULL, 'a', 0, 100, 5, 'p', 0),
    (9002, 777, 'b', 1, 100, 5, 'p', 0), (9003, 59, 'c', 1, 100, 5, 'p', 0),
    (9004, 60, '', 1, 100, 5, 'p', 0);
ALTER TABLE visits ADD COLUMN score INTEGER;
ALTER TABLE visits ADD COLUMN grade INTEGER;
UPDATE visits SET score = 2 + visit % 2 * 6, grade = CASE WHEN visit % 10 > 0 THEN 8 END;
CREATE TABLE lines (visit BIGINT, amount DOUBLE, ward VARCHAR);
INSERT INTO lines SELECT visit, 10, ward FROM visits, range(2);
INSERT INTO lines VALUES (NULL, 10, 'a'), (9999, 10, 'b');
CREATE TABLE tags (ward VARCHAR, tag VARCHAR);
INSERT INTO tags VALUES ('a', 'x'), ('a', 'y'), ('a', 'x'), ('b', 'x');
CREATE TABLE days (day INTEGER, kind VARCHAR);
INSERT INTO days VALUES (1, 'work'), (2, 'work'), (2, 'rest'), (3, 'rest'), (7, 'work'), (NULL, 'work');
"""
POLICY = """
[budget]
epsilon = 1000
{delta}
[query]
epsilon = 1.0
max_epsilon = 10.0
[unit]
name = "person"
table = "people"
key = "person"
[tables.people.columns]
person = {{}}
[tables.visits]
key = "visit"
unit = {{ column = "person" }}
rows_per_unit = 20
[tables.visits.columns]
visit = {{}}
person = {{}}
ward = {{ values = ["a", "b"] }}
day = {{ range = [0, 4] }}
cost = {{ range = [0, 100] }}
stars = {{ range = [1, 5] }}
place = {{}}
tax = {{ range = [0, 0.5] }}
score = {{ range = [0, 10] }}
grade = {{ range = [6, 8] }}
[tables.lines]
unit = {{ column = "visit", references = "visits.visit" }}
rows_per_unit = 40
[tables.lines.columns]
visit = {{}}
amount = {{ range = [0, 10] }}
ward = {{ values = ["a", "b"] }}
[tables.tags]
public = true
[tables.days]
public = true
"""
QUERIES = (
    "SELECT COUNT(*), SUM(cost) FROM visits",
    "SELECT SUM(cost), SUM(cost * (1 - tax)) FROM visits",
    "SELECT ward, SUM(cost - cost * tax) FROM visits GROUP BY ward",
    "SELECT SUM(tax), SUM(cost) FROM visits",
    "SELECT COUNT(*), SUM(cost), AVG(stars), VAR_POP(cost) FROM visits WHERE day < 3",
    "SELECT ward, COUNT(*), SUM(cost) FROM visits GROUP BY ward",
    "SELECT ward, day, AVG(cost), SUM(stars) FROM visits GROUP BY ward, day",
    "SELECT ward, COUNT(*), COUNT(DISTINCT person) FROM visits GROUP BY ward",
    "SELECT ward, day, COUNT(*) FROM visits GROUP BY ROLLUP (ward, day)",
    "SELECT tag, COUNT(*), SUM(cost) FROM visits JOIN tags USING (ward) GROUP BY tag",
    "SELECT ward, COUNT(*), SUM(cost) FROM visits JOIN tags USING (ward) GROUP BY ward",
    "SELECT SUM(cost) FROM visits JOIN days USING (day) WHERE kind = 'work'",
    "SELECT COUNT(*) FROM visits v WHERE EXISTS (FROM days WHERE day = v.day AND kind <> 'work')",
    "SELECT ward, COUNT(*) FROM visits LEFT JOIN days USING (day) WHERE cost > 2 GROUP BY ward",
    "SELECT COUNT(*) FROM visits v WHERE EXISTS (FROM visits w WHERE w.person = v.person AND w.day < v.day)",
    "SELECT SUM(amount) FROM lines l WHERE NOT EXISTS (FROM lines WHERE visit = l.visit AND ward = 'a')",
    "SELECT SUM(v.cost) FROM visits v JOIN visits w USING (person) WHERE v.visit = w.visit AND w.stars > 2",
    "SELECT ward, COUNT(*), SUM(amount) FROM lines GROUP BY ward",
    "SELECT SUM(amount), STDDEV(amount) FROM lines",
    "SELECT day, SUM(amount) FROM lines JOIN visits ON lines.visit = visits.visit GROUP BY day",
    "SELECT day, SUM(cost) FROM visits WHERE visit IN (SELECT visit FROM lines) GROUP BY day",
    "SELECT place, COUNT(*), SUM(cost) FROM visits GROUP BY place",
    "SELECT place, COUNT(*), SUM(cost), SUM(stars), SUM(tax) FROM visits GROUP BY place",
    "SELECT ward, COUNT(*), SUM(cost) FROM visits WHERE ward <> 'b' GROUP BY ward",
    "SELECT ward, SUM(cost) FROM visits WHERE person % 2 = 0 GROUP BY ward",
    "SELECT ward, day, COUNT(*) FROM visits WHERE stars > 2 GROUP BY ward, day",
    "SELECT OPTIONS(max_groups_contributed = 2) place, COUNT(*), SUM(cost) FROM visits GROUP BY place",
    "SELECT place, COUNT(*), SUM(cost) FROM visits WHERE day < 2 AND ward = 'a' GROUP BY place",
    "SELECT day, SUM(amount) FROM lines JOIN visits USING (visit) WHERE day < 3 AND amount > 1 GROUP BY day",
    "SELECT day, COUNT(*) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY person ORDER BY cost, visit) AS i "
    "FROM visits WHERE stars > 2) WHERE day < 3 AND i > 4 GROUP BY day",
    "SELECT COUNT(*) FROM (SELECT person, day, COUNT(*) AS n FROM visits WHERE ward = 'b' GROUP BY 1, 2) "
    "WHERE day < 4 AND n > 2",
    "SELECT COUNT(*), SUM(x) FROM (SELECT cost AS x FROM visits UNION ALL SELECT amount FROM lines)",
    "SELECT ward, COUNT(*) FROM (SELECT ward FROM visits UNION ALL SELECT ward FROM lines) GROUP BY ward",
    "SELECT day, SUM(cost) FROM (SELECT day, cost FROM visits UNION ALL SELECT 4 - day, cost FROM visits "
    "WHERE stars > 2) WHERE day < 4 GROUP BY day",
    "WITH v AS (SELECT day, ward, cost FROM visits) "
    "SELECT ward, day, SUM(cost) FROM (FROM v UNION ALL FROM v WHERE day > 1) GROUP BY ward, day",
    "SELECT ward, COUNT(*) FROM (SELECT ward, day FROM visits UNION ALL SELECT lines.ward, day FROM lines "
    "JOIN visits USING (visit)) JOIN days USING (day) WHERE kind = 'work' GROUP BY ward",
    "SELECT ward, COUNT(*), COUNT(DISTINCT person) FROM (SELECT person, ward FROM visits UNION ALL "
    "SELECT person, lines.ward FROM lines JOIN visits USING (visit)) GROUP BY ward",
    "SELECT ward, SUM(cost) FROM (SELECT ward, day, cost, stars FROM visits UNION ALL "
    "SELECT lines.ward, day, amount, 5 FROM lines JOIN visits USING (visit) WHERE day > 1) "
    "WHERE day < 3 AND stars > 2 GROUP BY ward",
    "SELECT COUNT(*) FROM (SELECT day FROM visits WHERE stars > 2 AND day < 2 UNION ALL "
    "SELECT day FROM visits WHERE day > 3)",
    "SELECT person % 2, COUNT(*) FROM (SELECT person, day FROM visits UNION ALL SELECT visits.person, day "
    "FROM lines JOIN visits USING (visit)) GROUP BY 1",
    "SELECT COUNT(*) FILTER (WHERE person > 30) FROM (SELECT person FROM lines JOIN visits USING (visit))",
    "WITH v AS (SELECT person, amount FROM lines JOIN visits USING (visit)) "
    "SELECT CASE WHEN person < 30 THEN 'x' ELSE 'y' END, SUM(amount) FROM v GROUP BY 1",
    "SELECT COUNT(*), SUM(n) FROM (SELECT person, ward, COUNT(*) AS n FROM (SELECT person, ward FROM visits "
    "UNION ALL SELECT person, 'b' FROM people UNION ALL SELECT person, tag FROM visits JOIN tags "
    "USING (ward)) GROUP BY 1, 2) WHERE n > 1",
    "SELECT AVG(score) FROM visits",
    "SELECT ward, AVG(score), COUNT(*) FROM visits GROUP BY ward",
    "SELECT AVG(grade) FROM visits WHERE stars > 2",
    "SELECT kind, AVG(score), SUM(cost) FROM visits JOIN days USING (day) GROUP BY kind",
    "SELECT SUM(cost) FROM visits v WHERE day < 2 AND stars > 1 "
    "AND EXISTS (FROM visits w WHERE w.person = v.person AND w.day > v.day)",
    "SELECT SUM(cost) FROM visits v WHERE day < 2 AND stars > 1",
)


ZCDP, PURE = "delta = 1e-6", 'accountant = "pure"'


@pytest.fixture(params=[ZCDP, PURE], ids=["zcdp", "pure"])
def db(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[dpsql.Connection]:
    path = tmp_path / "edge.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SCHEMA)
    path.with_suffix(".toml").write_text(POLICY.format(delta=request.param))
    with dpsql.connect(path) as opened:
        yield opened


def measures(db: dpsql.Connection) -> Iterator[MeasurePlan]:
    return (each for each in planned_measures(db, QUERIES) if each.measure.statistics)


def planned_measures(db: dpsql.Connection, queries: Iterable[str]) -> Iterator[MeasurePlan]:
    for sql in queries:
        try:
            plan = plan_of(db._open(), sql, 1.0)
        except dpsql.Error as error:
            if error.code != "D304":  # groups behind a threshold need a delta
                raise
            continue
        yield from plan.measures


NEVER = 10**9
"""So often nothing is asked for."""


def everything(db: dpsql.Connection, copied: float = 1, met: bool = False) -> tuple[DuckDB, FastSums]:
    """Return an engine, and statements of its measures that all sum everything.

    Units are special by rows that are ``met`` alone, or by all.
    """
    engine = db._open().engine
    assert isinstance(engine, DuckDB)
    limits = replace(EVERYTHING, copied=copied, long=copied, few=0, fewer=0 if met else NEVER)
    return engine, FastSums(engine._all, limits)


def differ(db: dpsql.Connection, copied: float = 1, met: bool = False) -> list[str]:
    """Return the measures whose sums depend on the statement."""
    engine, fast = everything(db, copied, met)
    found = []
    for each in measures(db):
        sql, known = fast.statement(each), measure_sql(each)
        assert sql != known
        if sums(engine, each, sql) != sums(engine, each, known):
            found.append(sql)
    return found


def sums(engine: DuckDB, planned: MeasurePlan, sql: str) -> dict[str, tuple[object, ...]]:
    width = len(planned.keys)
    return {repr(row[:width]): row[width:] for row in engine._all(sql) if any(row[width:])}


@pytest.mark.parametrize("copied", [0, 1], ids=["by their links", "copied"])
@pytest.mark.parametrize("met", [True, False], ids=["by conditions", "of all rows"])
def test_the_sums_are_those_of_every_unit_alone(db: dpsql.Connection, copied: float, met: bool) -> None:
    assert differ(db, copied, met) == []


def test_what_is_found_out_is_not_shown(db: dpsql.Connection) -> None:
    _, fast = everything(db)
    for each in measures(db):
        fast.statement(each)
    units, repeated, totals = fast._units, fast._repeated, fast._totals
    found = [*units._tables.values(), *repeated._tables.values(), *totals._tables.values()]
    copies = [each.copy for each in units._tables.values() if each.copy is not None]
    assert copies
    for part in (fast, fast._extremes, fast._counts, units, repeated, totals, *found, *copies):
        if part is not None:
            assert repr(part) == f"{type(part).__name__}(not shown)"
            with pytest.raises(TypeError, match="never stored"):
                pickle.dumps(part)


def one_row_too_many(patch: pytest.MonkeyPatch) -> None:
    rows, squares = light_units.most_rows, light_units.most_squares

    def more(planned: MeasurePlan) -> int | None:
        most = squares(planned)
        return None if most is None else most + 100

    patch.setattr(special_units, "most_rows", lambda planned: rows(planned) + 1)
    patch.setattr(special_units, "most_squares", more)


def no_fan_out(patch: pytest.MonkeyPatch) -> None:
    sources = light_units.row_sources

    def single(relation: Relation) -> tuple[light_units.RowSource, ...]:
        return tuple(replace(each, fan=1) for each in sources(relation))

    patch.setattr(fast_sums, "row_sources", single)


def rows_of_nobody(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(corrected_sql, "rows_sql", _without_nobody(corrected_sql.rows_sql))


def _without_nobody(printed: Callable[..., object]) -> Callable[..., object]:
    def rows_sql(planned: MeasurePlan, reading: Reading, *given: object) -> object:
        if reading.only is not None and not reading.units:
            reading = replace(reading, keys="SELECT 0 WHERE false")
        return printed(planned, reading, *given)

    return rows_sql


def totals_of_a_quarter(patch: pytest.MonkeyPatch) -> None:
    most = UnitTotals._most
    patch.setattr(UnitTotals, "_most", lambda *given: f"({most(*given)}) / 4")


def totals_of_pairs_are_less(patch: pytest.MonkeyPatch) -> None:
    most = UnitTotals._most_of_pair
    patch.setattr(
        UnitTotals, "_most_of_pair", lambda *given: tuple(f"({each}) * 0.9" for each in most(*given))
    )


def offsets_of_missing_values(patch: pytest.MonkeyPatch) -> None:
    most = UnitTotals._most_of_pair

    def of_all(self: UnitTotals, first: Statistic, column: ScanColumn, fan: int) -> tuple[str, str]:
        return most(self, first, replace(column, fact=replace(column.fact, nullable=False)), fan)

    patch.setattr(UnitTotals, "_most_of_pair", of_all)


def those_among_fewer(patch: pytest.MonkeyPatch) -> None:
    printed = special_units.narrowed_sql

    def among_few(counted: Counted, links: str, rows: int, *given: Any) -> str:
        return printed(counted, links, rows * 2, *given)

    patch.setattr(special_units, "narrowed_sql", among_few)


def totals_with_half_of_the_rows(patch: pytest.MonkeyPatch) -> None:
    counted = UnitTotals.counted

    def halved(self: UnitTotals, scan: Scan) -> str | None:
        known = counted(self, scan)
        return None if known is None else f"(SELECT u, c // 2 AS c FROM {known} AS t)"

    patch.setattr(UnitTotals, "counted", halved)


def two_units_of_a_rank(patch: pytest.MonkeyPatch) -> None:
    printed = row_copies.copy_sql
    patch.setattr(
        special_units,
        "copy_sql",
        lambda *given: printed(*given).replace("SELECT h.r", "SELECT (h.r + 1) // 2 AS r"),
    )


def ranks_are_computed_with(patch: pytest.MonkeyPatch) -> None:
    read = row_copies.values_read
    patch.setattr(row_copies, "values_read", lambda *given: (read(*given) or frozenset()) - {"person_2"})


def others_have_a_listed_code(patch: pytest.MonkeyPatch) -> None:
    printed = row_copies.copy_sql
    patch.setattr(special_units, "copy_sql", lambda *given: printed(*given).replace("+ 1, 0)", "+ 1, 1)"))


def rows_of_the_first_table(patch: pytest.MonkeyPatch) -> None:
    heavy = special_units.heavy_sql
    patch.setattr(special_units, "heavy_sql", lambda counted, *given: heavy(counted[:1], *given))


def units_of_all_tables_from_the_first(patch: pytest.MonkeyPatch) -> None:
    of_several = SpecialUnits.of_several

    def special(self: SpecialUnits, *given: Any) -> corrected_sql.Special | None:
        found = of_several(self, *given)
        if found is None or found.units is None:
            return found
        first, *others = found.units.several.items()
        none = dict.fromkeys((scan for scan, _ in others), "SELECT 0 WHERE false")
        return replace(found, units=Reading(several=dict([first]) | none))

    patch.setattr(SpecialUnits, "of_several", special)


def keys_of_other_columns(patch: pytest.MonkeyPatch) -> None:
    keys = special_units.keys_of_several

    def of_visits(planned: MeasurePlan, several: list[Scan]) -> dict[Scan, tuple[ScanColumn, ...]]:
        found = keys(planned, several)
        return {scan: tuple(replace(key, source="visit") for key in found[scan]) for scan in found}

    patch.setattr(special_units, "keys_of_several", of_visits)


PLANTED = (
    *(one_row_too_many, no_fan_out, rows_of_nobody, totals_of_a_quarter, totals_with_half_of_the_rows),
    *(rows_of_the_first_table, units_of_all_tables_from_the_first),
    *(two_units_of_a_rank, ranks_are_computed_with, others_have_a_listed_code),
)


def test_a_condition_above_a_window_leaves_no_row_out(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: the rows that it leaves out are not counted."""
    counted = "SELECT visit AS v, COUNT(*) OVER (PARTITION BY person) AS i FROM lines"
    sql = f"SELECT COUNT(*) FROM ({counted} JOIN visits USING (visit)) WHERE v % 5 <> 0 AND i > 50"
    monkeypatch.setattr(sys.modules[__name__], "QUERIES", (sql,))
    assert differ(db, met=True) == []
    conditions = light_units._conditions

    def through(relation: Relation, scan: Scan) -> object:
        found = conditions(relation, scan)
        return None if found is None else (found[0], True)

    monkeypatch.setattr(light_units, "_conditions", through)
    assert differ(db, met=True)


def test_rows_that_a_join_with_public_rows_leaves_out_are_not_counted(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: all public rows but one are left out."""
    monkeypatch.setattr(sys.modules[__name__], "QUERIES", QUERIES[11:13])
    printed, asked = special_units_sql.relation_sql, list[str]()

    def first(relation: Relation, reading: Reading) -> str:
        asked.append(printed(relation, reading))
        return f"SELECT * FROM ({asked[-1]}) ORDER BY ALL LIMIT 1"

    assert differ(db, met=True) == []
    monkeypatch.setattr(special_units_sql, "relation_sql", first)
    assert differ(db, met=True)
    assert len(asked) == len(QUERIES)


WIDTHS = {"SMALLINT": 15, "INTEGER": 31, "BIGINT": 63, "HUGEINT": 127, "UBIGINT": 64, "UHUGEINT": 128}


def test_no_value_makes_a_condition_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB compares UHUGEINT with BIGINT as HUGEINT, and fails on what is beyond it. Planted: these too."""
    path, tables = tmp_path / "widths.duckdb", {"counts": "person", "steps": ""}
    ends = {
        kind: (0 if kind[0] == "U" else -(2**bits), 2**bits - 1, min(2**53 + 1, 2**bits - 1), 1)
        for kind, bits in WIDTHS.items()
    }
    with duckdb.connect(str(path)) as connection:
        for table, first in tables.items():
            columns = ", ".join([f"{first or 'step'} BIGINT", *(f"{kind}_ {kind}" for kind in WIDTHS)])
            connection.execute(f"CREATE TABLE {table} ({columns})")
            for row in range(4):
                values = ", ".join(f"'{ends[kind][row]}'::{kind}" for kind in WIDTHS)
                times = 9 if first else 1
                connection.execute(f"INSERT INTO {table} SELECT {row}, {values} FROM range({times})")
    listed = "".join(f"{kind}_ = {{}}\n" for kind in WIDTHS)
    path.with_suffix(".toml").write_text(
        '[budget]\nepsilon = 9\ndelta = 1e-6\n[unit]\nname = "person"\n[tables.counts]\n'
        'unit = { column = "person" }\nrows_per_unit = 4\n[tables.counts.columns]\nperson = {}\n'
        f"{listed}[tables.steps]\npublic = true\n"
    )
    monkeypatch.setattr(
        sys.modules[__name__],
        "QUERIES",
        tuple(
            f"SELECT COUNT(*) FROM counts c JOIN steps s ON c.{ours}_ = s.{theirs}_"
            for ours in WIDTHS
            for theirs in WIDTHS
        ),
    )
    with dpsql.connect(path) as opened:
        assert differ(opened, met=True) == []
        monkeypatch.setattr(light_units, "_of_64_bits", lambda kind: True)
        with pytest.raises(duckdb.ConversionException):
            differ(opened, met=True)


@pytest.mark.parametrize("copied", [0, 1], ids=["by their links", "copied"])
def test_scans_beside_have_the_rows_of_special_units(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch, copied: float
) -> None:
    """Planted: they have none."""
    monkeypatch.setattr(sys.modules[__name__], "QUERIES", QUERIES[14:17])
    assert differ(db, copied) == []
    table, read = Reading.table, list[str]()

    def without(reading: Reading, scan: Scan) -> str:
        if scan in reading.beside:
            read.append(table(reading, scan))
            reading = replace(reading, keys="SELECT 0 WHERE false", copy="", once={})
        return table(reading, scan)

    monkeypatch.setattr(Reading, "table", without)
    assert len(differ(db, copied)) == 3
    assert read


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__.replace("_", " "))
def test_planted_errors_are_found(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None]
) -> None:
    plant(monkeypatch)
    assert differ(db)


@pytest.mark.parametrize("db", [ZCDP], indirect=True)
@pytest.mark.parametrize(
    "plant",
    [keys_of_other_columns, totals_of_pairs_are_less, offsets_of_missing_values, those_among_fewer],
)
def test_errors_that_matter_in_l2_are_found(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None]
) -> None:
    plant(monkeypatch)
    assert differ(db)


@pytest.mark.parametrize("db", [ZCDP], indirect=True)
def test_a_lower_limit_of_rows_looks_at_more_units(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: those who were found among units of more rows serve it, too."""
    [planned] = plan_of(db._open(), "SELECT ward, SUM(cost) FROM visits GROUP BY ward", 1.0).measures

    def differs() -> bool:
        engine, fast = everything(db)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(special_units, "most_rows", lambda planned: 40)
            fast.statement(planned)
        sql = fast.statement(planned)
        return sums(engine, planned, sql) != sums(engine, planned, measure_sql(planned))

    assert not differs()
    found = special_units._Found
    monkeypatch.setattr(special_units, "_Found", lambda *given: found(*given[:4]))
    assert differs()


@pytest.mark.parametrize("db", [ZCDP], indirect=True)
def test_who_is_in_too_many_groups_is_special(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: squares say who is light, whatever number of groups is allowed."""
    asked = "SELECT place, COUNT(*), SUM(cost), SUM(stars), SUM(tax) FROM visits GROUP BY place"
    [planned] = plan_of(db._open(), asked, 1.0).measures
    few = replace(planned, groups=5)

    def differs() -> bool:
        engine, fast = everything(db)
        return sums(engine, few, fast.statement(few)) != sums(engine, few, measure_sql(few))

    assert not differs()
    squares = light_units.most_squares
    monkeypatch.setattr(special_units, "most_squares", lambda planned: squares(replace(planned, groups=None)))
    assert differs()


def test_units_that_a_measure_computes_with_are_read(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: they are not, and the statement has a column that is not there."""
    monkeypatch.setattr(corrected_sql, "reads_units", lambda measure: needs_units(measure.relation))
    with pytest.raises(duckdb.BinderException):
        differ(db)


def test_who_has_many_rows_is_not_found_anew_for_each_condition(db: dpsql.Connection) -> None:
    """But for one that comes often; many rows are copied when their columns are asked for again."""
    engine, made = everything(db)[0], list[str]()
    limits = replace(EVERYTHING, fewer=4, few=0, copies=1, at_once=0, copied=1)
    fast = FastSums(lambda sql: (made.append(sql), engine._all(sql))[1], limits)

    def found(sql: str) -> list[str]:
        [planned] = plan_of(db._open(), sql, 1.0).measures
        made.clear()
        fast.statement(planned)
        return [each.split('"')[1].split()[0] for each in made if each.startswith("CREATE")]

    asked = "SELECT COUNT(*) FROM visits WHERE stars < {0} AND cost > 2"
    assert found(asked.format(2)) == ["special", "special"]
    assert found(asked.format(3)) == ["rows"]
    assert [found(asked.format(number)) for number in (4, 6, 7, 6, 6, 6)] == [[]] * 6
    assert found(asked.format(6)) == ["special", "special"]
    fast = FastSums(fast.run, replace(limits, met=0.5, copied=0))
    assert found(asked.format(4)) == ["special", "special"]
    assert [found(asked.format(6)) for _ in range(9)] == [[]] * 9, "it leaves out one row"
    assert [found(asked.format(4)) for _ in range(4)] == [[], [], [], ["special", "special"]]


def test_special_rows_are_a_part_of_those_that_are_read(db: dpsql.Connection) -> None:
    """Planted: they are a part of the table, of which a condition leaves few."""
    engine = everything(db)[0]
    asked = {"": False, " WHERE person > 59": True}

    def alone() -> dict[str, bool]:
        """Whether each unit is summed."""
        fast, found = FastSums(engine._all, replace(EVERYTHING, most=0.9, few=0)), {}
        for where in asked:
            [planned] = plan_of(db._open(), f"SELECT SUM(stars) FROM visits{where}", 1.0).measures
            found[where] = fast.statement(planned) == measure_sql(planned)
        return found

    assert alone() == asked
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SpecialUnits, "_read", lambda self, those, size: size)
        assert alone() == dict.fromkeys(asked, False)


@pytest.mark.parametrize("db", [ZCDP], indirect=True)
def test_each_unit_is_summed_where_units_of_private_groups_are_counted(db: dpsql.Connection) -> None:
    engine = everything(db)[0]
    limits = replace(EVERYTHING, by_unit=True, repeated=0)
    for asked, alone in (
        ("SELECT place, COUNT(*), SUM(cost) FROM visits GROUP BY place", True),
        ("SELECT ward, COUNT(*), COUNT(DISTINCT person) FROM visits GROUP BY ward", False),
    ):
        [planned] = plan_of(db._open(), asked, 1.0).measures
        assert (FastSums(engine._all, limits).statement(planned) == measure_sql(planned)) is alone


def test_the_copies_that_were_used_longest_ago_make_room(db: dpsql.Connection) -> None:
    """But not for one that is too large for all the room there is."""
    engine = everything(db)[0]
    asked = {"visits": "SELECT SUM(cost) FROM visits", "lines": "SELECT SUM(amount) FROM lines"}

    def copied(room: int, *tables: str) -> dict[str, int]:
        fast = FastSums(engine._all, replace(EVERYTHING, copied=1, long=1, bytes=room, totals=NEVER))
        for table in tables:
            [planned] = plan_of(db._open(), asked[table], 1.0).measures
            sql = fast.statement(planned)
            assert sums(engine, planned, sql) == sums(engine, planned, measure_sql(planned))
        found = fast._units._tables.items()
        copies = {str(counted[0][0]): each.copy for counted, each in found}
        there = engine._all(
            "SELECT count(*) FROM duckdb_tables() WHERE temporary AND table_name LIKE 'rows %'"
        )
        assert there == [(sum(copy is not None for copy in copies.values()),)]
        fast.forget()
        return {table.strip('"'): copy.bytes for table, copy in copies.items() if copy}

    sizes = copied(2**28, "visits", "lines")
    assert sizes.keys() == asked.keys()
    most, least = max(sizes.values()), min(sizes.values())
    [small] = [table for table, size in sizes.items() if size == least]
    assert copied(most + least, "visits", "lines", "visits") == sizes
    assert copied(most + least - 1, "visits", "lines").keys() == {"lines"}
    assert copied(most + least - 1, "visits", "lines", "visits").keys() == {"visits"}
    assert copied(most - 1, "visits", "lines", "visits", "lines").keys() == {small}


@pytest.mark.parametrize("at_its_end", [False, True])
def test_an_interrupt_leaves_no_table_that_nothing_names(db: dpsql.Connection, at_its_end: bool) -> None:
    """A third of the statements that make tables, drop them or look at them, before their end or at it."""
    engine, limits = everything(db)[0], replace(EVERYTHING, few=0, bytes=30_000, copied=1, long=1)
    stopped, drawn = set[str](), random.Random(7)

    def run(sql: str) -> list[tuple[object, ...]]:
        if "temp.main" in sql and drawn.random() < 1 / 3:
            stopped.add(sql.split()[0])
            if at_its_end:
                engine._all(sql)
            raise KeyboardInterrupt
        return engine._all(sql)

    fast = FastSums(run, limits)
    for each in measures(db):
        for _ in range(3):
            with suppress(KeyboardInterrupt):
                fast.statement(each)
    assert stopped >= {"CREATE", "DROP", "SELECT"}
    for _ in range(100):
        with suppress(KeyboardInterrupt):
            fast.forget()
    assert engine._all("SELECT table_name FROM duckdb_tables() WHERE temporary") == []


def test_copies_have_ranks_and_codes_where_no_scalar_reads_them(db: dpsql.Connection) -> None:
    """Of ten queries by ward some compute with it or with the unit; too large a copy is not made."""
    engine, fast = everything(db)
    coded, ranked, made = [], [], list[str]()
    fast._units.run = lambda sql: (made.append(sql), engine._all(sql))[1]
    for each in measures(db):
        statement = fast.statement(each)
        coded += [statement] if "list_extract" in statement else []
        ranked += [statement] if '"rows ' in statement and "t0.r AS" in statement else []
    assert len(coded) >= 5
    assert not any("<> 'b'" in statement for statement in coded)
    assert not any("% " in statement for statement in ranked)
    assert any("enum_code" in sql for sql in made)
    small = FastSums(engine._all, replace(fast.limits, bytes=0))
    assert not any('"rows ' in small.statement(each) for each in measures(db))


def test_rows_that_a_condition_leaves_out_are_copied_too(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There may be too many of them, though few meet the condition."""
    monkeypatch.setattr(sys.modules[__name__], "QUERIES", QUERIES[-2:])
    too_many, copied = 0, 0
    for size in (10_000, 30_000, 100_000):
        engine, fast = everything(db, met=True)
        fast = FastSums(engine._all, replace(fast.limits, bytes=size))
        for each in measures(db):
            sql = fast.statement(each)
            assert sums(engine, each, sql) == sums(engine, each, measure_sql(each))
            by_conditions = [found for found in fast._units._tables.values() if found.where]
            too_many += sum(found.too_many for found in by_conditions)
            copied += sum(found.copy is not None for found in by_conditions)
        fast.forget()
    assert too_many
    assert copied
    assert not engine._all("SELECT 1 FROM duckdb_tables() WHERE temporary AND table_name LIKE 'rows %'")


@pytest.mark.parametrize("stray", ["1e17", "-1e17", "'nan'", "'inf'", "'-inf'", "100.00000000000001"])
def test_one_stray_is_clamped(db: dpsql.Connection, tmp_path: Path, stray: str) -> None:
    """A stray among the rows of a light unit keeps the clamps."""
    path = tmp_path / "stray.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SCHEMA)
        connection.execute(f"UPDATE visits SET cost = {stray}::DOUBLE WHERE visit = 3")
    path.with_suffix(".toml").write_text(POLICY.format(delta=ZCDP))
    with dpsql.connect(path) as opened:
        assert differ(opened) == []


OF_PEOPLE = """
[budget]
epsilon = 1000
delta = 1e-6
[query]
epsilon = 1.0
[unit]
name = "person"
table = "people"
key = "person"
[tables.people.columns]
person = {}
"""
EXACT = """
CREATE TABLE sales (
    person BIGINT, price DECIMAL(15,2), off DECIMAL(15,2), i INTEGER, j INTEGER, weight DECIMAL(15,4)
);
INSERT INTO sales SELECT person, 104949.57, 0.1, 1 + n, person, 49999.5555 - n % 2
FROM range(1, 61) AS p(person), range(60) AS r(n) WHERE n < person;
"""
EXACT_POLICY = f"""{OF_PEOPLE}[tables.sales]
unit = {{ column = "person" }}
rows_per_unit = 20
[tables.sales.columns]
person = {{}}
price = {{ range = [0, 105000] }}
off = {{ range = [0, 0.1] }}
i = {{ range = [0, 60] }}
j = {{ range = [0, 60] }}
weight = {{ range = [0, 49999.5555] }}
"""
ROUNDED = "SELECT SUM(weight), AVG(weight), AVG(price), SUM(price * off) FILTER (WHERE i > 3) FROM sales"
PRODUCTS = "SELECT SUM(price * (1 - off) * (1 + off)), SUM(i * j + i), SUM(price * (i - j)) FROM sales"
STRAYS = (
    "price = 9999999999999.99, off = -9999999999999.99, i = 2147483647, j = 2147483647",
    "price = -9999999999999.99, off = -9999999999999.99, i = -2147483648, j = -2147483648",
)


ANY = pytest.mark.parametrize("sales", [None, *STRAYS], indirect=True, ids=["in range", "above", "below"])


@pytest.fixture
def sales(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[dpsql.Connection, bool]]:
    """Decimals and whole numbers whose products overflow if one person's are strays."""
    path = tmp_path / "sales.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SCHEMA + EXACT)
        if request.param:
            connection.execute(f"UPDATE sales SET {request.param} WHERE person = 3")
    path.with_suffix(".toml").write_text(EXACT_POLICY)
    monkeypatch.setattr(sys.modules[__name__], "QUERIES", (PRODUCTS,))
    with dpsql.connect(path) as opened:
        yield opened, request.param is not None


@ANY
def test_products_that_cannot_overflow_are_not_guarded(sales: tuple[dpsql.Connection, bool]) -> None:
    opened, strays = sales
    assert differ(opened) == []
    [planned] = measures(opened)
    _, fast = everything(opened)
    assert "abs(" in measure_sql(planned)
    assert ("abs(" in fast.statement(planned).split("UNION ALL")[0]) == strays


@ANY
def test_decimals_are_rounded_in_all_statements(
    sales: tuple[dpsql.Connection, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A weight of 49999.5555 is one of 49999.56, and is clamped as such; a price is what it is."""
    opened, strays = sales
    monkeypatch.setattr(sys.modules[__name__], "QUERIES", (ROUNDED,))
    assert differ(opened) == []
    [planned] = measures(opened)
    assert [each.digits for each in planned.measure.statistics] == [2, 2, None, None, 3]
    if not strays:
        monkeypatch.setattr(Extremes, "of_argument", lambda self, each, rows: self.ends(each.argument, rows))
        assert differ(opened)  # planted: what is rounded up at the end is taken to be in range


@pytest.mark.parametrize("sales", STRAYS, indirect=True, ids=["above", "below"])
def test_extremes_without_strays_are_found(
    sales: tuple[dpsql.Connection, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: the guards are dropped as if nobody had strays."""
    monkeypatch.setattr(Extremes, "interval", lambda *_: Interval(0, 100))
    with pytest.raises(duckdb.OutOfRangeException, match="Overflow"):
        differ(sales[0])


@pytest.mark.parametrize("stray", [1e308, -1e308])
def test_a_stray_factor_may_be_of_any_size(tmp_path: Path, stray: float) -> None:
    """Divided by the grid's step, it is infinite: then totals show nothing, and nothing fails."""
    path = tmp_path / "factor.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SCHEMA)
        connection.execute("UPDATE visits SET cost = 1")
        connection.execute(f"UPDATE visits SET tax = {stray!r} WHERE visit = 3")
    path.with_suffix(".toml").write_text(POLICY.format(delta=ZCDP))
    with dpsql.connect(path) as opened:
        assert differ(opened) == []


OF_ANOTHER_TYPE = """
INSERT INTO people SELECT -person FROM people;
CREATE TABLE logs (person SMALLINT, cost DOUBLE);
INSERT INTO logs SELECT -person, 100 FROM range(1, 61) AS p(person), range(60) AS r(n) WHERE n < person;
"""
LOGS = """[tables.logs]
unit = { column = "person" }
rows_per_unit = 20
[tables.logs.columns]
person = {}
cost = { range = [0, 100] }
"""


def test_a_condition_on_a_unit_of_another_type_means_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """-1 has 64 bits as the BIGINT that a unit is, and 16 as the SMALLINT that is stored."""
    path = tmp_path / "logs.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SCHEMA + OF_ANOTHER_TYPE)
    path.with_suffix(".toml").write_text(OF_PEOPLE + LOGS)
    sql = "SELECT COUNT(*), SUM(cost) FROM logs WHERE bit_count(person) > 20"
    monkeypatch.setattr(sys.modules[__name__], "QUERIES", (sql,))
    with dpsql.connect(path) as opened:
        assert differ(opened, met=True) == []


FAR = """
CREATE TABLE events (person BIGINT, ms DECIMAL(18, 3), day DECIMAL(17, 4), far DECIMAL(18, 4));
INSERT INTO events SELECT person, 1700000000005.123, 1700000000005.1234, 99999999999999.0078
FROM range(1, 61) AS p(person), range(60) AS r(n) WHERE n < person;
"""
EVENTS = """[tables.events]
unit = { column = "person" }
rows_per_unit = 20
[tables.events.columns]
person = {}
ms = { range = [1700000000000, 1700000000010] }
day = { range = [1700000000000, 1700000000010] }
far = { range = [99999999990000, 99999999999999] }
"""


def test_decimals_far_from_zero_are_cells_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A DOUBLE of 1700000000005.123 is off by more than a grid step of [.000, 10.000] above it."""
    path = tmp_path / "events.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SCHEMA + FAR)
    path.with_suffix(".toml").write_text(OF_PEOPLE + EVENTS)
    queries = (
        "SELECT AVG(ms) FROM events",
        "SELECT AVG(day), COUNT(*) FROM events",
        "SELECT AVG(far) FROM events",
    )
    monkeypatch.setattr(sys.modules[__name__], "QUERIES", queries)
    with dpsql.connect(path) as opened:
        assert differ(opened) == []


def test_a_schema_may_be_called_temp(tmp_path: Path) -> None:
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SCHEMA)
        connection.execute("CREATE SCHEMA clinic.temp")
    path.with_suffix(".toml").write_text(POLICY.format(delta=ZCDP))
    with dpsql.connect(path) as opened:
        assert differ(opened) == []


ODD = """
CREATE TABLE h (u BIGINT UNIQUE, k BIGINT, n VARCHAR, c DOUBLE, "#n" DOUBLE, "s c" DOUBLE, t BIGINT);
INSERT INTO h SELECT row_number() OVER (), p, ['a', 'b'][1 + r % 2], r % 10, 1, 2, 3
FROM range(1, 61) AS p(p), range(60) AS r(r) WHERE r < p;
CREATE TABLE o (k BIGINT, c DOUBLE, n VARCHAR, p0 VARCHAR, x0 DOUBLE);
INSERT INTO o SELECT u, c, n, n, 4 FROM h UNION ALL SELECT 99999, 1, 'a', 'b', 4;
"""
ODD_POLICY = f"""{OF_PEOPLE}[tables.h]
key = "u"
unit = {{ column = "k" }}
rows_per_unit = 20
[tables.h.columns]
u = {{}}
k = {{}}
n = {{ values = ["a", "b"] }}
c = {{ range = [0, 9] }}
"#n" = {{ range = [0, 1] }}
"s c" = {{ range = [0, 2] }}
t = {{ range = [0, 3] }}
[tables.o]
unit = {{ column = "k", references = "h.u" }}
rows_per_unit = 20
[tables.o.columns]
k = {{}}
c = {{ range = [0, 9] }}
n = {{ values = ["a", "b"] }}
p0 = {{ values = ["a", "b"] }}
x0 = {{ range = [0, 4] }}
"""


@pytest.mark.parametrize("copied", [0, 1], ids=["by their links", "copied"])
def test_columns_may_have_any_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copied: float) -> None:
    path = tmp_path / "odd.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT range AS person FROM range(1, 61);" + ODD)
    path.with_suffix(".toml").write_text(ODD_POLICY)
    asked = (
        'SELECT n, COUNT(*), SUM(c), SUM("#n"), SUM("s c"), SUM(t) FROM h GROUP BY n',
        "SELECT SUM(c) FROM h",
        "SELECT n, p0, COUNT(*), SUM(c), SUM(x0) FROM o GROUP BY n, p0",
        "SELECT SUM(o.c), SUM(h.c) FROM o JOIN h ON o.k = h.u",
    )
    monkeypatch.setattr(sys.modules[__name__], "QUERIES", asked)
    with dpsql.connect(path) as opened:
        assert differ(opened, copied) == []


def test_a_unit_without_values_in_a_column_has_totals_of_others(tmp_path: Path) -> None:
    """NULL in all rows of the units above the clip: what they add to another sum is clipped all the same."""
    path = tmp_path / "nulls.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SCHEMA)
        connection.execute("UPDATE visits SET tax = NULL WHERE person > 20")
    path.with_suffix(".toml").write_text(POLICY.format(delta=ZCDP))
    with dpsql.connect(path) as opened:
        assert differ(opened) == []


def test_the_database_keeps_null_out_of_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then no condition does; planted: a condition is left out where a line has no visit."""
    monkeypatch.setattr(
        sys.modules[__name__], "QUERIES", ("SELECT ward, SUM(amount) FROM lines GROUP BY ward",)
    )
    missing = '"visit" IS NOT NULL'
    for rows, filled in (("DELETE FROM lines WHERE visit IS NULL", " NOT NULL"), ("", "")):
        path = tmp_path / f"link{len(filled)}.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(SCHEMA)
            connection.execute(rows)
            if filled:
                connection.execute("ALTER TABLE lines ALTER visit SET NOT NULL")
        path.with_suffix(".toml").write_text(POLICY.format(delta=ZCDP))
        with dpsql.connect(path) as opened:
            assert differ(opened) == []
            _, sums = everything(opened)
            (planned,) = measures(opened)
            assert (missing in sums.statement(planned)) is not bool(filled)
    original = Link.__init__

    def planted(self: Link, *values: Any, **named: Any) -> None:
        original(self, *values, **named)
        object.__setattr__(self, "filled", True)

    monkeypatch.setattr(Link, "__init__", planted)
    check._check.cache_clear()  # what was checked before the error was planted
    with dpsql.connect(path) as opened:
        assert differ(opened)
    check._check.cache_clear()


def test_sums_too_large_for_doubles_are_whole() -> None:
    assert fits(2**20, 2**32)
    assert not fits(2**20, 2**33)
    assert not fits(1, 2**50)
    assert fits(2**20, 2**29, CELL)
    assert not fits(2**20, 2**30, CELL)


@pytest.mark.parametrize("db", [ZCDP], indirect=True, ids=["zcdp"])
def test_sums_that_may_be_too_large_are_bounded(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a limit so low that units of 42 rows pass it; planted: none is thought to."""
    for module in (measure_sql_module, corrected_sql, fast_sums):
        monkeypatch.setattr(module, "CELL", 2**25)
    monkeypatch.setattr(sys.modules[__name__], "QUERIES", ("SELECT COUNT(*), SUM(cost) FROM visits",))
    assert differ(db) == []
    monkeypatch.setattr(fast_sums, "fits", lambda rows, most, below=0: fits(rows, most))
    assert differ(db)


def test_rounding_by_addition_is_rounding(db: dpsql.Connection) -> None:
    """Ties of both signs, numbers of all sizes, and the sums of a million cells."""
    engine = db._open().engine
    assert isinstance(engine, DuckDB)
    assert engine._all(TIES) == [(True,)]
    cells = "SELECT (random() - .5e0) * pow(2, n % 51) AS z, n // 2 + .5e0 AS tie FROM range(1000000) AS t(n)"
    both = [f"{way.summed(way.rounded(z))}::HUGEINT" for z in ("z / 1024", "tie") for way in (WHOLE, DOUBLES)]
    [(whole, doubles, of_ties, in_doubles)] = engine._all(
        f"WITH t AS MATERIALIZED ({cells}) SELECT {', '.join(both)} FROM t"
    )
    assert (whole, of_ties) == (doubles, in_doubles)


SHARED_UNIT = """[budget]
epsilon = 100
delta = 1e-6
[query]
epsilon = 1.0
max_epsilon = 10.0
[unit]
name = "patient"
table = "patients"
key = ["hospital", "number"]
[tables.patients.columns]
age = { range = [0, 100] }
[tables.visits]
unit = { column = ["clinic", "patient"] }
rows_per_unit = 20
[tables.visits.columns]
clinic = { values = ["b", "a", "zz"] }
ward = { values = ["x", "y"] }
cost = { range = [0, 90] }
"""


def test_a_key_that_is_a_part_of_the_unit_has_no_code(tmp_path: Path) -> None:
    """It is cast with the unit where its types differ: a unit of many rows once made the query fail."""
    data = tmp_path / "parts.duckdb"
    with duckdb.connect(str(data)) as connection:
        connection.execute(
            """CREATE TABLE patients (hospital VARCHAR, number BIGINT, age INTEGER);
            INSERT INTO patients SELECT ['a', 'b'][1 + i % 2], i, 5 FROM range(6001) AS r(i);
            CREATE TABLE visits (clinic VARCHAR, patient INTEGER, ward VARCHAR, cost DOUBLE);
            INSERT INTO visits SELECT ['a', 'b'][1 + i % 2], i, ['x', 'y'][1 + k % 2], 5
            FROM range(6000) AS r(i), range(10) AS s(k);
            INSERT INTO visits SELECT 'a', 6000, 'x', 5 FROM range(300)"""
        )
    data.with_suffix(".toml").write_text(SHARED_UNIT)
    with dpsql.connect(data) as db:
        db.execute("SELECT COUNT(*) FROM visits")
        assert len(db.execute("SELECT clinic, COUNT(*), SUM(cost) FROM visits GROUP BY clinic").rows) == 3
