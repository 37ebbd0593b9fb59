"""SELECT: ordinary SQL, or private rows that are projected, grouped by the unit, or released."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from sqlglot import exp

from dpsql.aggregates import shelf
from dpsql.bind.expressions.aggregates import has_aggregate
from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.per_unit import per_unit
from dpsql.bind.private.conditions import with_aliases
from dpsql.bind.private.from_clause import FromClause, Kept
from dpsql.bind.private.group_by import Groups, groups_of, named_key
from dpsql.bind.private.projection import refuse_picked, refuse_picking, selected
from dpsql.bind.private.query_options import refuse_clip
from dpsql.bind.release_point import release_point
from dpsql.bind.released.provenance import ColumnLineage
from dpsql.bind.released.public_sql import open_select
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.scope import Scope
from dpsql.bind.scope.sources import Open, Private
from dpsql.bind.subqueries.correlated_release import tied_release
from dpsql.bind.subqueries.evaluation import bound_subqueries, constants_of
from dpsql.bind.subqueries.uncorrelated import rows_of_open
from dpsql.bind.subqueries.unnesting import SubqueryUnnester
from dpsql.bind.syntax.interval_functions import refuse_computed
from dpsql.bind.syntax.output_names import named_by, ordered_by, output_name
from dpsql.bind.syntax.stars import Shown, starless
from dpsql.errors import refuse
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions import shelf as functions
from dpsql.ir.column import Categories, Listed
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, refs


def select(ctx: Context, node: exp.Select, env: Mapping[str, Cte]) -> Private | Open:
    froms = FromClause(
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
        if ctx.goal is not None:
            passed = ColumnLineage(node, items, node.expressions, ctx.text)
            for each in node.expressions:
                if passed.computed(each):
                    refuse_computed(each, ctx.text)
        return open_select(node, items, subqueries, ctx.fresh, ctx.text, output_name)
    joined = froms.joined(node, items)
    named = {each.this.name.casefold(): each for each in node.args.get("windows") or ()}
    lifts = SubqueryUnnester(ctx, env, joined.relation, joined.scope, named)
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
        shelf()[call.function].counts_units
        or (
            call.argument is not None
            and any(null_of_nulls(each, kept.private) for each in (call.argument, *call.others))
        )
        for call in measure.aggregates
    )


def private_select(
    ctx: Context, node: exp.Select, source: SubqueryUnnester, env: Mapping[str, Cte]
) -> Private | Open:
    scalars = source.scalars()
    items = select_items(ctx, node, source.scope)
    groups = groups_of(ctx, node, items, scalars)
    keys = groups.keys
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
        refuse_sets(ctx, node, groups)
        return per_unit(ctx, node, source, items, keys, scalars)
    return release_point(ctx, node, source, items, Groups(keys, groups.sets), scalars, env, not grouped)


def refuse_sets(ctx: Context, node: exp.Select, groups: Groups) -> None:
    if groups.sets:
        raise refuse(
            "D252",
            f"grouping sets of single {ctx.known.unit}s are not answered",
            ctx.span(node.args.get("group")),
            label=f"the {ctx.known.unit} stands among these keys",
            help=f"GROUP BY {ctx.known.unit_column}, x inside, and ROLLUP (x) outside: SELECT x, SUM(n) "
            "FROM (SELECT "
            f"{ctx.known.unit_column}, x, COUNT(*) AS n FROM ... GROUP BY ALL) GROUP BY ROLLUP (x)",
        )


def refuse_distinct_on(ctx: Context, distinct: exp.Distinct | None) -> None:
    if distinct is not None and distinct.args.get("on"):
        raise refuse(
            "D252",
            "DISTINCT ON picks single private rows",
            ctx.span(distinct),
            help=f"take each {ctx.known.unit}'s first row without GROUP BY: SELECT DISTINCT ON "
            f"({ctx.known.unit_column}) * FROM ... ORDER BY x",
        )


def select_items(ctx: Context, node: exp.Select, scope: Scope) -> list[exp.Expr]:
    """The select list with its stars written out."""
    columns = [
        Shown(v.qualifier, v.name, exp.column(v.name, v.qualifier or None, quoted=True), v.merged)
        for v in scope.columns
    ]
    return starless(node.expressions, columns, ctx.text)


def projected_rows(
    ctx: Context, node: exp.Select, source: SubqueryUnnester, items: list[exp.Expr], scalars: Scalars
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
