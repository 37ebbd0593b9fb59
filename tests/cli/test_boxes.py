"""Answers as boxes: every line fits, nothing is lost that there is room for, margins are dimmed."""

from __future__ import annotations

import datetime
import os
import pty
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.answer import Answer
from dpsql.render.box import answer_text
from dpsql.render.digits import group_thousands, wide
from dpsql.render.display import Look
from tests.conftest import POLICY, SCRIPTS


def answer(columns: dict[str, str], *rows: tuple[Any, ...], margins: Any = None, **more: Any) -> Answer:
    margins = margins or [(None,) * len(columns)] * len(rows)
    return Answer(tuple(columns), tuple(columns.values()), list(rows), margins, 0.5, 1.5, **more)


WARDS = answer(
    {"ward": "VARCHAR", "patients": "BIGINT", "age": "DOUBLE"},
    ("Cardiology", 14422, 65.83),
    (None, -1203, None),
    ("NULL", 12, 3.5),
    margins=[(None, 24.3, 0.42), (None, 24.3, None), (None, 24.3, None)],
)


def dimmed(text: str) -> str:
    return f"<{text}>"


def test_a_pipe_gets_everything_in_full() -> None:
    assert answer_text(WARDS).split("\n") == [
        "┌────────────┬────────────┬──────────────┐",
        "│ ward       │   patients │          age │",
        "├────────────┼────────────┼──────────────┤",
        "│ Cardiology │ 14422 ± 25 │ 65.83 ± 0.42 │",
        "│ NULL       │ -1203 ± 25 │  NULL        │",
        "│ NULL       │    12 ± 25 │   3.5 ±    ? │",
        "└────────────┴────────────┴──────────────┘",
        "± ?: nobody can say how far off this value may be.",
        "cost epsilon 0.5, remaining 1.5",
    ]


def test_a_terminal_dims_margins_and_null_and_sets_thousands_apart() -> None:
    lines = answer_text(WARDS, Look(80, 40, dimmed, True)).split("\n")
    assert lines[3:6] == [
        "│ Cardiology │ 14 422< ± 25> │ 65.83< ± 0.42> │",
        "│ <NULL>       │ -1 203< ± 25> │  <NULL       > │",
        "│ NULL       │     12< ± 25> │   3.5< ±    ?> │",
    ]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("Oslo", 4), ("Ålesund", 7), ("A\N{COMBINING RING ABOVE}lesund", 7), ("北京市", 6), ("กรุงเทพ", 6),
        ("दिल्ली", 5), ("🏥", 2), ("⚕\N{VARIATION SELECTOR-16}", 2),
    ],
)  # fmt: skip
def test_how_many_columns_a_text_takes(text: str, columns: int) -> None:
    assert wide(text) == columns


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("999", "999"), ("1000", "1_000"), ("-1234567.125", "-1_234_567.125"), ("0.12345", "0.12345"),
        ("?", "?"), ("1e+20", "1e+20"),
    ],
)  # fmt: skip
def test_thousands(text: str, found: str) -> None:
    assert (group_thousands(text, "_"), group_thousands(text, "")) == (found, text)


WIDE = answer(
    {"ward": "VARCHAR"} | {f"average_{i}": "DOUBLE" for i in range(9)},
    *[(f"ward {row}", *(row * 100 + i for i in range(9))) for row in range(4)],
    margins=[(None, *[0.5] * 9)] * 4,
)


def test_columns_fold_behind_what_names_the_row() -> None:
    lines = answer_text(WIDE, Look(40)).split("\n")
    assert max(map(len, lines)) <= 40
    headers = [line.replace("│", " ").split() for line in lines if "average" in line]
    assert [name for each in headers for name in each[1:]] == list(WIDE.columns[1:])
    assert {each[0] for each in headers} == {"ward"}
    shown = re.findall(r"(\d+\.00) ± 0\.50", "\n".join(lines))
    assert sorted(map(float, shown)) == sorted(value for row in WIDE.rows for value in row[1:])


def test_a_row_alone_folds_into_lines() -> None:
    one = answer({"a long name": "VARCHAR", "n": "BIGINT"}, ("word " * 20, 7), margins=[(None, 12.0)])
    assert answer_text(one, Look(40)).split("\n")[:-1] == [
        "┌─────────────┬─────────────────────┐",
        "│ a long name │ word word word word │",
        "│             │ word word word word │",
        "│             │ word word word word │",
        "│             │ word word word word │",
        "│             │ word word word word │",
        "│ n           │ 7 ± 12              │",
        "└─────────────┴─────────────────────┘",
    ]


