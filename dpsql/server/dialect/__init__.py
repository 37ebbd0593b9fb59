"""PostgreSQL's spellings that mean the same to DuckDB in another spelling.

    asked = understood("SELECT TO_CHAR(day, 'YYYY-MM') FROM public.visits", "clinic")
    asked.text                     SELECT strftime(day, '%Y-%m') FROM        visits
    asked.original(error.start)    where the caret of a refusal is in the client's text

names.py          "clinic"."public"."t", public.t
time_formats.py   TO_CHAR of a moment, TO_DATE and TO_TIMESTAMP of constants
patterns.py       x ~* 'card', and a dot that matches the end of a line
literals.py       E'it\\'s', btrim, every

Claim   a statement that is changed means to dpsql what it means to PostgreSQL, for years 1 to 9999.
Proof   Each rewriting stands in its module with what it leaves alone. All else reaches dpsql as it was
        written, as DuckDB's SQL: 7 / 2 is 3.5. What is rewritten is checked like any
        text: no refusal is taken away.
Test    tests/server/test_dialect.py, tests/server/test_bi_questions.py
"""

from __future__ import annotations

from collections.abc import Collection

from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from dpsql.parse.allow_list import MAX_TEXT
from dpsql.server.dialect.edits import Edit, Understood, applied
from dpsql.server.dialect.literals import plain_literals, renamed_functions
from dpsql.server.dialect.names import without_schemas
from dpsql.server.dialect.patterns import plain_patterns
from dpsql.server.dialect.time_formats import plain_times


def understood(sql: str, database: str, schemas: Collection[str] = ()) -> Understood:
    """Return a statement as dpsql reads it. ``schemas`` are those of the policy's tables, beside main."""
    if len(sql) > MAX_TEXT:
        return Understood(sql, ())
    try:
        tokens = list(Dialect.get_or_raise("duckdb").tokenize(sql))
    except SqlglotError:  # dpsql refuses it, and says where
        return Understood(sql, ())
    edits: list[Edit] = [
        *without_schemas(tokens, database, schemas),
        *plain_times(tokens),
        *plain_patterns(tokens),
        *plain_literals(tokens, sql),
        *renamed_functions(tokens),
    ]
    return applied(sql, edits)


__all__ = ["Understood", "understood"]
