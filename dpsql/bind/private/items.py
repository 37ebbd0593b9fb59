"""The items of FROM, as they are written: tables, subqueries, joins in parentheses, lists that rows hold."""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.scope.sources import Open, Private
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class RowItems:
    """UNNEST of a list that each private row to its left holds."""

    items: exp.Expr
    selected: bool


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """One item of FROM: its source, its alias, and the join that adds it (if any).

    The ``source`` of parenthesised joins is the list of the items in the parentheses.
    """

    source: Private | Open | RowItems | list[Item]
    alias: str
    names: tuple[str, ...]
    node: exp.Expr
    join: exp.Join | None

    @property
    def columns(self) -> tuple[str, ...]:
        """The output names, the first ones renamed by an alias list."""
        assert isinstance(self.source, Open)
        return self.names + self.source.columns[len(self.names) :]

    @property
    def is_open(self) -> bool:
        """Whether it holds no private rows."""
        if isinstance(self.source, list):
            return all(item.is_open for item in self.source)
        return isinstance(self.source, Open)
