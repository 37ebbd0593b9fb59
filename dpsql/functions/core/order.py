"""Values of one row in order: the difference of such two is not negative, or not positive.

    last - first                         of MAX(x) AS last, MIN(x) AS first: [0, 30], not [-30, 30]
    epoch(x) - epoch(LAG(x) OVER ...)    the functions keep the order

Claim   Where ``in_order(a, b)``, no row has a > b: each row has a <= b, or NULL or NaN as one of them.
Proof   A value has a name; ``least`` and ``most`` are names of values that are at most, or at least, this
        one in every row. If b, or a value that b is at least, is a or a value that a is at most, then a <= b:
        the order of a type is transitive. NaN is the greatest of floats, and a difference with it is NaN.
        A function in ``KEEP`` never decreases, so it maps this order to one of results under new names.
        Other results have no order (``meaning.checked``).
Test    tests/unit/test_values_in_order.py, grammar_tests/bounds/order.sql

The order follows from the query (facts/order.py), or from a check that is declared. Either way it only sets
where a range ends, as declared ranges do: SQL clamps to the range whatever the rows hold.
Moments are ordered as instants. A local clock goes back, so AT TIME ZONE keeps the order for UTC alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dpsql.functions import Arguments
from dpsql.ir.column import Fact, Interval, Kind, Order, Type, comparable

KEEP = frozenset(
    ("cast", "epoch", "epoch_ms", "epoch_us", "epoch_ns", "date_trunc", "timezone", "year", "floor", "ceil")
)
"""Functions of one value, with constants, that never decrease."""


def in_order(lesser: Fact, greater: Fact) -> bool:
    """Whether the first value is at most the second in every row that has both."""
    low, high = lesser.order, greater.order
    if low is None or high is None:
        return False
    return not ({low.name} | low.most).isdisjoint({high.name} | high.least)


def of_difference(interval: Interval, value: Fact, subtracted: Fact) -> Interval:
    """Return the range of a difference: what is beyond 0 is left out if the two values are in order."""
    low, high = interval.low, interval.high
    if in_order(subtracted, value):
        low, high = max(0, low), max(0, high)
    if in_order(value, subtracted):
        low, high = min(0, low), min(0, high)
    return Interval(low, high)


def below(fact: Fact, greater: Fact) -> Fact:
    """Return the fact of a value that is at most another one."""
    if fact.order is None or greater.order is None:
        return fact
    most = fact.order.most | greater.order.most | {greater.order.name}
    return replace(fact, order=replace(fact.order, most=most))


def above(fact: Fact, lesser: Fact) -> Fact:
    """Return the fact of a value that is at least another one."""
    if fact.order is None or lesser.order is None:
        return fact
    least = fact.order.least | lesser.order.least | {lesser.order.name}
    return replace(fact, order=replace(fact.order, least=least))


def carried(function: str, arguments: Arguments, type: Type | None) -> Order | None:
    """Return the order of a function's result, if the function keeps the order of its one value."""
    if function not in KEEP:
        return None
    values = [argument for argument in arguments if argument.literal is None]
    if len(values) != 1 or not comparable(values[0].type, values[0].type):
        return None
    (value,), order = values, values[0].fact.order
    if order is None:
        return None
    constants = [argument.literal.value for argument in arguments if argument.literal is not None]
    if function == "timezone" and constants != ["UTC"]:
        return None
    if type is not None and not _keeps_order(value.type, type):
        return None
    spelled = " ".join([function, *map(repr, constants), type.sql if type is not None else ""])

    def mapped(names: Iterable[str]) -> frozenset[str]:
        return frozenset(f"{spelled}({name})" for name in names)

    return Order(f"{spelled}({order.name})", mapped(order.least), mapped(order.most))


def _keeps_order(source: Type, target: Type) -> bool:
    """Whether a cast never decreases: it rounds, or reads moments of no zone in another unit."""
    return (source.numeric and target.numeric) or {source.kind, target.kind} <= {Kind.DATE, Kind.TIMESTAMP}


def ordered(function: str, arguments: Arguments, type: Type | None, fact: Fact) -> Fact:
    """Return the fact of a function's result, with its order or none."""
    order = carried(function, arguments, type)
    return fact if fact.order is order else replace(fact, order=order)
