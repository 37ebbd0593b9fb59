"""Whether DuckDB would read a text at all: our parser takes clauses in the wrong order, and more.

    SELECT ward, COUNT(*) FROM patients GROUP BY ward WHERE smoker
                                                      ^^^^^ D101

DuckDB's parser sees the text and nothing else: this engine holds no table, and runs nothing.
"""

from __future__ import annotations

import json
import os
import threading

from dpsql.driver import connect, duckdb
from dpsql.errors import refuse
from dpsql.ir.source import Span

_LOCK = threading.RLock()
_ENGINES: list[duckdb.DuckDBPyConnection] = []
_HELP = "check the spelling and the order of the clauses"


def check_grammar(text: str) -> None:
    """D101 where DuckDB cannot parse a text."""
    with _LOCK:
        try:
            _engine().extract_statements(text)
        except duckdb.Error as error:
            raise _unread(text, str(error)) from None


def _engine() -> duckdb.DuckDBPyConnection:
    if not _ENGINES:
        engine = connect(
            ":memory:",
            {
                "threads": 1,
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
    """A child's engine is its own; the lock may have been held by a thread that it does not have."""
    global _LOCK
    _LOCK = threading.RLock()
    _ENGINES.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


def _unread(text: str, complaint: str) -> Exception:
    """DuckDB's complaint as ours: its place, and what it could not read."""
    try:
        fields = json.loads(complaint[complaint.index("{") :])
        message = str(fields["exception_message"])
    except (ValueError, KeyError, TypeError):
        message, fields = "", {}
    label = message[:1].lower() + message[1:] if len(message) <= 100 else ""
    if not str(fields.get("position", "")).isdigit():
        return refuse("D101", "this is not SQL that DuckDB reads", label=label, help=_HELP)
    position = int(fields["position"])
    start = len(text.encode()[:position].decode(errors="ignore"))
    end = start + 1
    while end < len(text) and text[start:end].isidentifier() and text[start : end + 1].isidentifier():
        end += 1
    return refuse("D101", "this is not SQL that DuckDB reads", Span(start, end), label=label, help=_HELP)
