"""SELECT: ordinary SQL, or private rows that are projected, grouped by the unit, or released."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from sqlglot import exp

from dpsql.bind.aggregates import has_aggregate
from dpsql.bind.conditions import with_aliases
from dpsql.bind.context import Context, Cte
from dpsql.bind.froms import Froms, Kept
from dpsql.bind.lifts import Lifts, rows_of_open
from dpsql.bind.names import Scope
from dpsql.bind.opened import (
    open_select,
)
from dpsql.bind.options import refuse_clip
from dpsql.bind.outputs import named_by, ordered_by, output_name, unaliased
from dpsql.bind.per_unit import per_unit
from dpsql.bind.release_point import release_point
from dpsql.bind.rows import refuse_picked, refuse_picking, selected
from dpsql.bind.scalars import Scalars
from dpsql.bind.sources import Open, Private
from dpsql.bind.stars import Shown, starless
from dpsql.bind.subqueries import bound_subqueries, constants_of
from dpsql.bind.tied import tied_release
from dpsql.errors import refuse
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions import shelf as functions
from dpsql.ir.column import Categories, Listed
from dpsql.ir.relation import (
    Named,
)
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, refs


def select(ctx: Context, node: exp.Select, env: Mapping[str, Cte]) -> Private | Open:
    froms = Froms(
        ctx.text,
        ctx.known,
        ctx.fresh,
        lambda each: ctx.query(each, env),
        partial(rows_of_open, ctx),
        constants_of(ctx, env),
    )
    items = froms.items(node)
    if all(item.is_open for item in items):
        nested = next((item for item in items if not isinstance(item.source, Open)), None)
        if nested is not None:
            raise refuse(
                "D252",
                "joins in parentheses are not answered here",
                ctx.span(nested.node),
                help="join the tables one after the other, or name the parentheses: (a JOIN b ...) AS t",
            )
        refuse_clip(ctx, node, None)
        aliases = frozenset(item.alias.casefold() for item in items)
        tied = partial(tied_release, ctx, env, items)
        subqueries = bound_subqueries(ctx, env, aliases, tied)
        return open_select(node, items, subqueries, ctx.fresh, ctx.text, output_name)
    joined = froms.joined(node, items)
    named = {each.this.name.casefold(): each for each in node.args.get("windows") or ()}
    lifts = Lifts(ctx, env, joined.relation, joined.scope, named)
    lifts.where(joined.queries)
    bound = private_select(ctx, node, lifts, env)
    if joined.kept is not None and not (isinstance(bound, Open) and means_the_same(ctx, joined.kept)):
        froms.refuse_kept(joined.kept)
    return bound


def means_the_same(ctx: Context, kept: Kept) -> bool:
    """Whether the measure just made gives with an inner join what it would with the kept rows:

    groups of the public side, which appear anyway, and aggregates that a row of NULLs leaves as they are.
    """
    measure = ctx.measures[-1]
    facts = facts_of(measure.relation)
    listed = all(
        refs(key.scalar) <= kept.public.keys()
        and isinstance(fact_of(key.scalar, facts).domain, Listed | Categories)
        and fact_of(key.scalar, facts) == fact_of(key.scalar, kept.public)  # ON chose none of them
        for key in measure.keys
    )
    return listed and all(
        call.function == "count_units"
        or (call.argument is not None and null_of_nulls(call.argument, kept.private))
        for call in measure.aggregates
    )


def private_select(ctx: Context, node: exp.Select, source: Lifts, env: Mapping[str, Cte]) -> Private | Open:
    scalars = source.scalars()
    items = select_items(ctx, node, source.scope)
    keys = group_keys(ctx, node, items, scalars)
    distinct = node.args.get("distinct")
    clauses = [node.args.get(each) for each in ("having", "qualify", "order")]
    grouped = bool(node.args.get("group")) or any(
        has_aggregate(each) for each in (*items, *(c for c in clauses if c is not None))
    )
    if not grouped and (distinct is None or distinct.args.get("on")):
        refuse_clip(ctx, node, source)
        return projected_rows(ctx, node, source, items, scalars)
    owned = ownership_of(source.relation)
    assert isinstance(owned, Owned)
    if not grouped:
        keys = [(each, named_key(ctx, each, scalars.bind(each))) for each in items]
    if any(isinstance(each.scalar, Ref) and each.scalar.name in owned.units for _, each in keys):
        refuse_clip(ctx, node, source)
        refuse_distinct_on(ctx, distinct)
        return per_unit(ctx, node, source, items, keys, scalars)
    return release_point(ctx, node, source, items, keys, scalars, env, only_keys=not grouped)


def refuse_distinct_on(ctx: Context, distinct: exp.Distinct | None) -> None:
    if distinct is not None and distinct.args.get("on"):
        raise refuse(
            "D252",
            "DISTINCT ON picks single private rows",
            ctx.span(distinct),
            help="aggregate per unit: MIN or MAX with GROUP BY the unit",
        )


def select_items(ctx: Context, node: exp.Select, scope: Scope) -> list[exp.Expr]:
    """The select list with its stars written out."""
    columns = [
        Shown(v.qualifier, v.name, exp.column(v.name, v.qualifier or None, quoted=True), v.merged)
        for v in scope.columns
    ]
    return starless(node.expressions, columns, ctx.text)


def projected_rows(
    ctx: Context, node: exp.Select, source: Lifts, items: list[exp.Expr], scalars: Scalars
) -> Private:
    """Rows go in, rows come out: the hidden unit column always among them."""
    distinct = node.args.get("distinct")
    if distinct is None:
        refuse_picked(ctx, node)
    qualify = node.args.get("qualify")
    bound = [scalars.bind(each) for each in items]  # windows look at all rows: those before QUALIFY
    if qualify is not None:
        kept = scalars.condition(with_aliases(qualify.this, node, source.scope))
        source.keep(kept)
    if distinct is not None:
        source.keep(scalars.condition(first_of_each(ctx, node, distinct, items)))
    return selected(ctx, source.relation, [output_name(each) for each in items], bound)


def first_of_each(ctx: Context, node: exp.Select, distinct: exp.Distinct, items: list[exp.Expr]) -> exp.Expr:
    """DISTINCT ON (unit, x) ORDER BY y: the first row of each, as a window over the unit's rows."""
    for key in ("limit", "offset"):
        if node.args.get(key):
            refuse_picking(ctx, node.args[key])
    on = distinct.args["on"]
    keys = on.expressions if isinstance(on, exp.Tuple) else [on.this if isinstance(on, exp.Paren) else on]
    keys = [named_by(each, items).copy() for each in keys]
    window = exp.Window(this=exp.RowNumber(), partition_by=keys, over="OVER")
    if node.args.get("order"):
        window.set("order", ordered_by(node.args["order"], items))
    return exp.EQ(this=window, expression=exp.Literal.number(1))


