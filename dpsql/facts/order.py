"""Orders of a relation's columns: which of two values of a row is never the greater one.

    SELECT visit, MAX(t) AS last, MIN(t) AS first ... GROUP BY visit      first <= last
    LAG(t) OVER (PARTITION BY patient ORDER BY t)                          at most t
    FROM stays WHERE ended >= started                                      started <= ended
    check = "admitted <= discharged" of a table                            declared

Claim   In every row the order of functions/core/order.py holds; where it rests on a check, in every row that
        satisfies the check.
Proof   A column without an order is named by itself: a value is at most itself. Names are of one row of one
        relation: rows are put side by side by joins alone, which spell the names of one side anew where both
        sides know them, and a union's columns are named anew. GROUP BY keeps the names of its keys, which are
        values of a row of the group. Over the same rows, NULL left out, the least value is at most the
        greatest. A row's own value is between the least and the greatest of a frame that has the row. In a
        partition sorted by x ascending, x of an earlier row is at most x of a later one, NULLs aside,
        whatever completes the order and however many rows lie between.
Test    tests/unit/test_values_in_order.py, grammar_tests/bounds/order.sql
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dpsql.functions.core.order import above, below
from dpsql.ir.column import Fact, Order
from dpsql.ir.relation import AggregateCall, WindowCall


def named(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    """Name the columns that have no order yet, each by a name that no other value here has."""
    known = _names(facts)
    return {
        name: fact if fact.order is not None else replace(fact, order=Order(_new(name, known)))
        for name, fact in facts.items()
    }


def apart(left: Mapping[str, Fact], right: Mapping[str, Fact]) -> Mapping[str, Fact]:
    """Return the right side of a join, with names of values that the left side does not know."""
    theirs = _names(left)
    if theirs.isdisjoint(ours := _names(right)):
        return right
    spelled = {name: _new(name, theirs | ours) for name in ours}
    return {name: _renamed(fact, spelled) for name, fact in right.items()}


def _names(facts: Mapping[str, Fact]) -> frozenset[str]:
    orders = [fact.order for fact in facts.values() if fact.order is not None]
    return frozenset(name for order in orders for name in (order.name, *order.least, *order.most))


def _new(name: str, known: frozenset[str]) -> str:
    while name in known:
        name += "'"
    return name


def _renamed(fact: Fact, spelled: Mapping[str, str]) -> Fact:
    if fact.order is None:
        return fact
    least, most = (
        frozenset(map(spelled.__getitem__, names)) for names in (fact.order.least, fact.order.most)
    )
    return replace(fact, order=Order(spelled[fact.order.name], least, most))


def of_checks(facts: Mapping[str, Fact], checks: Sequence[tuple[str, str]]) -> dict[str, Fact]:
    """Return the facts of a table's columns; of each check the first column is at most the second."""
    ordered = named(facts)
    for _ in checks:  # an order of n steps is known after n rounds
        for lesser, greater in checks:
            ordered[lesser] = below(ordered[lesser], ordered[greater])
            ordered[greater] = above(ordered[greater], ordered[lesser])
    return ordered


def of_extremes(calls: Sequence[AggregateCall], facts: Mapping[str, Fact]) -> dict[str, Fact]:
    """Return the facts of aggregates of one group: MAX(x) is at least MIN(x) of the same rows."""
    ordered = dict(facts)
    for greatest in (call for call in calls if call.function == "max"):
        for least in (call for call in calls if call.function == "min"):
            if (greatest.argument, greatest.condition) == (least.argument, least.condition):
                ordered[greatest.name] = above(ordered[greatest.name], ordered[least.name])
    return ordered


def of_window(call: WindowCall, result: Fact, argument: Fact | None, first: Fact | None) -> Fact:
    """Return the fact of a window's column, beside its own argument in the row.

    ``first`` is the fact of the first expression of its ORDER BY.
    """
    if argument is None or argument.order is None:
        return result
    ordered = replace(result, order=Order(call.name))
    if call.function in ("min", "max"):
        if call.condition is not None or not _has_the_row(call):
            return ordered
        return (below if call.function == "min" else above)(ordered, argument)
    if call.function not in ("lag", "lead") or first is None or first.order is None:
        return ordered
    if first.order.name != argument.order.name:
        return ordered
    earlier = (call.function == "lag") != call.order[0].descending
    return (below if earlier else above)(ordered, argument)


def _has_the_row(call: WindowCall) -> bool:
    """Whether a row is in its own frame."""
    return call.rows is None or all(end is None or end >= 0 for end in call.rows)
