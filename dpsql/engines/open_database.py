"""Open the data at a place: a DuckDB file, a folder or a file, with or without Spark, or a server."""

from __future__ import annotations

from pathlib import Path

from dpsql.engines import Engine
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.postgres.url import PostgresUrl
from dpsql.engines.spark.address import SparkAddress
from dpsql.policy.files import is_files, no_files
from dpsql.policy.model import Policy


def open_database(path: Path | PostgresUrl | SparkAddress, policy: Policy | None = None) -> Engine:
    """Open the engine for the data at a place; without a policy, for the draft of one."""
    if isinstance(path, PostgresUrl):
        from dpsql.engines.postgres.engine import PostgresEngine  # nor does a file need this

        if policy is not None:
            no_files(policy)
        return PostgresEngine(path, policy)
    if isinstance(path, SparkAddress):
        from dpsql.engines.spark.engine import SparkEngine

        return SparkEngine(path, policy)
    if is_files(path):
        from dpsql.engines.folder import Folder  # a DuckDB file does not need it

        return Folder(path, policy)
    if policy is not None:
        no_files(policy)
    return DuckDB(path, "UTC" if policy is None else policy.timezone)
