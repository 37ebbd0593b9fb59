"""OPTIONS(within = '5%'): how far noise may reach depends on the number, so it is approached step by step.

    step 1   epsilon 0.012    99 ± 410     too far
    step 2   epsilon 0.016    231 ± 250    too far; with step 1: 190 ± 215
    ...                                    until the half-width is at most 5 % of the number

Claim   together the steps cost what they charge, whatever decides how many there are.
Proof   every step is a release of its own, with noise of its own, debited before a row is read and
        stored before it is looked at. Whether another follows is decided by released numbers alone.
        The ledger's filter bounds the sum of adaptively chosen releases.
Test    tests/unit/test_within.py

Gaussian releases are averaged by their precision. Where precisions add up as the accountant's amounts do
(rho, under zcdp), steps cost no more than one release of their whole price. Under other accountants prices
double and the last release alone counts, so that all steps together cost less than twice the last.

A number may pass by luck at any of the steps: each is looked at with a confidence that leaves them the
asked one together (a union bound).
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpsql.accounting import Amount
from dpsql.answer import Answer
from dpsql.errors import refuse
from dpsql.ir.options import Goal
from dpsql.ir.plan import MeasurePlan, Plan
from dpsql.ir.table import ReleasedTable
from dpsql.plan.terms import Terms

_AVERAGED = (16, Fraction(16, 9))
_ALONE = (10, Fraction(2))
"""How many steps, and how much more each costs than the one before."""


def prices(terms: Terms, least: float, ceiling: float) -> tuple[float, ...]:
    """What each step costs, the cheapest first and none less than the least; together the ceiling at most."""
    accountant, budget = terms.accountant, terms.budget
    many, ratio = _AVERAGED if accountant.noise_power <= 0.5 else _ALONE
    steps = [ratio**i for i in range(many)]
    shares = [each / sum(steps) for each in steps]
    found = [_down(each) for each in accountant.parts(ceiling, shares, budget)]
    return tuple(price for price in found if price >= least) or (ceiling,)


def _down(price: float) -> float:
    """To four digits."""
    if price <= 0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(price)) - 3)
    return float(f"{math.floor(price / step) * step:.4g}")


def in_steps(goal: Goal, what: Plan, terms: Terms, least: float, ceiling: float) -> Plan:
    """The plan that is explained: that of the last step, at the price of all. Only without groups."""
    (*_, last) = what.stages
    measures = [each for stage in what.stages for each in stage.measures]
    plain = len(what.stages) == 1 and len(measures) == 1 and what.first is None and not measures[0].details
    if not plain or measures[0].measure.keys or last.post.margins.count(None) == len(last.post.margins):
        if any(each.rests_on_noise for each in measures):
            label = "numbers that are released first move what is released then, and nobody knows how far"
        elif any(each.details for each in measures):
            label = "nobody knows before how far a choice among values is off"
        else:
            label = (
                "it is for one row of aggregates over columns with declared ranges: the smallest of many "
                "groups would decide what all cost"
            )
        raise refuse(
            "D252",
            "this accuracy is not answered here",
            goal.span,
            label=label,
            help="ask for each group by WHERE, for counts, sums and means; or write within = 50, for counts "
            "and sums of any groups",
        )
    return replace(what, goal=goal, steps=prices(terms, least, ceiling), epsilon=ceiling)


def confidence_of(goal: Goal, steps: tuple[float, ...]) -> float:
    """Of one look, so that all together have the asked one."""
    return 1 - (1 - goal.confidence) / len(steps)


def affordable(before: Amount, what: Plan, terms: Terms, ceiling: float) -> Amount | None:
    """What is spent after a step; None above the ceiling."""
    after = before + terms.accountant.charge(what.events)
    return after if after.within(terms.accountant.most(ceiling, terms.budget)) else None


def together(steps: list[tuple[MeasurePlan, ReleasedTable]]) -> tuple[MeasurePlan, ReleasedTable]:
    """All releases of the same statistics as one: averaged where their noise is Gaussian, else the last."""
    planned, table = steps[-1]
    same = all(each.measure.statistics == planned.measure.statistics for each, _ in steps)
    if not same or any(each.noise.mechanism != "gaussian" for each, _ in steps):
        return planned, table
    precisions = [each.noise.scale**-2 for each, _ in steps]
    sums = np.average([released.sums for _, released in steps], axis=0, weights=precisions)
    noise = replace(planned.noise, scale=sum(precisions) ** -0.5)
    return replace(planned, noise=noise), replace(table, sums=np.rint(sums).astype(np.int64))


def reached(goal: Goal, answer: Answer, noised: tuple[int | None, ...]) -> bool:
    """Whether every number is near enough: within a part of even the least that the truth may be."""
    for row, margins in zip(answer.rows, answer.margins, strict=True):
        for value, margin, place in zip(row, margins, noised, strict=True):
            if place is None:
                continue
            if value is None or margin is None:
                return False
            room = goal.reach * (abs(float(value)) - margin) if goal.relative else goal.reach
            if margin > room:
                return False
    return True
