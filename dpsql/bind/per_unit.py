"""GROUP BY with the unit among its keys: exact, one unit's rows at a time, and still private."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dpsql.aggregates import Distinct, Unbounded
from dpsql.aggregates import shelf as aggregates
from dpsql.bind.expressions.aggregates import aggregate, has_aggregate, refuse_distinct
from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.private.conditions import with_aliases
from dpsql.bind.private.projection import distinct_rows, groupable, refuse_picked, selected
from dpsql.bind.released.expressions import ReleasedExpressions
from dpsql.bind.scope.context import Context
from dpsql.bind.scope.scope import Scope, Visible
from dpsql.bind.scope.sources import Private
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.subqueries.unnesting import SubqueryUnnester
from dpsql.bind.syntax.output_names import output_name
from dpsql.errors import Error, refuse
from dpsql.facts.ownership import Owned, ownership_of, rows_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.relation import Aggregate, AggregateCall, Named, Relation
from dpsql.ir.scalar import Ref


def per_unit(
    ctx: Context,
    node: exp.Select,
    source: SubqueryUnnester,
    items: list[exp.Expr],
    keys: list[tuple[exp.Expr, Named]],
    scalars: Scalars,
) -> Private:
    """GROUP BY with the unit among its keys: exact, one unit's rows at a time, and still private."""
    refuse_picked(ctx, node)
    grouped_by = node.args.get("group") or any(has_aggregate(each) for each in items)

    def register(each: exp.Expr) -> AggregateCall | None:
        call = aggregate(ctx, each, scalars)
        if call is None:
            return None
        if call.distinct and aggregates()[call.function].distinct is Distinct.REFUSED:
            refuse_distinct(ctx, call)
        return call

    def aliases(condition: exp.Expr) -> exp.Expr:
        return with_aliases(condition, node, source.scope, aggregates=True)

    turner = ReleasedExpressions(ctx.text, "", scalars, keys, register, lambda subquery: subquery, ctx.fresh)
    turned = [turner.turn(unaliased(each)) for each in items]
    having = node.args.get("having")
    kept = turner.turn(aliases(having.this)) if having is not None else None
    qualify = node.args.get("qualify")
    picked = turner.turn(aliases(qualify.this)) if qualify is not None else None
    groupable(ctx, keys, scalars)
    grouped = Aggregate(source.relation, tuple(named for _, named in keys), tuple(turner.calls))
    names = [named.name for _, named in keys] + [call.name for call in turner.calls]
    grouped = computable(ctx, grouped)
    shown = (  # to a subquery, a key goes by the name that it has in FROM
        Visible(v.qualifier, v.name, Ref(named.name), v.merged)
        for _, named in keys
        for v in source.scope.columns
        if v.scalar == named.scalar
    )
    inner = Scope((*(Visible("", each, Ref(each)) for each in names), *shown))
    above = SubqueryUnnester(ctx, source.env, grouped, inner, source.named)
    over = above.scalars()
    if kept is not None:
        above.keep(over.condition(kept))
    scalars_out = [over.bind(each) for each in turned]  # windows look at all groups: those before QUALIFY
    if picked is not None:
        above.keep(over.condition(picked))
    rows = selected(ctx, above.relation, [output_name(each) for each in items], scalars_out)
    return _each_once(ctx, node, rows) if grouped_by and node.args.get("distinct") else rows


def _each_once(ctx: Context, node: exp.Select, rows: Private) -> Private:
    """DISTINCT over groups of the unit: what it leaves is the unit's own, if the unit is in the output."""
    names = [each.scalar.name for each in rows.scope.columns if isinstance(each.scalar, Ref)]
    owned = ownership_of(rows.relation)
    assert isinstance(owned, Owned)
    if not owned.units & set(names):
        raise refuse(
            "D406",
            f"DISTINCT over rows that no longer tell one {ctx.known.unit} from another",
            ctx.span(node.args["distinct"]) or ctx.span(node),
            label=f"the {ctx.known.unit} is not in the select list",
            help=f"select the {ctx.known.unit} too, or write SELECT DISTINCT ... FROM (SELECT ...)",
        )
    relation, scope = distinct_rows(ctx, node, rows.relation, names, rows.scope)
    return Private(relation, scope)


def computable(ctx: Context, grouped: Aggregate) -> Aggregate:
    """The same, if every aggregate can be computed exactly in any order of the rows."""
    for call in grouped.aggregates:
        while (refusal := _refusal(call, grouped.input)) is not None:
            if refusal.code != "D301" or call.argument is None:
                raise refusal
            grouped = replace(grouped, input=ctx.need(grouped.input, (call.argument, *call.others), refusal))
    return grouped


def _refusal(call: AggregateCall, rows: Relation) -> Error | None:
    facts = facts_of(rows)
    argument = None if call.argument is None else fact_of(call.argument, facts)
    others = [fact_of(each, facts) for each in call.others]
    try:
        aggregates()[call.function].result(argument, rows_of(rows), *others)
        aggregates()[call.function].per_unit("x", argument, "", *(("y", each) for each in others))
    except Unbounded as finding:
        return refuse(finding.code, finding.title, call.span, help=finding.help)
    return None
