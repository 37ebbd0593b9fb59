"""The facts of every column of a relation, and of every scalar over it.

Facts are computed, never annotated: ``schema_of`` is a total function of an immutable relation, cached while
the relation lives. A filter narrows ranges (``age BETWEEN 18 AND 65`` bounds age). Conditions between two
columns are ignored, which can only widen a range.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from dpsql.aggregates import shelf as aggregates
from dpsql.facts import order
from dpsql.facts.few_rows import few_rows
from dpsql.facts.ownership import least, rows_of
from dpsql.functions.core import meaning, narrowing
from dpsql.functions.core.windows import windows
from dpsql.ir.column import (
    ANYTHING,
    TIMESTAMP,
    Anything,
    Categories,
    Column,
    Domain,
    Fact,
    Interval,
    Kind,
    Listed,
    Schema,
    Sized,
    range_of,
    unique,
)
from dpsql.ir.relation import (
    Aggregate,
    AggregateCall,
    Filter,
    Join,
    JoinKind,
    Materialized,
    Project,
    Relation,
    Scan,
    StageInput,
    Union,
    Window,
    WindowCall,
)
from dpsql.ir.scalar import Ref, Scalar, conjuncts
from dpsql.once_each import once_each

Facts = Mapping[str, Fact]


class RelationFacts(dict[str, Fact]):
    """The facts of a relation's columns, and the meaning of every scalar over them that was asked for.

    They are read only: two relations of a plan that share a scalar ask for it in facts of their own.
    """

    __slots__ = ("lookup",)

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        ranged = {name: _with_range(fact) for name, fact in self.items()}
        self.lookup = meaning.Remembering(ranged.__getitem__)


@once_each
def facts_of(relation: Relation) -> RelationFacts:
    """Return the facts of the relation's columns by name."""
    return RelationFacts(order.named({column.name: column.fact for column in _schema(relation)}))


def schema_of(relation: Relation) -> Schema:
    """Return the relation's columns in order."""
    return tuple(Column(name, fact) for name, fact in facts_of(relation).items())


def _schema(relation: Relation) -> Schema:
    match relation:
        case Scan(columns=columns, owner=owner, checks=checks):
            checked = order.of_checks({column.name: column.fact for column in columns}, checks)
            seen = _columns(checked)
            if owner is None or any(column.name == owner.name for column in columns):
                return seen
            return (Column(owner.name, owner.fact), *seen)
        case Materialized(columns=columns) | StageInput(columns=columns):
            return tuple(Column(column.name, column.fact) for column in columns)
        case Filter(source, condition):
            facts = dict(facts_of(source))
            for part in conjuncts(condition):
                narrow(facts, part)
            return _columns(facts)
        case Project(source, columns):
            inside = facts_of(source)
            return tuple(
                Column(column.name, column.known or fact_of(column.scalar, inside)) for column in columns
            )
        case Join(kind, left, right, condition, unit=unit):
            both = _join_schema(kind, facts_of(left), facts_of(right), condition)
            return both if unit is None else (unit, *both)
        case Aggregate(source, keys, calls):
            inside = facts_of(source)
            grouped = tuple(Column(key.name, _grouped(fact_of(key.scalar, inside))) for key in keys)
            single = order.named({call.name: _per_unit(call, source) for call in calls})
            return grouped + _columns(order.of_extremes(calls, single))
        case Union(left, right):
            theirs = facts_of(right)
            return tuple(Column(n, hull(fact, theirs[n])) for n, fact in facts_of(left).items())
        case Window(source, call):
            return (*schema_of(source), Column(call.name, _window_fact(call, source)))
        case _:
            assert_never(relation)


def _grouped(fact: Fact) -> Fact:
    """Return the fact of a key of groups: a moment is one of microseconds, whatever it was before."""
    return replace(fact, type=TIMESTAMP) if fact.type.kind is Kind.TIMESTAMP else fact


def _columns(facts: Mapping[str, Fact]) -> Schema:
    return tuple(Column(name, fact) for name, fact in facts.items())


