"""Column ranges narrowed by conditions that compare columns with constants.

    age BETWEEN 18 AND 65           age in [18, 65]
    kind = 'a' OR kind = 'b'        kind in {'a', 'b'}
    NOT (age > 65 OR age < 18)      age in [18, 65]

A condition is assumed true of every row (WHERE, the branch of a CASE), or false, or not true (a later
branch), which includes NULL. A condition on two columns is ignored, which only widens the result. A
range excludes NULL and NaN.
"""

from __future__ import annotations

import datetime
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TypeAlias

from dpsql.functions import Argument, ArgumentError
from dpsql.functions.core.comparison import comparison_type
from dpsql.functions.core.conversion import sure
from dpsql.functions.core.literals import as_own, constant
from dpsql.functions.core.order import above, below
from dpsql.functions.core.ranges import known, ordinal
from dpsql.ir.column import (
    EVERYWHERE,
    Categories,
    Domain,
    Fact,
    Interval,
    Kind,
    Listed,
    Number,
    Type,
    Value,
    comparable,
    decimal_size,
    range_of,
    unique,
)
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, refs

FactOf: TypeAlias = Callable[[Scalar], Fact]
"""From a bound, which may be an expression, to its fact."""

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>", "<>": "="}


_WHOLE = (Kind.INTEGER, Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ)
"""Kinds whose values are whole numbers: of days, or of microseconds."""

_DIGITS = 15
"""The most digits of decimals of which no other is the same DOUBLE."""


def narrow(facts: dict[str, Fact], condition: Scalar, fact_of: FactOf, *, true: bool = True) -> None:
    """Narrow facts by a condition that is true (or false, and not NULL) of every row."""
    match condition:
        case Ref():
            _compare(facts, condition, "=", Literal(true, facts[condition.name].type), fact_of)
        case Call("not", (inner,)):
            narrow(facts, inner, fact_of, true=not true)
        case Call("and" | "or" as word, parts):
            if (word == "and") == true:
                for part in parts:
                    narrow(facts, part, fact_of, true=true)
            else:
                _narrow_any(facts, parts, true, fact_of)
        case Call("=" | "<>" | "<" | "<=" | ">" | ">=" as sign, (left, right)):
            op = sign if true else _OPPOSITE[sign]
            _compare(facts, left, op, right, fact_of)
            _compare(facts, right, _FLIPPED[op], left, fact_of)
            _put_in_order(facts, left, op, right, fact_of)
        case Call("between", (value, *ends)) if _in_32_bits(value, ends, fact_of):
            pass
        case Call("between", (value, low, high)):
            both = Call("and", (Call(">=", (value, low)), Call("<=", (value, high))))
            narrow(facts, both, fact_of, true=true)
        case Call("in", (Ref(name), *listed)) if all(isinstance(item, Literal) for item in listed):
            values = tuple(item.value for item in listed if isinstance(item, Literal))
            constants = tuple(value for value in values if value is not None)
            (_narrow_to_list if true else _narrow_without)(facts, name, constants)
        case Call("is_not_distinct_from" | "is_distinct_from" as word, (inner, Literal(value=value))):
            same = (word == "is_not_distinct_from") == true
            if isinstance(value, bool) and same and not isinstance(inner, Ref):
                narrow(facts, inner, fact_of, true=value)  # (age > 18) IS TRUE
            elif isinstance(inner, Ref) and value is None:
                _not_null(facts, inner.name, not same)
            elif isinstance(inner, Ref) and value is not None:
                nullable = facts[inner.name].nullable
                _compare(facts, inner, "=" if same else "<>", condition.arguments[1], fact_of)
                if not same:  # NULL is distinct from a constant
                    facts[inner.name] = replace(facts[inner.name], nullable=nullable)
        case Call("is_null" | "is_not_null" as word, (Ref(name),)):
            _not_null(facts, name, (word == "is_not_null") == true)
        case _:
            pass


