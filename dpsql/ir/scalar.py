"""Scalars: a value computed from one row.

    Call("*", (Ref("price"), Call("-", (Literal(1), Ref("discount")))))

A scalar only names its functions. Their meaning, their range of values and how they are made total are
defined in ``functions/``. Spans are ignored in comparisons.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from dpsql.ir.column import Type, Value
from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Ref:
    """A column of the input, by its name there."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant of the query, or a parameter."""

    value: Value
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function of ``functions/``. ``type`` is the target of a cast, else None."""

    function: str
    arguments: tuple[Scalar, ...]
    type: Type | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


Scalar: TypeAlias = Ref | Literal | Call

MOST_NODES = 2_000
"""Parts of the longest expression that is written out over what lies below, where it may double each time."""


def refs(scalar: Scalar) -> frozenset[str]:
    """Return the names of all columns that a scalar reads."""
    match scalar:
        case Ref(name):
            return frozenset((name,))
        case Literal():
            return frozenset()
        case Call(_, arguments):
            return frozenset().union(*(refs(argument) for argument in arguments))


def has_more_nodes(scalar: Scalar, most: int) -> bool:
    """Whether a scalar, written out, has more than so many parts; those that it shares count each time."""
    left, waiting = most, [scalar]
    while waiting and left >= 0:
        found = waiting.pop()
        left -= 1
        if isinstance(found, Call):
            waiting += found.arguments
    return left < 0


def replace_refs(scalar: Scalar, by: dict[str, Scalar]) -> Scalar:
    """Replace columns by scalars; names not in ``by`` stay."""
    match scalar:
        case Ref(name):
            return by.get(name, scalar)
        case Literal():
            return scalar
        case Call(function, arguments, type, span):
            return Call(function, tuple(replace_refs(argument, by) for argument in arguments), type, span)


def conjuncts(scalar: Scalar) -> tuple[Scalar, ...]:
    """Split a condition at AND. ``a AND b OR a AND c`` is ``a AND (b OR c)``, with NULL too."""
    match scalar:
        case Call("and", arguments):
            return tuple(part for argument in arguments for part in conjuncts(argument))
        case Call("or", arguments, type, span):
            branches = [conjuncts(argument) for argument in arguments]
            common = [part for part in branches[0] if all(part in branch for branch in branches)]
            rest = [tuple(part for part in branch if part not in common) for branch in branches]
            if not common:
                return (scalar,)
            if not all(rest):  # a OR a AND b
                return tuple(common)
            left = tuple(parts[0] if len(parts) == 1 else Call("and", parts) for parts in rest)
            return (*common, Call("or", left, type, span))
        case _:
            return (scalar,)
