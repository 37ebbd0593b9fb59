"""Numbers that are measured together: whether their cells, by a strategy, make them more exact.

    SELECT ward, sex, smoker, COUNT(*) ... GROUP BY CUBE (ward, sex, smoker)

    alone      a row counts in eight groups: the noise of 8 (L1) or of the root of 8 (L2) in every number
    together   a row is in one of 54 cells; a matrix of them is measured, made for all these numbers

Claim   the noise is that of the cells' sensitivity: the largest norm of a column of the strategy times the
        L1 norm that a unit's rows have over all cells.
Proof   A row is in one cell (workload/cells.py), so that a measure of one count or of one sum by cells bounds
        a unit's L1 norm as any measure does, and the engine enforces it, also where the noise is Gaussian.
        The rest is the strategy's claim (mechanisms/strategies/strategy.py). ``column`` is not below its
        exact norm.
Test    tests/privacy/test_joint.py, tests/privacy/test_joint_sums.py; grammar_tests
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from dpsql.facts import schema
from dpsql.ir.column import Categories
from dpsql.ir.measure import KeyList, Measure
from dpsql.ir.plan import Applied, Joint, MeasurePlan, Norm, PublicKeys
from dpsql.ir.relation import Named, Relation
from dpsql.ir.scalar import Scalar
from dpsql.ir.statistic import Family, Statistic
from dpsql.ir.strategy import Floats, Integers, Strategy
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms import mechanism
from dpsql.mechanisms.strategies import gram
from dpsql.mechanisms.strategies.cache import StrategyCache, version
from dpsql.mechanisms.strategies.dense import RankError
from dpsql.mechanisms.strategies.strategy import column
from dpsql.plan.clips import Clip, clips_of
from dpsql.plan.measure_facts import MeasureFacts
from dpsql.plan.noise_choice import LARGEST_SCALE, deviation, noise_with
from dpsql.plan.running_totals import delivered_unit
from dpsql.rewrite.disjoint_cells import load
from dpsql.workload.added_value import added_value, in_steps_of
from dpsql.workload.cells import Cells, cells_of
from dpsql.workload.questions import adds_alike, numbers_of

GAIN = 0.95
"""Numbers are measured together where their error falls at least to this part."""

MOST_NUMBERS = 8_192

QUICK = 2.0**42
"""Scales below it are sampled quickly: entries of a matrix have fewer digits where that is enough."""

_FEW = 3
"""Numbers of fewer statistics and grouping sets in all are measured one by one."""


@cache
def strategies(folder: Path | None) -> StrategyCache:
    """Return the strategies that this process has found, or earlier ones of the same ledger."""
    return StrategyCache(folder)


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A measure whose numbers may be measured with those of others.

    ``measure`` is the same over the ``rows`` of all, which count in it where all ``conditions`` are true.
    """

    facts: MeasureFacts
    measure: Measure
    rows: Relation
    conditions: tuple[Scalar, ...] = ()
    weight: float | None = None


def file_strategies(folder: Path, measures: Iterable[MeasurePlan]) -> None:
    """Keep the strategies of measures that are paid for: a later process finds the same ones there."""
    for planned in measures:
        applied = planned.measured.applied
        for gram_of_factor in () if applied is None else applied.grams:
            strategies(folder).file(gram_of_factor, planned.noise.norm)


def joint(facts: MeasureFacts, facts_of: Callable[[Measure], MeasureFacts]) -> MeasurePlan | None:
    """Return the plan that measures a measure's numbers together; None where it has no cells."""
    measure = facts.measure
    if len(measure.statistics) * measure.copies < _FEW or not may_join(facts):
        return None
    plans = together([Asked(facts, measure, measure.uncopied)], facts_of)
    return None if plans is None else plans[0]


def may_join(facts: MeasureFacts) -> bool:
    """Whether a measure counts rows of listed groups, some and not too many, or sums one argument there."""
    public = facts.public.whole and adds_alike(facts.measure)
    if not public or facts.rows_from.startswith("max_groups"):
        return False
    return 0 < len(facts.listed().groups()) * len(facts.measure.statistics) <= MOST_NUMBERS


def together(asked: Sequence[Asked], facts_of: Callable[[Measure], MeasureFacts]) -> list[MeasurePlan] | None:
    """Return the plans of measures of the same rows, all with the same cells; None where there are none."""
    one = added_value([statistic for each in asked for statistic in each.measure.statistics])
    if one is None:
        return None
    of_rows, numbers, ends = schema.facts_of(asked[0].rows), list[tuple[Scalar, ...]](), [0]
    for each in asked:
        own = numbers_of(each.measure, each.facts.listed(), of_rows)
        if own is None:
            return None
        numbers += [(*each.conditions, *conditions) for conditions in own]
        ends.append(len(numbers))
    cells = cells_of(numbers, of_rows)
    if cells is None or not cells.parts:
        return None
    places, rows = distinct(cells)
    parts = [rows[start:end] for start, end in itertools.pairwise(ends)]
    gram_of_all = gram.of_statements([(each.weight, part) for each, part in zip(asked, parts, strict=True)])
    counted = facts_of(by_cell(asked[0].measure, asked[0].rows, cells, one))
    unit = math.gcd(*(delivered_unit(in_steps_of(each.measure, one)) for each in asked))
    best = min(_plans(counted, places, gram_of_all, unit, _digest(asked, parts)), key=error, default=None)
    if best is None:
        return None
    read = tuple(each.facts.measure.relation for each in asked)
    return [_of_cells(each, best, part, one, read) for each, part in zip(asked, parts, strict=True)]


