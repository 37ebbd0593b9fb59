"""A script falls apart at its semicolons, and nowhere else."""

from __future__ import annotations

import pytest

from dpsql.errors import Error, refuse
from dpsql.ir.source import Span
from dpsql.parse.scripts import Lines, in_script, statements

SCRIPT = """\
-- What the clinic asks every month.
SET epsilon = 0.2;

-- name: old
-- weight: 2
SELECT COUNT(*) FROM patients -- everybody; really
WHERE town <> 'a;b' AND "odd;name" = $$x;y$$ /* ; /* ; */ ; */;
;
SELECT E'it\\'s; so', 'it''s; so'
"""


def test_statements_and_what_is_said_of_them() -> None:
    setting, old, last = statements(SCRIPT)
    assert setting.setting == ("epsilon", "0.2")
    assert (old.name, old.weight, old.line, old.setting) == ("old", 2.0, 6, None)
    assert old.text.startswith("SELECT COUNT(*)")
    assert old.text.endswith('"odd;name" = $$x;y$$')
    assert (last.text, last.closed, last.name) == ("SELECT E'it\\'s; so', 'it''s; so'", False, None)
    for each in (setting, old, last):
        assert SCRIPT[each.start :].startswith(each.text)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("SELECT 1;", True),
        ("SELECT 1; -- done", True),
        ("SELECT 1; /* done */", True),
        ("SELECT 1; SELECT", False),
        ("SELECT ';", False),
        ("SELECT 1 -- ;", False),
        ("SELECT 1 /* ;", False),
        ("SELECT 1 /* /* */ ;", False),
        ("SELECT 1; /*", False),
        ("SELECT $a$ ; $$;", False),
        ("", False),
    ],
)
def test_a_prompt_knows_when_a_statement_ends(text: str, whole: bool) -> None:
    assert lines(text).finished is whole


@pytest.mark.parametrize(
    ("text", "begun", "behind"),
    [
        (SCRIPT, True, "SELECT"),
        ("-- a\n/* b\n/* c\n*/ ; */ -- d\n", False, ""),
        ("/* a\n", True, ""),
        ("SELECT 1; /* a\n*/\n \\plot\n", True, "\\"),
        ("SELECT 'a\n''\n;''\n' || E'b\n\\'\n;' || $c$\n;$$\n$c$ || \"d\n;\"\"\n\"\n;\n", True, ""),
        ("SELECT 'a\\'\n;\n", True, ""),
        ("SELECT E'a\\\n'';\n';\n", True, ""),
        ("SELECT $a$\n$A$;\n$a$; $b", True, "$"),
    ],
)
def test_lines_that_come_one_by_one_say_what_the_whole_says(text: str, begun: bool, behind: str) -> None:
    whole, pieces = lines(text), lines(*text.splitlines(keepends=True))
    for said in (whole, pieces):
        assert (said.begun, said.behind) == (begun, behind)
    assert whole.finished is pieces.finished
    assert whole.finished is (text.rstrip()[-1:] == ";")


def lines(*texts: str) -> Lines:
    said = Lines()
    for text in texts:
        said.add(text)
    return said


def test_long_texts_are_read_once() -> None:
    """Each of these took minutes where text was read again for each line, semicolon or space."""
    said = lines("SELECT '", *["''; /* a\n"] * 30_000, "';\n")
    assert said.finished
    found = statements("SELECT 1;\n" * 30_000)
    assert (len(found), found[-1].line) == (30_000, 30_000)
    value = f"b{' ' * 30_000}c"
    assert statements(f"SET a = {value};")[0].setting == ("a", value)


@pytest.mark.parametrize(
    "said", ["-- name: ../../etc/passwd", "-- name:", "-- weight: none", "-- weight: -1"]
)
def test_comments_that_mean_nothing_are_refused(said: str) -> None:
    with pytest.raises(Error) as refused:
        statements(f"SELECT 1;\n{said}\nSELECT 2;", "a.sql")
    assert refused.value.code == "D107"
    assert refused.value.position == (2, 1)


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("SELECT 1;\nSELECT 'a;\nSELECT 2;", (2, 8), "this text is not closed"),
        ("SELECT 1 /* /* */ ;\nSELECT 2;", (1, 10), "end it with */"),
        ('SELECT "a;\n', (1, 8), 'end it with "'),
        ("SELECT E'a\\';\n", (1, 8), "this text is not closed"),
        ("SELECT $a$ ; $A$;\n", (1, 8), "end it with $a$"),
    ],
)
def test_what_is_not_closed_is_refused_where_it_opens(text: str, at: tuple[int, int], words: str) -> None:
    with pytest.raises(Error, match=r"not closed") as refused:
        statements(text)
    assert refused.value.position == at
    assert words in str(refused.value)


def test_a_comment_does_not_set_a_price() -> None:
    with pytest.raises(Error, match=r"write SET epsilon = 0\.5;"):
        statements("-- Epsilon: 0.5\nSELECT 1")
    assert len(statements("-- epsilon: one half\nSELECT 1 -- epsilon: about 3")) == 1


def test_an_error_points_into_the_script() -> None:
    _, old, _ = statements(SCRIPT)
    at = old.text.index("town")
    error = refuse("D201", "no such column", Span(at, at + 4), help="name one").within(old.text, "query")
    assert in_script(error, old, SCRIPT, "monthly.sql").position == (7, 7)
    assert "monthly.sql:7:7" in str(error)
