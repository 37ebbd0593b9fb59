"""``dpsql attack``: exact answers fall to every attack, dpsql's to none, and a broken engine's to one."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import attacks_page
import duckdb
import pytest
from terminals import Terminal

import dpsql
from dpsql.attacks.attack import Attack
from dpsql.attacks.chances import SURE, right
from dpsql.attacks.made_up import ALONE, PERSONS, made_up
from dpsql.attacks.show import attacks, judge
from dpsql.attacks.table import NONE
from dpsql.attacks.world import World
from dpsql.cli import main
from dpsql.engines.spill import own_folder

ACCOUNTANTS = ("pure", "approx", "zcdp")
BOUND_OF_CHANCE = 0.5


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the facts of a run in this process."""
    code = main(["attack", "--jobs", "1", "--format", "json", *words])
    return code, json.loads(capsys.readouterr().out)


def world(folder: Path, accountant: str, epsilon: float, trials: int) -> World:
    (folder / "ledgers").mkdir()
    delta = 0.0 if accountant == "pure" else 1e-6
    return made_up(folder, folder / "ledgers", accountant, epsilon, delta, trials)


# ---- the unchanged engine ------------------------------------------------------------------------------


@pytest.fixture
def surely(monkeypatch: pytest.MonkeyPatch) -> None:
    """An attack is said to beat its bound where none does once in 10^11 runs."""
    monkeypatch.setattr("dpsql.attacks.show.ERRS", 1e-11)


