"""``dpsql audit``: neighbours without a copy, bounds that hold, and findings where the engine were wrong."""

from __future__ import annotations

import random
import re
from pathlib import Path

import duckdb
import pytest
from terminals import Terminal

import dpsql
from dpsql.audit import noise_tests
from dpsql.audit.neighbour_views import Lacking
from dpsql.audit.neighbours import units_of, without
from dpsql.cli import main
from dpsql.engines.identifiers import table_sql
from dpsql.mechanisms import mechanism
from dpsql.mechanisms.geometric import UNIT
from dpsql.session import Session

QUESTIONS = """\
-- name: people
SELECT ward, COUNT(*), AVG(age) FROM patients GROUP BY ward;
SET epsilon = 0.5;
-- name: visits
SELECT COUNT(*), MEDIAN(minutes) FROM visits;
-- name: towns
SELECT city, COUNT(*) FROM patients GROUP BY city;
SELECT d.dose, COUNT(*) FROM drugs d GROUP BY d.dose;
SELECT * FROM wards;
"""


@pytest.fixture
def session(clinics: Path, tmp_path: Path) -> Session:
    return dpsql.connect(clinics / "clinic" / "clinic.duckdb", ledger=tmp_path / "l.ledger")._open()


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    file = tmp_path / "questions.sql"
    file.write_text(QUESTIONS)
    return file


def verdicts(out: str) -> dict[str, list[tuple[float, str]]]:
    """(moved, verdict) of each part, by statement."""
    found: dict[str, list[tuple[float, str]]] = {}
    for line in out.split("\n"):
        cells = [each.strip() for each in line.strip("│ ").split("│")]
        if len(cells) == 5 and cells[0] != "statement":
            moved = float((re.findall(r"\(([\d.]+) %\)", cells[2]) or ["0"])[0]) / 100
            found.setdefault(cells[0], []).append((moved, cells[4]))
    return found


# ---- neighbours ----------------------------------------------------------------------------------------


def test_views_leave_out_what_a_copy_lacks(session: Session, clinics: Path, tmp_path: Path) -> None:
    """Row by row, in every table, along paths of one link and of two."""
    path = clinics / "clinic" / "clinic.duckdb"
    neighbour = Lacking(path, session.policy, session.known)
    session.close()
    for unit in [1, *units_of(path, session.known)[50:52]]:
        copy = tmp_path / f"without-{unit}.duckdb"
        without(path, copy, session.known, unit)
        neighbour.leave_out(unit)
        with duckdb.connect(str(copy), read_only=True) as connection:
            for table in session.known.tables:
                asked = f"SELECT hash(t)::VARCHAR FROM {table_sql(table.name)} AS t ORDER BY 1"
                assert neighbour._do(asked) == connection.execute(asked).fetchall(), (unit, table.name)
    neighbour.close()


def test_units_with_most_rows_are_among_those_tried(session: Session, clinics: Path) -> None:
    neighbour = Lacking(clinics / "clinic" / "clinic.duckdb", session.policy, session.known)
    for salt in range(3):
        units = neighbour.units(8, salt)
        assert len(set(units)) == len(units) == 8
        assert 1 in units  # who has 3,000 visits
    assert len(neighbour.units(1000, 1)) == 240
    neighbour.close()


# ---- what releases prove -------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_what_is_proven_of_laplace_noise(epsilon: float) -> None:
    """Of two values a sensitivity apart: less than the truth, but not by much. The bytes are seeded.

    At epsilon 3 an event has chances .5 and .025, of which 10,000 halves are sure.
    """
    scale, words = 2.0**20, random.Random(f"proven {epsilon}").randbytes
    ours, theirs = (
        mechanism("laplace").draw(scale, 20_000, words) + shift for shift in (round(epsilon * scale), 0)
    )
    proven = noise_tests.at_least(ours.astype(float), theirs.astype(float), 0.0)
    assert epsilon / 3 < proven <= epsilon


def test_what_is_proven_of_a_count() -> None:
    """20,000 releases prove at least 0.85 of the epsilon of a count's noise, and never more. Seeded."""
    scale, words = float(UNIT), random.Random("one count").randbytes
    ours, theirs = (mechanism("geometric").draw(scale, 20_000, words) + shift for shift in (UNIT, 0))
    assert 0.85 <= noise_tests.at_least(ours.astype(float), theirs.astype(float), 0.0) <= 1.0


