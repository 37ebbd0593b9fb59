"""The file of verifiers, ``clinic.analysts``: who may log in. Only its owner may read it.

    # dpsql analysts 6f2c...                        a secret, from which unknown names get their salts
    ana:SCRAM-SHA-256$15000:salt$StoredKey:ServerKey

It is replaced as a whole, so who reads it sees it before or after a change. A running server looks at each
login, and each second, whether it has changed.
Test: tests/unit/test_server_verifiers.py
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path

from dpsql.accounting.ledger_file import sync_folder
from dpsql.errors import InterfaceError
from dpsql.lazy_dataclass import dataclass
from dpsql.server.scram import Verifier, stand_in

SHORTEST = 12
"""Characters of a password: whoever steals the file can try guesses."""

_HEAD = "# dpsql analysts "
_FORMAT = ":SCRAM-SHA-256$"


@dataclass(frozen=True, slots=True)
class Verifiers:
    """The content of the file. The secret is not shown."""

    secret: bytes = field(repr=False)
    named: Mapping[str, Verifier]

    def of(self, name: str) -> Verifier:
        """Return the verifier of a name, or one that no password fits."""
        other = stand_in(name, self.secret, tuple(self.named.values()))
        return self.named.get(name, other)


class VerifierFile:
    """The file at a path, read again when it has changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._nobody = Verifiers(os.urandom(32), {})
        self._read: tuple[tuple[int, ...], Verifiers] | None = None

    def __getstate__(self) -> dict[str, object]:
        """Give another process the path; it reads the file itself."""
        return {"path": self.path, "_nobody": self._nobody, "_read": None}

    def now(self) -> Verifiers:
        """Return what the file holds; nobody, if there is none."""
        try:
            status = os.lstat(self.path)
        except FileNotFoundError:
            return self._nobody
        except OSError as error:
            raise _unusable(self.path, f"cannot be read: {error.strerror}") from None
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            raise _unusable(self.path, "is not a file of this user's own")
        if stat.S_IMODE(status.st_mode) & 0o077:
            raise _unusable(self.path, "is open to other users", "chmod 600; were the passwords copied?")
        stamp = status.st_ino, status.st_mtime_ns, status.st_size
        if self._read is None or self._read[0] != stamp:
            self._read = stamp, self._parsed()
        return self._read[1]

    def _parsed(self) -> Verifiers:
        try:
            head, *lines = self.path.read_text(encoding="utf-8").splitlines() or [""]
            secret = bytes.fromhex(head.removeprefix(_HEAD))
        except (OSError, ValueError):
            secret = b""
        if not secret:
            raise _unusable(self.path, "is not a file of verifiers")
        named = {}
        for number, line in enumerate(lines, 2):
            name, found, rest = line.rpartition(_FORMAT)
            verifier = Verifier.read(found[1:] + rest)
            if verifier is None or not name:
                raise _unusable(self.path, f"is not a file of verifiers (line {number})")
            named[name] = verifier
        return Verifiers(secret, named)

    @contextmanager
    def changing(self) -> Iterator[dict[str, Verifier]]:
        """Yield the verifiers; what the block makes of them is written, atomically and durably."""
        try:
            folder = os.open(self.path.absolute().parent, os.O_RDONLY)
        except OSError as error:
            raise _unusable(self.path, f"cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            now = self.now()
            named = dict(now.named)
            yield named
            lines = [_HEAD + now.secret.hex(), *(f"{name}:{verifier}" for name, verifier in named.items())]
            self._write("".join(f"{line}\n" for line in lines))
        finally:
            os.close(folder)

    def _write(self, text: str) -> None:
        try:
            descriptor, draft = tempfile.mkstemp(prefix=".analysts-", dir=self.path.absolute().parent)
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                    stream.write(text)
                    stream.flush()
                    os.fsync(stream.fileno())
                os.replace(draft, self.path)
            except BaseException:  # Ctrl-C too: no draft stays behind
                with suppress(OSError):  # it has got its name
                    os.unlink(draft)
                raise
            sync_folder(self.path.absolute().parent)
        except OSError as error:
            raise _unusable(self.path, f"cannot be written: {error.strerror}") from None


def check_password(password: str) -> None:
    """Refuse a short password."""
    if len(password) < SHORTEST:
        raise InterfaceError(
            f"the password is shorter than {SHORTEST} characters",
            help="take a few words, or a password manager",
        )


def check_name(name: str) -> None:
    """Refuse a name that a line of the file cannot hold."""
    if not name.isprintable() or name.startswith("#"):
        raise InterfaceError("this name cannot be a login", help="use letters, digits, - and _")


def _unusable(path: Path, why: str, help: str = "name another with --analysts") -> InterfaceError:
    return InterfaceError(f"{path} {why}", help=help)
