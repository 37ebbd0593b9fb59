"""The README's table of measurements says what the saved results say: each figure is computed from them.

``python -m benchmarks NAME --save`` measures anew; a row that no longer holds is printed as it has to be.
"""

from __future__ import annotations

import json
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpsql.bind.expressions.key_domains import MOST_VALUES
from dpsql.functions import shelf
from dpsql.plan.bound_search import SHARE
from dpsql.shell.state import Shell

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
ROWS = dict(
    row.strip("| ").rsplit(" | ", 1)
    for row in TEXT.split("## Measured\n")[1].split("\n## ")[0].splitlines()
    if row.startswith("| ") and not row.startswith("| question ")
)


def saved(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())
    return found


def verdicts(name: str, *parts: str) -> list[float]:
    """The figures of those that speak of all these parts."""
    found = [each["value"] for each in saved(name)["verdicts"] if all(part in each["what"] for part in parts)]
    assert found, (name, parts)
    return found


def cells(name: str, title: str, *query: str, column: str) -> list[float]:
    """A column of a table, of the rows whose first cell holds all these parts."""
    (table,) = (each for each in saved(name)["tables"] if title in each["title"])
    at = table["columns"].index(column)
    found = [row[at] for row in table["rows"] if all(part in row[0] for part in query)]
    assert found, (name, title, query)
    return found


def short(value: float) -> str:
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}"


def times(values: list[float], digits: str = "") -> str:
    """1.9x, or 5.5 to 7.2x."""
    ends = [format(each, digits) if digits else short(each) for each in (min(values), max(values))]
    return f"{ends[0]}x" if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}x"


def all_three(title: str, column: str, *of: str) -> str:
    return times(cells("overhead", title, "COUNT, SUM, AVG", *of, column=column))


def joined(*figures: str) -> str:
    return "; ".join(figures)


ONE, L1, L2 = "one row per unit", "L1 clip", "L2 clip"

FIGURES = {
    "text to plan, a join": f"{verdicts('planning', 'three-table join')[0]:.1f} ms",
    "a whole query on a thousand rows": joined(
        *(
            f"{verdicts('query', each)[0]:.0f} ms"
            for each in ("one number", "by group, one row per person", "by group, many rows per user")
        )
    ),
    "COUNT, SUM and AVG by group over a million": joined(
        *(
            f"{all_three(ONE, 'ratio', of)}, whole {all_three(ONE, 'whole ratio', of)}"
            for of in (" age ", " income ")
        )
    ),
    "the same over 5 million rows": joined(
        *(f"{all_three(clip, 'ratio')}, whole {all_three(clip, 'whole ratio')}" for clip in (L1, L2))
    ),
    "on 5 million rows: variances": joined(
        times([*verdicts("answers", "VAR_POP"), *verdicts("answers", "STDDEV")]),
        ", ".join(times([each]) for each in verdicts("answers", "MEDIAN")),
    ),
    "COUNT(DISTINCT x) over": times(verdicts("distinct", "execute / plain pairs")),
    "error beside": joined(
        times(
            [each for what in ("AVG", "VAR", "CORR") for each in verdicts("accuracy", f"{what} of ", "recom")]
        ),
        times([*verdicts("accuracy", "MEDIAN"), *verdicts("accuracy", "9 deciles")]),
        times(verdicts("accuracy", "SUM without a bound")),
        times(verdicts("accuracy", "COUNT(DISTINCT x)")),
    ),
    "95 % intervals": f"{100 * verdicts('coverage', 'least')[0]:.1f} to "
    f"{100 * verdicts('coverage', 'greatest')[0]:.1f} %",
    f"of {cells('questions', 'in all', 'all', column='questions')[0]} questions that analysts ask": joined(
        *(
            f"{100 * verdicts('questions', each)[0]:.0f} %"
            for each in ("questions answered", "questions useful")
        ),
    ),
    "of 43 questions about a web log": joined(
        *(
            f"{verdicts('weblog', each)[0]:.0f}"
            for each in ("questions answered", "questions refused", "though paid for")
        ),
    ),
    "peak memory": joined(
        *(times(cells("memory", "peak", each, column="ratio")) for each in (ONE, L1, L2)),
    ),
    "draws of noise": joined(
        *(f"{verdicts('noise', each)[0]:.0f} million" for each in ("laplace", "gaussian")),
    ),
    "a fresh process": joined(
        times(verdicts("startup", "shell, to its prompt")), times(verdicts("startup", "query / the duckdb"))
    ),
    "`import dpsql`": times(verdicts("imports", "import dpsql"), ".2f"),
}


@pytest.mark.parametrize("row", FIGURES)
def test_a_row_says_what_was_saved(row: str) -> None:
    (said,) = (figure for question, figure in ROWS.items() if question.startswith(row))
    assert said.partition(" (")[0] == FIGURES[row]


def test_every_row_is_held() -> None:
    assert len(ROWS) == len(FIGURES)


def test_what_is_said_of_the_machine() -> None:
    for name in ("planning", "query", "overhead", "answers", "distinct", "memory", "noise", "startup"):
        found = saved(name)
        assert found["machine"]["cores"] == 2
        assert found["versions"]["duckdb"].startswith("2.0")
        assert found["versions"]["python"].startswith("3.11")


def test_nothing_was_paid_for_and_empty_unsaid() -> None:
    assert verdicts("weblog", "without being told before") == [0]


def test_two_durable_writes_are_in_a_whole_query() -> None:
    (steps,) = (each for each in saved("query")["tables"] if each["title"].startswith("where it goes"))
    durable = [row for row in steps["rows"] if "(durable)" in row[0]]
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
