"""The option weights: make some answers of a SELECT more accurate than others, at the same price.

    SELECT OPTIONS(weights = [1, 4]) COUNT(*), SUM(cost) FROM visits

One number for each aggregate of the select list, in its order, each aggregate once. Relative to its scale the
sum gets a quarter of the noise of the count. An aggregate that is only in other clauses has weight 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from sqlglot import exp

from dpsql.aggregates import Need, shelf
from dpsql.bind.scope.context import Context
from dpsql.errors import refuse
from dpsql.ir.options import Option
from dpsql.ir.relation import AggregateCall
from dpsql.parse.options_clause import options_of

MOST = 100
"""The largest ratio of two weights; beyond it, the answer with the small weight is only noise."""


def weights_of(
    ctx: Context, node: exp.Select, calls: Sequence[AggregateCall], listed: int
) -> tuple[Fraction, ...]:
    """Return a weight per aggregate; the first ``listed`` aggregates are those of the select list."""
    options = options_of(node)
    option = None if options is None else options.get("weights")
    if option is None:
        return ()
    weights = _numbers(option)
    unweighted = next((call for call in calls[:listed] if Need.DETAIL in shelf()[call.function].needs), None)
    if unweighted is not None:
        raise refuse(
            "D252",
            "weights are for counts, sums and functions of them",
            option.span,
            label=f"{unweighted.function.upper()} does not share noise with the others: it has its own part "
            "of the price",
            help=f"leave weights out, or ask for {unweighted.function.upper()} in another query",
        )
    if len(weights) != listed:
        names = ", ".join(call.function.upper() for call in calls[:listed])
        raise refuse(
            "D205",
            f"{len(weights)} weights for {listed} aggregates",
            option.span,
            label=f"the select list has {names or 'none'}" if listed <= 20 else "",
            help="give one for each aggregate of the select list, in its order, each aggregate once",
        )
    return weights + (Fraction(1),) * (len(calls) - listed)


def _numbers(option: Option) -> tuple[Fraction, ...]:
    values = option.value if isinstance(option.value, tuple) else ()
    numbers = [value for value in values if isinstance(value, int | float)]
    if not numbers or len(numbers) < len(values) or not all(0 < n < math.inf for n in numbers):
        raise refuse(
            "D205", "weights must be a list of positive numbers", option.span, help="write weights = [1, 4]"
        )
    weights = [Fraction(number) for number in numbers]
    if max(weights) > MOST * min(weights):
        raise refuse(
            "D305",
            f"the largest weight is more than {MOST} times the smallest",
            option.span,
            label="the answer with the smallest weight would be only noise",
            help="bring the weights closer together, or leave the small ones out of the query",
        )
    return tuple(weights)
