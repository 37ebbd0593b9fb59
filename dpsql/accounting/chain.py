"""A file of entries that only grows, each bound to the one before it by a hash.

    entry 1 -----> entry 2 -----> entry 3 --- ...      hash(n) = sha256(hash(n-1) | text of entry n)
    open           grant          answer               hash(0) = sha256(FORMAT)
                                    `- payload         the text of entry 3 holds sha256(payload)

Every transaction first reads what other processes appended since our last look, and checks it against
the hash that we hold: what is in memory is a verified prefix of the file, never a guess about it.

SQLite keeps a rollback journal here, not a write-ahead log. The log would save half a millisecond per
commit, but it is a second file: a ledger copied without it, or a log cut by a bad sector, forgets the
last debits without a word. EXTRA syncs the folder too after the journal is unlinked; without that a
power cut may bring the journal back and roll a finished debit back.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from dpsql.errors import DatabaseError, refuse

FORMAT = b"dpsql ledger, format 1"
APPLICATION = 0x6470_6C31  # "dpl1" in the file's header
SCHEMA = (
    "CREATE TABLE entries (id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " entry TEXT NOT NULL, payload BLOB, hash BLOB NOT NULL)"
)
READ = "SELECT id, entry, payload, hash FROM entries WHERE id >= ? ORDER BY id"
LAST = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'entries'"
INSERT = "INSERT INTO entries (id, entry, payload, hash) VALUES (?, ?, ?, ?)"
DAMAGE = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}

# One transaction at a time in a process, and none while it forks: SQLite keeps its locks per process,
# and a child that inherits them half-way would believe that it holds what it does not.
_ALONE = threading.Lock()
_INHERITED: list[sqlite3.Connection] = []  # a parent's connection is neither used nor closed by the child
os.register_at_fork(before=_ALONE.acquire, after_in_parent=_ALONE.release, after_in_child=_ALONE.release)


@dataclass(frozen=True, slots=True)
class Link:
    """One verified entry; of a payload only its presence travels."""

    id: int
    content: dict[str, Any]
    hash: bytes


START = Link(0, {}, sha256(FORMAT).digest())
Fold = Callable[[Link], None]


class Pen:
    """Appends inside one transaction; what is rolled back leaves no trace in memory."""

    def __init__(self, connection: sqlite3.Connection, tail: Link) -> None:
        self._connection = connection
        self._tail = tail

    def append(self, content: dict[str, Any], payload: bytes | None = None) -> int:
        """The id of the new entry, durable when the transaction has been committed."""
        if payload is not None:
            content = content | {"sha256": sha256(payload).hexdigest()}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        self._tail = Link(self._tail.id + 1, content, _hash(self._tail, text))
        self._connection.execute(INSERT, (self._tail.id, text, payload, self._tail.hash))
        return self._tail.id


class Chain:
    """The file: its place, our connection to it, and the last entry that we have verified."""

    def __init__(self, path: Path, patience: float, fold: Fold) -> None:
        self.path = path
        self._patience = patience
        self._fold = fold
        self._tail = START
        self._process = 0
        self._connection: sqlite3.Connection | None = None
        self._inode = (0, 0)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """A moment at which everything in the file has been verified and folded."""
        with self._transaction("BEGIN") as connection:
            self._follow(connection)
            yield

    @contextmanager
    def writing(self) -> Iterator[Pen]:
        """The same, with nobody else writing; what the pen wrote is on the disk when this is left."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            self._follow(connection)
            yield Pen(connection, self._tail)

    def payload(self, id: int) -> bytes:
        """The payload of an entry that has one, checked again; only inside a transaction."""
        assert self._connection is not None
        rows = list(self._connection.execute(READ + " LIMIT 1", (id,)))
        if not rows or rows[0][0] != id or not isinstance(rows[0][2], bytes):
            raise _damaged(f"the answer in entry {id} is gone")
        _, text, payload, _ = rows[0]
        if json.loads(text).get("sha256") != _proof(payload):
            raise _damaged(f"the answer in entry {id} was cut or edited")
        return bytes(payload)

    def everything(self) -> tuple[Link, ...]:
        """All entries, verified from the first one on."""
        links: list[Link] = []
        with self._transaction("BEGIN") as connection:
            _verify(connection, START, links.append)
        return tuple(links)

    def close(self) -> None:
        with _ALONE:
            self._disconnect()

    def _follow(self, connection: sqlite3.Connection) -> None:
        def step(link: Link) -> None:
            self._fold(link)
            self._tail = link

        _verify(connection, self._tail, step)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with _ALONE, _translated(self.path):
            connection = self._connected()
            try:
                connection.execute(begin)
                if _inode(self.path) != self._inode:
                    raise _damaged(f"{self.path} was replaced while it was in use")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                try:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                except sqlite3.Error:
                    self._disconnect()  # a fresh connection rolls back what this one could not
                raise

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None or self._process != os.getpid():
            self._disconnect()
            self._inode = _inode(self.path)
            self._connection = _connect(self.path, self._patience)
            self._process = os.getpid()
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            if self._process == os.getpid():
                self._connection.close()
            else:
                _INHERITED.append(self._connection)
        self._connection = None


