"""Queries in which more than rows bounds a unit: its groups, the sums of its groups, its rows told apart.

    SELECT kind, SUM(s + 1) FROM (SELECT patient_id, kind, SUM(cost) AS s FROM visits GROUP BY ALL) GROUP BY 1
    SELECT date_trunc('month', day), COUNT(*) FROM (SELECT DISTINCT patient_id, day FROM visits) GROUP BY 1
    SELECT OPTIONS(max_groups_contributed = 2) kind, COUNT(DISTINCT patient_id) FROM visits GROUP BY kind
    SELECT p.kind, q.city, COUNT(*) FROM visits v JOIN places p ON ... JOIN places q ON ... GROUP BY ALL

Trees drawn freely seldom have these shapes, and the rules for them are the finest of all.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from dpsql.fuzz.relations import Filter, Item, PerUnit, Project, Tree, Trees
from dpsql.fuzz.scalars import SHOWN, Column, Expressions
from dpsql.fuzz.schemas import Sort

Drawn = tuple[Tree, tuple[str, ...], list[str], str]
"""A tree, keys over it, aggregates, and the query's options."""


class BoundedUnits:
    """Draws such queries. Calm ones stay under every clip, as all that is drawn calmly."""

    def __init__(self, rng: random.Random, expressions: Expressions) -> None:
        self.rng, self.expressions = rng, expressions
        self.trees, self.schema = Trees(rng, expressions), expressions.schema

    def draw(self) -> Drawn:
        often: list[Callable[[], Drawn]] = [self.masses, self.masses, self.units, self.units, self.apart]
        looked_up = [self.tuples] if self.schema.lookup is not None else []
        return self.rng.choice([*often, *looked_up, self.picked])()

    def masses(self) -> Drawn:
        """Sums and counts of a unit's groups, summed as they are, or with something done to each."""
        source, unit, key = self._rows()
        summed = self.trees.fresh(Sort.FLOAT, bounded=True)
        counted = self.trees.fresh(Sort.INTEGER, bounded=True)
        calls: tuple[Item, ...] = (
            (summed, f"CAST(SUM({self.expressions.bounded(source.columns, 0)}) AS DOUBLE)"),
            (counted, "COUNT(*)"),
        )
        within = self.trees.fresh(key.sort)
        tree: Tree = PerUnit(source, ((self.trees.fresh(Sort.UNIT), unit.token), (within, key.token)), calls)
        if self.rng.random() < 0.3:
            tree = Filter(tree, f"{counted.token} >= {self.rng.choice((0, 1, 2))}")
        if self.rng.random() < 0.3:
            tree = self.trees.joined("INNER", tree, *self._more_rows(tree))
        one, n = summed.token, counted.token
        forms = (
            *(f"SUM({one})", f"SUM({one})", f"SUM({one} * 3)", f"SUM(- {one})", f"SUM({n})"),
            *(f"SUM({one} + 1)", f"SUM({one} - 5)", f"SUM(100000 - {one})", f"SUM(coalesce({one}, 1))"),
            *(f"SUM(CASE WHEN {n} > 1 THEN {one} ELSE 3 END)", f"AVG({one})", f"SUM({n} + 1)"),
            *(f"SUM({one}) FILTER (WHERE {n} > 1)", f"SUM({one}) FILTER (WHERE {n} <= 1)", "COUNT(*)"),
        )
        return tree, self._keys(within), self._some(forms), ""

    def apart(self) -> Drawn:
        """Rows of which a unit has one for each value, by this value, by a coarser one or by none."""
        source, unit, key = self._rows()
        within, number = self.trees.fresh(key.sort), self.trees.fresh(Sort.INTEGER, bounded=True)
        keys: tuple[Item, ...] = ((self.trees.fresh(Sort.UNIT), unit.token), (within, key.token))
        more = self.expressions.column(source.columns, Sort.TEXT, Sort.BOOLEAN, Sort.INTEGER)
        if more is not None and self.rng.random() < 0.3:
            keys += ((self.trees.fresh(more.sort), more.token),)
        if self.rng.random() < 0.5:
            tree: Tree = Project(source, keys, distinct=True)
            forms = ("COUNT(*)", "COUNT(*)", f"COUNT({within.token})")
        else:
            tree = PerUnit(source, keys, ((number, "LEAST(COUNT(*), 10)"),))
            forms = ("COUNT(*)", f"SUM({number.token})", f"AVG({number.token})")
        return tree, self._keys(within), self._some(forms), self._options()

    def units(self) -> Drawn:
        """Units counted by group, alone, under conditions, and beside sums of their rows."""
        source, unit, key = self._rows()
        condition = self.expressions.condition(source.columns, 0)
        forms = (
            *(f"COUNT(DISTINCT {unit.token})",) * 2,
            f"COUNT(DISTINCT {unit.token}) FILTER (WHERE {condition})",
            f"COUNT(DISTINCT {unit.token}) FILTER (WHERE NOT ({condition}))",
            f"COUNT(DISTINCT CASE WHEN {condition} THEN {unit.token} END)",
        )
        calls = self._some(forms, 4)
        if self.rng.random() < 0.3:
            calls += self._some(("COUNT(*)", f"SUM({self.expressions.bounded(source.columns, 0)})"))
        if self.rng.random() < 0.4:  # more conditions than rows that count, perhaps
            return source, (), calls, "" if self.expressions.calm else "OPTIONS(max_rows_contributed = 1) "
        return source, self._keys(key), calls, self._options()

    def picked(self) -> Drawn:
        """The value of one row of a unit, in an order that often leaves ties."""
        source, unit, _ = self._rows()
        value = self.rng.choice([each for each in source.columns if each.sort in SHOWN])
        one = self.trees.fresh(value.sort)
        call = self.trees.picked(self.rng.choice(("MIN", "MAX")), value.token, source.columns)
        tree = PerUnit(source, ((self.trees.fresh(Sort.UNIT), unit.token),), ((one, call),))
        return tree, (), [f"COUNT_IF({one.token} >= {self.expressions.constant(one.sort)})", "COUNT(*)"], ""

    def tuples(self) -> Drawn:
        """Keys of one or two rows of a public table that a private row meets."""
        lookup = self.schema.lookup
        assert lookup is not None
        rows = self.trees.table(self.schema.private[lookup.table])
        first, second = (self.trees.table(self.schema.public[lookup.public], public=True) for _ in range(2))
        own = {column.name: column.token for column in rows.columns}
        other = self.rng.choice(lookup.others).format_map(own)
        kind = self.rng.choice(("INNER", "INNER", "LEFT"))
        on = [f"{own[lookup.column]} = {_named(first, lookup.key).token}"]
        tree = self.trees.joined(kind, rows, first, on)
        tree = self.trees.joined(kind, tree, second, [f"{other} = {_named(second, lookup.key).token}"])
        of_first, of_second = self.rng.choice(lookup.shown), self.rng.choice(lookup.shown)
        keys = (_named(first, of_first).token, _named(self.rng.choice((first, second)), of_second).token)
        return tree, tuple(dict.fromkeys(keys)), ["COUNT(*)"], ""

    # ---- parts -------------------------------------------------------------------------------------

    def _rows(self) -> tuple[Tree, Column, Column]:
        """Return rows, the column of the unit, and one to group by."""
        while True:
            tree: Tree = self.trees.table(self.schema.private[self.rng.choice(self.schema.many_rows)])
            if self.rng.random() < 0.3:
                tree = Filter(tree, self.expressions.condition(tree.columns, 0))
            if self.rng.random() < 0.2:
                tree = self.trees.joined("INNER", tree, *self._more_rows(tree))
            unit = self.trees.unit(tree)
            listed = [each for each in tree.columns if each.name in self.schema.nearly_listed]
            if unit is not None and listed:
                return tree, unit, self.rng.choice(listed)

    def _more_rows(self, tree: Tree) -> tuple[Tree, list[str]]:
        """Return another table of the unit's rows, and the condition that they are the same unit's."""
        other = self.trees.table(self.schema.private[self.rng.choice(self.schema.beside)])
        ours, theirs = self.trees.unit(tree), self.trees.unit(other)
        return other, [f"{ours.token} = {theirs.token}"] if ours and theirs else ["true"]

    def _keys(self, column: Column) -> tuple[str, ...]:
        coarser = {
            Sort.DATE: f"date_trunc('month', {column.token})",
            Sort.TEXT: f"{column.token} = 'checkup'",
            Sort.INTEGER: f"{column.token} > 3",
        }
        chosen = (column.token, column.token, *(coarser.get(column.sort, column.token),) * 2, "")
        key = self.rng.choice(chosen)
        return (key,) if key else ()

    def _some(self, forms: tuple[str, ...], most: int = 3) -> list[str]:
        number = self.rng.choice((1, *range(1, most + 1)))
        return list(dict.fromkeys(self.rng.choice(forms) for _ in range(number)))

    def _options(self) -> str:
        if self.expressions.calm or self.rng.random() < 0.4:
            return ""
        name = self.rng.choice(("max_rows_contributed", "max_rows_contributed", "max_groups_contributed"))
        return f"OPTIONS({name} = {self.rng.randint(1, 3)}) "


def _named(tree: Tree, name: str) -> Column:
    [column] = [each for each in tree.columns if each.name == name]
    return column
