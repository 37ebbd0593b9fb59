"""Rows that several statements of a measure read: computed once, and held in a temporary table meanwhile.

    SELECT AVG(gap), MEDIAN(gap) FROM (SELECT day - LAG(day) OVER (...) AS gap FROM visits)

    CREATE TEMP TABLE "special 7" AS SELECT ... OVER (...)      once
    SELECT sum(...) FROM "special 7"                            the sums
    SELECT list(bin) FROM "special 7"                           the bins of the median

Claim   each statement has the result that it has without the table.
Proof   What is held is a relation as ``relation_sql`` prints it: it names tables of the database, and nothing
        else of the statement around it. It stands there letter by letter behind FROM or JOIN, and the table
        in its place has the same columns and rows. The file does not change within a measure
        (``DuckDB._reading`` raises), and a relation picks no rows by chance: rows that tie in the order of a
        window are equal in all that is read.
Test    tests/privacy/test_held_rows.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias

from dpsql.engines.relation_sql import Reading, relation_sql
from dpsql.engines.temporary_tables import TemporaryTables, dropped_if_stopped
from dpsql.errors import DatabaseError, was_interrupted
from dpsql.ir.relation import Aggregate, Filter, Join, Project, Relation, Union, Window

AsHeld: TypeAlias = Callable[[str], str]
"""Print a statement that reads what is held."""


@contextmanager
def held(relation: Relation, readings: Sequence[Reading], tables: TemporaryTables) -> Iterator[AsHeld]:
    """Hold the outermost rows that cost a sort or groups, and that are printed alike in all readings."""
    rows = next((rows for each in _costly(relation) for rows in _alike(each, readings)), None)
    name = None if rows is None else _kept(rows, tables)
    if rows is None or name is None:
        yield str
        return
    with dropped_if_stopped(tables, name):
        yield partial(_reading_held, rows, name)
    tables.drop(name)


def _kept(rows: str, tables: TemporaryTables) -> str | None:
    """Keep rows under a name; None if there is no room: then each statement computes them."""
    try:
        return tables.kept(rows)
    except DatabaseError as error:
        if was_interrupted(error):
            raise
        return None


def _alike(relation: Relation, readings: Sequence[Reading]) -> list[str]:
    printed = {relation_sql(relation, reading) for reading in readings}
    return [*printed] if len(printed) == 1 else []


def _reading_held(rows: str, name: str, sql: str) -> str:
    for word in ("FROM", "JOIN"):
        sql = sql.replace(f"{word} ({rows})", f"{word} {name}")
    return sql


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