@pytest.mark.parametrize("columns", [{"t": "VARCHAR"}, {"n": "BIGINT", "t": "VARCHAR"}])
def test_a_very_long_value_does_not_fill_the_terminal(columns: dict[str, str]) -> None:
    told = answer(columns, (*[1] * (len(columns) - 1), "word " * 2000))
    lines = answer_text(told, Look(80, 40, dimmed, True)).split("\n")
    assert len(lines) < 50
    assert any("… 10,000 characters in all" in line for line in lines)
    assert answer_text(told).count("word") == 2000, "a pipe gets everything"


def test_long_text_is_cut_before_columns_fold() -> None:
    told = answer({"t": "VARCHAR", "n": "BIGINT"}, *[("x" * 90, 1234567890123)] * 5)
    lines = answer_text(told, Look(60)).split("\n")
    assert lines[3] == f"│ {'x' * 39}… │ 1234567890123 │"
    assert {wide(line) for line in lines[:-1]} == {60}


def test_long_answers_show_their_ends_and_say_so() -> None:
    told = answer({"n": "BIGINT"}, *[(i,) for i in range(1000)])
    lines = answer_text(told, Look(80, 5, dimmed, True, "-o FILE writes them all")).split("\n")
    assert lines[3:9] == ["│   0 │", "│   1 │", "│   2 │", "│   <…> │", "│ 998 │", "│ 999 │"]
    assert "(1 000 rows, 5 shown; -o FILE writes them all)" in lines
    assert answer_text(told).count("│\n") == 1001
    whole = answer({"explain": "VARCHAR"}, *[(f"line {i}",) for i in range(100)])
    assert "line 50" in answer_text(whole, Look(80, 5))


TEXT = st.text(st.characters(codec="utf-8"), max_size=60)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "VARCHAR": TEXT,
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "DOUBLE": st.floats(),
    "DECIMAL(18,3)": st.decimals(-1000, 1000, places=3).map(Decimal),
    "DATE": st.dates(),
    "TIMESTAMP": st.datetimes(datetime.datetime(1, 1, 1)),
    "BOOLEAN": st.booleans(),
    "VARCHAR[]": st.lists(TEXT, max_size=3),
}


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    types = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=8))
    names = draw(st.lists(TEXT.filter(bool), min_size=len(types), max_size=len(types)))
    row = st.tuples(*(st.none() | VALUES[each] for each in types))
    margin = st.tuples(*(st.none() | st.floats(0, 1e12) for _ in types))
    rows = draw(st.lists(row, max_size=6))
    margins = draw(st.lists(margin, min_size=len(rows), max_size=len(rows)))
    return Answer(tuple(names), tuple(types), rows, margins, 0.5, 1.0)


@settings(max_examples=150, deadline=None)
@given(answers(), st.integers(50, 120))
def test_no_line_is_longer_than_the_terminal(told: Answer, width: int) -> None:
    lines = answer_text(told, Look(width, 4, grouped=True)).split("\n")
    assert max(map(wide, lines)) <= width
    frames = [line for line in lines if line[0] in "┌│├└"]
    assert all(line[-1] in "┐│┤┘" for line in frames)


def test_the_command_line_on_a_real_terminal(data: Path) -> None:
    """80 columns: nothing is longer; NO_COLOR leaves no escape."""
    sql = (
        "SELECT ward, smoker, COUNT(*) AS patients, AVG(age) AS average_age, AVG(income) AS average_income, "
        "MEDIAN(age) AS middle_age FROM patients GROUP BY ward, smoker"
    )
    for more, escapes in (({"NO_COLOR": "1"}, False), ({}, True)):
        shown = on_a_terminal(data, sql, more)
        assert ("\x1b[2m ± " in shown) is escapes
        lines = re.sub(r"\x1b\[\d*m", "", shown).splitlines()
        assert 60 < max(map(wide, lines)) <= 80
        assert lines[0].startswith("┌")
        assert "middle_age" in shown


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("boxes")
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute(SCRIPTS["clinic"])
    (folder / "clinic.toml").write_text(POLICY)
    return folder / "clinic.duckdb"


def on_a_terminal(database: Path, sql: str, more: dict[str, str]) -> str:
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    command = [sys.executable, "-m", "dpsql.cli", "query", str(database), "-c", sql]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env=environment | {"COLUMNS": "80", "TERM": "xterm", "PYTHONUTF8": "1"} | more,
    )
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 65536):
            parts.append(part)
    except OSError:  # the other end is closed
        pass
    _, errors = process.communicate()
    os.close(ours)
    assert process.returncode == 0, errors.decode()
    return b"".join(parts).decode().replace("\r\n", "\n")
