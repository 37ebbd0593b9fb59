"""Place of a value among constants of an ordered type, and the result of comparisons there.

10, 20     place 0 is below 10, 1 at 10, 2 between them, 3 at 20, 4 above
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from dpsql.functions import Argument, ArgumentError
from dpsql.functions.core.comparison import comparison_type
from dpsql.functions.core.conversion import sure
from dpsql.functions.core.literals import coerce, constant
from dpsql.functions.core.ranges import ordinal
from dpsql.functions.core.types import bits
from dpsql.ir.column import DOUBLE, TIMESTAMP, Fact, Kind, Type, decimal_size
from dpsql.ir.scalar import Literal

Truth: TypeAlias = bool | None
Place: TypeAlias = int | None
"""2 i + 1 is at the i-th constant, 2 i below it and above the one before; None is NULL."""

Constant: TypeAlias = Fraction | str

NAN = Fraction(2**2000)
"""NaN sorts above infinity, so above every finite constant."""


def constants_of(type: Type, literals: Sequence[Literal]) -> list[Constant | None] | None:
    """Return the constants in the type's order; None where the comparison does not distinguish all values."""
    column = Argument(Fact(type))
    try:
        target = comparison_type((column, *(constant(literal) for literal in literals)))
    except ArgumentError:
        return None
    if not _exact(column, target):
        return None
    constants: list[Constant | None] = []
    for literal in literals:
        read = coerce(literal, target)
        if read is None:
            return None
        if read.value is None:
            constants.append(None)
            continue
        ordered = _ordered(read, literal)
        if ordered is None:
            return None
        constants.append(ordered)
    return constants


def _exact(column: Argument, target: Type) -> bool:
    """Whether the conversion keeps all values of the column's type distinct and in order."""
    if not sure(column, target):
        return False
    match column.kind, target.kind:
        case Kind.INTEGER | Kind.DECIMAL, Kind.INTEGER | Kind.DECIMAL:
            return True
        case Kind.INTEGER, Kind.FLOAT:
            return target == DOUBLE and bits(column.type) <= 32
        case Kind.FLOAT, Kind.FLOAT:
            return target == DOUBLE
        case Kind.TIMESTAMP, Kind.TIMESTAMP:
            return column.type == target == TIMESTAMP
        case Kind.TEXT, Kind.TEXT:
            return True
        case from_kind, to_kind:
            return from_kind is to_kind and from_kind in (Kind.DATE, Kind.BOOLEAN, Kind.TIMESTAMPTZ)


def _ordered(read: Literal, written: Literal) -> Constant | None:
    """Return a constant in its type's order; None where two engines may read it differently."""
    match read.value:
        case str() as text if read.type.kind is Kind.TEXT:
            return text
        case bool() | int() | Decimal() as number:
            return Fraction(number)
        case float() as number if math.isfinite(number):
            digits = abs(Fraction(written.value)) if isinstance(written.value, int | Decimal) else Fraction(0)
            scale = decimal_size(written.type)[1] if written.type.kind is Kind.DECIMAL else 0
            return Fraction(number) if digits * 10**scale < 2**53 and scale <= 22 else None
        case datetime.date() as day:
            return Fraction(ordinal(day))
        case _:
            return None


def one_compared(sign: str, place: Place, bound: Place) -> Truth:
    """Compare one place with another, as SQL compares values."""
    if place is None or bound is None:
        return None
    match sign:
        case "=":
            return place == bound
        case "<>":
            return place != bound
        case "<":
            return place < bound
        case "<=":
            return place <= bound
        case ">":
            return place > bound
        case _:
            return place >= bound
