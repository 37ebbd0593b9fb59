"""SCRAM-SHA-256: the exchange of RFC 7677, what is wrong in one, SASLprep, and what TLS binds to."""

from __future__ import annotations

import base64
import hashlib
import hmac
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from dpsql.server.certificates import end_point, tls_of
from dpsql.server.scram import Exchange, Verifier, prepared, stand_in

NONCE = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
PROOF = b"dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="


@pytest.fixture
def pencil() -> Verifier:
    return Verifier.of("pencil", base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ=="), 4096)


def exchange(verifier: Verifier, plus: bool = False, binding: bytes | None = None) -> Exchange:
    return Exchange(verifier, plus, binding, NONCE.removeprefix("rOprNGfwEbeRWgbNEkqO"))


def test_the_exchange_of_rfc_7677(pencil: Verifier) -> None:
    talk = exchange(pencil)
    assert talk.first(FIRST) == f"r={NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode()
    final = f"c=biws,r={NONCE},p=".encode() + PROOF
    assert talk.final(final) == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (PROOF, base64.b64encode(bytes(32))),
        (PROOF, base64.b64encode(bytes(31))),
        (PROOF, b"dHzb"),
        (PROOF, b"!"),
        (b"c=biws", b"c=eSws"),
        (b"hNlF$k0", b"hNlF$k1"),
        (b",p=", b",x=1,p="),
        (b"c=", b"d="),
    ],
)
def test_a_final_message_that_is_wrong(pencil: Verifier, old: bytes, new: bytes) -> None:
    talk = exchange(pencil)
    talk.first(FIRST)
    assert talk.final((f"c=biws,r={NONCE},p=".encode() + PROOF).replace(old, new)) is None
    assert exchange(pencil).final(f"c=biws,r={NONCE},p=".encode() + PROOF) is None, "there was no first one"


def test_first_messages_that_are_none_or_hide_what_the_server_can(pencil: Verifier) -> None:
    for message in (b"", b"n,,r=abc", b"n,a=x,n=,r=abc", b"p=tls-unique,,n=,r=abc", b"n,,n=,r=a b", b"\xff"):
        assert exchange(pencil).first(message) is None, message
    assert exchange(pencil).first(b"y,,n=,r=abc") is not None
    assert exchange(pencil, binding=b"x").first(b"y,,n=,r=abc") is None, "somebody took the offer away"
    assert exchange(pencil, plus=True, binding=b"x").first(b"n,,n=,r=abc") is None
    assert exchange(pencil).first(b"p=tls-server-end-point,,n=,r=abc") is None


@pytest.mark.parametrize("bound", [b"certificate", b"another"])
def test_a_proof_is_bound_to_the_certificate(bound: bytes) -> None:
    verifier = Verifier.of("a password", b"salt", 10)
    talk = Exchange(verifier, True, b"certificate")
    first = b"n=,r=abc"
    ours = talk.first(b"p=tls-server-end-point,," + first)
    assert ours is not None
    nonce = ours.split(b",")[0][2:]
    start = b"c=" + base64.b64encode(b"p=tls-server-end-point,," + bound) + b",r=" + nonce
    signed = b",".join((first, ours, start))
    client = hmac.digest(hashlib.pbkdf2_hmac("sha256", b"a password", b"salt", 10), b"Client Key", "sha256")
    signature = hmac.digest(hashlib.sha256(client).digest(), signed, "sha256")
    proof = base64.b64encode(bytes(a ^ b for a, b in zip(client, signature, strict=True)))
    assert (talk.final(start + b",p=" + proof) is None) == (bound != b"certificate")


def test_verifiers_are_written_and_read_and_show_no_key(pencil: Verifier) -> None:
    assert Verifier.read(str(pencil)) == pencil
    assert str(pencil).startswith("SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$")
    assert pencil.stored.hex() not in repr(pencil)
    for text in ("", "md5abc", str(pencil).replace("$4096", "$0"), str(pencil)[:-3], str(pencil) + "x"):
        assert Verifier.read(text) is None, text


def test_an_unknown_name_has_the_same_salt_each_time_and_looks_like_the_others(pencil: Verifier) -> None:
    real = (Verifier.of("one password", iterations=4096), pencil)
    one, again, other = (stand_in(name, b"secret", real) for name in ("eve", "eve", "mallory"))
    assert one.salt == again.salt != other.salt
    assert (one.iterations, len(one.salt)) == (4096, 16)
    assert one.stored != again.stored, "no proof fits it twice"
    assert stand_in("eve", b"another", real).salt != one.salt


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("I\u00adX", "IX"),  # the examples of RFC 4013
        ("user", "user"),
        ("\u00aa", "a"),
        ("\u2168", "IX"),
        ("a\u00a0b", "a b"),
        ("\u0007", "\u0007"),  # forbidden: as it is
        ("\u06271", "\u06271"),
        ("", ""),
    ],
)
def test_saslprep(given: str, expected: str) -> None:
    assert prepared(given) == expected.encode()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed: it makes certificates")
@pytest.mark.parametrize(("key", "hash"), [("rsa:2048", "sha256"), ("rsa:2048", "sha384"), ("ec", "sha512")])
def test_the_end_point_is_hashed_as_its_signature_is(key: str, hash: str, tmp_path: Path) -> None:
    more = ["-pkeyopt", "ec_paramgen_curve:P-256"] if key == "ec" else []
    words = (
        f"openssl req -x509 -newkey {key} -nodes -{hash} -subj /CN=x -keyout key.pem -out cert.pem".split()
    )
    subprocess.run([*words, *more], cwd=tmp_path, check=True, capture_output=True)
    tls = tls_of(tmp_path / "cert.pem", tmp_path / "key.pem")
    der = ssl.PEM_cert_to_DER_cert((tmp_path / "cert.pem").read_text())
    assert tls.binding == hashlib.new(hash, der).digest()
    assert tls.context.minimum_version == ssl.TLSVersion.TLSv1_2
    assert end_point(der[:20]) is None
    assert end_point(b"") is None
