"""Which answers of a SELECT are to be more exact than others, at the same price.

    SELECT OPTIONS(weights = [1, 4]) COUNT(*), SUM(cost) FROM visits

One number for each aggregate of the select list, in its order, each aggregate once. Relative to its scale the
sum gets a quarter of the noise that the count gets. What stands in other clauses alone weighs 1.
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
"""How many times the smallest weight the largest may be: beyond, the small ones drown in noise."""


def weights_of(
    ctx: Context, node: exp.Select, calls: Sequence[AggregateCall], listed: int
) -> tuple[Fraction, ...]:
    """A weight for each aggregate, of which the first ``listed`` are those of the select list."""
    options = options_of(node)
    said = None if options is None else options.get("weights")
    if said is None:
        return ()
    found = _numbers(said)
    apart = next((each for each in calls[:listed] if Need.DETAIL in shelf()[each.function].needs), None)
    if apart is not None:
        raise refuse(
            "D252",
            "weights are for counts, sums and what is made of them",
            said.span,
            label=f"{apart.function.upper()} shares no noise with the others: it has a part of the price",
            help=f"leave weights out, or ask for {apart.function.upper()} in a query of its own",
        )
    if len(found) != listed:
        names = ", ".join(each.function.upper() for each in calls[:listed])
        raise refuse(
            "D205",
            f"{len(found)} weights for {listed} aggregates",
            said.span,
            label=f"the select list has {names or 'none'}" if listed <= 20 else "",
            help="give one for each aggregate of the select list, in its order, each aggregate once",
        )
    return found + (Fraction(1),) * (len(calls) - listed)


def _numbers(said: Option) -> tuple[Fraction, ...]:
    given = said.value if isinstance(said.value, tuple) else ()
    numbers = [each for each in given if isinstance(each, int | float)]
    if not numbers or len(numbers) < len(given) or not all(0 < n < math.inf for n in numbers):
        raise refuse(
            "D205", "weights is a list of positive numbers", said.span, help="write weights = [1, 4]"
        )
    found = [Fraction(each) for each in numbers]
    if max(found) > MOST * min(found):
        raise refuse(
            "D305",
            f"the largest weight is more than {MOST} times the smallest",
            said.span,
            label="what weighs so little would be all noise",
            help="bring the weights closer together, or leave the small ones out of the query",
        )
    return tuple(found)
