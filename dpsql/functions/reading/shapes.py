"""Readers for common shapes of calls in a sqlglot tree.

    of("substring", "this", "start", "length")    these args of the node, in order, are the arguments
    chain("and", exp.And)                         a AND b AND c, which sqlglot nests to the left

A node may have args that a reader does not know: if one of them is set, the node is not read.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dpsql.ir.column import Type
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Reading:
    """A function with the syntax of its arguments; ``type`` is the target of a cast."""

    name: str
    arguments: tuple[exp.Expr, ...]
    type: Type | None = None


Reader = Callable[[exp.Expr], "Reading | None"]
Readers = dict[type[exp.Expr], Reader]


def only(node: exp.Expr, *keys: str) -> bool:
    """Whether no other args of the node are set."""
    return all(key in keys or value in (None, False, []) for key, value in node.args.items())


def of(name: str, *keys: str, ignored: tuple[str, ...] = ()) -> Reader:
    """Return a reader that takes the args ``keys`` in order as arguments; lists are flattened."""

    def reader(node: exp.Expr) -> Reading | None:
        if not only(node, *keys, *ignored):
            return None
        arguments: list[exp.Expr] = []
        for key in keys:
            value = node.args.get(key)
            values = value if isinstance(value, list) else [] if value is None else [value]
            if not all(isinstance(value, exp.Expr) for value in values):
                return None
            arguments += values
        return Reading(name, tuple(arguments))

    return reader


def binary(name: str) -> Reader:
    return of(name, "this", "expression")


def chain(name: str, kind: type[exp.Expr]) -> Reader:
    """Return a reader that flattens AND, OR or ||, which sqlglot nests to the left."""

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
    """Return a reader for LIKE, which stores NOT as an arg of its own."""

    def negated(node: exp.Expr) -> Reading | None:
        if not node.args.get("negate"):
            return reader(node)
        plain = node.copy()
        plain.set("negate", None)
        return Reading("not", (plain,))

    return negated
