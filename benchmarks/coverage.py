"""How often do the 95 % intervals hold the truth, in groups of 20, 200 and 20,000?

The truth is the same aggregate of the exact clipped sums, since an interval covers only noise. The engine
measures once; then the release is drawn many times with the system's randomness, as for every answer.
``half-width`` is the share of draws with |value - truth| <= margin, ``interval`` the share with
low <= truth <= high, both among the draws with a margin. An aggregate that is not answered is left out.
Shares are not judged if one draw in twenty has no margin, or for arithmetic over two noisy numbers. A
median's margin includes its bins: its truth is the quantile of the rows.

The last table is for a group with a private key, which appears only if its noisy count reaches the threshold:
the share of intervals that hold the true count, among the draws that show the group. ``plain`` is the share
with the mechanism's half-width alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import dpsql
from benchmarks.data import connect, plain, session_of, sized
from benchmarks.timing import Report, Setting, Table, Verdict
from dpsql.errors import Error
from dpsql.ir.plan import MeasurePlan, Noise, Threshold
from dpsql.ir.source import Source
from dpsql.ir.table import ReleasedTable
from dpsql.mechanisms import mechanism
from dpsql.plan.terms import Terms
from dpsql.planning import planned
from dpsql.post.finish import finish
from dpsql.release.release import from_system, release

SIZES = (20, 200, 20_000)
COPIES = 20
"""Towns of each size, each with rows of its own: the middle of one town's rows may lie in a gap."""
AGGREGATES = (
    "COUNT(*)",
    "SUM(age)",
    "AVG(age)",
    "VAR_SAMP(age)",
    "STDDEV(age)",
    "CORR(age, income)",
    "MEDIAN(income)",
    "SUM(income) / COUNT(*)",
    "SUM(income) / SUM(age)",
    "STDDEV(age) / AVG(age)",
)
EPSILON = 0.85  # where whole numbers are not far apart: a count's interval can then be near 95 %


def run(setting: Setting) -> Report:
    path = sized(setting, tuple(size for size in SIZES for _ in range(COPIES)))
    repetitions = 100 if setting.quick else 2_000
    tables, shares = [], []
    for accountant in ("pure", "zcdp"):
        table = Table(
            f"by group, {accountant}, epsilon {EPSILON:g}: share of {repetitions:,} draws",
            ("aggregate", "group of", "half-width", "interval", "typical margin", "no value"),
        )
        with connect(path, accountant) as db:
            for aggregate in AGGREGATES:
                what = _planned(db, f"SELECT town, {aggregate} AS x FROM people GROUP BY town")
                if what is not None:
                    for size, row in zip(SIZES, _shares(db, what, repetitions), strict=True):
                        table.rows.append((aggregate, size, *row))
                        shares += [row[1]] if row[3] < 0.05 and "/" not in aggregate else []
        tables.append(table)
    with connect(path, "zcdp") as db:
        tables.append(_near(db, setting))
    verdicts = (
        Verdict("the least share", min(shares), 0.93, at_least=True),
        Verdict("the greatest share", max(shares), 0.97),
    )
    return Report(tuple(tables), verdicts)


def _planned(db: dpsql.Connection, sql: str) -> MeasurePlan | None:
    """Return the one measure of a query; None if it is refused."""
    session = session_of(db)
    terms = Terms(session.accountant, session.budget, EPSILON)
    try:
        (what,) = planned(session, Source(sql), (), terms).stages[0].measures
    except Error:
        return None
    return what


def _shares(db: dpsql.Connection, what: MeasurePlan, repetitions: int) -> list[tuple[float, ...]]:
    """Return for each size: half-width, interval, median margin, share of draws without a value."""
    exact = session_of(db).engine.measure(what)
    if what.details:
        rows = "SELECT median(income) FROM people GROUP BY town ORDER BY town"
        truth = np.array([each for (each,) in plain(db).execute(rows).fetchall()])
    else:
        truth = _numbers(finish(release(exact, what, _no_noise), what)[-1].values)
    releases = repetitions // COPIES
    drawn = [finish(release(exact, what, from_system), what)[-1] for _ in range(releases)]
    value = np.array([_numbers(each.values) for each in drawn])
    half = np.array([each.margins for each in drawn])
    low, high = np.array([each.low for each in drawn]), np.array([each.high for each in drawn])
    there = ~np.isnan(value) & ~np.isnan(half)
    slack = 1e-9 * np.abs(truth)  # the ends are floats
    within = np.abs(value - truth) <= half + slack
    between = (low - slack <= truth) & (truth <= high + slack)
    rows = []
    for first in range(0, len(truth), COPIES):
        some = (slice(None), slice(first, first + COPIES))
        held = there[some]
        rows.append(
            (
                float(within[some][held].mean()),
                float(between[some][held].mean()),
                float(np.median(half[some][held])),
                float(1 - held.mean()),
            )
        )
    return rows


def _near(db: dpsql.Connection, setting: Setting) -> Table:
    """Counts of private groups around the threshold."""
    table = Table(
        f"a private group's count, zcdp, epsilon {EPSILON:g}, of the draws that show it",
        ("true count", "threshold", "shown", "plain", "half-width", "interval"),
    )
    what = _planned(db, "SELECT street, COUNT(*) AS x FROM people GROUP BY street")
    assert what is not None
    rule = what.rule
    assert isinstance(rule, Threshold)
    draws = 20_000 if setting.quick else 1_000_000
    one = what.measure.statistics[0].most
    width = mechanism(what.noise.mechanism).half_width(what.noise.scale)
    for far in (-12, -6, -2, 0, 3, 8, 20):
        true = round(rule.units) + far
        noisy = true * one + from_system(what.noise, draws)
        noisy = noisy[noisy >= rule.steps][:2_000]
        if len(noisy) < 50:
            continue
        found = finish(ReleasedTable([("x",)] * len(noisy), noisy[:, np.newaxis]), what)[-1]
        value = _numbers(found.values)
        assert found.margins is not None
        assert found.low is not None
        assert found.high is not None
        table.rows.append(
            (
                true,
                rule.units,
                len(noisy),
                float(np.mean(np.abs(noisy - true * one) <= width)),
                float(np.mean(np.abs(value - true) <= found.margins)),
                float(np.mean((found.low <= true) & (true <= found.high))),
            )
        )
    return table


def _no_noise(noise: Noise, size: int) -> NDArray[np.int64]:
    return np.zeros(size, np.int64)


def _numbers(values: list[object]) -> NDArray[np.float64]:
    return np.array([np.nan if each is None else float(each) for each in values], np.float64)  # type: ignore[arg-type]  # numbers here
