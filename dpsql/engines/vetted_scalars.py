"""Print a scalar for an engine that answers what was vetted for it, and refuse the rest before payment."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, assert_never

from dpsql.engines.not_vetted import NotVetted
from dpsql.errors import DatabaseError, refuse
from dpsql.functions import Argument, ArgumentError, Arguments, shelf
from dpsql.functions.core.literals import constant
from dpsql.functions.core.meaning import Lookup, checked, enforced
from dpsql.functions.core.printing import LONGEST, Found, with_ranges
from dpsql.ir.column import Type
from dpsql.ir.scalar import Call, Literal, Ref, Scalar

Called: TypeAlias = Callable[[str, tuple[str, ...], Arguments, "Type | None"], str]
"""Prints a call by the name of its function, or raises NotVetted."""

Render: TypeAlias = Callable[[tuple[str, ...], Arguments, "Type | None"], str]
"""Prints a call of one function, of printed arguments, or raises NotVetted."""

Refused: TypeAlias = Callable[[str, Scalar], DatabaseError]
"""Returns the refusal of what has no vetted text."""


def printed(
    scalar: Scalar,
    lookup: Lookup,
    column: Callable[[str], str],
    literal: Callable[[Literal], str],
    called: Called,
    refused: Refused,
    found: Found | None = None,
) -> tuple[str, Argument]:
    """Print a scalar, with what is known of it by its types, and by the ranges ``found`` of its columns.

    One that is not vetted is refused.
    """
    match scalar:
        case Ref(name):
            return column(name), Argument(enforced(lookup(name)))
        case Literal():
            try:
                return literal(scalar), constant(scalar)
            except NotVetted as error:
                raise refused(error.what, scalar) from None
        case Call(name, scalars, type):
            parts = [printed(each, lookup, column, literal, called, refused, found) for each in scalars]
            arguments, known = with_ranges(scalar, tuple(argument for _, argument in parts), lookup, found)
            known = known or Argument(checked(shelf()[name], arguments, type))
            try:
                sql = called(name, tuple(text for text, _ in parts), arguments, type)
            except NotVetted as error:
                raise refused(error.what, scalar) from None
            except ArgumentError:
                raise refused(f"the function {name} of these values", scalar) from None
            if len(sql) > LONGEST:
                raise refuse(
                    "D103",
                    "this expression is too deeply nested",
                    scalar.span,
                    help="compute parts of it in a subquery",
                )
            return sql, known
        case _:
            assert_never(scalar)


def whole_constant(argument: Argument) -> int | None:
    """Return the whole number that an argument spells out; None where it is none."""
    value = None if argument.literal is None else argument.literal.value
    return value if isinstance(value, int) else None
