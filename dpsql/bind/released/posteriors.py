"""Posteriors of numbers that a subquery or a WITH has released: the released table gets them as columns.

    SELECT ward, DP_BETA(yes, n - yes) FROM (SELECT ward, count AS n, "count 2" AS yes FROM release) AS s

    SELECT ward, {'mean': s."p mean", ...} FROM (SELECT ..., release."p mean" FROM release) AS s

The arguments are traced to one released table, through SELECTs that leave its rows as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from dpsql.bind.private.items import Item
from dpsql.bind.released.error_formulas import formula_of
from dpsql.bind.scope.sources import Number, Open
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.syntax.posterior_functions import (
    constants_of,
    field_of,
    is_linear,
    is_posterior,
    numbers_of,
    refuse_posterior,
    struct_of,
)
from dpsql.ir.formula import Formula, Operation, columns_in
from dpsql.ir.posterior import Posterior

Release = Callable[[str, str, tuple[Formula, Formula], tuple[float, ...]], Posterior]
"""Add a posterior to a released table, by its name."""

_OF_A_VIEW = "counts of a private view are found from many noisy sums, and share their noise"
_UNCHANGED = "these are not numbers of one released table, unchanged or added up in its rows"


class PosteriorsAbove:
    """Traces numbers of a SELECT over released rows to the released table that they are from."""

    def __init__(self, node: exp.Select, items: list[Item], text: str, release: Release) -> None:
        self._items, self._text, self._release = items, text, release
        self._merged = any(node.args.get(key) for key in ("group", "distinct", "having"))

    def replaced(self, node: exp.Expr) -> exp.Expr:
        """Replace the calls in an expression by columns of FROM items, which then have them."""
        if isinstance(node, exp.Query) or not any(
            is_posterior(each) for each in node.find_all(exp.Anonymous)
        ):
            return node
        called, place = field_of(node)
        if is_posterior(called):
            return self._posterior(called, place)
        changed = node.copy()
        for key, value in node.args.items():
            if isinstance(value, exp.Expr):
                changed.set(key, self.replaced(value))
            elif isinstance(value, list):
                changed.set(key, [self.replaced(v) if isinstance(v, exp.Expr) else v for v in value])
        return changed

    def _posterior(self, node: exp.Expr, place: int | None) -> exp.Expr:
        self._refuse_views(node)
        numbers = [self._traced(number) for number in numbers_of(node, self._text)]
        items = {number[0] for number in numbers if number is not None and number[0]}
        if None in numbers or len(items) != 1 or not numbers[0][0]:  # type: ignore[index]  # none is None
            refuse_posterior(node, self._text, _UNCHANGED)
        (alias,) = items
        table = next(number[1] for number in numbers if number is not None and number[0])
        first, second = (number[2] for number in numbers if number is not None)
        constants = constants_of(node, self._text)
        posterior = self._release(table, node.name.casefold(), (first, second), constants)
        at = next(i for i, item in enumerate(self._items) if item.alias == alias)
        source = self._items[at].source
        assert isinstance(source, Open)
        exposed = replace(source, tree=_exposed(source.tree, table, posterior.columns))
        self._items[at] = replace(self._items[at], source=exposed)
        return struct_of(posterior, alias, place)

    def _refuse_views(self, node: exp.Expr) -> None:
        """Refuse numbers of private views, whose noise together has no density that is known here."""
        for column in node.find_all(exp.Column):
            for item in self._named(column):
                if isinstance(item.source, Open) and item.source.counts is not None:
                    refuse_posterior(
                        node, self._text, _OF_A_VIEW, "ask the tables that the view was made of: "
                    )

    def _named(self, column: exp.Column) -> list[Item]:
        """Return the FROM items that may have a column."""
        table, name = column.table.casefold(), column.name.casefold()
        of_table = [item for item in self._items if table in ("", item.alias.casefold())]
        return [item for item in of_table if name in map(str.casefold, item.columns)]

    def numbers(self, outputs: list[exp.Expr]) -> tuple[Number, ...]:
        """Return what each output is of a released table, if it is one of its numbers."""
        if self._merged:
            return ()
        traced = [self._traced(unaliased(output)) for output in outputs]
        return tuple(None if each is None or not each[0] else each[1:] for each in traced)

    def _traced(self, node: exp.Expr) -> tuple[str, str, Formula] | None:
        """Return the FROM item, the released table and the formula of an expression; '' for a constant."""
        columns = list(node.find_all(exp.Column))
        found = {column: self._source(column) for column in columns}
        tables = {(each[0], each[1]) for each in found.values() if each is not None}
        if None in found.values() or len(tables) > 1:
            return None
        alias, table = next(iter(tables), ("", ""))
        stand_ins = {column: f"column {place}" for place, column in enumerate(columns)}

        def stood_in(each: exp.Expr) -> exp.Expr:
            name = stand_ins.get(each) if isinstance(each, exp.Column) else None
            return each if name is None else exp.column(name, "#", quoted=True)

        formula = formula_of(node.copy().transform(stood_in), "#", {})
        if formula is None or not is_linear(formula):
            return None
        known = {stand_ins[column]: each[2] for column, each in found.items() if each is not None}
        return alias, table, _filled(formula, known)

    def _source(self, column: exp.Column) -> tuple[str, str, Formula] | None:
        places = [
            (item, place)
            for item in self._items
            if not column.table or item.alias.casefold() == column.table.casefold()
            for place, name in enumerate(item.columns)
            if name.casefold() == column.name.casefold()
        ]
        if len(places) != 1:
            return None
        item, place = places[0]
        assert isinstance(item.source, Open)
        number = item.source.numbers[place] if place < len(item.source.numbers) else None
        tree = item.source.tree
        alike = [each for each in tree.find_all(exp.Table) if number is not None and each.name == number[0]]
        return None if number is None or len(alike) != 1 else (item.alias, *number)


def _filled(formula: Formula, columns: dict[str, Formula]) -> Formula:
    """Return a formula with formulas in the place of its columns."""
    match formula:
        case str():
            return columns[formula]
        case Operation(name, arguments):
            return Operation(name, tuple(_filled(argument, columns) for argument in arguments))
        case _:
            return formula


def numbers_in(formula: Formula | None, table: str) -> Number:
    """Return a formula of a released table as an output's; None for a constant."""
    return None if formula is None or not columns_in(formula) else (table, formula)


def _exposed(tree: exp.Expr, table: str, names: tuple[str, ...]) -> exp.Select:
    """Return a SELECT that passes columns of a released table on, as its last outputs."""
    assert isinstance(tree, exp.Select), "rows of others are not traced"
    selected = tree.copy()
    for source in [selected.args["from_"], *(selected.args.get("joins") or [])]:
        item = source.this
        if not any(each.name == table for each in item.find_all(exp.Table)):
            continue
        if isinstance(item, exp.Subquery):
            item.set("this", _exposed(item.this, table, names))
        for name in names:
            passed = exp.column(exp.to_identifier(name, True), exp.to_identifier(item.alias_or_name, True))
            selected.append("expressions", exp.alias_(passed, name, quoted=True))
    return selected
