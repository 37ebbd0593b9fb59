"""DuckDB's compiled driver without its Python package, and engines that survive a fork.

    from dpsql.driver import connect, duckdb

``import duckdb`` loads relations, expressions and readers of other packages' frames, which takes as long as
all of numpy; dpsql only sends SQL and fetches rows. The compiled module below it is the same one, with the
same connections and the same errors, whether or not other code loads the rest.

A fork copies an engine without its threads: a child that queries it may wait for them for ever, and one that
closes or merely drops it dies of SIGSEGV when they are joined. So every engine that may be open when the
process forks is started by ``connect`` here, and a child keeps the engines that it inherits untouched.
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
    except ImportError:  # a version of the package with another name for it
        import duckdb

_ALIVE: weakref.WeakSet[duckdb.DuckDBPyConnection] = weakref.WeakSet()


def connect(
    database: str, config: Mapping[str, Any] | None = None, read_only: bool = False
) -> duckdb.DuckDBPyConnection:
    """Start an engine, or open another connection to this process's engine for the file."""
    connection = duckdb.connect(database, read_only=read_only, config=dict(config or {}))
    _ALIVE.add(connection)
    return connection


def beside(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Open another connection to the same engine."""
    other = connection.cursor()
    _ALIVE.add(other)
    return other


def _keep_inherited() -> None:
    """Leak a reference to every inherited engine, so that the child never destroys one."""
    if _ALIVE:
        import ctypes  # only a child that inherits an engine needs it

        for connection in list(_ALIVE):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
        _ALIVE.clear()


if hasattr(os, "register_at_fork"):  # no process forks on Windows
    os.register_at_fork(after_in_child=_keep_inherited)

__all__ = ["beside", "connect", "duckdb"]
