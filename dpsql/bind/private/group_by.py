"""GROUP BY: the keys that it names, and the sets in which they stand.

GROUP BY 1, age // 10, ROLLUP (sex)      keys ward, age // 10, sex      sets (0, 1, 2), (0, 1)
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dpsql.bind.expressions.aggregates import has_aggregate
from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.private.grouping_sets import members, written_sets
from dpsql.bind.scope.context import Context
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.syntax.output_names import output_name
from dpsql.errors import refuse
from dpsql.ir.relation import Named
from dpsql.ir.scalar import Scalar


@dataclass(frozen=True, slots=True)
class Groups:
    """Each key as it is written and what it means; ``sets`` are positions, empty for one plain list."""

    keys: list[tuple[exp.Expr, Named]]
    sets: tuple[tuple[int, ...], ...] = ()


def groups_of(ctx: Context, node: exp.Select, items: list[exp.Expr], scalars: Scalars) -> Groups:
    group = node.args.get("group")
    if group is None:
        return Groups([])
    if any(group.args.get(key) for key in ("rollup", "cube", "grouping_sets", "totals")):
        raise refuse(
            "D105",
            "this way to write grouping sets is not answered",
            ctx.span(group),
            help="write GROUP BY ROLLUP (a, b), CUBE (a, b) or GROUPING SETS ((a, b), (a), ())",
        )
    keys: list[tuple[exp.Expr, Named]] = []

    def position(written: exp.Expr) -> int:
        """The place of a key in the list, where it stands once: written alike, or meaning the same."""
        target = unaliased(key_target(ctx, written, items, scalars))
        for i, (known, _) in enumerate(keys):
            if known == target:  # bound twice, a subquery would be two
                return i
        scalar = scalars.bind(target)
        for i, (_, named) in enumerate(keys):
            if named.scalar == scalar:
                return i
        keys.append((target, named_key(ctx, target, scalar)))
        return len(keys) - 1

    sets = written_sets(ctx, group)
    if sets is None:
        written = [each for each in items if not has_aggregate(each)] if group.args.get("all") else []
        for each in [*written, *(key for part in group.expressions for key in members(part))]:
            position(each)
        return Groups(keys)
    found = tuple(tuple(sorted({position(each) for each in listed})) for listed in sets)
    return Groups(keys, found if len(found) > 1 else ())


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
