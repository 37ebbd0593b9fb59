"""TLS: a context of version 1.2 or later, and what tls-server-end-point (RFC 5929) binds a password to.

Test: tests/unit/test_server_scram.py, against openssl and psql with channel_binding=require
"""

from __future__ import annotations

import hashlib
import ssl
from pathlib import Path

from dpsql.errors import InterfaceError
from dpsql.lazy_dataclass import dataclass

_HASHES = {
    "2a864886f70d01010b": "sha256",  # sha256WithRSAEncryption, and so on
    "2a864886f70d01010c": "sha384",
    "2a864886f70d01010d": "sha512",
    "2a864886f70d010104": "sha256",  # MD5 and SHA-1 are replaced by SHA-256
    "2a864886f70d010105": "sha256",
    "2a8648ce3d040301": "sha256",  # ecdsa-with-SHA1, and so on
    "2a8648ce3d040302": "sha256",
    "2a8648ce3d040303": "sha384",
    "2a8648ce3d040304": "sha512",
}
"""The hash of a signature's algorithm, by its object identifier."""


@dataclass(frozen=True, slots=True)
class Tls:
    """``binding`` is None where the certificate's signature names no hash; then none is offered."""

    context: ssl.SSLContext
    binding: bytes | None


def tls_of(certificate: Path, key: Path) -> Tls:
    """Read a chain of certificates and its key, as PEM."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    try:
        context.load_cert_chain(certificate, key, password=_no_password)
        first = certificate.read_text(encoding="ascii").partition("-----END CERTIFICATE-----")
        begin = first[0].find("-----BEGIN CERTIFICATE-----")
        der = ssl.PEM_cert_to_DER_cert(first[0][begin:] + first[1])
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or "it is not PEM"
        raise InterfaceError(
            f"{certificate} and {key} are no certificate and its key: {reason}",
            help="name a certificate (with its chain) and its key, both as PEM: --cert FILE --key FILE",
        ) from None
    return Tls(context, end_point(der))


def _no_password() -> str:
    raise ValueError("the key is encrypted")


def end_point(der: bytes) -> bytes | None:
    """Return the hash of a certificate by the hash of its signature (RFC 5929, section 4.1)."""
    try:
        outer, _ = _element(der, 0)  # Certificate ::= SEQUENCE { tbs, signatureAlgorithm, signature }
        _, end = _element(der, outer)
        algorithm, _ = _element(der, end)
        start, end = _element(der, algorithm)
    except IndexError:
        return None
    name = _HASHES.get(der[start:end].hex())
    return None if name is None else hashlib.new(name, der).digest()


def _element(der: bytes, at: int) -> tuple[int, int]:
    """Return where the content of the DER element at a place starts and ends."""
    size, start = der[at + 1], at + 2
    if size & 0x80:
        count = size & 0x7F
        size, start = int.from_bytes(der[start : start + count], "big"), start + count
    return start, start + size
