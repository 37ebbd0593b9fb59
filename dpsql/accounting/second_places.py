"""Second places of a ledger: a witness, which knows its last entry, and a mirror, which has all entries.

    clinic.ledger            1 ... 811, 812
    clinic.witness           812 6f1e...             number and hash of the last entry
    /mnt/b/clinic.ledger     1 ... 811, 812          a ledger like the first, on another disk or host

Claim   when a debit is returned, the ledger and every second place have it; a ledger that lacks an entry
        which one of them has, an older copy for example, is neither read for a debit nor written (D512).
Proof   An entry is prepared in the second places, committed in the ledger, then committed in them, all before
        the transaction returns; where preparing fails, the ledger rolls back. Each transaction first looks
        for the last entry of each place in the ledger, by number and hash, and the hash binds all entries
        before it; it looks again where it has locked the place, so that of two copies of a ledger that write
        at once, one is refused. A kill in between leaves a place behind, which the next transaction makes up
        for. The ledger itself records its places, so that one that is gone is not taken for a new one.
Test    tests/privacy/test_second_places.py

Nobody notices if the ledger and its places are put back together.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Protocol

from dpsql.accounting.chain import Names, append_row, create
from dpsql.accounting.ledger_file import connected, exists, inode, sync_folder, translated
from dpsql.errors import DatabaseError, refuse
from dpsql.turns import Taken

Last = tuple[int, bytes]
"""The number and the hash of an entry; number 0 is before the first."""

Commit = Callable[[], None]

NEWER = "SELECT id, entry, payload, hash FROM entries WHERE id > ? ORDER BY id"
_PATIENCE = 10.0
_AS_BEFORE = "nothing was written: the ledger is as it was"


class SecondPlace(Protocol):
    """A file that knows of a ledger's entries."""

    path: Path

    @property
    def kind(self) -> str: ...

    def begin(self) -> None:
        """Create the file, if there is none; it knows of no entry."""
        ...

    def last(self) -> Last:
        """Return the last entry that it knows of."""
        ...

    def prepared(self, ledger: sqlite3.Connection, last: Last) -> AbstractContextManager[Commit]:
        """Prepare all entries of the ledger up to this one; they are durable after ``commit``.

        From here on no other ledger writes to the place; D512 if one has since.
        """
        ...


