"""The release point: the aggregate that drops the unit becomes a Measure, the rest SQL above it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from sqlglot import exp

from dpsql.aggregates import Distinct
from dpsql.aggregates import shelf as aggregates
from dpsql.bind.expressions.aggregates import aggregate, refuse_distinct
from dpsql.bind.expressions.key_domains import enumerate_key
from dpsql.bind.expressions.modes import with_values
from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.private.group_by import Groups
from dpsql.bind.private.grouping_sets import grouping, rolled
from dpsql.bind.private.projection import groupable
from dpsql.bind.private.query_options import claims_of, clip_of, refuse_claims
from dpsql.bind.released.accuracy_weights import weights_of
from dpsql.bind.released.expressions import ReleasedExpressions, quoted
from dpsql.bind.released.key_lookups import lookup_of
from dpsql.bind.released.other_group import other_of, with_total
from dpsql.bind.released.running_totals import running
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.sources import Margin, Open
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.subqueries.evaluation import bound_subqueries
from dpsql.bind.subqueries.unnesting import SubqueryUnnester
from dpsql.bind.syntax.interval_functions import refuse_computed
from dpsql.bind.syntax.output_names import output_name
from dpsql.errors import refuse
from dpsql.facts.identity import identifying, tells
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.ir.measure import Measure
from dpsql.ir.relation import AggregateCall, Named
from dpsql.ir.scalar import Ref, Scalar


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
    """The release point: a Measure, and the rest of the SELECT over its released table."""
    owned = ownership_of(source.relation)
    assert isinstance(owned, Owned)
    keys = groups.keys
    groupable(ctx, keys, scalars)
    refuse_identity(ctx, source, keys)
    name = ctx.fresh("release")
    number = ctx.fresh("grouping set")
    other = other_of(ctx, node, groups, scalars)

    claimed = claims_of(ctx, node)

    def register(each: exp.Expr) -> AggregateCall | None:
        call = aggregate(ctx, each, scalars)
        if call is None:
            return None
        call = released_call(ctx, call, owned, claimed)
        votes = aggregates()[call.function].detail == "votes"
        return with_values(ctx, source.relation, call) if votes else call

    bound = bound_subqueries(ctx, env)

    def subquery(each: exp.Expr) -> exp.Expr:
        return turner.correlated(each, bound(each))

    turner = ReleasedExpressions(ctx.text, name, scalars, keys, register, subquery, ctx.fresh)
    if not groups.sets and other is None:  # subtotals, and what is not shown, are of several groups
        turner.lookup = lookup_of(ctx, source.relation, groups, name)
    turner.grouping = partial(grouping, quoted(number, name), groups.sets)
    columns: list[str] = []
    turned: list[exp.Expr] = []
    for each in items:
        expression = turner.turn(unaliased(each))
        if ctx.goal is not None and turner.computed(expression):
            refuse_computed(each, ctx.text)
        columns.append(output_name(each))
        turned.append(exp.alias_(expression, columns[-1], quoted=True))
        if isinstance(each, exp.Alias):
            turner.aliases.setdefault(each.alias.casefold(), expression)
    listed = len(turner.calls)
    select = exp.Select(expressions=turned)
    select.set("from_", exp.From(this=exp.to_table(f'"{name}"', dialect="duckdb")))
    having = node.args.get("having")
    if having is not None:
        select.set("where", exp.Where(this=turner.turn(having.this)))
    for key in ("qualify", "order", "limit", "offset"):
        clause = node.args.get(key)
        if clause is not None:
            select.set(key, turner._children(clause))
    if node.args.get("windows"):
        select.set("windows", [turner._window(each) for each in node.args["windows"]])
    clause = node.args.get("distinct")
    distinct = clause is not None and not only_keys and not clause.args.get("on")
    if clause is not None and not only_keys:
        select.set("distinct", turner._children(clause))
    margins: list[Margin] = []
    for each in list(select.expressions):
        found = () if distinct else turner.margins(each, ctx.intervals)
        margins.append(tuple(ctx.fresh("margin") for _ in found))
        for hidden, called in zip(found, margins[-1], strict=True):
            select.append("expressions", exp.alias_(hidden, called, quoted=True))
    if all(each.function != "count_distinct" for each in turner.calls):
        refuse_claims(ctx, node)
    sets = groups.sets if other is None else with_total(groups)
    over = rolled(source.relation, [named for _, named in keys], sets, number)
    lists = tuple(enumerate_key(source.relation, named.scalar, ctx.evaluate) for _, named in keys)
    ctx.measures.append(
        Measure(
            name,
            over.relation,
            over.keys,
            tuple(turner.calls),
            ctx.span(node.args.get("group")) or ctx.span(node),
            titles=tuple(output_name(written) for written, _ in keys),
            clip=clip_of(ctx, node, source),
            lists=(None, *lists) if over.sets else lists,
            other=other,
            sets=over.sets,
            running=running(turned, [each.name for each in turner.calls], [k.name for k in over.keys], name),
            intervals=ctx.intervals,
            weights=weights_of(ctx, node, turner.calls, listed),
            derived=tuple(turner.derived),
        )
    )
    return Open(select, tuple(columns), tuple(margins), released=True)


def released_call(
    ctx: Context, call: AggregateCall, owned: Owned, claimed: tuple[Scalar, ...] = ()
) -> AggregateCall:
    if not aggregates()[call.function].needs:
        raise refuse(
            "D253",
            f"{call.function.upper()} at the release point is not answered yet",
            call.span,
            label=f"it would show one {ctx.known.unit}'s exact value",
            help="count the rows above a limit: COUNT(*) FILTER (WHERE x > 100); or take the mean of each "
            f"{ctx.known.unit}'s own: SELECT AVG(m) FROM (SELECT {ctx.known.unit_column}, "
            f"{call.function.upper()}(x) AS m FROM ... GROUP BY {ctx.known.unit_column})",
        )
    if not call.distinct:
        return call
    rule = aggregates()[call.function]
    if rule.distinct is Distinct.SAME:
        return replace(call, distinct=False)
    if not rule.counts:
        refuse_distinct(ctx, call)
    if isinstance(call.argument, Ref) and call.argument.name in owned.units:
        return AggregateCall("", "count_units", None, True, call.condition, call.span)
    if not claimed and _tells_rows_apart(call, owned):
        return replace(call, distinct=False)
    return replace(call, function="count_distinct", others=claimed)


def _tells_rows_apart(call: AggregateCall, owned: Owned) -> bool:
    """Whether no two rows have the same value: then there are as many values as rows that have one."""
    return isinstance(call.argument, Ref) and any(key <= {call.argument.name} for key in owned.row_keys)


def refuse_identity(ctx: Context, source: SubqueryUnnester, keys: list[tuple[exp.Expr, Named]]) -> None:
    secret = identifying(source.relation)
    for node, named in keys:
        if tells(named.scalar, secret):
            raise refuse(
                "D403",
                f"this key tells one {ctx.known.unit} from another",
                ctx.span(node),
                label=f"a group would be about the {ctx.known.unit} that has this value",
                help=f"group by something that many {ctx.known.unit}s share; or by "
                f"{ctx.known.unit_column} inside, and "
                f"aggregate its groups: SELECT AVG(n) FROM (SELECT {ctx.known.unit_column}, COUNT(*) AS "
                "n FROM ... "
                f"GROUP BY {ctx.known.unit_column})",
            )
