"""SCRAM-SHA-256 and SCRAM-SHA-256-PLUS (RFC 5802, 7677), the server's side, and verifiers as PostgreSQL's.

    Verifier.of("password")             SCRAM-SHA-256$15000:salt$StoredKey:ServerKey
    Exchange(verifier, binding)         .first(b"n,,n=,r=...") -> b"r=...,s=...,i=15000"
                                        .final(b"c=biws,r=...,p=...") -> b"v=..." or None

Claim   who does not know the password, and sees all exchanges of those who do, learns no more of it than a
        test for each guess; and an unknown name is answered like a known one.
Proof   RFC 5802, section 9. A stand-in for an unknown name has a salt that is an HMAC of the name under a
        secret of the file, the same for each try, and keys that no proof fits (``stand_in``).
Test    tests/unit/test_server_scram.py, with the exchange of RFC 7677

A proof is checked by thirty lines of ``hmac`` and ``hashlib``; a library would bring another dependency
(scramp needs asn1crypto) for the part that is the same in all of them.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import re
import stringprep
import unicodedata
from collections.abc import Sequence
from dataclasses import field

from dpsql.lazy_dataclass import dataclass

PLAIN, PLUS = "SCRAM-SHA-256", "SCRAM-SHA-256-PLUS"
ITERATIONS = 15_000
"""The client computes them at each login; PostgreSQL's default is 4,096."""

_SALT = 16


@dataclass(frozen=True, slots=True)
class Verifier:
    """What the server keeps of a password. Its keys are not shown."""

    iterations: int
    salt: bytes
    stored: bytes = field(repr=False)
    server: bytes = field(repr=False)

    @staticmethod
    def of(password: str, salt: bytes | None = None, iterations: int = ITERATIONS) -> Verifier:
        salt = os.urandom(_SALT) if salt is None else salt
        salted = hashlib.pbkdf2_hmac("sha256", prepared(password), salt, iterations)
        stored = hashlib.sha256(_hmac(salted, b"Client Key")).digest()
        return Verifier(iterations, salt, stored, _hmac(salted, b"Server Key"))

    def __str__(self) -> str:
        salt, stored, server = map(_base64, (self.salt, self.stored, self.server))
        return f"{PLAIN}${self.iterations}:{salt}${stored}:{server}"

    @staticmethod
    def read(text: str) -> Verifier | None:
        """Read what ``str`` wrote, or what PostgreSQL keeps in pg_authid; None if it is something else."""
        found = re.fullmatch(r"SCRAM-SHA-256\$(\d{1,9}):([^$:]+)\$([^$:]+):([^$:]+)", text)
        if found is None:
            return None
        try:
            salt, stored, server = (base64.b64decode(part, validate=True) for part in found.groups()[1:])
        except binascii.Error:
            return None
        if int(found[1]) < 1 or not 0 < len(salt) <= 64 or len(stored) != 32 or len(server) != 32:
            return None
        return Verifier(int(found[1]), salt, stored, server)


def stand_in(name: str, secret: bytes, real: Sequence[Verifier]) -> Verifier:
    """Return the verifier of a name that nobody has: no password fits it. It looks like one of the real."""
    drawn = hashlib.shake_256(_hmac(secret, name.encode())).digest(80)
    iterations, size = ITERATIONS, _SALT
    if real:
        like = real[int.from_bytes(drawn[:16], "big") % len(real)]
        iterations, size = like.iterations, len(like.salt)
    return Verifier(iterations, drawn[16 : 16 + size].ljust(size, b"\0"), os.urandom(32), os.urandom(32))


class Exchange:
    """One login. ``binding`` is what tls-server-end-point binds to, None without TLS."""

    def __init__(self, verifier: Verifier, plus: bool, binding: bytes | None, nonce: str = "") -> None:
        self._verifier, self._plus, self._binding = verifier, plus, binding
        self._nonce = nonce or base64.b64encode(os.urandom(18)).decode()
        self._header = b""
        self._messages = b""

    def first(self, message: bytes) -> bytes | None:
        """Answer the client's first message; None if it is not one, or hides that the server can bind."""
        found = re.fullmatch(
            rb"((p=tls-server-end-point|y|n),,)(n=[^,\0]*,r=([\x21-\x2b\x2d-\x7e]+)(?:,.*)?)", message, re.S
        )
        if found is None or (found[2][:1] == b"p") != self._plus:
            return None
        if found[2] == b"y" and self._binding is not None:  # it was not offered to the client: by whom?
            return None
        self._header = found[1]
        self._nonce = found[4].decode() + self._nonce
        ours = f"r={self._nonce},s={_base64(self._verifier.salt)},i={self._verifier.iterations}".encode()
        self._messages = found[3] + b"," + ours
        return ours

    def final(self, message: bytes) -> bytes | None:
        """Return the server's proof if the client's is right, else None."""
        found = re.fullmatch(rb"(c=([^,]+),r=([^,]+)),p=([^,]+)", message)
        if found is None or not self._header:
            return None
        try:
            bound, proof = (base64.b64decode(part, validate=True) for part in (found[2], found[4]))
        except binascii.Error:
            return None
        expected = self._header + (self._binding or b"" if self._plus else b"")
        signed = self._messages + b"," + found[1]
        signature = _hmac(self._verifier.stored, signed)
        key = bytes(a ^ b for a, b in zip(proof, signature, strict=False))
        right = hmac.compare_digest(hashlib.sha256(key).digest(), self._verifier.stored)
        same = hmac.compare_digest(bound, expected) and hmac.compare_digest(found[3], self._nonce.encode())
        if not (right and same and len(proof) == 32):
            return None
        return b"v=" + _base64(_hmac(self._verifier.server, signed)).encode()


def prepared(password: str) -> bytes:
    """Prepare a password by SASLprep (RFC 4013); as PostgreSQL does, leave alone what it forbids."""
    mapped = "".join(
        " " if stringprep.in_table_c12(char) else char
        for char in password
        if not stringprep.in_table_b1(char)
    )
    text = unicodedata.normalize("NFKC", mapped)
    right = [stringprep.in_table_d1(char) for char in text]
    mixed = any(right) and (any(map(stringprep.in_table_d2, text)) or not (right[0] and right[-1]))
    forbidden = (
        *(stringprep.in_table_c12, stringprep.in_table_c21_c22, stringprep.in_table_c3),
        *(stringprep.in_table_c4, stringprep.in_table_c5, stringprep.in_table_c6, stringprep.in_table_c7),
        *(stringprep.in_table_c8, stringprep.in_table_c9, stringprep.in_table_a1),
    )
    if not text or mixed or any(table(char) for char in text for table in forbidden):
        return password.encode()
    return text.encode()


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
