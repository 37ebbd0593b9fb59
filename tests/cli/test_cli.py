"""The command line as people and scripts meet it: what is said, exit codes, and nothing lost.

Processes, signals, and files that several have open are real; what any command says is asked for in this one.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from terminals import Terminal

from dpsql.answer import Answer
from dpsql.cli import main
from dpsql.cli.command_list import spelled_out
from dpsql.cli.shared_arguments import value_of
from dpsql.render import box, digits
from dpsql.render.formats import to_csv, to_json, to_parquet, with_margins
from dpsql.session.checks import parse_policy

COUNT = "SELECT COUNT(*) AS n FROM patients"
BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM patients GROUP BY ward"

POLICY = """\
[budget]
epsilon = 20.0
delta = 1e-6

[query]
epsilon = 0.5
max_epsilon = 2.0

[analysts.ana]
epsilon = 8.0

[analysts.bob]
epsilon = 8.0

[unit]
name = "patient"
table = "patients"
key = "patient_id"

[tables.patients.columns]
age = { range = [0, 120] }
ward = { values = ["A", "B"] }
city = {}

[tables.visits]
unit = { column = "patient_id" }
rows_per_unit = 10

[tables.visits.columns]
cost = { range = [0, 500] }

[tables.calls]
unit = { column = "patient_id" }

[tables.places]
public = true
key = "place_id"
"""

DATA = """
CREATE TABLE patients (patient_id INTEGER PRIMARY KEY, age INTEGER, ward VARCHAR NOT NULL, city VARCHAR);
INSERT INTO patients
    SELECT i, 20 + i % 60, ['A', 'B'][1 + i % 2], CASE WHEN i % 3 > 0 THEN 'rome' ELSE 'oslo' END
    FROM range(1, 3001) AS t(i);
