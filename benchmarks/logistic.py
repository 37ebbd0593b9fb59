"""How exact are logistic fits to private rows, and do their intervals hold?

A made-up law of ten numbers on [-1, 1], true of one person in five, a price of 1 with delta 1e-6 under
``zcdp``, one row to a person; every fit is `SELECT * FROM DP_LOGISTIC(...)` with its own noise. Errors are
RMSE of coefficients to the fit without privacy, over data sets:

    by chance         the fit's own standard error: how far it is from the law
    ours              through SQL
    mean of 6, of 10  the mean of the last half of 6 and of 10 weights that start at 0, each with its step by
                      one noisy matrix: no gradient corrects what the steps have not reached
    objective         objective perturbation with Gaussian noise (Kifer, Smith and Thakurta 2012), its optimum
                      taken as exact

"In margin" are coefficients of the fit without privacy, "law held" those of the law from ``low`` to ``high``,
where these are not NULL. AUC is of the same rows.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import duckdb
import numpy as np
from numpy.typing import NDArray

import dpsql
from benchmarks.timing import Report, Setting, Table, Verdict
from dpsql.accounting import Budget, accountant

Floats = NDArray[np.float64]

LAW = np.array((-1.5, 1.0, -0.8, 0.6, -0.4, 0.2, 1.0, -0.8, 0.6, -0.4, 0.2))
DELTA = 1e-6
NAMES = "abcdefghij"
POLICY = """
[budget]
epsilon = 1.0
delta = 1e-6
[query]
epsilon = 1.0
max_epsilon = 1.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
id = {}
y = {}
""" + "".join(f"{name} = {{ range = [-1.0, 1.0] }}\n" for name in NAMES)
ASKED = f"SELECT * FROM DP_LOGISTIC((SELECT y, {', '.join(NAMES)} FROM people))"
COLUMNS = (
    *("persons", "data sets", "by chance", "ours", "mean of 6", "mean of 10", "objective"),
    *("AUC", "AUC without privacy", "in margin", "law held", "NULL"),
)


def run(setting: Setting) -> Report:
    sizes = ((1_000, 1),) if setting.quick else ((1_000, 12), (10_000, 200), (100_000, 40))
    table = Table("a logistic fit on ten numbers, epsilon 1", COLUMNS)
    for persons, sets in sizes:
        found = np.array([_figures(setting, persons, seed) for seed in range(sets)])
        errors = np.sqrt(found[:, :5].mean(axis=0)).tolist()
        told = np.isfinite(found[:, 7])
        held = found[told, 7:].mean(axis=0).tolist() if told.any() else [math.nan, math.nan]
        table.rows.append(
            (persons, sets, *errors, *found[:, 5:7].mean(axis=0).tolist(), *held, float(1 - told.mean()))
        )
    return Report((table,), tuple(_verdicts(table, setting.quick)))


def _verdicts(table: Table, quick: bool) -> list[Verdict]:
    verdicts = []
    for row in table.rows:
        found = dict(zip(COLUMNS, row, strict=True))
        best = min(found[name] for name in ("mean of 6", "mean of 10", "objective"))
        said = f"{found['persons']:,} persons"
        verdicts.append(Verdict(f"{said}: error beside the best of the others", found["ours"] / best, 1.15))
        if found["persons"] >= 10_000 and not quick:
            for what in ("in margin", "law held"):
                verdicts += [
                    Verdict(f"{said}: {what}", found[what], 0.92, at_least=True),
                    Verdict(f"{said}: {what}, at most", found[what], 0.98),
                ]
    return verdicts


def _figures(setting: Setting, persons: int, seed: int) -> tuple[float, ...]:
    """Return mean squares of the errors, AUCs, and how many coefficients were held."""
    generator = np.random.default_rng(seed)
    numbers = np.clip(generator.normal(0, 0.4, (persons, len(NAMES))), -1, 1)
    terms = np.column_stack((np.ones(persons), numbers))
    truth = generator.random(persons) < _chances(terms @ LAW)
    best = _newton(terms, truth)
    rows = _asked(setting, persons, numbers, truth)
    ours, low, high, margin = (
        np.array([math.nan if row[place] is None else row[place] for row in rows], dtype=np.float64)
        for place in (1, 3, 4, 5)
    )
    others = (LAW, ours, *(_mean(terms, truth, steps, generator) for steps in (6, 10)))
    told = bool(np.isfinite(margin).all())
    return (
        *(float(np.square(each - best).mean()) for each in (*others, _objective(terms, truth, generator))),
        _auc(terms @ ours, truth),
        _auc(terms @ best, truth),
        float((np.abs(ours - best) <= margin).mean()) if told else math.nan,
        float(((low <= LAW) & (high >= LAW)).mean()) if told else math.nan,
    )


_NUMBER = itertools.count()


def _asked(
    setting: Setting, persons: int, numbers: Floats, truth: NDArray[np.bool_]
) -> list[tuple[object, ...]]:
    path = setting.folder / f"logistic-{persons}-{next(_NUMBER)}.duckdb"
    with duckdb.connect(str(path)) as plain:
        columns = {name: numbers[:, place].tolist() for place, name in enumerate(NAMES)}
        columns["y"] = truth.tolist()
        listed = ", ".join(f"unnest(${name}) AS {name}" for name in columns)
        plain.execute(f"CREATE TABLE people AS SELECT unnest(range({persons})) AS id, {listed}", columns)
    path.with_suffix(".toml").write_text(POLICY, encoding="utf-8")
    with dpsql.connect(str(path)) as db:
        found: list[tuple[object, ...]] = db.execute(ASKED).fetchall()
    path.unlink()
    return found


# ---- without SQL ---------------------------------------------------------------------------------------


def _chances(sums: Floats) -> Floats:
    chances: Floats = 1 / (1 + np.exp(-np.clip(sums, -30, 30)))
    return chances


def _newton(
    terms: Floats, truth: NDArray[np.bool_], ridge: float = 0.0, tilt: Floats | None = None
) -> Floats:
    """Minimize the loss, with ridge / 2 times the square of the weights, and a tilt times them."""
    weights, tilted = np.zeros(terms.shape[1]), np.zeros(terms.shape[1]) if tilt is None else tilt
    for _ in range(50):
        p = _chances(terms @ weights)
        curvature = (terms * (p * (1 - p))[:, np.newaxis]).T @ terms + ridge * np.eye(len(weights))
        step = np.linalg.solve(curvature, terms.T @ (p - truth) + ridge * weights + tilted)
        weights -= step * min(1.0, 5 / float(np.linalg.norm(step)))
    return weights


def _deviation(share: float) -> float:
    """Return the deviation of noise at this share of the price, for what a person moves by 1."""
    part = Fraction(share).limit_denominator(10_000)
    found = accountant("zcdp").allowance(1.0, Budget(1.0, DELTA), part, thresholds=False).gaussian
    assert found is not None
    return found


def _mean(terms: Floats, truth: NDArray[np.bool_], steps: int, generator: np.random.Generator) -> Floats:
    """Return the mean of the last half of the weights; rows are scaled into the unit ball."""
    width = terms.shape[1]
    rows, deviation = terms / math.sqrt(width), _deviation(0.15)
    noise = np.triu(generator.normal(0, deviation / math.sqrt(2), (width, width)), 1)
    noise = noise + noise.T + np.diag(generator.normal(0, deviation, width))
    values, vectors = np.linalg.eigh(rows.T @ rows + noise)
    scaled = 4 * (vectors / np.maximum(values, 2 * deviation * math.sqrt(width))) @ vectors.T
    weights, taken, spread = np.zeros(width), list[Floats](), _deviation(0.7 / steps)
    for _ in range(steps):
        gradient = rows.T @ (_chances(rows @ weights) - truth) + generator.normal(0, spread, width)
        weights = weights - scaled @ gradient
        taken.append(weights)
    mean: Floats = np.mean(taken[steps // 2 :], axis=0) / math.sqrt(width)
    return mean


def _objective(terms: Floats, truth: NDArray[np.bool_], generator: np.random.Generator) -> Floats:
    """Return the optimum of the perturbed objective; rows are scaled into the unit ball."""
    width = terms.shape[1]
    rows = terms / math.sqrt(width)
    tilt = generator.normal(0, math.sqrt(8 * math.log(2 / DELTA) + 4), width)
    return _newton(rows, truth, 2 * 0.25, tilt) / math.sqrt(width)


def _auc(scores: Floats, truth: NDArray[np.bool_]) -> float:
    """Return how often one who is has a higher score than one who is not."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores)] = np.arange(1, len(scores) + 1)
    yes = int(truth.sum())
    return float((ranks[truth].sum() - yes * (yes + 1) / 2) / (yes * (len(truth) - yes)))
