"""Aliases of a select list over private rows, written out where the query uses them, as DuckDB does.

    SELECT cost * 2 AS c, c + 1 AS more    SELECT cost * 2 AS c, (cost * 2) + 1 AS more
    WHERE c > 10                           WHERE (cost * 2) > 10

A column of the same name goes first.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dpsql.bind.expressions.aggregates import has_aggregate
from dpsql.bind.private.conditions import has_query
from dpsql.bind.scope.scope import Scope
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.syntax.output_names import output_name
from dpsql.errors import refuse

MOST_COPIED = 2_000
"""Nodes that aliases of one select list add: each that uses the one before twice doubles them."""


def with_aliases(condition: exp.Expr, node: exp.Select, scope: Scope, aggregates: bool = False) -> exp.Expr:
    """Write out a condition of WHERE, HAVING or QUALIFY; ``aggregates`` say whether it may have some."""
    if not _uses_aliases([condition], node.expressions, scope):
        return condition
    aliases = _Aliases(scope, aggregates)
    for item in node.expressions:
        aliases.add(item)
    return aliases.written_out(condition)


def with_earlier_aliases(items: list[exp.Expr], scope: Scope, aggregates: bool = False) -> list[exp.Expr]:
    """Replace aliases of earlier items of a select list: SELECT cost * 2 AS c, c + 1 AS more."""
    if not _uses_aliases(items, items, scope):
        return items
    aliases, outputs = _Aliases(scope, aggregates), []
    for item in items:
        inner = unaliased(item)
        written = aliases.written_out(inner)
        outputs.append(item if written is inner else exp.alias_(written, output_name(item), quoted=True))
        aliases.add(item)
    return outputs


def _uses_aliases(nodes: list[exp.Expr], items: list[exp.Expr], scope: Scope) -> bool:
    """Whether a name in these nodes may be an alias of the items."""
    names = {item.alias.casefold() for item in items if isinstance(item, exp.Alias)}
    columns = (column for node in nodes for column in _columns(node)) if names else ()
    return any(_may_be_alias(column, scope) and column.name.casefold() in names for column in columns)


def _columns(node: exp.Expr) -> Iterator[exp.Column]:
    """Yield the columns of an expression, but those of its subqueries."""
    for each in node.walk(prune=lambda inner: isinstance(inner, exp.Query)):
        if isinstance(each, exp.Column):
            yield each


def _may_be_alias(column: exp.Column, scope: Scope) -> bool:
    pseudo = column.name.casefold() == "rowid"  # which a table has, though nothing says so
    return not column.table and not scope.find(column.name) and not pseudo


class _Aliases:
    """What the aliases of a select list stand for, each with those before it written out.

    A later alias of the same name takes its place; those of subqueries stand for nothing, and of
    ``aggregates`` where these may be used.
    """

    def __init__(self, scope: Scope, aggregates: bool) -> None:
        self._scope, self._aggregates = scope, aggregates
        self._expressions: dict[str, exp.Expr] = {}
        self._copied = 0

    def add(self, item: exp.Expr) -> None:
        if isinstance(item, exp.Alias):
            inner = self.written_out(item.this)
            if not has_query(inner) and (self._aggregates or not has_aggregate(inner)):
                self._expressions[item.alias.casefold()] = inner

    def written_out(self, node: exp.Expr) -> exp.Expr:
        """Return an expression with its aliases written out; itself if it has none."""
        used = any(self._stands_for(column) is not None for column in _columns(node))
        return self._replaced(node.copy()) if used else node

    def _stands_for(self, column: exp.Column) -> exp.Expr | None:
        return self._expressions.get(column.name.casefold()) if _may_be_alias(column, self._scope) else None

    def _replaced(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Query):
            return node
        if isinstance(node, exp.Column) and (expression := self._stands_for(node)) is not None:
            self._copied += sum(1 for _ in expression.walk())
            if self._copied > MOST_COPIED:
                raise refuse(
                    "D103",
                    f"aliases write out to more than {MOST_COPIED:,} columns and calls",
                    help="compute the columns in a subquery, and use them in the SELECT around it",
                )
            return exp.Paren(this=_moved(expression.copy(), node.this.meta))
        for key, value in list(node.args.items()):
            if isinstance(value, exp.Expr):
                node.set(key, self._replaced(value))
            elif isinstance(value, list):
                node.set(
                    key, [self._replaced(child) if isinstance(child, exp.Expr) else child for child in value]
                )
        return node


def _moved(expression: exp.Expr, place: dict[str, object]) -> exp.Expr:
    """Return an expression as if it were written at the place of its alias: refusals point there."""
    for node in expression.walk():
        if "start" in node.meta:
            node.meta.update(place)
    return expression
