"""DuckDB's driver without what is written in Python around it, and its engines through a fork.

    from dpsql.driver import connect, duckdb

``import duckdb`` loads relations, expressions and readers of other packages' frames, which takes as long as
all of numpy; dpsql sends SQL and fetches rows. The compiled module below it is the same one, with the same
connections and the same errors, whoever else loads the rest.

A fork copies an engine without its threads: a child that asks it may wait for them for ever, and one that
closes or merely forgets it dies of SIGSEGV when they are joined. So every engine that may live when the
process forks is started by ``connect`` here, and a child keeps what it inherits untouched to its own end.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb
else:
    try:
        import _duckdb as duckdb
    except ImportError:  # where a version of the package has another name for it
        import duckdb

_ALIVE: weakref.WeakSet[duckdb.DuckDBPyConnection] = weakref.WeakSet()


def connect(
    database: str, config: Mapping[str, Any] | None = None, read_only: bool = False
) -> duckdb.DuckDBPyConnection:
    """An engine of this process, or another connection to the one that it has for this file."""
    made = duckdb.connect(database, read_only=read_only, config=dict(config or {}))
    _ALIVE.add(made)
    return made


def _keep_inherited() -> None:
    """One reference too many: the child takes down no engine of its parent, not even at its end."""
    if _ALIVE:
        import ctypes  # only a child that inherits an engine needs it

        for each in list(_ALIVE):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(each))
        _ALIVE.clear()


if hasattr(os, "register_at_fork"):  # no process forks on Windows
    os.register_at_fork(after_in_child=_keep_inherited)

__all__ = ["connect", "duckdb"]
