"""What does a holdout that is asked again and again claim, and what would a private one cost?

2,000 persons and 2,000 features, labels that nothing predicts: the truth is one half. An analyst keeps the
features whose correlation with the label has the same sign, and is above 1 / sqrt(n), in a public sample and
in the holdout, and asks the holdout how often their vote is right (Dwork and others 2015).

    reused        all answers of the holdout are exact
    Thresholdout  answers are those of the public sample, until the holdout's differs by more than .04: a
                  comparison with the noise of an alert whose questions move both ways; then the holdout's
                  answer with noise, which is paid for, as is a new threshold

The second table asks the statement itself, through SQL.

"Epsilon" is the sum of all that was paid under ``pure``: what a person moves a sum by is 2.
"""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

import dpsql
from benchmarks.timing import Report, Setting, Table, Verdict
from dpsql.mechanisms import above_threshold

Floats = NDArray[np.float64]

TOLERANCE, MOVES = 0.04, Fraction(2)
EPSILONS = (0.2, 0.05, 0.01)
"""Of each comparison that is true, with those before it; a noisy answer costs half of it."""


def run(setting: Setting) -> Report:
    size, sets = (200, 1) if setting.quick else (2_000, 10)
    table = Table(
        f"a vote of features, {size:,} persons and features, no signal",
        ("epsilon of each", "data sets", "reused", "Thresholdout", "truth", "paid answers", "epsilon"),
    )
    for epsilon in EPSILONS:
        found = np.array([_claims(size, epsilon, seed) for seed in range(sets)]).mean(axis=0).tolist()
        table.rows.append((epsilon, sets, *found, found[-1] * 1.5 * epsilon))
    said = f"claims of Thresholdout above one half, {EPSILONS[0]:g} each"
    through, verdicts = _through_sql(setting)
    return Report((table, through), (Verdict(said, table.rows[0][3] - 0.5, 0.07), *verdicts))


POLICY = """
[budget]
epsilon = 1.0
accountant = "pure"
[query]
epsilon = 1.0
max_epsilon = 1.0
[unit]
column = "id"
[tables.people]
rows_per_unit = 1
[tables.people.columns]
"""
QUESTIONS, TIMES = 20, 2


def _through_sql(setting: Setting) -> tuple[Table, list[Verdict]]:
    """Ask DP_HOLDOUT about 20 shares, of which the public ones of two are off by .1, for an epsilon of 1."""
    table = Table(
        f"DP_HOLDOUT, epsilon 1, {QUESTIONS} questions of which {TIMES} are off by .1",
        ("persons", "holdouts", "all right", "error of the two"),
    )
    verdicts = []
    for persons in (1_000,) if setting.quick else (1_000, 10_000, 100_000):
        folder, sets = setting.folder / f"holdout-{persons}", 1 if setting.quick else 50
        folder.mkdir()
        columns = ", ".join(f"(hash(i, {k}) % 2)::INTEGER AS x{k}" for k in range(QUESTIONS))
        with duckdb.connect(str(folder / "d.duckdb")) as connection:
            connection.execute(
                f"CREATE TABLE people AS SELECT i AS id, {columns} FROM range({persons}) AS t(i)"
            )
            connection.execute("ALTER TABLE people ADD PRIMARY KEY (id)")
            means = connection.execute("SELECT avg(COLUMNS('x.*')) FROM people").fetchall()[0]
        listed = "".join(f"x{k} = {{ range = [0, 1] }}\n" for k in range(QUESTIONS))
        (folder / "d.toml").write_text(POLICY + listed)
        found = [_asked(folder, seed, means) for seed in range(sets)]
        rights, errors = zip(*found, strict=True)
        share, error = (
            float(np.mean(rights)),
            float(np.mean([each for some in errors for each in some] or [1])),
        )
        table.rows.append((persons, sets, share, error))
        if persons == 10_000:
            verdicts.append(Verdict("all of 20 questions right, 10,000 persons", share, 0.9, at_least=True))
    return table, verdicts


def _asked(folder: Path, seed: int, means: tuple[float, ...]) -> tuple[bool, list[float]]:
    """Return whether a holdout answered as without noise, and how far its noisy means were off."""
    right, errors = True, list[float]()
    with dpsql.connect(folder / "d.duckdb", ledger=folder / f"{seed}.ledger") as db:
        db.execute(f"CREATE PRIVATE HOLDOUT h WITH (epsilon = 1, times = {TIMES})")
        for k, mean in enumerate(means):
            off = 0.1 if k in (5, QUESTIONS - 1) else 0.0
            public = round(mean + off, 6)
            try:
                ((answer,),) = db.execute(f"SELECT DP_HOLDOUT('h', {public}, AVG(x{k})) FROM people").rows
            except dpsql.OperationalError:  # it has ended
                return False, errors
            right = right and (answer == public) == (off == 0)
            if answer != public and answer is not None:
                errors.append(abs(answer - mean))
    return right, errors


def _claims(size: int, epsilon: float, seed: int) -> tuple[float, float, float, float]:
    """Return what both holdouts claim, what is true of others, and how many answers were paid."""
    generator = np.random.default_rng(seed)
    features = np.sign(generator.normal(size=(3, size, size)))
    labels = generator.choice([-1.0, 1.0], (3, size))
    public, private, _ = np.einsum("spf,sp->sf", features, labels) / size

    def right(kept: Floats, sample: int) -> float:
        return float(np.mean(np.sign(features[sample] @ kept + 1e-9) == labels[sample]))

    holdout = _Holdout(size, epsilon, generator)
    answers = np.array([holdout.answer(*pair) for pair in zip(public, private, strict=True)])
    kept, safe = _kept(public, private), _kept(public, answers)
    claimed = holdout.answer(2 * right(safe, 0) - 1, 2 * right(safe, 1) - 1)
    return right(kept, 1), (claimed + 1) / 2, right(safe, 2), holdout.paid


def _kept(public: Floats, holdout: Floats) -> Floats:
    """Return the sign of each feature that both samples agree on, and 0 for the others."""
    least = 1 / math.sqrt(len(public))
    agreed = (public * holdout > 0) & (np.abs(public) > least) & (np.abs(holdout) > least)
    return np.where(agreed, np.sign(public), 0.0)


class _Holdout:
    """The private sample of so many persons, asked about means on [-1, 1]."""

    def __init__(self, size: int, epsilon: float, generator: np.random.Generator) -> None:
        step = above_threshold.step_of(MOVES)
        self._generator, self.paid = generator, 0
        self._threshold = float(step) * above_threshold.scale_of_threshold(epsilon) / size
        self._question = float(step) * above_threshold.scale_of_question(MOVES, step, False, epsilon) / size
        self._answer = 2 / (epsilon / 2) / size
        self._limit = self._drawn()

    def _drawn(self) -> float:
        return TOLERANCE + self._generator.laplace(0, self._threshold)

    def answer(self, public: float, private: float) -> float:
        """Return the public answer while it is near, and else the private one with noise."""
        if abs(public - private) + self._generator.laplace(0, self._question) < self._limit:
            return public
        self.paid, self._limit = self.paid + 1, self._drawn()
        return private + self._generator.laplace(0, self._answer)