def place(path: Path | str) -> Path:
    """Where a ledger really lies: links are followed once, here."""
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, ValueError):
        raise _unusable(f"{path} leads nowhere") from None


def exists(path: Path) -> bool:
    """Whether anything at all lies there."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        raise _unusable(f"{path} cannot be read: {_words(error)}") from None
    return True


def create(path: Path, contents: Iterable[dict[str, Any]]) -> bool:
    """Make the file with its first entries; False if somebody else was faster.

    It is written under a name of its own and then linked: nobody ever sees it empty, half made, or
    readable by others, whatever the umask and whenever the process is killed.
    """
    with _ALONE, _translated(path):
        if exists(path.with_name(path.name + "-journal")) and not exists(path):
            raise _damaged(f"{path} is gone, but the journal of its last entry is still there")
        descriptor, draft = tempfile.mkstemp(prefix=".ledger-", dir=path.parent)
        try:
            os.fchmod(descriptor, 0o600)
            os.close(descriptor)
            connection = sqlite3.connect(draft, isolation_level=None)
            try:
                for setting in ("journal_mode = MEMORY", "synchronous = EXTRA", "fullfsync = ON"):
                    connection.execute(f"PRAGMA {setting}")
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(SCHEMA)
                pen = Pen(connection, START)
                for content in contents:
                    pen.append(content)
                connection.execute("COMMIT")
            finally:
                connection.close()
            os.link(draft, path)
        except FileExistsError:
            return False
        finally:
            os.unlink(draft)
        sync_folder(path.parent)
    return True


def _verify(connection: sqlite3.Connection, tail: Link, step: Fold) -> None:
    """Walk from an entry that is known to the last one, and check every step."""
    known = tail
    if tail is START:
        rows = connection.execute(READ, (0,))
    else:
        rows = connection.execute(READ, (tail.id,))
        first = rows.fetchone()
        if first is None or first[0] != tail.id or first[3] != tail.hash:
            raise _damaged(f"entry {tail.id} is no longer the one that was read before")
    for number, text, payload, digest in rows:
        if number != known.id + 1:
            raise _damaged(f"entry {known.id + 1} is missing")
        if not isinstance(text, str) or _hash(known, text) != digest:
            raise _damaged(f"entry {number} does not follow from entry {known.id}: one was edited or moved")
        known = Link(number, json.loads(text), digest)
        if known.content.get("sha256") != _proof(payload):
            raise _damaged(f"the answer in entry {number} was cut or edited")
        try:
            step(known)
        except (LookupError, TypeError, ValueError):
            raise _damaged(f"entry {number} means nothing to this version of dpsql") from None
    (last,) = connection.execute(LAST).fetchone()
    if last != known.id:
        raise _damaged(f"it ends at entry {known.id}, but entry {last} has been written")


def _hash(before: Link, text: str) -> bytes:
    return sha256(before.hash + text.encode()).digest()


def _proof(payload: object) -> str | None:
    """What the entry's text says of its payload; nothing matches a payload that is not bytes."""
    if payload is None:
        return None
    return sha256(payload).hexdigest() if isinstance(payload, bytes) else ""


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path.as_uri() + "?mode=rw", uri=True, timeout=patience, isolation_level=None, check_same_thread=False
    )
    try:
        for setting in ("trusted_schema = OFF", "synchronous = EXTRA", "fullfsync = ON"):
            connection.execute(f"PRAGMA {setting}")
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        tables = list(connection.execute("SELECT sql FROM sqlite_master WHERE name <> 'sqlite_sequence'"))
        if application != APPLICATION or tables != [(SCHEMA,)]:
            raise _damaged(f"{path} is not a ledger of dpsql")
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _inode(path: Path) -> tuple[int, int]:
    """Which file this is, if it is one that only we can read and write."""
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode):
        raise _unusable(f"{path} is not a regular file")
    if found.st_uid != os.geteuid():
        raise _unusable(f"{path} belongs to another user")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise _unusable(
            f"{path} is open to other users", help="chmod 600, once you know that it is unchanged"
        )
    return found.st_dev, found.st_ino


def sync_folder(folder: Path) -> None:
    """What was made or renamed in a folder is there after a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """SQLite's and the system's errors, told as ours."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in BUSY:
            raise _unusable(f"{path} is locked by another process", help="try again") from None
        if code in DAMAGE:
            raise _damaged(f"{path} cannot be read: {error}") from None
        raise _unusable(f"{path} cannot be written: {error}") from None
    except UnicodeDecodeError:  # SQLite quotes a broken name in its error
        raise _damaged(f"{path} cannot be read: it names what is not text") from None
    except FileNotFoundError:
        raise _unusable(f"{path} is gone, or its folder is") from None
    except OSError as error:
        raise _unusable(f"{path} cannot be used: {_words(error)}") from None


def _words(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


def _damaged(label: str) -> DatabaseError:
    return refuse(
        "D506",
        "the ledger is damaged",
        label=label,
        help="put back a copy that holds every entry; an older copy forgets debits, which breaks the promise",
    )


def _unusable(
    label: str, help: str = "check that file and its folder, or name another ledger"
) -> DatabaseError:
    return refuse("D507", "the ledger is busy or cannot be written", label=label, help=help)
