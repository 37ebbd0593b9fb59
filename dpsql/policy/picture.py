"""A public picture of private rows: what is declared of their columns, beside a refusal to show rows.

    SELECT * FROM patients LIMIT 10     SUMMARIZE patients

    age: INTEGER, [0, 120]              sex: VARCHAR, F, M              patient_id: INTEGER, tells the patient

It is a refusal and no answer. A program that asks for rows would take a table of columns for them, and an
empty table for a table without rows. Nothing is read for it: the lines are of the policy and of types.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpsql.errors import Error
from dpsql.policy.catalogue import Known
from dpsql.policy.listing import Column, tables_of
from dpsql.policy.names import fold

MOST_COLUMNS = 20
"""A wider table's picture says how many more columns there are."""

_ASKED = re.compile(r'\s*(?:summarize|describe|desc)\s+(?:main\.)?("?)([^";]+?)\1\s*;?\s*', re.IGNORECASE)


def picture(columns: Sequence[Column], unit: str) -> tuple[str, ...]:
    """Return a line for each column."""
    lines = [_line(column, unit) for column in columns[:MOST_COLUMNS]]
    left = len(columns) - len(lines)
    return (*lines, f"and {left} more columns") if left else tuple(lines)


def pictured(refusal: Error, text: str, known: Known) -> Error:
    """Return the refusal of a statement; that of SUMMARIZE t with the picture of the table."""
    asked = _ASKED.fullmatch(text) if refusal.code == "D104" else None
    tables = [] if asked is None else [t for t in tables_of(known, {}) if fold(t.name) == fold(asked[2])]
    for table in tables:
        refusal.notes = (*refusal.notes, *picture(table.columns, known.unit))
    return refusal


def _line(column: Column, unit: str) -> str:
    told = f"tells the {unit}" if column.unit else column.hint
    beside = f"with {', '.join(column.beside)} tells the {unit}" if column.beside else ""
    return ", ".join(filter(None, (f"{column.name}: {column.type}", told, beside)))
