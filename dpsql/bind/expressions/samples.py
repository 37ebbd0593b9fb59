"""DP_SAMPLE(skewness(x), -5, 5): the aggregate, its argument and its bounds.

    AggregateCall("dp_sample", x, others=("skewness", -5.0, 5.0))
    AggregateCall("dp_sample", x, others=("quantile_cont", 0.0, 100.0, 0.9))

Allowed are aggregates of numbers that estimate the same value from a small block of rows as from all rows,
and that never fail.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import NoReturn

from sqlglot import exp

from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.scope.context import Context
from dpsql.errors import refuse
from dpsql.facts.schema import fact_of
from dpsql.functions.reading import literal_of
from dpsql.ir.column import DOUBLE, VARCHAR, Kind
from dpsql.ir.relation import AggregateCall
from dpsql.ir.scalar import Call, Literal, Scalar
from dpsql.parse.samples import Sample

_PLAIN: dict[type[exp.Expr], str] = {
    exp.Avg: "avg",
    exp.Kurtosis: "kurtosis",
    exp.Median: "median",
    exp.Mode: "mode",
    exp.PercentileCont: "quantile_cont",
    exp.PercentileDisc: "quantile_disc",
    exp.Skewness: "skewness",
    exp.Stddev: "stddev_samp",
    exp.StddevPop: "stddev_pop",
    exp.StddevSamp: "stddev_samp",
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
}
_NAMED = ("entropy", "favg", "kurtosis_pop", "mad")
SAMPLED = tuple(sorted({*_PLAIN.values(), *_NAMED}))
"""The aggregates that DP_SAMPLE takes."""

_SHAPE = "write DP_SAMPLE(skewness(x), -5, 5): an aggregate, and bounds on its value"


def bind_sample(
    ctx: Context, node: Sample, outer: exp.Expr, condition: Scalar | None, scalars: Scalars
) -> AggregateCall:
    """Return the call of a DP_SAMPLE; ``condition`` is its FILTER."""
    if node.this is None or len(node.expressions) != 2:
        raise refuse("D205", "DP_SAMPLE takes an aggregate and two bounds", ctx.span(node), help=_SHAPE)
    low, high = (_bound(ctx, end) for end in node.expressions)
    if not low < high:
        raise refuse(
            "D205",
            f"these bounds are empty: {low:g} is not below {high:g}",
            ctx.span(node.expressions[0]),
            label="the low bound comes first",
            help=_SHAPE,
        )
    inner = node.this
    if isinstance(inner, exp.Filter):
        inner_condition = scalars.condition(inner.expression.this)
        condition = inner_condition if condition is None else Call("and", (condition, inner_condition))
        inner = inner.this
    name = _PLAIN.get(type(inner))
    if isinstance(inner, exp.Anonymous) and inner.name.casefold() in _NAMED:
        name = inner.name.casefold()
    if name is None:
        _refuse(ctx, inner)
    arguments = inner.expressions if isinstance(inner, exp.Anonymous) else [inner.this]
    rest = inner.args.get("expression")
    known = ("this", "expression", "expressions")
    plain = len(arguments) == 1 and not isinstance(arguments[0], _NOT_VALUES)
    plain = plain and not any(value for key, value in inner.args.items() if key not in known)
    quantile = name.startswith("quantile")
    if not plain or (rest is not None) is not quantile:
        raise refuse(
            "D253",
            f"DP_SAMPLE does not take {name} with these arguments",
            ctx.span(inner),
            help=f"name one column or expression: {name}(x{', 0.9' if quantile else ''})",
        )
    parameters: tuple[Scalar, ...] = (Literal(name, VARCHAR), Literal(low, DOUBLE), Literal(high, DOUBLE))
    if quantile:
        assert rest is not None
        parameters += (Literal(_place(ctx, rest), DOUBLE),)
    argument = scalars.bind(arguments[0])
    kind = fact_of(argument, scalars.facts).type.kind
    if kind not in (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.BOOLEAN):
        raise refuse(
            "D205",
            f"{name} takes numbers here",
            ctx.span(arguments[0]),
            label="this is no number",
            help="map it to one: CASE x WHEN 'a' THEN 1 WHEN 'b' THEN 2 END, length(x), year(x)",
        )
    return AggregateCall("", "dp_sample", argument, False, condition, ctx.span(outer), parameters)


_NOT_VALUES = (exp.Star, exp.Distinct, exp.Order)


def _refuse(ctx: Context, inner: exp.Expr) -> NoReturn:
    if isinstance(inner, Sample):
        raise refuse("D253", "DP_SAMPLE inside DP_SAMPLE", ctx.span(inner), help=_SHAPE)
    sized = isinstance(inner, exp.Count | exp.CountIf | exp.Sum | exp.Min | exp.Max)
    takes = f"DP_SAMPLE takes {', '.join(SAMPLED)}"
    raise refuse(
        "D253",
        "DP_SAMPLE does not take this",
        ctx.span(inner),
        label="its value depends on the number of rows" if sized else "",
        help=f"use it without DP_SAMPLE: SELECT COUNT(*), SUM(x), MAX(x), CORR(x, y); {takes}"
        if isinstance(inner, exp.AggFunc)
        else takes,
    )


def _number(node: exp.Expr) -> float | None:
    constant = literal_of(node)
    value = None if constant is None else constant.value
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    number = float(value)
    return number if abs(number) < 1e300 else None


def _bound(ctx: Context, node: exp.Expr) -> float:
    number = _number(node)
    if number is None or not math.isfinite(number):
        raise refuse(
            "D205",
            "a bound of DP_SAMPLE must be a number",
            ctx.span(node),
            label="it must be a constant: it may not depend on data",
            help=_SHAPE,
        )
    return number


def _place(ctx: Context, node: exp.Expr) -> float:
    number = _number(node)
    if number is None or not 0 <= number <= 1:
        raise refuse(
            "D205",
            "a quantile must be between 0 and 1",
            ctx.span(node),
            help="write quantile_cont(x, 0.9)",
        )
    return number
