"""What a condition says of the columns it names, against constants.

    age BETWEEN 18 AND 65           age in [18, 65]
    kind = 'a' OR kind = 'b'        kind is one of these
    NOT (age > 65 OR age < 18)      age in [18, 65]

A condition is taken as ``true`` of every row (WHERE, the branch of a CASE), as ``false``, or as not true
(a later branch), which may also mean NULL. Whatever relates two columns is ignored, which only widens. A
range says nothing of NULL and NaN.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TypeAlias

from dpsql.functions import Argument, ArgumentError
from dpsql.functions.core.comparison import comparison_type
from dpsql.functions.core.conversion import sure
from dpsql.functions.core.literals import as_own, constant
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
    range_of,
    unique,
)
from dpsql.ir.scalar import Call, Literal, Ref, Scalar

FactOf: TypeAlias = Callable[[Scalar], Fact]
"""What is known of a bound, which may be an expression."""

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>", "<>": "="}


def narrow(facts: dict[str, Fact], condition: Scalar, fact_of: FactOf, *, true: bool = True) -> None:
    """Use that a condition is true, or false, of every row; NULL is neither."""
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
                _any_of(facts, parts, true, fact_of)
        case Call("=" | "<>" | "<" | "<=" | ">" | ">=" as sign, (left, right)):
            op = sign if true else _OPPOSITE[sign]
            _compare(facts, left, op, right, fact_of)
            _compare(facts, right, _FLIPPED[op], left, fact_of)
        case Call("between", (value, low, high)):
            both = Call("and", (Call(">=", (value, low)), Call("<=", (value, high))))
            narrow(facts, both, fact_of, true=true)
        case Call("in", (Ref(name), *listed)) if all(isinstance(each, Literal) for each in listed):
            values = tuple(each.value for each in listed if isinstance(each, Literal))
            given = tuple(value for value in values if value is not None)
            (_one_of if true else _none_of)(facts, name, given)
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
    """Use that a condition is false or NULL: where one column is compared with constants, the latter says
    that the column is NULL. ``facts`` then says nothing of NULL."""
    match condition:
        case Call("or", parts):
            for part in parts:
                narrow_untrue(facts, part, fact_of)
        case Call("not", (inner,)) if _decided(facts, inner):
            narrow(facts, inner, fact_of)
        case _ if _decided(facts, condition):
            narrow(facts, condition, fact_of, true=False)
        case _:
            pass


def _decided(facts: dict[str, Fact], condition: Scalar) -> bool:
    """Whether only a NULL in its one column makes the condition NULL."""
    match condition:
        case Call("=" | "<>" | "<" | "<=" | ">" | ">=" | "between" | "in", (Ref(name), *bounds)):
            return all(isinstance(each, Literal) and _exact(facts[name].type, each) for each in bounds)
        case Ref() | Call("is_not_distinct_from", (Ref(), Literal())):
            return True
        case _:
            return False


def _exact(type: Type, literal: Literal) -> bool:
    """Whether no value of the type turns into NULL when it is compared with the constant."""
    column = Argument(Fact(type))
    try:
        return literal.value is not None and sure(column, comparison_type((column, constant(literal))))
    except ArgumentError:
        return False


def _any_of(facts: dict[str, Fact], parts: Sequence[Scalar], true: bool, fact_of: FactOf) -> None:
    """One of these holds: the hull of what each says."""
    ways = [dict(facts) for _ in parts]
    for part, way in zip(parts, ways, strict=True):
        narrow(way, part, fact_of, true=true)
    for name, fact in facts.items():
        found = [way[name] for way in ways]
        domain = None
        if all(each.domain != fact.domain for each in found):
            domain = _hull([each.domain for each in found])
        nullable = any(each.nullable for each in found)
        facts[name] = Fact(fact.type, fact.domain if domain is None else domain, nullable)


def _hull(domains: list[Domain]) -> Domain | None:
    """What holds all of these; None where that is nothing new."""
    lists = [each for each in domains if isinstance(each, Categories)]
    if len(lists) == len(domains):
        return Categories(unique(tuple(value for each in lists for value in each.values)))
    ends = [each for each in domains if isinstance(each, Interval)]
    if len(ends) + len(lists) < len(domains):
        return None
    for each in lists:
        numbers = [number for value in each.values if (number := _as_number(value)) is not None]
        if len(numbers) < len(each.values):
            return None
        ends += [Interval(number, number) for number in numbers]
    whole = Interval(min(each.low for each in ends), max(each.high for each in ends)) if ends else None
    return None if whole == EVERYWHERE else whole


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
            (_one_of if op == "=" else _none_of)(facts, column.name, (bound.value,))
        if op == "<>" or isinstance(bound, Literal):
            return
    limit, exact = _limit(fact, fact_of(bound))
    if isinstance(fact.domain, Categories | Listed) or limit == EVERYWHERE:
        return
    whole = known(Argument(fact))  # a wide type is no bound, of which half would be left here
    low, high = whole.low, whole.high
    if op in ("<", "<=", "="):
        high = min(high, limit.high)
    if op in (">", ">=", "="):
        low = max(low, limit.low)
    if fact.type.kind is Kind.INTEGER:
        low = math.ceil(low) if math.isfinite(low) else low
        high = math.floor(high) if math.isfinite(high) else high
        if exact and op == ">" and low == limit.low:
            low += 1
        if exact and op == "<" and high == limit.high:
            high -= 1
    if low <= high and (isinstance(fact.domain, Interval) or math.isfinite(low) or math.isfinite(high)):
        facts[column.name] = Fact(fact.type, Interval(low, high), nullable=False)


def _limit(fact: Fact, other: Fact) -> tuple[Interval, bool]:
    """The bound's range in the column's count; whether whole numbers are told apart there."""
    limit = range_of(other)
    if other.type.kind is fact.type.kind or (other.type.numeric and fact.type.numeric):
        return limit, max(-limit.low, limit.high) < 2**53
    day = 86_400_000_000  # a DATE counts days and a TIMESTAMP microseconds
    if fact.type.kind is Kind.DATE and other.type.kind in (Kind.TIMESTAMP, Kind.TIMESTAMPTZ):
        low, high = (end if math.isinf(end) else math.floor(end / day) for end in (limit.low, limit.high))
        return Interval(low, high + 1), False
    if other.type.kind is Kind.DATE and fact.type.kind is Kind.TIMESTAMP:
        return Interval(limit.low * day, limit.high * day), False
    return EVERYWHERE, False


def _one_of(facts: dict[str, Fact], name: str, values: tuple[Value, ...]) -> None:
    """The column is one of these constants: a list, or for numbers that are not whole a range."""
    fact = facts[name]
    facts[name] = replace(fact, nullable=False)
    if fact.type.kind in (Kind.FLOAT, Kind.DECIMAL):
        numbers = [number for value in values if (number := _as_number(value)) is not None]
        if numbers and len(numbers) == len(values) and not isinstance(fact.domain, Categories | Listed):
            facts[name] = Fact(fact.type, Interval(min(numbers), max(numbers)), nullable=False)
        return
    held = _storable(fact.type, values)
    if held is None:
        return
    if isinstance(fact.domain, Categories):
        held = tuple(value for value in unique(fact.domain.values) if value in held)
    facts[name] = Fact(fact.type, Categories(unique(held)), nullable=False)


def _none_of(facts: dict[str, Fact], name: str, values: tuple[Value, ...]) -> None:
    """The column is none of these constants: a list gets shorter."""
    fact = facts[name]
    facts[name] = replace(fact, nullable=False)
    held = _storable(fact.type, values)
    if held is not None and isinstance(fact.domain, Categories):
        left = tuple(value for value in fact.domain.values if value not in held)
        facts[name] = Fact(fact.type, Categories(left), nullable=False)


def _storable(type: Type, values: tuple[Value, ...]) -> tuple[Value, ...] | None:
    """Those constants that a column of the type can hold; None where equality may merge some values."""
    if type.kind not in (Kind.BOOLEAN, Kind.INTEGER, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP):
        return None
    if any(not _comparable(value, type) for value in values):
        return None
    return tuple(own for value in values if (own := as_own(value, type)) is not None)


def _comparable(value: Value, type: Type) -> bool:
    """Whether equality with the column is equality of values: no cast stands between that merges some."""
    if isinstance(value, bool) or type.kind is Kind.BOOLEAN:
        return isinstance(value, bool) and type.kind is Kind.BOOLEAN
    return not isinstance(value, float) or abs(value) < 2**53


def _as_number(value: Value) -> Number | None:
    return ordinal(value) if isinstance(value, bool | int | float | Decimal | datetime.date) else None
