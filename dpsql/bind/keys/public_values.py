"""Try expressions on public values, and keep what they return.

The sealed engine computes them, printed as for private rows. What reads no table is kept for the process.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from decimal import Decimal

from dpsql.bind.scope.public_facts import Evaluate, python_value
from dpsql.errors import Error
from dpsql.functions.core.literals import as_own, literal_sql
from dpsql.ir.column import Type, Value
from dpsql.ir.scalar import Literal

Rows = tuple[tuple[Value, ...], ...]

_KEPT: dict[tuple[str, int], Rows | None] = {}
_LOCK = threading.RLock()

_MOST_KEPT = 500

_LONGEST_KEPT = 100_000
"""Characters of SQL."""

_MOST_ROWS_KEPT = 1_000


def _replace_lock() -> None:
    """Replace the lock in a forked child, where the thread that holds it does not exist."""
    global _LOCK
    _LOCK = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_replace_lock)


def rows_of(
    query: str, types: Sequence[Type], most: int, evaluate: Evaluate, tables: tuple[str, ...] = ()
) -> Rows | None:
    """Return the rows of a query, as values of group keys.

    None if it fails, has too many, or one that is no constant: NaN, a date that Python does not have.
    """
    named = f"{', '.join(kind.sql for kind in types)}: {query}", most
    with _LOCK:
        if not tables and named in _KEPT:
            return _KEPT[named]
    try:
        _, found = evaluate(query, tables, most)
    except Error as error:
        if error.code.startswith("D6") and error.code != "D604":  # interrupted: they may still exist
            raise
        return None
    rows = _own(found, types) if len(found) <= most else None
    if not tables and len(query) <= _LONGEST_KEPT and (rows is None or len(rows) <= _MOST_ROWS_KEPT):
        with _LOCK:
            _KEPT[named] = rows
            if len(_KEPT) > _MOST_KEPT:
                del _KEPT[next(iter(_KEPT))]
    return rows


def _own(rows: Sequence[tuple[Value, ...]], types: Sequence[Type]) -> Rows | None:
    own = tuple(tuple(map(python_key, row, types)) for row in rows)
    for row, given in zip(own, rows, strict=True):
        if any(value is None and before is not None for value, before in zip(row, given, strict=True)):
            return None
    return own


def python_key(value: Value, type: Type) -> Value:
    """Return a value of the engine as that of a group key; None for NULL and for what is no constant."""
    return None if value is None else as_own(_without_negative_zero(python_value(value, type)), type)


def _without_negative_zero(value: Value) -> Value:
    """Replace -0 by 0, as in a group key."""
    return value + 0 if isinstance(value, float | Decimal) else value


def values_sql(values: tuple[Value, ...], type: Type) -> str:
    """Return SQL for the values as rows."""
    listed = ", ".join(f"({literal_sql(Literal(value, type))})" for value in values)
    empty = f"SELECT CAST(NULL AS {type.sql}) WHERE false"
    return f"SELECT * FROM (VALUES {listed})" if values else empty


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