def group_keys(
    ctx: Context, node: exp.Select, items: list[exp.Expr], scalars: Scalars
) -> list[tuple[exp.Expr, Named]]:
    group = node.args.get("group")
    if group is None:
        return []
    if any(group.args.get(key) for key in ("rollup", "cube", "grouping_sets", "totals")) or any(
        isinstance(each, exp.Rollup | exp.Cube | exp.GroupingSets) for each in group.expressions
    ):
        raise refuse(
            "D252",
            "ROLLUP, CUBE and GROUPING SETS are not answered yet",
            ctx.span(group),
            help="ask each grouping as a query of its own",
        )
    written = [each for each in items if not has_aggregate(each)] if group.args.get("all") else []
    written += [each for each in group.expressions if each != exp.Tuple()]
    keys: list[tuple[exp.Expr, Named]] = []
    for each in written:
        target = key_target(ctx, each, items, scalars)
        scalar = scalars.bind(target)
        if not any(named.scalar == scalar for _, named in keys):
            keys.append((unaliased(target), named_key(ctx, target, scalar)))
    return keys


def key_target(ctx: Context, node: exp.Expr, items: list[exp.Expr], scalars: Scalars) -> exp.Expr:
    """What GROUP BY names: an ordinal, a column, an alias of the select list, or an expression."""
    if isinstance(node, exp.Literal) and not node.is_string:
        index = int(node.this) if node.this.isdigit() else 0
        if not 1 <= index <= len(items):
            raise refuse(
                "D202",
                f"GROUP BY {node.this} is not a position of the select list",
                ctx.span(node),
                help=f"the select list has {len(items)} columns",
            )
        return unaliased(items[index - 1])
    if isinstance(node, exp.Column) and not node.table and not scalars.scope.find(node.name):
        for item in items:
            if isinstance(item, exp.Alias) and item.alias.casefold() == node.name.casefold():
                return unaliased(item)
    return node


def named_key(ctx: Context, node: exp.Expr, scalar: Scalar) -> Named:
    return Named(ctx.fresh(output_name(node)), scalar)


def null_of_nulls(scalar: Scalar, private: frozenset[str]) -> bool:
    """Whether a scalar is NULL wherever all private columns are."""
    match scalar:
        case Ref(name):
            return name in private
        case Literal():
            return False
        case Call(function, arguments):
            strict = functions()[function].strict
            return strict and any(null_of_nulls(each, private) for each in arguments)
