"""Is the error of COUNT, SUM and AVG by group what the formula says, from small epsilon to large?

The engine measures once; the release is then drawn again and again with the system's randomness, in the
way every answer gets its noise. ``noise`` is the root mean square of (released - exact clipped sums) over
all groups and repetitions, ``formula`` what the plan's mechanism and scale promise of it; ``error`` is
measured against plain DuckDB on all rows, so it holds what the clip takes away too.

    COUNT, SUM     deviation of the mechanism * value of a grid step
    AVG            deviation * width * sqrt(rest^2 + total^2) / (rest + total)^2      (first order)

An average is shown over the groups that hold many more rows than noise; nan where there are none.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

import dpsql
from benchmarks.data import connect, people, plain, session_of, visits
from benchmarks.timing import Report, Setting, Table, Verdict
from dpsql.ir.plan import Noise, Planned
from dpsql.ir.source import Source
from dpsql.ir.table import ExactTable
from dpsql.mechanisms import mechanism
from dpsql.pipeline import planned
from dpsql.plan.plan import Terms
from dpsql.post.finish import finish
from dpsql.release.release import Draw, from_system, release

Floats = NDArray[np.float64]


def run(setting: Setting) -> Report:
    one = people(setting, 20_000 if setting.quick else 200_000)
    many = visits(setting, *((50_000, 2_000) if setting.quick else (500_000, 20_000)))
    epsilons = (0.3, 3.0) if setting.quick else (0.1, 0.3, 1.0, 3.0)
    tables, verdicts = [], []
    for title, path, accountant, key, value, source in (
        ("one-row people", one, "zcdp", "state", "age", "people"),
        ("one-row people", one, "pure", "state", "age", "people"),
        ("skewed visits", many, "zcdp", "place", "minutes", "visits"),
        ("skewed visits", many, "pure", "place", "minutes", "visits"),
    ):
        table = Table(
            f"{title}, {accountant}: root mean square error by group",
            ("query", "epsilon", "noise", "formula", "noise/formula", "error", "typical answer"),
        )
        ratios = []
        with connect(path, accountant) as db:
            cursor = plain(db)
            for aggregate in ("COUNT(*)", f"SUM({value})", f"AVG({value})"):
                sql = f"SELECT {key}, {aggregate} FROM {source} GROUP BY {key}"
                truth = dict(cursor.execute(sql).fetchall())
                for epsilon in epsilons:
                    row = _one(db, sql, epsilon, truth, 30 if setting.quick else 200)
                    table.rows.append((aggregate, epsilon, *row))
                    ratios += [row[2]] if row[2] > 0 else []  # none where no group is steady
        tables.append(table)
        worst = max(ratios, key=lambda each: abs(math.log(each)))
        what = f"{title}, {accountant}: noise/formula, the furthest from 1"
        verdicts.append(Verdict(what, worst, None, low=min(ratios), high=max(ratios)))
    return Report(tuple(tables), tuple(verdicts))


def _one(
    db: dpsql.Connection, sql: str, epsilon: float, truth: dict[object, float], repetitions: int
) -> tuple[float, ...]:
    session = session_of(db)
    terms = Terms(session.accountant, session.budget, epsilon)
    what = planned(session, Source(sql), (), terms).stages[0].measures[0]
    exact: ExactTable = session.engine.measure(what)
    quiet = release(exact, what, _no_noise)
    kept = _steady(what, quiet.sums)
    true = _values(what, exact, _no_noise)[kept]
    plain_values = np.array([float(truth.get(group[0]) or 0) for group in quiet.groups])[kept]
    drawn = np.array([_values(what, exact, from_system)[kept] for _ in range(repetitions)])
    if not kept.any():
        return (math.nan,) * 5
    noise = _rms(drawn - true)
    expected = _rms(_formula(what, quiet.sums[kept]))
    return noise, expected, noise / expected, _rms(drawn - plain_values), float(np.median(plain_values))


def _no_noise(noise: Noise, size: int) -> NDArray[np.int64]:
    return np.zeros(size, np.int64)


def _values(what: Planned, exact: ExactTable, draw: Draw) -> Floats:
    """The one aggregate of every group, in the order of the keys; None never stands in a steady group."""
    column = finish(release(exact, what, draw), what)[-1]
    return np.array([np.nan if value is None else value for value in column.values], dtype=np.float64)


def _steady(what: Planned, sums: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Groups in which the first-order formula holds: an average needs many more rows than noise."""
    if len(what.measure.statistics) == 1:
        return np.full(len(sums), True)
    held: NDArray[np.bool_] = sums.sum(axis=1) > 30 * mechanism(what.noise.mechanism).deviation(
        what.noise.scale
    )
    return held


def _formula(what: Planned, sums: NDArray[np.int64]) -> Floats:
    deviation = mechanism(what.noise.mechanism).deviation(what.noise.scale)
    last = what.measure.statistics[-1]
    if len(what.measure.statistics) == 1:
        return np.full(len(sums), deviation * float(last.step))
    rest, total = sums[:, 0].astype(np.float64), sums[:, 1].astype(np.float64)
    width = float(last.step) * last.most
    return np.asarray(deviation * width * np.hypot(rest, total) / (rest + total) ** 2, np.float64)


def _rms(numbers: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(numbers))))
