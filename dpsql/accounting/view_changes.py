"""When the names of private views changed last, for who shows names and opens no ledger.

    last_view_change(Path("clinic.ledger"))      the number of the entry, 0 if there is none

It proves nothing: it reads the ledger's index, unchecked. Who acts on a view reads the chain.
Test: tests/unit/test_view_changes.py
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from dpsql.accounting.chain import short_name
from dpsql.accounting.entry_index import NAMED


def last_view_change(ledger: Path) -> int:
    """Return the number of the last entry that named a view, or changed who may read it."""
    try:
        with closing(sqlite3.connect(ledger.absolute().as_uri() + "?mode=ro", uri=True)) as file:
            query = "SELECT COALESCE(MAX(id), 0) FROM places WHERE name = ?"
            [(found,)] = file.execute(query, [short_name(NAMED)]).fetchall()
    except sqlite3.Error:  # there is no ledger yet, or somebody writes to it for long
        return 0
    return int(found)
