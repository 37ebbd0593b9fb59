"""Parameters by number and by name: where they stand, what they leave alone, and which values they take."""

from __future__ import annotations

import pytest

import dpsql
from dpsql.parse.marks import marked, with_names


def test_marks_keep_their_places_and_may_come_again() -> None:
    sql = "SELECT $2, '$1', $11, \"$3\" -- $4\n, $2::DATE, a$5, $$ $6 $$"
    mark = marked(sql)
    assert mark.order == (2, 11, 2)
    assert mark.count == 11
    assert len(mark.text) == len(sql)
    assert mark.text == "SELECT ? , '$1', ?  , \"$3\" -- $4\n, ? ::DATE, a$5, $$ $6 $$"
    assert mark.values(list(range(11))) == (1, 10, 1)


def test_names_stand_where_values_may() -> None:
    sql = "SELECT x::a, y[1:a], {'k':a}, ':a', $a, :a, $ab -- $a\nWHERE (:a) <:a AND $$ :a $$ = b$a"
    text, values = with_names(sql, {"a": 7})
    assert text == "SELECT x::a, y[1:a], {'k':a}, ':a', ? , ? , $ab -- $a\nWHERE (? ) <?  AND $$ :a $$ = b$a"
    assert values == (7, 7, 7, 7)


@pytest.mark.parametrize(
    ("sql", "given"),
    [
        ("SELECT COUNT(*) FROM patients WHERE age > $2 AND age < $1", (60, 20)),
        ("SELECT COUNT(*) FROM patients WHERE age > $low AND age < $high", {"high": 60, "low": 20}),
        ("SELECT COUNT(*) FROM patients WHERE age > :low AND age < :high", {"low": 20, "high": 60, "no": 1}),
    ],
)
def test_they_are_the_same_question_as_one_with_constants(
    db: dpsql.Connection, sql: str, given: tuple[int, ...] | dict[str, int]
) -> None:
    first = db.execute("SELECT COUNT(*) FROM patients WHERE age > 20 AND age < 60")
    again = db.execute(sql, given)
    assert (again.repeated, again.rows) == (True, first.rows)


@pytest.mark.parametrize(
    ("sql", "given", "why"),
    [
        ("SELECT COUNT(*) FROM patients WHERE age > $1", (1, 2), r"last parameter is \$1, and 2 values were"),
        ("SELECT COUNT(*) FROM patients WHERE age > $3", (1,), r"last parameter is \$3, and 1 value was"),
        ("SELECT COUNT(*) FROM patients WHERE age > $low", {"high": 1}, "this parameter has no value"),
        ("SELECT COUNT(*) FROM patients WHERE age > :low", {"high": 1}, "this parameter has no value"),
        ("SELECT COUNT(*) FROM patients WHERE age > $low", (1,), "this parameter has no value"),
        (
            "SELECT COUNT(*) FROM patients WHERE age > ? AND patient_id < $n",
            {"n": 1},
            "2 question marks, and 1 value",
        ),
    ],
)
def test_a_parameter_without_a_value_is_refused(
    db: dpsql.Connection, sql: str, given: tuple[int, ...] | dict[str, int], why: str
) -> None:
    with pytest.raises(dpsql.Error, match=why):
        db.execute(sql, given)
