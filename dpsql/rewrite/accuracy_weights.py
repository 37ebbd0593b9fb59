"""Weights of a query's aggregates -> finer or coarser grids of their statistics, in one clip.

    weights = [1, 4]    COUNT(*) in steps of 2^-20 rows, SUM(cost) in steps a quarter as large as without

Claim   what a row adds to a family is at most its ``most``, as before.
Proof   The number in a statistic is a value over a step; a step k times smaller makes it at most k times as
        many steps, and ``most`` grows as much, rounded up. All numbers get the same noise in steps, so the
        noise of a weighed one is k times smaller in its own measure, and the clip grows by what it adds.
Test    tests/unit/test_weights.py, grammar_tests/options/weights.sql

What several aggregates share has the largest of their weights; the smallest of the query is 1.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from dpsql.ir.measure import Measure, Split
from dpsql.ir.statistic import CELLS, SLACK, Family, Part, Statistic
from dpsql.policy.catalogue import Known


def to_weights(split: Split, known: Known) -> Split:
    """Every measure with its statistics weighed."""
    stages = tuple(
        replace(stage, measures=tuple(weighed(each) for each in stage.measures)) for stage in split.stages
    )
    return replace(split, stages=stages)


def weighed(measure: Measure) -> Measure:
    """The measure as its weights want it."""
    if len(set(measure.weights)) < 2:
        return measure
    least = min(measure.weights)
    wanted = [Fraction(1)] * len(measure.statistics)
    for finish, weight in zip(measure.finishes, measure.weights, strict=True):
        for position in (position for number in finish.statistics for position in number):
            wanted[position] = max(wanted[position], (weight / least).limit_denominator(1000))
    statistics = list(measure.statistics)
    families = []
    for family in measure.families:
        factor = max(wanted[position] for position in family.statistics)
        for position in family.statistics:
            statistics[position] = _finer(statistics[position], factor)
        first = statistics[family.statistics[0]]
        families.append(Family(family.alternatives, first.most + (SLACK if first.part in CELLS else 0)))
    return replace(measure, statistics=tuple(statistics), families=tuple(families))


def _finer(each: Statistic, factor: Fraction) -> Statistic:
    """In steps so many times smaller; what counts rows, or shares of them, has whole numbers of steps."""
    most = math.ceil(each.most * factor)
    counts = each.part in (Part.ROWS, Part.UNITS) or each.other is not None
    return replace(each, most=most, step=Fraction(1, most) if counts else each.step / factor)
