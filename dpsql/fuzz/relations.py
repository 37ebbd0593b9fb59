"""Trees of relations with a unit in them, drawn at random.

    PerUnit(Join(Table visits, Table patients), keys=(patient_id, kind), calls=(sum(cost),))

A tree says what is computed; ``printing`` decides how an analyst would write it. Expressions hold tokens
of columns, numbered over the whole query.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import TypeAlias

from dpsql.fuzz.scalars import NUMBERS, SHOWN, Column, Expressions
from dpsql.fuzz.schemas import Sort, Stored
from dpsql.lazy_dataclass import dataclass

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
    """``kind`` is INNER, LEFT, RIGHT, FULL, SEMI or ANTI; ``on`` are conditions, all of which hold."""

    kind: str
    left: Tree
    right: Tree
    on: tuple[str, ...]
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Union:
    """A set operation of two projections of the same sorts, under the left one's names."""

    left: Project
    right: Project
    word: str = "UNION ALL"

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


@dataclass(frozen=True, slots=True)
class Windowed:
    """The source's columns and window functions over them; ``qualify`` keeps some rows."""

    source: Tree
    items: tuple[Item, ...]
    qualify: str = ""

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*self.source.columns, *(column for column, _ in self.items))


@dataclass(frozen=True, slots=True)
class Sub:
    """A subquery in an expression: ``{}`` in ``form`` is its SELECT of ``item``, ``where`` ties it around.

    Its token in an expression lists the columns around it that it reads.
    """

    form: str
    tree: Tree
    item: str
    where: str
    outer: tuple[Column, ...]

    def token(self, number: int) -> str:
        return f"⟪{number}:{','.join(each.token for each in self.outer)}⟫"


Tree: TypeAlias = Table | Filter | Project | Join | Union | PerUnit | Windowed


def unit_of(tree: Tree) -> Column | None:
    """The first column that holds the unit."""
    return next((each for each in tree.columns if each.sort is Sort.UNIT), None)


