"""Numbers that are measured together: their cells, what a unit moves, what is released, and its margins."""

from __future__ import annotations

import itertools
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.oracles import sensitivity, without_noise
from dpsql.detail_kinds import Draw
from dpsql.engines.duckdb import DuckDB
from dpsql.ir.plan import MeasurePlan, Norm, Plan, PublicKeys, Shape
from dpsql.mechanisms import mechanism
from dpsql.mechanisms.strategies.design import Design
from dpsql.mechanisms.strategies.strategy import column
from dpsql.post.finish import finish
from dpsql.post.joint import numbers_of
from dpsql.release.matrices import measured
from dpsql.release.release import release
from dpsql.workload import cells as workload_cells

POLICY = """
[budget]
epsilon = 1e6
delta = {delta}
accountant = "{accountant}"
[query]
max_epsilon = 100
[unit]
table = "people"
key = "id"
[tables.people.columns]
age = {{ range = [0, 99] }}
sex = {{ values = ["F", "M"] }}
ward = {{ values = ["a", "b", "c"] }}
smoker = {{}}
pay = {{ range = [-50, 400] }}
[tables.visits]
unit = {{ column = "id" }}
rows_per_unit = 4
[tables.visits.columns]
day = {{ range = [0, 99] }}
kind = {{ values = ["x", "y", "z"] }}
cost = {{ range = [0, 20] }}
"""

DELTAS = {"pure": 0.0, "zcdp": 1e-6}

PEOPLE = """
CREATE TABLE people AS SELECT i AS id,
    CASE WHEN i % 11 > 0 THEN hash(i, 1) % 100 END::INTEGER AS age,
    CASE hash(i, 2) % 5 WHEN 0 THEN NULL WHEN 1 THEN 'other' WHEN 2 THEN 'M' ELSE 'F' END AS sex,
    ['a', 'b', 'c'][(hash(i, 3) % 3)::INTEGER + 1] AS ward,
    CASE hash(i, 4) % 3 WHEN 0 THEN true WHEN 1 THEN false END AS smoker,
    CASE WHEN i % 13 > 0 THEN hash(i, 7) % 45000 / 100 - 50 END::DECIMAL(9, 2) AS pay
FROM range({people}) AS t(i)
"""
VISITS = """
CREATE TABLE visits AS SELECT id, (hash(id, k, 5) % 100)::INTEGER AS day,
    ['x', 'y', 'z'][(hash(id, k, 6) % 3)::INTEGER + 1] AS kind, hash(id, k, 8) % 80 / 4 AS cost
FROM people, range(3) AS t(k)
UNION ALL SELECT 1, k % 100, 'x', 20 FROM range({many}) AS t(k)
"""

CUBE = "SELECT ward, sex, smoker, COUNT(*) AS n FROM people GROUP BY CUBE (ward, sex, smoker)"
NESTED = "SELECT " + ", ".join(
    [
        *(f"COUNT(*) FILTER (WHERE age < {age}) AS n{age}" for age in range(10, 100, 10)),
        "COUNT(age) AS known",
        "COUNT(*) FILTER (WHERE NOT (sex = 'F' AND age >= 30)) AS neither",
        "COUNT(*) FILTER (WHERE smoker OR age // 10 = 3) AS mixed",
        "COUNT(*) AS all_of_them FROM people",
    ]
)
DAYS = "SELECT kind, " + ", ".join(
    [
        *(f"COUNT(*) FILTER (WHERE day < {day}) AS d{day}" for day in range(5, 100, 5)),
        "COUNT(*) AS n FROM visits",
    ]
)
DAYS += " GROUP BY ROLLUP (kind)"
AGES = "SELECT ward, sex, smoker, SUM(age) AS n FROM people GROUP BY CUBE (ward, sex, smoker)"
PAID = "SELECT " + ", ".join(
    [
        *(f"SUM(pay) FILTER (WHERE age < {age}) AS n{age}" for age in range(10, 100, 10)),
        "SUM(pay) FILTER (WHERE smoker OR sex = 'F') AS mixed",
        "SUM(pay) AS all_of_it FROM people",
    ]
)
COSTS = DAYS.replace("COUNT(*)", "SUM(cost)")
SUMS = [AGES, PAID, COSTS]
ASKED = [CUBE, NESTED, DAYS, *SUMS]


