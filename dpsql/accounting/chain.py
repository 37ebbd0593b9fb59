"""Append-only file of entries; a hash binds each entry to the one before it.

    entry 1 -----> entry 2 -----> entry 3 --- ...      hash(n) = sha256(hash(n-1) | text of entry n)
    open           grant          answer               hash(0) = sha256(FORMAT)
                                    `- payload         the text of entry 3 holds sha256(payload)

Every transaction first reads the entries that other processes appended since the last transaction, and
checks them against the last hash in memory. The first transaction starts at the last entry with sums: its
writer had verified everything before it, and the chain binds it like every other entry. Other entries are
read on demand, each checked against the one before it. ``verify`` reads everything from the first entry on,
and compares the sums with the entries.

The table ``places`` is an index and proves nothing. An entry that it names is read from the chain. Code that
acts when it names no entry (draws fresh noise, for example) walks the chain itself.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from dpsql.accounting.ledger_file import (
    APPLICATION,
    PLACES,
    SCHEMA,
    connected,
    damaged,
    exists,
    inode,
    is_busy,
    is_interrupted,
    sync_folder,
    tables_of,
    translated,
)
from dpsql.accounting.queue import queue_of
from dpsql.errors import InterfaceError
from dpsql.lazy_dataclass import dataclass

FORMAT = b"dpsql ledger, format 1"
_ROWS = (
    "SELECT id, entry, hash, typeof(payload), coalesce(length(payload), 0), {} FROM entries"
    " WHERE id >= ? AND id <= ? ORDER BY id LIMIT ?"
)
READ, WHOLE = _ROWS.format("NULL"), _ROWS.format("payload")
LAST = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'entries'"
INSERT = "INSERT INTO entries (id, entry, payload, hash) VALUES (?, ?, ?, ?)"
PLACE = "INSERT INTO places (name, id) VALUES (?, ?)"
FIND = "SELECT id FROM places WHERE name = ? ORDER BY id DESC LIMIT ?"
IS_AT = "SELECT id FROM places WHERE name = ? AND id = ?"
READING, WRITING = "BEGIN", "BEGIN IMMEDIATE"
EVERY = 64
"""Write sums after this many entries since the last sums (or as many as there are accounts, if more)."""

SUMS = "sums"  # the kind of those entries, and their name in the index


@dataclass(frozen=True, slots=True)
class Link:
    """One verified entry; ``size`` counts its text and payload, the payload itself stays in the file."""

    id: int
    content: dict[str, Any]
    hash: bytes
    size: int = 0


START = Link(0, {}, sha256(FORMAT).digest())
Fold = Callable[[Link], None]


class Folded(Protocol):
    """A state that entries are folded into, one after the other."""

    def clear(self) -> None:
        """Forget all entries."""
        ...

    def fold(self, link: Link, read: Callable[[int], Link]) -> None: ...

    def load(self, sums: dict[str, Any]) -> None:
        """Start from these sums instead of nothing."""
        ...

    def sums(self) -> dict[str, Any]: ...

    @property
    def width(self) -> int:
        """Return how many accounts there are sums of."""
        ...


class Names(Protocol):
    def __call__(self, content: dict[str, Any]) -> tuple[str, ...]:
        """Return the names of an entry in the index."""
        ...


Prepared = Callable[[sqlite3.Connection], AbstractContextManager[Callable[[], None]]]
"""Prepares new entries elsewhere, before they are committed here; what it yields commits them there."""


class Pen:
    """Appends entries inside one transaction; a rollback leaves no trace in memory."""

    def __init__(self, connection: sqlite3.Connection, tail: Link, names: Names) -> None:
        self._connection = connection
        self._tail = tail
        self._names = names

    def append(self, content: dict[str, Any], payload: bytes | None = None) -> int:
        """Append an entry and return its id. It is durable once the transaction is committed.

        Its time is not before that of the last entry, whatever the clock says: who reads from the end what
        was paid since a moment may stop at the first entry before it.
        """
        if "time" in content:
            content = content | {"time": max(content["time"], self._tail.content.get("time", ""))}
        if payload is not None:
            content = content | {"sha256": sha256(payload).hexdigest()}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        self._tail = Link(self._tail.id + 1, content, _hash(self._tail, text))
        append_row(self._connection, (self._tail.id, text, payload, self._tail.hash), self._names(content))
        return self._tail.id


class Chain:
    """The file: its path, this process's connection to it, and the last verified entry."""

    def __init__(
        self, path: Path, patience: float, folded: Folded, names: Names, prepared: Prepared | None = None
    ) -> None:
        self.path = path
        self._prepared = prepared
        self._patience = patience
        self._folded = folded
        self._names = names
        self._queue = queue_of(path)
        self._tail = START
        self._since = 0  # entries since the last sums
        self._placed = False  # whether the file has its index of entries
        self._process = 0
        self._connection: sqlite3.Connection | None = None
        self._inode = (0, 0)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Open a read transaction; everything new in the file has been verified and folded."""
        with self._transaction(READING) as connection:
            self._follow(connection)
            yield

    @contextmanager
    def writing(self) -> Iterator[Pen]:
        """Open a write transaction and lend its pen; what the pen wrote is durable at the end."""
        with self._transaction(WRITING) as connection:
            self._follow(connection)
            late = self._since >= max(EVERY, self._folded.width)
            if not self._placed:
                self._place_all(connection)
                late = True  # so that an older dpsql, which keeps no index, refuses to go on
            pen = Pen(connection, self._tail, self._names)
            if late:
                pen.append(self._folded.sums())
            yield pen

    @property
    def placed(self) -> bool:
        """Whether the file has an index of entries. The first write transaction creates it."""
        return self._placed

    def check(self, look: Callable[[sqlite3.Connection], object]) -> None:
        """Let a function read the file inside a read transaction; it may raise."""
        look(self._open())

    @property
    def tail(self) -> Link:
        """Return the last verified entry."""
        return self._tail

    # ---- inside a transaction ----------------------------------------------------------------------

    def link(self, id: int) -> Link:
        """Return one entry, checked against the one before it."""
        connection, before = self._open(), START
        if id > 1:
            row = connection.execute("SELECT hash FROM entries WHERE id = ?", (id - 1,)).fetchone()
            if row is None or not isinstance(row[0], bytes):
                raise damaged(f"entry {id - 1} is missing")
            before = Link(id - 1, {}, row[0])
        for link in _walk(connection, before, id):
            return link
        raise damaged(f"entry {id} is missing")

    def found(self, name: str, most: int = -1) -> Iterator[Link]:
        """Return the entries of that name, the last one first, at most this many.

        Every result is an entry of the chain. An empty result proves nothing: see ``after``.
        """
        if self._placed:
            rows = self._open().execute(FIND, (short_name(name), most)).fetchall()
            links: Iterator[Link] = (self.link(number) for (number,) in rows)
        else:
            links = reversed([*self._named(name, _walk(self._open(), START))])
        yield from self._named(name, links)

    def _named(self, name: str, links: Iterable[Link]) -> Iterator[Link]:
        return (link for link in links if name in self._names(link.content))

    def after(self, link: Link) -> Iterator[Link]:
        """Return all entries after one, each checked."""
        return _walk(self._open(), link)

    def payload(self, id: int) -> bytes:
        """Return the payload of an entry that has one, checked."""
        digest = self.link(id).content.get("sha256")
        (payload,) = self._open().execute("SELECT payload FROM entries WHERE id = ?", (id,)).fetchone()
        if not isinstance(payload, bytes) or sha256(payload).hexdigest() != digest:
            raise _cut(id)
        return payload

    # ---- as a whole --------------------------------------------------------------------------------

    def verify(self, folded: Folded, step: Fold) -> None:
        """Read every entry and payload from the first on; compare the sums and the index with them."""
        with self._transaction(READING) as connection:
            last, count = START, 0
            for last in _walk(connection, START, payloads=True):
                _fold(folded, last, self.link)
                step(last)
                for name in self._names(last.content) if self._placed else ():
                    if connection.execute(IS_AT, (short_name(name), last.id)).fetchone() is None:
                        raise damaged(f"entry {last.id} is missing from the index")
                    count += 1
            _check_end(connection, last)
            if self._placed and [(count,)] != list(connection.execute("SELECT count(*) FROM places")):
                raise damaged("the index names entries that do not exist")

    def close(self) -> None:
        """Close without waiting: a transaction under way closes the connection at its end."""
        self._queue.turn.afterwards(self._disconnect)

    # ---- private -----------------------------------------------------------------------------------

    def _follow(self, connection: sqlite3.Connection) -> None:
        """Fold new entries. The tail is set only at the end: after an interrupt the next call starts over."""
        tail = self._tail
        if tail is not START:
            row = connection.execute("SELECT hash FROM entries WHERE id = ?", (tail.id,)).fetchone()
            if row != (tail.hash,):
                raise damaged(f"entry {tail.id} is no longer the one that was read before")
            self._tail = START
        else:
            self._folded.clear()
            self._since = 0
            for link in self.found(SUMS, 1) if self._placed else ():
                _fold(self._folded, link, self.link, first=True)
                tail = link
        for link in _walk(connection, tail):
            _fold(self._folded, link, self.link)
            tail = link
            self._since = 0 if link.content["kind"] == SUMS else self._since + 1
        _check_end(connection, tail)
        self._tail = tail

    def _place_all(self, connection: sqlite3.Connection) -> None:
        """Build the index of a ledger that has none: read every entry."""
        connection.execute(PLACES)
        for link in _walk(connection, START):
            for name in self._names(link.content):
                connection.execute(PLACE, (short_name(name), link.id))

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with translated(self.path), ExitStack() as locks:
            inode(self.path)  # create no queue file beside a file that is no ledger
            locks.enter_context(self._queue.turn.taken(self._patience))
            connection = self._connected()
            try:
                if connection.in_transaction:  # interrupted twice: the second time as it was rolled back
                    connection.execute("ROLLBACK")
                if begin != READING or not self._read_at_once(connection):
                    locks.enter_context(self._queue.entered(self._patience))
                    connection.execute(begin)
                if inode(self.path) != self._inode:
                    raise damaged(f"{self.path} was replaced while it was in use")
                if not self._placed:
                    self._placed = PLACES in tables_of(connection)
                yield connection
                self._still_ours()
                if begin == READING or self._prepared is None:
                    connection.execute("COMMIT")
                else:
                    with self._prepared(connection) as commit:
                        connection.execute("COMMIT")
                        commit()
            except BaseException:  # Ctrl-C too: rolled back, and raised again
                self._still_ours()
                try:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                except sqlite3.Error:
                    self._disconnect()  # the next connection rolls back instead
                raise

    def _read_at_once(self, connection: sqlite3.Connection) -> bool:
        """Try to begin reading without the queue: readers share the file; only behind a writer they queue."""
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            connection.execute(READING)
            connection.execute(LAST).fetchone()
        except sqlite3.Error as error:
            if not is_busy(error):
                raise
            connection.execute("ROLLBACK")
            return False
        finally:
            connection.execute(f"PRAGMA busy_timeout = {round(1000 * self._patience)}")
        return True

    def _still_ours(self) -> None:
        """Raise after a fork in mid-transaction, by a signal handler: only the parent may end it."""
        if self._process != os.getpid():
            self._disconnect()
            raise InterfaceError(
                "this process was forked in the middle of a transaction",
                help="connect again in the child process",
            )

    def _open(self) -> sqlite3.Connection:
        assert self._connection is not None, "only inside a transaction"
        return self._connection

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None or self._process != os.getpid():
            self._disconnect()
            self._inode, self._placed = inode(self.path), False
            self._connection = connected(self.path, self._patience)
            self._process = os.getpid()
        return self._connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self._process == os.getpid():
            with suppress(sqlite3.Error):  # nothing is left to write
                connection.close()
        else:
            _abandon(connection)


def append_row(
    connection: sqlite3.Connection, row: tuple[int, str, bytes | None, bytes], names: Iterable[str]
) -> None:
    """Insert an entry as it is in the file, and its names into the index."""
    connection.execute(INSERT, row)
    for name in names:
        connection.execute(PLACE, (short_name(name), row[0]))


def create(path: Path, contents: Iterable[dict[str, Any]], names: Names) -> bool:
    """Create the file with its first entries; return False if another process was faster.

    The file is written under a temporary name and then linked. So no process ever sees it empty, incomplete,
    or readable by other users, whatever the umask, even if this process is killed.
    """
    with translated(path), queue_of(path).turn.taken():
        if is_interrupted(path) and not exists(path):
            raise damaged(f"{path} is gone, but the journal of its last entry is still there")
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
                connection.execute(PLACES)
                pen = Pen(connection, START, names)
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


def _walk(
    connection: sqlite3.Connection, before: Link, last: int = 2**62, payloads: bool = False
) -> Iterator[Link]:
    """Return the entries after a verified one, each checked; with ``payloads``, those too."""
    sql, many = (WHOLE, 16) if payloads else (READ, 256)
    first = before.id + 1 if before.id else 0  # 0: an entry before the first one is damage
    while rows := connection.execute(sql, (first, last, many)).fetchall():
        for number, text, digest, kind, size, payload in rows:
            if number != before.id + 1:
                raise damaged(f"entry {before.id + 1} is missing")
            if not isinstance(text, str) or _hash(before, text) != digest:
                raise damaged(
                    f"entry {number} does not follow from entry {before.id}: one was edited or moved"
                )
            content = json.loads(text)
            proof = content.get("sha256") if isinstance(content, dict) else None
            if kind != ("null" if proof is None else "blob"):
                raise _cut(number)
            if payloads and proof is not None and sha256(payload).hexdigest() != proof:
                raise _cut(number)
            before = Link(number, content, digest, len(text) + size)
            yield before
        first = before.id + 1


def _fold(folded: Folded, link: Link, read: Callable[[int], Link], first: bool = False) -> None:
    try:
        if first:
            folded.load(link.content)
        else:
            folded.fold(link, read)
    except (LookupError, TypeError, ValueError):
        raise damaged(
            f"entry {link.id} means nothing to this version of dpsql: did a later one write it?"
        ) from None


def _check_end(connection: sqlite3.Connection, known: Link) -> None:
    (last,) = connection.execute(LAST).fetchone()
    if last != known.id:
        raise damaged(f"it ends at entry {known.id}, but entry {last} has been written")


def _cut(id: int) -> Exception:
    return damaged(f"the answer in entry {id} was cut or edited")


def _hash(before: Link, text: str) -> bytes:
    return sha256(before.hash + text.encode()).digest()


def short_name(name: str) -> bytes:
    return sha256(name.encode()).digest()[:16]


def _abandon(connection: sqlite3.Connection) -> None:
    """Leak a parent's connection in the child, so that it is never closed there, not even at exit.

    SQLite would roll back on close what the parent is about to commit.
    """
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
