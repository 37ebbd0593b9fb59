"""From released sums to the numbers that an analyst reads, and how far the noise reaches."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from numpy.typing import NDArray

import dpsql
from dpsql.audit import plan_of
from dpsql.ir.finished import Finished
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.statistic import Part
from dpsql.ir.table import ReleasedTable
from dpsql.mechanisms import mechanism
from dpsql.post.finish import finish
from dpsql.release.release import from_system

POLICY = """\
[budget]
epsilon = 1000.0
delta = 1e-6
[query]
max_epsilon = 1000.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
whole = { range = [-100, 900] }
big = { range = [-1000000000000, 1000000000000] }
exact = { range = [-50.25, 99.75] }
real = { range = [-2.5, 7.5] }
maybe = { range = [0, 10] }
town = {}
"""

TABLE = """
CREATE TABLE people (
    id INTEGER PRIMARY KEY, whole INTEGER NOT NULL, big BIGINT, exact DECIMAL(9, 2), real DOUBLE,
    maybe INTEGER, town VARCHAR
)
"""

ROW = 2**20  # grid steps of one row


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An empty table: what is released is made up here."""
    path: Path = tmp_path_factory.mktemp("finish") / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLE)
    path.with_suffix(".toml").write_text(POLICY)
    with dpsql.connect(path) as connection:
        yield connection


def planned(db: dpsql.Connection, select: str, tail: str = "", epsilon: float = 1.0) -> MeasurePlan:
    (each,) = plan_of(db._open(), f"SELECT {select} FROM people {tail}", epsilon).stages[0].measures
    return each


def released(*rows: list[int]) -> ReleasedTable:
    return ReleasedTable([()] * len(rows), np.array(rows, dtype=np.int64))


def values(each: MeasurePlan, *rows: list[int]) -> list[tuple[Any, ...]]:
    """The finished columns as rows."""
    columns = finish(released(*rows), each)
    return list(zip(*(column.values for column in columns), strict=True))


def one(each: MeasurePlan) -> Finished:
    (column,) = finish(released([10**9]), each)
    return column


# ---- single sums -------------------------------------------------------------------------------------


def test_counts_are_whole_and_may_be_negative(db: dpsql.Connection) -> None:
    """Rounded half up: -0.5 rows are 0 rows and 2.5 are 3."""
    each = planned(db, "COUNT(*)")
    half = ROW // 2
    rows = [[0], [7 * ROW], [-7 * ROW], [5 * half], [5 * half - 1], [-half], [-half - 1]]
    assert values(each, *rows) == [(0,), (7,), (-7,), (3,), (2,), (0,), (-1,)]
    assert all(type(number) is int for (number,) in values(each, *rows))


def test_sums_of_integers_are_exact_integers(db: dpsql.Connection) -> None:
    """One is a whole number of steps: as many as make the range's larger end just fit 2^20."""
    each = planned(db, "SUM(whole)")
    per_one = ROW // 900
    assert each.measure.statistics[0].step == Fraction(1, per_one)
    assert values(each, [123 * per_one], [-123 * per_one], [2**62]) == [
        (123,),
        (-123,),
        (round(2**62 / per_one),),
    ]
    assert one(each).type.sql == "HUGEINT"


def test_sums_far_above_the_grid_keep_every_digit(db: dpsql.Connection) -> None:
    """Steps of 10^12 / 2^24: a float would round the product of step and sum."""
    each = planned(db, "SUM(big)")
    (statistic,) = each.measure.statistics
    step = statistic.step
    assert step.denominator == 1
    assert 10**12 <= step * statistic.most < 2 * 10**12
    steps = 2**53 + 1
    assert values(each, [steps], [-steps]) == [(steps * int(step),), (-steps * int(step),)]


def test_sums_of_decimals_are_decimals(db: dpsql.Connection) -> None:
    each = planned(db, "SUM(exact)")
    step = each.measure.statistics[0].step
    per_cent = Fraction(1, 100) / step
    assert per_cent.denominator == 1
    rows = [[int(per_cent) * cents] for cents in (12345, -12345, 0, 1)]
    found = [number for (number,) in values(each, *rows)]
    assert found == [Decimal("123.45"), Decimal("-123.45"), Decimal("0.00"), Decimal("0.01")]
    assert {number.as_tuple().exponent for number in found} == {-2}
    assert one(each).type.sql == "DECIMAL(38,2)"


