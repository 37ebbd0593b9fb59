"""SELECT: ordinary SQL, or private rows that are projected, grouped by the unit, or released."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from sqlglot import exp

from dpsql.aggregates import shelf
from dpsql.bind.expressions.aggregates import has_aggregate
from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.per_unit import per_unit
from dpsql.bind.private.aliases import with_aliases, with_earlier_aliases
from dpsql.bind.private.from_clause import FromClause, Kept
from dpsql.bind.private.group_by import Groups, groups_of, named_key
from dpsql.bind.private.projection import projected, refuse_order_and_limit, refuse_order_or_limit
from dpsql.bind.private.query_options import refuse_clip
from dpsql.bind.private.row_items import most_of
from dpsql.bind.private.selected_unnests import unnests_of
from dpsql.bind.private_views import counting, passed_on
from dpsql.bind.release_point import release_point
from dpsql.bind.released.provenance import ColumnLineage
from dpsql.bind.released.public_sql import open_select
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.scope import Scope
from dpsql.bind.scope.sources import Open, Private
from dpsql.bind.subqueries.correlated_release import correlated_release
from dpsql.bind.subqueries.evaluation import constants_of, subquery_binder
from dpsql.bind.subqueries.key_lists import narrowed_items
from dpsql.bind.subqueries.uncorrelated import rows_of_open
from dpsql.bind.subqueries.unnesting import SubqueryUnnester
from dpsql.bind.syntax.interval_functions import refuse_computed
from dpsql.bind.syntax.output_names import named_by, ordered_by, output_name
from dpsql.bind.syntax.stars import StarColumn, expand_stars
from dpsql.errors import refuse
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions import shelf as functions
from dpsql.ir.column import Categories, Listed
from dpsql.ir.relation import Named
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, refs


def select(ctx: Context, node: exp.Select, env: Mapping[str, Cte]) -> Private | Open:
    """Bind one SELECT to Open where FROM has no private rows, else by its private rows."""
    clause = FromClause(
        ctx.text,
        ctx.known,
        ctx.fresh,
        lambda query: ctx.query(query, env),
        partial(rows_of_open, ctx),
        constants_of(ctx, env),
        ctx.sharing,
        most_items=partial(most_of, ctx),
    )
    items = clause.items(node)
    if all(item.is_open for item in items):
        nested = next((item for item in items if not isinstance(item.source, Open)), None)
        if nested is not None:
            raise refuse(
                "D252",
                "joins in parentheses are not answered here",
                ctx.span(nested.node),
                help="join the tables without parentheses, or name the parentheses: (a JOIN b ...) AS t",
            )
        refuse_clip(ctx, node, None)
        aliases = frozenset(item.alias.casefold() for item in items)
        correlated = partial(correlated_release, ctx, env, node, items)
        subqueries = subquery_binder(ctx, env, aliases, correlated)
        if ctx.goal is not None:
            lineage = ColumnLineage(node, items, node.expressions, ctx.text)
            for item in node.expressions:
                if lineage.computed(item):
                    refuse_computed(item, ctx.text)
        counted = counting(ctx, node, items)
        opened = open_select(counted, items, subqueries, ctx.fresh, ctx.text, output_name, ctx.add_posterior)
        counts, sums = passed_on(node, items, opened.columns)
        return replace(opened, counts=counts, sums=sums)
    for unnest in unnests_of(ctx, node):
        items += clause.joined_to(items, unnest)
    joined = clause.joined(node, items)
    named = {window.this.name.casefold(): window for window in node.args.get("windows") or ()}
    narrowed = narrowed_items(node, items)
    source = SubqueryUnnester(ctx, env, joined.relation, joined.scope, named, narrowed=narrowed)
    source.where(joined.queries)
    bound = private_select(ctx, node, source, env)
    if joined.kept is not None and not (isinstance(bound, Open) and inner_join_suffices(ctx, joined.kept)):
        clause.refuse_kept(joined.kept, _key_of_nulls(ctx, joined.kept) if isinstance(bound, Open) else None)
    return bound


def _key_of_nulls(ctx: Context, kept: Kept) -> str | None:
    """Return the name of a key of the public table that is NULL in some rows, which the join loses."""
    measure = ctx.measures[-1]
    if len(measure.titles) != len(measure.keys):
        return None  # of grouping sets, the first key is their number
    facts = facts_of(measure.relation)
    for title, key in zip(measure.titles, measure.keys, strict=True):
        if refs(key.scalar) <= kept.public.keys():
            ours, theirs = (fact_of(key.scalar, each) for each in (facts, kept.public))
            if theirs.nullable and ours == replace(theirs, nullable=False):
                return title
    return None


def inner_join_suffices(ctx: Context, kept: Kept) -> bool:
    """Whether the outer join of the last measure can be replaced by an inner join.

    It can where all group keys are public lists, so that their groups appear anyway, and where no aggregate
    changes by a row of NULLs.
    """
    measure = ctx.measures[-1]
    facts = facts_of(measure.relation)
    listed = all(
        refs(key.scalar) <= kept.public.keys()
        and isinstance(fact_of(key.scalar, facts).domain, Listed | Categories)
        and fact_of(key.scalar, facts) == fact_of(key.scalar, kept.public)  # ON filters none of them
        for key in measure.keys
    )
    return listed and all(
        shelf()[call.function].counts_units
        or (
            call.argument is not None
            and any(null_of_nulls(argument, kept.private) for argument in (call.argument, *call.others))
        )
        for call in measure.aggregates
    )


def private_select(
    ctx: Context, node: exp.Select, source: SubqueryUnnester, env: Mapping[str, Cte]
) -> Private | Open:
    """Bind a SELECT over private rows: as a projection, per unit, or as a release point.

    A subquery that groups by a declared key, or along a path to the unit, groups by the unit as well: each of
    its groups is of one unit then, whether the declaration holds or not. So does one that groups by all
    columns that a unit is made of.
    """
    scalars = source.scalars()
    items = with_earlier_aliases(select_items(ctx, node, source.scope), source.scope)
    groups = groups_of(ctx, node, items, scalars)
    keys = groups.keys
    distinct = node.args.get("distinct")
    clauses = [node.args.get(key) for key in ("having", "qualify", "order")]
    grouped = bool(node.args.get("group")) or any(
        has_aggregate(node) for node in (*items, *(c for c in clauses if c is not None))
    )
    if not grouped and (distinct is None or distinct.args.get("on")):
        refuse_clip(ctx, node, source)
        return projected_rows(ctx, node, source, items, scalars)
    owned = ownership_of(source.relation)
    assert isinstance(owned, Owned)
    if not grouped:
        keys = [(item, named_key(ctx, item, scalars.bind(item))) for item in items]
    columns = frozenset(named.scalar.name for _, named in keys if isinstance(named.scalar, Ref))
    told = node.parent is not None and not groups.sets and any(key <= columns for key in owned.keys)
    spelled = any(columns.issuperset(names) for names in owned.spelled)
    if columns & owned.units or spelled or told:
        refuse_clip(ctx, node, source)
        refuse_distinct_on(ctx, distinct)
        refuse_sets(ctx, node, groups)
        hidden = () if columns & owned.units else (Named(ctx.fresh("unit"), Ref(owned.unit)),)
        return per_unit(ctx, node, source, items, keys, scalars, hidden)
    return release_point(ctx, node, source, items, Groups(keys, groups.sets), scalars, env, not grouped)


def refuse_sets(ctx: Context, node: exp.Select, groups: Groups) -> None:
    """Refuse grouping sets with the unit among their keys."""
    if groups.sets:
        raise refuse(
            "D252",
            f"grouping sets with the {ctx.known.unit} among their keys are not answered",
            ctx.span(node.args.get("group")),
            label=f"one of these keys is the {ctx.known.unit}",
            help=f"GROUP BY {ctx.known.unit_column}, x in a subquery, and ROLLUP (x) outside: SELECT "
            f"x, SUM(n) FROM (SELECT {ctx.known.unit_column}, x, COUNT(*) AS n FROM ... GROUP BY ALL) "
            "GROUP BY ROLLUP (x)",
        )


def refuse_distinct_on(ctx: Context, distinct: exp.Distinct | None) -> None:
    """Refuse DISTINCT ON beside GROUP BY."""
    if distinct is not None and distinct.args.get("on"):
        raise refuse(
            "D252",
            "DISTINCT ON picks single private rows",
            ctx.span(distinct),
            help=f"take each {ctx.known.unit}'s first row without GROUP BY: SELECT DISTINCT ON "
            f"({ctx.known.unit_column}) * FROM ... ORDER BY x",
        )


def select_items(ctx: Context, node: exp.Select, scope: Scope) -> list[exp.Expr]:
    """Return the select list with its stars expanded."""
    columns = [
        StarColumn(v.qualifier, v.name, exp.column(v.name, v.qualifier or None, quoted=True), v.merged)
        for v in scope.columns
    ]
    return expand_stars(node.expressions, columns, ctx.text)


def projected_rows(
    ctx: Context, node: exp.Select, source: SubqueryUnnester, items: list[exp.Expr], scalars: Scalars
) -> Private:
    """Bind a projection of private rows; the hidden unit column is always in the output."""
    distinct = node.args.get("distinct")
    if distinct is None:
        refuse_order_and_limit(ctx, node)
    qualify = node.args.get("qualify")
    bound = [scalars.bind(item) for item in items]  # windows read all rows, before QUALIFY
    if qualify is not None:
        kept = scalars.condition(with_aliases(qualify.this, node, source.scope))
        source.keep(kept)
    if distinct is not None:
        source.keep(scalars.condition(distinct_on_condition(ctx, node, distinct, items)))
    return projected(ctx, source.relation, [output_name(item) for item in items], bound)


def distinct_on_condition(
    ctx: Context, node: exp.Select, distinct: exp.Distinct, items: list[exp.Expr]
) -> exp.Expr:
    """Return DISTINCT ON (unit, x) ORDER BY y as a window condition: ROW_NUMBER() ... = 1."""
    for key in ("limit", "offset"):
        if node.args.get(key):
            refuse_order_or_limit(ctx, node.args[key])
    on = distinct.args["on"]
    keys = on.expressions if isinstance(on, exp.Tuple) else [on.this if isinstance(on, exp.Paren) else on]
    keys = [named_by(key, items).copy() for key in keys]
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
            return strict and any(null_of_nulls(argument, private) for argument in arguments)
