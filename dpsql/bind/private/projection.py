"""Projections and DISTINCT of private rows; refusals of ORDER BY, LIMIT and opaque group keys."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.scope.context import Context
from dpsql.bind.scope.scope import Scope, Visible
from dpsql.bind.scope.sources import Private
from dpsql.errors import refuse
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Kind, Type, entry_types, field_types, item_type
from dpsql.ir.relation import Aggregate, Named, Project, Relation
from dpsql.ir.scalar import Ref, Scalar

_GROUPABLE = frozenset(Kind) - {Kind.INTERVAL, Kind.OPAQUE, Kind.NULL}


def projected(ctx: Context, relation: Relation, names: list[str], scalars: list[Scalar]) -> Private:
    """Project the rows to these outputs and the hidden unit column."""
    owned = ownership_of(relation)
    assert isinstance(owned, Owned)
    hidden = ctx.fresh(owned.unit)
    columns, visible = [Named(hidden, Ref(owned.unit))], []
    for name, scalar in zip(names, scalars, strict=True):
        if isinstance(scalar, Ref) and scalar.name in owned.units:
            visible.append(Visible("", name, Ref(hidden)))
            continue
        columns.append(Named(ctx.fresh(name), scalar))
        visible.append(Visible("", name, Ref(columns[-1].name)))
    return Private(Project(relation, tuple(columns)), Scope(tuple(visible)))


def refuse_order_and_limit(ctx: Context, node: exp.Expr) -> None:
    """Refuse ORDER BY, LIMIT and OFFSET over private rows (the outermost query is refused as a whole)."""
    if node is ctx.outermost:
        return
    for key in ("order", "limit", "offset"):
        if node.args.get(key):
            refuse_order_or_limit(ctx, node.args[key])


def refuse_order_or_limit(ctx: Context, node: exp.Expr) -> NoReturn:
    """Refuse one of these clauses."""
    raise refuse(
        "D252",
        "ORDER BY, LIMIT and OFFSET would pick single private rows",
        ctx.span(node),
        label=f"which rows come first depends on all {ctx.known.unit}s",
        help="order and limit the released groups, outside the aggregate; or pick among the rows of one "
        f"{ctx.known.unit}: QUALIFY ROW_NUMBER() OVER (PARTITION BY {ctx.known.unit_column} ORDER BY x "
        "DESC) <= 3",
    )


def groupable(ctx: Context, keys: list[tuple[exp.Expr, Named]], scalars: Scalars) -> None:
    """Refuse group keys of a type without equality."""
    for node, named in keys:
        fact = fact_of(named.scalar, scalars.facts)
        if fact.type.kind not in _GROUPABLE:
            raise refuse(
                "D205",
                f"{fact.type.said} values cannot be grouped",
                ctx.span(node),
                help=_as_key(fact.type),
            )


def _as_key(type: Type) -> str:
    """Return what to group by in place of a value of this type."""
    if item_type(type):
        return "group by its items: FROM t, unnest(x) AS u(item) GROUP BY item"
    if type.kind is Kind.INTERVAL:
        return "take a number of it: epoch(x) // 86400 are its days"
    if type.sql == "JSON":
        return "take a text out of it: x ->> 'name'"
    if fields := field_types(type):
        named = [f"x.{exp.to_identifier(name).sql(dialect='duckdb')}" for name in fields]
        return f"group by its fields: {', '.join(named[:3])}"
    if entry_types(type):
        return "group by its keys: FROM t, unnest(map_keys(x)) AS u(key) GROUP BY key"
    return "leave the column out, or test it: x IS NULL"


def refuse_ungroupable(ctx: Context, node: exp.Expr, relation: Relation, names: list[str]) -> None:
    """Refuse columns of a type without equality, where rows are compared."""
    for name, fact in facts_of(relation).items():
        if name in names and fact.type.kind not in _GROUPABLE:
            raise refuse(
                "D205",
                f"{fact.type.said} values cannot be compared",
                ctx.span(node),
                help="leave the column out; or take its parts: the fields of a struct, x.name, the length of "
                "a list, len(x), a text out of JSON, x ->> 'name'",
            )


def distinct_rows(
    ctx: Context,
    node: exp.Expr,
    relation: Relation,
    names: list[str],
    scope: Scope,
    hidden: str | None = None,
) -> tuple[Relation, Scope]:
    """Return the distinct rows of the columns ``names``, which are those of the scope, in its order.

    The unit is one of them, or ``hidden``, which some of them determine.
    """
    refuse_ungroupable(ctx, node, relation, names)
    fresh = {name: ctx.fresh(name) for name in names}
    keys = tuple(Named(fresh[name], Ref(name)) for name in fresh)
    keys += () if hidden is None else (Named(ctx.fresh("unit"), Ref(hidden)),)
    visible = (Visible("", v.name, Ref(fresh[n])) for v, n in zip(scope.columns, names, strict=True))
    return Aggregate(relation, keys, ()), Scope(tuple(visible))
