"""At the same epsilon and delta, how large is dpsql's error compared with other systems?

One-row people by state, fifty public groups, one query for each of COUNT, SUM, AVG and VAR. Every rival runs
its released version in its own environment (under the folder PEERS, or one for this run alone), and is asked
as its documentation recommends. The figure is the root mean square of (answer - truth) over all groups and
repetitions. The ratio is a rival's figure over dpsql's, with an interval of two standard errors. Its upper
end is judged, since with equal noise the ratio is 1 only up to chance.

    opendp       0.16, its Polars context: one noise scale for all columns of a query
    smartnoise   smartnoise-sql 1.0.10; its epsilon is per statistic, so each gets an equal part
    DPSQL+       the published method (arXiv 2602.22699), drawn here by its formulas: of k aggregates each
                 gets epsilon/(k+1) and delta/(k+1), with analytic Gaussian noise, on Bernstein moments

A rival that does not install is named and left out.
"""

from __future__ import annotations

import math

import duckdb
import numpy as np
from numpy.typing import NDArray

from benchmarks.data import connect, people, plain
from benchmarks.released import Drawn
from benchmarks.rivals.environment import LeftOut, answered
from benchmarks.timing import Report, Setting, Table, Verdict
from dpsql.accounting.conversions import analytic_sigma

EPSILON, DELTA = 1.0, 1e-6
RIVALS = ("opendp", "smartnoise")
ASKED = {
    "COUNT": "COUNT(*)",
    "SUM": "SUM(income)",
    "AVG": "AVG(age)",
    "VAR": "VAR_POP(age)",
}
_TRUE = {"SUM": "SUM(LEAST(income, 200000))"}  # the bound is the owner's; all rivals clip there too

_KURTOSIS = 5.0
"""Of Laplace noise, less one: the square of its deviation is told by n draws to sqrt(5 / n) of itself."""

Floats = NDArray[np.float64]


def run(setting: Setting) -> Report:
    path = people(setting, 20_000 if setting.quick else 200_000)
    repetitions = 2 if setting.quick else 40
    table = Table(
        f"root mean square error by group at epsilon {EPSILON:g}, delta {DELTA:g}",
        ("aggregate", "ours", "ours, pure", *RIVALS, "DPSQL+ method"),
    )
    told, verdicts = [], []
    data = setting.folder / "people.parquet"
    with duckdb.connect(str(path), read_only=True) as connection:
        connection.execute(f"COPY people TO '{data}' (FORMAT parquet)")
    with connect(path, "approx") as db, connect(path, "pure") as pure:
        cursor = plain(db)
        states = [
            str(row[0]) for row in cursor.execute("SELECT DISTINCT state FROM people ORDER BY 1").fetchall()
        ]
        theirs: dict[str, dict[str, list[dict[str, float]]]] = {}
        for name in RIVALS:
            theirs[name] = {}
            try:
                said = answered(name, "errors", setting, data, EPSILON, DELTA, repetitions)
            except LeftOut as why:
                told.append(f"{name}: {why}")
                continue
            for each in said:
                theirs[name].setdefault(each["aggregate"], []).append(each["values"])
        for aggregate, call in ASKED.items():
            sql = f"SELECT state, {call} FROM people GROUP BY state"
            true = dict(cursor.execute(sql.replace(call, _TRUE.get(aggregate, call))).fetchall())
            truth = np.array([float(true[state]) for state in states])
            drawn = [Drawn(each, sql, EPSILON).values(200) for each in (db, pure)]
            ours, in_pure = (_rms(each[:, : len(states)] - truth) for each in drawn)  # NULL comes last
            found: dict[str, float] = {}
            for name, answers in theirs.items():
                given = np.array(
                    [[each.get(state, math.nan) for state in states] for each in answers.get(aggregate, [])]
                )
                found[name] = _rms(given - truth) if given.size else math.nan
            found["DPSQL+ method"] = _rms(_published(cursor, aggregate, states, 200) - truth)
            table.rows.append((aggregate, ours, in_pure, *found.values()))
            for name, error in found.items():
                if not math.isnan(error):
                    what, ratio = f"{aggregate}: error of {name} over ours, upper end", error / ours
                    told_by = len(truth) * (200 if name == "DPSQL+ method" else repetitions)
                    off = 2 * math.sqrt(_KURTOSIS / 4 * (1 / told_by + 1 / (200 * len(truth))))
                    low, high = ratio * (1 - off), ratio * (1 + off)
                    verdicts.append(Verdict(what, high, 1.0, at_least=True, low=low, high=high))
    left_out = [Table("left out", ("rival",), [(each,) for each in told])] if told else []
    return Report((table, *left_out), tuple(verdicts))


def _published(
    cursor: duckdb.DuckDBPyConnection, aggregate: str, states: list[str], repetitions: int
) -> Floats:
    """Return the published method's answers for a query of this one aggregate."""
    sigma = analytic_sigma(EPSILON / 2, DELTA / 2)
    rows = cursor.execute(
        "SELECT state, count(*), sum(LEAST(income, 200000)), sum(age / 120), sum((age / 120) ** 2) "
        "FROM people GROUP BY state ORDER BY state"
    ).fetchall()
    assert [row[0] for row in rows] == states
    n, income, one, two = (np.array([float(row[i]) for row in rows]) for i in range(1, 5))
    draw = np.random.default_rng(1)

    def noised(exact: Floats, sensitivity: float = 1.0) -> Floats:
        return np.asarray(exact + draw.normal(0, sigma * sensitivity, (repetitions, len(exact))), np.float64)

    match aggregate:
        case "COUNT":
            return noised(n)
        case "SUM":
            return noised(income, 200_000.0)
        case "AVG":  # the cells of degree one
            rest, total = noised(n - one), noised(one)
            return 120 * np.clip(total / np.maximum(rest + total, 1), 0, 1)
        case _:  # VAR: the cells of degree two
            b0, b1, b2 = noised(n - 2 * one + two), noised(2 * (one - two)), noised(two)
            rows_ = np.maximum(b0 + b1 + b2, 1)
            return 120**2 * np.clip(b2 / rows_ - ((b2 + b1 / 2) / rows_) ** 2, 0, 0.25)


def _rms(errors: Floats) -> float:
    return float(np.sqrt(np.nanmean(np.square(errors))))
