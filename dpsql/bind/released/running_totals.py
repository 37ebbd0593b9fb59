"""Find the released aggregates that a SELECT adds up in running totals.

SELECT bin, SUM(COUNT(*)) OVER (ORDER BY bin) FROM ... GROUP BY bin
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.scope.wrappers import unwrapped


def running_totals(
    items: list[exp.Expr], calls: list[str], keys: list[str], table: str
) -> tuple[tuple[str, bool], ...]:
    """Return the calls that are summed in the order of the only key, and whether each is also used otherwise.

    ``items`` is the select list over the released table ``table``.
    """
    if len(keys) != 1:
        return ()
    names = {item.alias for item in items if _is_column_of(unwrapped(item), keys, table)}
    added: dict[str, set[int]] = {}
    ordered: set[str] = set()
    for item in items:
        for window in item.find_all(exp.Window):
            column = window.this.this if isinstance(window.this, exp.Sum) else None
            if column is None or not _is_column_of(column, calls, table) or window.args.get("partition_by"):
                continue
            order = window.args.get("order")
            if order is None and not window.args.get("spec") and not window.args.get("alias"):
                added.setdefault(column.name, set()).add(id(column))  # the total is the last running total
            elif order is not None and _by_key(order, keys, table, names) and _from_first(window):
                added.setdefault(column.name, set()).add(id(column))
                ordered.add(column.name)
    if not ordered:
        return ()
    seen: dict[str, set[int]] = {}
    for item in items:
        for column in item.find_all(exp.Column):
            if _is_column_of(column, calls, table):
                seen.setdefault(column.name, set()).add(id(column))
    return tuple((name, bool(seen[name] - added[name])) for name in calls if name in ordered)


def _is_column_of(node: exp.Expr, names: list[str], table: str) -> bool:
    return isinstance(node, exp.Column) and node.table == table and node.name in names


def _by_key(order: exp.Expr, keys: list[str], table: str, aliases: set[str]) -> bool:
    if len(order.expressions) != 1:
        return False
    inner = order.expressions[0]
    inner = unwrapped(inner.this if isinstance(inner, exp.Ordered) else inner)
    alias = isinstance(inner, exp.Column) and not inner.table and inner.name in aliases
    return alias or _is_column_of(inner, keys, table)


def _from_first(window: exp.Window) -> bool:
    """Whether the frame is from the first row to the current one."""
    spec = window.args.get("spec")
    if window.args.get("alias") is not None:
        return False
    if spec is None:
        return True
    frame = {key: value for key, value in spec.args.items() if value}
    return frame.pop("kind", "") in ("ROWS", "RANGE") and frame in (
        {"start": "UNBOUNDED", "start_side": "PRECEDING", "end": "CURRENT ROW"},
        {"start": "UNBOUNDED", "start_side": "PRECEDING"},
    )
