"""Errors planted in the engine, one at a time: each makes an attack or an audit exit with 1, and say where.

The list is privacy/planted.py; tests/attacks_page.py makes the page's table of it. The engine's noise is the
operating system's, so that a run may fail by chance, as every statement here says how often.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from privacy.planted import AUDITED, DRAWN, FUZZED, GUESSED, PLANTED, Audited, Fuzzed, Guessable, Planted

from dpsql.audit import plan_of
from dpsql.cli import main
from dpsql.dbapi import connect


def cases(errors: Sequence[Any]) -> list[Any]:
    """A test of each; those that take more than some seconds are sweeps."""
    return [
        pytest.param(error, id=error.words, marks=[pytest.mark.sweep] * getattr(error, "long", False))
        for error in errors
    ]


def test_there_are_twenty_of_each_kind_of_error() -> None:
    """Different errors, whoever finds them."""
    found = {error.patch for errors in (PLANTED, AUDITED, GUESSED, FUZZED) for error in errors}
    assert len(found) >= 20


def test_drawn_runs_plant_what_the_page_says_of_them() -> None:
    text = (Path(__file__).parents[2] / "grammar_tests" / "drawn" / "planted.py").read_text(encoding="utf-8")
    for _, name in DRAWN:
        assert f"    {name}: " in text  # with a seed: test_drawn.py runs it


# ---- dpsql attack --------------------------------------------------------------------------------------


@pytest.mark.parametrize("planted", cases(PLANTED))
def test_an_attack_finds_it(
    planted: Planted, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a third of the noise 0.901 of 800 guesses are right, and 650 needed; with a quarter 0.932 of 500,

    and 417; with a tenth of the price 0.993 of 100, and 87: there but for once in 10^13 each. A value beyond
    its range is taken for none once in e^25.
    """
    planted.patch(monkeypatch)
    words = "--only", planted.attack, "--epsilon", str(planted.epsilon), "--trials", str(planted.trials)
    assert main(["attack", "--jobs", "1", "--format", "json", *words]) == 1
    said = json.loads(capsys.readouterr().out)
    beaten = [each["attack"] for each in said["attacks"] if each["beat"]]
    assert planted.attack in beaten
    assert said["verdict"] == f"{', '.join(beaten)} did beat what the promise allows"


# ---- dpsql audit ---------------------------------------------------------------------------------------


def audit(clinic: Path, tmp_path: Path, sql: str, *words: str) -> int:
    file = tmp_path / "q.sql"
    file.write_text(f"{sql};")
    return main(["audit", str(clinic), str(file), *words])


@pytest.mark.parametrize("error", cases(AUDITED))
def test_an_audit_finds_it(
    error: Audited,
    clinic: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = "--units", "6", "--trials", "1000"
    assert audit(clinic, tmp_path, error.sql, *words) == 0
    capsys.readouterr()
    error.patch(monkeypatch)
    assert audit(clinic, tmp_path, error.sql, *words) == 1
    out = capsys.readouterr().out
    assert error.verdict in re.findall(r"│ ([a-z ]+?) +│$", out, re.M)
    assert "FAILED" in out


@pytest.mark.parametrize("error", cases(GUESSED))
def test_guesses_find_it(
    error: Guessable,
    clinic: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without the error nothing is found; with it, the statement tells too much.

    Half of the noise has an epsilon of 2, which deviates by 0.08 if half of 3,000 coins are guessed: seven
    deviations more than the 4.75 of the level are left to 1. The other errors leave nothing to chance.
    """
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text().replace('"zcdp"', '"approx"'))
    words = "--attack", "--units", "4"
    assert audit(clinic, tmp_path, error.sql, *words, "--trials", "40") == 0
    capsys.readouterr()
    error.patch(monkeypatch)
    assert audit(clinic, tmp_path, error.sql, *words, "--trials", str(error.trials), "--epsilon", "1") == 1
    out = capsys.readouterr().out
    assert re.search(
        r"the whole +│ +[\d,]+ of [\d,]+ guesses are right │ +\S+ of 1.000 │ tells too much", out
    )
    assert "FAILED" in out


@pytest.mark.parametrize("error", cases(FUZZED))
def test_fuzzing_finds_it(
    error: Fuzzed,
    clinic: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The command fails, names the seed, and writes a smaller query with all that it needs to break again."""
    error.patch(monkeypatch)
    monkeypatch.setattr("dpsql.fuzz.long_run._TRIES", 5)
    folder = tmp_path / "cases"
    drawn = "--fuzz", str(error.triples), "--seed", str(error.seed)
    assert main(["audit", str(clinic), *drawn, "--write", str(folder)]) == 1
    said = capsys.readouterr().out
    assert f"VIOLATION of seed {error.seed}" in said
    assert "FAILED" in said
    case = folder / f"seed-{error.seed}-0"
    assert {"case.sql", "policy.toml", "world.duckdb", "neighbour.duckdb"} <= {p.name for p in case.iterdir()}
    sql = (case / "case.sql").read_text(encoding="utf-8")
    assert sql.startswith("-- case: ")
    with connect(case / "world.duckdb", case / "policy.toml", tmp_path / "l.ledger") as db:
        query = sql.split("\n", 2)[2].rstrip(";\n")
        assert plan_of(db._open(), query, 1.0).stages or not query.startswith("SELECT")