def _digest(asked: Sequence[Asked], parts: Sequence[Integers]) -> str:
    """Name what is asked of the cells: whole numbers and weights, not what is computed from them."""
    told = hashlib.sha256(version(parts[0].shape[1]).encode())
    for each, rows in zip(asked, parts, strict=True):
        told.update(repr((each.weight, rows.shape)).encode() + rows.tobytes())
    return told.hexdigest()


def _of_cells(
    asked: Asked, cells: MeasurePlan, rows: Integers, one: Statistic, read: tuple[Relation, ...]
) -> MeasurePlan:
    facts = asked.facts
    own = MeasurePlan(
        in_steps_of(facts.measure, one), facts.columns, facts.listed(), cells.shape, cells.noise
    )
    return replace(own, rows=cells.rows, rows_from=cells.rows_from, joint=Joint(cells, rows, read))


def variance(planned: MeasurePlan) -> float:
    """Return the variance of all numbers of all groups, each relative to what one row adds to it."""
    assert planned.joint is not None
    most = np.array([statistic.most for statistic in planned.measure.statistics], dtype=np.float64)
    relative = planned.joint.deviations().reshape(-1, len(most)) / most
    return float((relative**2).sum()) * deviation(planned.noise) ** 2


def deviation_of(planned: MeasurePlan) -> float:
    """Return the root of the mean variance of a measure's numbers, each relative to what a row adds to it."""
    assert isinstance(planned.rule, PublicKeys)
    if planned.joint is not None:
        return math.sqrt(variance(planned) / len(planned.joint.rows))
    measure = planned.measure
    numbers = sum(len(finish.statistics) for finish in measure.finishes)
    return math.sqrt(float(load(measure)) / numbers) * deviation(planned.noise)


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


def by_cell(measure: Measure, relation: Relation, cells: Cells, one: Statistic) -> Measure:
    """Return the measure that adds up ``one`` over the rows of each cell: a count, or a sum."""
    keys = tuple(Named(f"cell {place}", part) for place, part in enumerate(cells.parts))
    return Measure(
        measure.name,
        relation,
        keys,
        measure.aggregates,
        measure.span,
        statistics=(one,),
        families=(Family(((0,),), one.most),),
        titles=tuple(key.name for key in keys),
        clip=measure.clip,
        lists=tuple(KeyList(Categories(tuple(range(size))), False) for size in cells.sizes),
    )


def _plans(
    facts: MeasureFacts, places: tuple[int, ...], v: Floats, unit: int, asked: str
) -> Iterator[MeasurePlan]:
    found = strategies(facts.terms.strategies)

    def chosen(norm: Norm, clip: int, one: float) -> Strategy | None:
        return found.strategy(v, norm, clip, one, QUICK) or found.strategy(v, norm, clip, one)

    return plans_with(chosen, facts, places, (v,), unit, asked)


def plans_with(
    chosen: Callable[[Norm, int, float], Strategy | None],
    facts: MeasureFacts,
    places: tuple[int, ...],
    grams: tuple[Floats, ...],
    unit: int,
    asked: str,
) -> Iterator[MeasurePlan]:
    """Yield a plan of the cells, whole in steps of ``unit``, for each noise: the best strategy that is found.

    ``chosen`` is given the norm of the columns, the clip, and the noise's deviation for a clip of one step.
    """
    clip, _ = clips_of(facts)  # in L1 for any noise, so that the columns' norms bound it
    allowance = facts.allowance
    for name, norm in (("laplace", Norm.L1), ("gaussian", Norm.L2)):
        ratio = 1 / allowance.laplace if name == "laplace" else allowance.gaussian
        if ratio is None:
            continue
        try:
            strategy = chosen(norm, clip.steps, mechanism(name).deviation(ratio))
        except (RankError, np.linalg.LinAlgError):
            continue
        if strategy is None:
            continue
        declared = declared_column(strategy, norm)
        wider = Clip(norm, clip.steps * declared, clip.shape)
        if not mechanism(name).scale_for(wider.steps, ratio) < LARGEST_SCALE:
            continue
        noise = noise_with(facts, name, wider, ratio)
        yield MeasurePlan(
            *(facts.measure, facts.columns, facts.listed(), clip.shape, noise, None),
            *(facts.rows, facts.rows_from),
            applied=Applied(strategy, clip.steps, declared, places, grams, unit, asked),
        )


def declared_column(strategy: Strategy, norm: Norm) -> int:
    """Return a norm that no column is above, which does not depend on the last bits of a search."""
    exact = column(strategy, norm)
    return exact if strategy.shift == 0 else max(exact, 1 << strategy.shift)


def error(planned: MeasurePlan) -> float:
    """Return the sum of the variances of all numbers, in grid steps."""
    assert planned.applied is not None
    return planned.applied.strategy.error(*planned.applied.grams) * deviation(planned.noise) ** 2
