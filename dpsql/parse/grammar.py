"""Syntax check by DuckDB's parser: sqlglot also accepts clauses in the wrong order, and more.

    SELECT ward, COUNT(*) FROM patients GROUP BY ward WHERE smoker
                                                      ^^^^^ D101

DuckDB only parses the text: this engine has no tables and runs no queries.
"""

from __future__ import annotations

import json
import os
import threading

from dpsql.driver import connect, duckdb
from dpsql.errors import refuse
from dpsql.ir.source import Span
from dpsql.parse.other_syntax import advice_at, advice_on

_LOCK = threading.RLock()
_ENGINES: list[duckdb.DuckDBPyConnection] = []


def check_grammar(text: str) -> None:
    """Refuse a text that DuckDB cannot parse: D101."""
    with _LOCK:
        try:
            _engine().extract_statements(text)
        except duckdb.Error as error:
            raise _unread(text, str(error)) from None


def start() -> None:
    """Start the engine that parses, before there is a text."""
    with _LOCK:
        _engine()


def _engine() -> duckdb.DuckDBPyConnection:
    if not _ENGINES:
        engine = connect(
            ":memory:",
            {
                "threads": 1,
                "async_threads": 0,  # it reads no file
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
            },
        )
        for setting in (
            "errors_as_json = true",
            "enable_external_access = false",
            "lock_configuration = true",
        ):
            engine.execute(f"SET {setting}")
        _ENGINES.append(engine)
    return _ENGINES[0]


def _reset_after_fork() -> None:
    """Drop the engine and the lock in a forked child: a thread of the parent may hold the lock."""
    global _LOCK
    _LOCK = threading.RLock()
    _ENGINES.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


def _unread(text: str, complaint: str) -> Exception:
    """Turn a parser error of DuckDB into a refusal with its position and message."""
    try:
        fields = json.loads(complaint[complaint.index("{") :])
        message = str(fields["exception_message"])
    except (ValueError, KeyError, TypeError):
        message, fields = "", {}
    label = message[:1].lower() + message[1:] if len(message) <= 100 else ""
    if not str(fields.get("position", "")).isdigit():
        return refuse("D101", "DuckDB cannot parse this SQL", label=label, help=advice_on(text, message))
    position = int(fields["position"])
    start = len(text.encode()[:position].decode(errors="ignore"))
    end = start + 1
    while end < len(text) and text[start:end].isidentifier() and text[start : end + 1].isidentifier():
        end += 1
    span = Span(start, end)
    return refuse("D101", "DuckDB cannot parse this SQL", span, label=label, help=advice_at(text, span))
