"""The README does what it says: its commands, its policy, its SQL and its Python run as written."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import dpsql
from dpsql.cli.command_list import COMMANDS, parser
from dpsql.cli.demo_data import POLICY, build
from dpsql.session.checks import parse_policy

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.M | re.S)


def statements(title: str) -> list[tuple[str, str]]:
    """(SQL, the code in the comment after it) of the block that begins with this comment."""
    (block,) = (each for each in blocks("sql") if each.startswith(f"-- {title}\n"))
    return re.findall(r"(.+?);(?: +-- (\w+)[^\n]*)?\n", block.split("\n", 1)[1], re.S)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("readme"))


@pytest.fixture(scope="module")
def connection(clinic: Path) -> dpsql.Connection:
    return dpsql.connect(clinic, ledger=clinic.with_name("sql.ledger"))


def run(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        env=os.environ | {"PYTHONUTF8": "1"},
    )


def test_the_two_commands_stand_in_the_first_screen() -> None:
    first = "\n".join(TEXT.split("\n")[:20])
    assert "pip install . && dpsql demo" in first
    assert "pip install '.[dev]' && pytest" in first


def test_the_policy_is_the_demos() -> None:
    (block,) = blocks("toml")
    assert block == POLICY
    assert parse_policy(block, "clinic.toml").unit.name == "patient"


def test_the_session(clinic: Path) -> None:
    """The same commands give the same lines, numbers and the widths that depend on them aside.

    How far the noise of a count reaches depends on no number: it is the same.
    """
    (block,) = blocks("console")
    for part in block.split("$ ")[1:]:
        command, expected = part.split("\n", 1)
        program, *arguments = shlex.split(command)
        assert program == "dpsql"
        result = run("-m", "dpsql.cli", *arguments, folder=clinic.parent)
        said = result.stdout
        if result.returncode:
            said = re.sub(r"^created the ledger.*\n", "", result.stderr)
        assert result.returncode == ("error[" in expected)
        assert alike(said) == alike(expected)
        assert re.findall(r"│ +-?\d+ (± \d+) │", said) == re.findall(r"│ +-?\d+ (± \d+) │", expected)


def alike(text: str) -> str:
    text = re.sub(r"-?\d[\d.,]*", "0", text)
    return re.sub(r" +", " ", re.sub(r"─+", "─", text))


def test_the_python(clinic: Path) -> None:
    pytest.importorskip("pandas")
    (block,) = blocks("python")
    (clinic.parent / "block.py").write_text(block)
    result = run("-W", "error", "block.py", folder=clinic.parent)
    assert (result.returncode, result.stderr) == (0, "")
    assert "Cardiology" in result.stdout


@pytest.mark.parametrize("sql", [sql for sql, _ in statements("answered")])
def test_sql_that_is_answered(connection: dpsql.Connection, sql: str) -> None:
    connection.explain(sql)


@pytest.mark.parametrize(("sql", "code"), statements("refused"))
def test_sql_that_is_refused(connection: dpsql.Connection, sql: str, code: str) -> None:
    with pytest.raises(dpsql.Error, match=rf"^error\[{code}\]") as refusal:
        connection.explain(sql)
    assert refusal.value.help


def test_every_command_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["--help"])
    listed = re.findall(r"^    (\w+) ", capsys.readouterr().out, re.M)
    assert listed == list(COMMANDS)
    for command in listed:
        assert f"`dpsql {command}" in TEXT


def test_links_lead_somewhere() -> None:
    pages = [ROOT / "README.md", *(ROOT / "dpsql" / "docs").rglob("*.md")]
    for page in pages:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), (page, link)