def narrow_untrue(facts: dict[str, Fact], condition: Scalar, fact_of: FactOf) -> None:
    """Narrow facts by a condition that is false or NULL.

    If the condition compares one column with constants, NULL means that the column is NULL. The narrowed
    ``nullable`` of that column is not to be used.
    """
    match condition:
        case Call("or", parts):
            for part in parts:
                narrow_untrue(facts, part, fact_of)
        case Call("not", (inner,)) if _only_null_undecided(facts, inner):
            narrow(facts, inner, fact_of)
        case _ if _only_null_undecided(facts, condition):
            narrow(facts, condition, fact_of, true=False)
        case _:
            pass


def _only_null_undecided(facts: dict[str, Fact], condition: Scalar) -> bool:
    """Whether the condition is NULL only if its one column is NULL."""
    match condition:
        case Call("=" | "<>" | "<" | "<=" | ">" | ">=" | "between" | "in", (Ref(name), *bounds)):
            return all(
                isinstance(bound, Literal) and _compares_exactly(facts[name].type, bound) for bound in bounds
            )
        case Ref() | Call("is_not_distinct_from", (Ref(), Literal())):
            return True
        case _:
            return False


def _compares_exactly(type: Type, literal: Literal) -> bool:
    """Whether a comparison with the literal turns no value of the type into NULL."""
    column = Argument(Fact(type))
    try:
        return literal.value is not None and sure(column, comparison_type((column, constant(literal))))
    except ArgumentError:
        return False


def _narrow_any(facts: dict[str, Fact], parts: Sequence[Scalar], true: bool, fact_of: FactOf) -> None:
    """Narrow facts to the hull over alternative conditions; at least one of them holds."""
    branches = [dict(facts) for _ in parts]
    for part, branch in zip(parts, branches, strict=True):
        narrow(branch, part, fact_of, true=true)
    for name, fact in facts.items():
        domain = None
        if all(branch[name].domain != fact.domain for branch in branches):
            domain = _hull([branch[name].domain for branch in branches])
        nullable = any(branch[name].nullable for branch in branches)
        facts[name] = replace(fact, domain=fact.domain if domain is None else domain, nullable=nullable)


def _hull(domains: list[Domain]) -> Domain | None:
    """Return the hull of the domains; None if it is unbounded."""
    lists = [domain for domain in domains if isinstance(domain, Categories)]
    if len(lists) == len(domains):
        return Categories(unique(tuple(value for domain in lists for value in domain.values)))
    ends = [domain for domain in domains if isinstance(domain, Interval)]
    if len(ends) + len(lists) < len(domains):
        return None
    for domain in lists:
        numbers = [number for value in domain.values if (number := _as_number(value)) is not None]
        if len(numbers) < len(domain.values):
            return None
        ends += [Interval(number, number) for number in numbers]
    hull = (
        Interval(min(interval.low for interval in ends), max(interval.high for interval in ends))
        if ends
        else None
    )
    return None if hull == EVERYWHERE else hull


def _not_null(facts: dict[str, Fact], name: str, sure: bool) -> None:
    if sure:
        facts[name] = replace(facts[name], nullable=False)


