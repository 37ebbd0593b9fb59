"""What ledgers call a database: by the identifier in a DuckDB file's header, else by its place.

clinic.duckdb      duckdb:6f1e...          wherever the file is
data/              files:path:90bc...      a folder of files has no header
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from dpsql.engines.open_files import hold, let_go
from dpsql.policy.files import is_files


def named_by_header(identifier: bytes, path: Path) -> str:
    """Return the name of a DuckDB file; the first format of these files had no identifier."""
    return "duckdb:" + identifier.hex() if any(identifier) else _by_path("duckdb", path)


def named_by_path(path: Path) -> str:
    """Return the name of a folder of files, or of one file."""
    return _by_path("files", path)


def names_of(path: Path) -> frozenset[str]:
    """Return what the database that is, or was, at a path may be called; one that is gone, by its place."""
    if is_files(path):
        return frozenset((named_by_path(path),))
    holder = object()
    try:
        file = hold(path, holder)
    except OSError:
        return frozenset((named_by_path(path), _by_path("duckdb", path)))
    try:
        return frozenset((named_by_header(file.state.identity, path),))
    finally:
        let_go(file, holder)


def is_by_path(name: str) -> bool:
    """Whether a name says where the database is."""
    return ":path:" in name


def _by_path(kind: str, path: Path) -> str:
    return f"{kind}:path:" + hashlib.sha256(os.fsencode(path.resolve())).hexdigest()
