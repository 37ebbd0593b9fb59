"""Result types of mixed arguments, by the rules of DuckDB 2.0.

SMALLINT + 1        SMALLINT        a literal takes the other side's type if it fits
UINTEGER + INTEGER  BIGINT
DECIMAL(9,2) + 1    DECIMAL(13,2)   an INTEGER counts as a DECIMAL(10,0)
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
"""The maximum number of digits of a DECIMAL."""


def signed(type: Type) -> bool:
    return type.sql in _BITS


def bits(type: Type) -> int:
    return _BITS[type.sql if signed(type) else type.sql[1:]]


def decimal(width: int, scale: int) -> Type:
    return Type(Kind.DECIMAL, f"DECIMAL({width},{scale})")


def digits(type: Type) -> tuple[int, int]:
    """Return width and scale of a DECIMAL, or of the DECIMAL that an integer type is cast to."""
    if type.kind is Kind.DECIMAL:
        return decimal_size(type)
    return (20 if type.sql == "UBIGINT" else _DIGITS[bits(type)]), 0


def integer_type(value: int) -> Type | None:
    """Return the first type that holds an integer literal; None if none does."""
    for candidate in (INTEGER, BIGINT, HUGEINT, UHUGEINT):
        if holds(candidate, Interval(value, value)):
            return candidate
    return None


def holds(type: Type, interval: Interval) -> bool:
    """Whether the type holds every number of the interval."""
    type_interval = type_range(type)
    return type_interval.low <= interval.low and interval.high <= type_interval.high


def adapts(literal: Literal | None) -> bool:
    """Whether a literal is an integer of its natural type, which takes the type of its neighbour."""
    return (
        literal is not None
        and isinstance(literal.value, int)
        and not isinstance(literal.value, bool)
        and integer_type(literal.value) == literal.type
    )


def sum_of_integers(left: Type, right: Type) -> Type:
    """Return the type in which DuckDB adds, multiplies and divides two integers."""
    if signed(left) == signed(right):
        return left if bits(left) >= bits(right) else right
    plus, minus = (right, left) if signed(left) else (left, right)
    if bits(minus) > bits(plus):
        return minus
    return {128: DOUBLE, 64: HUGEINT}.get(bits(plus), BIGINT)


def both_integers(left: Type, right: Type) -> Type:
    """Return the integer type that holds the values of both."""
    if signed(left) == signed(right):
        return left if bits(left) >= bits(right) else right
    plus, minus = (right, left) if signed(left) else (left, right)
    return minus if bits(minus) > bits(plus) else _SIGNED[min(128, 2 * bits(plus))]


def adapted_types(left: Argument, right: Argument) -> tuple[Type, Type]:
    """Return the two integer types; a literal takes the type of the other side if it fits."""
    if adapts(left.literal) != adapts(right.literal):
        constant, neighbour = (left, right) if adapts(left.literal) else (right, left)
        if holds(neighbour.type, range_of(constant.fact)):
            return neighbour.type, neighbour.type
    return left.type, right.type


def common_type(arguments: Sequence[Argument], compared: bool = False) -> Type:
    """Return the type of CASE, COALESCE and GREATEST, or the type of a comparison.

    If a DECIMAL would need more than 38 digits, a value loses decimal places; a comparison loses none.
    """
    common: Type = NULL
    constants = [argument for argument in arguments if adapts(argument.literal)]
    for argument in arguments:
        if not adapts(argument.literal):
            common = _common_of_two(common, argument.type, compared)
    for constant in constants:
        if common.kind is not Kind.INTEGER or not holds(common, range_of(constant.fact)):
            common = _common_of_two(common, constant.type, compared)
    return common


def _common_of_two(left: Type, right: Type, compared: bool) -> Type:
    for first, second in ((left, right), (right, left)):
        if Kind.OPAQUE in (first.kind, second.kind):
            break
        if Kind.INTERVAL in (first.kind, second.kind) and not compared:
            break
        if first == second or second.kind is Kind.NULL:
            return first
        match first.kind, second.kind:
            case Kind.INTEGER, Kind.INTEGER:
                return both_integers(first, second)
            case Kind.BOOLEAN, Kind.INTEGER:
                return second
            case Kind.DECIMAL, Kind.DECIMAL | Kind.INTEGER:
                (w1, s1), (w2, s2) = digits(first), digits(second)
                scale, before_point = max(s1, s2), max(w1 - s1, w2 - s2)
                if not compared and first.kind is second.kind:
                    scale = min(scale, WIDEST - before_point)
                return decimal(min(WIDEST, before_point + scale), scale)
            case Kind.FLOAT, Kind.FLOAT:
                return DOUBLE
            case Kind.FLOAT, Kind.INTEGER | Kind.DECIMAL:
                return first
            case Kind.TEXT, Kind.TEXT:
                return VARCHAR
            case (Kind.DATE, Kind.TIMESTAMP) if second == TIMESTAMP:
                return TIMESTAMP
    raise ArgumentError(f"{named(left)} and {named(right)} cannot be combined", _remedy(left, right))


def named(type: Type) -> str:
    """Return the name of a type for messages."""
    return "NULL" if type == NULL else "an ENUM" if type.said == "ENUM" else type.said


def _remedy(left: Type, right: Type) -> str:
    for first, second in ((left, right), (right, left)):
        if first == VARCHAR and second.kind is not Kind.OPAQUE:
            return f"write CAST(... AS {second.sql}) around the text"
    if Kind.INTERVAL in (left.kind, right.kind):
        return "compare it with an INTERVAL: x > INTERVAL 3 DAY; or take its length in seconds: epoch(x)"
    if BOOLEAN in (left, right):
        return "write CASE WHEN ... THEN 1 ELSE 0 END"
    return "write CAST(... AS ...) around one of them"
