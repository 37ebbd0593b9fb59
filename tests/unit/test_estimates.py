"""Counts by randomized responses: unbiased, as wide as they say, from every kind of file."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest

import dpsql
from dpsql.cli import main
from dpsql.estimates import estimated, estimates
from dpsql.ir.column import VARCHAR
from dpsql.ir.event import LaplaceEvent
from dpsql.ir.export import ExactExport, ExportPlan, Question
from dpsql.ir.plan import Noise, Norm
from dpsql.ir.relation import Scan
from dpsql.ir.scalar import Ref
from dpsql.ir.source import Source
from dpsql.mechanisms.randomized_response import design
from dpsql.post.export import manifest, rows_of
from dpsql.release.export import release_export
from dpsql.release.release import from_system

TRUTH = (700, 200, 100, 0)


def _plan(epsilon: float, marks: bool, scale: float) -> ExportPlan:
    how = design(len(TRUTH), epsilon)
    other = math.ceil(2**64 / (1 + math.exp(epsilon)))
    how = replace(how, marks=True, other=other) if marks else how
    question = Question("x", Ref("x"), VARCHAR, ("a", "b", "c", None), 3, epsilon, how)
    event = LaplaceEvent(1, scale)
    rows = Noise("laplace", Norm.L1, 1, scale, event)
    nothing = Scan("t", (), (), None)
    padding = math.ceil(28 * scale)
    return ExportPlan(Source(""), nothing, (question,), rows, padding, 2.0, 1.0, "pure", (event,), "")


@pytest.mark.parametrize(
    ("epsilon", "marks", "scale"),
    [(1.0, False, 2.0), (0.5, False, 20.0), (1.0, True, 2.0), (3.0, True, 10.0)],
)
def test_estimates_are_unbiased_and_as_wide_as_they_say(epsilon: float, marks: bool, scale: float) -> None:
    """400 exports. A mean misses the truth by 6.5 of its deviations with 1e-10; four cases of five numbers.

    The mean square over what is said is a mean of 400 squares of nearly normal numbers: it leaves .4 and 1.6
    with e^(-200 (.6 - ln 1.6)), 5e-12. How many rows there are has Laplace noise, whose squares have longer
    tails; of its distance a mean of 400, exponential numbers, leaves .6 and 1.4 with e^(-400 (.4 - ln 1.4)),
    9e-12.
    """
    plan = _plan(epsilon, marks, scale)
    truth = np.repeat(np.arange(4), TRUTH)
    exact = ExactExport(len(truth), [truth])
    said = manifest(plan, "patient")
    errors, widths, rows_off = [], [], []
    for _ in range(400):
        rows = rows_of(release_export(exact, plan, from_system), plan)
        listed = estimated([Counter(text for (text,) in rows)], said)["x"]
        errors.append([each.count - n for each, n in zip(listed, TRUTH, strict=True)])
        widths.append([each.deviation for each in listed])
        rows_off.append(len(rows) - plan.padding - sum(TRUTH))
    mean, deviation = np.mean(errors, axis=0), np.sqrt(np.mean(np.square(widths), axis=0))
    assert (np.abs(mean) < 6.5 * deviation / 20).all()
    assert (np.abs(np.mean(np.square(np.array(errors) / deviation), axis=0) - 1) < 0.6).all()
    assert abs(np.mean(rows_off)) < 6.5 * math.sqrt(2) * scale / 20
    assert abs(np.mean(np.abs(rows_off)) / scale - 1) < 0.4


def test_a_count_by_hand() -> None:
    """p = 3/4, q = 1/4, T = 112, a = 12: of 70 who say yes (70 - 28) / (1/2) - 12/2 = 78 of 100 do."""
    column = {"name": "x", "type": "BOOLEAN", "answers": "direct", "own": 0.75, "other": 0.25}
    said = {"columns": [column | {"values": [False, True]}], "rows": {"added": 12, "scale": 0.5}}
    no, yes = estimated([Counter({"true": 70, "false": 42})], said)["x"]
    assert (no.value, no.count, yes.value, yes.count, yes.share) == (False, 22.0, True, 78.0, 0.78)
    # every row is a coin of variance 3/16, rows of nobody of 1/4; (100 * 3/16 + 12/4) * 4 + 2 (.5/2)^2
    assert yes.deviation == pytest.approx(math.sqrt(87.125))


POLICY = """
[budget]
epsilon = 200.0
accountant = "pure"
[query]
epsilon = 0.5
max_epsilon = 200.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
town = { values = ["", "a, b", "it's", "0"] }
paid = { values = [0.5, 1.25] }
rate = { values = [0.1, 1e16] }
born = { values = [2000-02-29, 2001-01-01] }
left_at = { range = [2020-01-01, 2021-12-31] }
age = { range = [0, 99] }
well = {}
"""
DATA = """
CREATE TABLE people (id INTEGER PRIMARY KEY, town VARCHAR, paid DECIMAL(6, 2), rate DOUBLE, born DATE,
    left_at TIMESTAMP, age INTEGER, well BOOLEAN);
