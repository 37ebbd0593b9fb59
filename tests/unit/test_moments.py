"""Cells of polynomials: what a row adds to them at most, what they tell, and which aggregates share them."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from numpy.typing import NDArray

import dpsql
from dpsql.audit import plan_of
from dpsql.engines import polynomial_sql
from dpsql.engines.arithmetic import WHOLE
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.polynomial_sql import product, rounded_square, single
from dpsql.ir.plan import MeasurePlan, Norm, Shape
from dpsql.ir.scalar import Ref
from dpsql.ir.statistic import CELLS, SLACK, Axis, Part, Statistic
from dpsql.ir.table import ReleasedTable
from dpsql.post.finish import finish

POLICY = """\
[budget]
epsilon = 1000.0
delta = {delta}
accountant = "{accountant}"
[query]
max_epsilon = 1000.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
id = {{}}
k = {{ values = {keys} }}
whole = {{ range = [-100, 900] }}
exact = {{ range = [-50.25, 99.75] }}
real = {{ range = [0.0, 1.0] }}
small = {{ range = [-3.0, 8.1] }}
huge = {{ range = [-1000000000000000000000, 1000000000000000000000] }}
truth = {{}}
sure = {{ range = [0, 10] }}
[tables.stays]
unit = {{ column = "id" }}
rows_per_unit = 3
[tables.stays.columns]
id = {{}}
k = {{ values = {keys} }}
x = {{ range = [0.0, 1.0] }}
y = {{ range = [-5.0, 5.0] }}
"""

REALS = ("NULL", "nan", "inf", "-inf", "0", "1", "-0.0", "1e308", "-1e308", "5e-324", "0.5", "0.1", "1e-9")
WHOLES = ("NULL", "-100", "900", "-2147483648", "2147483647", "0", "1", "899", "-99", "400")


def _rows() -> str:
    """Every extreme of every column once beside some others, one row for each person, then plain rows."""
    rows = []
    for real, whole in itertools.product(REALS, WHOLES):
        at = len(rows)
        exact = ("NULL", "-50.25", "99.75", "-999.99", "999.99", "0.01")[at % 6]
        huge = (2**127 - 1, -(2**127), 10**21, 0, 1)[at % 5]
        truth = ("NULL", "true", "false")[at % 3]
        double = "NULL::DOUBLE" if real == "NULL" else f"'{real}'::DOUBLE"
        wide, narrow = f"'{huge}'::HUGEINT", f"TRY_CAST({double} AS FLOAT)"
        row = (at, at, whole, exact, double, narrow, wide, truth, at % 11)
        rows.append(f"({', '.join(map(str, row))})")
    return ", ".join(rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("moments")
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, k INTEGER NOT NULL, whole INTEGER, "
            "exact DECIMAL(5, 2), real DOUBLE, small FLOAT, huge HUGEINT, truth BOOLEAN, "
            "sure INTEGER NOT NULL)"
        )
        connection.execute(f"INSERT INTO people VALUES {_rows()}")
        connection.execute("CREATE TABLE stays (id INTEGER, k INTEGER NOT NULL, x DOUBLE, y DOUBLE)")
        connection.execute(
            "INSERT INTO stays SELECT i % 7, (i * i) % 40, (i % 13) / 12, (i % 17) / 2 - 4 "
            "FROM range(400) AS r(i)"
        )
        connection.execute("INSERT INTO stays SELECT 8, i, NULL, 'nan' FROM range(1000) AS r(i)")
        connection.execute("INSERT INTO stays SELECT 9, 0, 1e300, -1e300 FROM range(5000) AS r(i)")
    shutil.copy(folder / "people.duckdb", folder / "plain.duckdb")
    for accountant, delta in (("pure", "0.0"), ("zcdp", "1e-6")):
        policy = POLICY.format(accountant=accountant, delta=delta, keys=list(range(1000)))
        (folder / f"{accountant}.toml").write_text(policy)
    return folder


@pytest.fixture(scope="module", params=["pure", "zcdp"])
def db(request: pytest.FixtureRequest, folder: Path) -> Any:
    name = request.param
    with dpsql.connect(folder / "people.duckdb", folder / f"{name}.toml", folder / f"{name}.ledger") as found:
        yield found


def planned(db: dpsql.Connection, sql: str) -> MeasurePlan:
    (each,) = plan_of(db._open(), sql, 1.0).stages[0].measures
    return each


def measured(db: dpsql.Connection, each: MeasurePlan) -> NDArray[np.int64]:
    return db._open().engine.measure(each).sums


def values(db: dpsql.Connection, sql: str) -> list[tuple[Any, ...]]:
    """The answer without noise."""
    each = planned(db, sql)
    exact = db._open().engine.measure(each)
    columns = finish(ReleasedTable(exact.groups, exact.sums), each)
    return list(zip(*(column.values for column in columns), strict=True))


# ---- what a row adds -----------------------------------------------------------------------------------


def cell(part: Part, number: int, most: int, other: Axis | None = None) -> Statistic:
    return Statistic(part, Ref("x"), None, Fraction(1, most), most, 0, 1, 0, other, number)


@pytest.mark.parametrize("most", [2**20, 2**20 - 1, 1_048_560, 2**19 + 1])
def test_three_cells_at_every_place(most: int) -> None:
    """Exhaustively: Laplace's add up to M and none is negative; Gauss' are no longer than M and the slack."""
    with duckdb.connect() as connection:
        square = rounded_square("p", most, WHOLE)
        for part in (Part.BERNSTEIN, Part.LAGRANGE):
            a, b, c = (single(cell(part, i, most), "p", "q", WHOLE)[0] for i in range(3))
            places = f"SELECT p, {square} AS q FROM range({most + 1}) AS r(p)"
            listed = f"SELECT {a} AS a, {b} AS b, {c} AS c FROM ({places})"
            found = connection.execute(
                "SELECT least(min(a), min(b), min(c)), min(a + b + c), max(a + b + c), "
                f"max(a * a + b * b + c * c), max(abs(a) + abs(b) + abs(c)) FROM ({listed})"
            ).fetchall()
            ((least, fewest, whole, square_of_l2, l1),) = found
            assert fewest == whole == most
            assert square_of_l2 <= (most + SLACK) ** 2
            if part is Part.BERNSTEIN:
                assert (least, l1) == (0, most)
            else:
                assert l1 > 1.2 * most  # it would not do for Laplace noise


def test_nine_cells() -> None:
    """On a grid of places, their neighbours in floating point, and random ones."""
    most, axis = 2**20, Axis(Ref("y"), 0, 1)
    with duckdb.connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(
            "CREATE TABLE t AS SELECT a / 64 AS y, b / 64 AS z FROM range(65) AS r(a), range(65) AS s(b) "
            "UNION ALL SELECT random(), random() FROM range(100000) "
            "UNION ALL SELECT 1 + 4e-16 * random(), -4e-16 * random() FROM range(1000)"
        )
        for part, power in ((Part.BERNSTEIN, 1), (Part.LAGRANGE, 2)):
            cells = [product(cell(part, i, most, axis), "y", "z", WHOLE) for i in range(9)]
            norm = " + ".join(f"power(abs({each}), {power})" for each in cells)
            least = f"least({', '.join(cells)})"
            ((longest, lowest),) = connection.execute(f"SELECT max({norm}), min({least}) FROM t").fetchall()
            assert longest <= (most + SLACK) ** power
            assert lowest >= 0 or part is Part.LAGRANGE


KINDS = (
    "whole",
    "exact",
    "real",
    "small",
    "huge",
    "CAST(truth AS INTEGER)",
    "sure",
    "LEAST(GREATEST(huge, 0), 7)",
)


@pytest.mark.parametrize("argument", KINDS)
@pytest.mark.parametrize("condition", ["", " FILTER (WHERE sure > 3)"])
def test_what_each_row_adds(argument: str, condition: str, db: dpsql.Connection) -> None:
    """One row in each group, of every kind of value: no longer than its family is said to be."""
    calls = (f"VAR_POP({argument})", f"CORR({argument}, real)", f"COVAR_POP(whole, {argument})")
    listed = ", ".join(call + condition for call in calls)
    each = planned(db, f"SELECT k, {listed} FROM people GROUP BY k")
    sums = measured(db, each)
    assert len(sums) == len(REALS) * len(WHOLES)
    assert each.noise.norm is (Norm.L1 if db._open().accountant.noise_power == 1 else Norm.L2)
    seen = 0
    for family in each.measure.families:
        rows = sums[:, list(family.statistics)].astype(object)
        l1, l2 = abs(rows).sum(axis=1), (rows**2).sum(axis=1)
        if each.noise.norm is Norm.L1:
            assert l1.max() <= family.most
        else:
            assert l2.max() <= family.most**2
        if each.measure.statistics[family.statistics[0]].part in CELLS:
            seen += 1
            whole = rows.sum(axis=1)
            most = each.measure.statistics[family.statistics[0]].most
            assert set(np.flatnonzero(whole)) == set(np.flatnonzero(l1)), "NULL and NaN add nothing"
            assert all(abs(int(n) - most) <= SLACK for n in whole if n)
    assert seen >= 2


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        ("_OF_PLACES", ((1, -2, 1), (0, 4, -4), (0, 0, 1))),
        ("_OF_PLACES", ((1, -3, 2), (0, 4, -4), (0, -1, 3))),
        ("_OF_SHARES", ("(1 - {0}) * (1 - {0})", "2 * {0}", "{0} * {0}")),
        ("_OF_SHARES", ("1 - {0}", "4 * {0} * (1 - {0})", "{0}")),
    ],
)
def test_other_polynomials_would_be_too_long(
    table: str, wrong: tuple[object, ...], db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the bound of a family refuses: four times the middle, halves that overlap, a slip in a sign."""
    monkeypatch.setattr(polynomial_sql, table, dict.fromkeys((Part.BERNSTEIN, Part.LAGRANGE), wrong))
    aggregate = "VAR_POP(real)" if table == "_OF_PLACES" else "CORR(real, sure)"
    each = planned(db, f"SELECT k, {aggregate} FROM people GROUP BY k")
    (family,) = (f for f in each.measure.families if len(f.statistics) > 1)
    rows = measured(db, each)[:, list(family.statistics)].astype(object)
    power = 1 if each.noise.norm is Norm.L1 else 2
    assert (abs(rows) ** power).sum(axis=1).max() > family.most**power


