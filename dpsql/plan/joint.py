"""Numbers that are measured together: whether their cells, by a strategy, make them more exact.

    SELECT ward, sex, smoker, COUNT(*) ... GROUP BY CUBE (ward, sex, smoker)

    alone      a row counts in eight groups: the noise of 8 (L1) or of the root of 8 (L2) in every number
    together   a row is in one of 54 cells; a matrix of them is measured, made for all these numbers

Claim   the noise is that of the cells' sensitivity: the largest norm of a column of the strategy times the
        L1 norm that a unit's rows have over all cells.
Proof   A row is in one cell (workload/cells.py), so that a measure of one count by cells bounds a unit's L1
        norm as any measure does, and the engine enforces it, also where the noise is Gaussian. The rest is
        the strategy's claim (mechanisms/strategies/strategy.py). ``column`` is not below its exact norm.
Test    tests/privacy/test_joint.py; grammar_tests
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from dpsql.facts import schema
from dpsql.ir.column import Categories
from dpsql.ir.measure import KeyList, Measure
from dpsql.ir.plan import Applied, Joint, MeasurePlan, Norm
from dpsql.ir.relation import Named
from dpsql.ir.statistic import Family
from dpsql.ir.strategy import Integers, Strategy
from dpsql.mechanisms import mechanism
from dpsql.mechanisms.strategies import gram
from dpsql.mechanisms.strategies.cache import StrategyCache
from dpsql.mechanisms.strategies.dense import RankError
from dpsql.mechanisms.strategies.strategy import column
from dpsql.plan.clips import Clip, clips_of
from dpsql.plan.measure_facts import MeasureFacts
from dpsql.plan.noise_choice import LARGEST_SCALE, deviation, noise_with
from dpsql.workload.cells import Cells, cells_of
from dpsql.workload.questions import counts_alone, numbers_of

GAIN = 0.95
"""Numbers are measured together where their error falls at least to this part."""

MOST_NUMBERS = 8_192

_FEW = 3
"""Numbers of fewer statistics and grouping sets in all are measured one by one."""


@cache
def strategies() -> StrategyCache:
    """Return the strategies that this process has found."""
    return StrategyCache()


def joint(facts: MeasureFacts, facts_of: Callable[[Measure], MeasureFacts]) -> MeasurePlan | None:
    """Return the plan that measures a measure's numbers together; None where it has no cells."""
    measure = facts.measure
    if len(measure.statistics) * measure.copies < _FEW:
        return None
    if not facts.public.whole or not counts_alone(measure) or facts.rows_from.startswith("max_groups"):
        return None
    listed = facts.listed()
    if len(listed.groups()) * len(measure.statistics) > MOST_NUMBERS:
        return None
    numbers = numbers_of(measure, listed)
    cells = None if numbers is None else cells_of(numbers, schema.facts_of(measure.uncopied))
    if cells is None or not cells.parts:
        return None
    places, rows = distinct(cells)
    best = min(_plans(facts_of(by_cell(measure, cells)), places, rows), key=_error, default=None)
    if best is None:
        return None
    plan = MeasurePlan(
        measure, facts.columns, listed, best.shape, best.noise, None, best.rows, best.rows_from
    )
    return replace(plan, joint=Joint(best, rows))


def variance(planned: MeasurePlan) -> float:
    """Return the variance of all numbers of all groups, each relative to what one row adds to it."""
    assert planned.joint is not None
    most = planned.measure.statistics[0].most
    return _error(planned.joint.cells) / most**2


def distinct(cells: Cells) -> tuple[tuple[int, ...], Integers]:
    """Return which cells no number tells apart, as the place of each, and W with one column for all alike."""
    columns, numbers = dict[bytes, int](), list[Integers]()
    places = []
    for each in np.ascontiguousarray(cells.rows.T):
        if not each.any():
            places.append(-1)
            continue
        told = np.packbits(each).tobytes()
        if told not in columns:
            columns[told] = len(numbers)
            numbers.append(each.astype(np.int64))
        places.append(columns[told])
    return tuple(places), np.array(numbers, dtype=np.int64).T


def by_cell(measure: Measure, cells: Cells) -> Measure:
    """Return the measure that counts the rows of each cell."""
    one = replace(measure.statistics[0], argument=None, condition=None)
    keys = tuple(Named(f"cell {place}", part) for place, part in enumerate(cells.parts))
    return Measure(
        measure.name,
        measure.uncopied,
        keys,
        measure.aggregates,
        measure.span,
        statistics=(one,),
        families=(Family(((0,),), one.most),),
        titles=tuple(key.name for key in keys),
        clip=measure.clip,
        lists=tuple(KeyList(Categories(tuple(range(size))), False) for size in cells.sizes),
    )


def _plans(facts: MeasureFacts, places: tuple[int, ...], rows: Integers) -> Iterator[MeasurePlan]:
    """Yield a plan of the cells for each noise: the best strategy that is found for it."""
    clip, _ = clips_of(facts)  # in L1 for any noise, so that the columns' norms bound it
    v, allowance = gram.gram(rows), facts.allowance
    for name, norm in (("laplace", Norm.L1), ("gaussian", Norm.L2)):
        ratio = 1 / allowance.laplace if name == "laplace" else allowance.gaussian
        if ratio is None:
            continue
        try:
            strategy = strategies().strategy(v, norm, clip.steps, mechanism(name).deviation(ratio))
        except (RankError, np.linalg.LinAlgError):
            continue
        if strategy is None:
            continue
        declared = _declared(strategy, norm)
        wider = Clip(norm, clip.steps * declared, clip.shape)
        if not mechanism(name).scale_for(wider.steps, ratio) < LARGEST_SCALE:
            continue
        noise = noise_with(facts, name, wider, ratio)
        unit = facts.measure.statistics[0].most
        yield MeasurePlan(
            *(facts.measure, facts.columns, facts.listed(), clip.shape, noise, None),
            *(facts.rows, facts.rows_from),
            applied=Applied(strategy, clip.steps, declared, places, v, unit),
        )


def _declared(strategy: Strategy, norm: Norm) -> int:
    """Return a norm that no column is above, which does not depend on the last bits of a search."""
    exact = column(strategy, norm)
    declared = exact if strategy.shift == 0 else 1 << strategy.shift
    assert exact <= declared, "matrices are cut, not rounded"
    return declared


def _error(planned: MeasurePlan) -> float:
    """Return the sum of the variances of all numbers, in grid steps."""
    assert planned.applied is not None
    return planned.applied.strategy.error(planned.applied.gram) * deviation(planned.noise) ** 2
