"""What passes through a SELECT over released rows unchanged: columns, with their half-widths and intervals.

SELECT ward, n FROM (SELECT ward, COUNT(*) AS n ...) WHERE DP_INTERVAL_LOW(n) > 20

SELECT s.ward, s.n, s.margin FROM (SELECT ..., count AS n, "count margin" AS margin ...) AS s WHERE s.low > 20

Filters, joins, orders and windows leave a number as it is; so does GROUP BY, which makes one row of equal
numbers, with the largest of their half-widths. What is computed of numbers brings no half-width along.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.private.from_clause import Item
from dpsql.bind.released.expressions import quoted
from dpsql.bind.scope.sources import Margin, Open
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.syntax.interval_functions import LOW, WIDEST, asks_interval, is_end, number_of, refuse_end
from dpsql.bind.syntax.output_names import named_by


class ColumnLineage:
    """``written`` is the select list with its stars written out."""

    def __init__(self, node: exp.Select, items: list[Item], written: list[exp.Expr], text: str) -> None:
        self._items, self._written, self._text = items, written, text
        group = node.args.get("group")
        self._grouped = group is not None
        self._keys = set() if group is None else {self._place(each) for each in self._group_keys(group)}
        self._nothing = bool(node.args.get("distinct")) or (bool(node.args.get("having")) and group is None)

    def _group_keys(self, group: exp.Group) -> list[exp.Expr]:
        every = self._written if group.args.get("all") else group.expressions
        return [named_by(unaliased(each), self._written) for each in every]

    def margins(self, node: exp.Expr) -> tuple[exp.Expr, ...]:
        """The half-width, and the ends of the interval, that an item of the select list brings along."""
        place = self._place(unaliased(node))
        if place is None or self._nothing or (self._grouped and place not in self._keys):
            return ()
        held = [quoted(each, place[0]) for each in self._margin(place)]
        if not self._grouped:
            return tuple(held)
        return tuple(way(this=each) for way, each in zip(WIDEST, held, strict=False))

    def ends(self, node: exp.Expr, grouped: bool = True) -> exp.Expr:
        """An expression with columns in the place of DP_INTERVAL_LOW and HIGH.

        ``grouped`` is false for what looks at the rows before GROUP BY: WHERE, joins, aggregates' arguments.
        """
        if isinstance(node, exp.Query) or not asks_interval(node):
            return node
        if is_end(node):
            return self._end(node, grouped and self._grouped)
        turned = node.copy()
        inside = grouped and not (isinstance(node, exp.AggFunc) and not isinstance(node.parent, exp.Window))
        for key, value in node.args.items():
            if isinstance(value, exp.Expr):
                turned.set(key, self.ends(value, inside))
            elif isinstance(value, list):
                turned.set(key, [self.ends(v, inside) if isinstance(v, exp.Expr) else v for v in value])
        return turned

    def _end(self, node: exp.Expr, grouped: bool) -> exp.Expr:
        number = number_of(node, self._text)
        place = self._place(number) or self._place(named_by(number, self._written))
        margin = () if place is None else self._margin(place)
        if place is None or len(margin) < 3:
            refuse_end(node, self._text, "no released number passes through here unchanged")
        if grouped and place not in self._keys:
            refuse_end(node, self._text, "several numbers are in one group: it is no key of this GROUP BY")
        at = 1 if node.name.casefold() == LOW else 2
        held = quoted(margin[at], place[0])
        return WIDEST[at](this=held) if grouped else held

    def computed(self, node: exp.Expr) -> bool:
        """Whether an item of the select list is computed of released numbers."""
        bare = unaliased(node)
        return not isinstance(bare, exp.Column) and self._holds(bare)

    def _holds(self, node: exp.Expr) -> bool:
        if isinstance(node, exp.Query) or is_end(node):
            return False
        if isinstance(node, exp.Column):
            place = self._place(node)
            return place is not None and bool(self._margin(place))
        return any(self._holds(each) for each in node.iter_expressions())

    def _place(self, node: exp.Expr) -> tuple[str, int] | None:
        """The FROM item and the position in it that a plain column names."""
        if not isinstance(node, exp.Column):
            return None
        found = [
            (item.alias, at)
            for item in self._items
            if not node.table or item.alias.casefold() == node.table.casefold()
            for at, name in enumerate(item.columns)
            if name.casefold() == node.name.casefold()
        ]
        return found[0] if len({alias for alias, _ in found}) == 1 else None

    def _margin(self, place: tuple[str, int]) -> Margin:
        item = next(each for each in self._items if each.alias == place[0])
        assert isinstance(item.source, Open)
        return item.source.margins[place[1]]