def built(folder: Path, accountant: str, people: int = 600, without: int | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    data = folder / "data.duckdb"
    with duckdb.connect(str(data)) as connection:
        connection.execute(PEOPLE.format(people=people))
        connection.execute("ALTER TABLE people ADD PRIMARY KEY (id)")
        connection.execute(VISITS.format(many=60))
        if without is not None:
            connection.execute(f"DELETE FROM visits WHERE id = {without}")
            connection.execute(f"DELETE FROM people WHERE id = {without}")
    shutil.copy(data, folder / "plain.duckdb")
    data.with_suffix(".toml").write_text(POLICY.format(accountant=accountant, delta=DELTAS[accountant]))
    return data


@pytest.fixture(scope="module", params=["zcdp", "pure"])
def data(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("joint"), request.param)


@pytest.fixture
def db(data: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(str(data)) as connection:
        yield connection


def planned(db: dpsql.Connection, sql: str) -> MeasurePlan:
    (each,) = plan_of(db._open(), sql, 1.0).measures
    return each


def seeded(seed: object) -> Draw:
    words = random.Random(str(seed))
    return lambda noise, size: mechanism(noise.mechanism).draw(noise.scale, size, words.randbytes)


@pytest.mark.parametrize("sql", ASKED)
def test_meaning(db: dpsql.Connection, data: Path, sql: str) -> None:
    """NULL, and values that are on no list, count where the conditions say so."""
    if sql in (DAYS, COSTS):  # without the one whose visits are scaled down
        sql = sql.replace("FROM visits", "FROM (SELECT * FROM visits WHERE id <> 1)")
    joint = planned(db, sql).joint
    assert joint is not None
    ours = without_noise(db, sql, 1.0)
    with duckdb.connect(str(data.with_name("plain.duckdb")), read_only=True) as plain:
        theirs = plain.execute(sql).fetchall()
    keys = 3 if "CUBE" in sql else sql.count(" GROUP BY ")
    told, expected = (
        sorted(
            (str((*row[:keys], place)), round(float(number), 6))  # a NULL may stand for all values
            for row in rows
            if row[1] != "other"
            for place, number in enumerate(row[keys:])
            if number
        )
        for rows in (ours, theirs)
    )
    assert told == expected


def test_a_long_list_is_no_deep_expression(tmp_path: Path) -> None:
    """A cell for each of 256 values, and of NULL: a plan may be nested 300 deep or so, for Python."""
    data = tmp_path / "data.duckdb"
    with duckdb.connect(str(data)) as connection:
        connection.execute("CREATE TABLE visits AS SELECT i % 300 AS id, i % 256 AS n FROM range(900) t(i)")
    data.with_suffix(".toml").write_text(
        '[budget]\nepsilon = 100\ndelta = 1e-6\naccountant = "approx"\n[query]\nmax_epsilon = 50\n'
        '[unit]\nname = "person"\n[tables.visits]\nunit = { column = "id" }\nrows_per_unit = 200\n'
        "[tables.visits.columns]\nn = { range = [0, 255] }\n"
    )
    few, none = "COUNT_IF(NOT (n IN (1, 2, 5)))", "COUNT_IF(NULLIF(ABS(3), 0) IS NULL)"
    sql = f"SELECT n, COUNT(*), {few}, {none} FROM visits GROUP BY n"
    with dpsql.connect(str(data)) as db:
        (each,) = plan_of(db._open(), sql, 50.0).measures
        assert each.joint is not None
        shown = [n for n, *_ in db.execute(sql, epsilon=50).rows]
        assert sorted(n for n in shown if n is not None) == [*range(256)]  # noise shows NULL now and then


def test_sums_measured_together_say_what_they_are_rounded_to(tmp_path: Path) -> None:
    data = tmp_path / "data.duckdb"
    with duckdb.connect(str(data)) as connection:
        connection.execute("CREATE TABLE visits AS SELECT i AS id, 1::DECIMAL(12, 4) AS x FROM range(9) t(i)")
    data.with_suffix(".toml").write_text(
        '[budget]\nepsilon = 100\ndelta = 1e-6\n[unit]\nname = "person"\n[tables.visits]\n'
        'unit = { column = "id" }\nrows_per_unit = 2\n[tables.visits.columns]\nx = { range = [0, 2000] }\n'
    )
    sums = ", ".join(f"SUM(x) FILTER (WHERE x < {1500 + 30 * i})" for i in range(16))
    with dpsql.connect(str(data)) as db:
        each = planned(db, f"SELECT {sums} FROM visits")
    assert each.joint is not None
    assert {statistic.digits for statistic in each.measure.statistics} == {3}


def test_sums_of_zeros_are_measured_together(tmp_path: Path) -> None:
    """Their grid steps are so small that 1 is 2^920 of them."""
    data = built(tmp_path, "zcdp", people=60)
    zeros = ", ".join(
        f"SUM(LEAST(GREATEST(0, 0), 10)) FILTER (WHERE age >= {age})" for age in range(0, 60, 5)
    )
    sql = f"SELECT sex, {zeros} FROM people GROUP BY GROUPING SETS ((1), ())"
    with dpsql.connect(str(data)) as db:
        assert planned(db, sql).joint is not None
        assert {number for row in db.execute(sql, epsilon=1).rows for number in row[1:]} == {0}


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory: pytest.TempPathFactory) -> tuple[DuckDB, list[tuple[str, DuckDB]]]:
    folder = tmp_path_factory.mktemp("neighbours")
    whole = DuckDB(built(folder / "whole", "zcdp"))
    fewer = [
        (f"person {each}", DuckDB(built(folder / str(each), "zcdp", without=each))) for each in (1, 2, 11)
    ]
    return whole, fewer


@pytest.mark.parametrize("sql", ASKED)
def test_one_unit_moves_no_more_than_is_declared(
    db: dpsql.Connection, neighbours: tuple[DuckDB, list[tuple[str, DuckDB]]], sql: str
) -> None:
    whole, fewer = neighbours
    plan = plan_of(db._open(), sql, 1.0)
    assert sensitivity(plan, whole, fewer) == []
    inner = plan.measures[0].measured
    ours, theirs = (measured(engine.measure(inner), inner) for engine in (whole, fewer[0][1]))
    moved = sum(abs(a - b) ** inner.noise.norm.value for a, b in zip(ours, theirs, strict=True))
    assert moved > (inner.noise.sensitivity // (8 if sql in SUMS else 4)) ** inner.noise.norm.value


def _short(plan: Plan) -> Plan:
    """Declare a quarter of the norm of columns."""
    inner = plan.measures[0].measured
    return _with(plan, replace(inner, noise=replace(inner.noise, sensitivity=inner.noise.sensitivity // 4)))


def _in_l2(plan: Plan) -> Plan:
    """Clip in L2, as if a unit had its rows in one cell."""
    inner = plan.measures[0].measured
    assert inner.applied is not None
    wide = replace(
        inner, applied=None, noise=replace(inner.noise, norm=Norm.L2, sensitivity=inner.applied.clip)
    )
    return _with(plan, replace(wide, shape=Shape.CELLS))


def _with(plan: Plan, inner: MeasurePlan) -> Plan:
    (stage,) = plan.stages
    return replace(plan, stages=(replace(stage, measures=(inner,)),))


@pytest.mark.parametrize("sql", [DAYS, COSTS], ids=["counts", "sums"])
def test_a_norm_that_is_too_small_is_found(
    db: dpsql.Connection, neighbours: tuple[DuckDB, list[tuple[str, DuckDB]]], sql: str
) -> None:
    whole, fewer = neighbours
    plan = plan_of(db._open(), sql, 1.0)
    assert sensitivity(plan, whole, fewer) == []
    assert sensitivity(_short(plan), whole, fewer) != []


@pytest.mark.parametrize("sql", [DAYS, COSTS], ids=["counts", "sums"])
def test_a_clip_in_l2_is_found(
    db: dpsql.Connection, neighbours: tuple[DuckDB, list[tuple[str, DuckDB]]], sql: str
) -> None:
    """A unit of four rows in four cells has an L2 norm of two, and its L1 norm may be eight in sixteen."""
    whole, fewer = neighbours
    plan = plan_of(db._open(), sql, 1.0)
    inner = plan.measures[0].measured
    assert inner.applied is not None
    clipped = _in_l2(plan).measures[0]
    ours, theirs = (engine.measure(clipped) for engine in (whole, fewer[0][1]))
    moved = [a - b for a, b in zip(measured(ours, inner), measured(theirs, inner), strict=True)]
    power = inner.noise.norm.value
    assert sum(abs(n) ** power for n in moved) > inner.noise.sensitivity**power


def test_a_row_in_two_cells_is_found(
    db: dpsql.Connection,
    neighbours: tuple[DuckDB, list[tuple[str, DuckDB]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each row is read twice, once as it is and once as if it was in the next cell."""
    whole, fewer = neighbours
    plan = plan_of(db._open(), NESTED, 1.0)
    measure = DuckDB.measure

    def twice(self: DuckDB, planned: MeasurePlan) -> object:
        exact = measure(self, planned)
        exact.sums = exact.sums + np.roll(exact.sums, 1, axis=0)
        return exact

    assert sensitivity(plan, whole, fewer) == []
    monkeypatch.setattr(DuckDB, "measure", twice)
    assert sensitivity(plan, whole, fewer) != []


def test_totals_are_the_sums_of_their_parts(db: dpsql.Connection) -> None:
    """Noise and all: whoever smokes, does not, or does not say, is everybody."""
    each = planned(db, CUBE)
    assert isinstance(each.rule, PublicKeys)
    inner = each.measured
    cells = release(db._open().engine.measure(inner), inner, seeded("cells"))
    table = numbers_of(cells, each, every_group=True)
    numbers = dict(zip(table.groups, table.sums[:, 0].tolist(), strict=True))
    by_keys = {positions: number for number, positions in each.rule.sets}
    parts = Counter[tuple[object, ...]]()
    for (number, ward, sex, _), rows in numbers.items():
        if number == by_keys[1, 2, 3]:
            parts[ward, sex] += rows
    totals = {group[1:3]: rows for group, rows in numbers.items() if group[0] == by_keys[1, 2]}
    assert len(totals) == 12
    assert totals == parts


@pytest.mark.parametrize("sql", ASKED)
def test_margins_hold(db: dpsql.Connection, sql: str) -> None:
    """Of 100 releases; the bytes are seeded."""
    each = planned(db, sql)
    inner = each.measured
    exact = db._open().engine.measure(inner)
    truth = numbers_of(release(exact, inner, lambda noise, size: np.zeros(size, np.int64)), each, True)
    held = counted = 0
    for number in range(100):
        table = numbers_of(release(exact, inner, seeded((sql, number))), each, True)
        for at, found in enumerate(finish(table, each)[len(each.keys) :]):
            true = truth.sums[:, at] * float(each.measure.statistics[at].step)
            assert found.margins is not None
            away = np.abs(np.array(found.values, dtype=np.float64) - true)
            held += int((away <= found.margins).sum())
            counted += len(away)
    assert 0.935 <= held / counted <= 0.985


@pytest.mark.parametrize("sql", [CUBE, NESTED])
def test_margins_hold_where_rounding_is_as_large_as_noise(tmp_path: Path, sql: str) -> None:
    """A deviation of about half a row; of 40 releases, the bytes are seeded."""
    with dpsql.connect(str(built(tmp_path / "zcdp", "zcdp"))) as db:
        (each,) = plan_of(db._open(), sql, 20.0).measures
        inner = each.measured
        exact = db._open().engine.measure(inner)
        truth = numbers_of(release(exact, inner, lambda noise, size: np.zeros(size, np.int64)), each, True)
        held = list[bool]()
        for number in range(40):
            table = numbers_of(release(exact, inner, seeded((sql, number))), each, True)
            for at, found in enumerate(finish(table, each)[len(each.keys) :]):
                assert found.margins is not None
                away = np.abs(np.array(found.values, dtype=np.float64) - truth.sums[:, at] / 2.0**20)
                held += (away <= found.margins).tolist()
        assert np.mean(held) >= 0.95


@pytest.mark.parametrize("sql", ASKED)
def test_the_error_is_the_expected_one(db: dpsql.Connection, sql: str) -> None:
    """The mean square over 300 releases; whole numbers add up to a sixth of one."""
    each = planned(db, sql)
    inner = each.measured
    assert each.joint is not None
    exact = db._open().engine.measure(inner)
    truth = numbers_of(release(exact, inner, lambda noise, size: np.zeros(size, np.int64)), each, True)
    squares = [
        np.square(
            (numbers_of(release(exact, inner, seeded((sql, n, 0))), each, True).sums - truth.sums) / 2.0**20
        ).mean()
        for n in range(300)
    ]
    deviation = mechanism(inner.noise.mechanism).deviation(inner.noise.scale) / 2.0**20
    expected = float(np.square(each.joint.deviations()).mean()) * deviation**2
    assert expected * 0.9 <= np.mean(squares) <= expected * 1.1 + 1 / 6


def test_last_bits_change_no_digest(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another machine finds a matrix that differs in its last bits: the same noise and digest."""
    from dpsql.plan import joint

    before = plan_of(db._open(), NESTED, 1.0)
    rounded = Design.rounded
    monkeypatch.setattr(
        Design,
        "rounded",
        lambda self, shift: rounded(replace(self, matrix=self.matrix * (1 - 1e-12)), shift),
    )
    joint.strategies.cache_clear()
    shutil.rmtree(db._open().strategies, ignore_errors=True)
    after = plan_of(db._open(), NESTED, 1.0)
    joint.strategies.cache_clear()
    assert after.digest == before.digest
    assert after.measures[0].noise == before.measures[0].noise


def test_the_declared_norm_is_no_smaller_than_any_column(db: dpsql.Connection) -> None:
    for sql in ASKED:
        inner = planned(db, sql).measured
        assert inner.applied is not None
        exact = column(inner.applied.strategy, inner.noise.norm)
        assert exact <= inner.applied.column <= exact * 1.001 + 1
        assert inner.noise.sensitivity == inner.applied.clip * inner.applied.column


def test_every_row_is_in_one_listed_cell(db: dpsql.Connection) -> None:
    each = planned(db, NESTED)
    assert each.joint is not None
    inner = each.measured
    exact = db._open().engine.measure(inner)
    assert int(exact.sums.sum()) == 600 * 2**20
    assert len(set(exact.groups)) == len(exact.groups)
    listed = inner.rule.groups_listed()
    assert listed is not None
    assert set(exact.groups) <= set(listed.groups)


def test_too_many_cells_are_measured_one_by_one(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workload_cells, "MOST_CROSSED", 8)
    assert planned(db, NESTED).joint is None


def test_an_accuracy_is_of_numbers_with_their_own_noise(db: dpsql.Connection) -> None:
    sql = NESTED.replace("SELECT ", "SELECT OPTIONS(within = 200) ", 1)
    assert plan_of(db._open(), sql, 1.0).measures[0].joint is None


def test_explain_says_what_is_measured_instead(db: dpsql.Connection) -> None:
    said = str(db.explain(CUBE))
    assert "cells that their conditions tell apart" in said
    assert "every number is a sum of the same cells" in said


def test_a_repeat_is_free_and_the_same(data: Path) -> None:
    with dpsql.connect(str(data)) as first:
        paid = first.execute(CUBE, epsilon=0.7)
        rows, margins = list(paid), list(paid.margins)
    with dpsql.connect(str(data)) as second:
        again = second.execute(CUBE, epsilon=0.7)
        assert (again.cost, again.repeated) == (0.0, True)
        assert (list(again), list(again.margins)) == (rows, margins)


def test_a_sum_of_no_cells_is_nothing_without_noise(db: dpsql.Connection) -> None:
    """What the conditions of a group rule out is 0 for everybody, and its margin says so."""
    filters = ("ward <> 'a'", "ward = 'c'", "ward IN ('a', 'b')")
    counted = ", ".join(f"COUNT(*) FILTER (WHERE {each})" for each in filters)
    for name in ("COUNT(*)", "COUNT(*) FILTER (WHERE ward < 'a')"):
        answer = db.execute(f"SELECT ward, {counted}, {name} FROM people GROUP BY ward ORDER BY ward")
        assert [row[0] for row in answer.rows[:3]] == ["a", "b", "c"]
        assert (answer.rows[0][1], answer.margins[0][1]) == (0, 0)
        assert (answer.rows[0][2], answer.margins[0][2]) == (0, 0)
        assert (answer.rows[2][3], answer.margins[2][3]) == (0, 0)
        assert answer.margins[2][1] > 0


def test_margins_above_the_release_follow_the_cells(db: dpsql.Connection) -> None:
    """Noises of nested counts go together: a difference of neighbours is more exact than both."""
    sql = f"SELECT n20 - n10 AS between, n90 - n80 AS later, n10, n90 FROM ({NESTED})"
    answer = db.execute(sql, epsilon=1.0)
    (margins,) = answer.margins
    assert all(margin is not None for margin in margins)
    pairs = list(itertools.product(margins[:2], margins[2:]))
    assert all(between < 2 * alone for between, alone in pairs)


@pytest.mark.parametrize(
    ("sql", "mechanism_name"), [(CUBE, "geometric"), (DAYS, "laplace"), (AGES, "laplace")]
)
def test_whole_units_have_whole_noise(tmp_path: Path, sql: str, mechanism_name: str) -> None:
    """Of cells alone, and where no unit is scaled: whose visits are clipped may leave fractions."""
    sql = sql.replace("SELECT ", "SELECT OPTIONS(max_rows_contributed = 2) ", 1) if sql == DAYS else sql
    with dpsql.connect(str(built(tmp_path / "pure", "pure"))) as db:
        each = planned(db, sql)
        assert each.joint is not None
        assert each.noise.mechanism == mechanism_name
        if mechanism_name == "geometric":
            assert each.joint.applied.strategy.is_identity
            cells = release(db._open().engine.measure(each.measured), each.measured, seeded("whole"))
            assert not (cells.sums % 2**20).any()


def test_whole_noise_on_parts_of_units_is_found(
    tmp_path: Path, neighbours: tuple[DuckDB, list[tuple[str, DuckDB]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpsql.plan import applied

    whole, fewer = neighbours
    monkeypatch.setattr(applied, "whole_units", lambda facts, clip: True)
    with dpsql.connect(str(built(tmp_path / "pure", "pure"))) as db:
        sql = "SELECT kind, day // 10 AS d, COUNT(*) AS n FROM visits GROUP BY CUBE (kind, day // 10)"
        plan = plan_of(db._open(), sql, 20.0)
        assert plan.measures[0].noise.mechanism == "geometric"
        assert any("no whole number" in said for said in sensitivity(plan, whole, fewer))
