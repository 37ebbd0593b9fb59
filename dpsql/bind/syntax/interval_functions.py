"""DP_INTERVAL_LOW(n), DP_INTERVAL_HIGH(n): the ends of the 95 % interval of a released number.

    SELECT ward, COUNT(*) AS n, DP_INTERVAL_LOW(n), DP_INTERVAL_HIGH(n) FROM patients GROUP BY ward
    SELECT n FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) WHERE DP_INTERVAL_LOW(n) > 20

They may be farther on one side. They are columns of the released table like any other, and cost nothing.
"""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from dpsql.errors import refuse
from dpsql.parse.allow_list import INTERVALS
from dpsql.parse.spans import span_of

LOW, HIGH = INTERVALS

NOT_RELEASED = "these rows are private: nothing is released here yet"

WIDEST: tuple[type[exp.AggFunc], ...] = (exp.Max, exp.Min, exp.Max)
"""What is left of several half-widths, lower ends, upper ends."""


def is_end(node: object) -> bool:
    """Whether this is a call of one of the two."""
    return isinstance(node, exp.Anonymous) and node.name.casefold() in INTERVALS


def asks_interval(tree: exp.Expr) -> bool:
    return any(is_end(each) for each in tree.find_all(exp.Anonymous))


def number_of(node: exp.Expr, text: str) -> exp.Expr:
    """What the interval is of."""
    if len(node.expressions) != 1:
        raise refuse(
            "D205",
            f"{node.name.upper()} takes one argument",
            span_of(node, text),
            help=f"write COUNT(*) AS n, {node.name.upper()}(n)",
        )
    argument: exp.Expr = node.expressions[0]
    return argument


def refuse_end(node: exp.Expr, text: str, label: str) -> NoReturn:
    name = node.name.upper()
    raise refuse(
        "D205",
        f"{name} is of a released number",
        span_of(node, text),
        label=label,
        help=f"name an aggregate: SELECT COUNT(*) AS n, {name}(n) FROM ...; or a column of a subquery that "
        "passes one through",
    )


def refuse_computed(node: exp.Expr, text: str) -> NoReturn:
    """``within`` speaks of numbers as they are released."""
    raise refuse(
        "D252",
        "this is computed of released numbers, whose accuracy is chosen",
        span_of(node, text),
        label="noise reaches here farther than it reaches there, or less far",
        help="select the aggregates themselves, and compute from the answer; or say a price",
    )
