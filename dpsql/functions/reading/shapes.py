"""The shapes that calls have in sqlglot's tree, and how each becomes a Reading.

    of("substring", "this", "start", "length")    the settings in order are the arguments
    chain("and", exp.And)                         a AND b AND c, which comes nested to the left

sqlglot gives a node more settings than we know: one that is set and not understood makes it unread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from dpsql.ir.column import Type


@dataclass(frozen=True, slots=True)
class Reading:
    """A function and its arguments, not read yet; ``type`` is the target of a cast."""

    name: str
    arguments: tuple[exp.Expr, ...]
    type: Type | None = None


Reader = Callable[[exp.Expr], "Reading | None"]
Readers = dict[type[exp.Expr], Reader]


def only(node: exp.Expr, *keys: str) -> bool:
    """Whether nothing but these settings is set."""
    return all(key in keys or value in (None, False, []) for key, value in node.args.items())


def of(name: str, *keys: str, ignored: tuple[str, ...] = ()) -> Reader:
    """The settings ``keys`` in order are the arguments; a list among them is spread out."""

    def reader(node: exp.Expr) -> Reading | None:
        if not only(node, *keys, *ignored):
            return None
        found: list[exp.Expr] = []
        for key in keys:
            value = node.args.get(key)
            values = value if isinstance(value, list) else [] if value is None else [value]
            if not all(isinstance(each, exp.Expr) for each in values):
                return None
            found += values
        return Reading(name, tuple(found))

    return reader


def binary(name: str) -> Reader:
    return of(name, "this", "expression")


def chain(name: str, kind: type[exp.Expr]) -> Reader:
    """AND, OR and || of many sides, which come nested to the left."""

    def reader(node: exp.Expr) -> Reading | None:
        parts: list[exp.Expr] = []
        while type(node) is kind:
            if not only(node, "this", "expression", "safe"):
                return None
            parts.append(node.expression)
            node = node.this
        return Reading(name, (node, *reversed(parts)))

    return reader


def negated(reader: Reader) -> Reader:
    """LIKE carries its NOT inside."""

    def negated(node: exp.Expr) -> Reading | None:
        if not node.args.get("negate"):
            return reader(node)
        plain = node.copy()
        plain.set("negate", None)
        return Reading("not", (plain,))

    return negated
