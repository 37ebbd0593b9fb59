"""``dpsql init``: answers make a policy that holds, and nothing is written before it does."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from terminals import Terminal

from dpsql.cli import main
from dpsql.cli.demo_data import POLICY, build
from dpsql.policy.compose import compose
from dpsql.policy.model import digest
from dpsql.session.checks import load_policy, parse_policy
from dpsql.terminal.output import put

ROOT = Path(__file__).parents[2]

DATA = """
CREATE TABLE people (person_id INTEGER PRIMARY KEY, name VARCHAR, age INTEGER, kind ENUM ('a', 'secret'),
    town VARCHAR, seen TIMESTAMP);
CREATE TABLE orders (order_id BIGINT UNIQUE, person_id INTEGER, amount DECIMAL(9, 2), day DATE);
CREATE TABLE lines (order_id BIGINT, price DOUBLE);
CREATE TABLE "odd name" (x INTEGER);
INSERT INTO people VALUES (1, 'Hidden Hilda', 41, 'secret', 'Hiddenham', NULL), (2, NULL, 9, 'a', NULL, NULL);
INSERT INTO orders VALUES (10, 1, 4711.5, NULL), (11, 1, 1, NULL);
INSERT INTO lines VALUES (10, 4711.5);
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("init")
    build(folder)
    (folder / "clinic.toml").unlink()
    with contextlib.closing(duckdb.connect(str(folder / "shop.duckdb"))) as connection:
        connection.execute(DATA)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """Both databases in a folder of one's own."""
    shutil.copytree(made, tmp_path / "own")
    return tmp_path / "own"


