"""The release point: the aggregate that drops the unit becomes a Measure, the rest becomes SQL over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import NoReturn

from sqlglot import exp

from dpsql.aggregates import Distinct
from dpsql.aggregates import shelf as aggregates
from dpsql.bind.expressions.aggregates import aggregate, refuse_distinct
from dpsql.bind.expressions.bounded_arguments import with_bounds
from dpsql.bind.expressions.modes import with_candidates
from dpsql.bind.expressions.own_bounds import with_own_bounds
from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.keys.lists import key_lists
from dpsql.bind.keys.pairs import key_pairs
from dpsql.bind.keys.public_rows import rows_that_meet
from dpsql.bind.private.group_by import Groups
from dpsql.bind.private.grouping_sets import expand_sets, grouping
from dpsql.bind.private.projection import groupable
from dpsql.bind.private.query_options import claims_of, clip_of, fitted_of, non_negative_of, refuse_claims
from dpsql.bind.released.accuracy_weights import weights_of
from dpsql.bind.released.expressions import ReleasedExpressions, quoted
from dpsql.bind.released.key_lookups import lookup_of
from dpsql.bind.released.other_group import other_group_of, with_total
from dpsql.bind.released.posteriors import numbers_in
from dpsql.bind.released.running_totals import running_totals
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.sources import Margin, Open
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.subqueries.evaluation import subquery_binder
from dpsql.bind.subqueries.unnesting import SubqueryUnnester
from dpsql.bind.syntax.interval_functions import refuse_computed
from dpsql.bind.syntax.output_names import output_name, refuse_places
from dpsql.errors import refuse
from dpsql.facts.identity import identifying, tells
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.ir.measure import Measure
from dpsql.ir.relation import AggregateCall, Named, OrderedCall
from dpsql.ir.scalar import Call, Literal, Ref, Scalar


def release_point(
    ctx: Context,
    node: exp.Select,
    source: SubqueryUnnester,
    items: list[exp.Expr],
    groups: Groups,
    scalars: Scalars,
    env: Mapping[str, Cte],
    only_keys: bool,
) -> Open:
    """Bind a SELECT that aggregates over units: add a Measure, return the SQL over its released table."""
    owned = ownership_of(source.relation)
    assert isinstance(owned, Owned)
    keys = groups.keys
    groupable(ctx, keys, scalars)
    refuse_identity(ctx, source, keys)
    name = ctx.fresh("release")
    number = ctx.fresh("grouping set")
    other_group = other_group_of(ctx, node, groups, scalars)

    claimed = claims_of(ctx, node)

    def register(node: exp.Expr) -> AggregateCall | None:
        call = aggregate(ctx, node, scalars)
        if call is None:
            return None
        call = with_bounds(released_call(ctx, call, owned, claimed), source.relation)
        call, grown = with_own_bounds(call, source.relation, ctx.fresh)
        source.grow(grown)
        votes = aggregates()[call.function].detail == "votes"
        return with_candidates(ctx, source.relation, call) if votes else call

    bound = subquery_binder(ctx, env)

    def subquery(node: exp.Expr) -> exp.Expr:
        return translator.correlated(node, bound(node))

    translator = ReleasedExpressions(ctx.text, name, scalars, keys, register, subquery, ctx.fresh)
    if not groups.sets and other_group is None:  # subtotals and the other group span several groups
        translator.lookup = lookup_of(ctx, source.relation, groups, name)
    translator.grouping = partial(grouping, quoted(number, name), groups.sets)
    columns: list[str] = []
    outputs: list[exp.Expr] = []
    for item in items:
        expression = translator.translate(unaliased(item))
        if ctx.goal is not None and translator.computed(expression):
            refuse_computed(item, ctx.text)
        columns.append(output_name(item))
        outputs.append(exp.alias_(expression, columns[-1], quoted=True))
        if isinstance(item, exp.Alias):
            translator.aliases.setdefault(item.alias.casefold(), expression)
    listed = len(translator.calls)
    select = exp.Select(expressions=outputs)
    select.set("from_", exp.From(this=exp.to_table(f'"{name}"', dialect="duckdb")))
    having = node.args.get("having")
    if having is not None:
        select.set("where", exp.Where(this=translator.translate(having.this)))
    for key in ("qualify", "limit", "offset"):
        clause = node.args.get(key)
        if clause is not None:
            select.set(key, translator._children(clause))
    refuse_places(node, len(items), ctx.text)
    order = node.args.get("order")
    if order is not None:
        select.set("order", translator.ordered(order))
    if node.args.get("windows"):
        select.set("windows", [translator._window(window) for window in node.args["windows"]])
    clause = node.args.get("distinct")
    distinct = clause is not None and not only_keys and not clause.args.get("on")
    if clause is not None and not only_keys:
        select.set("distinct", translator.ordered(clause))
    margins: list[Margin] = []
    for item in list(select.expressions):
        widths = () if distinct else translator.margins(item, ctx.intervals)
        margins.append(tuple(ctx.fresh("margin") for _ in widths))
        for hidden, called in zip(widths, margins[-1], strict=True):
            select.append("expressions", exp.alias_(hidden, called, quoted=True))
    totals: list[str | None] = []
    for item in outputs if groups.sets and clause is None else ():
        mark = translator.total(item)
        totals.append(None if mark is None else ctx.fresh("total"))
        if mark is not None:
            select.append("expressions", exp.alias_(mark, totals[-1], quoted=True))
    if all(call.function != "count_distinct" for call in translator.calls):
        refuse_claims(ctx, node)
    sets = groups.sets if other_group is None else with_total(groups)
    over = expand_sets(source.relation, [named for _, named in keys], sets, number)
    scalars_of_keys = [named.scalar for _, named in keys]
    met = rows_that_meet(source.relation, scalars_of_keys, ctx.evaluate)
    lists = key_lists(source.relation, scalars_of_keys, met, ctx.evaluate)
    pairs = key_pairs(source.relation, scalars_of_keys, lists, met, ctx.evaluate)
    ctx.measures.append(
        Measure(
            name,
            over.relation,
            over.keys,
            tuple(translator.calls),
            ctx.span(node.args.get("group")) or ctx.span(node),
            titles=tuple(output_name(key) for key, _ in keys),
            clip=clip_of(ctx, node, source),
            fitted=fitted_of(ctx, node, source),
            lists=(None, *lists) if over.sets else lists,
            pairs=tuple(each.moved(1) for each in pairs) if over.sets else pairs,
            other=other_group,
            non_negative=non_negative_of(node),
            sets=over.sets,
            running=running_totals(
                outputs, [call.name for call in translator.calls], [k.name for k in over.keys], name
            ),
            intervals=ctx.intervals,
            weights=weights_of(ctx, node, translator.calls, listed),
            derived=tuple(translator.derived),
            posteriors=tuple(translator.posteriors),
        )
    )
    numbers = () if distinct else tuple(numbers_in(translator.summed(each), name) for each in outputs)
    return Open(select, tuple(columns), tuple(margins), released=True, totals=tuple(totals), numbers=numbers)


def released_call(
    ctx: Context, call: AggregateCall, owned: Owned, claimed: tuple[Scalar, ...] = ()
) -> AggregateCall:
    """Return the call as it is released; rewrite or refuse its DISTINCT."""
    if not aggregates()[call.function].needs and aggregates()[call.function].picks:
        _refuse_picked(ctx, call)
    if isinstance(call, OrderedCall):
        raise refuse(
            "D253",
            f"an ORDER BY inside {call.function.upper()} is not answered over several {ctx.known.unit}s",
            call.span,
            help=f"leave it out: {call.function.upper()}(x)",
        )
    if not aggregates()[call.function].needs:
        raise refuse(
            "D253",
            f"{call.function.upper()} over several {ctx.known.unit}s is not answered yet",
            call.span,
            label=f"it would return one {ctx.known.unit}'s exact value",
            help=_counted(ctx, call),
        )
    if not call.distinct:
        return call
    rule = aggregates()[call.function]
    if rule.distinct is Distinct.SAME:
        return replace(call, distinct=False)
    if not rule.counts:
        refuse_distinct(ctx, call, at_release=True)
    counted, condition = _selected(call)
    if isinstance(counted, Ref) and counted.name in owned.units:
        return AggregateCall("", "count_units", None, True, condition, call.span)
    if not claimed and _is_row_key(call, owned):
        return replace(call, distinct=False)
    return replace(call, function="count_distinct", others=claimed)


def _selected(call: AggregateCall) -> tuple[Scalar | None, Scalar | None]:
    """Return what is counted and its condition: COUNT(DISTINCT CASE WHEN a THEN x END) counts x where a."""
    match call.argument:
        case Call("case", (when, then)) | Call("case", (when, then, Literal(value=None))):
            both = when if call.condition is None else Call("and", (call.condition, when))
            return then, both
        case _:
            return call.argument, call.condition


def _counted(ctx: Context, call: AggregateCall) -> str:
    """Return how the rows, or the units, are counted for which a condition holds in any or in all rows."""
    condition = "x" if call.function == "bool_or" else "NOT x"
    return (
        f"count the rows: COUNT(*) FILTER (WHERE {condition}); or take the share of the {ctx.known.unit}s: "
        f"SELECT AVG(CASE WHEN m THEN 1 ELSE 0 END) FROM (SELECT {ctx.known.unit_column}, "
        f"{call.function.upper()}(x) AS m FROM ... GROUP BY {ctx.known.unit_column})"
    )


def _refuse_picked(ctx: Context, call: AggregateCall) -> NoReturn:
    """Refuse the value of one of several units' rows."""
    unit, example = ctx.known.unit_column, aggregates()[call.function].example
    raise refuse(
        "D253",
        f"{call.function.upper()} over several {ctx.known.unit}s is not answered",
        call.span,
        label=f"it would return one {ctx.known.unit}'s exact value",
        help="group by it, or by the key of the public table that determines it; or count the value of each "
        f"{ctx.known.unit}: SELECT m, COUNT(*) AS n FROM (SELECT {unit}, {example} AS m FROM ... "
        f"GROUP BY {unit}) GROUP BY m",
    )


def _is_row_key(call: AggregateCall, owned: Owned) -> bool:
    """Whether the argument is a key of the rows: then distinct values are as many as non-NULL rows."""
    return isinstance(call.argument, Ref) and any(key <= {call.argument.name} for key in owned.row_keys)


def refuse_identity(ctx: Context, source: SubqueryUnnester, keys: list[tuple[exp.Expr, Named]]) -> None:
    """Refuse a group key that identifies the unit."""
    secret = identifying(source.relation)
    for node, named in keys:
        if tells(named.scalar, source.relation, secret):
            raise refuse(
                "D403",
                f"this key identifies single {ctx.known.unit}s",
                ctx.span(node),
                label=f"each group would hold one {ctx.known.unit}",
                help=f"group by a value that many {ctx.known.unit}s share; or by "
                f"{ctx.known.unit_column} in a subquery, and aggregate its groups: "
                f"SELECT AVG(n) FROM (SELECT {ctx.known.unit_column}, COUNT(*) AS "
                "n FROM ... "
                f"GROUP BY {ctx.known.unit_column})",
            )
