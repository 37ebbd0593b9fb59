"""GROUP BY: its keys, and its grouping sets.

GROUP BY 1, age // 10, ROLLUP (sex)      keys ward, age // 10, sex      sets (0, 1, 2), (0, 1)
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.expressions.aggregates import has_aggregate
from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.private.grouping_sets import keys_of, written_sets
from dpsql.bind.scope.context import Context
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.syntax.output_names import output_name, refuse_place
from dpsql.errors import refuse
from dpsql.ir.relation import Named
from dpsql.ir.scalar import Scalar
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Groups:
    """The keys as written and as bound; ``sets`` are positions in them, empty for one plain list."""

    keys: list[tuple[exp.Expr, Named]]
    sets: tuple[tuple[int, ...], ...] = ()


def groups_of(ctx: Context, node: exp.Select, items: list[exp.Expr], scalars: Scalars) -> Groups:
    """Bind GROUP BY."""
    group = node.args.get("group")
    if group is None:
        return Groups([])
    if any(group.args.get(key) for key in ("rollup", "cube", "grouping_sets", "totals")):
        raise refuse(
            "D105",
            "grouping sets in this notation are not answered",
            ctx.span(group),
            help="write GROUP BY ROLLUP (a, b), CUBE (a, b) or GROUPING SETS ((a, b), (a), ())",
        )
    keys: list[tuple[exp.Expr, Named]] = []

    def position(expression: exp.Expr) -> int:
        """Return the position of a key in the list; add it unless an equal key is there."""
        target = unaliased(key_target(ctx, expression, items, scalars))
        for i, (known, _) in enumerate(keys):
            if known == target:  # a subquery must not be bound twice
                return i
        scalar = scalars.bind(target)
        for i, (_, named) in enumerate(keys):
            if named.scalar == scalar:
                return i
        keys.append((target, named_key(ctx, target, scalar)))
        return len(keys) - 1

    sets = written_sets(ctx, group)
    if sets is None:
        implied = [item for item in items if not has_aggregate(item)] if group.args.get("all") else []
        for key in [*implied, *(key for part in group.expressions for key in keys_of(part))]:
            position(key)
        return Groups(keys)
    positions = tuple(tuple(sorted({position(key) for key in listed})) for listed in sets)
    return Groups(keys, positions if len(positions) > 1 else ())


def key_target(ctx: Context, node: exp.Expr, items: list[exp.Expr], scalars: Scalars) -> exp.Expr:
    """Return the expression of a key: a position or an alias of the select list, or the key itself."""
    if isinstance(node, exp.Literal) and not node.is_string:
        index = int(node.this) if node.this.isdigit() else 0
        if not 1 <= index <= len(items):
            refuse_place("GROUP BY", node, len(items), ctx.text)
        return unaliased(items[index - 1])
    if isinstance(node, exp.Column) and not node.table and not scalars.scope.find(node.name):
        for item in items:
            if isinstance(item, exp.Alias) and item.alias.casefold() == node.name.casefold():
                return unaliased(item)
    return node


def named_key(ctx: Context, node: exp.Expr, scalar: Scalar) -> Named:
    """Return a key with a unique name like its output name."""
    return Named(ctx.fresh(output_name(node)), scalar)
