"""Statements that are asked for again, parsed once: of planning a long one, parsing takes a third.

    SELECT k0, sum(g0) ...    first: run as text    second: parsed and kept    then: not parsed

Claim   a statement that is kept has the rows that its text has.
Proof   It is what DuckDB's parser returned for that very text; names are bound, and types found, each time
        that it runs. DuckDB copies it before it plans.
Test    tests/unit/test_parsed_once.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

_MOST = 32
"""Texts that are remembered; the one that was not asked for longest goes first."""

_SHORT, _LONG = 200, 20_000
"""Characters of texts that are parsed fast, and of those whose statements take much memory."""


class ParsedOnce:
    """The statements of one connection."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._known: dict[str, duckdb.Statement | None] = {}

    def __call__(self, sql: str) -> str | duckdb.Statement:
        """Return what to execute for a text: itself if it is new, else its statement."""
        if not _SHORT < len(sql) < _LONG:
            return sql
        asked = sql in self._known
        statement = self._known.pop(sql, None)
        if asked and statement is None:
            statement, *more = self._connection.extract_statements(sql)
            assert not more, "one text is one statement"
        self._known[sql] = statement
        if len(self._known) > _MOST:
            del self._known[next(iter(self._known))]
        return sql if statement is None else statement
