"""Messages of PostgreSQL's protocol: whatever clients send is read; what is sent is as it says."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.server import messages as m


def test_messages_are_read() -> None:
    assert m.message(b"Q", b"SELECT 1\0") == m.Query("SELECT 1")
    assert m.message(b"P", b"s\0SELECT $1\0" + struct.pack("!hI", 1, 23)) == m.Parse("s", "SELECT $1", (23,))
    bound = b"p\0s\0" + struct.pack("!hhhi2si", 1, 1, 2, 2, b"ab", -1) + struct.pack("!hhh", 2, 0, 1)
    assert m.message(b"B", bound) == m.Bind("p", "s", (1,), (b"ab", None), (0, 1))
    assert m.message(b"D", b"Sname\0") == m.Describe(False, "name")
    assert m.message(b"C", b"Pname\0") == m.Close(True, "name")
    assert m.message(b"E", b"p\0" + struct.pack("!i", 7)) == m.Execute("p", 7)
    assert [m.message(kind, b"") for kind in (b"S", b"H", b"X")] == [m.Sync(), m.Flush(), m.Terminate()]


def test_startups_are_read() -> None:
    body = struct.pack("!hh", 3, 2) + b"user\0ana\0database\0clinic\0\0"
    assert m.startup(body) == m.Startup(2, {"user": "ana", "database": "clinic"})
    assert m.startup(struct.pack("!i", m.SSL_REQUEST)) == m.EncryptionRequest(True)
    assert m.startup(struct.pack("!i8s", m.CANCEL_REQUEST, b"12345678")) == m.CancelRequest(b"12345678")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (b"Q", b"no end"),
        (b"Q", b"a\0b"),
        (b"B", b"p\0s\0" + struct.pack("!h", 9)),
        (b"B", b"p\0s\0" + struct.pack("!hhi", 0, 1, 2**31 - 1)),
        (b"B", b"p\0s\0" + struct.pack("!hhi", 0, 1, -2)),
        (b"B", b"p\0s\0" + struct.pack("!hh", 1, 2)),
        (b"D", b"Xname\0"),
        (b"S", b"more"),
        (b"z", b""),
    ],
)
def test_what_is_no_message_is_malformed(kind: bytes, body: bytes) -> None:
    with pytest.raises(m.Malformed):
        m.message(kind, body)


def test_a_text_that_is_not_utf_8_fails_the_statement_alone() -> None:
    with pytest.raises(m.NotText):
        m.message(b"Q", b"SELECT '\xff'\0")


@settings(max_examples=300)
@given(st.sampled_from([bytes([kind]) for kind in b"QPBDECSHXFdcfpz"]), st.binary(max_size=60))
def test_any_bytes_are_a_message_or_none(kind: bytes, body: bytes) -> None:
    for read in (lambda: m.message(kind, body), lambda: m.startup(body), lambda: m.sasl_initial(body)):
        with suppress(m.Malformed, m.NotText):  # any other error fails the test
            read()


def test_what_is_sent() -> None:
    assert m.ready("I") == b"Z\0\0\0\5I"
    assert m.complete("SELECT 1") == b"C\0\0\0\x0dSELECT 1\0"
    assert m.data_row([b"a", None]) == b"D\0\0\0\x0f\0\2\0\0\0\1a\xff\xff\xff\xff"
    assert m.fields_message(b"E", {"S": "ERROR", "H": "", "M": "a\0b"}) == b"E\0\0\0\x10SERROR\0Mab\0\0"