CREATE TABLE visits AS SELECT 1 + i % 3000 AS patient_id, (i % 700)::DOUBLE AS cost FROM range(30000) AS t(i);
CREATE TABLE calls AS SELECT patient_id FROM patients;
CREATE TABLE places AS SELECT i AS place_id, 'town ' || i AS town FROM range(20) AS t(i);
"""


class Clinic:
    """A folder with a database and a policy; every test has a ledger of its own."""

    def __init__(self, folder: Path, ledger: Path) -> None:
        self.folder, self.ledger = folder, ledger
        self.database = folder / "clinic.duckdb"

    def run(self, command: str, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
        return dpsql(*command.split(), str(self.database), "--ledger", str(self.ledger), *arguments, **more)

    def query(self, sql: str, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
        return self.run("query", "-c", sql, *arguments, **more)

    def spent(self) -> list[str]:
        """The SQL of every debit, read straight from the file."""
        with contextlib.closing(sqlite3.connect(self.ledger)) as connection:
            entries = [json.loads(text) for (text,) in connection.execute("SELECT entry FROM entries")]
        return [each["sql"] for each in entries if each["kind"] == "debit"]


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    return kept | {"PYTHONUTF8": "1"} | more


def dpsql(*arguments: str, input: str = "", fresh: bool = False) -> subprocess.CompletedProcess[str]:
    """What a command says and how it ends: in a process of its own where ``fresh``, else in this one."""
    if fresh:
        command = [sys.executable, "-m", "dpsql.cli", *arguments]
        return subprocess.run(
            command, input=input, capture_output=True, text=True, timeout=300, env=environment(), check=False
        )
    given, out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(3))
    given.write(input)
    given.seek(0)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("NO_COLOR", "COLUMNS"):
            patch.delenv(name, raising=False)
        for name, stream in (("stdin", given), ("stdout", out), ("stderr", err)):
            patch.setattr(sys, name, stream)
        code = main(arguments)
    for stream in (out, err):
        stream.seek(0)
    return subprocess.CompletedProcess(arguments, code, out.read(), err.read())


def refused(result: subprocess.CompletedProcess[str], code: str, exit_code: int = 1) -> str:
    """One coded error on standard error, nothing on standard output."""
    assert result.returncode == exit_code, result
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert re.findall(r"error\[(\w+)\]", result.stderr) == [code], result.stderr
    return result.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("clinic")
    with contextlib.closing(duckdb.connect(str(made / "clinic.duckdb"))) as connection:
        connection.execute(DATA)
    (made / "clinic.toml").write_text(POLICY)
    return made


@pytest.fixture
def clinic(folder: Path, tmp_path: Path) -> Clinic:
    return Clinic(folder, tmp_path / "clinic.ledger")


# ---- answers -----------------------------------------------------------------------------------------


def test_version() -> None:
    from dpsql import __version__

    result = dpsql("--version", fresh=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"dpsql {__version__}\n", "")


def test_an_answer_has_margins_a_price_and_what_remains_and_a_repeat_is_free(clinic: Clinic) -> None:
    first = clinic.query(BY_WARD, fresh=True)
    assert first.returncode == 0
    assert re.match(r"^created the ledger .*clinic\.ledger", first.stderr)
    assert first.stderr.count("\n") == 1
    assert re.search(r"│ A    │ 1[45]\d\d ± \d\d │ \d\d\.\d ± \d\.\d │", first.stdout), first.stdout
    assert re.search(r"^cost epsilon 0\.5, remaining 19\.5$", first.stdout, re.M)
    again = clinic.query(BY_WARD, fresh=True)
    assert again.stderr == ""
    assert again.stdout.split("\n")[:-2] == first.stdout.split("\n")[:-2]
    assert "repeated: served from the ledger, free; remaining 19.5" in again.stdout
    assert clinic.spent() == [BY_WARD]


def test_formats_hold_every_digit_of_one_answer(clinic: Clinic, tmp_path: Path) -> None:
    found = json.loads(clinic.query(BY_WARD, "--format", "json").stdout)
    assert [each["name"] for each in found["columns"]] == ["ward", "n", "age"]
    assert (found["cost"], found["repeated"]) == (0.5, False)
    assert [[type(each) for each in row] for row in found["rows"]] == [[str, int, float]] * 2
    assert [[type(each) for each in row] for row in found["margins"]] == [[type(None), float, float]] * 2

    plain = clinic.query(BY_WARD, "--format", "csv")
    assert list(csv.reader(plain.stdout.splitlines()))[1] == ["A", *map(str, found["rows"][0][1:])]
    assert plain.stderr == "repeated: served from the ledger, free; remaining 19.5\n"
    wide = clinic.query(BY_WARD, "--format", "csv", "--margins")
    assert wide.stdout.splitlines()[0] == "ward,n,n_margin,age,age_margin"

    file = tmp_path / "answer.parquet"
    result = clinic.query(BY_WARD, "--format", "parquet", "-o", str(file))
    assert (result.returncode, result.stdout) == (0, "")
    assert duckdb.connect().sql(f"SELECT * FROM '{file}'").fetchall() == [tuple(row) for row in found["rows"]]
    assert clinic.spent() == [BY_WARD]


def test_sql_from_standard_input_with_parameters(clinic: Clinic) -> None:
    sql = "SELECT COUNT(*) AS n FROM patients WHERE age > ? AND city = ?"
    result = clinic.run("query", "--param", "30", "--param", "oslo", "--format", "csv", input=sql)
    assert result.returncode == 0
    assert 600 < int(result.stdout.split()[1]) < 1000  # 1000 live in Oslo, five in six are older
    assert clinic.run("query", "-c", "-", "--epsilon", "1", input=COUNT).returncode == 0


def test_a_table_goes_to_a_file(clinic: Clinic, tmp_path: Path) -> None:
    file = tmp_path / "answer.txt"
    result = clinic.query(COUNT, "-o", str(file))
    assert (result.returncode, result.stdout) == (0, "")
    assert "±" in file.read_text()


def test_what_the_plan_has_to_say_is_printed(clinic: Clinic) -> None:
    result = clinic.query("SELECT city, COUNT(*) FROM patients WHERE age = 20 AND age = 21 GROUP BY city")
    assert "(0 rows)" in result.stdout
    assert "A group is shown when its noisy number of units reaches" in result.stdout


def test_public_data_is_free_and_exact(clinic: Clinic) -> None:
    result = clinic.query("SELECT town FROM places ORDER BY place_id LIMIT 1")
    assert "town 0" in result.stdout
    assert "free: only public data was read; remaining 20" in result.stdout


def test_explain_costs_nothing_and_refuses_as_query_does(clinic: Clinic) -> None:
    text = clinic.run("explain", "-c", BY_WARD)
    assert text.returncode == 0
    for word in ("price     epsilon 0.5", "keys", "noise", "± ", "clinic.toml:21", "SELECT"):
        assert word in text.stdout
    facts = json.loads(clinic.run("explain", "-c", BY_WARD, "--format", "json").stdout)
    assert facts["price"] == 0.5
    nosy = "SELECT age FROM patients"
    assert refused(clinic.run("explain", "-c", nosy), "D402") == refused(clinic.query(nosy), "D402")
    assert clinic.spent() == []


def test_no_explanation_steers_a_terminal(clinic: Clinic) -> None:
    """The SQL that would run holds names and texts of the query, and those of the data."""
    said = clinic.run("explain", "-c", "SELECT '\x1b[2J\u202e' AS \"\x1b]0;x\x07\", COUNT(*) FROM patients")
    assert said.stdout.replace("\n", "").isprintable()
    assert "\\x1b[2J" in said.stdout


def test_no_analysts_query_steers_the_owners_terminal(clinic: Clinic) -> None:
    clinic.query('SELECT COUNT(*) AS "\x1b]0;x\x07\u202e" FROM patients', "--analyst", "ana")
    said = clinic.run("budget")
    assert said.stdout.replace("\n", "").isprintable()
    assert "\\x1b]0;x" in said.stdout


def test_the_budget_tells_who_spent_what(clinic: Clinic) -> None:
    clinic.query(COUNT, "--analyst", "ana")
    clinic.query(BY_WARD, "--analyst", "bob", "--epsilon", "1")
    told = json.loads(clinic.run("budget", "--format", "json").stdout)
    assert [each["sql"] for each in told["purchases"]] == [COUNT, BY_WARD]
    assert [(each["analyst"], each["epsilon"]) for each in told["purchases"]] == [("ana", 0.5), ("bob", 1.0)]
    assert [each["analyst"] for each in told["analysts"]] == ["ana", "bob"]
    assert 0 < told["spent"] < 1.5
    own = json.loads(clinic.run("budget", "--format", "json", "--analyst", "bob").stdout)
    assert [each["sql"] for each in own["purchases"]] == [BY_WARD]
    assert [each["analyst"] for each in own["analysts"]] == ["bob"]
    table = clinic.run("budget").stdout
    assert "│ database │" in table
    assert COUNT in table
    assert max(map(len, table.split("\n"))) <= 80


# ---- the owner ---------------------------------------------------------------------------------------


def test_policy_draft_and_check_touch_nothing(folder: Path) -> None:
    drafted = dpsql("policy", "draft", str(folder / "clinic.duckdb"))
    assert drafted.returncode == 0
    assert parse_policy(drafted.stdout, "draft.toml").unit.table == "patients"
    checked = dpsql("policy", "check", str(folder / "clinic.duckdb"))
    assert checked.returncode == 0
    for line in (
        "ok: clinic.toml holds for clinic.duckdb",
        "unit      patient: patients.patient_id, protected with all rows in patients, visits, calls",
        "  groups  ward",
        "  sums    age [0, 120]",
        "found     rows_per_unit of calls, by the first query that needs it",
        "public    places: 20 rows",
    ):
        assert line in checked.stdout.split("\n")
    assert {each.name for each in folder.iterdir()} == {"clinic.duckdb", "clinic.toml"}


@pytest.mark.parametrize(
    ("change", "code", "line"),
    [
        (("rows_per_unit = 10", "rows_per_unit = ten"), "D801", 27),
        (("rows_per_unit = 10", "rows_per_units = 10"), "D802", 27),
        (("range = [0, 120]", "range = [120, 0]"), "D803", 21),
        (("[tables.calls]", "[tables.phones]"), "D804", 32),
        (("rows_per_unit = 10", 'key = "patient_id"'), "D805", 27),
        (('unit = { column = "patient_id" }\nrows', 'unit = { column = "cost" }\nrows'), "D806", 26),
    ],
)
def test_a_broken_policy_is_refused_with_its_line(
    clinic: Clinic, tmp_path: Path, change: tuple[str, str], code: str, line: int
) -> None:
    policy = tmp_path / "broken.toml"
    policy.write_text(POLICY.replace(*change))
    said = refused(dpsql("policy", "check", str(clinic.database), str(policy)), code)
    assert f"--> broken.toml:{line}:" in said
    assert said == refused(clinic.query(COUNT, "--policy", str(policy)), code)


# ---- refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("dance",),
        ("query", "x.duckdb", "--format", "parquet", "-c", COUNT),
        ("query", "x", "--epsilon", "a"),
    ],
)
def test_wrong_usage_is_two(arguments: tuple[str, ...]) -> None:
    result = dpsql(*arguments, fresh=True)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("usage: dpsql")


@pytest.mark.parametrize(
    ("sql", "arguments", "code"),
    [
        ("SELEKT 1", (), "D101"),
        ("", (), "D101"),
        ("SELECT 1; SELECT 2", (), "D102"),
        ("DROP TABLE patients", (), "D104"),
        ("SELECT COUNT(*) FROM patients WHERE age > ?", (), "D106"),
        (COUNT, ("--epsilon", "2.5"), "D502"),
        (COUNT, ("--epsilon", "nan"), "D503"),
        (COUNT, ("--epsilon", "-1"), "D503"),
        (COUNT, ("--analyst", "eve"), "D504"),
        (COUNT, ("--policy", "nowhere.toml"), "D807"),
        (COUNT, ("-o", "/nowhere/at/all"), "D001"),
        (COUNT, ("-o", f"/tmp/{'a' * 300}.csv"), "D001"),
    ],
)
def test_bad_input_is_refused_with_one_coded_error(
    clinic: Clinic, sql: str, arguments: tuple[str, ...], code: str
) -> None:
    result = clinic.query(sql, *arguments)
    created = result.stderr.startswith("created")  # asking is what opens the ledger, whatever was asked
    if created:
        result.stderr = result.stderr.split("\n", 1)[1]
    refused(result, code)
    assert not clinic.ledger.exists() or clinic.spent() == []


def test_a_used_up_budget_is_three_and_repeats_stay_free(clinic: Clinic, tmp_path: Path) -> None:
    policy = tmp_path / "poor.toml"
    policy.write_text(POLICY.replace("epsilon = 8.0", "epsilon = 0.6"))
    poor = ("--policy", str(policy), "--analyst", "ana")
    assert clinic.query(COUNT, *poor, fresh=True).returncode == 0
    refused(clinic.query(BY_WARD, *poor, "--epsilon", "0.6", fresh=True), "D501", 3)
    assert clinic.query(COUNT, *poor, fresh=True).returncode == 0
    assert clinic.spent() == [COUNT]


def test_files_that_are_not_databases(folder: Path, tmp_path: Path) -> None:
    odd = tmp_path / "odd.duckdb"
    odd.write_text("not a database at all")
    for file in (tmp_path / "none.duckdb", odd, tmp_path):
        refused(dpsql("query", str(file), "--policy", str(folder / "clinic.toml"), "-c", COUNT), "D602")
    assert [each.name for each in tmp_path.iterdir()] == ["odd.duckdb"]


def test_a_database_that_somebody_writes_to(clinic: Clinic, tmp_path: Path) -> None:
    database = tmp_path / "busy.duckdb"
    with contextlib.closing(duckdb.connect(str(database))):
        policy = str(clinic.folder / "clinic.toml")
        result = dpsql("query", str(database), "--policy", policy, "-c", COUNT, fresh=True)
    assert "in use" in refused(result, "D602")
    assert not (tmp_path / "busy.ledger").exists()


def test_a_damaged_ledger_is_refused_and_left_alone(clinic: Clinic) -> None:
    clinic.query(COUNT)
    with contextlib.closing(sqlite3.connect(clinic.ledger)) as connection:
        connection.execute("UPDATE entries SET entry = replace(entry, '0.5', '0.1')")
        connection.commit()
    before = clinic.ledger.read_bytes()
    refused(clinic.query(BY_WARD, fresh=True), "D506")
    refused(clinic.run("budget"), "D506")
    assert clinic.ledger.read_bytes() == before


def test_a_locked_ledger_is_waited_for_and_then_refused(clinic: Clinic) -> None:
    clinic.query(COUNT)
    with contextlib.closing(sqlite3.connect(clinic.ledger, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        refused(clinic.query(BY_WARD, fresh=True), "D507")
        connection.execute("ROLLBACK")
    assert clinic.query(BY_WARD).returncode == 0
    assert clinic.spent() == [COUNT, BY_WARD]


def test_another_databases_ledger(clinic: Clinic, tmp_path: Path) -> None:
    clinic.query(COUNT)
    other = tmp_path / "other.duckdb"
    with contextlib.closing(duckdb.connect(str(other))) as connection:
        connection.execute(DATA)
    arguments = ("--policy", str(clinic.folder / "clinic.toml"), "--ledger", str(clinic.ledger), "-c", COUNT)
    refused(dpsql("query", str(other), *arguments), "D505")
    assert clinic.spent() == [COUNT]


def test_our_own_errors_show_neither_data_nor_a_traceback(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*arguments: object) -> object:
        raise RuntimeError("patient 4711 is ill")

    monkeypatch.setattr("dpsql.cli.shared_arguments.connect", broken)
    assert main(["query", str(clinic.database), "-c", COUNT]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error[D901]: an error of dpsql's own (RuntimeError)")
    assert "4711" not in err


# ---- endings -----------------------------------------------------------------------------------------


def started(clinic: Clinic, sql: str, **more: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "dpsql.cli", "query", str(clinic.database), "-c", sql]
    command += ["--ledger", str(clinic.ledger)]
    return subprocess.Popen(  # type: ignore[call-overload,no-any-return]  # options
        command, stderr=subprocess.PIPE, text=True, env=environment(), **more
    )


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_ctrl_c_says_that_what_was_paid_stays_paid(clinic: Clinic) -> None:
    clinic.run("budget")
    slow = (  # every visit 8,000 times, and much to do each time: minutes of work on any machine
        "SELECT COUNT(*) FROM visits, places a, places b, places c "
        "WHERE damerau_levenshtein(a.town || c.town || cost, b.town || c.town || b.town) > 3"
    )
    process = started(clinic, slow, stdout=subprocess.PIPE)
    until(clinic.spent)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (130, "")
    assert err.startswith("stopped: what was paid stays paid")
    assert err.count("\n") == 1
    assert clinic.spent() == [slow]
    told = json.loads(clinic.run("budget", "--format", "json").stdout)
    assert [each["answered"] for each in told["purchases"]] == [False]


def test_a_reader_who_leaves_is_no_error(clinic: Clinic) -> None:
    read, write = os.pipe()
    process = started(clinic, COUNT, stdout=write)
    os.close(write)
    os.close(read)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 141
    assert err.count("\n") == 1
    assert err.startswith("created the ledger")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_an_answer_that_cannot_be_written_is_not_lost(clinic: Clinic) -> None:
    clinic.run("budget")
    with open("/dev/full", "w") as full:
        process = started(clinic, COUNT, stdout=full)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 1
    assert err.startswith("error[D001]: the answer could not be written")
    assert "repeated: served from the ledger, free" in clinic.query(COUNT).stdout


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colour_is_for_terminals_that_want_it(clinic: Clinic, no_color: str, coloured: bool) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "dpsql.cli",
        "explain",
        str(clinic.database),
        "-c",
        "SELECT x FROM patients",
    ]
    subprocess.run(
        [*command, "--ledger", str(clinic.ledger)],
        stdin=subprocess.DEVNULL,
        stderr=theirs,
        env=environment(NO_COLOR=no_color, TERM="xterm"),
        timeout=300,
        check=False,
    )
    os.close(theirs)
    said = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "D202" in said
    assert ("\x1b[31m" in said) is coloured


# ---- the demo ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shown(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("demo") / "kept"
    return folder, dpsql("demo", "--dir", str(folder))


def test_the_demo_shows_answers_a_refusal_and_the_budget(
    shown: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, result = shown
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.count("cost epsilon") >= 5
    assert len(re.findall(r"│[^\n]*±[^\n]*│\n└", result.stdout)) >= 4
    assert "repeated: served from the ledger, free" in result.stdout
    assert re.search(r"error\[D403\].*\n --> query:1:8\n.*\n.*\n  \| +\^+", result.stdout)
    assert "A group is shown when" in result.stdout
    assert "expected within" in result.stdout
    assert re.search(r"│ database +│ +5 │", result.stdout)
    assert "\x1b" not in result.stdout
    wide = [each for each in result.stdout.split("\n") if len(each) > 80 and str(folder) not in each]
    assert all(each.startswith("  = help: ") for each in wide), wide
    assert {each.name for each in folder.iterdir()} == {
        "clinic.duckdb",
        "clinic.toml",
        "clinic.ledger",
        "clinic.ledger-journal",
        "clinic.ledger-queue",
    }


def test_the_demo_does_not_overwrite(shown: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    refused(dpsql("demo", "--dir", str(shown[0])), "D001")


def test_without_a_terminal_the_demo_leaves_nothing_behind(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "dpsql.cli", "demo"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        cwd=tmp_path,
        env=environment(TMPDIR=str(tmp_path)),
        timeout=300,
        check=False,
    )
    assert result.returncode == 0
    assert list(tmp_path.iterdir()) == []


# ---- values ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "margin", "whole", "shown"),
    [
        (4422, 24.3, True, ("4422", "25")),
        (12, 8.2, True, ("12", "9")),
        (8_123_456, 1_888_844.2, True, ("8100000", "1900000")),
        (49.76285, 0.3299, False, ("49.76", "0.33")),
        (-0.001, 0.5, False, ("0.00", "0.50")),
        (0.5, 0.0996, False, ("0.500", "0.100")),
        (Decimal("12345678901234567890123456789.99"), 150.0, False, ("12345678901234567890123456790", "150")),
        (3, 0.1, True, ("3", "1")),
    ],
)
def test_values_have_the_digits_that_the_noise_leaves(
    value: int | float | Decimal, margin: float, whole: bool, shown: tuple[str, str]
) -> None:
    assert digits.rounded(value, margin, whole) == shown


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("65", 65), ("-5", -5), ("1.5", 1.5), ("1e3", 1000.0), ("TRUE", True), ("null", None),
        ("rome", "rome"), ("'65'", "65"), ("'it''s'", "it's"), ("", ""), ("2024-01-01", "2024-01-01"),
        ("1_000", "1_000"), ("\N{ARABIC-INDIC DIGIT THREE}", "\N{ARABIC-INDIC DIGIT THREE}"),
    ],
)  # fmt: skip
def test_parameters(text: str, value: object) -> None:
    found = value_of(text)
    assert (type(found), found) == (type(value), value)


ODD = Answer(
    ("a", "a", 'b "x"', "c", "d"),
    ("DOUBLE", "DECIMAL(38,2)", "VARCHAR", "HUGEINT", "DATE"),
    [
        (float("nan"), Decimal("123456789012345678901234567890.12"), 'x\x1b[31m\ny, "z"', 2**70, None),
        (120.0, None, "", None, None),
    ],
    [(1.5, None, None, None, None), (None, None, None, None, None)],
    0.5,
    1.0,
)


def test_odd_values_in_every_format(tmp_path: Path) -> None:
    table = box.answer_text(ODD)
    assert "\x1b" not in table
    assert "x\\x1b[31m\\ny" in table
    assert "120 ± ?" in table
    assert "± ?: nobody can say how far off this value may be." in table
    found = json.loads(to_json(ODD), parse_float=str)
    assert found["rows"][0] == ["nan", "123456789012345678901234567890.12", ODD.rows[0][2], 2**70, None]
    rows = list(csv.reader(to_csv(with_margins(ODD)).splitlines(keepends=True)))
    assert rows[0] == ["a", "a_margin", "a", 'b "x"', "c", "d"]
    assert rows[1][3] == ODD.rows[0][2]
    assert to_csv(ODD).endswith('120.0,,"",,\n')
    (tmp_path / "odd.parquet").write_bytes(to_parquet(ODD))
    kept = duckdb.connect().sql(f"SELECT * FROM '{tmp_path}/odd.parquet'")
    assert kept.columns == ["a", "a_1", 'b "x"', "c", "d"]
    assert kept.fetchall()[0][1:] == (ODD.rows[0][1], ODD.rows[0][2], 2**70, None)


def test_the_demo_opens_the_shell_where_somebody_sits(tmp_path: Path) -> None:
    terminal = Terminal("demo", "--dir", str(tmp_path / "clinic"))
    terminal.after("And here is the shell")
    terminal.type("\\d wards\n")
    terminal.after("beds")
    terminal.type("\\q\n")
    assert terminal.end() == 0, terminal.screen


# ---- a database in the place of a command ------------------------------------------------------------


def test_a_database_alone_opens_the_shell(clinic: Clinic) -> None:
    said = dpsql(str(clinic.database), "--ledger", str(clinic.ledger), input="\\d places\n")
    assert said.returncode == 0, said
    assert "place_id" in said.stdout
    refused(dpsql("nowhere.duckdb"), "D602")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ([], []),
        (["query", "x.duckdb"], ["query", "x.duckdb"]),
        (["--help"], ["--help"]),
        (["x.duckdb", "--analyst", "a"], ["shell", "x.duckdb", "--analyst", "a"]),
        (["data/"], ["shell", "data/"]),
        (["querry"], ["querry"]),
        (["x.duckdb", "--analyst", "a", "SELECT 1"], ["shell", "x.duckdb", "--analyst", "a", "SELECT 1"]),
        (["-c", "SELECT 1", "x.duckdb"], ["shell", "-c", "SELECT 1", "x.duckdb"]),
        (["x.duckdb", "SELECT 1", "--format", "csv"], ["query", "x.duckdb", "SELECT 1", "--format", "csv"]),
    ],
)
def test_what_a_first_word_means(words: list[str], meant: list[str]) -> None:
    assert spelled_out(words) == meant


def test_sql_behind_the_database_is_answered(clinic: Clinic) -> None:
    database, ledger = str(clinic.database), ("--ledger", str(clinic.ledger))
    answered = [
        dpsql(database, *ledger, "SELECT 6 * 7 AS n"),
        dpsql(database, "SELECT 6 * 7 AS n", *ledger),
        dpsql("-c", "SELECT 6 * 7 AS n", database, *ledger),
        dpsql("query", database, *ledger, "SELECT 6 * 7 AS n"),
        dpsql("query", database, "SELECT 6 * 7 AS n", *ledger),
    ]
    assert len({each.stdout for each in answered}) == 1
    assert "│ 42 │" in answered[0].stdout
    assert {each.returncode for each in answered} == {0}

    assert dpsql(database, "SELECT 6 * 7 AS n", *ledger, "--format", "csv").stdout == "n\n42\n"
    assert "place_id" in dpsql(database, "\\d places", *ledger).stdout
    several = dpsql(database, *ledger, "SELECT 1 AS one; SELECT nothing; SELECT 2 AS two")
    assert "│ one │" in several.stdout
    assert "│ two │" in several.stdout
    assert several.returncode == 1
    assert several.stderr.startswith("error[D202]")

    for words in ((database, "SELECT 1", "-c", "SELECT 2"), ("SELECT 1",), (database, "SELECT 1", "2")):
        wrong = dpsql(*words)
        assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "unrecognized arguments: 2 (SQL stands in quotes)" in wrong.stderr


def test_a_folder_that_is_there_is_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "query").mkdir()
    assert spelled_out(["data"]) == ["shell", "data"]
    assert spelled_out(["query"]) == ["query"]  # ./query is the folder
