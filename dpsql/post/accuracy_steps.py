"""OPTIONS(within = '5%'): the allowed margin depends on the number, so releases are refined in steps.

    step 1   epsilon 0.012    99 ± 410     too far
    step 2   epsilon 0.016    231 ± 250    too far; with step 1: 190 ± 215
    ...                                    until the half-width is at most 5 % of the number

Claim   the total cost is the sum of the steps' charges, however the number of steps is decided.
Proof   every step is a separate release with independent noise. It is debited before a row is read, and
        stored before its numbers are used. Released numbers alone decide whether another step follows.
        The ledger's filter bounds the sum of adaptively chosen releases.
Test    tests/unit/test_within.py

Gaussian releases are averaged with weights proportional to their precision. Where precisions add up like
the accountant's amounts (rho, under zcdp), all steps cost no more than one release at their total price.
Under other accountants each step costs twice the one before and only the last release is used: all steps
together cost less than twice the last.

A number may pass by chance at any step, so each is tested at a higher confidence: see accuracy_confidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpsql.accounting import Amount
from dpsql.answer import Answer
from dpsql.errors import refuse
from dpsql.ir.options import Goal
from dpsql.ir.plan import MeasurePlan, Plan
from dpsql.ir.table import ReleasedTable
from dpsql.late_numpy import np
from dpsql.plan.terms import Terms

_AVERAGED = (16, Fraction(16, 9))
_ALONE = (10, Fraction(2))
"""Number of steps, and the ratio of the prices of consecutive steps."""


def prices(terms: Terms, least: float, ceiling: float) -> tuple[float, ...]:
    """Return the prices of the steps, ascending, each at least ``least``, at most the ceiling in total."""
    accountant, budget = terms.accountant, terms.budget
    many, ratio = _AVERAGED if accountant.noise_power <= 0.5 else _ALONE
    steps = [ratio**i for i in range(many)]
    shares = [step / sum(steps) for step in steps]
    rounded = [_down(price) for price in accountant.parts(ceiling, shares, budget)]
    return tuple(price for price in rounded if price >= least) or (ceiling,)


def _down(price: float) -> float:
    """Round down to four significant digits."""
    if price <= 0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(price)) - 3)
    return float(f"{math.floor(price / step) * step:.4g}")


def in_steps(goal: Goal, plan: Plan, terms: Terms, least: float, ceiling: float) -> Plan:
    """Return the plan to explain: the last step, at the price of all steps. Refuse groups."""
    (*_, last) = plan.stages
    measures = [measure for stage in plan.stages for measure in stage.measures]
    plain = len(plan.stages) == 1 and len(measures) == 1 and plan.first is None and not measures[0].details
    if not plain or measures[0].measure.keys or last.post.margins.count(None) == len(last.post.margins):
        if any(measure.rests_on_noise for measure in measures):
            label = "numbers that are released first move what is released then, and nobody knows how far"
        elif any(measure.details for measure in measures):
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
    return replace(plan, goal=goal, steps=prices(terms, least, ceiling), epsilon=ceiling)


def affordable(before: Amount, plan: Plan, terms: Terms, ceiling: float) -> Amount | None:
    """Return the amount spent after a step; None if it exceeds the ceiling."""
    after = before + terms.accountant.charge(plan.events)
    return after if after.within(terms.accountant.most(ceiling, terms.budget)) else None


def together(steps: list[tuple[MeasurePlan, ReleasedTable]]) -> tuple[MeasurePlan, ReleasedTable]:
    """Combine releases of the same statistics: average Gaussian ones, else return the last."""
    plans = [planned for planned, _ in steps]
    planned, table = averaged(plans), steps[-1][1]
    if planned is plans[-1]:
        return planned, table
    sums = np.average([released.sums for _, released in steps], axis=0, weights=_precisions(plans))
    return planned, ReleasedTable(table.groups, np.rint(sums).astype(np.int64))


def averaged(plans: Sequence[MeasurePlan]) -> MeasurePlan:
    """Return the plan of what these releases come to: with less noise, or else the last of them."""
    last = plans[-1]
    same = all(planned.measure.statistics == last.measure.statistics for planned in plans)
    if len(plans) == 1 or not same or any(planned.noise.mechanism != "gaussian" for planned in plans):
        return last
    return replace(last, noise=replace(last.noise, scale=sum(_precisions(plans)) ** -0.5))


def _precisions(plans: Sequence[MeasurePlan]) -> list[float]:
    return [planned.noise.scale**-2 for planned in plans]


def reached(goal: Goal, answer: Answer, noised: tuple[int | None, ...]) -> bool:
    """Whether every margin is small enough; a relative goal is tested at the interval's end nearest to 0."""
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
