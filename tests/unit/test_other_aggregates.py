"""Every aggregate that DuckDB has is answered over private rows, or names what to ask instead."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache

import duckdb
import pytest

import dpsql
from dpsql.aggregates import by_name
from dpsql.parse.other_aggregates import INSTEAD

POLICY = """
[budget]
epsilon = 10.0
delta = 1e-6
[query]
epsilon = 1.0
max_epsilon = 1.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
x = { range = [0, 100] }
y = { range = [0, 100] }
b = {}
[tables.visits]
unit = { column = "person" }
rows_per_unit = 3
[tables.visits.columns]
x = { range = [0, 100] }
y = { range = [0, 100] }
kind = { values = ["a", "b"] }
"""
MACROS = ("geomean", "geometric_mean", "wavg", "weighted_avg")
ARGUMENTS = ("x", "x, y", "x, 0.5", "b", "*", "")
ODD = ("", "*", "kind", "NULL", "x > 5", "x, y, 3", "x, [0.1, 0.5]", "x ORDER BY y", "DISTINCT x, y")
SHAPES = (
    "SELECT {} FILTER (WHERE y > 3) FROM visits",
    "SELECT kind, {} FROM visits GROUP BY kind",
    "SELECT AVG(z) FROM (SELECT person, {} AS z FROM visits GROUP BY person)",
    "SELECT COUNT(z) FROM (SELECT {} OVER (PARTITION BY person) AS z FROM visits)",
    "SELECT COUNT(*) FROM people WHERE (SELECT {} FROM visits WHERE person = id) IS NOT NULL",
    "SELECT COUNT(*) FROM people WHERE EXISTS (SELECT {} FROM visits WHERE person = id)",
    "SELECT * FROM (SELECT kind, x, y FROM visits) PIVOT ({} FOR kind IN ('a', 'b'))",
    "SELECT COUNT(*) FROM visits HAVING {} IS NOT NULL",
)


@cache
def names() -> list[str]:
    asked = (
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate' ORDER BY 1"
    )
    with duckdb.connect(":memory:") as connection:
        return sorted({*(name for (name,) in connection.execute(asked).fetchall()), *MACROS})


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Connection]:
    folder = tmp_path_factory.mktemp("people")
    with duckdb.connect(str(folder / "d.duckdb")) as connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, x INTEGER, y DOUBLE, b BOOLEAN)")
        connection.execute("CREATE TABLE visits (person INTEGER, x INTEGER, y DOUBLE, kind VARCHAR)")
    (folder / "d.toml").write_text(POLICY)
    with dpsql.connect(folder / "d.duckdb") as db:
        yield db


@pytest.mark.parametrize("name", names())
def test_answered_or_told_what_to_ask(people: dpsql.Connection, name: str) -> None:
    refusals = []
    for arguments in ARGUMENTS:
        try:
            people.explain(f"SELECT {name}({arguments}) FROM people")
        except dpsql.Error as refusal:
            refusals.append(refusal)
    answered = len(refusals) < len(ARGUMENTS)
    assert all(each.help and each.code != "D901" for each in refusals)
    if answered:
        return
    said = [each for each in refusals if each.code in ("D251", "D253")]
    assert said, "not as an aggregate"
    assert name in INSTEAD or not by_name()[name].needs
    assert said[0].help == INSTEAD.get(name, said[0].help)


@pytest.mark.parametrize("name", names())
def test_odd_arguments_are_answered_or_refused_in_words(people: dpsql.Connection, name: str) -> None:
    """Every argument in a third of the shapes, every shape with a third of them: which, the name says."""
    broken, turn = [], names().index(name)
    for (i, shape), (j, arguments) in itertools.product(enumerate(SHAPES), enumerate(ODD)):
        if (i + j + turn) % 3:
            continue
        asked = shape.format(f"{name}({arguments})")
        try:
            people.explain(asked)
        except dpsql.Error as refusal:
            if refusal.code == "D901":
                broken.append(asked)
    assert not broken


@pytest.mark.parametrize("name", [name for name, rule in by_name().items() if not rule.needs])
def test_what_is_no_release_is_answered_per_unit(people: dpsql.Connection, name: str) -> None:
    """As its example says, and named so by the refusal of the release."""
    rule = by_name()[name]
    call = rule.example.replace(rule.name.upper(), name).replace("(x", "(kind") or f"{name}(x > 5)"
    people.explain(f"SELECT COUNT(z) FROM (SELECT person, {call} AS z FROM visits GROUP BY person)")
    with pytest.raises(dpsql.Error) as refused:
        people.explain(f"SELECT {call} FROM visits")
    assert (refused.value.code, f"{rule.name.upper()}(x" in refused.value.help) == ("D253", True)


def test_no_remedy_names_what_is_answered_anyway(people: dpsql.Connection) -> None:
    for name in INSTEAD:
        with pytest.raises(dpsql.Error):
            people.explain(f"SELECT {name}(x) FROM people")