@pytest.mark.parametrize("shape", [Shape.CELLS, Shape.L1, Shape.UNIT])
def test_a_unit_with_many_rows_and_groups(shape: Shape, folder: Path, db: dpsql.Connection) -> None:
    """1,000 groups of NULLs, 5,000 rows beyond the range, 60 plain ones: without each, within the clip."""
    keys = "" if shape is Shape.UNIT else "k, "
    tail = "" if shape is Shape.UNIT else " GROUP BY k"
    people = ", COUNT(DISTINCT id)" if shape is Shape.CELLS else ""
    each = planned(db, f"SELECT {keys}VAR_POP(x), CORR(x, y), COUNT(*){people} FROM stays{tail}")
    if each.noise.norm is Norm.L1:
        assert each.shape is shape
    session = db._open()

    def sums(path: Path) -> dict[tuple[object, ...], NDArray[Any]]:
        engine = DuckDB(path)
        exact = engine.measure(each)
        engine.close()
        return {group: row.astype(object) for group, row in zip(exact.groups, exact.sums, strict=True)}

    whole = session.engine.measure(each)
    ours = {group: row.astype(object) for group, row in zip(whole.groups, whole.sums, strict=True)}
    for unit in (0, 8, 9):
        path = folder / f"without{unit}{shape.value}{session.accountant.name}.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(f"ATTACH '{folder / 'people.duckdb'}' AS source (READ_ONLY)")
            connection.execute("CREATE TABLE people AS FROM source.people")
            connection.execute(f"CREATE TABLE stays AS FROM source.stays WHERE id <> {unit}")
        theirs = sums(path)
        nothing = np.zeros(len(each.measure.statistics), dtype=object)
        moved = [ours.get(g, nothing) - theirs.get(g, nothing) for g in ours.keys() | theirs.keys()]
        if each.noise.norm is Norm.L1:
            assert sum(abs(row).sum() for row in moved) <= each.noise.sensitivity
        else:
            assert sum((row**2).sum() for row in moved) <= each.noise.sensitivity**2


