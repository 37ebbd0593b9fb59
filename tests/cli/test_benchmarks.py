"""`python -m benchmarks` runs, prints its tables and saves its figures; how fast is not asked here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("planning", "text -> plan, ms"),
        ("startup", "fresh processes, ms"),
        ("query", "where it goes, ms (medians)"),
        ("overhead", "L2 clip: visits-50000, by group, ms"),
        ("distinct", "peak memory, MB"),
        ("noise", "million draws a second on one core"),
        ("accuracy", "skewed visits, pure: root mean square error by group"),
        ("coverage", "by group, zcdp, epsilon 0.85: share of 100 draws"),
        ("tpch", "refused on tpch-tiny"),
        ("answers", "five million rows, ms"),
        ("larger", "files beside 250 MB of memory"),
        ("ledger", "opening, in a fresh process"),
        ("skipped", "measure over parquet files, ms"),
        ("found", "SUM with a found range, zcdp: 5 ledgers in each row"),
        ("peers", "root mean square error by group at epsilon 1, delta 1e-06"),
    ],
)
def test_prints_tables_and_verdicts(name: str, title: str) -> None:
    done = run(name, "--quick")
    assert done.returncode == 0, done.stderr
    assert f"$ python -m benchmarks {name} --quick" in done.stdout
    assert title in done.stdout
    assert "\n* " in done.stdout


def test_saves_figures_with_versions_and_machine(tmp_path: Path) -> None:
    done = run("noise", "--quick", "--save", "--results", str(tmp_path))
    assert done.returncode == 0, done.stderr
    saved = json.loads((tmp_path / "noise.json").read_text())
    assert saved["command"] == "python -m benchmarks noise --quick"
    assert {"python", "dpsql", "duckdb", "numpy", "sqlglot"} <= saved["versions"].keys()
    assert saved["machine"]["cores"] >= 1
    assert saved["tables"][0]["rows"]
    assert {verdict["target"] for verdict in saved["verdicts"]} == {1.0}


def test_an_unknown_question_is_an_error_of_use() -> None:
    done = run("speed")
    assert done.returncode == 2
    assert "no question is called speed" in done.stderr
