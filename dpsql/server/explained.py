"""``dpsql.explain``, a table whose rows explain a question: for tools that take nothing but a SELECT.

    SELECT * FROM dpsql.explain('SELECT COUNT(*) FROM patients')      EXPLAIN SELECT COUNT(*) FROM patients

Test: tests/drivers/test_server_clients.py
"""

from __future__ import annotations

import re

_TABLE = re.compile(
    r"(?:SELECT\s+(?:\*|explain)\s+)?FROM\s+dpsql\s*\.\s*explain\s*\(\s*'((?:[^']|'')*)'\s*\)(?:\s*;)?",
    re.IGNORECASE,
)
_WORD = "EXPLAIN "


def explaining(sql: str) -> tuple[str, int] | None:
    """Return the EXPLAIN that a SELECT from this table asks for, and how far its words moved to the left."""
    bare = sql.lstrip()
    found = _TABLE.fullmatch(bare.rstrip())
    if found is None:
        return None
    return _WORD + found[1].replace("''", "'"), len(sql) - len(bare) + found.start(1) - len(_WORD)