class Trees:
    """Draws trees; every column gets a number of its own."""

    def __init__(self, rng: random.Random, expressions: Expressions) -> None:
        self.rng, self.expressions, self.schema = rng, expressions, expressions.schema
        self._numbers = itertools.count()
        self.subs: list[Sub] = []

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
            return self.table(self.schema.private[self.rng.choice(self.schema.starts)])
        steps = (self.filtered, self.projected, self.with_public, self.on_unit, self.along_keys)
        more = (self.union, self.per_unit, self.distinct, self.windowed, self.chosen, self.valued)
        [step] = self.rng.choices((*steps, *more), (3, 3, 6, 4, 4, 3, 6, 1, 4, 5, 2))
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
            sort, text = self.expressions.value(tree.columns, 2)
            found.append((self.fresh(sort), text))
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
            sort, text = self.expressions.value(source.columns, 1)
            keys.append((self.fresh(sort), text))
        calls = tuple(self.call(source) for _ in range(self.rng.randint(1, 3)))
        having = f"COUNT(*) >= {self.rng.choice((0, 1, 2))}" if self.rng.random() < 0.25 else ""
        return PerUnit(source, tuple(keys), calls, having)

    def call(self, source: Tree) -> Item:
        """An aggregate over one unit's rows."""
        rng, scope = self.rng, source.columns
        only = f" FILTER (WHERE {self.expressions.condition(scope)})" if rng.random() < 0.25 else ""
        name = rng.choice(("COUNT", "COUNT", "SUM", "SUM", "SUM", "AVG", "AVG", "MIN", "MAX", "COUNT_IF"))
        if name == "COUNT_IF":
            condition = self.expressions.condition(scope)
            if self.expressions.calm:  # COUNT_IF over nothing is NULL in DuckDB, and 0 here
                return self.fresh(Sort.INTEGER, True), f"COUNT(*) FILTER (WHERE {condition})"
            return self.fresh(Sort.INTEGER, True), f"COUNT_IF({condition}){only}"
        if name == "COUNT":
            what = "*" if rng.random() < 0.5 else self.expressions.value(scope, 1)[1]
            return self.fresh(Sort.INTEGER, True), f"COUNT({what}){only}"
        if name in ("MIN", "MAX"):
            plain = [each for each in scope if each.sort in SHOWN]
            if plain and rng.random() < 0.5:
                one = rng.choice(plain)
                return self.fresh(one.sort, one.bounded), f"{self.picked(name, one.token, scope)}{only}"
            sort, text = self.expressions.value(scope, 1)
            return self.fresh(sort), f"{self.picked(name, text, scope)}{only}"
        if not self.expressions.calm and rng.random() < 0.25:
            name = rng.choice(("VAR_POP", "STDDEV", "COVAR_POP", "COVAR_SAMP", "CORR", "REGR_AVGX"))
            second = "" if name in ("VAR_POP", "STDDEV") else f", {self.summand(scope)}"
            return self.fresh(Sort.FLOAT, True), f"{name}({self.summand(scope)}{second}){only}"
        return self.fresh(Sort.FLOAT, True), f"CAST({name}({self.summand(scope)}){only} AS DOUBLE)"

    def picked(self, least: str, value: str, scope: tuple[Column, ...]) -> str:
        """MIN or MAX of a value, or the value of one row in an order that often leaves ties.

        Plain DuckDB breaks them by place. What is drawn later does not depend on the choice.
        """
        plain = [each.token for each in scope if each.sort in SHOWN]
        aside = random.Random(f"{least} {value} {len(plain)}")
        if self.expressions.calm or not plain or aside.random() < 0.2:
            return f"{least}({value})"
        by, direction = aside.choice(plain), aside.choice(("", " DESC", " NULLS FIRST", " DESC NULLS FIRST"))
        beside = ("ARG_MIN", "ARG_MAX", "min_by", "ARG_MIN_NULL", "arg_max_nulls_last")
        forms = (
            *(f"{name}({value}, {by})" for name in beside),
            *(f"{name}({value} ORDER BY {by}{direction})" for name in ("FIRST", "LAST", "ANY_VALUE", "MODE")),
            *(f"{name}({value})" for name in ("MODE", "MODE", "MODE", "ARBITRARY")),
        )
        return aside.choice(forms)

    def summand(self, scope: tuple[Column, ...]) -> str:
        """A bounded number; floats as they are first, whose sums depend on the order of the rows."""
        plain = [each.token for each in scope if each.bounded and each.sort is Sort.FLOAT]
        if plain and self.rng.random() < 0.7:
            return self.rng.choice(plain)
        return self.expressions.bounded(scope)

    # ---- two trees ---------------------------------------------------------------------------------

    def joined(self, kind: str, left: Tree, right: Tree, on: list[str]) -> Join:
        """The join; a unit of the side that is not kept is no unit of its rows."""
        ours, theirs = left.columns, right.columns
        if kind in ("LEFT", "FULL"):
            theirs = tuple(self._lost(each) for each in theirs)
        if kind in ("RIGHT", "FULL"):
            ours = tuple(self._lost(each) for each in ours)
        if kind in ("SEMI", "ANTI"):
            theirs = ()
        return Join(kind, left, right, tuple(on), (*ours, *theirs))

    def _lost(self, column: Column) -> Column:
        """Now and then it is taken for the unit all the same."""
        if column.sort is not Sort.UNIT or self.rng.random() < 0.1:
            return column
        return replace(column, sort=Sort.IDENTITY, key="")

    def kind(self) -> str:
        often = ("INNER", "INNER", "INNER", "LEFT", "LEFT", "FULL", "FULL", "FULL")
        return self.rng.choice((*often, "RIGHT", "SEMI", "ANTI"))

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
        chains = self.schema.chains
        if not chains:
            return self.filtered(depth)
        chain = chains[int(self.rng.random() * len(chains))]
        start = self.rng.randrange(len(chain) - 1)
        left: Tree = self._maybe_filtered(self.table(self.schema.private[chain[start]]))
        for name in chain[start + 1 : start + 1 + self.rng.choice((1, 1, 2, 3))]:
            right = self._maybe_filtered(self.table(self.schema.private[name]))
            pairs = [(a, b) for a in left.columns for b in right.columns]
            shared = [(a, b) for a, b in pairs if a.key and a.key == b.key]
            shared = shared or [(a, b) for a, b in pairs if a.sort is b.sort is Sort.UNIT]
            if not shared:
                break
            on = self.also(left, right, [_equal(self.rng, *self.rng.choice(shared))])
            left = self.joined(self.kind() if self.rng.random() < 0.6 else "INNER", left, right, on)
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
            for _, column, public, theirs in self.schema.natural
            for ours in left.columns
            if ours.name == column
        ]
        if inviting and self.rng.random() < 0.8:
            ours, name, theirs = self.rng.choice(inviting)
            right: Tree = self.table(self.schema.public[name], public=True)
            other = next(each for each in right.columns if each.name == theirs)
            on = [f"{ours.token} {self.rng.choice(('=', '=', '=', '>='))} {other.token}"]
        else:
            public = self.schema.public
            right = (
                self.listed()
                if self.rng.random() < 0.4 or not public
                else self.table(public[self.rng.choice(tuple(public))], public=True)
            )
            on = []
            column = self.expressions.column(right.columns, *SHOWN)
            if column is not None and self.rng.random() < 0.8:
                value = self.expressions.draw(left.columns, column.sort, 1)
                on = [f"{value} {self.rng.choice(('=', '<='))} {column.token}"]
        kind = self.rng.choice(("INNER", "INNER", "LEFT", "INNER", "LEFT", "SEMI", "ANTI"))
        return self.joined(kind, left, right, on or ["true"])

    def listed(self) -> Tree:
        """Public rows that the analyst writes out."""
        rows = "(VALUES (1, 'A', 1.5), (1, 'Oslo', 2.5), (3, 'checkup', -1), (NULL, NULL, NULL))"
        if self.rng.random() < 0.3:
            return Table(
                f"range({self.rng.randint(1, 9)})", (self.fresh(Sort.INTEGER, True, "r"),), public=True
            )
        names = ((Sort.INTEGER, "i"), (Sort.TEXT, "t"), (Sort.DECIMAL, "d"))
        return Table(rows, tuple(self.fresh(sort, False, name) for sort, name in names), public=True)

    def union(self, depth: int) -> Tree:
        left = self.draw(depth - 1)
        right = self.draw(0) if self.rng.random() < 0.5 else left
        ours, theirs = self.unit(left), self.unit(right)
        if ours is None or theirs is None:
            return left
        sorts = [self.rng.choice(SHOWN) for _ in range(self.rng.randint(1, 3))]
        sides = list[Project]()
        for tree, unit in ((left, ours), (right, theirs)):
            items = [(self.fresh(Sort.UNIT), unit.token)]
            items += [(self.fresh(sort), self.expressions.draw(tree.columns, sort, 1)) for sort in sorts]
            sides.append(Project(tree, tuple(items)))
        words = ("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL")
        return Union(sides[0], sides[1], self.rng.choice(words))

    # ---- windows and subqueries --------------------------------------------------------------------

    def windowed(self, depth: int) -> Tree:
        """Rows beside others of their unit, now and then the first ones alone."""
        source = self.draw(depth - 1)
        unit = self.unit(source)
        if unit is None:
            return source
        items = tuple(self.window(source, unit) for _ in range(self.rng.choice((1, 1, 2))))
        qualify = ""
        if self.rng.random() < 0.4:
            number = "RANK()" if self.expressions.calm else "ROW_NUMBER()"  # DuckDB picks among ties
            qualify = f"{number} OVER ({self.over(source, unit)}) <= {self.rng.choice((1, 1, 2, 5))}"
        return Windowed(source, items, qualify)

    def over(self, source: Tree, unit: Column) -> str:
        """PARTITION BY the unit, perhaps more, and an order that may leave ties."""
        parts = [unit.token]
        if self.rng.random() < 0.3:
            parts.append(self.expressions.value(source.columns, 1)[1])
        order = [self.expressions.draw(source.columns, self.rng.choice(SHOWN), 0) for _ in range(2)]
        ways = [f"{each}{self.rng.choice(('', ' DESC', ' NULLS FIRST'))}" for each in order]
        return f"PARTITION BY {', '.join(parts)} ORDER BY {', '.join(ways[: self.rng.choice((1, 1, 2))])}"

    def window(self, source: Tree, unit: Column) -> Item:
        rng, scope = self.rng, source.columns
        over = self.over(source, unit)
        name = rng.choice(("place", "place", "value", "value", "total", "total", "running"))
        if self.expressions.calm and name in ("value", "running"):
            name = "total"
        if name == "place":
            ranks = ("RANK()", "DENSE_RANK()")
            function = rng.choice(ranks if self.expressions.calm else (*ranks, "ROW_NUMBER()", "NTILE(2)"))
            return self.fresh(Sort.INTEGER, True), f"{function} OVER ({over})"
        if name == "value":
            plain = self.expressions.column(scope, *SHOWN)
            if plain is not None:
                function = rng.choice(("LAG({})", "LEAD({}, 2)", "FIRST_VALUE({})", "LAST_VALUE({})"))
                text = f"{function.format(plain.token)} OVER ({over})"
                return self.fresh(plain.sort, plain.bounded), text
        whole = f"PARTITION BY {unit.token}"
        totals = ("SUM", "AVG", "MIN", "MAX", *(() if self.expressions.calm else ("STDDEV_POP", "VAR_SAMP")))
        call = f"{rng.choice(totals)}({self.summand(scope)})"
        frame = rng.choice(("", " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"))
        text = f"{call} OVER ({whole if name == 'total' else over + frame})"
        return self.fresh(Sort.FLOAT, True), f"CAST({text} AS DOUBLE)"

    def _sub(self, form: str, tree: Tree, item: str, where: str, outer: tuple[Column, ...]) -> str:
        self.subs.append(Sub(form, tree, item, where, outer))
        return self.subs[-1].token(len(self.subs) - 1)

    def chosen(self, depth: int) -> Tree:
        """Rows whose unit has, or has not, certain rows elsewhere; rows held against a released number."""
        source = self.draw(depth - 1)
        inner = self.draw(self.rng.choice((0, 0, 1)))
        ours, theirs = self.unit(source), self.unit(inner)
        if ours is None or theirs is None:
            return source
        chance, no = self.rng.random(), self.rng.choice(("", "NOT "))
        if chance < 0.4:
            mean = f"AVG({self.expressions.bounded(inner.columns)})"
            number = self.expressions.draw(source.columns, self.rng.choice(NUMBERS), 0)
            stage = self._sub("({})", inner, mean, "", ())
            return Filter(source, f"{number} {self.rng.choice(('<', '>='))} {stage}")
        if chance < 0.7:
            where = f"{theirs.token} = {ours.token}"
            if self.rng.random() < 0.4:
                where += f" AND {self.expressions.condition(inner.columns)}"
            return Filter(source, self._sub(f"{no}EXISTS ({{}})", inner, "1", where, (ours,)))
        where = self.expressions.condition(inner.columns) if self.rng.random() < 0.5 else ""
        return Filter(source, f"{ours.token} {self._sub(f'{no}IN ({{}})', inner, theirs.token, where, ())}")

    def valued(self, depth: int) -> Tree:
        """A number of the unit's own rows elsewhere, as a column."""
        source = self.draw(depth - 1)
        inner = self.draw(0)
        ours, theirs = self.unit(source), self.unit(inner)
        if ours is None or theirs is None:
            return source
        calls = ("COUNT(*)", "COUNT(*)", f"AVG({self.expressions.bounded(inner.columns)})")
        equal = f"{theirs.token} = {ours.token}"
        value = self._sub("({})", inner, self.rng.choice(calls), equal, (ours,))
        return Project(
            source, (*self.items(source, 2), (self.fresh(Sort.FLOAT, True), f"CAST({value} AS DOUBLE)"))
        )


def _equal(rng: random.Random, one: Column, other: Column) -> str:
    first, second = (one, other) if rng.random() < 0.7 else (other, one)
    return f"{first.token} = {second.token}"
