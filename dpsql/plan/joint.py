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
from functools import cache, partial
from operator import itemgetter
from pathlib import Path

from dpsql.facts import schema
from dpsql.ir.column import Categories
from dpsql.ir.measure import KeyList, Measure
from dpsql.ir.plan import Joint, MeasurePlan, Norm, PublicKeys
from dpsql.ir.relation import Named, Relation
from dpsql.ir.scalar import Scalar
from dpsql.ir.statistic import Family, Statistic
from dpsql.ir.strategy import Floats, Integers, Rows, Strategy
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms.strategies import exchangeable, gram, symmetric
from dpsql.mechanisms.strategies.cache import StrategyCache, version
from dpsql.mechanisms.strategies.dense import identity
from dpsql.mechanisms.strategies.gram import Factors
from dpsql.mechanisms.strategies.rows import Crossed, Listed
from dpsql.plan import many_cells
from dpsql.plan.applied import QUICK, plans_with
from dpsql.plan.measure_facts import MeasureFacts
from dpsql.plan.noise_choice import deviation
from dpsql.plan.running_totals import delivered_unit
from dpsql.rewrite.disjoint_cells import load
from dpsql.workload.added_value import added_value, in_steps_of
from dpsql.workload.cells import Cells, cells_of
from dpsql.workload.questions import adds_alike, numbers_of

GAIN = 0.95
"""Numbers are measured together where their error falls at least to this part."""

MOST_NUMBERS = 2**16

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
        if applied is not None and isinstance(applied.gram, Factors):
            for matrix in applied.gram.matrices:
                strategies(folder).file(matrix, planned.noise.norm)


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
    if cells is None:
        return None
    counted = facts_of(by_cell(asked[0].measure, asked[0].rows, cells, one))
    unit = math.gcd(*(delivered_unit(in_steps_of(each.measure, one)) for each in asked))
    weights = [each.weight for each in asked]
    if cells.fit_one_matrix:
        places, rows = distinct(cells)
        matrices = [rows[start:end] for start, end in itertools.pairwise(ends)]
        parts: list[Rows] = [Listed(matrix) for matrix in matrices]
        v = gram.of_statements(zip(weights, matrices, strict=True))
        plans = _plans(counted, places, v, unit, _digest(weights, parts, version(len(v))))
    else:
        crossed = [cells.rows.part(start, end) for start, end in itertools.pairwise(ends)]
        shares = [gram.weights_of(weight, len(part)) for weight, part in zip(weights, crossed, strict=True)]
        parts = [*crossed]
        named = _digest(weights, parts, many_cells.VERSION)
        plans = _plans_of_many(counted, [*zip(shares, crossed, strict=True)], unit, named)
    best = min(plans, key=itemgetter(1), default=None)
    if best is None:
        return None
    return [_of_cells(each, Joint(best[0], part), one) for each, part in zip(asked, parts, strict=True)]


def _digest(weights: Sequence[float | None], parts: Sequence[Rows], searched: str) -> str:
    """Name what is asked of the cells: whole numbers and weights, not what is computed from them."""
    told = hashlib.sha256(searched.encode())
    for weight, rows in zip(weights, parts, strict=True):
        shape, entries = rows.told()
        told.update(f"({weight!r}, {shape})".encode() + entries)
    return told.hexdigest()


def _of_cells(asked: Asked, joint: Joint, one: Statistic) -> MeasurePlan:
    facts, cells = asked.facts, joint.cells
    own = MeasurePlan(
        in_steps_of(facts.measure, one), facts.columns, facts.listed(), cells.shape, cells.noise
    )
    return replace(own, rows=cells.rows, rows_from=cells.rows_from, joint=joint)


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
    for each in np.ascontiguousarray(cells.rows.dense().T.astype(np.bool_)):
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
) -> Iterator[tuple[MeasurePlan, float]]:
    found = strategies(facts.terms.strategies)

    def chosen(norm: Norm, clip: int, one: float) -> tuple[Strategy, float] | None:
        strategy = found.strategy(v, norm, clip, one, QUICK) or found.strategy(v, norm, clip, one)
        return None if strategy is None else (strategy, strategy.error(v))

    return plans_with(chosen, facts, places, Factors((v,)), identity(len(v)), unit, asked)


def _plans_of_many(
    facts: MeasureFacts, statements: list[tuple[Floats, Crossed]], unit: int, asked: str
) -> Iterator[tuple[MeasurePlan, float]]:
    even = exchangeable.asked(statements, gram.RIDGE)
    chosen = partial(many_cells.strategy_for, statements, even, strategies(facts.terms.strategies))
    return plans_with(
        chosen, facts, tuple(range(even.cells)), even, symmetric.identity(even.sizes), unit, asked
    )
