"""A client that sends what it is told: for messages that no driver would send."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import socket
import struct
from types import TracebackType

from .conftest import PASSWORD, Served


def message(kind: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return kind + struct.pack("!i", len(body) + 4) + body


def startup(user: str = "ana", database: str = "clinic") -> bytes:
    words = f"user\0{user}\0database\0{database}\0\0".encode()
    return struct.pack("!ihh", len(words) + 8, 3, 0) + words


class Raw:
    """A connection; ``login`` makes it ready for queries."""

    def __init__(self, served: Served, timeout: float = 20.0) -> None:
        self.socket = socket.create_connection(("127.0.0.1", served.port), timeout)
        self._left = b""

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def next(self) -> tuple[bytes, bytes]:
        """The next message; (b"", b"") at the end of the connection."""
        while len(self._left) < 5 or len(self._left) <= int.from_bytes(self._left[1:5], "big"):
            try:
                more = self.socket.recv(65_536)
            except ConnectionResetError:
                more = b""
            if not more:
                return b"", b""
            self._left += more
        size = int.from_bytes(self._left[1:5], "big")
        kind, body, self._left = self._left[:1], self._left[5 : size + 1], self._left[size + 1 :]
        return kind, body

    def until(self, *kinds: bytes) -> list[tuple[bytes, bytes]]:
        """All messages up to one of these kinds, or to the end."""
        found = [self.next()]
        while found[-1][0] not in (*kinds, b""):
            found.append(self.next())
        return found

    def login(self, user: str = "ana", password: str = PASSWORD) -> list[tuple[bytes, bytes]]:
        """Log in by SCRAM-SHA-256; what the server said after the challenge."""
        self.send(startup(user))
        kind, body = self.next()
        assert (kind, body[:4]) == (b"R", struct.pack("!i", 10)), (kind, body)
        first = b"n=,r=" + base64.b64encode(os.urandom(12))
        self.send(message(b"p", b"SCRAM-SHA-256\0", struct.pack("!i", len(first) + 3), b"n,,", first))
        challenge = self.next()[1][4:]
        given = dict(part.split(b"=", 1) for part in challenge.split(b","))
        salt, count = base64.b64decode(given[b"s"]), int(given[b"i"])
        salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, count)
        client = hmac.digest(salted, b"Client Key", "sha256")
        last = b"c=biws,r=" + given[b"r"]
        signature = hmac.digest(
            hashlib.sha256(client).digest(), b",".join((first, challenge, last)), "sha256"
        )
        proof = base64.b64encode(bytes(a ^ b for a, b in zip(client, signature, strict=True)))
        self.send(message(b"p", last, b",p=", proof))
        return self.until(b"Z", b"E")

    def __enter__(self) -> Raw:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()
