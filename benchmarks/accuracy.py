"""What is the error of every aggregate, from small epsilon to large, and against the recommended mechanism?

The engine measures once; the release is then drawn many times with the system's randomness, as for every
answer. ``noise`` is the root mean square of (released - exact clipped answer) over all groups and
repetitions, ``formula`` the value of it that follows from the plan's mechanism and scale, where there is a
simple formula. ``error`` is measured against plain DuckDB on all rows, so it includes the bias of clipping.

    COUNT, SUM     deviation of the mechanism * value of a grid step
    AVG            deviation * width * sqrt(rest^2 + total^2) / (rest + total)^2      (first order)

An average is shown over the groups with many more rows than noise; nan if there are none.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import dpsql
from benchmarks.data import connect, people, plain, tpch, visits
from benchmarks.recommended import recommended
from benchmarks.released import Drawn
from benchmarks.timing import Report, Setting, Table, Verdict
from dpsql.ir.plan import MeasurePlan
from dpsql.mechanisms import mechanism

Floats = NDArray[np.float64]
PEOPLE = (
    "COUNT(*)",
    "SUM(age)",
    "AVG(age)",
    "VAR_POP(age)",
    "STDDEV(age)",
    "CORR(age, income)",
    "MEDIAN(age)",
)
VISITS = ("COUNT(*)", "SUM(minutes)", "AVG(minutes)", "VAR_POP(minutes)", "MEDIAN(minutes)")
VISITS += ("COUNT(DISTINCT minutes)", "COUNT(DISTINCT user_id)")
TPCH = ("COUNT(*)", "SUM(l_quantity)", "AVG(l_quantity)", "VAR_POP(l_quantity)", "MEDIAN(l_quantity)")


def run(setting: Setting) -> Report:
    one = people(setting, 20_000 if setting.quick else 200_000)
    many = visits(setting, *((50_000, 2_000) if setting.quick else (500_000, 20_000)))
    asked: list[tuple[str, Path, str, str, tuple[str, ...], str]] = [
        ("one-row people", one, "zcdp", "state", PEOPLE, "people"),
        ("one-row people", one, "pure", "state", PEOPLE, "people"),
        ("skewed visits", many, "zcdp", "place", VISITS, "visits"),
        ("skewed visits", many, "pure", "place", VISITS, "visits"),
    ]
    if not setting.quick:
        asked.append((f"TPC-H {setting.scale:g}", tpch(setting), "zcdp", "l_shipmode", TPCH, "lineitem"))
    tables, verdicts = [], []
    for title, path, accountant, key, aggregates, source in asked:
        table = Table(
            f"{title}, {accountant}: root mean square error by group",
            ("query", "epsilon", "noise", "formula", "noise/formula", "error", "typical answer"),
        )
        ratios = []
        with connect(path, accountant) as db:
            cursor = plain(db)
            for aggregate in aggregates:
                sql = f"SELECT {key}, {aggregate} FROM {source} GROUP BY {key}"
                truth = dict(cursor.execute(sql).fetchall())
                for epsilon in (1.0,) if setting.quick else (0.1, 0.3, 1.0, 3.0):
                    row = _one(db, sql, epsilon, truth, 10 if setting.quick else 200)
                    table.rows.append((aggregate, epsilon, *row))
                    ratios += [row[2]] if row[2] > 0 else []  # none where no group is steady
        tables.append(table)
        worst = max(ratios, key=lambda each: abs(math.log(each)))
        what = f"{title}, {accountant}: noise/formula, the furthest from 1"
        verdicts.append(Verdict(what, worst, None, low=min(ratios), high=max(ratios)))
    table, ours = recommended(setting)
    return Report((*tables, table), (*verdicts, *ours))


def _one(
    db: dpsql.Connection, sql: str, epsilon: float, truth: dict[object, float], repetitions: int
) -> tuple[float, ...]:
    drawn = Drawn(db, sql, epsilon)
    what, quiet = drawn.planned, drawn.quiet()
    answers = drawn.values(repetitions)
    kept = _steady(what, quiet.sums) & np.array([group[0] in truth for group in quiet.groups])
    kept &= ~np.isnan(answers).any(axis=0)
    if not kept.any():
        return (math.nan,) * 5
    answers, true = answers[:, kept], drawn.exact()[kept]
    plain_values = np.array([float(truth.get(group[0]) or 0) for group in quiet.groups])[kept]
    noise = _rms(answers - true)
    expected = _rms(_formula(what, quiet.sums[kept]))
    return noise, expected, noise / expected, _rms(answers - plain_values), float(np.median(plain_values))


def _steady(what: MeasurePlan, sums: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the groups in which the first-order formula holds: those with many more rows than noise."""
    if len(what.measure.statistics) <= 1:
        return np.full(len(sums), True)
    rows = sums[:, : len(what.measure.statistics)].sum(axis=1)
    held: NDArray[np.bool_] = rows > 30 * mechanism(what.noise.mechanism).deviation(what.noise.scale)
    return held


def _formula(what: MeasurePlan, sums: NDArray[np.int64]) -> Floats:
    """Return the error by the formula; NaN for more than one sum or one pair."""
    deviation = mechanism(what.noise.mechanism).deviation(what.noise.scale)
    statistics = what.measure.statistics
    if len(statistics) == 1:
        return np.full(len(sums), deviation * float(statistics[-1].step))
    if len(statistics) != 2:
        return np.full(len(sums), math.nan)
    last = statistics[-1]
    rest, total = sums[:, 0].astype(np.float64), sums[:, 1].astype(np.float64)
    width = float(last.step) * last.most
    return np.asarray(deviation * width * np.hypot(rest, total) / (rest + total) ** 2, np.float64)


def _rms(numbers: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(numbers))))
