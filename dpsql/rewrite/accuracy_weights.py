"""Accuracy weights of a query's aggregates -> finer or coarser grids of their statistics, in one clip.

    weights = [1, 4]    COUNT(*) in steps of 2^-20 rows, SUM(cost) in steps a quarter as large as without

Claim   a row adds at most ``most`` steps to a family, as before.
Proof   A statistic is a value divided by a step. A step k times smaller makes it at most k times as many
        steps, and ``most`` grows by the same factor, rounded up. All numbers get the same noise in steps, so
        the noise of a weighted one is k times smaller in its own units, and the clip grows by what it adds.
Test    tests/unit/test_weights.py, grammar_tests/options/weights.sql

A statistic shared by several aggregates has the largest of their weights; the smallest weight counts as 1.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from dpsql.ir.measure import Measure, Split
from dpsql.ir.statistic import Family, Part, Statistic
from dpsql.policy.catalogue import Known


def to_weights(split: Split, known: Known) -> Split:
    """Apply the weights to every measure; if bounds are missing, there is nothing to weigh yet."""
    if split.needed:
        return split
    stages = tuple(
        replace(stage, measures=tuple(weighed(measure) for measure in stage.measures))
        for stage in split.stages
    )
    return replace(split, stages=stages)


def weighed(measure: Measure) -> Measure:
    """Scale the grid steps of a measure's statistics by their weights; none while bounds are missing."""
    if len(set(measure.weights)) < 2 or not measure.statistics:
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
        families.append(Family(family.alternatives, statistics[family.statistics[0]].together))
    return replace(measure, statistics=tuple(statistics), families=tuple(families))


def _finer(statistic: Statistic, factor: Fraction) -> Statistic:
    """Divide the step by a factor; a count, or a share of one, keeps a whole number of steps per row."""
    most = math.ceil(statistic.most * factor)
    counts = statistic.part in (Part.ROWS, Part.UNITS) or statistic.other is not None
    return replace(statistic, most=most, step=Fraction(1, most) if counts else statistic.step / factor)
