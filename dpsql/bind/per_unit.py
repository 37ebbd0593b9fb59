"""GROUP BY with the unit among its keys: an exact aggregate of each unit's rows, still private."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dpsql.aggregates import Distinct
from dpsql.aggregates import shelf as aggregates
from dpsql.bind.expressions.aggregates import aggregate, computable, has_aggregate, refuse_distinct
from dpsql.bind.expressions.bounded_arguments import with_bounds
from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.private.aliases import with_aliases, with_earlier_aliases
from dpsql.bind.private.projection import distinct_rows, groupable, projected, refuse_order_and_limit
from dpsql.bind.released.expressions import ReleasedExpressions
from dpsql.bind.scope.context import Context
from dpsql.bind.scope.scope import Scope, Visible
from dpsql.bind.scope.sources import Private
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.subqueries.unnesting import SubqueryUnnester
from dpsql.bind.syntax.output_names import output_name
from dpsql.errors import refuse
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.ir.relation import Aggregate, AggregateCall, Named, OrderedCall
from dpsql.ir.scalar import Ref


def per_unit(
    ctx: Context,
    node: exp.Select,
    source: SubqueryUnnester,
    items: list[exp.Expr],
    keys: list[tuple[exp.Expr, Named]],
    scalars: Scalars,
    hidden: tuple[Named, ...] = (),
) -> Private:
    """Bind GROUP BY with the unit among its keys: an exact aggregate of each unit's rows, still private.

    The query does not see ``hidden`` keys.
    """
    refuse_order_and_limit(ctx, node)
    grouped_by = node.args.get("group") or any(has_aggregate(item) for item in items)

    def register(node: exp.Expr) -> AggregateCall | None:
        call = aggregate(ctx, node, scalars)
        if call is None:
            return None
        if call.distinct and aggregates()[call.function].distinct is Distinct.REFUSED:
            refuse_distinct(ctx, call)
        if aggregates()[call.function].asks_order and not isinstance(call, OrderedCall):
            raise refuse(
                "D253",
                f"{call.function.upper()} needs an order of the {ctx.known.unit}'s rows",
                call.span,
                label="rows are stored in no order that means anything",
                help=f"write {aggregates()[call.function].example}; for any of the values ANY_VALUE(x)",
            )
        return with_bounds(call, source.relation)

    def aliases(condition: exp.Expr) -> exp.Expr:
        return with_aliases(condition, node, source.scope, aggregates=True)

    translator = ReleasedExpressions(
        ctx.text, "", scalars, keys, register, lambda subquery: subquery, ctx.fresh
    )
    items = with_earlier_aliases(items, source.scope, aggregates=True)
    outputs = [translator.translate(unaliased(item)) for item in items]
    having = node.args.get("having")
    filtered = translator.translate(aliases(having.this)) if having is not None else None
    qualify = node.args.get("qualify")
    qualified = translator.translate(aliases(qualify.this)) if qualify is not None else None
    groupable(ctx, keys, scalars)
    every = (*(named for _, named in keys), *hidden)
    grouped = Aggregate(source.relation, every, tuple(translator.calls))
    names = [named.name for _, named in keys] + [call.name for call in translator.calls]
    for call in grouped.aggregates:
        arguments = () if call.argument is None else (call.argument, *call.others)
        bounded = computable(ctx, grouped.input, call.function, arguments, call.span)
        grouped = replace(grouped, input=bounded)
    shown = (  # a subquery names a key as FROM does
        Visible(v.qualifier, v.name, Ref(named.name), v.merged)
        for _, named in keys
        for v in source.scope.columns
        if v.scalar == named.scalar
    )
    inner = Scope((*(Visible("", name, Ref(name)) for name in names), *shown))
    above = SubqueryUnnester(ctx, source.env, grouped, inner, source.named)
    over = above.scalars()
    if filtered is not None:
        above.keep(over.condition(filtered))
    scalars_out = [over.bind(output) for output in outputs]  # windows read all groups, before QUALIFY
    if qualified is not None:
        above.keep(over.condition(qualified))
    rows = projected(ctx, above.relation, [output_name(item) for item in items], scalars_out)
    return _distinct(ctx, node, rows) if grouped_by and node.args.get("distinct") else rows


def _distinct(ctx: Context, node: exp.Select, rows: Private) -> Private:
    """Apply DISTINCT to groups of the unit; refuse it where the unit is not in the output."""
    names = [column.scalar.name for column in rows.scope.columns if isinstance(column.scalar, Ref)]
    owned = ownership_of(rows.relation)
    assert isinstance(owned, Owned)
    spelled = any(set(columns) <= set(names) for columns in owned.spelled)
    if not owned.units & set(names) and not spelled:
        raise refuse(
            "D406",
            f"DISTINCT would merge rows of several {ctx.known.unit}s",
            ctx.span(node.args["distinct"]) or ctx.span(node),
            label=f"the {ctx.known.unit} is not in the select list",
            help=f"select the {ctx.known.unit} too, or write SELECT DISTINCT ... FROM (SELECT ...)",
        )
    hidden = None if owned.units & set(names) else owned.unit
    relation, scope = distinct_rows(ctx, node, rows.relation, names, rows.scope, hidden)
    return Private(relation, scope)
