"""The ledger's file: its path, its permissions, how to open it, and what SQLite's errors mean.

SQLite keeps a rollback journal here, not a write-ahead log. The log would save half a millisecond per
commit, but it is a second file: a ledger copied without it, or with a log cut by a bad sector, silently
loses the last debits. The journal stays after a commit, which writes zeros over its header and syncs them:
to make and unlink one takes longer (``python -m benchmarks budget``). A journal that begins with a zero says
nothing; only one that does not belongs to an entry that was interrupted.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpsql.errors import DatabaseError, refuse
from dpsql.turns import Taken

APPLICATION = 0x6470_6C31  # "dpl1" in the file's header
SCHEMA = (
    "CREATE TABLE entries (id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " entry TEXT NOT NULL, payload BLOB, hash BLOB NOT NULL)"
)
PLACES = "CREATE TABLE places (name BLOB NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (name, id)) WITHOUT ROWID"
"""Index of entries by a short hash of their names: derived from the entries, and checked against them."""

DAMAGE = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def place(path: Path | str) -> Path:
    """Return the real path of a ledger: symbolic links are resolved once, here."""
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, ValueError):
        raise unusable(f"the path {path} cannot be resolved") from None


def exists(path: Path) -> bool:
    """Whether any file is at the path."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        raise unusable(f"{path} cannot be read: {words(error)}") from None
    return True


def is_interrupted(path: Path) -> bool:
    """Whether the journal beside the ledger is that of an entry that was not finished."""
    try:
        with path.with_name(path.name + "-journal").open("rb") as journal:
            return journal.read(1) not in (b"", b"\0")
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        raise unusable(f"the journal of {path} cannot be read: {words(error)}") from None


def connected(path: Path, patience: float) -> sqlite3.Connection:
    """Open the ledger; D506 if the file is not one."""
    connection = sqlite3.connect(
        path.as_uri() + "?mode=rw", uri=True, timeout=patience, isolation_level=None, check_same_thread=False
    )
    try:
        for setting in ("trusted_schema = OFF", "synchronous = EXTRA", "fullfsync = ON"):
            connection.execute(f"PRAGMA {setting}")
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        tables = tables_of(connection)
        if application != APPLICATION or tables not in ({SCHEMA}, {SCHEMA, PLACES}):
            raise damaged(f"{path} is not a ledger of dpsql")
        connection.execute("PRAGMA journal_mode = PERSIST").fetchone()
    except BaseException:  # Ctrl-C too: closed, and raised again
        connection.close()
        raise
    return connection


def tables_of(connection: sqlite3.Connection) -> set[str]:
    """Return the SQL of the file's tables; the first ledgers of format 1 have no index."""
    query = "SELECT sql FROM sqlite_master WHERE name <> 'sqlite_sequence'"
    return {sql for (sql,) in connection.execute(query)}


def inode(path: Path) -> tuple[int, int]:
    """Return the file's device and inode; D507 unless only this user can read and write it."""
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode):
        raise unusable(f"{path} is not a regular file")
    if status.st_uid != os.geteuid():
        raise unusable(f"{path} belongs to another user")
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise unusable(f"{path} is open to other users", help="check that nobody changed it, then chmod 600")
    return status.st_dev, status.st_ino


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that files created or renamed in it survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Translate errors of SQLite and of the system into ours."""
    try:
        yield
    except Taken:
        raise unusable(
            f"{path} is locked by another process, or in use by this one", help="try again"
        ) from None
    except sqlite3.Error as error:
        if is_busy(error):
            raise unusable(f"{path} is locked by another process", help="try again") from None
        if _code(error) in DAMAGE:
            raise damaged(f"{path} cannot be read: {error}") from None
        raise unusable(f"{path} cannot be written: {error}") from None
    except UnicodeDecodeError:  # SQLite quotes a broken name in its error
        raise damaged(f"{path} cannot be read: a name in it is not UTF-8") from None
    except FileNotFoundError:
        raise unusable(f"{path} or its folder no longer exists") from None
    except OSError as error:
        raise unusable(f"{path} cannot be used: {words(error)}") from None


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another process holds a lock."""
    return _code(error) in BUSY


def _code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF


def words(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


def damaged(label: str) -> DatabaseError:
    return refuse(
        "D506",
        "the ledger is damaged",
        label=label,
        help="restore a copy with every entry; an older copy lacks debits, which breaks the promise",
    )


def unusable(
    label: str, help: str = "check that file and its folder, or name another ledger"
) -> DatabaseError:
    return refuse("D507", "the ledger is busy or cannot be written", label=label, help=help)
