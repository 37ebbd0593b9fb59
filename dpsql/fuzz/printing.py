"""A tree as an analyst would write it: one of many hands, drawn at random.

    Filter(Join(visits, patients))

    SELECT * FROM visits AS v JOIN patients AS p USING (patient_id) WHERE ...
    SELECT * FROM (SELECT * FROM visits) AS s, patients AS p WHERE ... AND ...
    WITH w AS (SELECT ...) ...

What one hand writes as a subquery another one writes with WITH, or in one SELECT.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import field

from dpsql.fuzz.relations import Filter, Item, Join, PerUnit, Project, Sub, Table, Tree, Union, Windowed
from dpsql.fuzz.scalars import TOKEN, Column
from dpsql.lazy_dataclass import dataclass

Names = dict[int, str]
SUB = re.compile(r"⟪(\d+):([^⟫]*)⟫")


@dataclass(slots=True)
class Block:
    """FROM and WHERE, and how every column is called over them. After a comma no JOIN follows."""

    source: str
    names: Names
    hand: Hand
    where: list[str] = field(default_factory=list)
    comma: bool = False

    def fill(self, text: str) -> str:
        """The expression over this block, subqueries in it written out."""
        named = TOKEN.sub(lambda found: self.names[int(found[1])], text)
        return SUB.sub(lambda found: self.hand.subquery(int(found[1]), found[2].split(",")), named)

    def tail(self) -> str:
        where = f" WHERE {' AND '.join(f'({each})' for each in self.where)}" if self.where else ""
        return f" FROM {self.source}{where}"


class Hand:
    """One way to write a query. ``needed`` are the columns that something above reads."""

    def __init__(self, rng: random.Random, subs: Sequence[Sub]) -> None:
        self.rng, self.subs = rng, subs
        self.ctes: list[str] = []
        self._names = itertools.count(1)
        self._nests = rng.random() * 0.5
        self._names_parts = rng.random() * 0.5
        self._commas = rng.choice((0.0, 0.0, 0.5))
        self._using = rng.random()

    def query(self, select: str) -> str:
        return f"WITH {', '.join(self.ctes)} {select}" if self.ctes else select

    def subquery(self, number: int, outer: list[str]) -> str:
        """A subquery, with the names that its ties have around it."""
        sub = self.subs[number]
        around = {column.number: name for column, name in zip(sub.outer, outer, strict=False)}
        found = self.block(sub.tree, (numbers(sub.item) | numbers(sub.where)) - around.keys())
        found.names |= around
        if sub.where:
            found.where.append(found.fill(sub.where))
        return sub.form.format(f"SELECT {found.fill(sub.item)}{found.tail()}")

    def block(self, tree: Tree, needed: frozenset[int]) -> Block:
        """The tree as FROM and WHERE, written into one SELECT where that means the same."""
        match tree:
            case Filter(source, condition) if self.rng.random() > self._nests:
                found = self.block(source, needed | numbers(condition))
                found.where.append(found.fill(condition))
                return found
            case Join() if self.rng.random() > self._nests / 2:
                return self._join(tree, needed)
            case _:
                return self.item(tree, needed)

    def item(self, tree: Tree, needed: frozenset[int]) -> Block:
        """The tree as one thing in FROM."""
        alias = f"{self.rng.choice('tsqr')}{next(self._names)}"
        if isinstance(tree, Table):
            plain = "(" in tree.name or '"' in tree.name or self.rng.random() < 0.9
            name = tree.name if plain else _capitals(tree.name)
            listed = f"({', '.join(each.name for each in tree.columns)})" if "(" in name else ""
            names = {each.number: f"{alias}.{each.name}" for each in tree.columns}
            return Block(f"{name} AS {alias}{listed}", names, self)
        select, names = self.select(tree, needed)
        called = {number: f"{alias}.{name}" for number, name in names.items()}
        if self.rng.random() < self._names_parts:
            self.ctes.append(f"w{alias} AS ({select})")
            return Block(f"w{alias} AS {alias}", called, self)
        if self.rng.random() < 0.1 and "*" not in select.partition(" FROM ")[0]:
            new = [f"n{i}" for i in range(len(names))]
            called = {number: f"{alias}.{name}" for number, name in zip(names, new, strict=True)}
            return Block(f"({select}) AS {alias}({', '.join(new)})", called, self)
        return Block(f"({select}) AS {alias}", called, self)

    def _join(self, join: Join, needed: frozenset[int]) -> Block:
        within = needed.union(*(numbers(each) for each in join.on))
        left = self.block(join.left, within)
        if left.comma or (left.where and join.kind in ("RIGHT", "FULL")):
            left = self.item(join.left, within)
        right = self.item(join.right, within)
        names = left.names | right.names
        both = Block("", names, self, left.where)
        conditions = [both.fill(each) for each in join.on]
        shared = _same_name(conditions)
        if conditions == ["true"] and join.kind == "INNER":
            both.source = f"{left.source} CROSS JOIN {right.source}"
        elif join.kind == "INNER" and self.rng.random() < self._commas:
            both.source, both.comma = f"{left.source}, {right.source}", True
            both.where += conditions
        elif (
            shared
            and " JOIN " not in left.source
            and join.kind != "RIGHT"
            and self.rng.random() < self._using
        ):
            both.source = f"{left.source} {self._word(join.kind)} {right.source} USING ({shared})"
        else:
            on = " AND ".join(conditions if len(conditions) == 1 else (f"({each})" for each in conditions))
            both.source = f"{left.source} {self._word(join.kind)} {right.source} ON {on}"
        return both

    def _word(self, kind: str) -> str:
        if kind in ("SEMI", "ANTI"):
            return f"{kind} JOIN"
        plain = ("JOIN", "INNER JOIN") if kind == "INNER" else (f"{kind} JOIN", f"{kind} OUTER JOIN")
        return self.rng.choice(plain)

    def select(self, tree: Tree, needed: frozenset[int]) -> tuple[str, Names]:
        """The tree as a SELECT, and the names of its output, in order."""
        match tree:
            case Project(source, items, distinct):
                kept = items if distinct else _kept(items, needed)
                found = self.block(source, _read(kept))
                word = "SELECT DISTINCT" if distinct else "SELECT"
                return f"{word} {self._listed(found, kept)}{found.tail()}", _outputs(kept)
            case Union(left, right, word):
                ours, names = self.select(left, frozenset(each.number for each in left.columns))
                theirs, _ = self.select(right, frozenset(each.number for each in right.columns))
                return f"{ours} {word} {theirs}", names
            case PerUnit(source, keys, calls, having):
                items = (*keys, *calls)
                found = self.block(source, _read(items) | numbers(having))
                by = [found.fill(text) for _, text in keys]
                if self.rng.random() < 0.4:
                    by = [str(i + 1) for i in range(len(keys))]
                tail = f"{found.tail()} GROUP BY {', '.join(by)}"
                tail += f" HAVING {found.fill(having)}" if having else ""
                return f"SELECT {self._listed(found, items)}{tail}", _outputs(items)
            case Windowed(source, items, qualify):
                kept = tuple(each for each in items if each[0].number in needed)
                plain = _wanted(source.columns, needed)
                own = frozenset(each.number for each in plain)
                found = self.block(source, own | _read(kept) | numbers(qualify))
                every = (*((each, each.token) for each in plain), *kept)
                outputs = {column.number: f"c{column.number}" for column, _ in every}
                listed = ", ".join(f"{found.fill(text)} AS c{column.number}" for column, text in every)
                tail = f" QUALIFY {found.fill(qualify)}" if qualify else ""
                return f"SELECT {listed}{found.tail()}{tail}", outputs
            case _:
                columns = _wanted(tree.columns, needed)
                found = self.block(tree, frozenset(each.number for each in columns))
                if isinstance(tree, Table) or (isinstance(tree, Filter) and isinstance(tree.source, Table)):
                    return f"SELECT *{found.tail()}", {each.number: each.name for each in tree.columns}
                outputs = {each.number: f"c{each.number}" for each in columns}
                listed = ", ".join(f"{found.names[n]} AS {name}" for n, name in outputs.items())
                return f"SELECT {listed}{found.tail()}", outputs

    def _listed(self, block: Block, items: Iterable[Item]) -> str:
        return ", ".join(f"{block.fill(text)} AS {column.name}" for column, text in items)


def numbers(text: str) -> frozenset[int]:
    """The columns that an expression reads."""
    return frozenset(int(each) for each in TOKEN.findall(text))


def _read(items: Iterable[Item]) -> frozenset[int]:
    return frozenset().union(*(numbers(text) for _, text in items))


def _outputs(items: Iterable[Item]) -> Names:
    return {column.number: column.name for column, _ in items}


def _kept(items: tuple[Item, ...], needed: frozenset[int]) -> tuple[Item, ...]:
    return tuple(each for each in items if each[0].number in needed) or items[:1]


def _wanted(columns: tuple[Column, ...], needed: frozenset[int]) -> tuple[Column, ...]:
    return tuple(each for each in columns if each.number in needed) or columns[:1]


def _capitals(name: str) -> str:
    return ".".join(f'"{part.upper()}"' for part in name.split("."))


_EQUAL = re.compile(r"\w+\.(\w+) = \w+\.(\w+)")


def _same_name(conditions: list[str]) -> str:
    """The name that USING can say, or nothing."""
    found = _EQUAL.fullmatch(conditions[0]) if len(conditions) == 1 else None
    return found[1] if found is not None and found[1] == found[2] else ""