def _compare(facts: dict[str, Fact], column: Scalar, op: str, bound: Scalar, fact_of: FactOf) -> None:
    if not isinstance(column, Ref):
        return
    fact = facts[column.name]
    facts[column.name] = replace(fact, nullable=False)
    if isinstance(bound, Literal) and bound.value is None:
        return
    if op in ("=", "<>"):
        if isinstance(bound, Literal):
            (_narrow_to_list if op == "=" else _narrow_without)(facts, column.name, (bound.value,))
        if op == "<>" or isinstance(bound, Literal):
            return
    limit, exact = limit_of(fact, fact_of(bound))
    rounded = _rounding(fact.type, fact_of(bound).type, limit)
    if rounded:
        limit, exact = _widened(limit, rounded), False
    if isinstance(fact.domain, Categories | Listed):
        return
    interval = known(Argument(fact))  # None of a wide type: its limits do not count as bounds
    if op == "=" and (listed := _listed_too(fact, interval, fact_of(bound))) is not None:
        facts[column.name] = replace(fact, domain=listed, nullable=False)
        return
    if limit == EVERYWHERE:
        return
    low, high = interval.low, interval.high
    if op == "=" or (op in ("<", "<=") and not _may_be_nan(bound, fact_of(bound))):
        high = min(high, limit.high)
    if op in (">", ">=", "="):
        low = max(low, limit.low)
    if fact.type.kind in _WHOLE and "TIMESTAMP_NS" not in (fact.type.sql, fact_of(bound).type.sql):
        low = math.ceil(low) if math.isfinite(low) else low
        high = math.floor(high) if math.isfinite(high) else high
        if exact and op == ">" and low == limit.low:
            low += 1
        if exact and op == "<" and high == limit.high:
            high -= 1
    if low <= high and (isinstance(fact.domain, Interval) or math.isfinite(low) or math.isfinite(high)):
        facts[column.name] = replace(fact, domain=Interval(low, high), nullable=False)


def _in_32_bits(value: Scalar, ends: Sequence[Scalar], fact_of: FactOf) -> bool:
    """Whether an end of BETWEEN makes both comparisons ones of 32 bits, which the value has not."""
    return fact_of(value).type.sql != "FLOAT" and any(fact_of(end).type.sql == "FLOAT" for end in ends)


def _rounding(column: Type, bound: Type, limit: Interval) -> float:
    """Return how far values that compare as equal to the ends of a limit may be from them, relatively."""
    ends = [end for end in (limit.low, limit.high) if math.isfinite(end)]
    if "FLOAT" in (column.sql, bound.sql):
        same = all(_has_32_bits(end) and (column.sql == "FLOAT" or abs(end) < 2**24) for end in ends)
        return 0.0 if same else 2.0**-22
    wide = any(abs(end) >= 2**53 for end in ends)
    return 2.0**-50 if wide and {column.kind, bound.kind} & {Kind.FLOAT, Kind.DECIMAL} else 0.0


def _has_32_bits(number: Number) -> bool:
    """Whether a number is one of 32 bits."""
    return abs(number) < 2.0**127 and struct.unpack("f", struct.pack("f", number))[0] == number


def _widened(limit: Interval, part: float) -> Interval:
    """Move both ends outwards by a part of them."""
    if not part:
        return limit
    low, high = (0.0 if math.isinf(end) else abs(end) * part for end in (limit.low, limit.high))
    return Interval(limit.low - low, limit.high + high)


def _may_be_nan(bound: Scalar, fact: Fact) -> bool:
    """Whether a bound may be NaN, which every number is less than; of a constant, its range tells."""
    if fact.type.kind is not Kind.FLOAT or isinstance(bound, Literal):
        return False
    ends = range_of(fact)
    return bool(refs(bound)) or ends.low != ends.high


def _put_in_order(facts: dict[str, Fact], left: Scalar, op: str, right: Scalar, fact_of: FactOf) -> None:
    """Note the order of two values that are compared as they are, at the one that is a column."""
    if isinstance(left, Literal) or isinstance(right, Literal):
        return
    if not isinstance(left, Ref) and not isinstance(right, Ref):
        return
    pairs = [(left, right)] if op in ("<", "<=", "=") else []
    pairs += [(right, left)] if op in (">", ">=", "=") else []
    for lesser, greater in pairs:
        low, high = fact_of(lesser), fact_of(greater)
        if not comparable(low.type, high.type):
            return
        if isinstance(lesser, Ref):
            facts[lesser.name] = below(facts[lesser.name], high)
        if isinstance(greater, Ref):
            facts[greater.name] = above(facts[greater.name], low)


