"""OPTIONS(within = 50): the lowest price at which every count and sum has a margin of at most 50.

    COUNT(*) under pure, 95 %      epsilon 0.05933      ln(20) / 50.5, rounded to four digits

Margins shrink as the price grows, so the price is found by a search. Each trial is a plan and reads no row.
The margin of a count or a sum does not depend on its value or on the groups. The margin of a mean does, and
so does a margin that is relative to the number: these goals are answered in steps (accuracy_steps).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from dpsql.errors import Error, refuse
from dpsql.ir.options import Goal
from dpsql.ir.plan import Plan
from dpsql.plan.terms import Terms
from dpsql.post.accuracy_steps import in_steps, prices
from dpsql.post.finish import reach_anywhere
from dpsql.render.digits import unlike

_DIGITS = 9_000
_SMALLEST = -9
_LARGEST = 1e4
"""Largest price of the search. Prices have four significant digits, from 1e-6 on."""

PlanAt = Callable[[float], Plan]
"""Make the plan of one query at a price."""


def priced(goal: Goal, plan_at: PlanAt, terms: Terms, least: float, ceiling: float) -> Plan:
    """Return the plan at the lowest price that reaches the goal; refuse (D502) a price above the ceiling."""
    first = plan_at(1.0)
    if goal.relative or any(reach is None for reach in _reaches(first, goal)):
        return in_steps(goal, plan_at(prices(terms, least, ceiling)[-1]), terms, least, ceiling)
    reach = _reach(first, goal)

    def enough(index: int) -> bool:
        try:
            return _reach(plan_at(price_of(index)), goal) <= goal.reach
        except Error as error:
            if error.code == "D503":  # too small a price for any noise
                return False
            raise

    most = index_of(_LARGEST)
    index = _least(enough, min(most, index_of(max(reach, 1e-12) / goal.reach)), most)
    if index is None:
        raise refuse(
            "D305",
            f"no price keeps every number within {goal}",
            goal.span,
            label=f"at an epsilon of {_LARGEST:g} the noise still reaches farther",
            help="ask for less accuracy",
        )
    price = max(least, price_of(index))
    if price > ceiling:
        cost, highest = unlike(price, ceiling)
        raise refuse(
            "D502",
            f"{goal} would cost an epsilon of {cost}",
            goal.span,
            label=f"the owner's ceiling for one query is {highest}",
            help=f"write within = {_rounded(_reach(plan_at(ceiling), goal)):g}, which the ceiling pays for",
        )
    return replace(plan_at(price), goal=goal)


def _least(enough: Callable[[int], bool], guess: int, most: int) -> int | None:
    """Return the smallest index that satisfies a monotone predicate; the search starts at a guess."""
    step, high = 16, guess
    while not enough(high):
        if high == most:
            return None
        high, step = min(most, high + step), step * 2
    low, step = high, 16
    while low > 0 and enough(low):
        high, low, step = low, max(0, low - step), step * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def price_of(index: int) -> float:
    """Return the price at an index: 1.000e-6, 1.001e-6, ... (four digits, ascending)."""
    return float(f"{1000 + index % _DIGITS}e{index // _DIGITS + _SMALLEST}")


def index_of(price: float) -> int:
    """Return the index of the nearest price with four digits."""
    power = math.floor(math.log10(price)) - 3
    digits = min(9999, max(1000, round(price / 10.0**power)))
    return max(0, (power - _SMALLEST) * _DIGITS + digits - 1000)


def _rounded(reach: float) -> float:
    """Round up to three significant digits."""
    step = 10.0 ** (math.floor(math.log10(reach)) - 2)
    return math.ceil(reach / step) * step


def _reach(plan: Plan, goal: Goal) -> float:
    """Return the largest margin of a plan; refuse if it cannot be known before the release."""
    if any(measure.measure.other is not None for stage in plan.stages for measure in stage.measures):
        raise _unknown(goal, "the row of what is not shown holds the noise of all that is")
    if any(measure.measure.model is not None for measure in plan.measures):
        raise _unknown(goal, "how exact a model is depends on the rows")
    if plan.first is not None:
        raise _unknown(goal, "a range is found first, and nobody knows which")
    reaches = [reach for reach in _reaches(plan, goal) if reach is not None]
    if not reaches:
        raise _unknown(goal, "no number is released")
    return max(reaches)


def _reaches(plan: Plan, goal: Goal) -> list[float | None]:
    """Return the margin of each aggregate; None where it depends on the rows."""
    measures = [measure for stage in plan.stages for measure in stage.measures]
    return [
        reach_anywhere(finish, measure, goal.confidence)
        for measure in measures
        for finish in measure.measure.finishes
    ]


def _unknown(goal: Goal, label: str) -> Error:
    return refuse(
        "D252",
        "no price is known for this accuracy",
        goal.span,
        label=label,
        help="ask for counts and sums of columns with declared ranges; or say a price, and see the margins",
    )
