"""What Tab offers, by position in the statement: from the policy's words alone, and quickly."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.policy.listing import Table
from dpsql.shell.completion import Candidate, colours, completions_at

POLICY = """\
[budget]
epsilon = 8.0
delta = 1e-6

[unit]
name = "person"
table = "people"
key = "id"

[tables.people.columns]
age = { range = [0, 120], comment = "in whole years" }
town = { values = ["Oslo", "Rome", "O'Higgins"] }
member = {}
weight = {}
"first name" = {}

[tables.visits]
unit = { column = "person_id" }
rows_per_unit = 10

[tables.visits.columns]
cost = { range = [0, 500] }
town = {}
day = { range = [2024-01-01, 2024-12-31] }

[tables.towns]
public = true
key = "town"

[views.old]
sql = "SELECT * FROM people WHERE age >= 65"
"""

DATA = """
CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER, town VARCHAR, member BOOLEAN, weight DOUBLE,
    "first name" VARCHAR);
INSERT INTO people SELECT i, i % 90, 'Oslo', i % 2 = 0, 70.5, 'x' FROM range(4321) AS t(i);
CREATE TABLE visits (person_id INTEGER, cost DOUBLE, town VARCHAR, day DATE);
INSERT INTO visits SELECT i, 1.5, 'Rome', DATE '2024-02-03' FROM range(4321) AS t(i);
CREATE TABLE towns AS SELECT * FROM (VALUES ('Oslo', 7), ('Rome', 29)) AS t(town, inhabitants);
"""


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[Table, ...]:
    folder = tmp_path_factory.mktemp("people")
    with duckdb.connect(str(folder / "world.duckdb")) as made:
        made.execute(DATA)
    (folder / "world.toml").write_text(POLICY, encoding="utf-8")
    with dpsql.connect(folder / "world.duckdb") as db:
        return db.tables


def offered(tables: tuple[Table, ...], text: str) -> list[Candidate]:
    """The candidates at the bar of a text, or at its end."""
    at = text.find("|") if "|" in text else len(text)
    return completions_at(text.replace("|", ""), at, tables, ("town", "n"))


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("SEL", ["SELECT"]),
        ("sel", ["select"]),
        ("SELECT AVG(", ["age", "cost", "inhabitants", "weight", "id"]),
        ("SELECT AVG(|) FROM people", ["age", "weight", "id"]),
        ("SELECT AVG(| FROM people", ["age", "weight", "id"]),
        ("SELECT sum(c|) FROM visits", ["cost"]),
        ("SELECT COUNT(", ["*"]),
        ("SELECT | FROM visits", ["cost", "town", "day", "person_id", "COUNT("]),
        ("SELECT COUNT(*) FROM ", ["people", "visits", "towns", "old"]),
        ("SELECT COUNT(*) FROM v", ["visits"]),
        ("SELECT COUNT(*) FROM people p JOIN ", ["people", "visits", "towns", "old"]),
        ("SELECT COUNT(*) FROM people, ", ["people", "visits", "towns", "old"]),
        ("SELECT COUNT(*) FROM people p JOIN visits v ON p.id = v.", ["person_id", "cost", "town", "day"]),
        ("SELECT COUNT(*) FROM people JOIN visits USING (", ["town"]),
        ("SELECT v.| FROM people p JOIN visits v ON p.id = v.person_id", ["cost", "town", "day"]),
        ("SELECT t| FROM people p JOIN visits v ON p.id = v.person_id", ["p.town", "v.town"]),
        ("SELECT COUNT(*) FROM people WHERE town = ", ["'Oslo'", "'Rome'", "'O''Higgins'"]),
        ("SELECT COUNT(*) FROM people WHERE town = 'R", ["'Rome'"]),
        ("SELECT COUNT(*) FROM people p WHERE p.town IN ('Oslo', ", ["'Oslo'", "'Rome'"]),
        ("SELECT COUNT(*) FROM people WHERE town NOT IN (", ["'Oslo'"]),
        ("SELECT COUNT(*) FILTER (WHERE town <> |) FROM people", ["'Oslo'"]),
        ("SELECT COUNT(*) FROM people WHERE member = ", ["true", "false"]),
        ("SELECT town, COUNT(*) FROM people GROUP ", ["BY"]),
        ("SELECT age // 10 AS decade, COUNT(*) FROM people GROUP BY dec", ["decade"]),
        ("SELECT COUNT(*) AS n FROM people ORDER BY n", ["n"]),
        ("SELECT COUNT(*) FROM people W", ["WHERE"]),
        ("SELECT COUNT(*) FROM people WHERE age IS ", ["NULL", "NOT NULL"]),
        (
            "WITH n AS (SELECT town, COUNT(*) AS many FROM people GROUP BY town) SELECT | FROM n",
            ["town", "many"],
        ),
        ("WITH n AS (SELECT 1) SELECT * FROM ", ["n", "people"]),
        ("WITH n AS (SELECT town, 1 AS many FROM people) SELECT ", ["town", "many", "age"]),
        ("SELECT x.| FROM (SELECT age AS years, id FROM people) x", ["years", "id"]),
        ("SELECT COUNT(*) FROM (SELECT w| FROM people)", ["weight"]),
        (
            "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.person_id = p.",
            ["id", "age"],
        ),
        ("SELECT 1; SELECT | FROM towns; SELECT 2", ["town", "inhabitants"]),
        ('SELECT "fi| FROM people', ['"first name"']),
        ("SELECT fi| FROM people", ['"first name"']),
        ('SELECT "a', ['"age"']),
        ('SELECT COUNT(*) FROM "vi', ['"visits"']),
        ('SELECT COUNT(*) FROM people p WHERE p."to', ['"town"']),
        ("SELECT OPTIONS(eps", ["epsilon = "]),
        ("SET ", ["epsilon", "confirm", "timeout"]),
        ("\\", ["\\d"]),
        ("\\bud", ["\\budget"]),
        ("\\d v", ["visits"]),
        ("\\set conf", ["confirm"]),
        ("\\set timing ", ["on", "off"]),
        ("\\x ", ["on", "off"]),
        ("SET format = c", ["csv"]),
        ("set timing to ", ["on", "off"]),
        ("DESCRIBE v", ["visits"]),
        ("  \\dt pe", ["people"]),
        (".mode j", ["json"]),
        (".t", [".tables", ".timer"]),
        ("SHOW ", ["TABLES", "ALL"]),
        ("\\price SELECT COUNT(*) FROM pe", ["people"]),
        ("\\why D30", ["D301", "D302"]),
        ("\\plot n", ["n"]),
    ],
)
def test_what_is_offered_first(tables: tuple[Table, ...], text: str, first: list[str]) -> None:
    assert [each.text for each in offered(tables, text)][: len(first)] == first


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1 -- a comment about |",
        "/* SELECT |",
        "SELECT 12|",
        "SELECT age AS |",
        "SELECT COUNT(*) FROM people LIMIT |",
        "SELECT COUNT(*) FROM people WHERE town = 'Nowh|",
        "\\nothing |",
        "\\q |",
        "\\i /no/such/folder/|",
    ],
)
def test_where_nothing_is_known_nothing_is_offered(tables: tuple[Table, ...], text: str) -> None:
    assert offered(tables, text) == []


def test_hints_say_what_is_declared_and_never_how_many_rows_are_private(tables: tuple[Table, ...]) -> None:
    said = {each.text: each.meta for each in offered(tables, "SELECT COUNT(*) FROM ")}
    assert said == {
        "people": "one row per person",
        "visits": "a person's rows",
        "towns": "public, 2 rows",
        "old": said["old"],
    }
    assert not any("4321" in each or "4,321" in each for each in said.values())
    columns = {each.text: each.meta for each in offered(tables, "SELECT | FROM people")}
    assert columns["age"] == "INTEGER [0, 120], in whole years"
    assert columns["town"] == "VARCHAR Oslo, Rome, O'Higgins"
    assert columns["id"] == "INTEGER (the unit)"


def test_functions_are_those_that_are_allowed(tables: tuple[Table, ...]) -> None:
    private = {each.text for each in offered(tables, "SELECT l| FROM people")}
    public = {each.text for each in offered(tables, "SELECT l| FROM towns")}
    assert "lower(" in private
    assert "list_reverse(" in public - private
    assert not any(each.startswith("read_") for each in public)
    inside = {each.text for each in offered(tables, "SELECT SUM(a| FROM people")}
    assert "AVG(" not in inside
    assert "abs(" in inside


def test_files_are_completed(
    tables: tuple[Table, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "answers").mkdir()
    (tmp_path / "asked.sql").write_text("SELECT 1;")
    (tmp_path / ".hidden").write_text("")
    monkeypatch.chdir(tmp_path)
    assert [each.text for each in offered(tables, "\\i ")] == ["answers/", "asked.sql"]
    assert [each.text for each in offered(tables, "\\o as")] == ["asked.sql"]
    assert [each.text for each in offered(tables, f"\\i {tmp_path}/as")] == [f"{tmp_path}/asked.sql"]


PIECES = (
    "SELECT FROM WHERE GROUP BY ORDER UNION WITH AS IN ON USING JOIN AVG COUNT people visits p v age town ( "
    ") , . ; = <> ' \" -- /* */ * \\ \\d $$ E' 1 1.5 :: OVER FILTER OPTIONS IS DISTINCT NOT [ ] ? \n é ﬀ \0"
).split(" ")


def test_no_text_is_too_odd(tables: tuple[Table, ...]) -> None:
    """Whatever is typed, wherever the cursor is: candidates that fit there, colours that change nothing."""
    dice = random.Random(7)
    for _ in range(1500):
        text = "".join(dice.choice(PIECES) + dice.choice(("", " ")) for _ in range(dice.randrange(14)))
        at = dice.randint(0, len(text))
        for each in completions_at(text, at, tables):
            assert 0 <= each.start <= at
        assert "".join(piece for _, piece in colours(text, {"people"})) == text


def test_a_key_is_not_waited_for(tables: tuple[Table, ...]) -> None:
    """Twenty times the text is at most forty times the work, counted in calls."""
    query = "SELECT town, AVG(age) FROM people p JOIN visits v ON p.id = v.person_id WHERE cost > 3 AND "

    def calls(text: str) -> int:
        count = 0

        def trace(frame: object, event: str, argument: object) -> None:
            nonlocal count
            count += 1

        before = sys.getprofile()
        sys.setprofile(trace)
        try:
            completions_at(text, len(text), tables)
        finally:
            sys.setprofile(before)
        return count

    calls(query)  # what is loaded once is loaded
    assert calls(f"{query} cost > 4 AND " * 20) < 40 * calls(query)


def test_what_is_what() -> None:
    text = "SELECT AVG(age), 'x' FROM people -- all\n JOIN nowhere n"
    found = {piece: style for style, piece in colours(text, {"people"})}
    assert found["SELECT"] == found["FROM"] == found["JOIN"] == "keyword"
    assert found["AVG"] == "function"
    assert found["'x'"] == "text"
    assert found["-- all"] == "comment"
    assert found["nowhere"] == "unknown"
    assert found["people"] == found["age"] == ""
    assert dict(colours("\\d people", {"people"}))["command"] == "\\d"
    named = "WITH n AS (SELECT 1) SELECT * FROM n "
    assert ("unknown", "n") not in colours(named, set())
    assert ("unknown", "peop") not in colours("SELECT * FROM peop", {"people"})
