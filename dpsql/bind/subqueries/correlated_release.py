"""A subquery over private rows, correlated with public or released rows: all its groups are released.

    FROM partsupp ps WHERE ps.qty > (SELECT SUM(l.qty) FROM lineitem l WHERE l.partkey = ps.partkey)

    WHERE ps.qty > (SELECT s.v0 FROM (SELECT l.partkey AS k0, SUM(l.qty) AS v0 ... GROUP BY 1) AS s
                    WHERE s.k0 = ps.partkey)

A group that is not released is NULL in the query around, as in SQL.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dpsql.bind.expressions.aggregates import has_aggregate
from dpsql.bind.private.items import Item
from dpsql.bind.released.public_sql import aliased, column, without_margins
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.scope import Scope, Visible
from dpsql.bind.scope.sources import Open, Private
from dpsql.bind.subqueries import decorrelate
from dpsql.bind.subqueries.evaluation import post_of
from dpsql.bind.subqueries.key_lists import MOST_LISTED, Asked, alias_of, key_lists_of, narrowed_items
from dpsql.bind.subqueries.unnesting import bind_from_and_where, name_of
from dpsql.facts.origin import Origin
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import facts_of
from dpsql.ir.column import Fact, Type, sealed_name, type_named
from dpsql.ir.scalar import Ref


def correlated_release(
    ctx: Context, env: Mapping[str, Cte], around: exp.Select, items: list[Item], node: exp.Expr
) -> exp.Expr | None:
    """Return a subquery of a SELECT over a release of its groups; None where it is not of that kind."""
    inner = node.this if isinstance(node, exp.Subquery) else node
    if not isinstance(inner, exp.Select) or inner.args.get("with_") or len(inner.expressions) != 1:
        return None
    inner = decorrelate.having_as_case(inner)
    item = inner.expressions[0].unalias()
    if not has_aggregate(item) or inner.args.get("group") or not decorrelate.has_plain_limit(inner):
        return None
    scope, facts, origins = _columns_around(ctx, items)
    joined, within = bind_from_and_where(ctx, env, scope, facts, inner)
    if not isinstance(ownership_of(joined.relation), Owned):
        return None
    correlations = []
    for condition, part in joined.outer:
        correlation = decorrelate.correlation_of(condition, part, within, facts_of(joined.relation).keys())
        if correlation is None:
            return None
        correlations.append(correlation)
    calls = decorrelate.aggregates_in(item)
    asked = []
    for _, outer in correlations:
        alias = alias_of(within.bind(outer), scope)
        asked.append(Asked(origins.get(name_of(outer, within)), alias, alias))
    lists = key_lists_of(ctx, env, asked, narrowed_items(around, items), MOST_LISTED)
    inside = [key for key, _ in correlations]
    inner, keys = decorrelate.join_key_lists(inner, inside, lists, ctx.fresh)
    select = decorrelate.grouped_by_keys(inner, keys, list(joined.local), calls, False, False, ctx.fresh)
    with ctx.listing(MOST_LISTED):
        bound = ctx.query(select, env)
    if isinstance(bound, Private) or not bound.released:
        return None
    alias = ctx.fresh("sub")
    columns = [column(name, alias) for name in bound.columns]
    equal = [
        exp.EQ(this=k, expression=outer.copy()) for k, (_, outer) in zip(columns, correlations, strict=False)
    ]
    values = []
    for call, value_column in zip(calls, columns[len(correlations) :], strict=True):
        shown = exp.Select(
            expressions=[value_column],
            from_=exp.From(this=aliased(without_margins(bound, ctx.fresh), alias)),
            where=exp.Where(this=exp.and_(*(equality.copy() for equality in equal))),
        )
        value: exp.Expr = exp.Subquery(this=shown)
        if decorrelate.counts(call):  # COUNT over no rows is 0
            value = exp.Coalesce(this=value, expressions=[exp.Literal.number(0)])
        values.append(value)
    return exp.Paren(this=decorrelate.replace_aggregates(item, calls, values))


def _columns_around(ctx: Context, items: list[Item]) -> tuple[Scope, dict[str, Fact], dict[str, Origin]]:
    """Return the columns of public and released items, with types and the table columns they come from."""
    visible, facts, origins = [], {}, {}
    for item in items:
        if not isinstance(item.source, Open):
            continue
        table = item.source.tree.name if isinstance(item.source.tree, exp.Table) and not item.names else ""
        for name, kind in zip(item.columns, _types_of(ctx, item.source, item.columns, table), strict=True):
            unique_name = ctx.fresh(name)
            facts[unique_name] = Fact(kind)
            visible.append(Visible(item.alias, name, Ref(unique_name)))
            if table:  # else they are other columns
                origins[unique_name] = (table, name)
    return Scope(tuple(visible)), facts, origins


def _types_of(ctx: Context, source: Open, columns: tuple[str, ...], table: str) -> list[Type]:
    """Return the types of columns: of a public ``table`` as they are known, so that no row has to be read."""
    known = ctx.known.table(table) if table else None
    if known is not None and known.public:
        types = {column.name: column.fact.type for column in known.columns}
        if types.keys() >= {*columns}:
            return [type_named(sealed_name(types[name].sql)) for name in columns]
    post = post_of(ctx, without_margins(source, ctx.fresh), columns, (None,) * len(columns))
    measures = [measure for measure in ctx.measures if measure.name in post.released]
    return [*map(type_named, ctx.describe(post.sql, post.tables, measures))]
