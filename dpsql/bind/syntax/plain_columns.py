"""Which columns of a FROM item the plain columns of a select list are, by their places.

    SELECT n, t.place FROM (SELECT place, COUNT(*) AS n ...) AS t(n, place)

``n`` is the first column of the item, the inner ``place``. Names do not tell: an alias list renames,
a name may be there twice, and in ``a.b`` the ``b`` may be a field of a column ``a``.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dpsql.facts.released_columns import released_columns
from dpsql.ir.measure import Measure


def columns_of(item: exp.Expr, measures: Sequence[Measure]) -> list[str]:
    """The names of a FROM item's columns; nothing where they are not known."""
    if item.args.get("pivots"):
        return []
    if isinstance(item, exp.Subquery):
        inner = item.this
        names = [each.alias_or_name for each in inner.expressions] if isinstance(inner, exp.Select) else []
    else:
        read = next(
            (each for each in measures if isinstance(item, exp.Table) and each.name == item.name), None
        )
        names = [] if read is None else [name for name, _ in released_columns(read)]
    alias = item.args.get("alias")
    renamed = [each.name for each in alias.columns] if alias is not None else []
    return renamed + names[len(renamed) :] if len(renamed) <= len(names) else []


def place_of(node: exp.Expr, item: exp.Expr, names: Sequence[str]) -> int | None:
    """The place of the item's column that an expression is; None for any other expression."""
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
        return None
    if node.table and node.table.casefold() != item.alias_or_name.casefold():
        return None
    found = [i for i, name in enumerate(names) if name.casefold() == node.name.casefold()]
    return found[0] if len(found) == 1 else None
