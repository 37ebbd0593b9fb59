"""``dpsql.call``, a table of one text: what ``dpsql shell --host`` asks, as JSON (``dpsql.remote``).

    SELECT * FROM dpsql.call('{"do": "price", "sql": "SELECT COUNT(*) FROM patients", ...}')

Test: tests/drivers/test_server_shell.py
"""

from __future__ import annotations

import re

from dpsql.ir.heading import Heading
from dpsql.server.results import columns_of

_TABLE = re.compile(
    r"SELECT\s+\*\s+FROM\s+dpsql\s*\.\s*call\s*\(\s*'((?:[^']|'')*+)'\s*\)(?:\s*;)?", re.IGNORECASE
)
COLUMNS = columns_of((Heading("result", "VARCHAR"),))


def called(sql: str) -> str | None:
    """Return the document of a call; None if the statement is something else."""
    found = _TABLE.fullmatch(sql.strip())
    return None if found is None else found[1].replace("''", "'")
