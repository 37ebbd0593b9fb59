"""What is known of every column of a relation, and of every scalar over it.

Facts are computed, never annotated: ``schema_of`` is a total function of an immutable relation, kept
while the relation lives. A filter narrows ranges (``age BETWEEN 18 AND 65`` bounds age); conditions that
relate two columns are ignored, which may only widen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import assert_never
from weakref import WeakKeyDictionary

from dpsql.aggregates import shelf as aggregates
from dpsql.facts.ownership import rows_of
from dpsql.functions import meaning
from dpsql.functions.literals import as_own
from dpsql.functions.windows import windows
from dpsql.ir.column import (
    ANYTHING,
    Anything,
    Categories,
    Column,
    Domain,
    Fact,
    Interval,
    Kind,
    Listed,
    Number,
    Schema,
    Type,
    Value,
    range_of,
    type_range,
    unique,
)
from dpsql.ir.relation import (
    Aggregate,
    AggregateCall,
    Awaited,
    Filter,
    Given,
    Join,
    JoinKind,
    Project,
    Relation,
    Scan,
    Union,
    Window,
    WindowCall,
)
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, conjuncts

Facts = Mapping[str, Fact]

_KEPT: WeakKeyDictionary[Relation, Facts] = WeakKeyDictionary()


def facts_of(relation: Relation) -> Facts:
    """The relation's columns by name."""
    found = _KEPT.get(relation)
    if found is None:
        found = MappingProxyType({column.name: column.fact for column in _schema(relation)})
        _KEPT[relation] = found
    return found


def schema_of(relation: Relation) -> Schema:
    """The relation's columns in order."""
    return tuple(Column(name, fact) for name, fact in facts_of(relation).items())


def _schema(relation: Relation) -> Schema:
    match relation:
        case Scan(columns=columns, owner=owner):
            seen = tuple(Column(column.name, column.fact) for column in columns)
            if owner is None or any(column.name == owner.name for column in columns):
                return seen
            return (Column(owner.name, owner.fact), *seen)
        case Given(columns=columns) | Awaited(columns=columns):
            return tuple(Column(column.name, column.fact) for column in columns)
        case Filter(source, condition):
            facts = dict(facts_of(source))
            for part in conjuncts(condition):
                narrow(facts, part)
            return _columns(facts)
        case Project(source, columns):
            inside = facts_of(source)
            return tuple(Column(each.name, fact_of(each.scalar, inside)) for each in columns)
        case Join(kind, left, right, condition, unit=unit):
            both = _joined(kind, facts_of(left), facts_of(right), condition)
            return both if unit is None else (unit, *both)
        case Aggregate(source, keys, calls):
            inside = facts_of(source)
            grouped = tuple(Column(each.name, fact_of(each.scalar, inside)) for each in keys)
            return grouped + tuple(Column(each.name, _per_unit(each, source)) for each in calls)
        case Union(left, right):
            theirs = facts_of(right)
            return tuple(Column(n, hull(fact, theirs[n])) for n, fact in facts_of(left).items())
        case Window(source, call):
            return (*schema_of(source), Column(call.name, _windowed(call, source)))
        case _:
            assert_never(relation)


def _columns(facts: Mapping[str, Fact]) -> Schema:
    return tuple(Column(name, fact) for name, fact in facts.items())


def _joined(kind: JoinKind, left: Facts, right: Facts, condition: Scalar | None) -> Schema:
    match kind:
        case JoinKind.INNER:
            both = {**left, **right}
            for part in conjuncts(condition) if condition is not None else ():
                narrow(both, part)
            return _columns(both)
        case JoinKind.LEFT:
            return _columns({**left, **_nullable(right)})
        case JoinKind.FULL:
            return _columns({**_nullable(left), **_nullable(right)})
        case JoinKind.SEMI:
            both = {**left, **right}
            for part in conjuncts(condition) if condition is not None else ():
                narrow(both, part)
            return _columns({name: both[name] for name in left})
        case JoinKind.ANTI:
            return _columns(left)
        case _:
            assert_never(kind)


def _nullable(facts: Facts) -> dict[str, Fact]:
    return {name: Fact(fact.type, fact.domain, nullable=True) for name, fact in facts.items()}


def _per_unit(call: AggregateCall, source: Relation) -> Fact:
    argument = None if call.argument is None else fact_of(call.argument, facts_of(source))
    return aggregates()[call.function].result(argument, rows_of(source))


def _windowed(call: WindowCall, source: Relation) -> Fact:
    arguments = tuple(fact_of(each, facts_of(source)) for each in call.arguments)
    if call.function in windows():
        return windows()[call.function].result(arguments, rows_of(source))
    return aggregates()[call.function].result(arguments[0] if arguments else None, rows_of(source))


def fact_of(scalar: Scalar, facts: Facts) -> Fact:
    """Type, range and nullability of a scalar over these columns."""
    if isinstance(scalar, Ref):
        return facts[scalar.name]
    return meaning.fact_of(scalar, lambda name: _ranged(facts[name]))


def _ranged(fact: Fact) -> Fact:
    """A listed column as the range of its numbers: what a function of it can use."""
    if isinstance(fact.domain, Listed):
        return Fact(fact.type, fact.domain.bounds or ANYTHING, fact.nullable)
    return fact