# ---- what they tell ------------------------------------------------------------------------------------

ONE_ROW = 2**20


def numbers(db: dpsql.Connection, aggregates: str, *sums: list[float]) -> list[tuple[Any, ...]]:
    """Finished values of made-up sums, in rows."""
    each = planned(db, f"SELECT {aggregates} FROM people")
    steps = np.array(
        [[round(n * each.measure.statistics[0].most) for n in row] for row in sums], dtype=np.int64
    )
    columns = finish(ReleasedTable([()] * len(sums), steps), each)
    return list(zip(*(column.values for column in columns), strict=True))


def of_three(db: dpsql.Connection, *places: float) -> list[float]:
    """The three cells, in rows, of such y."""
    if db._open().accountant.noise_power == 1:
        polynomials: list[Callable[[float], float]] = [
            lambda y: (1 - y) ** 2,
            lambda y: 2 * y * (1 - y),
            lambda y: y * y,
        ]
    else:
        polynomials = [lambda y: (1 - y) * (1 - 2 * y), lambda y: 4 * y * (1 - y), lambda y: y * (2 * y - 1)]
    return [sum(each(y) for y in places) for each in polynomials]


def test_the_middle_and_both_ends(db: dpsql.Connection) -> None:
    """y = 0, 1/2, 1: Bernstein's cells are 1.25, 0.5, 1.25; the variance is (0 + 1/4 + 1)/3 - 1/4 = 1/6."""
    cells = of_three(db, 0, 0.5, 1)
    assert cells == ([1.25, 0.5, 1.25] if db._open().accountant.noise_power == 1 else [1, 1, 1])
    ((n, total, mean, variance, sample, deviation),) = numbers(
        db, "COUNT(real), SUM(real), AVG(real), VAR_POP(real), VAR_SAMP(real), STDDEV_POP(real)", cells
    )
    assert (n, total, mean) == (3, 1.5, 0.5)
    assert variance == pytest.approx(1 / 6)
    assert sample == pytest.approx(1 / 4)
    assert deviation == pytest.approx((1 / 6) ** 0.5)


