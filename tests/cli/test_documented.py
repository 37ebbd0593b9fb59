"""Every command's help is complete, its page is up to date, and every documented command line runs."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import commands_page
import duckdb
import pytest

from dpsql.cli import main
from dpsql.cli.demo_data import build

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "dpsql" / "docs"
COMMANDS = dict(commands_page.commands())

ELSEWHERE = {"pip", "harlequin", "hsql"}
"""Programs that other checks run: .ci/run installs, and the drivers' tests know what Harlequin does."""

LABS = """\
[budget]
epsilon = 2.0
delta = 1e-6
[unit]
name = "patient"
column = "patient_id"
[tables.samples]
"""

FIRST = {
    "dpsql estimate": ("dpsql query", "dpsql export"),
    "dpsql budget": ("dpsql query",),
    "dpsql export": ("dpsql query",),
    "dpsql analyst passwd": ("dpsql analyst add",),
    "dpsql analyst remove": ("dpsql analyst add",),
}
"""Commands whose examples need those of another."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's clinic, and files of questions."""
    folder = tmp_path_factory.mktemp("documented")
    build(folder)
    (folder / "password.txt").write_text("correct horse battery\n")
    (folder / "questions.sql").write_text("SELECT COUNT(*) FROM patients;\n")
    monthly = re.search(r"^```sql\n(.*?)^```$", (DOCS / "batch.md").read_text(encoding="utf-8"), re.M | re.S)
    assert monthly is not None
    (folder / "monthly.sql").write_text(monthly[1])
    with duckdb.connect(str(folder / "labs.duckdb")) as labs:  # of the same patients
        labs.execute("CREATE TABLE samples AS SELECT i AS patient_id FROM range(9) AS r(i)")
    (folder / "labs.toml").write_text(LABS)
    (folder / "bin").mkdir()
    (folder / "bin" / "dpsql").write_text(f'#!/bin/sh\nexec {sys.executable} -m dpsql.cli "$@"\n')
    (folder / "bin" / "dpsql").chmod(0o755)
    return folder


@pytest.fixture
def scratch(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(template, tmp_path / "scratch")
    monkeypatch.chdir(tmp_path / "scratch")
    return tmp_path / "scratch"


def do(line: str, scratch: Path) -> None:
    """One command line, in a shell where it uses one; answered."""
    if not set("|<>") & set(re.sub(r""" "[^"]*"| '[^']*'""", "", line)):
        assert main(shlex.split(line, comments=True)[1:]) == 0, line
        return
    result = subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=scratch,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ
        | {"PYTHONUTF8": "1", "PYTHONPATH": str(ROOT), "PATH": f"{scratch / 'bin'}:{os.environ['PATH']}"},
    )
    assert result.returncode == 0, (line, result)


# ---- help ----------------------------------------------------------------------------------------------


def test_the_page_is_written_from_the_parser() -> None:
    assert commands_page.PAGE.read_text(encoding="utf-8") == commands_page.page()


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_complete(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = COMMANDS[name]
    assert made.description
    assert commands_page.examples(made), "an example says more than a grammar"
    for each in commands_page.arguments(made):
        assert each.help, each
        assert each.metavar or each.choices or each.nargs == 0, each
    with pytest.raises(SystemExit) as ended:
        main_or_exit([*name.split()[1:], "--help"])
    assert ended.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    for each in commands_page.arguments(made):
        assert all(option in said for option in each.option_strings)
        assert " ".join((each.help or "").split())[:30] in said


def main_or_exit(words: list[str]) -> None:
    raise SystemExit(main(words))


# ---- command lines -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "line"),
    [(name, line) for name, made in COMMANDS.items() for line in commands_page.examples(made)],
)
def test_the_examples_of_the_help_run(
    name: str, line: str, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert line.startswith(f"{name} ") or line == name
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n" * 30)))
    if name == "dpsql init":
        (scratch / "clinic.toml").unlink()
    else:
        main(["query", "clinic.duckdb", "-c", "SELECT COUNT(*) FROM wards"])  # there is a ledger
    for first in FIRST.get(name, ()):
        for example in commands_page.examples(COMMANDS[first]):
            do(example, scratch)
    do(line, scratch)


def lines(page: Path) -> list[str]:
    """The command lines of a page, in order."""
    found = []
    blocks = re.findall(r"^```(console|bash)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    for kind, block in blocks:
        for line in block.strip().split("\n"):
            if kind == "bash":
                found.append(line)
            elif line.startswith("$ "):
                found.append(line[2:])
    return [each for each in found if each.split()[0] not in ELSEWHERE]


PAGES = [each for each in sorted(DOCS.rglob("*.md")) if each != commands_page.PAGE and lines(each)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_command_lines_of_the_pages_run(page: Path, scratch: Path) -> None:
    for line in lines(page):
        do(line, scratch)


def test_there_are_pages_with_command_lines() -> None:
    assert {"batch", "exports", "shell"} <= {page.stem for page in PAGES}