INSERT INTO people SELECT i, ['', 'a, b', 'it''s', '0', NULL][1 + i % 5], [0.5, 1.25][1 + i % 2],
    [0.1, 1e16][1 + i % 2], ['2000-02-29', '2001-01-01'][1 + i % 2]::DATE,
    ['2020-05-05', '2021-07-07'][1 + i % 2]::TIMESTAMP, i % 100, i % 4 = 0 FROM range(500) AS t(i);
"""
ASKED = (
    *("town", "paid", "rate", "born", "date_trunc('year', left_at)", "age", "well"),
    *("age // 50", "town = ''"),
)
QUERY = (
    "SELECT "
    + ", ".join(f"DP_RANDOMIZED_RESPONSE({each}, {1 if each == 'age' else 20}.0)" for each in ASKED)
    + " FROM people"
)


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_every_kind_of_file(tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """At epsilon 20 (a row answers otherwise with 1e-8) counts are the truth, give or take rows of nobody.

    57 of them, give or take 2.8: a count of k values is 28/k or less away, but with chance e^-28.
    """
    database, file = tmp_path / "d.duckdb", tmp_path / f"people.{kind}"
    with duckdb.connect(str(database)) as connection:
        connection.execute(DATA)
    (tmp_path / "d.toml").write_text(POLICY)
    assert main(["export", str(database), "-c", QUERY, "--format", kind, "-o", str(file)]) == 0
    found = estimates(file)
    said = json.loads((tmp_path / f"people.{kind}.manifest.json").read_text())
    assert list(found) == [each["name"] for each in said["columns"]]
    counts = [{each.value: each.count for each in listed} for listed in found.values()]
    expected: list[dict[object, int]] = [
        {"": 100, "a, b": 100, "it's": 100, "0": 100, None: 100},
        {"0.50": 250, "1.25": 250, None: 0},
        {0.1: 250, 1e16: 250, None: 0},
        {"2000-02-29": 250, "2001-01-01": 250, None: 0},
        {"2020-01-01 00:00:00": 250, "2021-01-01 00:00:00": 250, None: 0},
        {},
        {False: 375, True: 125, None: 0},
        {0: 250, 1: 250, None: 0},
        {False: 300, True: 100, None: 100},
    ]
    for ours, truth in zip(counts, expected, strict=True):
        for value, count in truth.items():
            assert abs(ours[value] - count) < 57 + 28
    assert len(counts[5]) == 101
    total = sum(counts[0].values())
    assert abs(total - 500) < 57
    capsys.readouterr()
    assert main(["estimate", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "a, b" in shown
    assert "deviation" in shown


def test_without_its_manifest_a_file_tells_nothing(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("town\na\n")
    with pytest.raises(dpsql.InterfaceError, match="has no manifest"):
        estimates(file)
