"""Whether data are still the same, for those who keep connections open: the pool of a server.

    data_state(Path("data"), policy)     changes with the data of the policy's tables
    stands(db)                           whether an open connection may still answer

Both look at metadata of files, and read none. A PostgreSQL server has none here: it tells of its own changes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.errors import DatabaseError

if TYPE_CHECKING:  # loaded when the first database is opened
    from dpsql.dbapi.connection import Connection, Where
    from dpsql.policy.model import Policy


def data_state(database: Where, policy: Policy) -> tuple[object, ...]:
    """Return the states of the files that a connection would read now; OSError if one goes meanwhile."""
    from dpsql.engines.files import files_now
    from dpsql.engines.open_files import with_log
    from dpsql.policy.files import is_files

    path = database if isinstance(database, Path) else getattr(database, "path", None)
    if path is None:
        return ()
    return files_now(path, policy) if is_files(path) else with_log(path)


def stands(db: Connection) -> bool:
    """Whether the data of an open connection are those that it was opened on."""
    try:
        db._open().engine.unchanged()
    except DatabaseError:
        return False
    return True
