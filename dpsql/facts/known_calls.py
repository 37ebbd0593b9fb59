"""Measures whose every call may be planned by an engine that knows the ends of its columns.

    SUM(price * (1 - discount)) WHERE day < DATE '1998-09-02'    yes
    AVG(n) FROM (SELECT person, SUM(cost) AS n ... GROUP BY 1)   yes: sums, counts and extremes of a unit
    MEDIAN(age), MEDIAN(CAST(price AS DOUBLE))                   yes: numbers are clamped and put into bins
    SUM(epoch_ns(seen))                                          no: planning computes it of the least and the
                                                                 largest value, and fails where that fails

An allow-list: what is not on it is measured by an engine whose planner reads no statistics. The calls on it
compute nothing of a column's ends that could fail: comparisons, logic, arithmetic that tries, parts of dates
and of moments, whose day is one too, and what is between them.

Test    tests/privacy/test_statistics_engine.py: every call, of columns with the ends of their types
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import DATE, TIMESTAMP, Kind
from dpsql.ir.detail import Detail
from dpsql.ir.measure import Measure
from dpsql.ir.relation import (
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Materialized,
    OrderedCall,
    Project,
    Relation,
    Scan,
    StageInput,
    Union,
    Window,
)
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, refs

OF_ANYTHING = frozenset(
    "= <> < <= > >= is_distinct_from is_not_distinct_from between in is_null is_not_null "
    "and or not case coalesce nullif".split()
)
OF_NUMBERS = frozenset("+ - * / // % negate abs sign floor ceil round greatest least cast".split())
OF_TEXTS = frozenset("like ilike starts_with ends_with contains lower upper trim length ||".split())
OF_CONSTANTS = frozenset("substring left right strpos replace ltrim rtrim".split())
"""Of a text, where all arguments after it are constants."""

OF_DATES = frozenset("year quarter month day dayofweek isodow dayofyear dayname monthname -".split())
OF_MOMENTS = OF_DATES | {"hour", "minute"}
IN_UNITS = frozenset(("date_trunc", "date_diff", "date_sub"))
"""Of dates and moments, after the name of a unit: DATE_TRUNC('month', seen)."""

WITHIN_UNITS = frozenset("count sum avg min max bool_and bool_or".split())
"""Aggregates of the rows of a unit: none has a result that depends on the order in which these are read."""

WINDOWS = WITHIN_UNITS | {"row_number", "rank", "dense_rank", "lag", "lead"}
"""The same over a window, and functions of its order, in which no rows tie that differ."""

_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.BOOLEAN, Kind.NULL)


def known_calls(measure: Measure) -> bool:
    """Whether a measure calls nothing but what is on the list."""
    binned = all(_in_bins(detail, measure.relation) for detail in measure.details)
    return binned and all(_known(scalar, relation) for relation, scalar in _scalars(measure))


def _in_bins(detail: Detail, relation: Relation) -> bool:
    """Whether a detail puts numbers into bins, and all calls of its scalars are on the list."""
    if detail.numbers_read is None:
        return False
    argument, condition = detail.numbers_read
    read = [argument] if condition is None else [argument, condition]
    numbers = fact_of(argument, facts_of(relation)).type.kind in _NUMBERS
    return numbers and all(_known(scalar, relation) for scalar in read)


def _known(scalar: Scalar | None, relation: Relation) -> bool:
    """Whether all calls of a scalar are on the list; None stands for a relation that is not."""
    match scalar:
        case None:
            return False
        case Ref() | Literal():
            return True
        case Call() if not refs(scalar):  # its value depends on no row
            return True
        case Call(function, arguments, type):
            if not all(_known(argument, relation) for argument in arguments):
                return False
            if function in OF_ANYTHING or function in OF_TEXTS:
                return True
            if function in OF_CONSTANTS:
                return not any(map(refs, arguments[1:]))
            if function in IN_UNITS:
                return _in_units(function, arguments, relation)
            types = {fact_of(argument, facts_of(relation)).type for argument in arguments}
            if type is not None and type.kind not in _NUMBERS:
                return function == "cast" and type.kind is Kind.DATE and types == {TIMESTAMP}
            return (
                (function in OF_NUMBERS and {each.kind for each in types} <= {*_NUMBERS})
                or (function in OF_DATES and {each.kind for each in types} == {Kind.DATE})
                or (function in OF_MOMENTS and types == {TIMESTAMP})
            )
        case _:
            assert_never(scalar)


def _in_units(function: str, arguments: Sequence[Scalar], relation: Relation) -> bool:
    """Whether a call has dates and moments after the name of a unit; the first week of all has no start."""
    unit, *others = arguments
    types = {fact_of(argument, facts_of(relation)).type for argument in others}
    if function == "date_trunc" and DATE in types:
        return isinstance(unit, Literal) and unit.value in ("day", "month", "quarter", "year")
    return types <= {DATE, TIMESTAMP}


def _read_by(
    relation: Relation, listed: bool, scalars: Iterable[Scalar | None]
) -> Iterator[tuple[Relation, Scalar | None]]:
    """Yield the scalars that a call within units reads; None if the call is not ``listed``."""
    if not listed:
        yield relation, None
    yield from ((relation, scalar) for scalar in scalars if scalar is not None)


def _scalars(measure: Measure) -> Iterable[tuple[Relation, Scalar | None]]:
    relation = measure.relation
    yield from ((relation, key.scalar) for key in measure.keys)
    for statistic in measure.statistics:
        other = None if statistic.other is None else statistic.other.argument
        read = (statistic.argument, statistic.condition, other)
        yield from ((relation, scalar) for scalar in read if scalar is not None)
    yield from _below(relation)


def _below(relation: Relation) -> Iterator[tuple[Relation, Scalar | None]]:
    match relation:
        case Scan() | Materialized() | StageInput():
            return
        case Filter(source, condition):
            yield source, condition
            yield from _below(source)
        case Project(source, columns):
            yield from ((source, column.scalar) for column in columns)
            yield from _below(source)
        case Join(kind, left, right, condition):
            if condition is not None:  # a SEMI join's reads columns of both sides, and has those of one
                yield (replace(relation, kind=JoinKind.INNER) if kind.one_sided else relation), condition
            yield from _below(left)
            yield from _below(right)
        case Union(left, right):
            yield from _below(left)
            yield from _below(right)
        case Aggregate(source, keys, aggregates):
            yield from ((source, key.scalar) for key in keys)
            for each in aggregates:
                listed = each.function in WITHIN_UNITS and not isinstance(each, OrderedCall)
                yield from _read_by(source, listed, (each.argument, each.condition, *each.others))
            yield from _below(source)
        case Window(source, each):
            order = (ordering.scalar for ordering in each.order)
            read = (*each.arguments, each.condition, *each.partition, *order)
            yield from _read_by(source, each.function in WINDOWS, read)
            yield from _below(source)
        case _:
            assert_never(relation)
