"""One value computed from one row: a column, a constant, or a function of scalars.

    Call("*", (Ref("price"), Call("-", (Literal(1), Ref("discount")))))

What a function means, which values it can give and how it is made total stands on the shelf
``functions/``; a scalar only names it. A span never takes part in a comparison.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from dpsql.ir.column import Type, Value
from dpsql.ir.source import Span


@dataclass(frozen=True, slots=True)
class Ref:
    """A column of the input, by its name there."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant from the text or a parameter."""

    value: Value
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the shelf. ``type`` is the target of a cast and None elsewhere."""

    function: str
    arguments: tuple[Scalar, ...]
    type: Type | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


Scalar: TypeAlias = Ref | Literal | Call


def refs(scalar: Scalar) -> frozenset[str]:
    """The names of all columns that a scalar reads."""
    match scalar:
        case Ref(name):
            return frozenset((name,))
        case Literal():
            return frozenset()
        case Call(_, arguments):
            return frozenset().union(*(refs(each) for each in arguments))


def replace_refs(scalar: Scalar, by: dict[str, Scalar]) -> Scalar:
    """The scalar with columns replaced; a name not in ``by`` stays."""
    match scalar:
        case Ref(name):
            return by.get(name, scalar)
        case Literal():
            return scalar
        case Call(function, arguments, type, span):
            return Call(function, tuple(replace_refs(each, by) for each in arguments), type, span)


def conjuncts(scalar: Scalar) -> tuple[Scalar, ...]:
    """The parts that AND joins together. ``a AND b OR a AND c`` is ``a AND (b OR c)``, with NULL too."""
    match scalar:
        case Call("and", arguments):
            return tuple(part for each in arguments for part in conjuncts(each))
        case Call("or", arguments, type, span):
            branches = [conjuncts(each) for each in arguments]
            common = [part for part in branches[0] if all(part in each for each in branches)]
            rest = [tuple(part for part in each if part not in common) for each in branches]
            if not common:
                return (scalar,)
            if not all(rest):  # a OR a AND b
                return tuple(common)
            left = tuple(each[0] if len(each) == 1 else Call("and", each) for each in rest)
            return (*common, Call("or", left, type, span))
        case _:
            return (scalar,)
