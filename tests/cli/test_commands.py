"""The shell's backslash commands, as they are typed into a real session on a real database."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import duckdb
import pytest
from drivers.endless import ENDLESS

import dpsql
from dpsql.cli import main
from dpsql.errors import CODES
from dpsql.render.digits import wide
from dpsql.shell.commands import COMMANDS, command, translate
from dpsql.shell.commands.help_text import help_text
from dpsql.shell.loop import read
from dpsql.shell.settings import SETTINGS
from dpsql.shell.state import Shell
from dpsql.terminal.new_files import new_file

BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM patients GROUP BY ward"

Said: TypeAlias = Callable[[str], str]


@pytest.fixture
def shell(clinic: Path) -> Iterator[Shell]:
    with dpsql.connect(clinic, analyst="ana") as db:
        made = Shell(db)
        made.read = lambda text, name: read(made, text.splitlines(keepends=True), name)
        yield made


@pytest.fixture
def say(shell: Shell, capsys: pytest.CaptureFixture[str]) -> Said:
    """Types lines; gives what came out, answers and words beside them."""

    def typed(text: str) -> str:
        shell.read(text, "typed")
        shown = capsys.readouterr()
        return shown.out + shown.err

    return typed


def fits(text: str) -> bool:
    return all(wide(line) <= 80 for line in text.split("\n"))


# ---- \d ----------------------------------------------------------------------------------------------


def test_d_lists_tables_and_the_sizes_of_public_ones_alone(say: Said) -> None:
    shown = say("\\d")
    rows = [line.split("│")[1:-1] for line in shown.split("\n") if line.startswith("│")]
    cells = {row[0].strip(): [each.strip() for each in row[1:]] for row in rows}
    assert cells["patients"] == ["private, by patient_id", "1", ""]
    assert cells["visits"] == ["private, by patient_id", "clipped from 5", ""]
    assert cells["wards"] == ["public", "", "3 rows"]
    assert fits(shown)


def test_d_says_the_same_of_neighbours(
    clinics: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Patient 1 with 3,000 visits is in one database and not in the other."""
    said = []
    for name in ("clinic", "neighbour", "empty"):
        with dpsql.connect(clinics / name / "clinic.duckdb", ledger=tmp_path / f"{name}.ledger") as db:
            shell = Shell(db)
            for line in ("\\d", "\\d patients", "\\d visits", "\\d drugs", f"\\price {BY_WARD}", "\\set"):
                read(shell, [line], "typed")
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] == said[2]


def test_d_of_a_table_tells_types_ranges_and_where_they_stand(say: Said, clinic: Path) -> None:
    policy = clinic.with_suffix(".toml").read_text().split("\n")
    shown = say("\\d patients")
    assert fits(shown)
    assert shown.startswith("patients: private, by patient_id; one row per patient; key patient_id\n")
    rows = {
        cells[0]: cells[1:]
        for line in shown.split("\n")
        if line.startswith("│") and (cells := [each.strip() for each in line.split("│")[1:-1]])
    }
    line = 1 + policy.index("age = { range = [0, 120] }")
    assert rows["age"] == ["INTEGER", "", "0 to 120", f"policy:{line}"]
    assert rows["patient_id"][2] == "the patient: never shown"
    assert rows["ward"][:3] == ["VARCHAR", "no", "A, B, C"]
    assert rows["smoker"][2] == "false, true"
    assert rows["score"][2] == "no range declared"


def test_d_tells_a_found_range_from_a_declared_one(say: Said) -> None:
    say("SELECT OPTIONS(epsilon = 5) SUM(score) FROM patients;")
    (line,) = [each for each in say("\\d patients").split("\n") if "score" in each]
    assert " to " in line
    assert "found" in line