def test_sums_of_floats_are_the_nearest_float(db: dpsql.Connection) -> None:
    each = planned(db, "SUM(real)")
    step = each.measure.statistics[0].step
    assert values(each, [12345], [-1]) == [(float(12345 * step),), (float(-step),)]


# ---- pairs -------------------------------------------------------------------------------------------


def pair(each: MeasurePlan, numbers: list[int]) -> list[int]:
    """The two statistics (what is left to the upper end, and the value) that so many numbers add up to."""
    found = []
    for statistic in each.measure.statistics:
        assert statistic.part in (Part.REST, Part.VALUE)
        at = [Fraction(number - statistic.offset) / statistic.step for number in numbers]
        assert all(place.denominator == 1 for place in at)
        found.append(
            sum(int(place) if statistic.part is Part.VALUE else statistic.most - int(place) for place in at)
        )
    return found


@pytest.mark.parametrize(
    "numbers", [[5], [-100, 900], [0, 0, 0], [-99, -1, -50], [898, 899, 900], list(range(40))]
)
def test_count_sum_and_avg_come_from_one_pair(numbers: list[int], db: dpsql.Connection) -> None:
    each = planned(db, "COUNT(*), SUM(whole), AVG(whole)")
    assert len(each.measure.statistics) == 2
    ((count, total, mean),) = values(each, pair(each, numbers))
    assert (count, total) == (len(numbers), sum(numbers))
    assert (type(count), type(total), type(mean)) == (int, int, float)
    assert mean == pytest.approx(sum(numbers) / len(numbers), abs=1e-9)


def test_a_mean_stays_in_its_range(db: dpsql.Connection) -> None:
    """Noise may carry the quotient out of it: 2 rows with a sum of -500, and of 4,000."""
    each = planned(db, "AVG(whole)")
    per_one = int(1 / each.measure.statistics[0].step)
    most = each.measure.statistics[0].most
    low, high = (total * per_one + 100 * 2 * per_one for total in (-500, 4000))
    assert values(each, [2 * most - low, low], [2 * most - high, high]) == [(-100.0,), (900.0,)]


