"""Create files for answers: atomically, and never over an existing file.

new_file(b"...", Path("wards.csv"))     wards.csv, or InterfaceError
free(Path("wards.csv"))                 wards.csv, wards-2.csv, ...: the first that does not exist
"""

from __future__ import annotations

import errno
import itertools
import os
from contextlib import suppress
from pathlib import Path

from dpsql.errors import InterfaceError

_KEPT = "nothing is lost: the ledger serves the same query again, free"
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


def unused_name(file: Path) -> Path:
    """Return the file, or the first numbered one that does not exist."""
    if not _exists(file):
        return file
    numbered = (file.with_stem(f"{file.stem}-{number}") for number in itertools.count(2))
    return next(candidate for candidate in numbered if not _exists(candidate))


def check_new(file: Path) -> None:
    """Refuse a file that exists or cannot be created, before anything is paid."""
    if _exists(file):
        raise InterfaceError(
            f"{file} already exists and is not overwritten", help="name another file, or remove this one"
        )
    if not os.path.isdir(file.parent):
        raise InterfaceError(f"there is no folder {file.parent}", help="create it, or name another")
    try:
        with suppress(FileNotFoundError):  # the name is free
            os.lstat(file)  # fails if the name is too long
        temporary = _temporary(file)
        os.close(_create(temporary))
        temporary.unlink()
    except OSError as error:
        raise InterfaceError(
            f"{file} cannot be written: {error.strerror}",
            help="name a file in a folder that you may write to",
        ) from None


def new_file(content: bytes, file: Path, help: str = _KEPT, mode: int = 0o666) -> None:
    """Create a file with this content and these permissions, less the umask: completely, or not at all."""
    temporary = _temporary(file)
    try:
        try:
            with os.fdopen(_create(temporary, mode), "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            _give_name(temporary, file)
        finally:
            with suppress(OSError):  # it has been given its name
                temporary.unlink()
    except FileExistsError:
        check_new(file)
        raise
    except OSError as error:
        raise InterfaceError(
            f"{file} could not be written: {error.strerror}",
            help=help,
        ) from None


def _give_name(temporary: Path, file: Path) -> None:
    """Give a complete temporary file its name; fail if another file has taken that name."""
    try:
        os.link(temporary, file)
    except OSError as error:
        if error.errno not in _NO_LINKS:  # file systems without hard links
            raise
        os.close(_create(file))
        os.replace(temporary, file)


def _create(file: Path, mode: int = 0o666) -> int:
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), mode)


def _temporary(file: Path) -> Path:
    return file.with_name(f".dpsql-{os.urandom(8).hex()}")


def _exists(file: Path) -> bool:
    return os.path.lexists(file)