def _listed_too(fact: Fact, interval: Interval, bound: Fact) -> Listed | None:
    """Return the list of a column that is equal to a listed one, unless its own range is narrower."""
    if not isinstance(bound.domain, Listed) or fact.type.kind is not bound.type.kind:
        return None
    if fact.type.kind not in (Kind.INTEGER, Kind.DATE, Kind.TEXT):
        return None
    limit = range_of(bound)
    narrower = interval.low > limit.low or interval.high < limit.high
    return None if narrower and fact.type.kind is not Kind.TEXT else bound.domain


def limit_of(fact: Fact, bound: Fact) -> tuple[Interval, bool]:
    """Return the bound's range in units of the column, and whether integers are exact there."""
    limit = range_of(bound)
    if bound.type.kind is fact.type.kind or (bound.type.numeric and fact.type.numeric):
        rounded = bound.type.kind is Kind.DECIMAL and decimal_size(bound.type)[0] > _DIGITS
        return limit, max(-limit.low, limit.high) < 2**53 and not rounded
    day = 86_400_000_000  # a DATE counts days and a TIMESTAMP microseconds
    if fact.type.kind is Kind.DATE and bound.type.kind in (Kind.TIMESTAMP, Kind.TIMESTAMPTZ):
        aligned = bound.type.kind is Kind.TIMESTAMP and limit.finite
        if aligned and bound.type.sql != "TIMESTAMP_NS":
            return Interval(limit.low / day, limit.high / day), not (limit.low % day or limit.high % day)
        low, high = (end if math.isinf(end) else math.floor(end / day) for end in (limit.low, limit.high))
        return Interval(low, high + 1), False
    if bound.type.kind is Kind.DATE and fact.type.kind is Kind.TIMESTAMP:
        return Interval(limit.low * day, limit.high * day), max(-limit.low, limit.high) * day < 2**53
    return EVERYWHERE, False


def _narrow_to_list(facts: dict[str, Fact], name: str, values: tuple[Value, ...]) -> None:
    """Narrow a column to constants: to a list, or to a range if its type is FLOAT or DECIMAL."""
    fact = facts[name]
    facts[name] = replace(fact, nullable=False)
    if fact.type.kind in (Kind.FLOAT, Kind.DECIMAL):
        numbers = [number for value in values if (number := _as_number(value)) is not None]
        if numbers and len(numbers) == len(values) and not isinstance(fact.domain, Categories | Listed):
            ends = Interval(min(numbers), max(numbers))
            ends = _widened(ends, _rounding(fact.type, fact.type, ends))
            facts[name] = replace(fact, domain=ends, nullable=False)
        return
    storable = _storable(fact.type, values)
    if storable is None:
        return
    if isinstance(fact.domain, Categories):
        storable = tuple(value for value in unique(fact.domain.values) if value in storable)
    facts[name] = replace(fact, domain=Categories(unique(storable)), nullable=False)


def _narrow_without(facts: dict[str, Fact], name: str, values: tuple[Value, ...]) -> None:
    """Remove constants from the listed values of a column."""
    fact = facts[name]
    facts[name] = replace(fact, nullable=False)
    storable = _storable(fact.type, values)
    if storable is not None and isinstance(fact.domain, Categories):
        left = tuple(value for value in fact.domain.values if value not in storable)
        facts[name] = replace(fact, domain=Categories(left), nullable=False)


def _storable(type: Type, values: tuple[Value, ...]) -> tuple[Value, ...] | None:
    """Return the constants that fit the type; None if the comparison may merge different values."""
    if type.kind not in (Kind.BOOLEAN, Kind.INTEGER, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP):
        return None
    if any(not _comparable(value, type) for value in values):
        return None
    return tuple(stored for value in values if (stored := as_own(value, type)) is not None)


def _comparable(value: Value, type: Type) -> bool:
    """Whether ``column = value`` compares the values themselves: no cast merges different values."""
    if isinstance(value, bool) or type.kind is Kind.BOOLEAN:
        return isinstance(value, bool) and type.kind is Kind.BOOLEAN
    return not isinstance(value, float) or abs(value) < 2**53


def _as_number(value: Value) -> Number | None:
    return ordinal(value) if isinstance(value, bool | int | float | Decimal | datetime.date) else None
