"""Trees of relations with a unit in them, drawn at random.

    PerUnit(Join(Table visits, Table patients), keys=(patient_id, kind), calls=(sum(cost),))

A tree says what is computed; ``printing`` decides how an analyst would write it. Expressions hold tokens
of columns, numbered over the whole query.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, replace
from typing import TypeAlias

from drawn.scalars import NUMBERS, Column, Expressions
from drawn.tables import NATURAL, PRIVATE, PUBLIC, Sort, Stored

Item: TypeAlias = tuple[Column, str]
"""A new column and the expression that it holds."""


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    columns: tuple[Column, ...]
    public: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    source: Tree
    condition: str

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.source.columns


@dataclass(frozen=True, slots=True)
class Project:
    """Chosen columns and computed ones; ``distinct`` keeps each row once."""

    source: Tree
    items: tuple[Item, ...]
    distinct: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(column for column, _ in self.items)


@dataclass(frozen=True, slots=True)
class Join:
    """``kind`` is INNER, LEFT or RIGHT; ``on`` are conditions, all of which hold."""

    kind: str
    left: Tree
    right: Tree
    on: tuple[str, ...]
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Union:
    """Rows of two projections of the same sorts, under the left one's names."""

    left: Project
    right: Project

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.left.columns


@dataclass(frozen=True, slots=True)
class PerUnit:
    """GROUP BY with the unit first among the keys."""

    source: Tree
    keys: tuple[Item, ...]
    calls: tuple[Item, ...]
    having: str = ""

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(column for column, _ in (*self.keys, *self.calls))


Tree: TypeAlias = Table | Filter | Project | Join | Union | PerUnit

SHOWN = (*NUMBERS, Sort.TEXT, Sort.BOOLEAN, Sort.DATE, Sort.TIMESTAMP)


def unit_of(tree: Tree) -> Column | None:
    """The first column that holds the unit."""
    return next((each for each in tree.columns if each.sort is Sort.UNIT), None)