@pytest.mark.usefixtures("surely")
def test_no_attack_beats_its_bound_and_exact_answers_fall(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = told(capsys, "--trials", "4")
    assert code == 0
    rows = r"town \d|\b015\d\b|19[23]\d-|500000"  # of the population
    assert not re.search(rows, json.dumps(said))
    assert said["verdict"] == NONE
    assert [each["attack"] for each in said["attacks"]] == [attack.name for attack in attacks()]
    for each in said["attacks"]:
        assert not each["lacks"]
        assert each["tried"] > 0
        if each["attack"] == "linkage":
            assert each["exact"] == ALONE / PERSONS
        elif each["exact"] is not None:
            assert each["exact"] >= 0.99


@pytest.mark.sweep
@pytest.mark.usefixtures("surely")
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("accountant", ACCOUNTANTS)
def test_no_attack_beats_its_bound_anywhere(
    accountant: str, epsilon: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """At full size."""
    words = "--accountant", accountant, "--epsilon", str(epsilon)
    code, said = told(capsys, *words)
    assert (code, said["verdict"]) == (0, NONE)


@pytest.mark.parametrize("epsilon", [1.0, pytest.param(5.0, marks=pytest.mark.sweep)])
def test_the_attackers_are_good(tmp_path: Path, epsilon: float) -> None:
    """Presence is guessed with at least 0.9 of what the bound gains over chance, less six deviations."""
    judged = judge(world(tmp_path, "pure", epsilon, 40), "reconstruction: presence")
    ours = judged.ours
    assert ours.tried == 4 * PERSONS // 2
    gain = ours.bound - BOUND_OF_CHANCE
    deviation = (ours.bound * (1 - ours.bound) / ours.tried) ** 0.5
    assert ours.success >= BOUND_OF_CHANCE + 0.9 * gain - 6 * deviation


def test_no_subset_of_two_persons_is_empty(tmp_path: Path) -> None:
    """An empty one, in two runs of three if each is drawn by a coin, would refuse the attack."""
    assert judge(world(tmp_path, "pure", 1.0, 1), "reconstruction: subsets").ours.tried == 2


def test_refusals_without_a_delta_win_nothing(tmp_path: Path) -> None:
    made = world(tmp_path, "pure", 1.0, 2)
    for name in ("linkage", "membership", "membership: of two towns"):
        judged = judge(made, name)
        assert judged.ours.won == 0
        assert judged.ours.words == "refused without a delta"


# ---- an owner's data -----------------------------------------------------------------------------------

CANARIES = """\
UPDATE patients SET patient_id = 43210000 + patient_id, age = 4321, city = 'canary ' || patient_id,
    ward = if(patient_id % 2 = 0, 'canary', ward), income = 4321.5, height = 432.1, score = 4321,
    born = '4321-02-01', seen = '4321-02-01';
UPDATE visits SET visit_id = 43210000 + visit_id, patient_id = 43210000 + patient_id, cost = 4321,
    minutes = 4321, kind = if(visit_id % 2 = 0, 'canary', kind);
UPDATE drugs SET visit_id = 43210000 + visit_id, dose = 4321;
"""
"""One in every private column but the boolean one."""


def sings(text: str) -> bool:
    """Whether a canary is in a text; what was won, and coordinates of pictures, may be any fraction."""
    return re.search("canary|4321", re.sub(r"\d*\.\d+", "", text)) is not None


def own(clinic: Path, *words: str) -> int:
    return main(["attack", str(clinic), "--jobs", "1", "--trials", "2", *words])


def test_an_owners_data_is_attacked_in_a_copy(
    clinic: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """By all attacks: the ledger is not opened; nothing that is said, logged or left tells of rows."""
    with duckdb.connect(str(clinic)) as connection:
        connection.execute(CANARIES)
    ledger = clinic.with_suffix(".ledger")
    assert main(["query", str(clinic), "--analyst", "ana", "-c", "SELECT COUNT(*) FROM patients"]) == 0
    before = {path: path.read_bytes() for path in clinic.parent.iterdir()}
    assert ledger in before
    left = tmp_path / "temporary"
    left.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(left))
    monkeypatch.setenv("TMPDIR", str(left))
    monkeypatch.setattr("dpsql.cli.attack._SHARED_MEMORY", tmp_path / "none")
    caplog.set_level("DEBUG")
    capfd.readouterr()
    report, words = tmp_path / "attacks.html", ("--column", "smoker", "--epsilon", "1")
    assert own(clinic, *words, "--report", str(report)) == 0
    assert own(clinic, *words, "--format", "json", "--only", "tracker", "--only", "linkage") == 0
    out, err = capfd.readouterr()
    assert {path: path.read_bytes() for path in clinic.parent.iterdir()} == before
    assert out.startswith("For the owner only:")
    assert f"{NONE}\n{{" in out
    assert err == ""
    assert not sings(out)
    assert not sings(caplog.text)
    assert not sings(report.read_text())
    assert not [path for path in left.rglob("*") if path.is_file()]
    assert stat.S_IMODE(os.stat(report).st_mode) == 0o600
    assert report.read_text().count("<svg") > 3


def test_a_column_of_declared_values_is_a_secret_too(
    clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = told(capsys, str(clinic), "--column", "ward", "--trials", "3", "--only", "tracker")
    assert code == 0
    assert said["attacks"][0]["exact"] == 1.0
    assert said["accountant"] == "zcdp"


@pytest.mark.parametrize("column", ["age", "city", "nothing"])
def test_what_is_no_secret_of_two_values_is_refused(
    clinic: Path, column: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert own(clinic, "--column", column) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "help: those that are: ward, smoker" in err


def test_a_folder_of_files_is_refused(
    tmp_path: Path, clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "files").mkdir()
    with duckdb.connect(str(clinic), read_only=True) as connection:
        connection.execute(f"COPY patients TO '{tmp_path / 'files' / 'patients.parquet'}'")
    assert own(tmp_path / "files", "--policy", str(clinic.with_suffix(".toml"))) == 1
    assert "attacks need a DuckDB file" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["attack"], ["audit", "--fuzz", "10"]])
def test_a_server_is_refused_without_its_address(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command[0], "postgresql://reader:secret@host/clinic", *command[1:]]) == 1
    said = capsys.readouterr().err
    assert "this command reads files, not a server" in said
    assert "secret" not in said


@pytest.mark.parametrize(
    "words",
    [
        ("--trials", "0"),
        ("--jobs", "0"),
        ("--epsilon", "nan"),
        ("--column", "smoker"),
        ("--only", "phishing"),
        ("--analyst", "ana"),
    ],
)
def test_wrong_usage(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attack", *words]) == 2


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("dpsql.cli.attack._SHARED_MEMORY", tmp_path / "none")
    assert main(["attack", "--jobs", "1", "--trials", "1", "--only", "silence"]) == 0
    assert list(tmp_path.glob("dpsql-attack-*")) == []


def test_copies_of_the_owners_data_are_swept_after_a_kill(
    clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are in the folder of this process, which the next one removes if this one cannot."""
    folders: list[Path] = []

    def stopped(options: object, folder: Path, ledgers: Path) -> None:
        folders.append(folder)
        raise dpsql.InterfaceError("far enough")

    monkeypatch.setattr("dpsql.cli.attack._world", stopped)
    assert main(["attack", str(clinic), "--column", "age"]) != 0
    [folder] = folders
    assert folder.parent == Path(own_folder())
    assert not folder.exists()


def test_a_terminal_shows_how_far_it_is_and_stops_it() -> None:
    """With processes of its own, which end with it."""
    terminal = Terminal("attack", "--trials", "1000")
    terminal.after(f"[....................] 0/{len(attacks())}  averaging")
    terminal.interrupt()
    terminal.after("attacks pay nothing, and leave nothing behind")
    assert terminal.process.wait() == 130
    terminal.end()


def test_every_attack_has_a_name_and_words_of_its_own() -> None:
    every: tuple[Attack, ...] = attacks()
    assert len({attack.name for attack in every}) == len({attack.does for attack in every}) == len(every)


def test_the_page_is_computed() -> None:
    text = attacks_page.PAGE.read_text(encoding="utf-8")
    assert text == attacks_page.page(text), "run: python tests/attacks_page.py --write"
    said = " ".join(text.split())
    tenth, whole, five = (round(100 * right(epsilon)) for epsilon in (0.1, 1.0, 5.0))
    assert f"**At 0.1** a guess about presence is right in {tenth} of 100" in said
    assert f"**At 1** it is {whole} of 100, and {round(100 * right(1.0, steps=2))} for a value" in said
    assert f"**At 5** it is {five} of 100" in said
    assert "one in forty does" in said
    assert pytest.approx((1 - SURE) / 2) == 1 / 40
