"""The file itself: where it lies, that only we can read it, how it is opened, and what its errors mean.

SQLite keeps a rollback journal here, not a write-ahead log. The log would save half a millisecond per
commit, but it is a second file: a ledger copied without it, or a log cut by a bad sector, forgets the
last debits without a word. EXTRA syncs the folder too after the journal is unlinked; without that a
power cut may bring the journal back and roll a finished debit back.
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
"""Which entries to look at for what, by a short hash: made from the entries, and believed only with them."""

DAMAGE = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def place(path: Path | str) -> Path:
    """Where a ledger really lies: links are followed once, here."""
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, ValueError):
        raise unusable(f"{path} leads nowhere") from None


def exists(path: Path) -> bool:
    """Whether anything at all lies there."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        raise unusable(f"{path} cannot be read: {words(error)}") from None
    return True


def connected(path: Path, patience: float) -> sqlite3.Connection:
    """The ledger that lies there, or D506 where something else does."""
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
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def tables_of(connection: sqlite3.Connection) -> set[str]:
    """What there is beside the entries; ledgers of format 1 began without places."""
    asked = "SELECT sql FROM sqlite_master WHERE name <> 'sqlite_sequence'"
    return {sql for (sql,) in connection.execute(asked)}


def inode(path: Path) -> tuple[int, int]:
    """Which file this is, if it is one that only we can read and write."""
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode):
        raise unusable(f"{path} is not a regular file")
    if found.st_uid != os.geteuid():
        raise unusable(f"{path} belongs to another user")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise unusable(f"{path} is open to other users", help="chmod 600, once you know that it is unchanged")
    return found.st_dev, found.st_ino


def sync_folder(folder: Path) -> None:
    """What was made or renamed in a folder is there after a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """SQLite's and the system's errors, told as ours."""
    try:
        yield
    except Taken:
        raise unusable(
            f"{path} is locked by another process, or at work here already", help="try again"
        ) from None
    except sqlite3.Error as error:
        if is_busy(error):
            raise unusable(f"{path} is locked by another process", help="try again") from None
        if _code(error) in DAMAGE:
            raise damaged(f"{path} cannot be read: {error}") from None
        raise unusable(f"{path} cannot be written: {error}") from None
    except UnicodeDecodeError:  # SQLite quotes a broken name in its error
        raise damaged(f"{path} cannot be read: it names what is not text") from None
    except FileNotFoundError:
        raise unusable(f"{path} is gone, or its folder is") from None
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
        help="put back a copy that holds every entry; an older copy forgets debits, which breaks the promise",
    )


def unusable(
    label: str, help: str = "check that file and its folder, or name another ledger"
) -> DatabaseError:
    return refuse("D507", "the ledger is busy or cannot be written", label=label, help=help)
