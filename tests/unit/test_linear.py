"""Lines of one argument: what is told by one measured sum, and that no number has more noise for it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import measure, plan_of
from dpsql.functions.core.literals import number_literal
from dpsql.ir.column import DOUBLE
from dpsql.ir.measure import Finish, Line
from dpsql.ir.scalar import Call, Ref, Scalar
from dpsql.post.finish import reach_anywhere
from dpsql.rewrite import statistics
from dpsql.rewrite.linear import line_of

X = Ref("x")


def constant(text: str) -> Scalar:
    return number_literal(text)


@pytest.mark.parametrize(
    ("scalar", "slope", "offset"),
    [
        (X, 1, 0),
        (Call("+", (X, constant("3"))), 1, 3),
        (Call("-", (constant("1.5"), X)), -1, Fraction(3, 2)),
        (Call("*", (Call("-", (X, constant("2"))), constant("0.1"))), Fraction(1, 10), Fraction(-1, 5)),
        (Call("/", (Call("negate", (X,)), constant("4"))), Fraction(-1, 4), 0),
        (Call("+", (Call("cast", (X,), DOUBLE), constant("1e0"))), 1, 1),
    ],
)
def test_a_line_is_exact(scalar: Scalar, slope: Fraction, offset: Fraction) -> None:
    assert line_of(scalar) == (X, Line(Fraction(slope), Fraction(offset)))


@pytest.mark.parametrize(
    "scalar",
    [
        Call("*", (X, constant("0"))),
        Call("/", (X, constant("0"))),
        Call("/", (constant("1"), X)),
        Call("+", (X, Ref("y"))),
        Call("*", (X, X)),
        Call("abs", (X,)),
    ],
)
def test_anything_else_is_a_value_of_its_own(scalar: Scalar) -> None:
    assert line_of(scalar) == (scalar, Line(Fraction(1), Fraction(0)))


POLICY = """
[budget]
epsilon = 10
ACCOUNTANT
[unit]
table = "people"
key = "id"
[tables.people.columns]
a = { range = [0, 10] }
b = { range = [-1, 0] }
c = { range = [90, 100] }
d = { range = [-5, 5] }
e = { range = [0, 1] }
"""


NOISES = {"gaussian": "delta = 1e-6", "laplace": 'accountant = "pure"'}


@pytest.fixture(params=NOISES)
def db(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[dpsql.Connection]:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT r::INTEGER AS id, (r % 11)::INTEGER AS a, -(r % 5) / 4 AS b, "
            "(90 + r % 10)::DECIMAL(6, 2) AS c, CASE WHEN r % 7 > 0 THEN (r % 9 - 4)::DOUBLE END AS d, "
            "(r % 2)::TINYINT AS e FROM range(200) AS t(r)"
        )
        connection.execute("ALTER TABLE people ADD PRIMARY KEY (id)")
    policy = path.with_suffix(".toml")
    policy.write_text(POLICY.replace("ACCOUNTANT", NOISES[request.param]))
    with dpsql.connect(path, policy) as connected:
        yield connected


def reaches(db: dpsql.Connection, sql: str) -> tuple[list[Finish], list[float]]:
    """Return the finishes of a query and their margins; that of a mean is told for a thousand rows."""
    (planned,) = plan_of(db._open(), sql, 1.0).stages[0].measures
    told = db.explain(sql, epsilon=1.0).to_dict()["stages"][0]["measures"][0]["columns"]
    found = list(planned.measure.finishes)
    widths = []
    for finish, facts in zip(found, told, strict=True):
        anywhere = reach_anywhere(finish, planned, 0.95)
        widths.append(facts["expected_error_at_1000_rows"] if anywhere is None else anywhere)
    return found, widths


def asked(column: str, others: int) -> list[str]:
    lines = [f"SUM({column})", f"SUM({column} + 1)", f"SUM({column} * 3)", f"AVG(7 - {column})", "COUNT(*)"]
    beside = ["SUM(c * c)", "SUM(a * c)", "SUM(e * a)", "AVG(a * d)"][:others]
    return [
        f"SELECT {', '.join((*some, *beside))} FROM people"
        for size in (2, 3, 5)
        for some in itertools.combinations(lines, size)
    ]


IN_TURN = [
    (list(NOISES)[place % 2], column, others)
    for place, column in enumerate("abcd")
    for place, others in enumerate((0, 1, 4), place)
]
"""Each noise beside half of the pairs, so that it meets every column and every number of others."""


@pytest.mark.parametrize(("db", "column", "others"), IN_TURN, indirect=["db"])
def test_no_number_has_more_noise(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch, column: str, others: int
) -> None:
    """A margin of a pair is simulated, so it is known within a hundredth."""
    fewer = 0
    for sql in asked(column, others):
        together, less = reaches(db, sql)
        with monkeypatch.context() as patched:
            patched.setattr(statistics, "candidates", lambda *_: [])
            apart, more = reaches(db, sql)
        assert all(finish.line is None for finish in apart)
        fewer += any(finish.line is not None for finish in together)
        pairs = zip(less, more, strict=True)
        assert [(sql, now, then) for now, then in pairs if now > then * 1.01] == []
    assert fewer > 0


def test_what_is_asked_alone_is_measured_itself(db: dpsql.Connection) -> None:
    finishes, _ = reaches(db, "SELECT SUM(b + 1), COUNT(*), SUM(a * 2) FROM people")
    assert [finish.line for finish in finishes] == [None, None, None]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(a), SUM(a + d) FROM people",  # d is NULL in some rows
        "SELECT SUM(a), SUM(a + 1) FILTER (WHERE d > 0) FROM people",
        "SELECT SUM(e), SUM(e + 127::TINYINT) FROM people",  # which overflows inside the range
    ],
)
def test_other_rows_are_measured_apart(db: dpsql.Connection, sql: str) -> None:
    finishes, _ = reaches(db, sql)
    assert [finish.line for finish in finishes] == [None, None]


def test_one_sum_is_measured(db: dpsql.Connection) -> None:
    """Of 200 rows: the sum of a in steps of a tenth of 2^20, rounded down to whole steps."""
    (measured,) = measure(db, "SELECT SUM(a), SUM(a * 3), SUM(-a) FROM people", epsilon=1)
    ((total,),) = measured.rows.values()
    assert total == sum(r % 11 for r in range(200)) * (2**20 // 10)
