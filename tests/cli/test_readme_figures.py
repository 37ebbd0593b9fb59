"""What is said of measurements is what the saved results say: each figure is computed from them.

``python -m benchmarks NAME --save`` measures anew, and ``python tests/measured_page.py --write`` says so.
"""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction

import measured_page
from measured_page import README, ROOT, saved, table, verdicts

from dpsql.bind.keys.atoms import MOST_VALUES
from dpsql.functions import shelf
from dpsql.plan.bound_search import SHARE
from dpsql.shell.state import Shell

TEXT = README.read_text(encoding="utf-8")


def test_the_page_and_the_readme_say_what_was_saved() -> None:
    written = measured_page.PAGE.read_text(encoding="utf-8")
    assert written == measured_page.page(), "run: python tests/measured_page.py --write"
    assert measured_page.readme(TEXT) == TEXT, "run: python tests/measured_page.py --write"


def test_what_is_said_of_the_machine() -> None:
    for name in (
        "planning",
        "query",
        "overhead",
        "answers",
        "distinct",
        "memory",
        "noise",
        "startup",
        "rivals",
        "speed",
    ):
        found = saved(name)
        assert found["machine"]["cores"] == 2
        assert found["versions"]["duckdb"].startswith("2.0")
        assert found["versions"]["python"].startswith("3.11")


def test_nothing_was_paid_for_and_empty_unsaid() -> None:
    assert verdicts("weblog", "without being told before") == [0]


def test_two_durable_writes_are_in_a_whole_query() -> None:
    durable = [row for row in table("query", "where it goes")["rows"] if "(durable)" in row[0]]
    assert len(durable) == 2
    assert all(cell > 0 for row in durable for cell in row[1:])


def test_what_is_said_of_functions_and_prices() -> None:
    assert "more than 230 of DuckDB's" in TEXT
    assert len(shelf()) > 230
    assert "for a fifth of its price" in " ".join(TEXT.split())
    assert Fraction(1, 5) == SHARE
    assert "with at most 1,000 values" in TEXT
    assert MOST_VALUES == 1_000
    assert "more than a quarter of what remains" in " ".join(TEXT.split())
    assert {each.name: each.default for each in fields(Shell)}["confirm"] == 0.25
    assert "seven short programs" in TEXT
    assert len(list((ROOT / "examples").glob("0?_*.py"))) == 7
