"""Map the plain columns of a select list to columns of a FROM item, by position.

    SELECT n, t.place FROM (SELECT place, COUNT(*) AS n ...) AS t(n, place)

``n`` is the first column of the item, the inner ``place``. Names alone do not decide: an alias list renames,
a name may be there twice, and in ``a.b`` the ``b`` may be a field of a column ``a``.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dpsql.facts.released_columns import released_columns
from dpsql.ir.measure import Measure


def columns_of(item: exp.Expr, measures: Sequence[Measure]) -> list[str]:
    """Return the names of the columns of a FROM item; [] where they are unknown."""
    if item.args.get("pivots"):
        return []
    if isinstance(item, exp.Subquery):
        inner = item.this
        names = (
            [output.alias_or_name for output in inner.expressions] if isinstance(inner, exp.Select) else []
        )
    else:
        read = next(
            (measure for measure in measures if isinstance(item, exp.Table) and measure.name == item.name),
            None,
        )
        names = [] if read is None else [name for name, _ in released_columns(read)]
    alias = item.args.get("alias")
    renamed = [column.name for column in alias.columns] if alias is not None else []
    return renamed + names[len(renamed) :] if len(renamed) <= len(names) else []


def place_of(node: exp.Expr, item: exp.Expr, names: Sequence[str]) -> int | None:
    """Return the position of a plain column in the item; None for any other expression."""
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
        return None
    if node.table and node.table.casefold() != item.alias_or_name.casefold():
        return None
    places = [i for i, name in enumerate(names) if name.casefold() == node.name.casefold()]
    return places[0] if len(places) == 1 else None
