"""Rows of a unit that are alone in their group: then no sum per unit and group is needed.

    SELECT ts, SUM(kwh) FROM readings GROUP BY ts                        a row key is (household_id, ts)
    ... FROM (SELECT person, day, SUM(x) AS x ... GROUP BY person, day) GROUP BY day

Claim   a unit has at most one row of the relation in each group.
Proof   A row key is a set of columns in which all rows of a unit differ (``few_rows.telling``): the groups of
        an aggregate, or a key that the database enforces, or that was checked when this version of the data
        was opened, if none of its columns may be NULL. Two rows of a unit in one group are equal in its own
        columns, in what the unit determines, and in each group key that is a column as it is: values of these
        kinds are one in a group only if they are one in the column. So they are equal in all columns of the
        row key, and are one row. Grouping sets drop keys, and are left out; plan/measure_facts.py has them,
        where it guesses from which rows on to clip.
Test    tests/privacy/test_lone_rows.py
"""

from __future__ import annotations

from dpsql.facts.few_rows import telling
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import facts_of
from dpsql.ir.column import Kind, Type
from dpsql.ir.measure import Measure
from dpsql.ir.scalar import Ref
from dpsql.once_each import once_each

_EXACT = (Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.TEXT, Kind.DATE, Kind.UUID)


@once_each
def are_alone(measure: Measure) -> bool:
    """Whether a unit has at most one row in each group."""
    owned = ownership_of(measure.relation)
    if measure.sets or not measure.keys or not isinstance(owned, Owned):
        return False
    facts = facts_of(measure.relation)
    plain = {key.scalar.name for key in measure.keys if isinstance(key.scalar, Ref)}
    same = owned.units | owned.settled | {name for name in plain if _is_exact(facts[name].type)}
    return any(key <= same for key in telling(owned, facts))


def _is_exact(type: Type) -> bool:
    """Whether a group has one value of the column: not 0.0 and -0.0, nor two nanoseconds."""
    return type.kind in _EXACT or type.sql == "TIMESTAMP"
