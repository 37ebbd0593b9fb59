"""A subquery that is tied to nothing around it: public constants, rows, or a release of an earlier stage."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dpsql.bind.released.public_sql import aliased
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.sources import Open, Private
from dpsql.bind.subqueries.evaluation import awaited_rows, constants_of, evaluated, given_rows
from dpsql.errors import Error
from dpsql.facts.origin import Origin
from dpsql.ir.column import BOOLEAN
from dpsql.ir.scalar import Literal
from dpsql.ir.source import Span


def on_its_own(
    ctx: Context, env: Mapping[str, Cte], node: exp.Expr, one_row: bool = False
) -> list[Literal] | Private | None:
    """The subquery on its own: public constants, rows; or None where it names columns around it."""
    inner = node.this if isinstance(node, exp.Subquery) else node
    try:
        bound = ctx.query(inner, env)
        if isinstance(bound, Private):
            return bound
        if not bound.released and len(bound.columns) == 1:
            return list(constants_of(ctx, env)(node))
        if not bound.released:
            return given_rows(ctx, bound, ctx.span(node))
        return awaited_rows(ctx, bound, ctx.span(node), one_row=one_row)
    except Error as error:
        if error.code != "D202":
            raise
        return None


def public_rows(ctx: Context, env: Mapping[str, Cte], node: exp.Expr) -> Private:
    """A public subquery as rows, however many."""
    bound = ctx.query(node.this if isinstance(node, exp.Subquery) else node, env)
    assert isinstance(bound, Open)
    return given_rows(ctx, bound, ctx.span(node))


def each_once(ctx: Context, env: Mapping[str, Cte], node: exp.Expr) -> Private:
    """The rows of an uncorrelated subquery, each once."""
    inner = node.this if isinstance(node, exp.Subquery) else node
    whole = exp.select("*").from_(aliased(inner, ctx.fresh("sub"))).distinct()
    bound = ctx.query(whole, env)
    if isinstance(bound, Private):
        return bound
    rows = awaited_rows if bound.released else given_rows
    return rows(ctx, bound, ctx.span(node), len(bound.columns))


def public_exists(ctx: Context, env: Mapping[str, Cte], node: exp.Exists) -> Literal | None:
    """EXISTS over public rows that nothing ties to the rows around it."""
    try:
        bound = ctx.query(node.this, env)
        if isinstance(bound, Open) and not bound.released:
            return Literal(bool(evaluated(ctx, bound, ctx.span(node))[1]), BOOLEAN)
    except Error as error:
        if error.code != "D202":
            raise
    return None


MOST_LISTED = 1_000
"""Groups of a subquery that are listed at most, whether they hold rows or not."""


def public_source(ctx: Context, env: Mapping[str, Cte], origin: Origin | None) -> exp.Column | None:
    """The column of a public table that a subquery is tied to, where its list of values is short."""
    if origin is None or origin[0].casefold() in env:
        return None
    table = ctx.known.table(origin[0])
    if table is None or not table.public or (table.size or 0) > MOST_LISTED:
        return None
    return exp.column(origin[1], origin[0])


def rows_of_open(ctx: Context, bound: Open, span: Span | None) -> Private:
    """A public part, or what an earlier stage releases, as rows among private ones."""
    return awaited_rows(ctx, bound, span) if bound.released else given_rows(ctx, bound, span)