def answer(database: Path, *lines: str, more: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """The command with these answers in a pipe."""
    return subprocess.run(
        [sys.executable, "-m", "dpsql.cli", "init", str(database), *more],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | {"PYTHONUTF8": "1"},
    )


def files(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


# ---- defaults ------------------------------------------------------------------------------------------


def test_every_default(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["init", str(folder / "clinic.duckdb"), "--yes"]) == 0
    out, err = capsys.readouterr()
    file = folder / "clinic.toml"
    assert err == ""
    assert file.read_text() in out
    assert files(folder) == {"clinic.duckdb", "shop.duckdb", "clinic.toml"}
    (folder / "usual").touch()
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE((folder / "usual").stat().st_mode)
    policy = load_policy(file)
    assert (policy.unit.name, policy.unit.table, policy.unit.key) == ("patient", "patients", "patient_id")
    assert [each.name for each in policy.tables] == ["patients", "visits"]  # wards is nobody's yet: hidden
    assert not any(column.range or column.values for table in policy.tables for column in table.columns)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\\d patients\n")))
    for line in out.partition("Next steps:")[2].strip().split("\n"):  # those three commands run
        program, *arguments = shlex.split(line)
        assert program == "dpsql"
        assert main(arguments) == 0


def test_nothing_is_copied_from_the_data(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No value of a row is in the policy or on the screen, nor any member of an enum."""
    assert main(["init", str(folder / "shop.duckdb"), "--yes"]) == 0
    said = capsys.readouterr().out + (folder / "shop.toml").read_text()
    for each in ("Hilda", "Hiddenham", "secret", "4711"):
        assert each not in said
    policy = load_policy(folder / "shop.toml")
    assert policy.unit.name == "person"
    rules = {each.name: each for each in policy.tables}
    assert [each.name for each in rules["people"].columns] == ["age", "kind", "town", "seen"]  # no name
    assert rules["orders"].unit is not None
    assert rules["lines"].unit is not None
    assert rules["lines"].unit.references == ("orders", "order_id")
    assert "odd name" not in rules


def test_a_schema_without_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.closing(duckdb.connect(str(tmp_path / "x.duckdb"))) as connection:
        connection.execute("CREATE TABLE t (x DOUBLE)")
    assert main(["init", str(tmp_path / "x.duckdb"), "--yes"]) == 1
    assert "no table has a column that could identify a person" in capsys.readouterr().err
    assert files(tmp_path) == {"x.duckdb"}


# ---- answers -------------------------------------------------------------------------------------------

CLINIC = (
    *("", "", "", "20,000"),  # patients, patient_id, patient, about how many
    *("", "12", "public"),  # visits by patient_id, 12 rows; wards
    *("2", "1e-7", "", "1.5"),  # budget, delta, price, ceiling
    'ana 1, "bob b"',
    *("town", "0 110", "F, M", '"Cardiology", Emergency'),
    *("none", "2024-01-01, 2024-12-31", "skip"),
)


def test_answers_from_a_pipe(folder: Path) -> None:
    result = answer(folder / "clinic.duckdb", *CLINIC, "y", more=("--policy", str(folder / "mine.toml")))
    assert (result.returncode, result.stderr) == (0, ""), result
    policy = load_policy(folder / "mine.toml")
    assert policy.unit.about == 20_000
    assert (policy.budget.epsilon, policy.budget.delta) == (2.0, 1e-7)
    assert (policy.query.epsilon, policy.query.max_epsilon) == (0.2, 1.5)
    assert [(each.name, each.epsilon) for each in policy.analysts] == [("ana", 1.0), ("bob b", 2.0)]
    patients, visits, wards = policy.tables
    said = {each.name: each.range or each.values for each in patients.columns}
    assert said == {"age": (0, 110), "sex": ("F", "M"), "ward": ("Cardiology", "Emergency"), "smoker": None}
    assert visits.rows_per_unit == 12
    assert [bool(each.range) for each in visits.columns] == [True, False, False, False]
    assert wards.public
    assert wards.key == ("ward",)
    assert "  wards [hidden]: public\n" in result.stdout  # a transcript shows what was answered


@pytest.mark.parametrize(
    ("place", "wrong", "said"),
    [
        (0, "patient", "there is no table patient: did you mean patients?"),
        (1, "smoker", "there is no column smoker"),
        (2, "?", "that is not a word"),
        (3, "many", "a whole number such as 30000"),
        (3, "0", "a whole number such as 30000"),
        (4, "day", "there is no column"),
        (4, "patient_id -> wards.bed", "did you mean beds?"),
        (4, "patient_id -> wrds.beds", "did you mean wards?"),
        (5, "0", "a whole number from 1 to 1,000,000"),
        (7, "-1", "-1 is not a positive number"),
        (7, "nan", "nan is not a positive number"),
        (8, "0.5", "a delta this large promises nothing"),
        (9, "3", "more than the whole budget"),
        (10, "0.1", "less than the default price"),
        (11, "ana 3", "more than the whole budget"),
        (13, "110 0", "the lower bound comes first"),
        (13, "young", "a range is two numbers or two dates"),
        (13, "2024-01-01 2024-12-31", "two numbers"),
        (14, ",", "a list holds 1 to 10,000 values"),
        (13, "0 2024-01-01", "a range is two numbers or two dates"),
        (17, "0 1", "two dates"),
    ],
)
def test_an_answer_that_means_nothing_ends_a_pipe(
    folder: Path,
    place: int,
    wrong: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = list(CLINIC)
    lines[place] = wrong
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join([*lines, "y", ""])))
    assert main(["init", str(folder / "clinic.duckdb")]) == 1
    refusal = capsys.readouterr().err
    assert "error[D001]" in refusal
    assert said in refusal
    assert files(folder) == {"clinic.duckdb", "shop.duckdb"}


def test_too_few_answers(folder: Path) -> None:
    result = answer(folder / "clinic.duckdb", "", "")
    assert result.returncode == 1
    assert "there are fewer answers than questions" in result.stderr
    assert files(folder) == {"clinic.duckdb", "shop.duckdb"}


def test_no_at_the_end(folder: Path) -> None:
    result = answer(folder / "clinic.duckdb", *CLINIC, "no")
    assert (result.returncode, result.stderr) == (1, "nothing was written\n")
    assert files(folder) == {"clinic.duckdb", "shop.duckdb"}


@pytest.mark.parametrize("link", [False, True])
def test_a_policy_is_never_overwritten(folder: Path, link: bool, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "clinic.toml"
    if link:
        file.symlink_to(folder / "elsewhere.toml")
    else:
        file.write_text("mine")
    assert main(["init", str(folder / "clinic.duckdb"), "--yes"]) == 1
    assert "is not overwritten" in capsys.readouterr().err
    assert link or file.read_text() == "mine"
    assert "elsewhere.toml" not in files(folder)


def test_a_policy_written_meanwhile_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else writes the file while the questions are answered."""
    file = folder / "clinic.toml"

    def too_late(text: str) -> None:
        file.write_text("theirs")
        put(text)

    monkeypatch.setattr("dpsql.cli.init.put", too_late)
    assert main(["init", str(folder / "clinic.duckdb"), "--yes"]) == 1
    assert file.read_text() == "theirs"
    assert files(folder) == {"clinic.duckdb", "shop.duckdb", "clinic.toml"}


def test_a_policy_that_does_not_hold_is_not_written(folder: Path) -> None:
    """Two rows of one person: the key is none, and the owner hears it now."""
    with contextlib.closing(duckdb.connect(str(folder / "twice.duckdb"))) as connection:
        connection.execute("CREATE TABLE users AS SELECT 1 + i % 2 AS user_id, i AS x FROM range(4) AS t(i)")
    result = answer(folder / "twice.duckdb", *[""] * 20)
    assert result.returncode == 1
    assert "error[D805]: users.user_id is not known to be unique" in result.stderr
    assert "[tables.users]" in result.stdout  # what was answered is not lost
    assert "twice.toml" not in files(folder)


# ---- at a terminal -------------------------------------------------------------------------------------


def test_a_wrong_answer_is_asked_again_at_a_terminal(folder: Path) -> None:
    terminal = Terminal("init", str(folder / "clinic.duckdb"))
    terminal.until("[patients]:")
    terminal.type("patient\n")
    terminal.until("did you mean patients?\r\n  the table with one row per person, or none [patients]:")
    for _ in range(25):  # all other questions, and more line breaks than there are
        terminal.type("\n")
    assert terminal.end() == 0, terminal.screen
    assert (folder / "clinic.toml").exists()
    assert "Next steps:" in terminal.screen


@pytest.mark.parametrize("key", ["Ctrl-C", "Ctrl-D"])
def test_leaving_leaves_no_file(folder: Path, key: str) -> None:
    terminal = Terminal("init", str(folder / "clinic.duckdb"))
    terminal.until("[patients]:")
    terminal.type("\n")
    terminal.until("[patient_id]:")
    if key == "Ctrl-D":
        terminal.type("\x04")
    else:
        terminal.interrupt()
    assert terminal.end() == 128 + signal.SIGINT, terminal.screen
    assert "stopped: nothing was written" in terminal.screen
    assert "stays paid" not in terminal.screen
    assert files(folder) == {"clinic.duckdb", "shop.duckdb"}


# ---- the text of a policy ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        POLICY,
        (ROOT / "grammar_tests" / "world.toml").read_text(),
        (ROOT / "grammar_tests" / "pure.toml").read_text(),
        (ROOT / "grammar_tests" / "finds.toml").read_text(),
    ],
    ids=["demo", "world", "pure", "finds"],
)
def test_what_is_composed_says_the_same(text: str) -> None:
    policy = parse_policy(text, "a.toml")
    again = parse_policy(compose(policy, "Again."), "b.toml")
    assert digest(again) == digest(policy)
    assert [each.columns for each in again.tables] != []


def test_odd_names_and_values_are_spelled_out() -> None:
    text = r"""
timezone = "Europe/Oslo"
[budget]
epsilon = 1
delta = 1e-7
[query]
epsilon = 0.1
max_epsilon = 0.2
find_bounds = false
min_units = 7
[limits]
seconds = 2.5
memory = "1500MB"
rows = 12
[analysts."a \"b\" c"]
epsilon = 0.5
[unit]
name = "it's one"
table = "odd \\ table"
key = "a.b"
[tables."odd \\ table".columns]
"tab\t" = { values = ["\u0000", "\"", "\\", "🙂"] }
b = { values = [true, false] }
c = { values = [0.1, 2] }
d = { range = [1999-01-01T00:00:00, 2000-01-01T12:30:00.5] }
[views."v 1"]
sql = "SELECT 1"
"""
    policy = parse_policy(text, "a.toml")
    assert digest(parse_policy(compose(policy, "Odd."), "b.toml")) == digest(policy)


def test_the_answers_make_sense_on_a_stream_without_a_terminal(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one process too: standard input may be anything that has lines."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n" * 40))
    assert main(["init", str(folder / "shop.duckdb")]) == 0
    assert re.search(r"(?m)^key = \"person_id\"$", (folder / "shop.toml").read_text())


