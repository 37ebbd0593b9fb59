"""Rows of a unit that some scalars tell apart: alone in their group, or without ties in their order.

    SELECT ts, SUM(kwh) FROM readings GROUP BY ts                        a row key is (household_id, ts)
    ... FROM (SELECT person, day, SUM(x) AS x ... GROUP BY person, day) GROUP BY day
    LAG(kwh) OVER (PARTITION BY household_id ORDER BY ts)

Then no sum per unit and group is needed, and a window needs no other columns to break ties.

Claim   no two rows of a unit are equal in all of these scalars.
Proof   A row key is a set of columns in which all rows of a unit differ (``few_rows.telling``): the groups of
        an aggregate, or a key that the database enforces, or that was checked when this version of the data
        was opened, if none of its columns may be NULL. Two rows of a unit are equal in its own columns and in
        what the unit determines. Where a scalar is a column as it is, values of these kinds are one in a
        group, and tie in an order, only if they are one in the column. So two rows that are equal in all
        scalars would be equal in all columns of the row key, and are one row. Grouping sets drop keys, and
        are left out; plan/measure_facts.py has them, where it guesses from which rows on to clip.
Test    tests/privacy/test_lone_rows.py
"""

from __future__ import annotations

from collections.abc import Iterable

from dpsql.facts.few_rows import telling
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import facts_of
from dpsql.ir.column import Kind, Type
from dpsql.ir.measure import Measure
from dpsql.ir.relation import Relation
from dpsql.ir.scalar import Ref, Scalar
from dpsql.once_each import once_each

_EXACT = (Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.TEXT, Kind.DATE, Kind.UUID)


@once_each
def are_alone(measure: Measure) -> bool:
    """Whether a unit has at most one row in each group."""
    keys = [key.scalar for key in measure.keys]
    return bool(keys) and not measure.sets and tell_apart(keys, measure.relation)


def tell_apart(scalars: Iterable[Scalar], relation: Relation) -> bool:
    """Whether no two rows of a unit are equal in all scalars."""
    owned = ownership_of(relation)
    if not isinstance(owned, Owned):
        return False
    facts = facts_of(relation)
    plain = {scalar.name for scalar in scalars if isinstance(scalar, Ref)}
    same = owned.units | owned.settled | {name for name in plain if _is_exact(facts[name].type)}
    return any(key <= same for key in telling(owned, facts))


def _is_exact(type: Type) -> bool:
    """Whether values that are one in a group, or tie, are one: not 0.0 and -0.0, nor two nanoseconds."""
    return type.kind in _EXACT or type.sql == "TIMESTAMP"
