"""Aggregate calls of the text: which of the shelf, over what, under which condition."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from dpsql.bind.expressions.samples import sampled
from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.scope.context import Context
from dpsql.bind.syntax.quantiles import is_quantile, place_of, quantile_call
from dpsql.errors import refuse
from dpsql.ir.relation import AggregateCall
from dpsql.ir.scalar import Call, Scalar
from dpsql.parse.other_aggregates import INSTEAD
from dpsql.parse.samples import Sample
from dpsql.parse.spans import span_of

_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.ApproxDistinct: "count",
    exp.CountIf: "count_if",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.Median: "median",
    exp.Mode: "mode",
    exp.LogicalAnd: "bool_and",
    exp.LogicalOr: "bool_or",
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
    exp.Stddev: "stddev_samp",
    exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop",
}
_PAIRS: dict[type[exp.Expr], str] = {
    exp.CovarPop: "covar_pop",
    exp.CovarSamp: "covar_samp",
    exp.Corr: "corr",
    exp.RegrSlope: "regr_slope",
    exp.RegrIntercept: "regr_intercept",
    exp.RegrR2: "regr_r2",
    exp.RegrCount: "regr_count",
    exp.RegrAvgx: "regr_avgx",
    exp.RegrAvgy: "regr_avgy",
    exp.RegrSxx: "regr_sxx",
    exp.RegrSyy: "regr_syy",
    exp.RegrSxy: "regr_sxy",
}
"""Aggregates of two arguments."""

_MEANS = frozenset(("mean", "favg"))
"""Other names of AVG, and one that adds up in another order."""


def aggregate(ctx: Context, node: exp.Expr, scalars: Scalars) -> AggregateCall | None:
    """An aggregate call, or None when the node is something else."""
    condition: Scalar | None = None
    outer = node
    if isinstance(node, exp.Filter):
        condition = scalars.condition(node.expression.this)
        node = node.this
    if isinstance(node, Sample):
        return sampled(ctx, node, outer, condition, scalars)
    if isinstance(node, exp.Anonymous) and node.name.casefold() in _MEANS and len(node.expressions) == 1:
        node = exp.Avg(this=node.expressions[0])
    elif is_other(node):
        raise refuse(
            "D253",
            f"{node.name.upper()} is not answered",
            ctx.span(outer),
            help=_instead(node.name.casefold()),
        )
    if not isinstance(node, exp.AggFunc | exp.WithinGroup):
        return None
    function = _AGGREGATES.get(type(node)) or _PAIRS.get(type(node))
    known = ("this", "big_int", "expression") if type(node) in _PAIRS else ("this", "big_int")
    extra = [key for key, value in node.args.items() if value and key not in known]
    argument, others = node.this, tuple[Scalar, ...]()
    if is_quantile(node):
        what = quantile_call(ctx.text, node)
        function, extra, argument = what.function, [], what.argument
        others = (place_of(ctx.text, node, what),)
    if function is None or extra:
        raise refuse(
            "D253",
            f"{function_name(node, ctx.text)} is not answered yet",
            ctx.span(outer),
            help=_instead(function_name(node, ctx.text).lower()),
        )
    distinct = isinstance(argument, exp.Distinct) or isinstance(node, exp.ApproxDistinct)
    if isinstance(argument, exp.Distinct):
        if len(argument.expressions) != 1 or argument.args.get("on"):
            raise refuse(
                "D253",
                "DISTINCT over several columns is not answered",
                ctx.span(outer),
                help=f"count the {ctx.known.unit}s: COUNT(DISTINCT {ctx.known.unit_column}); or one text of "
                "both: COUNT(DISTINCT x || '/' || y)",
            )
        argument = argument.expressions[0]
    second = node.expression if type(node) in _PAIRS else None
    if type(node) in _PAIRS and second is None:
        name = function_name(node, ctx.text)
        raise refuse("D205", f"{name} takes two arguments", ctx.span(outer), help=f"write {name}(y, x)")
    if has_aggregate(argument) or has_aggregate(second):
        raise refuse("D253", "an aggregate inside an aggregate", ctx.span(outer), help="use a subquery")
    if (argument is None or isinstance(argument, exp.Star)) and function != "count":
        raise refuse("D205", f"{function.upper()} needs an argument", ctx.span(outer), help="name a column")
    star = isinstance(argument, exp.Star) or argument is None
    scalar = None if star else scalars.bind(argument)
    if function == "count_if":
        assert scalar is not None
        function, condition, scalar = "count", both(condition, scalars.condition(argument)), None
    if second is not None:
        others = (scalars.bind(second),)
    return AggregateCall("", function, scalar, distinct, condition, ctx.span(outer), others)


def refuse_distinct(ctx: Context, call: AggregateCall) -> NoReturn:
    if call.function != "count":
        name, unit = call.function.upper(), ctx.known.unit_column
        raise refuse(
            "D253",
            f"{name}(DISTINCT ...) is not answered here",
            call.span,
            label=f"whether a value is among them may depend on one {ctx.known.unit}, whatever others have",
            help=f"leave DISTINCT out; or take each {ctx.known.unit}'s distinct values: "
            f"SELECT {name}(x) FROM (SELECT DISTINCT {unit}, x FROM ...)",
        )
    raise refuse(
        "D253",
        f"{call.function.upper()}(DISTINCT ...) is answered for the {ctx.known.unit} only",
        call.span,
        help=f"count the {ctx.known.unit}s: COUNT(DISTINCT {ctx.known.unit_column}); how many values "
        "there are: SELECT "
        "COUNT(*) FROM (SELECT x FROM ... GROUP BY x)",
    )


def _instead(name: str) -> str:
    """What answers nearly the same question."""
    return INSTEAD.get(name, "COUNT, SUM, AVG, MEDIAN, STDDEV, CORR and REGR_SLOPE are answered, with FILTER")


def has_aggregate(node: exp.Expr | None) -> bool:
    """Whether an aggregate of this SELECT stands here (not a window's own, not a subquery's)."""
    if node is None or isinstance(node, exp.Query):
        return False
    if isinstance(node, exp.Window):
        inner = node.this
        while isinstance(inner, exp.IgnoreNulls | exp.RespectNulls | exp.Filter):
            inner = inner.this
        parts = [*inner.iter_expressions(), *(n for n in node.iter_expressions() if n is not node.this)]
        return any(has_aggregate(each) for each in parts)
    if isinstance(node, exp.AggFunc | exp.Filter) or is_other(node):
        return True
    return any(has_aggregate(each) for each in node.iter_expressions())


def is_other(node: exp.Expr) -> bool:
    """Whether a plain call is an aggregate: to the parser, most of DuckDB's are functions like any other."""
    return isinstance(node, exp.Anonymous) and node.name.casefold() in INSTEAD.keys() | _MEANS


def both(first: Scalar | None, second: Scalar) -> Scalar:
    return second if first is None else Call("and", (first, second))


def function_name(node: exp.Expr, text: str) -> str:
    span = span_of(node, text)
    return text[span.start : span.end].split("(")[0].strip().upper() if span else type(node).__name__.upper()
