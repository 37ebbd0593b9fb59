"""`python -m benchmarks` runs, prints its tables and saves its figures; how fast is not asked here."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from decimal import Decimal
from pathlib import Path

import pytest

import dpsql
from benchmarks import persons, weblog, workloads
from benchmarks.questions import HERE, read
from benchmarks.questions.compare import Truth, compared
from benchmarks.rivals.asked import QUESTIONS
from benchmarks.rivals.picture import picture

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


TITLES = {
    "planning": "text -> plan, ms",
    "startup": "fresh processes, ms",
    "query": "where it goes, ms (medians)",
    "overhead": "L2 clip: visits-50000, by group, ms",
    "distinct": "peak memory, MB",
    "noise": "million draws a second on one core",
    "accuracy": "skewed visits, pure: root mean square error by group",
    "coverage": "by group, zcdp, epsilon 0.85: share of 100 draws",
    "tpch": "refused on tpch-tiny",
    "answers": "five million rows, ms",
    "larger": "files beside 250 MB of memory",
    "ledger": "opening, in a fresh process",
    "skipped": "measure over parquet files, ms",
    "found": "SUM with a found range, zcdp: 2 ledgers in each row",
    "tightness": "the furthest that a made-up unit moves a measure's sums, of what is declared",
    "questions": "in all: questions, shares, medians over the answered",
    "speed": "whole calls, ms",
    "weblog": "a web log at epsilon 1, the user as unit",
    "peers": "root mean square error by group at epsilon 1, delta 1e-06",
    "rivals": "whole calls over plain DuckDB in the same process",
    "persons": "COUNT(*): 40 releases in each row",
    "edge": "whole calls, ms",
    "workloads": "root mean squared errors, 20 draws",
    "together": "through the engine, 20 draws",
    "synthetic": "total variation, mean of 1 data sets",
    "budget": "how many fit epsilon 1, delta 1e-06",
    "models": "a linear fit on five numbers, epsilon 1",
    "logistic": "a logistic fit on ten numbers, epsilon 1",
    "server": "four clients that repeat",
    "posteriors": "95 % intervals that hold",
    "clusters": "loss beside k-means without privacy, epsilon 1",
    "holdout": "a vote of features, 200 persons and features, no signal",
    "attacks": "presence gains",
    "audits": "epsilon proven of statements at a price of 1, 200 coins",
    "fuzz": "drawn schemas, seed",
}
"""A title of each benchmark; those that run together share the data that they make."""


@pytest.mark.parametrize("part", range(4))
def test_prints_tables_and_verdicts(part: int) -> None:
    names = list(TITLES)[part::4]
    done = run(*names, "--quick")
    assert done.returncode == 0, done.stderr
    before, *printed = re.split(r"^## (\w+): ", done.stdout, flags=re.MULTILINE)
    assert not before
    tables = dict(zip(printed[::2], printed[1::2], strict=True))
    assert sorted(tables) == sorted(names)
    for name, said in tables.items():
        assert f"$ python -m benchmarks {name} --quick" in said
        assert TITLES[name] in said
        assert "\n* " in said


def test_saves_figures_with_versions_and_machine(tmp_path: Path) -> None:
    done = run("noise", "--quick", "--save", "--results", str(tmp_path))
    assert done.returncode == 0, done.stderr
    saved = json.loads((tmp_path / "noise.json").read_text())
    assert saved["command"] == "python -m benchmarks noise --quick"
    assert {"python", "dpsql", "duckdb", "numpy", "sqlglot"} <= saved["versions"].keys()
    assert saved["machine"]["cores"] >= 1
    assert saved["tables"][0]["rows"]
    assert {verdict["target"] for verdict in saved["verdicts"]} == {1.0}


def test_a_benchmark_with_a_picture_saves_it(tmp_path: Path) -> None:
    done = run("rivals", "--quick", "--save", "--results", str(tmp_path))
    assert done.returncode == 0, done.stderr
    saved = json.loads((tmp_path / "rivals.json").read_text())
    drawn = (tmp_path / "rivals.svg").read_text()
    assert drawn == picture(saved)
    asked = [each.title for each in QUESTIONS]
    assert [row[1] for row in saved["tables"][1]["rows"]] == asked
    dots = sum(each.tag.endswith("circle") for each in ElementTree.fromstring(drawn).iter())
    assert dots == 1 + len(asked)  # one tells the colour


def test_the_picture_of_rivals_shows_what_was_saved() -> None:
    results = ROOT / "benchmarks" / "results"
    drawn = picture(json.loads((results / "rivals.json").read_text()))
    assert (results / "rivals.svg").read_text() == drawn, "python benchmarks/rivals/picture.py draws it anew"


def test_the_picture_of_persons_shows_what_was_saved() -> None:
    results = ROOT / "benchmarks" / "results"
    saved = json.loads((results / "persons.json").read_text())
    drawn = persons.picture(saved)
    assert (results / "persons.svg").read_text() == drawn, "python -m benchmarks.persons draws it anew"
    dots = sum(each.tag.endswith("circle") for each in ElementTree.fromstring(drawn).iter())
    assert dots == sum((row[3] or 2) <= 1 for table in saved["tables"] for row in table["rows"])


def test_the_picture_of_workloads_shows_what_was_saved() -> None:
    results = ROOT / "benchmarks" / "results"
    saved = json.loads((results / "workloads.json").read_text())
    drawn = workloads.picture(saved)
    assert (results / "workloads.svg").read_text() == drawn, "python -m benchmarks.workloads draws it anew"
    bars = sum(each.tag.endswith("title") for each in ElementTree.fromstring(drawn).iter())
    assert bars == sum(error is not None for row in saved["tables"][0]["rows"] for error in row[4:7])


def test_an_unknown_question_is_an_error_of_use() -> None:
    done = run("colour")
    assert done.returncode == 2
    assert "no question is called colour" in done.stderr


def test_an_answer_is_compared_row_by_row() -> None:
    answer = answer_of(
        [("a", 90.0, Decimal("5")), ("b", None, Decimal("2")), ("x", 1.0, Decimal("1"))],
        [(None, 9.0, 2.5), (None, None, None), (None, 1.0, 1.0)],
    )
    truth = Truth(("key", "n", "m"), [("a", 100, 4.0), ("b", 50, 2.0), ("c", 7, 1.0)])
    found = compared(answer, truth, ("key",))
    assert (found.shown, found.others, found.empty) == (2, 1, False)
    assert (
        found.half_width == math.inf
    )  # of 0.1, 0.5, 0 (no margin and no error), and three that are not shown
    assert found.worst == math.inf  # of n: 0.1 and two that are not shown
    assert found.error == (0.25 + 1) / 2  # the middle of 0.1, 1, 1, 0.25, 0, 1
    assert found.held == 0.5  # 90 +- 9 does not hold 100, 5 +- 2.5 holds 4


def test_an_answer_without_numbers_is_empty() -> None:
    truth = Truth(("key", "n", "m"), [("a", 100, 4.0)])
    assert compared(answer_of([], []), truth, ("key",)).empty
    assert compared(answer_of([("a", None, None)], [(None, None, None)]), truth, ("key",)).empty


def test_each_question_is_read_with_its_keys_and_asked_once() -> None:
    questions = [each for path in sorted(HERE.glob("*.sql")) for each in read(path)]
    assert len(questions) >= 80
    assert len({each.name for each in questions}) == len({each.sql for each in questions}) == len(questions)
    (first,) = (each for each in questions if each.name == "kwh by day through a subquery")
    assert (first.by, first.target, first.beside) == (("day",), 1.2, "kwh by day")
    assert first.sql.startswith("SELECT day, SUM(kwh)")


def test_all_questions_about_the_web_log_are_there() -> None:
    asked = weblog.questions()
    assert [each.name[:2] for each in asked] == [f"{number:02}" for number in range(43)]
    assert asked[29].sql.count("SUM(width") == 90
    assert asked[42].by == ("minute",)


def answer_of(rows: list[tuple[object, ...]], margins: list[tuple[float | None, ...]]) -> dpsql.Answer:
    return dpsql.Answer(("key", "n", "m"), ("VARCHAR", "DOUBLE", "DECIMAL"), rows, margins, 1.0, 1.0)
