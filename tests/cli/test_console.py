"""Conversations: what a pipe answers and how it ends, what is asked before a query and said after one."""

from __future__ import annotations

import io
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from drivers.endless import ENDLESS

import dpsql
from dpsql.errors import refuse
from dpsql.ir.source import Span
from dpsql.render.digits import wide
from dpsql.shell import statement
from dpsql.shell.loop import complete, read
from dpsql.shell.opening import Opening
from dpsql.shell.places import Files
from dpsql.shell.prompt import prompt, short
from dpsql.shell.state import Shell
from dpsql.terminal import output, waiting
from dpsql.terminal.refusals import fit_refusal

COUNT = "SELECT COUNT(*) AS n FROM patients"


def piped(clinic: Path, text: str, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dpsql.cli", "shell", str(clinic), "--analyst", "ana", *more],
        input=text,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture
def shell(clinic: Path) -> Iterator[Shell]:
    with dpsql.connect(clinic, analyst="ana") as db:
        yield Shell(db)


def say(shell: Shell, text: str, name: str = "query") -> None:
    read(shell, text.splitlines(keepends=True), name)


# ---- pipes -------------------------------------------------------------------------------------------


def test_a_pipe_answers_all_and_asks_nothing(clinic: Path) -> None:
    done = piped(clinic, f"-- how many?\n{COUNT}\n;\nSELECT 'a;b' AS x; SELECT 2 AS y\n;;\nSELECT 3 AS z")
    assert done.returncode == 0, done.stderr
    names = re.findall(r"^│ +(\w+) +│$", done.stdout, re.M)
    assert [each for each in names if each in "nxyz"] == ["n", "x", "y", "z"]
    assert "\x1b" not in done.stdout + done.stderr
    assert ">" not in done.stdout
    assert done.stderr.count("created") == 0


def test_a_refusal_does_not_end_a_pipe_and_is_its_exit_code(clinic: Path) -> None:
    done = piped(clinic, "SELECT 1 AS one;\n\nSELECT nothing\n  FROM patients;\nSELECT 2 AS two;\n")
    assert done.returncode == 1
    assert "two" in done.stdout
    assert done.stderr.startswith("error[D202]")
    assert "--> query:3:8" in done.stderr


def test_a_pipe_that_asks_for_too_much_says_so_by_three(clinic: Path) -> None:
    texts = [f"SELECT COUNT(*) FROM patients WHERE age > {age};\n" for age in range(20, 60)]
    done = piped(clinic, "SET epsilon = 20;\n" + "".join(texts) + "SELECT nothing FROM patients;")
    assert done.returncode == 3
    assert "error[D501]" in done.stderr
    assert "Run it?" not in done.stdout + done.stderr


def test_a_pipe_that_is_no_text_is_refused(clinic: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dpsql.cli", str(clinic)],
        input=b"\xff\xfe;",
        capture_output=True,
        timeout=300,
    )
    assert done.returncode == 1
    assert b"UTF-8" in done.stderr


def test_answers_come_as_soon_as_they_are_asked(clinic: Path) -> None:
    """A program may ask, read, and ask again."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dpsql.cli", "shell", str(clinic)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for name in ("first", "second"):
        process.stdin.write(f"SELECT 7 AS {name};\n")
        process.stdin.flush()
        while name not in process.stdout.readline():
            assert process.poll() is None
    _, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (0, "")


# ---- when a statement ends ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ("SELECT 1;", True),
        ("SELECT 1; -- done", True),
        ("SELECT 1", False),
        ("SELECT ';", False),
        ("/* ;", False),
        ("\\d", True),
        ("  \\d patients", True),
        ("-- a comment\n\\d", True),
        ("SELECT 1 \\d", False),
        ("SELECT 1\n\\g", True),
        ("SELECT 1\n\\q", True),
        ("SELECT 1 \\gx \n", True),
        ("SELECT 1 -- \\g", False),
        ("SELECT '1 \\g", False),
        ("SELECT 1 /* \\g", False),
        ("exit", True),
        ("quit;", True),
        ("", False),
    ],
)
def test_when_enter_submits(text: str, ended: bool) -> None:
    assert complete("", text) is ended


def test_a_backslash_inside_a_statement_is_none_of_ours(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    say(shell, "SELECT '\n\\d\n' AS x;")
    shown = capsys.readouterr()
    assert "\\\\d" in shown.out or "\\d" in shown.out
    assert "patients" not in shown.out
    assert shell.code == 0


def test_g_ends_a_statement(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    say(shell, "SELECT 1 AS one \\g\nSELECT 2 AS two,\n'x \\g' AS t \\gx\nSELECT 3 AS three;\n")
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "│ one │" in shown.out
    assert "│ two │ 2    │\n│ t   │ x \\g │" in shown.out
    assert "│ three │" in shown.out
    assert not shell.expanded
    say(shell, "SELECT 1;\n  SELECT nothing FROM patients \\g\n", "asked.sql")
    assert " --> asked.sql:2:10" in capsys.readouterr().err


def test_errors_point_into_what_they_stand_in(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    say(shell, "SELECT 1;\n-- a\nSELECT 2; SELECT nothing FROM patients;\n", "asked.sql")
    assert " --> asked.sql:3:18" in capsys.readouterr().err


# ---- before and after a query ------------------------------------------------------------------------


def test_who_sits_there_is_asked_before_a_large_query(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []
    answers = iter(["", "n", "yes"])

    def person(question: str) -> str:
        asked.append(question)
        return next(answers)

    monkeypatch.setattr("builtins.input", person)
    shell.interactive, shell.confirm = True, 0.01
    for paid in (0, 0, 1):
        say(shell, f"{COUNT};")
        assert len(shell.db.purchases) == paid
    assert len(asked) == 3
    assert re.fullmatch(
        r"Costs epsilon [\d.]+, \d+ % of what remains; leaves [\d.]+\. Run it\? \[y/N\] ", asked[0]
    )
    say(shell, f"{COUNT};EXPLAIN {COUNT};SELECT 1;")  # paid for, and free
    shell.confirm = None
    say(shell, f"{COUNT} WHERE age > 3;")
    assert len(asked) == 3
    assert capsys.readouterr().err.count("cancelled: nothing was paid") == 2


def test_who_sits_there_is_asked_before_a_query_that_would_show_nothing(
    clinic: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And told before one that could hardly show anything. A pipe is refused, and not asked."""
    policy = clinic.with_suffix(".toml")
    text = policy.read_text()
    policy.write_text(text.replace('key = "patient_id"\n', 'key = "patient_id"\nabout = 50\n', 1))
    by_cost, by_city = (f"SELECT {key}, COUNT(*) FROM {table} GROUP BY {key};" for key, table in KEYS)
    asked: list[str] = []
    answers = iter(["n", "y"])

    def person(question: str) -> str:
        asked.append(question)
        return next(answers)

    monkeypatch.setattr("builtins.input", person)
    with dpsql.connect(clinic, analyst="ana") as db:
        shell = Shell(db)
        say(shell, by_cost)
        assert "error[D511]" in capsys.readouterr().err
        shell.interactive = True
        for paid in (0, 1):
            say(shell, by_cost)
            assert len(db.purchases) == paid
            assert "error[D511]: the answer would show nothing" in capsys.readouterr().err
        assert asked == ["Run it all the same? [y/N] "] * 2
        say(shell, by_cost)  # paid for: nothing is asked
        assert capsys.readouterr().err == ""
        say(shell, by_city)
        assert capsys.readouterr().err.startswith("note: a group shows from 30 patients on")
    assert len(asked) == 2


KEYS = (("cost", "visits"), ("city", "patients"))


def test_a_person_is_asked_before_a_condition_that_nobody_meets(
    clinic: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe gets the answer with a note; no group is free for both."""
    count = "SELECT COUNT(*) FROM patients WHERE ward = 'a';"
    answers = iter(["n", "y"])
    monkeypatch.setattr("builtins.input", lambda question: next(answers))
    with dpsql.connect(clinic, analyst="ana") as db:
        shell = Shell(db)
        shell.interactive = True
        for paid in (0, 1):
            say(shell, count)
            assert len(db.purchases) == paid
            assert "ward is one of 'A', 'B', 'C'" in capsys.readouterr().err
        say(shell, "SELECT ward, COUNT(*) FROM patients WHERE ward = 'a' GROUP BY ward;")
        assert "No declared value meets the conditions" in capsys.readouterr().out
        shell.interactive = False
        say(shell, count.replace("'a'", "'b'"))
        assert len(db.purchases) == 2


def test_the_last_answer_is_kept_and_a_refusal_leaves_it(shell: Shell) -> None:
    say(shell, f"{COUNT};")
    kept = shell.last
    assert kept is not None
    assert kept.columns == ("n",)
    say(shell, "SELECT nothing FROM patients;")
    assert shell.last is kept
    assert shell.refused is not None
    assert shell.refused.code == "D202"


def test_what_a_time_limit_leaves_paid_is_said(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """A public query that never ends costs nothing."""
    shell.timeout = 0.2
    say(shell, f"{ENDLESS};")
    said = capsys.readouterr().err
    assert said.startswith("error[D603]")
    assert "= note: nothing was paid" in said


def test_what_was_paid_is_counted_by_the_ledger(shell: Shell) -> None:
    assert statement._paid(shell.db, COUNT, 0) == "nothing was paid"
    shell.db.execute(COUNT, epsilon=0.25)
    assert statement._paid(shell.db, COUNT, 0).startswith("epsilon 0.25 was paid and stays paid")
    assert statement._paid(shell.db, COUNT, 1) == "nothing was paid"
    assert statement._paid(shell.db, f"{COUNT} WHERE age > 3", 0) == "nothing was paid"


# ---- waiting -----------------------------------------------------------------------------------------


class Watched(io.StringIO):
    """A terminal that knows when something was written on it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.written.set()
        return super().write(text)


@pytest.mark.parametrize("seen", [True, False])
def test_time_that_passes_is_shown_on_a_terminal_and_gone_afterwards(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, seen: bool
) -> None:
    """The work lasts until something is shown, or for a while where nothing should be."""
    screen = Watched()
    monkeypatch.setattr(waiting, "PATIENCE", 0.01)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: seen, raising=False)
    assert waiting.beside(shell.db, lambda: screen.written.wait(300 if seen else 0.3)) is seen
    assert re.fullmatch(r"(\r\d+\.\d s)+\r +\r" if seen else "", screen.getvalue())


def test_how_long_is_said() -> None:
    assert [waiting.lasting(each) for each in (2.34, 59.94, 60, 125.9)] == [
        "2.3 s",
        "59.9 s",
        "1 min 00 s",
        "2 min 05 s",
    ]


# ---- prompts -----------------------------------------------------------------------------------------


def test_the_prompt_shows_the_smaller_of_what_is_left(shell: Shell, clinic: Path) -> None:
    accounts = {each.analyst: each.remaining for each in shell.db.budget.accounts}
    left = min(shell.db.budget.remaining, accounts["ana"])
    now = prompt(shell.db, clinic.stem)
    assert now.text == f"{clinic.stem} ε {short(left)}> "
    assert len(now.more) == wide(now.text)
    assert now.more.endswith("...> ")


def test_a_budget_is_never_shown_larger_than_it_is() -> None:
    assert [short(each) for each in (2.5868, 2.59999, 4.0, 0.1, 0.0999, 0.00012, 0.0)] == [
        "2.58",
        "2.59",
        "4.00",
        "0.10",
        "0.0999",
        "0.0001",
        "0",
    ]


def test_a_session_that_does_not_open_says_why_to_whoever_waits(clinic: Path) -> None:
    opening = Opening(lambda: Shell(dpsql.connect(clinic.with_suffix(".nowhere"))))
    with pytest.raises(dpsql.Error, match="there is no database"):
        opening.wait()
    opening.close()


def test_without_prompt_toolkit_lines_are_plain(
    clinic: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dpsql.shell import loop

    monkeypatch.setitem(sys.modules, "prompt_toolkit", None)
    monkeypatch.delitem(sys.modules, "dpsql.shell.editor", raising=False)
    monkeypatch.delitem(sys.modules, "dpsql.shell.history", raising=False)
    prompts: list[str] = []
    lines = iter(["SELECT 6 * 7", "  AS answer;", "", "\\q"])

    def person(text: str) -> str:
        prompts.append(text)
        return next(lines)

    monkeypatch.setattr("builtins.input", person)
    monkeypatch.setattr(loop, "interactive", lambda: True)
    before = signal.getsignal(signal.SIGINT)
    assert loop.run(Files(clinic, analyst="ana")) == 0
    assert "42" in capsys.readouterr().out
    assert [each.strip()[-5:] for each in prompts][1] == "...>"
    assert signal.getsignal(signal.SIGINT) is before


# ---- refusals in a narrow terminal -------------------------------------------------------------------


def test_a_refusal_keeps_to_the_width_and_to_its_caret() -> None:
    text = f"SELECT {', '.join(f'column_{i}' for i in range(30))} FROM somewhere"
    for at in (0, 7, text.index("column_15"), text.index("somewhere")):
        error = refuse(
            "D202",
            "there is no such column in any of the tables that stand behind FROM in this query of yours",
            Span(at, at + 9),
            label="it is not one of those that the policy lists",
            notes=("a note that is long enough to be continued on a second line of a narrow terminal",),
            help="write another one: SELECT a_name_of_a_column_that_exists FROM a_table_that_exists",
        ).within(text, "query")
        for columns in (40, 60, 80, 120):
            shown = fit_refusal(str(error), columns).split("\n")
            assert all(len(line) <= columns for line in shown), shown
            line, caret = next(
                (one, other) for one, other in zip(shown, shown[1:], strict=False) if "^" in other
            )
            assert line[caret.index("^") : caret.rindex("^") + 1] in text[at : at + 9]
            assert "".join(text[at : at + 9].split()) in "".join(line.split())
            words = " ".join(each.strip(" |^") for each in shown)
            assert "it is not one of those that the policy lists" in words


def test_a_refusal_that_fits_is_as_it_was() -> None:
    error = refuse("D202", "there is no column x here", Span(7, 8), help="write y").within(
        "SELECT x", "query"
    )
    assert fit_refusal(str(error), 80) == str(error)
    assert output.refusal(error) == str(error)


# ---- history -----------------------------------------------------------------------------------------


def test_history_is_kept_where_only_its_owner_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prompt_toolkit.history import InMemoryHistory

    from dpsql.shell.history import history

    monkeypatch.delenv("DPSQL_HISTORY", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    history().append_string("SELECT 1;")
    file = tmp_path / "state" / "dpsql" / "history"
    assert "SELECT 1;" in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert list(history().load_history_strings()) == ["SELECT 1;"]

    file.chmod(0o644)
    history()
    assert file.stat().st_mode & 0o777 == 0o600

    (tmp_path / "elsewhere").symlink_to(tmp_path / "target")
    for elsewhere in ("", str(tmp_path / "elsewhere"), str(tmp_path / "state")):
        monkeypatch.setenv("DPSQL_HISTORY", elsewhere)
        assert isinstance(history(), InMemoryHistory)
    assert not (tmp_path / "target").exists()


def test_what_was_paid_for_bounds_is_told(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that ends early has perhaps only found what it needs: that is paid, and the rest is not."""

    def ended(*given: object) -> None:
        raise refuse("D601", "the query was interrupted")

    with monkeypatch.context() as patch:
        patch.setattr("dpsql.releasing.release", ended)
        say(shell, "SELECT SUM(score) AS s FROM patients;")
    (paid,) = shell.db.purchases
    assert paid.sql.startswith("/* finds patients.score */")
    assert shell.refused is not None
    rest = shell.db.price("SELECT SUM(score) AS s FROM patients").cost
    assert f"epsilon {paid.epsilon:g} was paid and stays paid" in str(shell.refused)
    assert f"the rest, epsilon {rest:g}" in str(shell.refused)
    say(shell, "SELECT SUM(score) AS s FROM patients;")
    assert sum(each.epsilon for each in shell.db.purchases) == pytest.approx(paid.epsilon + rest)
