"""Write files atomically: write a temporary file, sync it, and rename it. Lock the folder of a run."""

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
    """Replace the content of a file, atomically and durably."""
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
            help="nothing is lost: the answers are in the ledger; continue with --resume",
        ) from None


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Lock a folder, created if needed, so that no other run writes there.

    A folder that was created here and stays empty is removed.
    """
    created = not folder.exists()
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
                "another run is using this folder",
                label=str(folder),
                help="wait until it has ended; or name another folder with --out",
            ) from None
        if not os.access(folder, os.W_OK):
            raise InterfaceError(f"{folder} cannot be written to", help="name another with --out")
        for aside in folder.glob(f".*{_ASIDE}"):  # left by a killed run
            with suppress(OSError):  # left for the next run
                aside.unlink()
        yield
    finally:
        if created:
            with suppress(OSError):  # it is not empty
                folder.rmdir()
        os.close(handle)