def test_csv_files_get_their_types(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder of csv files: types, marks and patterns are part of the policy that is written."""
    data = folder / "data"
    data.mkdir()
    with contextlib.closing(duckdb.connect(str(folder / "clinic.duckdb"), read_only=True)) as connection:
        for name in ("patients", "wards"):
            connection.execute(f"COPY {name} TO '{data / name}.csv' (HEADER, DELIM ';')")
        (data / "visits").mkdir()
        connection.execute(f"COPY visits TO '{data / 'visits' / 'all'}.csv' (HEADER)")
    assert main(["init", str(data), "--yes"]) == 0, capsys.readouterr().err
    policy = load_policy(folder / "data.toml")
    patients, visits = policy.tables
    assert {each.name: each.type for each in patients.columns}["age"] == "BIGINT"
    assert {each.name for each in visits.columns} >= {"patient_id", "day", "cost"}
    assert patients.csv is not None
    assert patients.csv.delim == ";"
    assert visits.files == "visits/*.csv"
    assert digest(parse_policy(compose(policy, "Again."), "b.toml")) == digest(policy)
    assert main(["query", str(data), "-c", "SELECT COUNT(*) FROM patients"]) == 0


def test_thousands_are_not_taken_for_fractions(tmp_path: Path) -> None:
    """Whose files say 1.234,50 may mean five thousand by 5.000."""
    (tmp_path / "kunden").mkdir()
    lines = "".join(f"{i};{i % 3}.{i:03},50\n" for i in range(200))
    (tmp_path / "kunden" / "kunden.csv").write_text("Kundennr;Umsatz\n" + lines)
    done = answer(tmp_path / "kunden", *[""] * 4, *[""] * 5, "", "0 5.000")
    assert "without thousands separators" in done.stderr
    assert answer(tmp_path / "kunden", *[""] * 4, *[""] * 5, "", "0 5000", "").returncode == 0
    assert 'Umsatz = { type = "DOUBLE", range = [0, 5000] }' in (tmp_path / "kunden.toml").read_text()


def test_a_table_of_many_columns_is_asked_about_in_groups(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers, texts = (
        ", ".join(f"{each}{i} {kind}" for i in range(60)) for each, kind in (("n", "INT"), ("t", "TEXT"))
    )
    with contextlib.closing(duckdb.connect(str(tmp_path / "census.duckdb"))) as connection:
        connection.execute(f"CREATE TABLE people (person_id INT PRIMARY KEY, {numbers}, {texts}, born DATE)")
    answers = [*[""] * 10, "yes", "no", "a, b", "skip", "yes"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n".join([*answers, ""]).encode())))
    assert main(["init", str(tmp_path / "census.duckdb")]) == 0
    said = capsys.readouterr().out
    assert "the 60 numbers of people: find their ranges privately?" in said
    assert "the 60 texts of people: list no values?" in said
    columns = load_policy(tmp_path / "census.toml").tables[0].columns
    assert len(columns) == 121
    assert [(column.name, column.values) for column in columns if column.values] == [("t0", ("a", "b"))]
    assert said.count("]: ") <= 16
