"""The groups that a query lists, beside those that rows have, over tables and a policy of a test's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

import dpsql
from dpsql.audit import plan_of
from dpsql.ir.plan import PublicKeys
from dpsql.session import Session


@contextmanager
def session_over(folder: Path, tables: str, policy: str) -> Iterator[Session]:
    path = folder / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(tables)
    path.with_suffix(".toml").write_text(policy)
    with dpsql.connect(path) as db:
        yield db._open()


def shown(session: Session, sql: str) -> set[tuple[object, ...]]:
    """Return the listed groups, none of them twice."""
    (planned,) = plan_of(session, sql, 1.0).measures
    assert isinstance(planned.rule, PublicKeys)
    groups = planned.rule.groups()
    assert len(set(groups)) == len(groups)
    return set(groups)


def occurring(tables: str, sql: str) -> set[tuple[object, ...]]:
    """Return the groups that DuckDB finds, the last column apart."""
    with duckdb.connect() as connection:
        connection.execute(tables)
        return {row[:-1] for row in connection.execute(sql).fetchall()}
