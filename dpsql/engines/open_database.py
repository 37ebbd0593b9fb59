"""Open the data at a path: a DuckDB file, a folder of parquet and csv files, or one such file."""

from __future__ import annotations

from pathlib import Path

from dpsql.engines import Engine
from dpsql.engines.duckdb import DuckDB
from dpsql.policy.files import is_files, no_files
from dpsql.policy.model import Policy


def open_database(path: Path, policy: Policy | None = None) -> Engine:
    """Open the engine for the data at a path; without a policy, for the draft of one."""
    if is_files(path):
        from dpsql.engines.folder import Folder  # a DuckDB file does not need it

        return Folder(path, policy)
    if policy is not None:
        no_files(policy)
    return DuckDB(path, "UTC" if policy is None else policy.timezone)
