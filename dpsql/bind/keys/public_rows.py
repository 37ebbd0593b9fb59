"""Keys that are columns of a public table, where conditions say which of its rows are read.

    visits JOIN places USING (place_id) WHERE places.beds > 35    GROUP BY places.name, places.city

    the names and cities of the places with more than 35 beds

Claim   a combination that is left out has no row.
Proof   A key of a row is a column of the row of the table that the private row was joined with
        (facts/public_origin.py), and so are the columns that a condition reads; every row satisfies it. The
        conditions are tried on all rows of the table. What is listed depends on public rows alone.
Test    grammar_tests/keys/conditions_on_public_rows.sql, tests/unit/test_keys_where_conditions_hold.py
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from dpsql.bind.keys.public_values import Rows, quoted, rows_of
from dpsql.bind.scope.public_facts import Evaluate
from dpsql.errors import Error
from dpsql.facts.conditions_met import conditions_below
from dpsql.facts.public_origin import PublicOrigin, public_origin
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions.core.printing import sql_of
from dpsql.ir.relation import Relation, Scan
from dpsql.ir.scalar import Ref, Scalar, refs, replace_refs
from dpsql.lazy_dataclass import dataclass

MOST_ROWS = 10_000
"""The most rows of a table that are listed so; of more, conditions leave out nothing."""


@dataclass(frozen=True, slots=True)
class Met:
    """The distinct rows of columns of a public table that meet the conditions, for keys at ``places``."""

    places: tuple[int, ...]
    rows: Rows


def rows_that_meet(relation: Relation, keys: Sequence[Scalar], evaluate: Evaluate) -> list[Met]:
    """Return the rows of each public table that has keys among its columns, and conditions on them alone."""
    of_scans: defaultdict[int, dict[int, PublicOrigin]] = defaultdict(dict)
    for place, key in enumerate(keys):
        origin = public_origin(relation, key)
        if origin is not None and not origin.missing:
            of_scans[id(origin.scan)][place] = origin
    found = (_met(relation, keys, columns, evaluate) for columns in of_scans.values())
    return [each for each in found if each is not None]


def _met(
    relation: Relation, keys: Sequence[Scalar], columns: Mapping[int, PublicOrigin], evaluate: Evaluate
) -> Met | None:
    scan = next(iter(columns.values())).scan
    conditions = _conditions_on(scan, relation)
    if not conditions:
        return None
    facts = {column.source: column.fact for column in scan.columns}
    try:
        where = " AND ".join(sql_of(each, facts.__getitem__, quoted) for each in conditions)
    except Error:
        return None
    listed = ", ".join(quoted(origin.column) for origin in columns.values())
    types = [fact_of(keys[place], facts_of(relation)).type for place in columns]
    table = quoted(scan.table)
    query = f"SELECT DISTINCT {listed} FROM {table} WHERE {where} ORDER BY {listed}"
    rows = rows_of(query, types, MOST_ROWS, evaluate, (scan.table,))
    return None if rows is None else Met(tuple(columns), rows)


def _conditions_on(scan: Scan, relation: Relation) -> list[Scalar]:
    """Return the conditions on columns of one scan alone, over the names that they have in the table."""
    found = []
    for source, condition in conditions_below(relation):
        origins = {name: public_origin(source, Ref(name), equal=False) for name in refs(condition)}
        own = {
            name: Ref(origin.column)
            for name, origin in origins.items()
            if origin is not None and origin.scan is scan and not origin.missing
        }
        if origins and len(own) == len(origins):
            found.append(replace_refs(condition, {**own}))
    return found
