"""DP_INTERVAL_LOW(n), DP_INTERVAL_HIGH(n): the ends of the 95 % interval of a released number.

    SELECT ward, COUNT(*) AS n, DP_INTERVAL_LOW(n), DP_INTERVAL_HIGH(n) FROM patients GROUP BY ward
    SELECT n FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) WHERE DP_INTERVAL_LOW(n) > 20

The interval may be asymmetric. Its ends are columns of the released table, and cost nothing.
"""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from dpsql.errors import refuse
from dpsql.parse.allow_list import INTERVALS
from dpsql.parse.spans import span_of

LOW, HIGH = INTERVALS

NOT_RELEASED = "these rows are private: there is no released number here yet"

WIDEST: tuple[type[exp.AggFunc], ...] = (exp.Max, exp.Min, exp.Max)
"""The aggregates that merge several half-widths, lower ends and upper ends."""


def is_end(node: object) -> bool:
    """Whether this is a call of DP_INTERVAL_LOW or DP_INTERVAL_HIGH."""
    return isinstance(node, exp.Anonymous) and node.name.casefold() in INTERVALS


def asks_interval(tree: exp.Expr) -> bool:
    return any(is_end(call) for call in tree.find_all(exp.Anonymous))


def number_of(node: exp.Expr, text: str) -> exp.Expr:
    """Return the argument of the call."""
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
        f"{name} takes a released number",
        span_of(node, text),
        label=label,
        help=f"name an aggregate: SELECT COUNT(*) AS n, {name}(n) FROM ...; or a column of a subquery that "
        "returns one unchanged",
    )


def refuse_computed(node: exp.Expr, text: str) -> NoReturn:
    """Refuse a computed output under ``within``, which sets the accuracy of released numbers only."""
    raise refuse(
        "D252",
        "accuracy is set for released numbers, and this is computed from them",
        span_of(node, text),
        label="its error is not that of the numbers it is computed from",
        help="select the aggregates themselves, and compute from the answer; or name a price",
    )