class Witness:
    """A small file with the number and the hash of the last entry."""

    kind = "witness"

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self) -> None:
        if not exists(self.path):
            with self._written((0, b"")) as commit:
                commit()

    def last(self) -> Last:
        inode(self.path)
        try:
            known = json.loads(self.path.read_text(encoding="ascii"))
            return int(known["entry"]), bytes.fromhex(known["hash"])
        except (ValueError, TypeError, LookupError):
            raise _unusable(self, "it is not what dpsql wrote") from None

    @contextmanager
    def prepared(self, ledger: sqlite3.Connection, last: Last) -> Iterator[Commit]:
        with self._locked():
            _check_known(self, self.last(), ledger)
            with self._written(last) as commit:
                yield commit

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other ledgers out by a lock on the folder, which ends with this process."""
        end, folder = time.monotonic() + _PATIENCE, os.open(self.path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            while not _flocked(folder):
                if time.monotonic() > end:
                    raise Taken
                time.sleep(0.001)
            yield
        finally:
            with suppress(OSError):  # closing the folder gives the lock back too
                fcntl.flock(folder, fcntl.LOCK_UN)  # a child of a fork would keep it
            os.close(folder)

    @contextmanager
    def _written(self, last: Last) -> Iterator[Commit]:
        number, digest = last
        draft = self.path.with_name(f"{self.path.name}-{os.getpid()}")
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with open(descriptor, "w", encoding="ascii") as file:
                os.fchmod(descriptor, 0o600)
                file.write(json.dumps({"entry": number, "hash": digest.hex()}) + "\n")
                file.flush()
                os.fsync(descriptor)
            yield lambda: self._replace(draft)
        finally:
            with suppress(OSError):  # it has become the witness, or could not be made
                os.unlink(draft)

    def _replace(self, draft: Path) -> None:
        os.replace(draft, self.path)
        sync_folder(self.path.parent)


class Mirror:
    """Another ledger file with the same entries, which can take the place of the first."""

    kind = "mirror"

    def __init__(self, path: Path, names: Names) -> None:
        self.path = path
        self._names = names

    def begin(self) -> None:
        if not exists(self.path):
            create(self.path, (), self._names)

    def last(self) -> Last:
        with self._opened() as connection:
            return last_of(connection)

    @contextmanager
    def prepared(self, ledger: sqlite3.Connection, last: Last) -> Iterator[Commit]:
        with self._opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            number, digest = last_of(connection)
            _check_known(self, (number, digest), ledger)
            for row in ledger.execute(NEWER, (number,)):
                append_row(connection, row, self._names(json.loads(row[1])))
            yield lambda: _commit(connection)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        inode(self.path)
        connection = connected(self.path, _PATIENCE)
        try:
            yield connection
        finally:
            connection.close()  # which rolls back


def _flocked(folder: int) -> bool:
    """Lock a folder; return False if another has it. Where folders cannot be locked, go on without."""
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def _commit(connection: sqlite3.Connection) -> None:
    connection.execute("COMMIT")


def last_of(connection: sqlite3.Connection) -> Last:
    row = connection.execute("SELECT id, hash FROM entries ORDER BY id DESC LIMIT 1").fetchone()
    return (0, b"") if row is None else (row[0], row[1])


# ---- as the ledger uses them --------------------------------------------------------------------------


@contextmanager
def reached(place: SecondPlace, then: str = _AS_BEFORE) -> Iterator[None]:
    """Say of an error which place it is about, and what has become of the write."""
    try:
        with translated(place.path):
            yield
    except DatabaseError as error:
        if error.code not in ("D506", "D507"):
            raise
        raise _unusable(place, error.label, then) from None


def _unusable(place: SecondPlace, label: str, then: str = _AS_BEFORE) -> DatabaseError:
    return refuse(
        "D507",
        f"the ledger's {place.kind} cannot be used",
        label=label,
        notes=(then,),
        help=f"is its disk mounted, and is it the owner's alone? Or name another {place.kind} in [ledger]",
    )


def check_gone(places: Sequence[SecondPlace], ledger: Path) -> None:
    """Raise D512 if there is no ledger, but a place that knows of one."""
    for place in places:
        with reached(place):
            if exists(place.path) and place.last()[0]:
                raise _behind(place, f"{ledger} is gone, and {place.path} knows of entry {place.last()[0]}")


def check_place(place: SecondPlace, ledger: sqlite3.Connection) -> Last:
    """Return the last entry that a place knows; D512 unless it is one of the ledger."""
    with reached(place):
        if not exists(place.path):
            raise _unusable(place, f"{place.path} is gone, but the ledger has been written there")
        last = place.last()
    _check_known(place, last, ledger)
    return last


def _check_known(place: SecondPlace, last: Last, ledger: sqlite3.Connection) -> None:
    number, digest = last
    row = ledger.execute("SELECT hash FROM entries WHERE id = ?", (number,)).fetchone()
    if number and row is None:
        raise _behind(place, f"{place.path} knows of entry {number}, which the ledger does not have")
    if number and row[0] != digest:
        raise _behind(place, f"entry {number} is another one than {place.path} knows")


def _behind(place: SecondPlace, label: str) -> DatabaseError:
    newest = "take the mirror's file for the ledger" if place.kind == "mirror" else "restore the newest copy"
    return refuse(
        "D512",
        f"the ledger lacks what its {place.kind} knows",
        label=label,
        notes=("an older copy, another copy or a new file lacks debits, which breaks the promise",),
        help=f"{newest}: the page on the ledger says how",
    )


@contextmanager
def all_prepared(places: Sequence[SecondPlace], ledger: sqlite3.Connection) -> Iterator[Commit]:
    """Prepare the ledger's new entries in all places; ``commit`` makes them durable there."""
    with ExitStack() as stack:
        last, commits = last_of(ledger), list[tuple[SecondPlace, Commit]]()
        for place in places:
            if check_place(place, ledger) != last:
                with reached(place):
                    commits.append((place, stack.enter_context(place.prepared(ledger, last))))

        def commit_all() -> None:
            for place, commit in commits:
                with reached(place, "the ledger has what was debited: ask again, which goes on from there"):
                    commit()

        yield commit_all