def hull(first: Fact, second: Fact) -> Fact:
    """What is known of a value that is one of the two."""
    domain: Domain = ANYTHING
    match first.domain, second.domain:
        case Categories(a), Categories(b):
            domain = Categories(unique(a + b))
        case Listed() as a, Listed() as b if a == b:
            domain = a
        case (Anything() | Listed(), _) | (_, Anything() | Listed()):
            domain = ANYTHING
        case _:
            a_range, b_range = range_of(first), range_of(second)
            domain = Interval(min(a_range.low, b_range.low), max(a_range.high, b_range.high))
    wider = max((first.type, second.type), key=_width)
    return Fact(wider, domain, first.nullable or second.nullable)


def _width(type: Type) -> Number:
    """Whole numbers of different width meet in the wider one."""
    return type_range(type).high if type.kind is Kind.INTEGER else 0


# ---- narrowing -------------------------------------------------------------------------------------

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


def narrow(facts: dict[str, Fact], condition: Scalar) -> None:
    """Use that a condition is true of every row: what it says of one column against constants."""
    match condition:
        case Call("=" | "<" | "<=" | ">" | ">=" as op, (left, right)):
            _compare(facts, left, op, right)
            _compare(facts, right, _FLIPPED[op], left)
        case Call("between", (Ref() as column, low, high)):
            _compare(facts, column, ">=", low)
            _compare(facts, column, "<=", high)
        case Call("in", (Ref(name), *listed)) if all(isinstance(each, Literal) for each in listed):
            values = tuple(each.value for each in listed if isinstance(each, Literal))
            _one_of(facts, name, tuple(value for value in values if value is not None))
        case Call("is_not_null", (Ref(name),)):
            fact = facts[name]
            facts[name] = Fact(fact.type, fact.domain, nullable=False)
        case _:
            pass


def _compare(facts: dict[str, Fact], column: Scalar, op: str, bound: Scalar) -> None:
    if not isinstance(column, Ref):
        return
    fact = facts[column.name]
    if op == "=" and isinstance(bound, Literal) and bound.value is not None:
        _one_of(facts, column.name, (bound.value,))
        return
    other = fact_of(bound, facts)
    facts[column.name] = Fact(fact.type, fact.domain, nullable=False)
    limit = range_of(other)
    if other.type.kind is not fact.type.kind and not (other.type.numeric and fact.type.numeric):
        limit = _midnight(fact, other, limit)
    if isinstance(fact.domain, Categories | Listed) or limit == Interval(-math.inf, math.inf):
        return
    known = range_of(fact)
    low, high = known.low, known.high
    if op in ("<", "<=", "="):
        high = min(high, limit.high)
    if op in (">", ">=", "="):
        low = max(low, limit.low)
    if fact.type.kind is Kind.INTEGER:
        low = math.ceil(low) if math.isfinite(low) else low
        high = math.floor(high) if math.isfinite(high) else high
    if low <= high and (isinstance(fact.domain, Interval) or math.isfinite(low) or math.isfinite(high)):
        facts[column.name] = Fact(fact.type, Interval(low, high), nullable=False)


def _midnight(fact: Fact, other: Fact, limit: Interval) -> Interval:
    """A DATE counts days and a TIMESTAMP microseconds: a limit on the one, in the other's count."""
    day = 86_400_000_000
    if fact.type.kind is Kind.DATE and other.type.kind in (Kind.TIMESTAMP, Kind.TIMESTAMPTZ):
        low, high = (end if math.isinf(end) else math.floor(end / day) for end in (limit.low, limit.high))
        return Interval(low, high + 1)
    if other.type.kind is Kind.DATE and fact.type.kind is Kind.TIMESTAMP:
        return Interval(limit.low * day, limit.high * day)
    return Interval(-math.inf, math.inf)


def _one_of(facts: dict[str, Fact], name: str, values: tuple[Value, ...]) -> None:
    """The column is one of these constants: a list, or for numbers that are not whole a range."""
    fact = facts[name]
    facts[name] = Fact(fact.type, fact.domain, nullable=False)
    if fact.type.kind in (Kind.FLOAT, Kind.DECIMAL):
        numbers = [number for value in values if (number := _as_number(value)) is not None]
        if numbers and len(numbers) == len(values) and not isinstance(fact.domain, Categories | Listed):
            facts[name] = Fact(fact.type, Interval(min(numbers), max(numbers)), nullable=False)
        return
    if fact.type.kind not in (Kind.BOOLEAN, Kind.INTEGER, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP):
        return
    if any(not _comparable(value, fact.type) for value in values):
        return
    held = tuple(own for value in values if (own := as_own(value, fact.type)) is not None)
    if isinstance(fact.domain, Categories):
        held = tuple(value for value in unique(fact.domain.values) if value in held)
    facts[name] = Fact(fact.type, Categories(unique(held)), nullable=False)


def _comparable(value: Value, type: Type) -> bool:
    """Whether equality with the column is equality of values: no cast stands between that merges some."""
    if isinstance(value, bool) or type.kind is Kind.BOOLEAN:
        return isinstance(value, bool) and type.kind is Kind.BOOLEAN
    return not isinstance(value, float) or abs(value) < 2**53


def _as_number(value: Value) -> Number | None:
    import datetime
    from decimal import Decimal

    match value:
        case bool() | int():
            return int(value)
        case float() | Decimal():
            return float(value)
        case datetime.datetime():
            naive = value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)
            return (naive - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
        case datetime.date():
            return (value - datetime.date(1970, 1, 1)).days
        case _:
            return None
