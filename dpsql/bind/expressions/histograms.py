"""HISTOGRAM(x, bins) -> a map of disjoint counts.

    HISTOGRAM(age, [17, 66])

    MAP([17, 66, 2147483647], [COUNT(*) FILTER (WHERE age <= 17),
                               COUNT(*) FILTER (WHERE age > 17 AND age <= 66),
                               COUNT(*) FILTER (WHERE age > 66)])

A row is in at most one count, so all of them together cost as much as one. As in DuckDB, a bin is named by
its upper end, which it includes, and the last bin by the largest value of the type; NaN is in the first bin.
Unlike in DuckDB, the last bin is always in the answer: whether it is empty depends on the data.
"""

from __future__ import annotations

from sqlglot import exp, parse_one

from dpsql.bind.expressions.aggregates import has_aggregate
from dpsql.bind.expressions.scalars import Scalars
from dpsql.errors import refuse
from dpsql.facts.schema import fact_of
from dpsql.functions.core.literals import coerce, literal_sql
from dpsql.functions.core.ranges import ordinal
from dpsql.ir.column import DOUBLE, Kind, Type, type_range
from dpsql.ir.scalar import Literal
from dpsql.parse.histograms import Histogram
from dpsql.parse.spans import span_of

MOST = 250
"""The most bins; the disjointness of as many conditions is recognized."""

_HELP = "write HISTOGRAM(x, [10, 20, 50]): the upper ends of the bins, in order"
_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.DATE, Kind.TIMESTAMP)


def histogram_counts(text: str, node: exp.Expr, scalars: Scalars) -> exp.Expr | None:
    """Return the counts of a histogram, with its FILTER; None for any other node."""
    only = node.expression.this if isinstance(node, exp.Filter) else None
    histogram = node.this if isinstance(node, exp.Filter) else node
    if not isinstance(histogram, Histogram):
        return None
    argument = histogram.expressions[0]
    if has_aggregate(argument):
        raise refuse("D253", "an aggregate inside an aggregate", span_of(node, text), help="use a subquery")
    kind = fact_of(scalars.bind(argument), scalars.facts).type
    if kind.kind not in _NUMBERS or kind.sql in ("UHUGEINT", "TIMESTAMP_NS", "TIMESTAMP_S", "TIMESTAMP_MS"):
        raise refuse(
            "D205",
            f"HISTOGRAM takes numbers, dates and timestamps, not {kind.said}",
            span_of(argument, text) or span_of(node, text),
            help="count the values: SELECT x, COUNT(*) FROM ... GROUP BY x",
        )
    upper_ends, ends = _bins(text, histogram, kind, scalars)
    nan = exp.IsNan(this=argument.copy()) if kind.kind is Kind.FLOAT else None
    conditions: list[exp.Expr] = []
    for i, end in enumerate(upper_ends):
        upto: exp.Expr = exp.LTE(this=argument.copy(), expression=end.copy())
        if i:
            upto = exp.and_(exp.GT(this=argument.copy(), expression=upper_ends[i - 1].copy()), upto)
        elif nan is not None:
            upto = exp.or_(upto, nan)
        conditions.append(upto)
    beyond: exp.Expr = exp.GT(this=argument.copy(), expression=upper_ends[-1].copy())
    conditions.append(beyond if nan is None else exp.and_(beyond, exp.not_(nan.copy())))
    counts = []
    for condition in conditions:
        when = condition if only is None else exp.and_(only.copy(), condition)
        counts.append(exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=when)))
    keys = [parse_one(sql, read="duckdb") for sql in (*(literal_sql(end) for end in ends), _largest(kind))]
    return exp.Map(keys=exp.Array(expressions=keys), values=exp.Array(expressions=counts))


def _bins(
    text: str, histogram: Histogram, kind: Type, scalars: Scalars
) -> tuple[list[exp.Expr], list[Literal]]:
    """Return the upper ends as written, and as the constants that name the bins."""
    _, listed = histogram.expressions
    if not isinstance(listed, exp.Array) or not 1 <= len(listed.expressions) <= MOST:
        raise refuse(
            "D205",
            f"the bins must be a list of 1 to {MOST} constants",
            span_of(listed, text) or span_of(histogram, text),
            help=_HELP,
        )
    expressions, ends = list(listed.expressions), list[Literal]()
    for expression in expressions:
        scalar = scalars.bind(expression)
        constant = coerce(scalar, kind) if isinstance(scalar, Literal) else None
        exact = constant is not None and constant.value is not None
        if isinstance(scalar, Literal) and isinstance(scalar.value, int | float) and exact:
            assert constant is not None
            exact = constant.value == scalar.value or kind.kind is Kind.FLOAT
        if constant is None or not exact:
            raise refuse(
                "D205",
                f"this bin is no constant of type {kind.said}, the type of the argument",
                span_of(expression, text) or span_of(histogram, text),
                help=_HELP,
            )
        if ends and not ordinal(ends[-1].value) < ordinal(constant.value):
            raise refuse(
                "D205",
                "the bins are not in ascending order",
                span_of(expression, text) or span_of(histogram, text),
                label="this is not above the previous bin",
                help=_HELP,
            )
        ends.append(constant)
    if kind.kind is Kind.DECIMAL:
        ends = [Literal(ordinal(end.value) * 1.0, DOUBLE) for end in ends]
    return expressions, ends


def _largest(kind: Type) -> str:
    """Return the name of the last bin in DuckDB: the largest value of the type."""
    match kind.kind:
        case Kind.INTEGER:
            return f"CAST({type_range(kind).high} AS {kind.sql})"
        case Kind.DECIMAL:
            return "CAST('infinity' AS DOUBLE)"
        case _:
            return f"CAST('infinity' AS {kind.sql})"
