"""Column lineage through a SELECT over released rows: half-widths and intervals of unchanged columns.

SELECT ward, n FROM (SELECT ward, COUNT(*) AS n ...) WHERE DP_INTERVAL_LOW(n) > 20

SELECT s.ward, s.n, s.margin FROM (SELECT ..., count AS n, "count margin" AS margin ...) AS s WHERE s.low > 20

Filters, joins, ORDER BY and windows leave a number unchanged; so does GROUP BY, which merges equal numbers
into one row with the largest of their half-widths. A computed number has no half-width.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.private.items import Item
from dpsql.bind.released.expressions import quoted
from dpsql.bind.scope.sources import Margin, Open
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.syntax.interval_functions import LOW, WIDEST, asks_interval, is_end, number_of, refuse_end
from dpsql.bind.syntax.output_names import named_by


class ColumnLineage:
    """Traces outputs to FROM items; ``outputs`` is the select list with its stars expanded."""

    def __init__(self, node: exp.Select, items: list[Item], outputs: list[exp.Expr], text: str) -> None:
        self._items, self._outputs, self._text = items, outputs, text
        group = node.args.get("group")
        self._grouped = group is not None
        self._keys = set() if group is None else {self._place(key) for key in self._group_keys(group)}
        self._no_margins = bool(node.args.get("distinct")) or (
            bool(node.args.get("having")) and group is None
        )

    def _group_keys(self, group: exp.Group) -> list[exp.Expr]:
        every = self._outputs if group.args.get("all") else group.expressions
        return [named_by(unaliased(key), self._outputs) for key in every]

    def margins(self, node: exp.Expr) -> tuple[exp.Expr, ...]:
        """Return the half-width and the ends of the interval of a select item, or () for none."""
        place = self._place(unaliased(node))
        if place is None or self._no_margins or (self._grouped and place not in self._keys):
            return ()
        margins = [quoted(name, place[0]) for name in self._margin(place)]
        if not self._grouped:
            return tuple(margins)
        return tuple(aggregate(this=width) for aggregate, width in zip(WIDEST, margins, strict=False))

    def total(self, node: exp.Expr) -> exp.Expr | None:
        """Return the mark of totals of a select item that is an unchanged key; None for any other."""
        place = self._place(unaliased(node))
        if place is None or self._no_margins or self._grouped:
            return None
        source = next(item.source for item in self._items if item.alias == place[0])
        assert isinstance(source, Open)
        name = source.totals[place[1]] if source.totals else None
        return None if name is None else quoted(name, place[0])

    def ends(self, node: exp.Expr, grouped: bool = True) -> exp.Expr:
        """Replace DP_INTERVAL_LOW and HIGH in an expression by columns.

        ``grouped`` is false for what reads rows before GROUP BY: WHERE, joins, arguments of aggregates.
        """
        if isinstance(node, exp.Query) or not asks_interval(node):
            return node
        if is_end(node):
            return self._end(node, grouped and self._grouped)
        rewritten = node.copy()
        inside = grouped and not (isinstance(node, exp.AggFunc) and not isinstance(node.parent, exp.Window))
        for key, value in node.args.items():
            if isinstance(value, exp.Expr):
                rewritten.set(key, self.ends(value, inside))
            elif isinstance(value, list):
                rewritten.set(key, [self.ends(v, inside) if isinstance(v, exp.Expr) else v for v in value])
        return rewritten

    def _end(self, node: exp.Expr, grouped: bool) -> exp.Expr:
        number = number_of(node, self._text)
        place = self._place(number) or self._place(named_by(number, self._outputs))
        margin = () if place is None else self._margin(place)
        if place is None or len(margin) < 3:
            refuse_end(node, self._text, "this is not an unchanged released number")
        if grouped and place not in self._keys:
            refuse_end(node, self._text, "a group has several of these numbers: add it to this GROUP BY")
        index = 1 if node.name.casefold() == LOW else 2
        end = quoted(margin[index], place[0])
        return WIDEST[index](this=end) if grouped else end

    def computed(self, node: exp.Expr) -> bool:
        """Whether a select item is computed from released numbers."""
        expression = unaliased(node)
        return not isinstance(expression, exp.Column) and self._has_released_number(expression)

    def _has_released_number(self, node: exp.Expr) -> bool:
        if isinstance(node, exp.Query) or is_end(node):
            return False
        if isinstance(node, exp.Column):
            place = self._place(node)
            return place is not None and bool(self._margin(place))
        return any(self._has_released_number(child) for child in node.iter_expressions())

    def _place(self, node: exp.Expr) -> tuple[str, int] | None:
        """Return the FROM item of a plain column and the position in it, or None."""
        if not isinstance(node, exp.Column):
            return None
        places = [
            (item.alias, index)
            for item in self._items
            if not node.table or item.alias.casefold() == node.table.casefold()
            for index, name in enumerate(item.columns)
            if name.casefold() == node.name.casefold()
        ]
        return places[0] if len({alias for alias, _ in places}) == 1 else None

    def _margin(self, place: tuple[str, int]) -> Margin:
        item = next(item for item in self._items if item.alias == place[0])
        assert isinstance(item.source, Open)
        return item.source.margins[place[1]]