def _join_schema(kind: JoinKind, left: Facts, right: Facts, condition: Scalar | None) -> Schema:
    right = order.apart(left, right)
    both = {**left, **right}
    for part in conjuncts(condition) if condition is not None else ():
        narrow(both, part)
    match kind:
        case JoinKind.INNER:
            return _columns(both)
        case JoinKind.LEFT:
            met = {name: replace(fact, order=both[name].order) for name, fact in right.items()}
            return _columns({**left, **_nullable(met)})  # in a row that meets none, the right side is NULL
        case JoinKind.FULL:
            return _columns({**_nullable(left), **_nullable(right)})
        case JoinKind.SEMI:
            return _columns({name: both[name] for name in left})
        case JoinKind.ANTI:
            return _columns(left)
        case _:
            assert_never(kind)


def _nullable(facts: Facts) -> dict[str, Fact]:
    return {name: replace(fact, nullable=True) for name, fact in facts.items()}


def _per_unit(call: AggregateCall, source: Relation) -> Fact:
    arguments = () if call.argument is None else (call.argument, *call.others)
    return _aggregated(call.function, arguments, call.condition, source, most_rows(source))


def _aggregated(
    function: str, arguments: tuple[Scalar, ...], condition: Scalar | None, source: Relation, rows: int | None
) -> Fact:
    """Return the fact of an aggregate of the rows that meet a condition: of none of them, perhaps."""
    facts = facts_of(source)

    def result(of: Facts) -> Fact:
        values = [fact_of(argument, of) for argument in arguments]
        return aggregates()[function].result(values[0] if values else None, rows, *values[1:])

    found = result(facts)
    if condition is None:
        return found
    met = dict(facts)
    for part in conjuncts(condition):
        narrow(met, part)
    return replace(result(met), nullable=found.nullable)


@once_each
def most_rows(relation: Relation) -> int | None:
    """Return about how many rows one unit has here: by the rows of its tables, and by its columns' values."""
    return least(rows_of(relation), few_rows(relation, facts_of))


def _window_fact(call: WindowCall, source: Relation) -> Fact:
    facts = facts_of(source)
    arguments = tuple(fact_of(argument, facts) for argument in call.arguments)
    first = arguments[0] if arguments else None
    if call.function in windows():
        result = windows()[call.function].result(arguments, rows_of(source))
    else:
        result = _aggregated(call.function, call.arguments, call.condition, source, rows_of(source))
    sorted_by = fact_of(call.order[0].scalar, facts) if call.order else None
    return order.of_window(call, result, first, sorted_by)


def fact_of(scalar: Scalar, facts: Facts) -> Fact:
    """Return type, range and nullability of a scalar over these columns."""
    if isinstance(scalar, Ref):
        return facts[scalar.name]
    if isinstance(facts, RelationFacts):
        return meaning.fact_of(scalar, facts.lookup)
    return meaning.fact_of(scalar, lambda name: _with_range(facts[name]))


def _with_range(fact: Fact) -> Fact:
    """Replace a listed domain by the range of its numbers, which functions can use."""
    if isinstance(fact.domain, Listed):
        return replace(fact, domain=fact.domain.bounds or ANYTHING)
    return fact


def hull(first: Fact, second: Fact) -> Fact:
    """Return the fact of a value that comes from either of the two."""
    domain: Domain = ANYTHING
    match first.domain, second.domain:
        case Categories(a), Categories(b):
            domain = Categories(unique(a + b))
        case Listed() as a, Listed() as b if a == b:
            domain = a
        case Sized(a), Sized(b):
            domain = Sized(max(a, b))
        case (Anything() | Listed() | Sized(), _) | (_, Anything() | Listed() | Sized()):
            domain = ANYTHING
        case _:
            a_range, b_range = range_of(first), range_of(second)
            domain = Interval(min(a_range.low, b_range.low), max(a_range.high, b_range.high))
    assert first.type == second.type, "the sides of a union were cast to one type, and units are of one"
    return Fact(first.type, domain, first.nullable or second.nullable)


def narrow(facts: dict[str, Fact], condition: Scalar) -> None:
    """Narrow the facts by a condition that every row satisfies: comparisons of one column with constants."""
    narrowing.narrow(facts, condition, lambda bound: fact_of(bound, facts))
