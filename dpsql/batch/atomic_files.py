"""Files that are whole or not there: written aside, made durable, and put in their place by one rename."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dpsql.accounting.ledger_file import sync_folder
from dpsql.errors import InterfaceError, refuse

_ASIDE = ".aside"


def write(content: bytes, file: Path) -> None:
    """A file with this content, durably; before that, what was there."""
    aside = file.with_name(f".{file.name}{_ASIDE}")
    try:
        with aside.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(aside, file)
        sync_folder(file.parent)
    except OSError as error:
        raise InterfaceError(
            f"{file} could not be written: {error.strerror}",
            help="nothing is lost: what was answered is in the ledger; go on with --resume",
        ) from None


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """A folder, made if there is none, in which no other run writes at the same time.

    One that was made for nothing is taken away again.
    """
    made = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise InterfaceError(
            f"{folder} cannot be a folder for results: {error.strerror}", help="name another with --out"
        ) from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise refuse(
                "D509",
                "another run is at work in this folder",
                label=str(folder),
                help="wait until it has ended; or name another folder with --out",
            ) from None
        if not os.access(folder, os.W_OK):
            raise InterfaceError(f"{folder} cannot be written to", help="name another with --out")
        for left in folder.glob(f".*{_ASIDE}"):  # by a run that was killed
            with suppress(OSError):
                left.unlink()
        yield
    finally:
        if made:
            with suppress(OSError):  # it is not empty
                folder.rmdir()
        os.close(handle)
