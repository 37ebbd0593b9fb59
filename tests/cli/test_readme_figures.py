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


def off(persons: int) -> str:
    """How far off 95 of 100 counts are at most, at epsilon 1."""
    (table,) = (each for each in saved("persons")["tables"] if each["title"].startswith("COUNT(*)"))
    (part,) = (row[3] for row in table["rows"] if row[:2] == [persons, 1.0])
    return f"{100 * part:.2g} %"


def whole(which: str) -> str:
    return f"{verdicts('query', which)[0]:.0f} ms"


def recommended(*of: str) -> str:
    return times([each for what in of for each in verdicts("accuracy", what, "recom")])


ONE, L1, L2 = "one row per unit", "L1 clip", "L2 clip"

THOUSAND = "a whole query on a thousand rows, two durable writes included: "
MILLION = "COUNT, SUM and AVG by group over a million one-row people beside plain DuckDB: "
FIVE = "COUNT, SUM and AVG by group over 5 million rows of 200,000 people beside plain DuckDB: "
BEST = "error beside a simulation of the best known mechanism, epsilon 1: "
ASKED = (
    f"of {cells('questions', 'in all', 'all', column='questions')[0]} questions that analysts ask, over four "
)
ASKED += "made-up data sets at epsilon 1: "
LOG = "of 43 questions about a web log (ClickBench's shapes) at epsilon 1, the user as unit: "
CLIP = "error of sums and counts by 20 groups with a chosen clip beside that of the best clip in hindsight, "
CLIP += "10,000 people and more: "
PEAK = "peak memory beside plain DuckDB's: "
DRAWS = "draws of noise a second and core: "
FRESH = "a fresh process beside one that asks plain DuckDB from Python: "

FIGURES = {
    "a count of 1,000 people at epsilon 1": off(1_000),
    "a count of 1,000,000 people at epsilon 1": off(1_000_000),
    "text to plan, a join": f"{verdicts('planning', 'three-table join')[0]:.1f} ms",
    f"{THOUSAND}one number": whole("one number"),
    f"{THOUSAND}groups, one row": whole("by group, one row per person"),
    f"{THOUSAND}groups, many rows": whole("by group, many rows per user"),
    f"{MILLION}reading the rows, of whole": all_three(ONE, "ratio", " age "),
    f"{MILLION}the whole query, of whole": all_three(ONE, "whole ratio", " age "),
    f"{MILLION}reading the rows, of doubles": all_three(ONE, "ratio", " income "),
    f"{MILLION}the whole query, of doubles": all_three(ONE, "whole ratio", " income "),
    f"{FIVE}reading the rows, one clip factor a person (`pure`)": all_three(L1, "ratio"),
    f"{FIVE}the whole query under `pure`": all_three(L1, "whole ratio"),
    f"{FIVE}reading the rows, sums per person and group (`zcdp`)": all_three(L2, "ratio"),
    f"{FIVE}the whole query under `zcdp`": all_three(L2, "whole ratio"),
    "variances by group over 5 million": times(
        [*verdicts("answers", "VAR_POP"), *verdicts("answers", "STDDEV")]
    ),
    "a median over 5 million rows": times(verdicts("answers", "MEDIAN(age) /")),
    "a median by group over 5 million rows beside": times(verdicts("answers", "MEDIAN(age) by")),
    "a median by group over 5 million rows, many": times(verdicts("answers", "MEDIAN(minutes)")),
    "COUNT(DISTINCT x) over": times(verdicts("distinct", "execute / plain pairs")),
    f"{BEST}averages": recommended("AVG of ", "VAR of ", "CORR of "),
    f"{BEST}quantiles": recommended("MEDIAN", "9 deciles"),
    f"{BEST}sums without": recommended("SUM without a bound"),
    f"{BEST}distinct counts": recommended("COUNT(DISTINCT x)"),
    "95 % intervals": f"{100 * verdicts('coverage', 'least')[0]:.1f} to "
    f"{100 * verdicts('coverage', 'greatest')[0]:.1f} %",
    f"{ASKED}answered": f"{100 * verdicts('questions', 'questions answered')[0]:.0f} %",
    f"{ASKED}answered with": f"{100 * verdicts('questions', 'questions useful')[0]:.0f} %",
    f"{LOG}answered": f"{verdicts('weblog', 'questions answered')[0]:.0f}",
    f"{LOG}refused": f"{verdicts('weblog', 'questions refused')[0]:.0f}",
    f"{LOG}paid for": f"{verdicts('weblog', 'though paid for')[0]:.0f}",
    "measures without keys": f"{100 * verdicts('tightness', 'reach 90')[0]:.0f} %",
    f"{CLIP}any tail without": times(verdicts("fitted", "by place", "no gap"), ".2f"),
    f"{CLIP}as many with": times(verdicts("fitted", "by place", " a gap"), ".2f"),
    f"{PEAK}one row": times(cells("memory", "peak", ONE, column="ratio")),
    f"{PEAK}5 million rows under `pure`": times(cells("memory", "peak", L1, column="ratio")),
    f"{PEAK}5 million rows under `zcdp`": times(cells("memory", "peak", L2, column="ratio")),
    f"{DRAWS}Laplace": f"{verdicts('noise', 'laplace')[0]:.0f} million",
    f"{DRAWS}Gaussian": f"{verdicts('noise', 'gaussian')[0]:.0f} million",
    f"{FRESH}the shell": times(verdicts("startup", "shell, to its prompt")),
    f"{FRESH}`dpsql query`": times(verdicts("startup", "query / the duckdb")),
    "`import dpsql`": times(verdicts("imports", "import dpsql"), ".2f"),
}


@pytest.mark.parametrize("row", FIGURES)
def test_a_row_says_what_was_saved(row: str) -> None:
    said = {question: figure for question, figure in ROWS.items() if question.startswith(row)}
    shortest = min(said, key=len)  # "answered" is also how "answered with ..." begins
    assert said[shortest].partition(" (")[0] == FIGURES[row]


def test_each_row_makes_one_claim() -> None:
    assert not any(";" in question or ";" in figure for question, figure in ROWS.items())


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
