"""How exact are least squares on private rows, and do their intervals hold?

A made-up linear law of five numbers on [-1, 1], noise of .2 around it, a price of 1 with delta 1e-6 under
``zcdp``, one row to a person; every fit is `SELECT * FROM DP_LINEAR(...)` with its own noise. Errors are RMSE
of coefficients to the fit without privacy, over data sets:

    by chance     the fit's own standard error: how far it is from the law
    ours          through SQL
    one matrix    a Gram matrix of rows in the unit ball, with half the variance off its diagonal

Excess errors are those of predictions over the variance of y. Beside ours, of the same data:

    sums with y   these alone have noise, at the whole price, and the matrix is known: nobody who adds noise
                  to sums of products of values on [-1, 1] is more exact

"In margin" are coefficients of the fit without privacy, "law held" those of the law from ``low`` to ``high``.
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

LAW = np.array((0.1, 0.3, -0.2, 0.1, 0.05, 0.0))
AROUND = 0.2
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
y = { range = [-1.0, 1.0] }
a = { range = [-1.0, 1.0] }
b = { range = [-1.0, 1.0] }
c = { range = [-1.0, 1.0] }
d = { range = [-1.0, 1.0] }
e = { range = [-1.0, 1.0] }
"""
ASKED = "SELECT * FROM DP_LINEAR((SELECT y, a, b, c, d, e FROM people WHERE id >= -{n}))"


def run(setting: Setting) -> Report:
    sizes = ((1_000, 5), (10_000, 5)) if setting.quick else ((1_000, 100), (10_000, 200), (100_000, 50))
    table = Table(
        "a linear fit on five numbers, epsilon 1",
        (
            "persons",
            "data sets",
            "by chance",
            "ours",
            "one matrix",
            "excess error",
            "sums with y",
            "in margin",
            "law held",
            "NULL",
        ),
    )
    for persons, sets in sizes:
        found = [_figures(setting, persons, seed) for seed in range(sets)]
        chance, ours, matrix = (math.sqrt(np.mean([each[i] for each in found])) for i in range(3))
        excesses = [float(np.mean([each[i] for each in found])) for i in range(3, 5)]
        held = np.array([each[5:] for each in found], dtype=np.float64)
        told = np.isfinite(held[:, 0])
        margin, law = (float(held[told, i].mean()) if told.any() else math.nan for i in range(2))
        table.rows.append(
            (persons, sets, chance, ours, matrix, *excesses, margin, law, float(1 - told.mean()))
        )
    return Report((table,), tuple(_verdicts(table, setting.quick)))


def _verdicts(table: Table, quick: bool) -> list[Verdict]:
    verdicts = []
    for persons, _, _, ours, matrix, excess, _, margin, law, _ in table.rows:
        verdicts.append(Verdict(f"{persons:,} persons: error beside one matrix", ours / matrix, 1.0))
        if persons == 10_000:
            verdicts.append(Verdict("10,000 persons: excess error over the variance of y", excess, 1e-4))
        if persons >= 10_000 and not quick:
            for what, held in (("in margin", margin), ("law held", law)):
                verdicts += [
                    Verdict(f"{persons:,} persons: {what}", held, 0.92, at_least=True),
                    Verdict(f"{persons:,} persons: {what}, at most", held, 0.98),
                ]
    return verdicts


def _figures(setting: Setting, persons: int, seed: int) -> tuple[float, ...]:
    """Return mean squares of the errors, the excess errors, and how many coefficients were held."""
    generator = np.random.default_rng(seed)
    numbers = generator.uniform(-1, 1, (persons, 5))
    terms = np.column_stack((np.ones(persons), numbers))
    y = np.clip(terms @ LAW + generator.normal(0, AROUND, persons), -1, 1)
    best = np.linalg.lstsq(terms, y, rcond=None)[0]
    rows = _asked(setting, persons, np.column_stack((y, numbers)))
    coefficients, low, high, margin = (_column(rows, place) for place in (1, 3, 4, 5))
    known = _known_matrix(terms, y, generator)
    told = bool(np.isfinite(margin).all())
    return (
        float(np.square(LAW - best).mean()),
        float(np.square(coefficients - best).mean()),
        float(np.square(_by_one_matrix(terms, y, generator) - best).mean()),
        *(float(np.square(terms @ (each - best)).mean() / y.var()) for each in (coefficients, known)),
        float((np.abs(coefficients - best) <= margin).mean()) if told else math.nan,
        float(((low <= LAW) & (high >= LAW)).mean()) if told else math.nan,
    )


def _column(rows: list[tuple[object, ...]], place: int) -> Floats:
    return np.array([math.nan if row[place] is None else row[place] for row in rows], dtype=np.float64)


_NUMBER = itertools.count()


def _asked(setting: Setting, persons: int, rows: Floats) -> list[tuple[object, ...]]:
    path = setting.folder / f"models-{persons}-{next(_NUMBER)}.duckdb"
    with duckdb.connect(str(path)) as plain:
        columns = {name: rows[:, place] for place, name in enumerate("yabcde")}
        listed = ", ".join(f"unnest(${name}) AS {name}" for name in columns)
        plain.execute(
            f"CREATE TABLE people AS SELECT unnest(range({persons})) AS id, {listed}",
            {name: column.tolist() for name, column in columns.items()},
        )
    path.with_suffix(".toml").write_text(POLICY, encoding="utf-8")
    with dpsql.connect(str(path)) as db:
        found: list[tuple[object, ...]] = db.execute(ASKED.format(n=0)).fetchall()
    path.unlink()
    return found


def _deviation() -> float:
    """Return the deviation of noise for what a person moves by 1."""
    found = accountant("zcdp").allowance(1.0, Budget(1.0, 1e-6), Fraction(1), thresholds=False).gaussian
    assert found is not None
    return found


def _by_one_matrix(terms: Floats, y: Floats, generator: np.random.Generator) -> Floats:
    """Return least squares from one noisy matrix of terms and y, each of norm 1 at most in a row."""
    width = terms.shape[1]
    rows = np.column_stack((terms / math.sqrt(width), y))
    deviation = _deviation()
    made = rows.T @ rows + _symmetric(generator, width + 1, 2 * deviation, 2 * deviation / math.sqrt(2))
    values, vectors = np.linalg.eigh(made[:width, :width])
    lifted = (vectors * np.maximum(values, 2 * deviation)) @ vectors.T
    solved: Floats = np.linalg.solve(lifted, made[:width, width]) / math.sqrt(width)
    return solved


def _symmetric(generator: np.random.Generator, width: int, diagonal: float, beside: float) -> Floats:
    upper = np.triu(generator.normal(0, beside, (width, width)), 1)
    noise: Floats = upper + upper.T + np.diag(generator.normal(0, diagonal, width))
    return noise


def _known_matrix(terms: Floats, y: Floats, generator: np.random.Generator) -> Floats:
    """Return least squares with noise in the sums with y alone."""
    width = terms.shape[1]
    right = terms.T @ y + generator.normal(0, math.sqrt(width) * _deviation(), width)
    solved: Floats = np.linalg.solve(terms.T @ terms, right)
    return solved