def test_d_tells_the_owners_words(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = clinic.with_suffix(".toml")
    said = 'range = [0, 120], comment = "in whole years" }'
    policy.write_text(policy.read_text().replace("range = [0, 120] }", said))
    with dpsql.connect(clinic, analyst="ana") as db:
        read(Shell(db), ["\\d patients"], "typed")
    shown = capsys.readouterr().out
    assert fits(shown)
    assert "in whole years" in shown
    assert "0 to 120" in shown


def test_d_guesses_the_table_that_was_meant(say: Said) -> None:
    assert "did you mean patients?" in say("\\d pateints")
    assert say('\\d "wards";') == say("\\d WARDS")
    assert "wards: public; 3 rows; key ward" in say("\\d wards")


def test_d_of_a_pattern_lists_what_is_like_it(say: Said) -> None:
    shown = say("\\dt *I*s")
    assert "patients" in shown
    assert "visits" in shown
    assert "wards" not in shown
    assert "there is no table z*" in say("\\d z*")


def test_d_shows_long_lists_in_few_lines_and_views(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = ", ".join(f'"value number {i}"' for i in range(300))
    policy = clinic.with_suffix(".toml")
    text = policy.read_text().replace(
        'kind = { values = ["checkup", "surgery"] }', f"kind = {{ values = [{values}] }}"
    )
    policy.write_text(text + '[views.old]\nsql = "SELECT age, ward FROM patients WHERE age > 80"\n')
    with dpsql.connect(clinic) as db:
        shell = Shell(db)
        read(shell, ["\\d visits\n", "\\d old\n", "\\d\n"], "typed")
    shown = capsys.readouterr().out
    assert fits(shown)
    assert "... 300 in all" in shown
    assert "old: a view: rows of patients" in shown
    assert "81 to 120" in shown


def test_names_and_values_cannot_steer_the_terminal(
    clinic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with duckdb.connect(str(clinic)) as connection:
        connection.execute('CREATE TABLE "red\x1b[31m" ("a\x1b]0;title\x07" VARCHAR, "寬寬寬" INTEGER)')
        connection.execute(
            "INSERT INTO \"red\x1b[31m\" VALUES ('\x1b[2J', 1), (NULL, NULL), ('two\nlines', 2)"
        )
    with clinic.with_suffix(".toml").open("a") as policy:
        policy.write('[tables."red\\u001b[31m"]\npublic = true\n')
    with dpsql.connect(clinic) as db:
        shell = Shell(db)
        table = '"red\x1b[31m"'
        lines = ["\\d", f"\\d {table}", f"SELECT * FROM {table};", "\\plot", "\\plot \x1b[31m", "\\\x1b[31m"]
        lines += [
            f"\\price SELECT * FROM {table};",
            "\\o \x1b[31m.csv",
            "\\o",
            "\\budget",
            "\\i \x1b[31m",
            "\\set \x1b x",
        ]
        lines += ["\\set format \x1b", "\\d nothing\x1b[31m", "\\why \x1b"]
        for line in lines:
            read(shell, [line], "typed")
    shown = capsys.readouterr()
    steering = re.findall(r"[^\n]*[\x00-\x09\x0b-\x1f\x7f-\x9f][^\n]*", shown.out + shown.err)
    assert steering == []
    assert "\\x1b[31m" in shown.out


# ---- \price, \explain, \budget -----------------------------------------------------------------------


def test_price_tells_what_it_would_cost_and_the_error_at_three_prices(say: Said, shell: Shell) -> None:
    shown = say(f"\\price {BY_WARD};")
    assert fits(shown)
    assert "costs epsilon 1, " in shown
    head, n, age, after = (
        [each.strip() for each in line.split("│")[1:-1]] for line in shown.split("\n") if line.startswith("│")
    )
    assert head == ["at epsilon", "0.5", "1", "2"]
    count = [each.error for e in (0.5, 1, 2) for each in shell.db.price(BY_WARD, epsilon=e).expected[:1]]
    assert n == ["n", *(f"± {each:.0f}" for each in count)]
    assert age[0] == "age, over 1,000 rows"
    assert after[0] == "remaining after"
    assert shell.db.budget.spent == 0, "a price is told for nothing"


def test_price_of_the_last_query_is_free(say: Said) -> None:
    assert "there is no last query yet" in say("\\price")
    say(BY_WARD + ";")
    assert say("\\price").startswith("free: a repeat, served from the ledger; remaining ")


def test_price_says_what_a_group_needs_and_what_the_budget_cannot_hold(say: Said) -> None:
    say("SET epsilon = 15;")
    shown = say("\\price SELECT city, COUNT(*) AS n FROM patients GROUP BY city")
    assert "patients that a group needs" in shown
    assert "│ at epsilon                  │ " in shown
    assert re.search(r"│ at epsilon +│ +7.5 │ +15 │\n", shown), "twice as much is above the ceiling"
    for value in range(40, 50):
        say(f"SELECT OPTIONS(epsilon = 20) COUNT(*) FROM patients WHERE age > {value};")
    say("SELECT COUNT(*) FROM patients WHERE age > 39;")
    shown = say("\\price SELECT COUNT(*) FROM patients")
    assert "costs epsilon 15: over budget, remaining " in shown
    assert re.search(r"│ remaining after +│ +[0-9.]+ │ over budget │", shown)


def test_a_query_that_says_its_price_is_asked_at_that(say: Said, shell: Shell) -> None:
    say("\\set epsilon 0.5")
    assert "cost epsilon 0.25," in say("SELECT OPTIONS(epsilon = 0.25) COUNT(*) FROM patients;")
    assert "cost epsilon 0.5," in say("SELECT COUNT(*) FROM patients;")
    assert "costs epsilon 0.75" in say("\\price SELECT OPTIONS(epsilon = 0.75) COUNT(*) FROM patients;")
    say("\\set epsilon default")
    assert shell.epsilon == 1.0


def test_explain_as_sql_is_the_same_text(say: Said) -> None:
    assert say(f"EXPLAIN {BY_WARD};") == say(f"\\explain {BY_WARD};")
    assert say(f"\\set format csv\nEXPLAIN {BY_WARD};").startswith("explain\nprice")
    assert "EXPLAIN ANALYZE is not answered" in say(f"\\set format table\nEXPLAIN ANALYZE {BY_WARD};")


def test_explain_wraps_and_explains_the_last(say: Said) -> None:
    assert "there is no last query yet" in say("\\explain")
    say("SELECT age FROM patients;")
    assert "D402" in say("\\explain")
    shown = say(f"\\explain {BY_WARD}")
    assert "price     epsilon 1 under zcdp" in shown
    assert fits("\n".join(line for line in shown.split("\n") if "SELECT" not in line))


def test_budget_is_the_accounts(say: Said) -> None:
    say("SELECT COUNT(*) FROM patients;")
    shown = say("\\budget")
    assert re.search(r"│ ana +│ +50 │", shown)
    assert "SELECT COUNT(*) FROM patients" in shown
    assert "bob" not in shown
    assert fits(shown)


def test_a_long_budget_shows_its_end_where_somebody_sits(say: Said, shell: Shell) -> None:
    asked = [f"SELECT COUNT(*) AS n{age} FROM patients WHERE age > {age};" for age in range(42)]
    say("SET epsilon = 0.01;" + "".join(asked))
    assert say("\\budget").count("SELECT COUNT") == 42
    shell.interactive = True
    shown = say("\\budget")
    assert "(42 purchases, the last 40 shown; dpsql budget --all shows all)" in shown
    assert shown.count("SELECT COUNT") == 40
    assert "n41" in shown


# ---- \why --------------------------------------------------------------------------------------------


def test_why_knows_every_code_and_the_last_refusal(say: Said) -> None:
    assert "nothing was refused yet" in say("\\why")
    say("SELECT age FROM patients;")
    assert say("\\why") == say("\\why D402") == say("\\why d402") == say("\\why 402")
    for code in CODES:
        shown = say(f"\\why {code}")
        assert shown.startswith(f"{code}: ")
        assert fits(shown)
    assert "did you mean D301?" in say("\\why D3001")


# ---- \set --------------------------------------------------------------------------------------------


def test_set_alone_lists_all_settings(say: Said) -> None:
    shown = say("\\set")
    assert fits(shown)
    assert [each.name for each in SETTINGS if f"│ {each.name} " not in shown] == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("\\set epsilon much", "write \\set epsilon 0.1"),
        ("\\set epsilon -1", "write \\set epsilon 0.1"),
        ("\\set epsilon 21", "at most 20"),
        ("SET epsilon = 21;", "at most 20"),
        ("\\set epsilon nan", "write \\set epsilon 0.1"),
        ("\\set confirm 2", "a share of what remains"),
        ("\\set timeout soon", "write seconds"),
        ("\\set format xml", "table, csv, json"),
        ("\\set margins perhaps", "write \\set margins on, or off"),
        ("\\set max_epsilon 50", "there is no setting max_epsilon"),
        ("\\set epsilon = ;", "epsilon cannot be empty"),
    ],
)
def test_bad_values_say_what_is_allowed_and_change_nothing(say: Said, line: str, said: str) -> None:
    before = say("\\set")
    assert said in say(line)
    assert say("\\set") == before


def test_a_setting_alone_is_told(say: Said) -> None:
    say("\\set confirm 0.5")
    assert say("\\set confirm") == say("SHOW confirm;") == say("\\pset confirm") == "confirm is 0.5\n"
    assert say("SHOW ALL;") == say("\\pset") == say("\\set")
    assert "there is no setting null" in say("\\pset null -")


def test_settings_leave_the_policy_as_it_is(say: Said, clinic: Path) -> None:
    before = clinic.with_suffix(".toml").read_bytes()
    for line in ("\\set epsilon 0.1", "\\set confirm off", "\\set timeout 5", "SET epsilon TO 0.2;"):
        say(line)
    assert clinic.with_suffix(".toml").read_bytes() == before
    assert "cost epsilon 0.2," in say("SELECT COUNT(*) FROM patients;")


def test_formats_of_the_screen(say: Said, shell: Shell) -> None:
    say("\\set format csv\n\\set margins on")
    out = say("SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward ORDER BY ward;")
    rows = list(csv.reader(out.split("\n")[:4]))
    assert rows[0] == ["ward", "n", "n_margin"]
    assert [row[0] for row in rows[1:]] == ["A", "B", "C"]
    say("\\set format json")
    shown = say("SELECT * FROM wards;")
    assert json.loads(shown[: shown.rindex("}") + 1])["rows"] == [["A", 1], ["B", 1], ["C", 2]]


def test_records_and_timing(say: Said) -> None:
    assert "expanded is on" in say("\\x")
    shown = say("SELECT * FROM wards;")
    assert shown.count("│ ward  │ ") == 3
    assert "(0 rows)" in say("SELECT * FROM wards WHERE floor > 9;")
    assert "expanded is off" in say("\\x")
    assert "timing is on" in say("\\timing")
    assert "timing is off" in say("\\timing off")


def test_a_time_limit_ends_a_query_and_not_the_session(say: Said) -> None:
    shown = say(f"\\set timeout 0.5\n{ENDLESS};\n\\set timeout 300\nSELECT COUNT(*) AS n FROM wards;\n")
    assert "error[D603]" in shown
    assert "nothing was paid" in shown
    assert "│ 3 │" in shown


# ---- \plot -------------------------------------------------------------------------------------------


def test_plot_draws_the_last_answer(say: Said) -> None:
    assert "there is no answer to plot yet" in say("\\plot")
    say(BY_WARD + ";")
    shown = say("\\plot")
    assert fits(shown)
    assert "n by ward" in shown
    assert "age by ward" in shown
    assert "±" in shown
    chosen = say("\\plot WARD, age")
    assert "age by ward" in chosen
    assert "n by ward" not in chosen


def test_plot_draws_into_a_new_file(say: Said, tmp_path: Path) -> None:
    say(BY_WARD + ";")
    file = tmp_path / "the wards.svg"
    assert f"wrote {file}" in say(f'\\plot ward n "{file}"')
    drawn = file.read_text()
    assert drawn.startswith("<svg ")
    assert "is not overwritten" in say(f'\\plot "{file}"')
    assert file.read_text() == drawn


def test_plot_says_which_columns_there_are(say: Said) -> None:
    say("SELECT ward, floor FROM wards;")
    assert "did you mean floor?" in say("\\plot ward flor")
    assert "it has ward, floor" in say("\\plot zzz")


# ---- \o and \i ---------------------------------------------------------------------------------------


def test_each_answer_goes_to_a_file_of_its_own(say: Said, tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    shown = say(
        f"\\o {file}\nSELECT * FROM wards;\nSELECT 1 AS x;\nSELECT age FROM patients;\n\\o\nSELECT 2 AS y;\n"
    )
    assert file.read_text() == "ward,floor\nA,1\nB,1\nC,2\n"
    assert (tmp_path / "out-2.csv").read_text() == "x\n1\n"
    assert sorted(each.name for each in tmp_path.glob("*out*")) == ["out-2.csv", "out.csv"]
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []
    assert f"wrote 3 rows to {file}" in shown
    assert "│ y │" in shown


@pytest.mark.parametrize("suffix", [".json", ".parquet", ".txt"])
def test_the_suffix_says_the_format(say: Said, tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"wards{suffix}"
    say(f"\\o {file}\nSELECT * FROM wards;")
    match suffix:
        case ".json":
            assert json.loads(file.read_text())["rows"][0] == ["A", 1]
        case ".parquet":
            assert duckdb.connect().sql(f"SELECT floor FROM '{file}'").fetchall() == [(1,), (1,), (2,)]
        case _:
            assert "│ A    │     1 │" in file.read_text()


def test_files_have_the_rights_of_new_files(say: Said, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        say(f"\\o {tmp_path}/a.csv\nSELECT * FROM wards;")
    finally:
        os.umask(before)
    assert (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o640


def test_no_file_is_overwritten(say: Said, tmp_path: Path) -> None:
    mine = tmp_path / "mine.csv"
    mine.write_text("mine")
    assert "is not overwritten" in say(f"\\o {mine}")
    say(f"\\o {tmp_path}/new.csv")
    (tmp_path / "new.csv").write_text("somebody else's")
    say("SELECT * FROM wards;")
    assert mine.read_text() == "mine"
    assert (tmp_path / "new.csv").read_text() == "somebody else's"
    assert (tmp_path / "new-2.csv").exists()


def test_where_nothing_can_be_written_nothing_is_paid(say: Said, shell: Shell, tmp_path: Path) -> None:
    assert "there is no folder" in say(f"\\o {tmp_path}/nowhere/a.csv")
    assert "end the name with one of .csv, .json, .parquet, .txt" in say(f"\\o {tmp_path}/a.doc")
    assert "error[D001]" in say(f"\\o {tmp_path}/{'a' * 300}.csv")
    assert "error[D001]" in say(f"\\o {tmp_path}/{'a' * 300}/a.csv")
    assert "error[D001]" in say(f"\\i {tmp_path}/{'a' * 300}.sql")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    assert "is not overwritten" in say(f"\\o {tmp_path}/loop.csv")
    (tmp_path / "gone").mkdir()
    say(f"\\o {tmp_path}/gone/a.csv")
    (tmp_path / "gone").rmdir()
    assert "error[D001]: there is no folder" in say("SELECT COUNT(*) FROM patients;")
    assert shell.db.budget.spent == 0


def test_a_file_is_done_as_if_it_had_been_typed(say: Said, tmp_path: Path) -> None:
    file = tmp_path / "a file.sql"
    file.write_text("\ufeff-- wards\n\\set format csv\nSELECT *\nFROM wards;\n\\d wards\nSELECT 7 AS seven")
    shown = say(f"\\i {file}")
    assert "ward,floor\nA,1\n" in shown
    assert "wards: public; 3 rows" in shown
    assert "seven\n7\n" in shown


def test_a_file_ends_at_its_first_refusal_and_the_session_goes_on(
    say: Said, shell: Shell, tmp_path: Path
) -> None:
    inner, outer = tmp_path / "inner.sql", tmp_path / "outer.sql"
    inner.write_text("SELECT 1 AS one;\n\nSELECT age\nFROM patients;\nSELECT 2 AS two;\n")
    outer.write_text(f"\\i {inner}\nSELECT 3 AS three;\n")
    shown = say(f"\\i {outer}\nSELECT 4 AS four;\n")
    assert "│ one │" in shown
    assert "--> inner.sql:3:8" in shown
    assert "two" not in shown
    assert "three" not in shown
    assert "│ four │" in shown
    assert shown.count("error[") == 1
    assert shell.code == 1
    assert shell.depth == 0


def test_a_file_that_reads_itself_is_stopped(say: Said, tmp_path: Path) -> None:
    file = tmp_path / "round.sql"
    file.write_text(f"\\i {file}\n")
    assert "does one of them include itself?" in say(f"\\i {file}")


def test_files_that_cannot_be_read(say: Said, tmp_path: Path) -> None:
    (tmp_path / "bytes.sql").write_bytes(b"\xff\xfe\x00")
    assert "is not text in UTF-8" in say(f"\\i {tmp_path}/bytes.sql")
    assert "No such file" in say(f"\\i {tmp_path}/nothing.sql")
    assert "cannot be read" in say(f"\\i {tmp_path}")
    assert "needs a file name" in say("\\i")
    assert "is it SQL?" in say("\\i /dev/zero")


@pytest.fixture
def little_room() -> Iterator[None]:
    """A disk that is full after 1,000 bytes of a file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    signal.signal(signal.SIGXFSZ, before)


def test_on_a_full_disk_nothing_is_left_half_written(tmp_path: Path, little_room: None) -> None:
    file = tmp_path / "wards.csv"
    with pytest.raises(dpsql.InterfaceError, match="could not be written: ") as refused:
        new_file(b"x" * 2000, file)
    assert "nothing is lost" in refused.value.help
    assert list(tmp_path.iterdir()) == []
    new_file(b"x" * 900, file)
    assert file.stat().st_size == 900


def test_files_where_names_cannot_be_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on exFAT, and on some network drives."""

    def unlinked(*names: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", unlinked)
    file = tmp_path / "a.csv"
    new_file(b"mine", file)
    with pytest.raises(dpsql.InterfaceError, match="is not overwritten"):
        new_file(b"yours", file)
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"mine"]


# ---- \? and what others call it ----------------------------------------------------------------------


def test_help_is_every_command_on_one_screen(say: Said) -> None:
    shown = say("\\?")
    assert shown == say("help") == say("\\h") == say(".help")
    assert fits(shown)
    assert len(shown.split("\n")) <= 24
    assert [each.usage for each in COMMANDS if f"{each.usage} " not in shown] == []
    assert help_text(COMMANDS) in shown


def test_a_narrow_terminal_shows_all_of_it(say: Said, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    say("\\set confirm off\nSELECT COUNT(*) FROM patients;")
    lines = ("\\?", "\\d", "\\d visits", "\\set", "\\budget", f"\\price {BY_WARD}")
    wide_ = {line: say(line) for line in lines}
    monkeypatch.setenv("COLUMNS", "40")
    shell.interactive = True
    for line, before in wide_.items():
        shown = say(line)
        assert max(map(wide, shown.split("\n"))) <= 40, shown
        before = before.partition("what is promised")[0]  # where all purchases are shown
        words = set(re.findall(r"[A-Za-z]{3,}", before)) - {"over", "rows"}  # beside a name that is cut
        assert words <= set(re.findall(r"[A-Za-z]{3,}", shown)), line


def test_the_page_lists_the_commands_and_settings() -> None:
    page = (Path(dpsql.__file__).parent / "docs" / "shell.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\\.+?)` \| (.+?) \|$", page, re.M)
    assert [(usage.replace("\\|", "|"), said) for usage, said in listed] == [
        (each.usage, each.help.replace("\\set epsilon 0.1", "`\\set epsilon 0.1`")) for each in COMMANDS
    ]
    settings = re.findall(r"^\| `(\w+)` \| `(.+?)` \| (.+?) \|$", page, re.M)
    assert [(name, values.replace("\\|", "|"), said) for name, values, said in settings] == [
        (each.name, each.values, each.help) for each in SETTINGS
    ]


@pytest.mark.parametrize(
    ("typed", "ours"),
    [
        ("\\dt", "\\d"),
        (".tables", "\\d"),
        ("SHOW TABLES;", "\\d"),
        ("SHOW ALL TABLES;", "\\d"),
        ("show epsilon", "\\set epsilon"),
        ("\\pset expanded on", "\\set expanded on"),
        (".headers on", "\\.headers on"),
        (".5", ".5"),
        ("show  tables", "\\d"),
        (".schema patients", "\\d patients"),
        ("DESCRIBE patients;", "\\d patients"),
        ("exit;", "\\q"),
        ("quit", "\\q"),
        ("\\q;", "\\q"),
        ("\\why D301 ;", "\\why D301"),
        (".read a b.sql", "\\i a b.sql"),
        (".mode csv", "\\set format csv"),
        ("\\pset format json", "\\set format json"),
        ("DESCRIBE SELECT 1", "DESCRIBE SELECT 1"),
        ("SELECT 1", "SELECT 1"),
        ("help me out", "help me out"),
        ("", ""),
    ],
)
def test_habits_from_elsewhere(typed: str, ours: str) -> None:
    assert translate(typed) == ours


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("pric", "did you mean \\price?"),
        ("l", "one database"),
        ("copy", "\\o FILE"),
        (".databases", "one database"),
        ("gx", "none is open"),
        ("zz", "\\? lists the commands"),
    ],
)
def test_unknown_commands_say_which_may_be_meant(name: str, help: str) -> None:
    with pytest.raises(dpsql.InterfaceError) as refused:
        command(name)
    assert help in refused.value.help


def test_a_word_after_a_dot_is_no_beginning_of_a_statement(say: Said) -> None:
    shown = say(".headers on\n.maxrows 5\nSELECT 1 AS one;\n.mode csv\n")
    assert "error[D001]: there is no command .headers\n" in shown
    assert "\\o FILE writes all rows" in shown
    assert "│ one │" in shown
    assert say("SELECT 2 AS two,\n.5 AS half;").startswith("two,half\n2,0.5\nfree")


def test_a_command_behind_a_statement_on_its_line(say: Said) -> None:
    shown = say("SELECT 1 AS a; SELECT 2 AS b; \\d wards\nSELECT ';' AS c,\n 3 AS d; \\x\n")
    assert shown.index("│ a │") < shown.index("│ b │") < shown.index("wards: public") < shown.index("│ c ")
    assert "expanded is on" in shown
    assert "error" not in shown


def test_q_leaves_an_open_statement(say: Said, shell: Shell) -> None:
    assert say("SELECT COUNT(*)\n  FROM patients\n\\q\n") == ""
    assert shell.done


def test_q_leaves_at_once(say: Said, shell: Shell) -> None:
    assert "one" not in say("\\q\nSELECT 1 AS one;")
    assert shell.done


# ---- behind a pipe -----------------------------------------------------------------------------------


def piped(clinic: Path, text: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dpsql.cli", "shell", str(clinic), "--analyst", "ana"],
        input=text,
        capture_output=True,
        text=True,
        timeout=300,
        env={name: value for name, value in os.environ.items() if name != "COLUMNS"}
        | {"PYTHONUTF8": "1"}
        | more,
    )


def test_commands_behind_a_pipe(clinic: Path, tmp_path: Path) -> None:
    """Answers on one stream, words beside them and refusals on the other; no colour, 80 columns."""
    file = tmp_path / "n.json"
    done = piped(
        clinic,
        "\\d patients\nSELECT ward, COUNT(*) AS n\n  FROM patients GROUP BY ward;\n\\plot\n\\budget\n\\pric\n"
        f"\\o {file}\nSELECT COUNT(*) AS n FROM patients;\nexit\nSELECT 1 AS unseen;\n",
    )
    assert done.returncode == 1, "a command was refused"
    assert "\x1b" not in done.stdout + done.stderr
    assert fits(done.stdout)
    assert done.stdout.index("0 to 120") < done.stdout.index("│ A    │") < done.stdout.index("n by ward")
    assert "│ ana " in done.stdout
    assert "did you mean \\price?" in done.stderr
    assert "unseen" not in done.stdout
    assert json.loads(file.read_text())["columns"] == [{"name": "n", "type": "BIGINT"}]


def test_a_database_that_somebody_writes_to(clinic: Path) -> None:
    with duckdb.connect(str(clinic)):
        done = piped(clinic, "\\d\n")
    assert done.returncode == 1
    assert "error[D602]: clinic.duckdb is in use" in done.stderr
    assert done.stdout == ""


def test_boxes_of_ascii_where_no_others_are_known(clinic: Path) -> None:
    done = piped(
        clinic, "\\d wards\n\\price SELECT COUNT(*) FROM patients\n", PYTHONUTF8="0", PYTHONIOENCODING="ascii"
    )
    assert done.returncode == 0
    assert "| ward   | VARCHAR |" in done.stdout
    assert done.stdout.isascii()


def test_data_are_raw_behind_a_pipe_and_harmless_on_a_terminal(clinic: Path) -> None:
    with duckdb.connect(str(clinic)) as connection:
        connection.execute("UPDATE wards SET ward = 'A\x1b[2J' WHERE ward = 'A'")
    asked = "\\set format csv\nSELECT ward FROM wards ORDER BY ward;\n"
    assert "A\x1b[2J\nB\nC\n" in piped(clinic, asked).stdout
    ours, theirs = os.openpty()
    for arguments in (("shell", str(clinic)), ("query", str(clinic), "--format", "csv")):
        subprocess.run(
            [sys.executable, "-m", "dpsql.cli", *arguments],
            input=asked if arguments[0] == "shell" else "SELECT ward FROM wards ORDER BY ward",
            stdout=theirs,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=300,
            check=True,
        )
        assert os.read(ours, 4096) == b"ward\r\nA\\x1b[2J\r\nB\r\nC\r\n"
    os.close(ours)
    os.close(theirs)


def test_a_view_is_checked_with_what_public_tables_hold(
    clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a query of it is: the range of a public column is that of its values."""
    policy, sql = clinic.with_suffix(".toml"), "SELECT SUM(floor) AS f FROM patients JOIN wards USING (ward)"
    policy.write_text(policy.read_text() + f'\n[views.floors]\nsql = "{sql}"\n')
    assert main(["policy", "check", str(clinic)]) == 0, capsys.readouterr().err
    with dpsql.connect(clinic) as db:
        assert len(db.execute("FROM floors").rows) == 1
