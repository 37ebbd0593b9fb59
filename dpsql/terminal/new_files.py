"""Files for answers: new ones, all of it or nothing, and never over what somebody has.

new_file(b"...", Path("wards.csv"))     wards.csv, or InterfaceError
free(Path("wards.csv"))                 wards.csv, wards-2.csv, ...: the first that is not there
"""

from __future__ import annotations

import errno
import itertools
import os
from contextlib import suppress
from pathlib import Path

from dpsql.errors import InterfaceError

_KEPT = "nothing is lost: asked again, the same query is served from the ledger, free"
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


def free(file: Path) -> Path:
    """The file, or the first numbered one that is not there."""
    if not _there(file):
        return file
    numbered = (file.with_stem(f"{file.stem}-{number}") for number in itertools.count(2))
    return next(each for each in numbered if not _there(each))


def check_new(file: Path) -> None:
    """Before anything is paid: a place where no file can be made is no place for an answer."""
    if _there(file):
        raise InterfaceError(
            f"{file} is there already, and is not overwritten", help="name another file, or remove this one"
        )
    if not os.path.isdir(file.parent):
        raise InterfaceError(f"there is no folder {file.parent}", help="make it, or name another")
    try:
        with suppress(FileNotFoundError):
            os.lstat(file)  # a name may be too long
        beside = _beside(file)
        os.close(_opened(beside))
        beside.unlink()
    except OSError as error:
        raise InterfaceError(
            f"{file} cannot be written: {error.strerror}", help="name a file in a folder of yours"
        ) from None


def new_file(content: bytes, file: Path, help: str = _KEPT) -> None:
    """A file with this content and the rights that new files of this person have."""
    beside = _beside(file)
    try:
        try:
            with os.fdopen(_opened(beside), "wb") as written:
                written.write(content)
                written.flush()
                os.fsync(written.fileno())
            _placed(beside, file)
        finally:
            with suppress(OSError):
                beside.unlink()
    except FileExistsError:
        check_new(file)
        raise
    except OSError as error:
        raise InterfaceError(
            f"{file} could not be written: {error.strerror}",
            help=help,
        ) from None


def _placed(beside: Path, file: Path) -> None:
    """Give a finished file its name, unless somebody else has that by now."""
    try:
        os.link(beside, file)
    except OSError as error:
        if error.errno not in _NO_LINKS:  # where files have one name each
            raise
        os.close(_opened(file))
        os.replace(beside, file)


def _opened(file: Path) -> int:
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)


def _beside(file: Path) -> Path:
    return file.with_name(f".dpsql-{os.urandom(8).hex()}")


def _there(file: Path) -> bool:
    return os.path.lexists(file)
