"""Keys of totals: told from groups of NULL where people read, and NULL where programs do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.answer import Answer
from dpsql.render.box import answer_text
from dpsql.render.chart import chart_of
from dpsql.render.formats import to_csv
from dpsql.render.html import answer_html

POLICY = """
[budget]
epsilon = 1000.0
delta = 1e-6
[query]
max_epsilon = 100.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
ward = { values = ["a", "b"] }
age = { range = [0, 99] }
"""

TABLE = """
CREATE TABLE people (id INTEGER PRIMARY KEY, ward VARCHAR, age INTEGER NOT NULL);
INSERT INTO people SELECT i, [NULL, 'a', 'b'][1 + i % 3], i % 100 FROM range(3000) AS t(i);
"""

ROLLED = "SELECT ward, age // 50 AS half, COUNT(*) AS n FROM people GROUP BY ROLLUP (ward, age // 50)"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[dpsql.Connection]:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLE)
    path.with_suffix(".toml").write_text(POLICY)
    with dpsql.connect(path) as connection:
        yield connection


def answered(db: dpsql.Connection, sql: str) -> Answer:
    answer = db.execute(sql, epsilon=10.0)
    assert isinstance(answer, Answer)
    return answer


def marked(answer: Answer) -> list[tuple[object, ...]]:
    """The first two columns, with a star for the keys of totals."""
    return [
        tuple("*" if (number, at) in answer.totals else row[at] for at in range(2))
        for number, row in enumerate(answer.rows)
    ]


GROUPS: list[tuple[object, ...]] = [("a", 0), ("a", 1), ("b", 0), ("b", 1), (None, 0), (None, 1)]
GROUPS += [("a", "*"), ("b", "*"), (None, "*"), ("*", "*")]


def test_a_group_of_null_is_no_total(db: dpsql.Connection) -> None:
    answer = answered(db, ROLLED)
    assert marked(answer) == GROUPS
    assert answer.rows[-1][:2] == (None, None)


@pytest.mark.parametrize(
    "sql",
    [
        f"{ROLLED} ORDER BY n",
        f"({ROLLED}) ORDER BY n DESC LIMIT 8",
        f"SELECT * FROM ({ROLLED}) ORDER BY n",
        f"WITH t(w, h, n) AS ({ROLLED}) SELECT w AS ward, h, n + 1 FROM t WHERE n > 0 ORDER BY n",
        "SELECT ward, age // 50 AS half, COUNT(*) AS n FROM people GROUP BY CUBE (ward, age // 50)",
    ],
)
def test_marks_follow_the_rows(db: dpsql.Connection, sql: str) -> None:
    """The count tells which row it is: the total has the most, groups of NULL have a third of it."""
    answer = answered(db, sql)
    found = dict(zip(marked(answer), (row[2] for row in answer.rows), strict=True))
    assert found["*", "*"] == pytest.approx(3000, abs=30)
    assert found[None, "*"] == pytest.approx(1000, abs=30)


def test_people_read_a_word(db: dpsql.Connection) -> None:
    answer = answered(db, ROLLED)
    for text in (answer_text(answer), answer_html(answer)):
        assert text.count("(all)") == 5
        assert text.count("NULL") == 3


def test_charts_have_the_word(db: dpsql.Connection) -> None:
    answer = answered(db, "SELECT ward, COUNT(*) AS n FROM people GROUP BY ROLLUP (ward)")
    assert chart_of(answer).labels == ("a", "b", "NULL", "(all)")


def test_programs_read_null(db: dpsql.Connection) -> None:
    answer = answered(db, ROLLED)
    assert "(all)" not in to_csv(answer)
    assert db.cursor().execute(ROLLED, epsilon=10.0).fetchall() == answer.rows
    assert answer.fetchnumpy()["half"].mask.sum() == 4


def test_frames_have_a_word_if_asked(db: dpsql.Connection) -> None:
    """A column with the word is text; the others keep their type."""
    table = answered(db, ROLLED).arrow(totals="(all)", margins=True)
    assert table.column("half").to_pylist()[-4:] == ["(all)"] * 4
    assert table.column("half").to_pylist()[:2] == ["0", "1"]
    assert table.column("ward").to_pylist()[-2:] == [None, "(all)"]
    assert str(table.column("n").type) == "int64"


def test_other_nulls_are_no_totals(db: dpsql.Connection) -> None:
    answer = answered(db, "SELECT ward, NULL AS nothing, COUNT(*) AS n FROM people GROUP BY ward")
    assert answer.totals == frozenset()
    answer = answered(
        db, "SELECT COALESCE(ward, 'none') AS w, 1 AS one, COUNT(*) FROM people GROUP BY ROLLUP (ward)"
    )
    assert answer.totals == frozenset()
