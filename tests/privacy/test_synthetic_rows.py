"""Synthetic rows of private views: what they cost, whom they are given to, and what they say they are."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import duckdb
import pytest
from test_private_views import CREATE, built

import dpsql
from dpsql.errors import InterfaceError


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return built(tmp_path / "owned")


def refused(db: dpsql.Connection, view: str, rows: int = 10) -> str:
    with pytest.raises(dpsql.Error) as caught:
        db.synthetic_rows(view, rows)
    assert caught.value.help
    return caught.value.code


def test_they_are_free_whole_and_near_the_view(data: Path) -> None:
    """A count of the file is its share of the view, rounded up or down, where no count is negative."""
    with dpsql.connect(data, analyst="ana") as db:
        db.execute("CREATE PRIVATE VIEW wards WITH (epsilon = 5) AS SELECT ward FROM people WHERE age < 25")
        spent, released = db.budget.spent, dict(db.execute("FROM wards").rows)
        made = db.synthetic_rows("Wards", 1_000)
        assert (made.columns, made.types, len(made.rows), made.cost) == (("ward",), ("VARCHAR",), 1_000, 0)
        assert db.budget.spent == spent
        whole, counts = sum(released.values()), Counter(ward for (ward,) in made.rows)
        for ward, count in released.items():
            assert abs(counts[ward] - 1_000 * max(0, count) / whole) < 1_000 * 60 / whole
        assert made.manifest["synthetic"] is True
        assert made.manifest["rows_of_the_view"] == pytest.approx(whole, abs=3)
        assert db.synthetic_rows("wards", 1_000).rows != made.rows


def test_only_what_is_paid_for_is_drawn_from(data: Path) -> None:
    with dpsql.connect(data, analyst="ana") as ana, dpsql.connect(data, analyst="bo") as bo:
        assert refused(ana, "census") == refused(ana, "people") == refused(ana, 'no "such') == "D201"
        assert refused(ana, "owned") == "D409"
        assert ana.budget.spent == 0
        ana.execute(CREATE)
        assert refused(bo, "census") == "D201"
        ana.execute("GRANT SELECT ON census TO bo")
        assert refused(bo, "census") == "D409"
        bo.execute("SELECT COUNT(*) FROM census")
        assert len(bo.synthetic_rows("census", 10).rows) == 10
        ana.execute("DROP PRIVATE VIEW census")
        assert refused(ana, "census") == "D201"
    with dpsql.connect(data) as owner:
        assert refused(owner, "owned") == "D409"
        owner.execute("SELECT COUNT(*) FROM owned")
        assert len(owner.synthetic_rows("owned", 10).rows) == 10


def test_they_stay_of_the_data_of_the_purchase(data: Path) -> None:
    with dpsql.connect(data) as db:
        db.execute(CREATE)
        bought = db.synthetic_rows("census", 5).manifest
    with duckdb.connect(str(data)) as connection:
        connection.execute("DELETE FROM people WHERE id = 5")
    with dpsql.connect(data) as db:
        assert db.synthetic_rows("census", 5).manifest == bought


@pytest.mark.parametrize("rows", [0, 1_000_001])
def test_a_number_of_rows_is_limited(data: Path, rows: int) -> None:
    with dpsql.connect(data) as db, pytest.raises(InterfaceError, match="synthetic rows"):
        db.synthetic_rows("owned", rows)


def test_the_command_names_and_labels_its_file(data: Path, tmp_path: Path) -> None:
    with dpsql.connect(data) as db:
        db.execute(CREATE)
    command = [sys.executable, "-m", "dpsql.cli", "export", str(data), "-o", str(tmp_path / "rows.csv")]
    asked = subprocess.run(
        [*command, "--view", "census", "--rows", "200"], capture_output=True, text=True, check=False
    )
    assert asked.returncode == 0, asked.stderr
    assert "200 synthetic rows in rows.synthetic.csv" in asked.stderr
    made = tmp_path / "rows.synthetic.csv"
    manifest = json.loads((tmp_path / "rows.synthetic.csv.manifest.json").read_text())
    assert len(made.read_text().splitlines()) == 201
    assert (manifest["synthetic"], manifest["view"]) == (True, "census")
    assert not (tmp_path / "rows.csv").exists()
    estimates = [sys.executable, "-m", "dpsql.cli", "estimate", str(made)]
    assert subprocess.run(estimates, capture_output=True, check=False).returncode == 1
    for wrong in (["--view", "census"], ["--rows", "5"], ["--view", "census", "--rows", "5", "-c", "FROM x"]):
        assert subprocess.run([*command, *wrong], capture_output=True, check=False).returncode == 2
