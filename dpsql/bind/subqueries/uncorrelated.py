"""Uncorrelated subqueries: as public constants, as rows, or as the release of an earlier stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from dpsql.bind.released.public_sql import aliased
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.scope import Scope
from dpsql.bind.scope.sources import Open, Private
from dpsql.bind.subqueries.evaluation import constants_of, materialized, run_public, stage_input
from dpsql.errors import Error
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import BOOLEAN, Kind
from dpsql.ir.relation import Aggregate, Named
from dpsql.ir.scalar import Literal, Ref
from dpsql.ir.source import Span


def bind_alone(
    ctx: Context, env: Mapping[str, Cte], node: exp.Expr, one_row: bool = False
) -> list[Literal] | Private | None:
    """Bind a subquery on its own, as constants or rows; None if it names columns of the query around."""
    inner = node.this if isinstance(node, exp.Subquery) else node
    try:
        bound = ctx.query(inner, env)
        if isinstance(bound, Private):
            return bound
        if not bound.released and len(bound.columns) == 1:
            return list(constants_of(ctx, env)(node))
        if not bound.released:
            return materialized(ctx, bound, ctx.span(node))
        return stage_input(ctx, bound, ctx.span(node), one_row=one_row)
    except Error as error:
        if error.code != "D202":
            raise
        return None


def public_rows(ctx: Context, env: Mapping[str, Cte], node: exp.Expr) -> Private:
    """Return a public subquery as rows, also where it has one value."""
    bound = ctx.query(node.this if isinstance(node, exp.Subquery) else node, env)
    assert isinstance(bound, Open)
    return materialized(ctx, bound, ctx.span(node))


def distinct_subquery_rows(ctx: Context, env: Mapping[str, Cte], node: exp.Expr) -> Private:
    """Return the distinct rows of an uncorrelated subquery."""
    inner = node.this if isinstance(node, exp.Subquery) else node
    distinct = exp.select("*").from_(aliased(inner, ctx.fresh("sub"))).distinct()
    try:
        bound = ctx.query(distinct, env)
    except Error as error:
        if error.code != "D403":
            raise
        found = _distinct_in_units(ctx, env, inner)
        if found is None:
            raise
        return found
    if isinstance(bound, Private):
        return bound
    rows = stage_input if bound.released else materialized
    return rows(ctx, bound, ctx.span(node), len(bound.columns))


def _distinct_in_units(ctx: Context, env: Mapping[str, Cte], inner: exp.Expr) -> Private | None:
    """Return the distinct rows of each unit, of columns that tell it; None of values that equality rounds."""
    bound = ctx.query(inner, env)
    owned = ownership_of(bound.relation) if isinstance(bound, Private) else None
    if not isinstance(bound, Private) or not isinstance(owned, Owned):
        return None
    facts = facts_of(bound.relation)
    values = [column.scalar for column in bound.scope.starred]
    if any(fact_of(value, facts).type.kind not in _EXACT for value in values):
        return None
    keys = [Named(ctx.fresh("unit"), Ref(owned.unit)), *(Named(ctx.fresh("key"), value) for value in values)]
    visible = (
        replace(column, scalar=Ref(key.name))
        for column, key in zip(bound.scope.starred, keys[1:], strict=True)
    )
    return Private(Aggregate(bound.relation, tuple(keys), ()), Scope(tuple(visible)))


_EXACT = (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN, Kind.DATE)


def public_exists(ctx: Context, env: Mapping[str, Cte], node: exp.Exists) -> Literal | None:
    """Return an uncorrelated EXISTS over public rows as a constant; None for any other."""
    try:
        bound = ctx.query(node.this, env)
        if isinstance(bound, Open) and not bound.released:
            return Literal(bool(run_public(ctx, bound, ctx.span(node))[1]), BOOLEAN)
    except Error as error:
        if error.code != "D202":
            raise
    return None


def rows_of_open(ctx: Context, bound: Open, span: Span | None) -> Private:
    """Return public rows, or the release of an earlier stage, as rows to join with private ones."""
    return stage_input(ctx, bound, span) if bound.released else materialized(ctx, bound, span)
