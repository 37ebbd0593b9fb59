"""Rows of csv files: what becomes of a line is the line's own business, whatever stands in it or beside it.

A model in Python says what a line is; DuckDB has to find the same rows, in files made of the bytes that break
readers, and with buffers so small that every line crosses one.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpsql.engines.file_sql import LONGEST, csv_sql, fields_of
from dpsql.policy.model import CsvRule

COLUMNS = [(0, "id", "INTEGER"), (1, "name", "VARCHAR"), (2, "born", "DATE")]
RULES = [
    CsvRule(),
    CsvRule(quote=""),
    CsvRule(delim=";", quote="'", header=False, nullstr="NA", dateformat="%d.%m.%Y"),
    CsvRule(delim="|", quote="^"),
    CsvRule(delim="\t", quote="\\"),
    CsvRule(delim=";", decimal=","),
]
PIECES = [
    *(
        b"17",
        b"18",
        b"-3",
        b"1e3",
        b"x",
        b"NA",
        b"2024-02-29",
        b"2023-02-29",
        b"31.12.1999",
        b"1.234",
        b"-1.234.567,5",
        b"0,25",
        b"1.2",
        b" ",
        b"\x00",
        b"#",
    ),
    *(b",", b",", b";", b"|", b"\t", b'"', b'"', b'""', b"'", b"^", b"\\", b"\x1f\x1e", b"\xef\xbb\xbf"),
    *(b"\n", b"\n", b"\n", b"\r", b"\r\n", b"\xff", b"\xc3", b"\xc3\xa9", b"\xed\xa0\x80", b"\xe2\x80\xa8"),
]
SHORT = 40
"""Bytes of a line at most, where ``small`` buffers are used; DuckDB may skip lines above 100."""

LONG = [b"a" * 30, b"b" * 90, b"c" * 300, b"\xc3\xa9" * 60]


def small(sql: str) -> str:
    made = sql.replace("max_line_size = 2097152", "max_line_size = 100, buffer_size = 200")
    assert made != sql
    return made.replace(f"<= {LONGEST}", f"<= {SHORT}")


def rows(
    folder: Path, data: bytes, rule: CsvRule, width: int = 3, tiny: bool = False, end: bytes = b"\n"
) -> Counter[str]:
    file = folder / "lines.csv"
    file.write_bytes((b"" if not rule.header else b"id,name,born" + end) + data)
    sql = csv_sql([file], rule, width, COLUMNS[:width])
    with duckdb.connect(config={"threads": 2}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        return Counter(map(repr, connection.execute(small(sql) if tiny else sql).fetchall()))


def expected(folder: Path, data: bytes, rule: CsvRule, longest: int = LONGEST) -> Counter[str]:
    """Line by line: its fields by the model, their values by DuckDB's casts of single constants."""
    found: list[str] = []
    with duckdb.connect() as connection:
        for raw in re.split(rb"[\r\n]", data.removeprefix(b"\xef\xbb\xbf") if not rule.header else data):
            try:
                line = raw.decode()
            except UnicodeDecodeError:
                continue
            if not line or len(raw) > longest or line == "\x1f\x1e":
                continue
            fields = [None if each == rule.nullstr else each for each in fields_of(line, rule)]
            if len(fields) == 3:
                born = "CAST(try_strptime($3, $4) AS DATE)" if rule.dateformat else "TRY_CAST($3 AS DATE)"
                if rule.decimal == ",":
                    fields[0] = pointed(fields[0])
                values = [*fields, rule.dateformat] if rule.dateformat else fields
                asked = f"SELECT TRY_CAST($1 AS INTEGER), $2::VARCHAR, {born}"
                found.append(repr(connection.execute(asked, values).fetchone()))
    return Counter(found)


def pointed(field: str | None) -> str | None:
    """A number with a comma, as one with a point."""
    if field is None or re.fullmatch(r" *[-+]?[0-9]{1,3}(\.[0-9]{3})+(,[0-9]*)? *", field):
        return field and field.replace(".", "").replace(",", ".")
    return None if "." in field else field.replace(",", ".")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lines")


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    pieces=st.lists(st.sampled_from(PIECES), max_size=60),
    rule=st.sampled_from(RULES),
    end=st.sampled_from((b"\n", b"\r\n", b"\r", b"\r\r\n")),
)
def test_rows_are_those_of_each_line(folder: Path, pieces: list[bytes], rule: CsvRule, end: bytes) -> None:
    data = b"".join(pieces)
    assert rows(folder, data, rule, end=end) == expected(folder, data, rule)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(pieces=st.lists(st.sampled_from(PIECES + LONG), max_size=150))