def test_noise_does_not_carry_a_variance_out_of_its_range(db: dpsql.Connection) -> None:
    """Below 0 it is 0, and no more than a quarter of the squared width; NULL below one row, or two."""
    aggregates = "VAR_POP(whole), VAR_SAMP(whole), STDDEV_POP(whole), AVG(whole)"
    all_at_half, fewest, none = of_three(db, 0.5, 0.5), of_three(db, 0.5), [0.1, 0.1, 0.2]
    narrow = [all_at_half[0] - 0.3, all_at_half[1] + 0.6, all_at_half[2] - 0.3]
    wide = [30.0, -40.0, 30.0]
    found = numbers(db, aggregates, narrow, wide, fewest, none)
    assert found[0][:3] == (0.0, 0.0, 0.0)
    assert found[1][0] == 1000**2 / 4
    assert found[1][1] == pytest.approx(1000**2 / 4 * 20 / 19)
    assert found[1][2] == 500
    assert found[2][0] == pytest.approx(0, abs=1e-3)
    assert found[2][1] is None
    assert found[3] == (None, None, None, None)


def test_a_correlation_is_from_minus_one_to_one(db: dpsql.Connection) -> None:
    """Along the diagonal it is 1; against it -1; where one side does not vary there is none."""
    aggregates = "CORR(real, real + 0), REGR_R2(real, real + 0)"
    both = [of_three(db, y) for y in (0.25, 0.5, 0.75)]
    rising = sum(np.outer(each, each) for each in both)
    falling = sum(np.outer(a, b) for a, b in zip(both, both[::-1], strict=True))
    level = sum(np.outer(each, both[1]) for each in both)
    rows = [table.ravel().tolist() for table in (rising, falling, level)]
    found = numbers(db, aggregates, *rows)
    assert found[0] == (pytest.approx(1, abs=1e-4), pytest.approx(1, abs=1e-4))
    assert found[1] == (pytest.approx(-1, abs=1e-4), pytest.approx(1, abs=1e-4))
    assert found[2][0] is None or abs(found[2][0]) <= 1
    noisy = [n + 0.5 * (-1) ** i for i, n in enumerate(rows[0])]
    (beyond,) = numbers(db, aggregates, noisy)
    assert beyond[0] is None or -1 <= beyond[0] <= 1


def test_moments_of_all_rows_are_duckdbs(db: dpsql.Connection, folder: Path) -> None:
    """Over rows without NULL, NaN and values beyond the range, to a few steps of the grid."""
    where = "WHERE whole BETWEEN -100 AND 900 AND real BETWEEN 0 AND 1"
    aggregates = ", ".join(
        f"{name}(whole, LEAST(GREATEST(real + whole / 1000, 0), 1))"
        for name in (
            *("covar_pop", "covar_samp", "corr", "regr_slope", "regr_intercept", "regr_r2", "regr_count"),
            *("regr_avgx", "regr_avgy", "regr_sxx", "regr_syy", "regr_sxy"),
        )
    )
    aggregates += ", var_pop(whole), var_samp(real), stddev_pop(exact), stddev_samp(sure)"
    (ours,) = values(db, f"SELECT {aggregates} FROM people {where}")
    with duckdb.connect(str(folder / "plain.duckdb"), read_only=True) as connection:
        ((*theirs,),) = connection.execute(f"SELECT {aggregates} FROM people {where}").fetchall()
    assert ours[:-2] == pytest.approx(theirs[:-2], rel=2e-4)
    assert ours[-1] == pytest.approx(theirs[-1], rel=2e-4)


# ---- which share ---------------------------------------------------------------------------------------

