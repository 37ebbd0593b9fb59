"""What a file holds, as a digest of all its bytes; a file is read for it once in each of its states.

    visits.parquet, changed at 9:14     read: 5f0c...
    touched at 9:20, or copied          another state, read again: 5f0c..., the same version
    one value changed                   read: 81ab...

Claim   files with one digest hold the same bytes, and what is known of a state is the digest of its bytes.
Proof   SHA-256, keyed so that nobody without the ledger can test a guess of what a file holds. A state is a
        file's device, inode, size and times. Whoever writes to a file moves its change time, which no program
        can set back; the system's clock for it has steps, so that of a file that changed within the last
        seconds nothing is noted for later. Callers see to it that the state is the same after reading.
Test    tests/privacy/test_versions.py
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from dpsql.lazy_dataclass import dataclass

Seen = tuple[int, int, int, int, int]
"""A file's device, inode, size, modification time and change time."""

_SETTLED = 2 * 10**9
"""Nanoseconds after which the clock of change times has moved on, on any file system."""

CHUNK = 1 << 20
"""Bytes that are read at a time."""


@dataclass(frozen=True, slots=True)
class Content:
    """A file in a state, and how its bytes are read."""

    state: Seen
    read: Callable[[], Iterable[bytes]]

    @property
    def name(self) -> str:
        """The state's name in the ledger."""
        return hashlib.sha256(repr(self.state).encode()).hexdigest()[:32]

    @property
    def settled(self) -> bool:
        return 0 <= max(self.state[3:]) < time.time_ns() - _SETTLED


class Contents:
    """Digests of contents; ``noted`` returns those of earlier sessions by the states' names."""

    def __init__(
        self,
        key: str = "",
        noted: Callable[[Sequence[str]], Mapping[str, str]] = lambda names: {},
        note: Callable[[Mapping[str, str]], None] = lambda fresh: None,
    ) -> None:
        self._key = key.encode()
        self._noted = noted
        self._note = note
        self._digests: dict[Seen, str] = {}

    def digest(self, contents: Sequence[Content]) -> str:
        """Return one digest of several contents, in any order."""
        unknown = [content for content in contents if content.state not in self._digests]
        noted = self._noted([content.name for content in unknown]) if unknown else {}
        fresh = {}
        for content in unknown:
            known = noted.get(content.name)
            if known is None:
                known = self._read(content)
                if content.settled:
                    fresh[content.name] = known
            self._digests[content.state] = known
        if fresh:
            self._note(fresh)
        return hashed(sorted(self._digests[content.state] for content in contents))

    def _read(self, content: Content) -> str:
        digest = hashlib.sha256()
        for chunk in content.read():
            digest.update(chunk)
        return hmac.digest(self._key, digest.digest(), "sha256").hex()


def chunks(path: Path) -> Iterator[bytes]:
    """Read a file from its beginning to its end."""
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(CHUNK):
            yield chunk


def hashed(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()
