"""A strategy that is measured in place of cells, with the noise that its columns need.

Claim   the noise is that of the cells' sensitivity: the largest norm of a column of the strategy times the L1
        norm that a unit's rows have over all cells.
Proof   The strategy's claim (mechanisms/strategies/strategy.py). The clip is in L1 for any noise, and
        ``declared_column`` is not below the exact norm.
        Geometric noise asks for whole units: the cells themselves, where no unit is scaled and a row counts
        one unit of the grid.
Test    tests/privacy/test_joint.py, tests/privacy/test_crossed.py, tests/privacy/test_private_views.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from dpsql.ir.plan import Applied, MeasurePlan, Norm
from dpsql.ir.strategy import Gram, Strategy
from dpsql.late_numpy import np
from dpsql.mechanisms import mechanism
from dpsql.mechanisms.strategies.dense import RankError
from dpsql.mechanisms.strategies.strategy import column
from dpsql.plan.clips import Clip, clips_of
from dpsql.plan.measure_facts import MeasureFacts
from dpsql.plan.noise_choice import LARGEST_SCALE, deviation, noise_with, whole_units

QUICK = 2.0**42
"""Scales below it are sampled quickly: entries of a matrix have fewer digits where that is enough."""

Chosen: TypeAlias = Callable[[Norm, int, float], "tuple[Strategy, float] | None"]
"""From the norm of columns, the clip, and the noise's deviation for a clip of one: the best strategy, and
the sum of squared errors of what is asked, for noise of variance 1 in each measured number."""


def plans_with(
    chosen: Chosen,
    facts: MeasureFacts,
    places: tuple[int, ...],
    gram: Gram,
    cells: Strategy,
    unit: int,
    asked: str,
) -> Iterator[tuple[MeasurePlan, float]]:
    """Yield a plan for each noise, with its sum of squared errors; ``cells`` is what measures these alone."""
    clip, _ = clips_of(facts)  # in L1 for any noise, so that the columns' norms bound it
    allowance = facts.allowance
    ratios = {"laplace": 1 / allowance.laplace, "gaussian": allowance.gaussian, "geometric": None}
    if allowance.geometric is not None and whole_units(facts, clip):
        ratios["geometric"] = 1 / allowance.geometric
    for name, ratio in ratios.items():
        if ratio is None:
            continue
        norm = mechanism(name).NORM
        try:
            if name == "geometric":
                best: tuple[Strategy, float] | None = cells, float(gram.diagonal().sum())
            else:
                best = chosen(norm, clip.steps, mechanism(name).deviation(ratio))
        except (RankError, np.linalg.LinAlgError):
            continue
        if best is None:
            continue
        strategy, error = best
        declared = declared_column(strategy, norm)
        wider = Clip(norm, clip.steps * declared, clip.shape)
        if not mechanism(name).scale_for(wider.steps, ratio) < LARGEST_SCALE:
            continue
        noise = noise_with(facts, name, wider, ratio)
        planned = MeasurePlan(
            *(facts.measure, facts.columns, facts.listed(), clip.shape, noise, None),
            *(facts.rows, facts.rows_from),
            applied=Applied(strategy, clip.steps, declared, places, gram, unit, asked),
        )
        yield planned, error * deviation(noise) ** 2


def declared_column(strategy: Strategy, norm: Norm) -> int:
    """Return a norm that no column is above, which does not depend on the last bits of a search."""
    exact = column(strategy, norm)
    return exact if strategy.shift == 0 else max(exact, 1 << strategy.shift)
