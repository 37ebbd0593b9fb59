"""Values of catalogue types on the wire: as psycopg and PostgreSQL 15 read and write them."""

from __future__ import annotations

import contextlib

import pytest

from dpsql.server.catalogue.array_values import decoded, encoded, size_of

VALUES: list[tuple[object, int, bytes, str]] = [
    (16384, 26, b"16384", "00004000"),
    (4294967295, 26, b"4294967295", "ffffffff"),
    (-7, 21, b"-7", "fff9"),
    (3, 20, b"3", "0000000000000003"),
    (True, 16, b"t", "01"),
    (False, 16, b"f", "00"),
    ("r", 18, b"r", "72"),
    ("é", 25, "é".encode(), "c3a9"),
    (1.5, 700, b"1.5", "3fc00000"),
    (["a", None], 1009, b"{a,NULL}", "00000001000000010000001900000002000000010000000161ffffffff"),
    (["", "null", 'a"b', "c d"], 1009, b'{"","null","a\\"b","c d"}', ""),
    ([], 1009, b"{}", "000000000000000000000019"),
    ([23, 25], 1028, b"{23,25}", "00000001000000000000001a000000020000000100000004000000170000000400000019"),
    ([1, 2], 22, b"1 2", "0000000100000000000000150000000200000000000000020001000000020002"),
    ([], 30, b"", "00000001000000000000001a0000000000000000"),
]


@pytest.mark.parametrize(("value", "oid", "text", "binary"), VALUES)
def test_a_value_as_text_and_as_bytes(value: object, oid: int, text: bytes, binary: str) -> None:
    assert encoded(value, oid, False) == text
    if binary:
        assert (encoded(value, oid, True) or b"").hex() == binary


def test_null_is_no_value() -> None:
    assert encoded(None, 25, False) is None
    assert encoded(None, 26, True) is None


def test_sizes() -> None:
    assert [size_of(oid) for oid in (26, 19, 18, 25, 1009)] == [4, 64, 1, -1, -1]


@pytest.mark.parametrize(("value", "oid", "text", "binary"), VALUES)
def test_bytes_are_read_back(value: object, oid: int, text: bytes, binary: str) -> None:
    made = encoded(value, oid, True)
    assert made is not None
    assert decoded(made, oid) == value
    for length in range(len(made)):  # cut anywhere
        with contextlib.suppress(ValueError):  # any other error fails the test
            decoded(made[:length], oid)


def test_other_types_are_not_read() -> None:
    for data, oid in ((b"\0" * 16, 2950), (b"\0" * 3, 26), (b"\0\0\0\2" + b"\0" * 30, 1028), (b"\xff", 25)):
        with pytest.raises(ValueError, match=r"type|array|codec"):
            decoded(data, oid)
