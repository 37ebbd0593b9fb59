"""The file of units that were ever seen, and of the block that each was seen in: clinic.ledger-units.

    header   format, the ledger that it belongs to, the kinds of the unit's columns
    part     how many | HMAC(unit) block | HMAC(unit) block | ... | digest       units that were new on Monday
    part     how many | HMAC(unit) block | ...                    | digest       and on Tuesday

Each digest is that of the digest before and of its own part, so the last one stands for the whole file. The
ledger's entries of kind units name it.

Claim   what the digest in the ledger stands for is read whole and unchanged, or the file is refused (D514).
Proof   SHA-256 over all that is before it. A part is synced before an entry names its digest, and parts are
        only appended. A kill between the two leaves a part that no entry names: a whole one is kept, for its
        units were seen, and one that was cut is overwritten.
Test    tests/privacy/test_units_seen.py

Who has the ledger, whose salt is the key, and a list of ids can tell from the file who is in it.
"""

from __future__ import annotations

import fcntl
import hmac
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from dpsql.accounting.ledger_file import exists, inode, sync_folder, translated
from dpsql.errors import DatabaseError, refuse
from dpsql.lazy_dataclass import dataclass

FORMAT = "dpsql units 1"
HASH, BLOCK, COUNT, DIGEST = 16, 2, 8, 32
RECORD = HASH + BLOCK

_PATIENCE = 600.0
"""Seconds to wait for another process that reads all units."""

_CHUNK = 1 << 16
"""Records that are read at a time."""

Take = Callable[[bytes], None]
"""Gets records."""


def beside(ledger: Path) -> Path:
    """Return the path of the file of units of a ledger."""
    return ledger.with_name(f"{ledger.name}-units")


def key_of(salt: str) -> bytes:
    """Return the key of a ledger's units."""
    return hmac.digest(salt.encode(), b"units seen", "sha256")


def unit_hash(key: bytes, values: Sequence[str | None]) -> bytes:
    """Return the name of a unit in the file; no two lists of so many texts are spelled alike."""
    first = values[0] or ""
    spelled = first if len(values) == 1 else "".join(f"{len(value or '')}:{value}" for value in values)
    return hmac.digest(key, spelled.encode("utf-8", "surrogatepass"), "sha256")[:HASH]


@dataclass(frozen=True, slots=True)
class UnitsFile:
    """The file at a path, for the units of one key, of columns of these kinds."""

    path: Path
    key: bytes
    kinds: tuple[str, ...]

    @property
    def header(self) -> bytes:
        owner = hmac.digest(self.key, b"file", "sha256").hex()
        return json.dumps([FORMAT, owner, *self.kinds]).encode() + b"\n"

    def holds(self, digest: str) -> bool:
        """Whether the file is there and has the parts that this digest stands for; waits for nobody."""
        with translated(self.path):
            if not exists(self.path):
                return False
            inode(self.path)
            with self.path.open("rb") as file:
                return any(part.digest.hex() == digest for part in self._parts(file))

    @contextmanager
    def taken(self, digest: str | None) -> Iterator[TakenFile]:
        """Keep other processes out; ``digest`` is the ledger's, None if it knows of no file."""
        with translated(self.path):
            if not exists(self.path):
                if digest is not None:
                    raise refused(f"{self.path} is gone")
                self._begin()
            inode(self.path)
            with self.path.open("r+b", buffering=0) as file:
                _lock(file)
                try:
                    yield TakenFile(self, file)
                finally:
                    with suppress(OSError):  # closing gives the lock back too
                        fcntl.flock(file, fcntl.LOCK_UN)  # a child of a fork would keep it

    def _begin(self) -> None:
        """Create the file with its header, unless another process was faster."""
        descriptor, draft = tempfile.mkstemp(prefix=".units-", dir=self.path.parent)
        try:
            with open(descriptor, "wb") as file:
                os.fchmod(descriptor, 0o600)
                file.write(self.header)
                file.flush()
                os.fsync(descriptor)
            with suppress(FileExistsError):
                os.link(draft, self.path)
        finally:
            os.unlink(draft)
        sync_folder(self.path.parent)

    def _parts(self, file: BinaryIO, take: Take | None = None) -> Iterator[Part]:
        """Yield the header and each whole part, and show its records to ``take``."""
        header = self.header
        if file.read(len(header)) != header:
            raise refused(
                f"{self.path} belongs to another ledger, or to units of another type",
                "if it is left over from another ledger, remove it",
            )
        part, size = Part(len(header), sha256(header).digest()), os.fstat(file.fileno()).st_size
        yield part
        while (count := _count(file, size - part.end)) is not None:
            content, left = sha256(part.digest + count.to_bytes(COUNT)), count
            kept: list[bytes] = []
            while left:
                records = file.read(RECORD * min(left, _CHUNK))
                content.update(records)
                left -= min(left, _CHUNK)
                if take is not None:
                    kept.append(records)
            if file.read(DIGEST) != content.digest():
                return
            if take is not None:
                take(b"".join(kept))
            part = Part(part.end + COUNT + RECORD * count + DIGEST, content.digest())
            yield part


@dataclass(frozen=True, slots=True)
class Part:
    """Where a part ends, and its digest."""

    end: int
    digest: bytes


@dataclass(slots=True)
class TakenFile:
    """The file while no other process reads or writes it."""

    of: UnitsFile
    file: BinaryIO
    last: Part | None = None

    def read(self, digest: str | None, take: Take) -> None:
        """Show all records to ``take``, or raise D514 unless what the ledger knows is among them."""
        found = digest is None
        self.file.seek(0)
        for part in self.of._parts(self.file, take):
            found, self.last = found or part.digest.hex() == digest, part
        if not found:
            raise refused(f"{self.of.path} is older than the ledger, or was changed")

    @property
    def digest(self) -> str:
        """Return the digest of all that was read or appended."""
        assert self.last is not None, "read first"
        return self.last.digest.hex()

    def append(self, records: bytes) -> str:
        """Add records behind those that were read, durably; return the digest of the whole."""
        last = self.last
        assert last is not None, "read first"
        content = (len(records) // RECORD).to_bytes(COUNT) + records
        digest = sha256(last.digest + content).digest()
        self.file.seek(last.end)
        self.file.truncate()
        written = memoryview(content + digest)
        while written:
            written = written[self.file.write(written) :]
        os.fsync(self.file.fileno())
        self.last = Part(last.end + len(content) + DIGEST, digest)
        return digest.hex()


def _count(file: BinaryIO, left: int) -> int | None:
    """Read how many records a part has; None if no whole part is left."""
    number = int.from_bytes(file.read(COUNT)) if left >= COUNT + DIGEST else None
    return None if number is None or COUNT + RECORD * number + DIGEST > left else number


def _lock(file: BinaryIO) -> None:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


def refused(
    label: str,
    help: str = "restore the newest copy, which was made with the ledger's; the page on the ledger says what "
    "is left where there is none",
) -> DatabaseError:
    return refuse("D514", "the file of units is not what the ledger knows", label=label, help=help)