class Trees:
    """Draws trees; every column gets a number of its own."""

    def __init__(self, rng: random.Random, expressions: Expressions) -> None:
        self.rng, self.expressions = rng, expressions
        self._numbers = itertools.count()

    def fresh(self, sort: Sort, bounded: bool = False, name: str = "", key: str = "") -> Column:
        number = next(self._numbers)
        return Column(number, sort, name or f"c{number}", bounded, key)

    def unit(self, tree: Tree) -> Column | None:
        """Any column that holds the unit."""
        return self.expressions.column(tree.columns, Sort.UNIT)

    def table(self, stored: Stored, public: bool = False) -> Table:
        columns = tuple(
            self.fresh(each.sort, each.bounded and not self.expressions.calm, each.name, each.key)
            if self.expressions.calm and each.sort is Sort.OPAQUE
            else self.fresh(each.sort, each.bounded, each.name, each.key)
            for each in stored.columns
        )
        return Table(stored.name, columns, public)

    def draw(self, depth: int) -> Tree:
        """A private tree of at most this many steps."""
        if depth <= 0:
            names = ("patients", "patients", "visits", "visits", "visits", "treatments", "reactions", "sales.orders")
            return self.table(PRIVATE[self.rng.choice((*names, "sales.refunds", "referrals"))])
        steps = (self.filtered, self.projected, self.with_public, self.on_unit, self.along_keys)
        more = (self.union, self.per_unit, self.distinct)
        [step] = self.rng.choices((*steps, *more), (3, 3, 4, 4, 3, 2, 5, 1))
        return step(depth)

    # ---- one step over a tree ----------------------------------------------------------------------

    def filtered(self, depth: int) -> Tree:
        source = self.draw(depth - 1)
        return Filter(source, self.expressions.condition(source.columns))

    def items(self, tree: Tree, most: int = 4) -> tuple[Item, ...]:
        """The unit, and some columns and expressions."""
        found: list[Item] = []
        unit = self.unit(tree)
        if unit is not None:
            found.append((self.fresh(Sort.UNIT), unit.token))
        plain = [each for each in tree.columns if each.sort in (*SHOWN, Sort.ENUM, Sort.IDENTITY)]
        self.rng.shuffle(plain)
        for each in plain[: self.rng.randint(1, 3)]:
            found.append((self.fresh(each.sort, each.bounded, key=each.key), each.token))
        for _ in range(self.rng.randint(1, most)):
            if self.rng.random() < 0.3:
                bounded = self.expressions.bounded(tree.columns)
                found.append((self.fresh(Sort.FLOAT, True), f"CAST({bounded} AS DOUBLE)"))
                continue
            sort = self.rng.choice(SHOWN)
            found.append((self.fresh(sort), self.expressions.draw(tree.columns, sort, 2)))
        return tuple(found)

    def projected(self, depth: int) -> Tree:
        source = self.draw(depth - 1)
        return Project(source, self.items(source))

    def distinct(self, depth: int) -> Tree:
        source = self.draw(depth - 1)
        if unit_of(source) is None:
            return source
        return Project(source, self.items(source, 2), distinct=True)

    def per_unit(self, depth: int) -> Tree:
        source = self.draw(depth - 1)
        unit = self.unit(source)
        if unit is None:
            return source
        keys = [(self.fresh(Sort.UNIT), unit.token)]
        if self.rng.random() < 0.4:
            sort = self.rng.choice(SHOWN)
            keys.append((self.fresh(sort), self.expressions.draw(source.columns, sort, 1)))
        calls = tuple(self.call(source) for _ in range(self.rng.randint(1, 3)))
        having = f"COUNT(*) >= {self.rng.choice((0, 1, 2))}" if self.rng.random() < 0.25 else ""
        return PerUnit(source, tuple(keys), calls, having)

    def call(self, source: Tree) -> Item:
        """An aggregate over one unit's rows."""
        rng, scope = self.rng, source.columns
        only = f" FILTER (WHERE {self.expressions.condition(scope)})" if rng.random() < 0.25 else ""
        name = rng.choice(("COUNT", "COUNT", "SUM", "SUM", "SUM", "AVG", "AVG", "MIN", "MAX", "COUNT_IF"))
        if name == "COUNT_IF":
            return self.fresh(Sort.INTEGER, True), f"COUNT_IF({self.expressions.condition(scope)}){only}"
        if name == "COUNT":
            what = "*" if rng.random() < 0.5 else self.expressions.draw(scope, rng.choice(SHOWN), 1)
            return self.fresh(Sort.INTEGER, True), f"COUNT({what}){only}"
        if name in ("MIN", "MAX"):
            plain = [each for each in scope if each.sort in SHOWN]
            if plain and rng.random() < 0.5:
                one = rng.choice(plain)
                return self.fresh(one.sort, one.bounded), f"{name}({one.token}){only}"
            sort = rng.choice(SHOWN)
            return self.fresh(sort), f"{name}({self.expressions.draw(scope, sort, 1)}){only}"
        return self.fresh(
            Sort.FLOAT, True
        ), f"CAST({name}({self.expressions.bounded(scope)}){only} AS DOUBLE)"

    # ---- two trees ---------------------------------------------------------------------------------

    def joined(self, kind: str, left: Tree, right: Tree, on: list[str]) -> Join:
        """The join; a unit of the side that is not kept is no unit of its rows."""
        ours, theirs = left.columns, right.columns
        if kind == "LEFT":
            theirs = tuple(self._lost(each) for each in theirs)
        if kind == "RIGHT":
            ours = tuple(self._lost(each) for each in ours)
        return Join(kind, left, right, tuple(on), (*ours, *theirs))

    def _lost(self, column: Column) -> Column:
        """Now and then it is taken for the unit all the same."""
        if column.sort is not Sort.UNIT or self.rng.random() < 0.1:
            return column
        return replace(column, sort=Sort.IDENTITY, key="")

    def kind(self) -> str:
        return self.rng.choice(("INNER", "INNER", "INNER", "LEFT", "LEFT", "RIGHT"))

    def also(self, left: Tree, right: Tree, on: list[str]) -> list[str]:
        """Sometimes one more condition: two columns of one sort, or anything about both sides."""
        chance = self.rng.random()
        if chance < 0.15:
            sort = self.rng.choice(SHOWN)
            ours, theirs = (self.expressions.column(each.columns, sort) for each in (left, right))
            if ours is not None and theirs is not None:
                return [*on, f"{ours.token} {self.rng.choice(('=', '=', '<'))} {theirs.token}"]
        if chance < 0.3:
            return [*on, self.expressions.condition((*left.columns, *right.columns))]
        return on

    def on_unit(self, depth: int) -> Tree:
        """Two private trees on the unit, now and then one tree on itself."""
        left = self.draw(depth - 1)
        right = self.draw(min(depth - 1, 1))
        ours, theirs = self.unit(left), self.unit(right)
        if ours is None or theirs is None:
            return self.along_keys(depth)
        on = self.also(left, right, [_equal(self.rng, ours, theirs)])
        return self.joined(self.kind(), left, right, on)

    def along_keys(self, depth: int) -> Tree:
        """Tables along a declared key: reactions, treatments, visits, patients; orders and their refunds."""
        chain = ["sales.orders", "sales.refunds"]
        if self.rng.random() < 0.6:
            chain = ["patients", "visits", "treatments", "reactions"]
        start = self.rng.randrange(len(chain) - 1)
        left: Tree = self._maybe_filtered(self.table(PRIVATE[chain[start]]))
        for name in chain[start + 1 : start + 1 + self.rng.choice((1, 1, 2, 3))]:
            right = self._maybe_filtered(self.table(PRIVATE[name]))
            pairs = [(a, b) for a in left.columns for b in right.columns]
            shared = [(a, b) for a, b in pairs if a.key and a.key == b.key]
            shared = shared or [(a, b) for a, b in pairs if a.sort is b.sort is Sort.UNIT]
            if not shared:
                break
            on = self.also(left, right, [_equal(self.rng, *self.rng.choice(shared))])
            kind = self.kind()
            left = self.joined(kind, left, right, on)
        return left

    def _maybe_filtered(self, table: Table) -> Tree:
        if self.rng.random() < 0.75:
            return table
        return Filter(table, self.expressions.condition(table.columns))

    def with_public(self, depth: int) -> Tree:
        """Private rows with a public table: as declared keys invite, or on any condition."""
        left = self.draw(depth - 1)
        inviting = [
            (ours, public, theirs)
            for _, column, public, theirs in NATURAL
            for ours in left.columns
            if ours.name == column
        ]
        if inviting and self.rng.random() < 0.8:
            ours, name, theirs = self.rng.choice(inviting)
            right = self.table(PUBLIC[name], public=True)
            other = next(each for each in right.columns if each.name == theirs)
            on = [f"{ours.token} {self.rng.choice(('=', '=', '=', '>='))} {other.token}"]
        else:
            right = self.table(PUBLIC[self.rng.choice(tuple(PUBLIC))], public=True)
            on = []
            column = self.expressions.column(right.columns, *SHOWN)
            if column is not None and self.rng.random() < 0.8:
                value = self.expressions.draw(left.columns, column.sort, 1)
                on = [f"{value} {self.rng.choice(('=', '<='))} {column.token}"]
        kind = self.rng.choice(("INNER", "INNER", "LEFT"))
        return self.joined(kind, left, right, on or ["true"])

    def union(self, depth: int) -> Tree:
        left = self.draw(depth - 1)
        right = self.draw(0) if self.rng.random() < 0.5 else left
        ours, theirs = self.unit(left), self.unit(right)
        if ours is None or theirs is None:
            return left
        sorts = [self.rng.choice(SHOWN) for _ in range(self.rng.randint(1, 3))]
        sides = []
        for tree, unit in ((left, ours), (right, theirs)):
            items = [(self.fresh(Sort.UNIT), unit.token)]
            items += [(self.fresh(sort), self.expressions.draw(tree.columns, sort, 1)) for sort in sorts]
            sides.append(Project(tree, tuple(items)))
        return Union(*sides)


def _equal(rng: random.Random, one: Column, other: Column) -> str:
    first, second = (one, other) if rng.random() < 0.7 else (other, one)
    return f"{first.token} = {second.token}"
