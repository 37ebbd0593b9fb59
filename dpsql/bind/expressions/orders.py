"""ORDER BY over the rows of one unit, in a window or inside an aggregate."""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.scope.context import Context
from dpsql.errors import refuse
from dpsql.facts.schema import fact_of
from dpsql.ir.column import PARTS, Kind
from dpsql.ir.relation import Ordering
from dpsql.ir.scalar import Scalar

_ORDERED = frozenset(Kind) - {Kind.OPAQUE, Kind.NULL, Kind.INTERVAL}


def ordering(ctx: Context, node: exp.Expr, scalars: Scalars) -> Ordering:
    """Bind one expression of an ORDER BY."""
    inner = node.this if isinstance(node, exp.Ordered) else node
    scalar = scalars.bind(inner)
    check_comparable(ctx, scalar, inner, scalars)
    return Ordering(scalar, bool(node.args.get("desc")), bool(node.args.get("nulls_first")))


def check_comparable(ctx: Context, scalar: Scalar, node: exp.Expr, scalars: Scalars) -> None:
    """Refuse values without an order."""
    if fact_of(scalar, scalars.facts).type.kind not in _ORDERED:
        raise refuse("D205", "these values have no order", ctx.span(node), help=PARTS)
