"""The row of an other group: the total less what is shown, and the noise of both."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

import dpsql
from dpsql.audit import plan_of
from dpsql.ir.column import Value
from dpsql.ir.finished import Finished
from dpsql.ir.plan import MeasurePlan, Noise, Threshold
from dpsql.ir.table import ExactTable
from dpsql.post.finish import finish
from dpsql.release.release import release

ONE = 2**20
"""Grid steps of one row."""


def planned(db: dpsql.Connection, select: str) -> MeasurePlan:
    sql = f"SELECT OPTIONS(other_group = 'rest') city, {select} FROM patients GROUP BY city"
    (each,) = plan_of(db._open(), sql, 1.0).stages[0].measures
    return each


def silence(noise: Noise, size: int) -> NDArray[np.int64]:
    return np.zeros(size, dtype=np.int64)


def columns(each: MeasurePlan, rows: dict[tuple[Value, ...], list[int]]) -> list[Finished]:
    """What is shown of these exact sums, without noise."""
    sums = np.array(list(rows.values()), dtype=np.int64)
    return finish(release(ExactTable(list(rows), sums), each, silence), each)


def test_what_is_hidden_is_in_the_rest(db: dpsql.Connection) -> None:
    """Of 1,000 patients 700 and 200 are in cities large enough; 100 are in the rest."""
    each = planned(db, "COUNT(*)")
    rows: dict[tuple[Value, ...], list[int]] = {
        (0, "Oslo"): [700 * ONE],
        (0, None): [200 * ONE],
        (0, "Nome"): [1 * ONE],
        (1, None): [1000 * ONE],
    }
    _, city, count = columns(each, rows)
    assert list(zip(city.values, count.values, strict=True)) == [("Oslo", 700), (None, 200), ("rest", 100)]


def test_the_noise_of_everything_subtracted_is_in_the_margin(db: dpsql.Connection) -> None:
    """Two groups and the total: the root of three times as far, but for rounding to whole counts."""
    each = planned(db, "COUNT(*)")
    rows: dict[tuple[Value, ...], list[int]] = {
        (0, "Oslo"): [700 * ONE],
        (0, None): [200 * ONE],
        (1, None): [1000 * ONE],
    }
    _, _, count = columns(each, rows)
    assert count.margins is not None
    exact = 1.959964 * each.noise.scale / ONE
    assert count.margins.tolist() == [math.ceil(exact - 0.5)] * 2 + [math.ceil(exact * math.sqrt(3) - 0.5)]


def test_an_average_is_made_of_differences(db: dpsql.Connection) -> None:
    """400 of 500 patients are shown, aged 30; the other 100 are 80 on average. The age is in [0, 120]."""
    each = planned(db, "AVG(age)")
    rule = each.rule
    assert isinstance(rule, Threshold)
    (first,), (last,) = each.measure.finishes[0].statistics
    step = each.measure.statistics[last].step

    def sums(rows: int, mean: int) -> list[int]:
        found = [0] * len(each.measure.statistics)
        found[rule.statistic] = rows * ONE
        found[last] = int(rows * mean / step)
        found[first] = rows * each.measure.statistics[last].most - found[last]
        return found

    _, city, mean = columns(each, {(0, "Oslo"): sums(400, 30), (1, None): sums(500, 40)})
    assert city.values == ["Oslo", "rest"]
    assert mean.values == pytest.approx([30, 80])
    assert mean.margins is not None
    assert mean.margins[1] > mean.margins[0]


def test_sums_at_the_ends_of_the_grid_do_not_overflow(db: dpsql.Connection) -> None:
    each = planned(db, "COUNT(*)")
    rows: dict[tuple[Value, ...], list[int]] = {(0, name): [2**62] for name in "abc"}
    _, _, count = columns(each, {**rows, (1, None): [-(2**62)]})
    assert count.values[-1] == -(2**42)


def test_nothing_is_measured_for_it_but_the_total(db: dpsql.Connection) -> None:
    """The same digest, and so the same answer for one price, as the groups with their total."""
    plain = "SELECT city, COUNT(*) FROM patients GROUP BY GROUPING SETS ((city), ())"
    other = "SELECT OPTIONS(other_group = 'rest') city, COUNT(*) FROM patients GROUP BY city"
    first, second = (plan_of(db._open(), sql, 1.0) for sql in (plain, other))
    assert first.digest == second.digest
    total = db.execute(plain)
    rest = db.execute(other)
    assert rest.cost == 0
    assert rest.repeated
    whole = max(n for _, n in total)  # all 240 patients, and 80 in a city
    shown = sum(n for _, n in total) - whole
    assert abs(rest.rows[-1][1] - (whole - shown)) <= len(total)  # each number is rounded by itself


def test_explain_names_it(db: dpsql.Connection) -> None:
    sql = "SELECT OPTIONS(other_group = 'rest') city, COUNT(*) FROM patients GROUP BY city"
    assert "'rest', is the total less the groups that appear" in str(db.explain(sql))