def test_rows_do_not_depend_on_where_a_buffer_ends(folder: Path, pieces: list[bytes]) -> None:
    data, rule = b"".join(pieces), CsvRule()
    assert rows(folder, data, rule, tiny=True) == expected(folder, data, rule, SHORT)


@pytest.mark.parametrize(
    "line",
    [
        b'2,"an open quote,2024-01-01',
        b'2,"an open quote',
        b"2,bad \xff\xfe utf,2024-01-01",
        b"2,\x00,2024-01-01",
        b"2,too,many,fields",
        b"2",
        b"99999999999999999999,x,soon",
        b"2," + b"x" * (LONGEST + 1) + b",2024-01-01",
        b"2," + b"x" * 5_000_000 + b",2024-01-01",
        b'"2","a\rb",2024-01-01',
        b'2,"' + b"," * 10_000 + b'",2024-01-01',
        b'2,"' + b"," * 10_001 + b'",2024-01-01',
        b'2,"' + b"," * 900_000 + b'",2024-01-01',
        b"\xef\xbb\xbf2,x,2024-01-01",
        b"\x1f\x1e",
    ],
    ids=lambda line: repr(line[:24]),
)
def test_an_odd_line_changes_no_other(folder: Path, line: bytes) -> None:
    before, after = b"1,Ann,2001-01-01\n", b"3,Cy,2003-03-03\n4,Di,2004-04-04\n"
    without, alone = rows(folder, before + after, CsvRule()), rows(folder, line + b"\n", CsvRule())
    assert len(without) == 3
    assert rows(folder, before + line + b"\n" + after, CsvRule()) == without + alone
    assert rows(folder, before + after + line, CsvRule()) == without + alone


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("odd", [b"\r", b"\n", b"\r\r", b"\n\r", b"\r\r\n", b"2,a\r", b"2,a\rb,", b"2,a\nb,"])
def test_an_odd_end_of_a_line_changes_no_other(folder: Path, header: bool, end: bytes, odd: bytes) -> None:
    """Windows' files too: a mark of the one kind among those of the other is no part of the next line."""
    with_names = [(0, "name", "VARCHAR"), (1, "born", "DATE")]
    file = folder / "ends.csv"
    lines = [b"name,born"] * header + [b"Ann,2001-01-01", odd, b"Bo,2002-02-02", b"Cy,2003-03-03"]
    file.write_bytes(end.join(lines) + end)
    sql = csv_sql([file], CsvRule(header=header), 2, with_names)
    with duckdb.connect() as connection:
        found = {name: str(born) for name, born in connection.execute(sql).fetchall()}
    others = {"Ann": "2001-01-01", "Bo": "2002-02-02", "Cy": "2003-03-03"}
    assert {name: born for name, born in found.items() if born != "None"} == others


def test_what_a_line_means(folder: Path) -> None:
    said = {
        b'1,"Smith, Ann",2024-02-29': "(1, 'Smith, Ann', datetime.date(2024, 2, 29))",
        b'1,"say ""hi""",': "(1, 'say \"hi\"', None)",
        b"one,,soon": "(None, None, None)",
        b"1,it's,2024-02-29\r": '(1, "it\'s", datetime.date(2024, 2, 29))',
    }
    for line, row in said.items():
        assert rows(folder, line + b"\n", CsvRule()) == Counter([row])
    assert rows(folder, b'1,"' + b"," * 10_000 + b'",\n', CsvRule())
    assert not rows(folder, b'1,"' + b"," * 10_001 + b'",\n', CsvRule())
    for line in (b"1,Ann", b"1,Ann,2024-02-29,more", b"", b"\xff,Ann,2024-02-29"):
        assert not rows(folder, line + b"\n", CsvRule())


def test_each_file_has_its_header(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(f"id,name\n1,{name}\n")
    sql = csv_sql([tmp_path / "a.csv", tmp_path / "b.csv"], CsvRule(), 2, COLUMNS[:2])
    with duckdb.connect() as connection:
        assert sorted(connection.execute(sql).fetchall()) == [(1, "a"), (1, "b")]
