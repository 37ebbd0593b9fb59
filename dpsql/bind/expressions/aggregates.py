"""Bind aggregate calls: the function, its arguments, and the condition of its FILTER."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NoReturn

from sqlglot import exp

from dpsql.aggregates import Rule, Unbounded, by_name, by_node, shelf
from dpsql.bind.expressions.orders import ordering
from dpsql.bind.expressions.samples import bind_sample
from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.scope.context import Context
from dpsql.bind.syntax.quantiles import is_quantile, place_of, quantile_call
from dpsql.errors import refuse
from dpsql.facts.ownership import rows_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import VARCHAR, Fact
from dpsql.ir.relation import AggregateCall, OrderedCall, Ordering, Relation
from dpsql.ir.scalar import Call, Literal, Scalar
from dpsql.ir.source import Span
from dpsql.parse.other_aggregates import INSTEAD
from dpsql.parse.other_functions import instead_of
from dpsql.parse.samples import Sample
from dpsql.parse.spans import span_of

MOST_BETWEEN = 10
"""Characters of a separator."""


def aggregate(ctx: Context, node: exp.Expr, scalars: Scalars) -> AggregateCall | None:
    """Bind an aggregate call; None for any other node."""
    condition: Scalar | None = None
    outer = node
    if isinstance(node, exp.Filter):
        condition = scalars.condition(node.expression.this)
        node = node.this
    if isinstance(node, Sample):
        return bind_sample(ctx, node, outer, condition, scalars)
    rule, arguments = _aggregate_named(node), list[exp.Expr | None](node.expressions)
    more_arguments, unknown = tuple[Scalar, ...](), False
    if rule is None or len(arguments) != rule.arguments:
        if is_named_aggregate(node):
            raise refuse(
                "D253",
                f"{node.name.upper()} is not answered",
                ctx.span(outer),
                help=_alternative(node.name.casefold()),
            )
        if not isinstance(node, exp.AggFunc | exp.WithinGroup):
            return None
        rule = by_node().get(type(node))
        pair = rule is not None and rule.arguments == 2
        arguments = [node.this, node.expression] if pair else [node.this]
        known = ("this", "big_int", "expression") if pair else ("this", "big_int")
        if isinstance(node, exp.GroupConcat):
            known, more_arguments = (*known, "separator"), (_separator(ctx, node),)
        unknown = any(value for key, value in node.args.items() if key not in known)
    if is_quantile(node):
        quantile = quantile_call(ctx.text, node)
        rule, unknown, arguments = shelf()[quantile.function], False, [quantile.argument]
        more_arguments = (place_of(ctx.text, node, quantile),)
    if rule is None or unknown:
        raise refuse(
            "D253",
            f"{function_name(node, ctx.text)} is not answered yet",
            ctx.span(outer),
            help=_alternative(function_name(node, ctx.text).lower()),
        )
    orderings = tuple[Ordering, ...]()
    if rule.in_order:
        orderings = tuple(ordering(ctx, item, scalars) for item in _take_order(arguments))
    argument = arguments[0]
    distinct = isinstance(argument, exp.Distinct) or type(node) in rule.distinct_nodes
    if isinstance(argument, exp.Distinct):
        unit = _spelled_unit(argument, scalars)
        if unit is not None and rule.counts:
            return AggregateCall("", rule.name, unit, True, condition, ctx.span(outer))
        several = any(isinstance(each, exp.Tuple) for each in argument.expressions)
        if len(argument.expressions) != 1 or argument.args.get("on") or several:
            raise refuse(
                "D253",
                "DISTINCT over several columns is not answered",
                ctx.span(outer),
                help=f"count the {ctx.known.unit}s: COUNT(DISTINCT {ctx.known.counted_unit}); or one text of "
                "both: COUNT(DISTINCT x || '/' || y)",
            )
        arguments[0] = argument.expressions[0]
    if rule.arguments == 2 and arguments[1] is None:
        name = function_name(node, ctx.text)
        example = rule.example or f"{name}(y, x)"
        raise refuse("D205", f"{name} takes two arguments", ctx.span(outer), help=f"write {example}")
    if type(node) in rule.condition_nodes:
        return _conditional(ctx, rule, node, distinct, condition, scalars, ctx.span(outer))
    if rule.in_order and arguments[1:]:
        by = arguments.pop()
        assert by is not None
        orderings = (ordering(ctx, exp.Ordered(this=by, desc=rule.descending), scalars), *orderings)
    call = _call(ctx, rule, arguments, condition, scalars, ctx.span(outer))
    if orderings:
        return OrderedCall(
            "", call.function, call.argument, distinct, call.condition, call.span, more_arguments, orderings
        )
    return replace(call, distinct=distinct, others=(*call.others, *more_arguments))


def _spelled_unit(distinct: exp.Distinct, scalars: Scalars) -> Scalar | None:
    """Return the unit where (a, b) are the columns that it is made of, in any order; else None.

        COUNT(DISTINCT (hospital_id, patient_no))       counts units, if that is what a patient is

    One of the columns alone is a value like any other: of several units.
    """
    match distinct.expressions:
        case [exp.Tuple() as columns] if not distinct.args.get("on"):
            return scalars.unit_of([scalars.bind(column) for column in columns.expressions])
        case _:
            return None


def _separator(ctx: Context, node: exp.GroupConcat) -> Literal:
    """Return the text between two texts of a STRING_AGG; a comma if none is written."""
    separator = node.args.get("separator")
    if separator is None:
        return Literal(",", VARCHAR)
    if not (
        isinstance(separator, exp.Literal) and separator.is_string and len(separator.name) <= MOST_BETWEEN
    ):
        raise refuse(
            "D205",
            f"{function_name(node, ctx.text)} takes a constant of at most {MOST_BETWEEN} characters here",
            ctx.span(separator) or ctx.span(node),
            help="write it in quotes: STRING_AGG(x, ',' ORDER BY y)",
        )
    return Literal(separator.name, VARCHAR)


def _take_order(arguments: list[exp.Expr | None]) -> list[exp.Expr]:
    """Take the ORDER BY out of the last argument, and return its expressions."""
    last = arguments[-1]
    if not isinstance(last, exp.Order):
        return []
    arguments[-1] = last.this
    return list(last.expressions)


def _conditional(
    ctx: Context,
    rule: Rule,
    node: exp.Expr,
    distinct: bool,
    condition: Scalar | None,
    scalars: Scalars,
    span: Span | None,
) -> AggregateCall:
    """Bind an aggregate of the rows for which its argument is true."""
    if distinct:
        raise refuse(
            "D253",
            f"{function_name(node, ctx.text)}(DISTINCT ...) is not answered",
            span,
            label="the distinct values of a condition are true and false",
            help="leave DISTINCT out; or count the values: COUNT(DISTINCT x) FILTER (WHERE ...)",
        )
    _refuse_inner(ctx, [node.this], span)
    return AggregateCall(
        "", rule.name, None, False, conjunction(condition, scalars.condition(node.this)), span
    )


def _call(
    ctx: Context,
    rule: Rule,
    arguments: list[exp.Expr | None],
    condition: Scalar | None,
    scalars: Scalars,
    span: Span | None,
) -> AggregateCall:
    """Return the call of an aggregate with these arguments."""
    _refuse_inner(ctx, arguments, span)
    argument, *more_arguments = arguments
    if argument is None or isinstance(argument, exp.Star):
        if not rule.counts:
            raise refuse("D205", f"{rule.name.upper()} needs an argument", span, help="name a column")
        return AggregateCall("", rule.name, None, False, condition, span)
    scalar = scalars.bind(argument)
    bound = tuple(scalars.bind(extra) for extra in more_arguments if extra is not None)
    return AggregateCall("", rule.name, scalar, False, condition, span, bound)


def _refuse_inner(ctx: Context, arguments: Sequence[exp.Expr | None], span: Span | None) -> None:
    if any(has_aggregate(argument) for argument in arguments):
        raise refuse("D253", "an aggregate inside an aggregate", span, help="use a subquery")


def _aggregate_named(node: exp.Expr) -> Rule | None:
    """Return the aggregate of a plain call, where the parser has no node for it; else None."""
    return by_name().get(node.name.casefold()) if isinstance(node, exp.Anonymous) else None


def computable(
    ctx: Context,
    rows: Relation,
    function: str,
    arguments: tuple[Scalar, ...],
    span: Span | None,
    around: Mapping[str, Fact] = MappingProxyType({}),
) -> Relation:
    """Return the rows with the bounds that an aggregate needs to be exact in any order of one unit's rows.

    Refuse an aggregate that no bound helps. A subquery's window may also read the rows ``around`` it.
    """
    rule = shelf()[function]
    while True:
        known = {**around, **facts_of(rows)}
        facts = [fact_of(argument, known) for argument in arguments]
        first, others = (facts[0], facts[1:]) if facts else (None, [])
        try:
            rule.result(first, rows_of(rows), *others)
            if not rule.in_order:
                rule.per_unit("x", first, "", *(("y", fact) for fact in others))
        except Unbounded as reason:
            refusal = refuse(reason.code, reason.title, span, help=reason.help)
        else:
            return rows
        if refusal.code != "D301" or not arguments:
            raise refusal
        rows = ctx.need(rows, arguments, refusal)


def refuse_distinct(ctx: Context, call: AggregateCall, at_release: bool = False) -> NoReturn:
    """Refuse DISTINCT in an aggregate that is not answered with it."""
    if not shelf()[call.function].counts:
        name, unit = call.function.upper(), ctx.known.unit_column
        inner = f"FROM (SELECT DISTINCT {unit}, x FROM ...)"
        groups = "FROM (SELECT x, COUNT(*) AS n FROM ... GROUP BY x HAVING COUNT(*) > 10)"
        written = f"SELECT {name}(x) {inner}"
        if name == "STRING_AGG":
            written = f"SELECT {unit}, {name}(x, ',' ORDER BY x) AS m {inner} GROUP BY {unit}"
        raise refuse(
            "D253",
            f"{name}(DISTINCT ...) is not answered here",
            call.span,
            label=f"whether a value is among the distinct values may depend on one {ctx.known.unit}",
            help="leave DISTINCT out; or "
            + (f"release the values first: SELECT {name}(x) {groups}; or " if at_release else "")
            + f"take each {ctx.known.unit}'s distinct values: {written}",
        )
    raise refuse(
        "D253",
        f"{call.function.upper()}(DISTINCT ...) is answered for the {ctx.known.unit} only",
        call.span,
        help=f"count the {ctx.known.unit}s: COUNT(DISTINCT {ctx.known.counted_unit}); or the values: SELECT "
        "COUNT(*) FROM (SELECT x FROM ... GROUP BY x)",
    )


def _alternative(name: str) -> str:
    """Return a help text with an aggregate to use instead."""
    if name in by_name() and by_name()[name].example:
        return f"write {by_name()[name].example}"
    if name in ("max", "min"):
        return f"write {name.upper()}(x); of several, a quantile: QUANTILE_CONT(x, 0.99)"
    answered = "COUNT, SUM, AVG, MEDIAN, STDDEV, CORR and REGR_SLOPE are answered, with FILTER"
    return instead_of(name) or answered


def has_aggregate(node: exp.Expr | None) -> bool:
    """Whether a node holds an aggregate of this SELECT (not one of a window or of a subquery)."""
    if node is None or isinstance(node, exp.Query):
        return False
    if isinstance(node, exp.Window):
        inner = node.this
        while isinstance(inner, exp.IgnoreNulls | exp.RespectNulls | exp.Filter):
            inner = inner.this
        parts = [*inner.iter_expressions(), *(n for n in node.iter_expressions() if n is not node.this)]
        return any(has_aggregate(part) for part in parts)
    if isinstance(node, exp.AggFunc | exp.Filter) or is_named_aggregate(node):
        return True
    return any(has_aggregate(child) for child in node.iter_expressions())


def is_named_aggregate(node: exp.Expr) -> bool:
    """Whether a plain call is an aggregate: the parser has no node for most aggregates of DuckDB."""
    return isinstance(node, exp.Anonymous) and (
        node.name.casefold() in INSTEAD or _aggregate_named(node) is not None
    )


def conjunction(first: Scalar | None, second: Scalar) -> Scalar:
    return second if first is None else Call("and", (first, second))


def function_name(node: exp.Expr, text: str) -> str:
    span = span_of(node, text)
    return text[span.start : span.end].split("(")[0].strip().upper() if span else type(node).__name__.upper()