def test_bounds_of_a_chance() -> None:
    """Clopper and Pearson's, where they have a closed form: none of n, and all of n."""
    assert noise_tests._bounds(0, 100)[0] == 0.0
    assert noise_tests._bounds(0, 100)[1] == pytest.approx(1 - (noise_tests.ERRS / 4) ** (1 / 100), rel=1e-9)
    assert noise_tests._bounds(100, 100) == (
        pytest.approx((noise_tests.ERRS / 4) ** (1 / 100), rel=1e-9),
        1.0,
    )


@pytest.mark.parametrize("name", ["laplace", "gaussian", "geometric"])
def test_noise_is_known_by_its_law(name: str) -> None:
    """20,000 draws, seeded: those of another scale by an eighth are found odd, those of the same are not."""
    scale = 3.0 * 2**20
    noise = mechanism(name).draw(scale, 20_000, random.Random(name).randbytes)
    assert noise_tests.follows(noise, name, scale)
    assert not noise_tests.follows(noise, name, scale * 1.125)
    assert not noise_tests.follows(noise + 2**20, name, scale)


# ---- the command ---------------------------------------------------------------------------------------


def run(clinic: Path, questions: Path, *more: str) -> int:
    return main(["audit", str(clinic), str(questions), "--units", "6", "--trials", "200", *more])


def test_statements_that_keep_their_promise(
    clinic: Path, questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(clinic, questions) == 0
    out, err = capsys.readouterr()
    found = verdicts(out)
    assert list(found) == ["people", "visits", "towns", "5", "6"]
    for name in ("people", "visits", "towns", "5"):
        assert all(verdict == "ok" for _, verdict in found[name])
        assert all(0 < moved <= 1 for moved, _ in found[name])
    assert [len(each) for each in found.values()] == [1, 2, 1, 1, 1]
    assert found["visits"][0][0] > 0.99  # 3,000 visits of one patient reach the clip
    assert found["6"] == [(0, "nothing private")]
    assert out.startswith("For the owner only:")
    assert "6 patients were left out, one after the other" in " ".join(out.split())
    assert out.endswith("PASSED: all 5 statements keep the promise.\n")
    assert not err
    assert not clinic.with_suffix(".ledger").exists()  # nothing is debited, and nothing noted


def test_a_refused_statement_is_shown_in_its_file(
    clinic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "q.sql"
    file.write_text("SELECT COUNT(*) FROM patients;\n\nSELECT age FROM patients;\n")
    assert run(clinic, file) == 1
    out, err = capsys.readouterr()
    assert verdicts(out)["2"] == [(0, "refused")]
    assert verdicts(out)["1"][0][1] == "ok"
    assert "FAILED: 1 of 2 statements are not ok: 2." in out
    assert "q.sql:3:8" in err


def test_a_terminal_shows_how_far_it_is_and_stops_it(clinic: Path, questions: Path) -> None:
    """Far more units than anybody waits for; the bar is gone from what comes after."""
    units = ("--units", "240", "--trials", "1000000")
    terminal = Terminal("audit", str(clinic), str(questions), *units)
    terminal.after("[....................] 0/5  people: ")
    terminal.after("people: releases")
    terminal.interrupt()
    terminal.after("an audit pays nothing, and leaves nothing behind")
    assert terminal.process.wait() == 130
    terminal.end()


def test_wrong_usage(clinic: Path, questions: Path, tmp_path: Path) -> None:
    assert run(clinic, questions, "--units", "0") == 2
    assert run(clinic, questions, "--trials", "-1") == 2
    assert run(clinic, tmp_path / "nothing.sql") == 1
    assert run(clinic, questions, "--analyst", "ana") == 2


def test_files_in_a_folder(clinic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same over parquet files, whose views leave a unit out as well."""
    folder = tmp_path / "clinic-files"
    folder.mkdir()
    with duckdb.connect(str(clinic), read_only=True) as connection:
        for name in ("patients", "visits", "drugs", "wards"):
            connection.execute(f"COPY {name} TO '{folder / name}.parquet'")
    file = tmp_path / "q.sql"
    file.write_text("SELECT COUNT(*) FROM visits; SELECT AVG(dose) FROM drugs;")
    policy = str(clinic.with_suffix(".toml"))
    assert main(["audit", str(folder), str(file), "--policy", policy, "--units", "4", "--trials", "50"]) == 0
    found = verdicts(capsys.readouterr().out)
    assert found["1"][0][0] > 0.99
    assert found["2"][0][1] == "ok"
