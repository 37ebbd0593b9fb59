"""Give a bound query the ranges that it lacked, without binding it again.

    SELECT ward, SUM(cost) FROM visits GROUP BY ward     lacks the range of cost, and only in the SUM

    SELECT SUM(cost) FROM visits WHERE cost > 5          the condition reads it too: bound again

Claim   where it returns a query, binding again would return the same.
Proof   Binding reads the catalogue's ranges in two ways: it copies them into scans, and it asks for the facts
        of scalars. The first is done here. Of the second, the fact of a column that lacked a range is asked
        for only where a scalar reads it; here it is the plain argument of an aggregate over units, which
        binding resolves by its name. Rows per unit, inner aggregates, windows, unions and further stages
        decide more: they are bound again.
Test    grammar_tests/test_found_ranges.py: fixtures, bound in both ways
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dpsql.aggregates import shelf
from dpsql.facts.origin import origins_of
from dpsql.ir.measure import Measure, Split
from dpsql.ir.relation import Filter, Join, Materialized, Project, Relation, Scan
from dpsql.ir.scalar import Ref, Scalar
from dpsql.policy.catalogue import Known, KnownTable


def with_found_ranges(split: Split, known: Known) -> Split | None:
    """Return the split as if it had been bound with the found ranges of ``known``; None: bind it again."""
    found = {table.name: table for table in known.tables if table.found}
    if not found:
        return split
    if split.needed or len(split.stages) != 1 or any("" in table.found for table in found.values()):
        return None
    (stage,) = split.stages
    measures = [_with_ranges_of(measure, found) for measure in stage.measures]
    ranged = tuple(measure for measure in measures if measure is not None)
    if len(ranged) != len(measures):
        return None
    return replace(split, stages=(replace(stage, measures=ranged),))


def _with_ranges_of(measure: Measure, found: dict[str, KnownTable]) -> Measure | None:
    relation = _with_ranges(measure.relation, found)
    if relation is None or _reads(measure.relation, _scalars(measure), found):
        return None
    return replace(measure, relation=relation)


def _scalars(measure: Measure) -> Iterable[Scalar]:
    """Yield the scalars of a measure of which binding may ask for facts."""
    for key in measure.keys:
        yield key.scalar
    for call in measure.aggregates:
        if call.condition is not None:
            yield call.condition
        yield from call.others
        plain = isinstance(call.argument, Ref) and not shelf()[call.function].detail
        if call.argument is not None and not plain:
            yield call.argument


def _reads(relation: Relation, scalars: Iterable[Scalar], found: dict[str, KnownTable]) -> bool:
    """Whether one of the scalars reads a column with a found range."""
    return any(
        table in found and column in found[table].found
        for scalar in scalars
        for table, column in origins_of(relation, scalar)
    )


def _with_ranges(relation: Relation, found: dict[str, KnownTable]) -> Relation | None:
    """Return rows with found ranges in their scans; None where anything but names reads such a column."""
    match relation:
        case Scan(table, columns) if table in found:
            facts = {column.name: column.fact for column in found[table].columns}
            ranged = (
                replace(column, fact=facts[column.source], guessed=True)
                if column.source in found[table].found
                else column
                for column in columns
            )
            return replace(relation, columns=tuple(ranged))
        case Scan() | Materialized():
            return relation
        case Filter(source, condition):
            below = None if _reads(source, (condition,), found) else _with_ranges(source, found)
            return None if below is None else replace(relation, input=below)
        case Project(source, columns):
            computed = [named.scalar for named in columns if not isinstance(named.scalar, Ref)]
            below = None if _reads(source, computed, found) else _with_ranges(source, found)
            return None if below is None else replace(relation, input=below)
        case Join():
            on = () if relation.condition is None else (relation.condition,)
            left, right = (
                None if _reads(side, on, found) else _with_ranges(side, found)
                for side in (relation.left, relation.right)
            )
            return None if left is None or right is None else replace(relation, left=left, right=right)
        case _:
            return None