@pytest.mark.parametrize(
    ("rows", "null"), [(-3.0, True), (0.0, True), (0.25, True), (0.5, False), (1.0, False), (40.0, False)]
)
def test_a_mean_of_hardly_any_row_is_null(rows: float, null: bool, db: dpsql.Connection) -> None:
    """NULL where fewer than half a row is left after noise; then it has no margin either."""
    each = planned(db, "COUNT(maybe), AVG(maybe)")
    most = each.measure.statistics[0].most
    total = int(rows * most)
    count, mean = finish(released([total - total // 2, total // 2]), each)
    assert count.values == [int(np.floor(rows + 0.5))]
    assert (mean.values[0] is None) is null
    if not null:
        assert mean.values[0] == pytest.approx(5, abs=0.01)
    assert count.margins is not None
    assert count.margins[0] > 0


def test_a_released_null_has_no_margin(db: dpsql.Connection) -> None:
    answer = db.execute("SELECT AVG(maybe) FROM people", epsilon=0.001)
    assert [mean is None for (mean,) in answer.rows] <= [margin is None for (margin,) in answer.margins]


# ---- half-widths -------------------------------------------------------------------------------------


def test_a_single_sums_half_width_is_the_mechanisms(db: dpsql.Connection) -> None:
    for select in ("SUM(big)", "SUM(real)"):
        each = planned(db, select)
        steps = mechanism(each.noise.mechanism).half_width(each.noise.scale)
        margins = one(each).margins
        assert margins is not None
        assert margins[0] == pytest.approx(steps * float(each.measure.statistics[0].step))


def test_the_same_sums_always_show_the_same_half_widths(db: dpsql.Connection) -> None:
    each = planned(db, "COUNT(*), SUM(whole), AVG(whole)")
    table = released(*[[10**8 + 17 * i, 10**8 - i] for i in range(50)])
    first, again = finish(table, each), finish(table, each)
    for one, other in zip(first, again, strict=True):
        assert one.margins is not None
        assert other.margins is not None
        assert one.margins.tolist() == other.margins.tolist()


def test_keys_have_no_half_width(db: dpsql.Connection) -> None:
    each = planned(db, "town, COUNT(*)", "GROUP BY town")
    key, count = finish(ReleasedTable([("Oslo",)], np.array([[40 * ROW]])), each)
    assert (key.values, key.margins) == (["Oslo"], None)
    assert count.values == [40]
    assert count.margins is not None


RELEASES = 4_000


def covered(each: MeasurePlan, exact: list[int]) -> list[float]:
    """The share of 4,000 releases whose half-widths reach the exact value, for each column."""
    sums = np.array(exact, dtype=np.int64)
    noise: NDArray[np.int64] = from_system(each.noise, RELEASES * len(exact)).reshape(RELEASES, -1)
    truth = [column.values[0] for column in finish(released(exact), each)]
    shares = []
    for column, true in zip(finish(ReleasedTable([()] * RELEASES, sums + noise), each), truth, strict=True):
        assert column.margins is not None
        far = [abs(float(value) - float(true)) for value in column.values]  # type: ignore[arg-type]  # numbers
        shares.append(float(np.mean(np.array(far) <= column.margins)))
    return shares


@pytest.mark.parametrize(
    ("select", "rows", "epsilon"),
    [
        ("COUNT(*)", 300, 0.2),
        ("SUM(whole)", 300, 1.0),
        ("SUM(exact)", 300, 1.0),
        ("SUM(real)", 300, 0.1),
        ("COUNT(*), SUM(whole), AVG(whole)", 300, 0.5),
        ("AVG(maybe)", 1000, 0.5),
        ("COUNT(maybe), AVG(real), SUM(exact)", 3000, 0.3),
    ],
)
def test_half_widths_cover_95_percent(select: str, rows: int, epsilon: float, db: dpsql.Connection) -> None:
    """4,000 releases: 95 % +- 2.4 (7 deviations of a binomial, false alarms below 1e-10) +- 0.6.

    The last is for the quantile of the simulated draws and for the noise that it starts from.
    """
    each = planned(db, select, epsilon=epsilon)
    exact = [rows * statistic.most // 3 for statistic in each.measure.statistics]
    for share in covered(each, exact):
        assert 0.92 < share < 0.98, covered(each, exact)


@pytest.mark.parametrize(
    ("select", "rows", "epsilon"),
    [
        ("SUM(whole) / COUNT(*)", 300, 0.5),  # one pair: its two numbers move together
        ("COUNT(*) * 2 + 1", 300, 0.2),
        ("GREATEST(SUM(real) / SUM(exact), -1)", 3000, 0.5),
        ("AVG(real) - AVG(exact)", 300, 0.5),
    ],
)
def test_half_widths_of_arithmetic_cover_95_percent(
    select: str, rows: int, epsilon: float, db: dpsql.Connection
) -> None:
    """4,000 releases: 95 % +- 2.4 (false alarms below 1e-10), and 0.8 for the simulated draws."""
    each = planned(db, select, epsilon=epsilon)
    exact = [rows * statistic.most // 3 for statistic in each.measure.statistics]
    (formula,) = each.measure.derived
    assert one_of(each, formula.name).margins is not None
    assert 0.918 < covered(each, exact)[-1] < 0.982


def one_of(each: MeasurePlan, name: str) -> Finished:
    sums = released([10**9] * len(each.measure.statistics))
    return next(column for column in finish(sums, each) if column.name == name)


def test_what_moves_together_has_the_margin_of_the_difference(db: dpsql.Connection) -> None:
    """SUM(x) - 900 COUNT(x) of x in [-100, 900] is one statistic alone: 900 - x, with no noise of x."""
    each = planned(db, "SUM(whole) - 900 * COUNT(*)")
    (formula,) = each.measure.derived
    first = each.measure.statistics[0]
    margin = one_of(each, formula.name).margins
    assert margin is not None
    width = mechanism(each.noise.mechanism).half_width(each.noise.scale) * float(first.step)
    assert margin[0] == pytest.approx(width, rel=0.03, abs=900)


@pytest.mark.parametrize("epsilon", [2.0, 4.0, 6.0, 8.0, 12.0, 20.0, 60.0])
def test_counts_with_little_noise_are_covered_too(epsilon: float, db: dpsql.Connection) -> None:
    """A count is rounded to a whole number after the noise; the half-width has to reach that far as well.

    At least 95 % - 2.4 (false alarms below 1e-10) - 0.6; where whole numbers are far apart, there is no
    upper limit.
    """
    each = planned(db, "COUNT(*)", epsilon=epsilon)
    (share,) = covered(each, [300 * ROW])
    assert share > 0.92
