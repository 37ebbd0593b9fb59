"""Rows that several statements of a measure read: computed once, and held in a temporary table meanwhile.

    SELECT AVG(gap), MEDIAN(gap) FROM (SELECT day - LAG(day) OVER (...) AS gap FROM visits)

    CREATE TEMP TABLE "special 7" AS SELECT ... OVER (...)      once
    SELECT sum(...) FROM "special 7"                            the sums
    SELECT list(bin) FROM "special 7"                           the bins of the median

Claim   each statement has the result that it has without the table.
Proof   What is held is a private relation of the measure's own tree, and the table stands for it wherever the
        statements are printed from that tree: no text of the query is looked at. It has the same columns and
        rows, since the relation is printed alike in all readings of all rows; where rows of some units are
        read apart, it is computed from these. The file does not change within a measure
        (``DuckDB._reading`` raises), and a relation picks no rows by chance: rows that tie in the order of a
        window are equal in all that is read.
Test    tests/privacy/test_held_rows.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from dpsql.engines.relation_sql import Reading, read_from, relation_sql
from dpsql.engines.temporary_tables import TemporaryTables, dropped_if_stopped
from dpsql.errors import DatabaseError, was_interrupted
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.ir.relation import Aggregate, Filter, Join, Project, Relation, Union, Window


@contextmanager
def held(relation: Relation, readings: Sequence[Reading], tables: TemporaryTables) -> Iterator[bool]:
    """Hold the outermost private rows that cost a sort or groups; yield whether there are any.

    They are printed alike in all ``readings``, or each statement would read others.
    """
    costly = next((each for each in _costly(relation) if _is_alike(each, readings)), None)
    name = None if costly is None else _kept(relation_sql(costly), tables)
    if costly is None or name is None:
        yield False
        return
    with dropped_if_stopped(tables, name), read_from(name, costly):
        yield True
    tables.drop(name)


def _kept(rows: str, tables: TemporaryTables) -> str | None:
    """Keep rows under a name; None if there is no room: then each statement computes them."""
    try:
        return tables.kept(rows)
    except DatabaseError as error:
        if was_interrupted(error):
            raise
        return None


def _is_alike(relation: Relation, readings: Sequence[Reading]) -> bool:
    if not isinstance(ownership_of(relation), Owned):
        return False
    return len({relation_sql(relation, reading) for reading in (Reading(), *readings)}) == 1


def _costly(relation: Relation) -> Iterator[Relation]:
    """Yield relations that read a window or groups without a join between, from the outside in."""
    if _is_costly(relation):
        yield relation
    match relation:
        case Filter(source) | Project(source):
            yield from _costly(source)
        case Join(left=left, right=right) | Union(left, right):
            yield from _costly(left)
            yield from _costly(right)


def _is_costly(relation: Relation) -> bool:
    match relation:
        case Window() | Aggregate():
            return True
        case Filter(source) | Project(source):
            return _is_costly(source)
        case _:
            return False
