"""Queries that are too much: an answer or a refusal with a code, and no traceback, hang or crash."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_mutations import watched

import dpsql

COUNTED = "SELECT COUNT(*) FROM patients WHERE "
CHAIN = ", ".join(f"c{i} AS (SELECT a FROM c{i - 1})" for i in range(1, 2_000))
DEEP = ", ".join(f"c{i} AS (SELECT a FROM c{i - 1})" for i in range(1, 90))
TWICE = ", ".join(f"c{i} AS (SELECT x.a FROM c{i - 1} x, c{i - 1} y)" for i in range(1, 20))

REFUSED = {
    "a text of 200 kB": COUNTED + "city = '" + "x" * 200_000 + "'",
    "5,000 parentheses": "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
    "5,000 open parentheses": "SELECT " + "(" * 5_000,
    "10,000 terms of OR": COUNTED + " OR ".join(["age = 1", "age = 2"] * 4_000),
    "3,000 terms of AND": COUNTED + " AND ".join(f"age <> {i}" for i in range(3_000)),
    "3,000 NOTs": COUNTED + "NOT " * 3_000 + "smoker",
    "3,000 signs": "SELECT " + "- " * 3_000 + "1",
    "1,000 CASEs": "SELECT SUM("
    + "CASE WHEN smoker THEN " * 1_000
    + "1"
    + " END" * 1_000
    + ") FROM patients",
    "190 calls": "SELECT SUM(" + "abs(" * 190 + "age" + ")" * 190 + ") FROM patients",
    "3,000 casts": "SELECT 1" + "::int" * 3_000,
    "5,000 unions": " UNION ALL ".join(["SELECT 1"] * 5_000),
    "5,000 counts": "SELECT " + ", ".join(["COUNT(*)"] * 5_000) + " FROM patients",
    "5,000 sums": "SELECT " + ", ".join(f"SUM(age + {i})" for i in range(5_000)) + " FROM patients",
    "2,000 CTEs": f"WITH c0 AS (SELECT 1 AS a), {CHAIN} SELECT * FROM c1999",
    "a CTE twice in each of twenty": f"WITH c0 AS (SELECT 1 AS a), {TWICE} SELECT * FROM c19",
    "190 subqueries": "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 190 + "patients" + ")" * 190,
    "500 joins": "SELECT COUNT(*) FROM patients p0 "
    + " ".join(f"JOIN patients p{i} ON p0.patient_id = p{i}.patient_id" for i in range(1, 500)),
    "a list of 10,000": COUNTED + "age IN (" + ", ".join(map(str, range(10_000))) + ")",
    "5,000 brackets": "SELECT " + "[" * 5_000 + "1" + "]" * 5_000,
    "3,000 braces": "SELECT " + "{'a': " * 3_000 + "1" + "}" * 3_000,
    "5,000 dots": "SELECT " + ".".join(["a"] * 5_000),
    "3,000 SELECTs": "SELECT " * 3_000 + "1",
    "2,500 clamped sums": "SELECT "
    + ", ".join(["SUM(age CLAMPED BETWEEN 0 AND 9)"] * 2_500)
    + " FROM patients",
}
PLANNED = {
    "a constant of 90 kB": COUNTED + "city = '" + "x" * 90_000 + "'",
    "a comment of 90 kB": "SELECT COUNT(*) /* " + "x" * 90_000 + " */ FROM patients",
    "150 terms of OR": COUNTED + " OR ".join(f"age = {i}" for i in range(150)),
    "a list of 900": COUNTED + "age IN (" + ", ".join(map(str, range(900))) + ")",
    "5,000 constants": "SELECT " + ", ".join(["1"] * 4_900),
    "200 sums": "SELECT " + ", ".join(f"SUM(age + {i})" for i in range(200)) + " FROM patients",
    "a sum of 100 sums": "SELECT " + " + ".join(f"SUM(age + {i})" for i in range(100)) + " FROM patients",
    "90 CTEs in a row": f"WITH c0 AS (SELECT age AS a FROM patients), {DEEP} SELECT AVG(a) FROM c89",
    "150 unions": " UNION ALL ".join(["SELECT 1"] * 150),
    "2,000 terms of ORDER BY": "SELECT COUNT(*) FROM patients ORDER BY " + ", ".join(["1"] * 2_000),
    "a zero byte in a text": "SELECT COUNT(*) FROM patients WHERE city = 'a\0b'",
}


@pytest.mark.parametrize("name", REFUSED)
def test_too_much_is_refused(clinic: Path, name: str) -> None:
    with dpsql.connect(clinic) as db, watched():
        with pytest.raises(dpsql.Error) as caught:
            db.explain(REFUSED[name])
        assert caught.value.code in ("D101", "D103"), str(caught.value)
        assert caught.value.help
        assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("name", PLANNED)
def test_much_is_planned(clinic: Path, name: str) -> None:
    with dpsql.connect(clinic) as db, watched():
        assert str(db.explain(PLANNED[name]))
