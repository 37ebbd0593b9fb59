"""How much more exact is a file that is measured together, and a private view, through the engine?

On the demo's clinic of 20,000 patients. Errors are root mean squares over the statements (over the questions,
of a view), in patients: as the planner expects them, and over draws of noise on the engine's own sums, which
go the whole way to numbers. Apart, each statement is by itself, its own numbers together where that is
better.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dpsql
from benchmarks.data import session_of
from benchmarks.timing import Report, Setting, Table, Verdict
from dpsql.audit import plan_of
from dpsql.batch.bill import first_bill
from dpsql.batch.script import read
from dpsql.cli.demo_data import POLICY, build
from dpsql.detail_kinds import Draw
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.table import ReleasedTable
from dpsql.mechanisms import mechanism
from dpsql.mechanisms.strategies.rows import Listed
from dpsql.plan.joint import deviation_of
from dpsql.plan.noise_choice import deviation
from dpsql.post.joint import numbers_of
from dpsql.release.release import release

Floats = NDArray[np.float64]

FORTY = (Path(__file__).parent / "forty.sql").read_text(encoding="utf-8")
TOTAL = 2.0
VIEW = "CREATE PRIVATE VIEW census WITH (ranges = (age)) AS SELECT age, sex, ward FROM patients"
QUESTIONS = 1_000


LEAST = {(True, "pure"): 10.0, (True, "zcdp"): 4.0, (False, "pure"): 50.0, (False, "zcdp"): 5.0}
"""How many times less the error is to be, of the file and of the view."""


def run(setting: Setting) -> Report:
    found = _table(setting, 20 if setting.quick else 500)
    verdicts = []
    for asked, accountant, _, _, _, together, drawn, gain in found.rows:
        least = LEAST["file" in asked, accountant]
        verdicts.append(Verdict(f"{asked}, {accountant}: apart / together", gain, least, at_least=True))
        verdicts.append(Verdict(f"{asked}, {accountant}: drawn / expected", drawn / together, None))
    return Report((found,), tuple(verdicts))


def _table(setting: Setting, draws: int) -> Table:
    """Return the errors of the file and of the view, under both accountants."""
    rows = []
    for accountant, delta in (("pure", 0.0), ("zcdp", 1e-6)):
        folder = setting.folder / f"clinic-{accountant}"
        folder.mkdir(exist_ok=True)
        data = build(folder)
        budget = f'epsilon = 100.0\ndelta = {delta}\naccountant = "{accountant}"'
        policy = POLICY.replace("epsilon = 5.0\ndelta = 1e-6", budget)
        data.with_suffix(".toml").write_text(policy)
        with dpsql.connect(data) as db:
            rows += [("a file of 40 statements", accountant, *_file(db, draws))]
            rows += [(f"{QUESTIONS:,} questions of a view", accountant, *_view(db, draws))]
    return Table(
        f"through the engine, {draws} draws",
        ("asked", "accountant", "cells", "strategy", "apart", "together", "drawn", "apart / together"),
        rows,
    )


def _file(db: dpsql.Connection, draws: int) -> tuple[Any, ...]:
    script = read(FORTY, "forty.sql")
    apart, together = (first_bill(db, script, TOTAL, alone).items for alone in (True, False))
    errors = [
        _root([deviation_of(item.plan.measures[0]) ** 2 for item in each]) for each in (apart, together)
    ]
    asked = [item.plan.measures[0] for item in together]
    inner = asked[0].measured
    assert inner.applied is not None
    assert all(each.measured.noise == inner.noise for each in asked)
    one = asked[0].measure.statistics[0].most

    def answers(cells: ReleasedTable) -> list[Floats]:
        return [numbers_of(cells, each, every_group=True).sums.astype(np.float64) / one for each in asked]

    squares = []
    for numbers, truth in _drawn(db, inner, draws, answers):
        squares.append(np.mean([np.square(n - t).mean() for n, t in zip(numbers, truth, strict=True)]))
    strategy = inner.applied.strategy
    return (strategy.cells, strategy.name, *errors, _root(squares), errors[0] / errors[1])


def _view(db: dpsql.Connection, draws: int) -> tuple[Any, ...]:
    """Random ranges of ages, of one sex or of one ward, at the price that as many counts would share."""
    session = session_of(db)
    (view,) = plan_of(session, VIEW, TOTAL).measures
    alone = session.accountant.allowance(TOTAL, session.budget, Fraction(1, QUESTIONS), False)
    apart = min(
        mechanism(name).deviation(ratio)
        for name, ratio in (("laplace", 1 / alone.laplace), ("gaussian", alone.gaussian))
        if ratio is not None
    )
    assert view.applied is not None
    listed = view.rule.groups_listed()
    assert listed is not None
    groups = listed.groups
    rows = _ranges(groups)
    strategy, one = view.applied.strategy, view.measure.statistics[0].most
    by_cell = np.zeros((QUESTIONS, strategy.cells))
    for place, cell in enumerate(view.applied.places):
        by_cell[:, cell] += rows[:, place] if cell >= 0 else 0
    expected = _root(strategy.variances_of(Listed(by_cell)).tolist()) * deviation(view.noise) / one
    places = {group: place for place, group in enumerate(groups)}

    def answers(released: ReleasedTable) -> list[Floats]:
        numbers = np.zeros(len(groups))
        numbers[[places[group] for group in released.groups]] = released.sums[:, 0] / one
        return [rows @ numbers]

    squares = [
        float(np.square(numbers - truth).mean())
        for (numbers,), (truth,) in _drawn(db, view, max(1, draws // 10), answers)
    ]
    return (strategy.cells, strategy.name, apart, expected, _root(squares), apart / expected)


def _ranges(groups: list[tuple[Any, ...]]) -> Floats:
    generator = random.Random(1)
    ages = sorted({age for age, _, _ in groups if age is not None})
    sexes, wards = (sorted({group[at] for group in groups if group[at] is not None}) for at in (1, 2))
    rows = np.zeros((QUESTIONS, len(groups)))
    for row in rows:
        low, high = sorted(generator.sample(ages, 2))
        at, value = generator.choice([(1, generator.choice(sexes)), (2, generator.choice(wards))])
        row[:] = [group[0] is not None and low <= group[0] <= high and group[at] == value for group in groups]
    return rows


def _drawn(
    db: dpsql.Connection, planned: MeasurePlan, draws: int, answers: Callable[[ReleasedTable], list[Floats]]
) -> Iterator[tuple[list[Floats], list[Floats]]]:
    """Yield the answers of releases of the same sums, each beside those without noise."""
    exact = session_of(db).engine.measure(planned)
    truth = answers(release(exact, planned, lambda noise, size: np.zeros(size, np.int64)))
    for number in range(draws):
        yield answers(release(exact, planned, _seeded(number))), truth


def _seeded(seed: int) -> Draw:
    words = random.Random(seed)
    return lambda noise, size: mechanism(noise.mechanism).draw(noise.scale, size, words.randbytes)


def _root(squares: list[float]) -> float:
    return math.sqrt(math.fsum(squares) / len(squares))