SHARED = {
    "VAR_POP(real), AVG(real), SUM(real), COUNT(real), STDDEV(real)": [3],
    "VAR_POP(sure), COUNT(*), AVG(sure)": [3],
    "VAR_POP(real), VAR_POP(real) FILTER (WHERE sure > 2)": [6],  # disjoint cells
    "CORR(real, whole), CORR(whole, real), COVAR_SAMP(real, whole), REGR_SLOPE(whole, real)": [9],
    "REGR_R2(real, whole), REGR_AVGX(real, whole), REGR_SYY(whole, real), REGR_COUNT(whole, real)": [9],
    "CORR(real, whole), VAR_POP(real)": [9, 3],
    "CORR(sure, k), VAR_POP(sure), AVG(k), COUNT(*), STDDEV(k)": [9],
    "CORR(sure, real), STDDEV(real), AVG(sure)": [9, 2],
    "CORR(real, real), VAR_POP(real)": [9],
    "REGR_COUNT(real, whole)": [1],
    "REGR_COUNT(sure, k), COUNT(*)": [1],
    "REGR_AVGX(real, whole), REGR_COUNT(sure, whole), AVG(whole) FILTER (WHERE real IS NOT NULL)": [1, 2],
    "REGR_SXX(real, sure), REGR_AVGX(real, sure)": [3],
}


@pytest.mark.parametrize("aggregates", SHARED)
def test_families(aggregates: str, db: dpsql.Connection) -> None:
    """As few numbers as can be: 1 for a count, 2 for a mean, 3 for a variance, 9 for a pair."""
    each = planned(db, f"SELECT {aggregates} FROM people")
    assert sorted(len(family.statistics) for family in each.measure.families) == sorted(SHARED[aggregates])


def test_what_shares_tells_the_same(db: dpsql.Connection) -> None:
    """Each aggregate alone, and beside others that need more numbers."""
    where = "FROM people WHERE whole BETWEEN -100 AND 900"
    for alone, beside in (
        ("AVG(whole)", "VAR_POP(whole)"),
        ("SUM(exact)", "VAR_POP(exact)"),
        ("COUNT(*)", "CORR(sure, k)"),
        ("AVG(k)", "CORR(sure, k)"),
        ("VAR_SAMP(sure)", "CORR(sure, k)"),
        ("VAR_SAMP(k)", "CORR(sure, k)"),
        ("SUM(sure)", "CORR(sure, k)"),
        ("REGR_AVGX(whole, sure)", "CORR(whole, sure)"),
        ("REGR_SYY(whole, sure)", "CORR(whole, sure)"),
        ("REGR_COUNT(whole, sure)", "CORR(whole, sure)"),
    ):
        ((first,),) = values(db, f"SELECT {alone} {where}")
        ((second, *_),) = values(db, f"SELECT {alone}, {beside} {where}")
        assert float(second) == pytest.approx(float(first), rel=1e-4), (alone, beside)


def test_a_mean_beside_sums_of_a_column_with_itself_has_one_range(db: dpsql.Connection) -> None:
    explained = db.explain("SELECT REGR_SXY(k, k), AVG(k), SUM(k) FROM people").to_dict()
    pair, mean, total = (column["bounds"] for column in explained["stages"][0]["measures"][0]["columns"])
    assert pair == [*mean, *mean]
    assert mean == total


def test_gaussian_noise_on_a_variance_is_smaller_in_the_second_basis(db: dpsql.Connection) -> None:
    """Evenly spread values: the error of a variance is |p| in each basis, p = (z^2 - 1/12) weighed in it.

    (1/6, -1/3, 1/6) has length .408 and (1/6, -1/12, 1/6) has .250: the margins are in that ratio.
    """
    each = planned(db, "SELECT VAR_POP(real) FROM people")
    if each.noise.norm is Norm.L1:
        pytest.skip("of Gaussian noise")
    bernstein = replace(
        each,
        measure=replace(
            each.measure, statistics=tuple(replace(s, part=Part.BERNSTEIN) for s in each.measure.statistics)
        ),
    )
    rows = 100_000 * ONE_ROW
    found = []
    for plan, cells in ((each, (1 / 6, 4 / 6, 1 / 6)), (bernstein, (1 / 3, 1 / 3, 1 / 3))):
        sums = np.array([[round(rows * share) for share in cells]], dtype=np.int64)
        (column,) = finish(ReleasedTable([()], sums), plan)
        assert column.values[0] == pytest.approx(1 / 12, rel=1e-3)
        assert column.margins is not None
        found.append(column.margins[0])
    assert found[1] / found[0] == pytest.approx(0.408 / 0.25, rel=0.05)
