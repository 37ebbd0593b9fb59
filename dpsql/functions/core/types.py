"""Which type a mixture of types has, exactly as DuckDB 2.0 finds it.

SMALLINT + 1        SMALLINT        a constant takes the other side's type where it fits
UINTEGER + INTEGER  BIGINT
DECIMAL(9,2) + 1    DECIMAL(13,2)   an INTEGER is a DECIMAL(10,0) here
coalesce(d, 1.5)    the type that holds both
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.functions import Argument, ArgumentError
from dpsql.ir.column import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    HUGEINT,
    NULL,
    TIMESTAMP,
    VARCHAR,
    Interval,
    Kind,
    Type,
    decimal_size,
    range_of,
    type_named,
    type_range,
)
from dpsql.ir.scalar import Literal

FLOAT = type_named("FLOAT")
SMALLINT = type_named("SMALLINT")
TINYINT = type_named("TINYINT")
INTEGER = type_named("INTEGER")
UHUGEINT = type_named("UHUGEINT")

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_SIGNED = {bits: type_named(name) for name, bits in _BITS.items()}
_DIGITS = {8: 3, 16: 5, 32: 10, 64: 19, 128: 38}
WIDEST = 38
"""The most digits of a DECIMAL."""


def signed(type: Type) -> bool:
    return type.sql in _BITS


def bits(type: Type) -> int:
    return _BITS[type.sql if signed(type) else type.sql[1:]]


def decimal(width: int, scale: int) -> Type:
    return Type(Kind.DECIMAL, f"DECIMAL({width},{scale})")


def digits(type: Type) -> tuple[int, int]:
    """Width and scale of a DECIMAL, or of the one that an integer type turns into."""
    if type.kind is Kind.DECIMAL:
        return decimal_size(type)
    return (20 if type.sql == "UBIGINT" else _DIGITS[bits(type)]), 0


def integer_type(value: int) -> Type | None:
    """The type of an integer constant: the first of these that holds it."""
    for each in (INTEGER, BIGINT, HUGEINT, UHUGEINT):
        if holds(each, Interval(value, value)):
            return each
    return None


def holds(type: Type, interval: Interval) -> bool:
    """Whether every number of the interval is a value of the type."""
    whole = type_range(type)
    return whole.low <= interval.low and interval.high <= whole.high


def adapts(literal: Literal | None) -> bool:
    """Whether a constant is an integer just as written, which takes the type of its neighbour."""
    return (
        literal is not None
        and isinstance(literal.value, int)
        and not isinstance(literal.value, bool)
        and integer_type(literal.value) == literal.type
    )


def sum_of_integers(left: Type, right: Type) -> Type:
    """The type in which DuckDB adds, multiplies and divides two integers."""
    if signed(left) == signed(right):
        return left if bits(left) >= bits(right) else right
    plus, minus = (right, left) if signed(left) else (left, right)
    if bits(minus) > bits(plus):
        return minus
    return {128: DOUBLE, 64: HUGEINT}.get(bits(plus), BIGINT)


def both_integers(left: Type, right: Type) -> Type:
    """The integer type that holds the values of both."""
    if signed(left) == signed(right):
        return left if bits(left) >= bits(right) else right
    plus, minus = (right, left) if signed(left) else (left, right)
    return minus if bits(minus) > bits(plus) else _SIGNED[min(128, 2 * bits(plus))]


def adapted(left: Argument, right: Argument) -> tuple[Type, Type]:
    """The two integer types, after a constant has taken the other's where it fits."""
    if adapts(left.literal) != adapts(right.literal):
        constant, other = (left, right) if adapts(left.literal) else (right, left)
        if holds(other.type, range_of(constant.fact)):
            return other.type, other.type
    return left.type, right.type


def common_type(arguments: Sequence[Argument], compared: bool = False) -> Type:
    """The type of CASE, COALESCE, GREATEST; or in which sides are compared.

    Where a DECIMAL would need more than 38 digits, a value loses some behind the point, a comparison none.
    """
    found: Type = NULL
    constants = [each for each in arguments if adapts(each.literal)]
    for each in arguments:
        if not adapts(each.literal):
            found = _both(found, each.type, compared)
    for each in constants:
        if found.kind is not Kind.INTEGER or not holds(found, range_of(each.fact)):
            found = _both(found, each.type, compared)
    return found


def _both(left: Type, right: Type, compared: bool) -> Type:
    for one, other in ((left, right), (right, left)):
        if Kind.OPAQUE in (one.kind, other.kind) or Kind.INTERVAL in (one.kind, other.kind):
            break
        if one == other or other.kind is Kind.NULL:
            return one
        match one.kind, other.kind:
            case Kind.INTEGER, Kind.INTEGER:
                return both_integers(one, other)
            case Kind.BOOLEAN, Kind.INTEGER:
                return other
            case Kind.DECIMAL, Kind.DECIMAL | Kind.INTEGER:
                (w1, s1), (w2, s2) = digits(one), digits(other)
                scale, whole = max(s1, s2), max(w1 - s1, w2 - s2)
                if not compared and one.kind is other.kind:
                    scale = min(scale, WIDEST - whole)
                return decimal(min(WIDEST, whole + scale), scale)
            case Kind.FLOAT, Kind.FLOAT:
                return DOUBLE
            case Kind.FLOAT, Kind.INTEGER | Kind.DECIMAL:
                return one
            case Kind.TEXT, Kind.TEXT:
                return VARCHAR
            case (Kind.DATE, Kind.TIMESTAMP) if other == TIMESTAMP:
                return TIMESTAMP
    raise ArgumentError(f"{named(left)} and {named(right)} do not go together", _way_out(left, right))


def named(type: Type) -> str:
    """The type as a message says it."""
    return "NULL" if type == NULL else "an ENUM" if type.said == "ENUM" else type.said


def _way_out(left: Type, right: Type) -> str:
    for one, other in ((left, right), (right, left)):
        if one == VARCHAR and other.kind is not Kind.OPAQUE:
            return f"write CAST(... AS {other.sql}) around the text"
    if BOOLEAN in (left, right):
        return "write CASE WHEN ... THEN 1 ELSE 0 END"
    return "write CAST(... AS ...) around one of them"
