"""Rows of a unit that its columns tell apart: no more than there are values.

    SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, kind FROM visits)     four kinds: 4 rows, not 20
    ... QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ...) <= 3        3 rows
    ... WHERE visit_id IN (7, 8)                                            2 rows, where that is a key

Claim   A unit has at most so many rows here, if the data keeps its declarations.
Proof   Rows of a unit differ in the columns of a row key, other than the unit: of a declared one if none of
        its columns may be NULL, as UNIQUE lets NULL stand in many rows; of groups and numbered rows in any
        case. Each of these has at most the values of its list, or the whole numbers or days of its range, and
        NULL where that is possible; so there are at most as many rows as combinations. A projection keeps
        rows; a filter, a window and an aggregate make no more of them, a join as many as rows meet on the
        other side.
Test    tests/unit/test_few_rows.py, grammar_tests/per_unit/few_rows.sql

Like all rows of a unit this says where clipping starts: rows that break a declaration are scaled down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import TypeAlias

from dpsql.facts.ownership import Owned, fan_out, least, meets_one, ownership_of
from dpsql.ir.column import Categories, Fact, Interval, Kind
from dpsql.ir.relation import Aggregate, Filter, Join, JoinKind, Project, Relation, Window
from dpsql.ir.scalar import MOST_NODES, Scalar, has_more_nodes, replace_refs

FactsOf: TypeAlias = Callable[[Relation], Mapping[str, Fact]]

_COUNTED = (Kind.INTEGER, Kind.DATE)
"""Kinds whose ranges have finitely many values, one apart."""


def few_rows(relation: Relation, facts_of: FactsOf) -> int | None:
    """Return the fewest rows that row keys allow, here or where the rows come from; None without one."""
    return least(_by_row_keys(relation, facts_of), _before(relation, facts_of))


def _by_row_keys(relation: Relation, facts_of: FactsOf) -> int | None:
    owned = ownership_of(relation)
    if not isinstance(owned, Owned):
        return None
    facts, found = facts_of(relation), list[int]()
    for key in telling(owned, facts):
        columns = key - owned.units - owned.settled
        counts = [_values(facts[name]) for name in columns if name in facts]
        known = [count for count in counts if count is not None]
        if columns and len(known) == len(columns):
            found.append(max(1, prod(known)))  # noise needs a bound where no value is left, too
    return least(*found)


def telling(owned: Owned, facts: Mapping[str, Fact]) -> list[frozenset[str]]:
    """Return the row keys in which all rows of a unit differ, those with NULL too."""
    unsure = {name for name in owned.sparse - owned.units if name not in facts or facts[name].nullable}
    return [key for key in owned.row_keys if key.isdisjoint(unsure)]


def _before(relation: Relation, facts_of: FactsOf) -> int | None:
    match relation:
        case Filter(Project(source, columns), condition) if not has_more_nodes(condition, MOST_NODES):
            # the same rows are left below the projection
            below = replace_refs(condition, {column.name: column.scalar for column in columns})
            return few_rows(Filter(source, below), facts_of)
        case Filter(source, _) | Project(source, _) | Window(source, _) | Aggregate(source, _, _):
            return few_rows(source, facts_of)
        case Join():
            return _of_join(relation, facts_of)
        case _:
            return None


def _of_join(join: Join, facts_of: FactsOf) -> int | None:
    """Return the few rows of one side, times those that each of them meets on the other."""
    left, right, condition = join.left, join.right, join.condition
    if join.kind is JoinKind.FULL:
        return None
    ours, theirs = (isinstance(ownership_of(side), Owned) for side in (left, right))
    if join.kind is JoinKind.SEMI and ours and theirs and meets_one(right, left, condition):
        return least(few_rows(left, facts_of), few_rows(right, facts_of))
    if join.kind.one_sided or (ours and meets_one(left, right, condition)):
        return few_rows(left, facts_of)
    if theirs and join.kind is JoinKind.INNER and meets_one(right, left, condition):
        return few_rows(right, facts_of)
    few = few_rows(left, facts_of), few_rows(right, facts_of)
    rows = least(few[0], _met(left, right, condition)), least(few[1], _met(right, left, condition))
    if few == (None, None) or rows[0] is None or rows[1] is None:
        return None
    return rows[0] * max(1, rows[1])


def _met(side: Relation, far_side: Relation, condition: Scalar | None) -> int | None:
    """Return how many rows of this side a row of the other side meets."""
    owned = ownership_of(side)
    return owned.rows if isinstance(owned, Owned) else fan_out(side, far_side, condition)


def _values(fact: Fact) -> int | None:
    """Return how many values a column has, NULL included."""
    match fact.domain:
        case Categories(values):
            return len(values) + fact.nullable
        case Interval(int() as low, int() as high) if fact.type.kind in _COUNTED:
            return high - low + 1 + fact.nullable
        case _:
            return 2 + fact.nullable if fact.type.kind is Kind.BOOLEAN else None
