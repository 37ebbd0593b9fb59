"""Files of drawn statements over the same rows, so that many of them are measured together.

    SELECT ward, COUNT(*) FROM patients WHERE age > 40 GROUP BY ward;
    SELECT COUNT(*) AS a0 FROM patients AS p WHERE (p.smoker OR p.age IS NULL);

A tree for each file: a table, one with a condition, or one that is joined once. Statements count its rows,
or sum one number that all of them sum, under conditions and keys of their own.
"""

from __future__ import annotations

import random

from dpsql.fuzz.queries import Query
from dpsql.fuzz.relations import Tree, Trees
from dpsql.fuzz.scalars import NUMBERS, Expressions
from dpsql.fuzz.schemas import Schema, Sort
from dpsql.lazy_dataclass import dataclass

_LEAST, _MOST = 3, 7
"""How many statements a file has."""


@dataclass(frozen=True, slots=True)
class File:
    """Statements, each as it was drawn and as it was printed."""

    statements: tuple[tuple[Query, str], ...]

    @property
    def text(self) -> str:
        """The file, as analysts write it."""
        lines = (f"-- name: s{place}\n{sql};\n" for place, (_, sql) in enumerate(self.statements))
        return "".join(lines)


class Files:
    """Draws files. Those of a calm world stay under every clip and bound."""

    def __init__(self, rng: random.Random, schema: Schema) -> None:
        self.rng, self.schema, self.expressions = rng, schema, Expressions(rng, schema)

    def draw(self, calm: bool) -> File:
        self.expressions.calm = calm
        trees = Trees(self.rng, self.expressions)
        tree = self._tree(trees)
        number = self._number(tree) if self.rng.random() < 0.4 else None
        drawn = [self._statement(tree, trees, number) for _ in range(self.rng.randint(_LEAST, _MOST))]
        return File(tuple((query, query.printed(self.rng)) for query in drawn))

    def _tree(self, trees: Trees) -> Tree:
        table = trees.draw(0)
        chance = self.rng.random()
        if chance < 0.5:
            return table
        return trees.filtered(1) if chance < 0.7 else self.rng.choice((trees.with_public, trees.on_unit))(1)

    def _number(self, tree: Tree) -> str | None:
        """What all statements of the file sum; None where nothing is bounded."""
        plain = [each.token for each in tree.columns if each.bounded and each.sort in NUMBERS]
        return self.rng.choice(plain) if plain else None

    def _statement(self, tree: Tree, trees: Trees, number: str | None) -> Query:
        rng = self.rng
        where = self.expressions.condition(tree.columns) if rng.random() < 0.7 else ""
        listed = [
            each.token
            for each in tree.columns
            if each.name in self.schema.keys or each.sort in (Sort.BOOLEAN, Sort.ENUM)
        ]
        keys = tuple(rng.sample(listed, min(len(listed), rng.choice((0, 0, 1, 1, 2)))))
        calls = tuple(self._call(tree, number) for _ in range(rng.choice((1, 1, 2, 3))))
        grouping = "CUBE ({0}, {1})" if len(keys) == 2 and rng.random() < 0.2 else ""
        return Query(tree, where, keys, calls, subs=tuple(trees.subs), grouping=grouping)

    def _call(self, tree: Tree, number: str | None) -> str:
        only = ""
        if self.rng.random() < 0.4:
            only = f" FILTER (WHERE {self.expressions.condition(tree.columns, 0)})"
        if number is not None:
            return f"SUM({number}){only}"
        if self.rng.random() < 0.8 or not tree.columns:
            return f"COUNT(*){only}"
        return f"COUNT({self.rng.choice(tree.columns).token}){only}"
