"""What statements about private views and private alerts have in common: names that go, and who may read.

DROP PRIVATE VIEW census              GRANT SELECT ON census TO bo
DROP PRIVATE ALERT flu                REVOKE SELECT ON PRIVATE ALERT flu FROM bo
"""

from __future__ import annotations

from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Drop:
    """The name is forgotten."""

    name: str
    at: Span
    word: str = "view"


@dataclass(frozen=True, slots=True)
class Access:
    """Another analyst may read the view or ask the alert, or may no longer."""

    name: str
    at: Span
    analyst: str
    granted: bool
    word: str = "view"


def done_by(statement: Drop | Access) -> str:
    """Return what a statement has done, in words."""
    if isinstance(statement, Drop):
        return "dropped"
    return f"{'granted to' if statement.granted else 'revoked from'} {statement.analyst}"


def text_of_done(kind: str, name: str, done: str) -> str:
    """Return the query that says what has become of a name."""
    name, done = name.replace("'", "''"), done.replace("'", "''")
    return f"SELECT '{name}' AS \"{kind}\", '{done}' AS status"
