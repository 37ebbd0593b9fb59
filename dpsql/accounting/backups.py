"""Copy a ledger while others use it.

    with the read lock   all pages -> .ledger-draft -> read as a ledger, from the first entry on -> FILE

A backup is a ledger file of its own. It lacks what is spent after it, so it is no budget: see second_places.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

from dpsql.accounting.account import Account
from dpsql.accounting.chain import START, Chain, Link
from dpsql.accounting.entry_index import names_of
from dpsql.accounting.ledger_file import (
    damaged,
    exists,
    inode,
    place,
    sync_folder,
    translated,
    unusable,
)
from dpsql.accounting.units_file import beside


def backed_up(ledger: Path, target: Path, patience: float = 10.0) -> Link:
    """Copy a ledger to a new file, only for its owner, and check the copy; return its last entry.

    Every entry that was written before is in it. A file that exists is left alone (D507).
    """
    source = Chain(place(ledger), patience, Account(), names_of)
    try:
        with translated(target):
            descriptor, name = tempfile.mkstemp(prefix=".ledger-", dir=target.absolute().parent)
        draft = Path(name)
        try:
            with source.reading(), translated(target):
                source.check(lambda connection: _copy(connection, draft))
                tail = source.tail
            last = _last(draft, patience)
            if (last.id, last.hash) != (tail.id, tail.hash):
                raise damaged(f"the copy ends at entry {last.id}, the ledger at entry {tail.id}")
            with translated(target):
                os.fsync(descriptor)
                try:
                    os.link(draft, target)
                except FileExistsError:
                    raise unusable(
                        f"{target} is there already, and is left alone", "name a new file"
                    ) from None
                sync_folder(target.absolute().parent)
        finally:
            os.close(descriptor)
            os.unlink(draft)
    finally:
        source.close()
    return last


def units_backed_up(ledger: Path, target: Path) -> bool:
    """Copy the file of units beside a ledger to a new file, only for its owner; return False without one.

    It is copied after its ledger, which refuses an older one.
    """
    source = beside(place(ledger))
    if not exists(source):
        return False
    with translated(target):
        inode(source)
        try:
            with source.open("rb") as file, open(target, "xb", opener=_only_for_its_owner) as copy:
                shutil.copyfileobj(file, copy)
                copy.flush()
                os.fsync(copy.fileno())
        except FileExistsError:
            raise unusable(f"{target} is there already, and is left alone", "name a new file") from None
        sync_folder(target.absolute().parent)
    return True


def _only_for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _copy(connection: sqlite3.Connection, draft: Path) -> None:
    copy = sqlite3.connect(draft, isolation_level=None)
    try:
        connection.backup(copy)
    finally:
        copy.close()


def _last(draft: Path, patience: float) -> Link:
    """Read a copy from the first entry on, sums and answers too."""
    copy, links = Chain(draft, patience, Account(), names_of), [START]
    try:
        copy.verify(Account(), lambda link: links.__setitem__(0, link))
    finally:
        copy.close()
    return links[0]
