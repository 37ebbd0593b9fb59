"""dpsql/docs/python.md does what it says: its programs, its notebook and its commands run as written."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dpsql.cli.demo_data import build

PAGE = (Path(__file__).parents[2] / "dpsql" / "docs" / "python.md").read_text(encoding="utf-8")

NOTEBOOK = """
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
for line in open("block.ipy"):
    shell.run_cell(line).raise_error()
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("page")).parent


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    quiet = {"PLOOMBER_STATS_ENABLED": "false", "PLOOMBER_VERSION_CHECK_DISABLED": "true", "PYTHONUTF8": "1"}
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        env=os.environ | quiet | {"HOME": str(folder), "IPYTHONDIR": str(folder)},
    )


@pytest.mark.parametrize("block", blocks("python"), ids=range(len(blocks("python"))))
def test_the_programs(block: str, folder: Path) -> None:
    for package in set(re.findall(r"^(?:import|from) (pandas|polars|sqlalchemy)", block, re.M)):
        pytest.importorskip(package)
    (folder / "block.py").write_text(block)
    done = run(folder, sys.executable, "-W", "error", "block.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_the_notebook(folder: Path) -> None:
    pytest.importorskip("sql", reason="JupySQL is not installed")
    (block,) = blocks("ipython")
    (folder / "block.ipy").write_text(block)
    done = run(folder, sys.executable, "-c", NOTEBOOK)
    assert done.returncode == 0, done.stderr
    assert re.search(r"ward +n\n0 +Cardiology", done.stdout)


def test_the_commands(folder: Path) -> None:
    """The one that opens an editor is tried in tests/drivers; here its options are read."""
    pytest.importorskip("harlequin")
    (block,) = blocks("console")
    editor, headless = (shlex.split(line.removeprefix("$ ")) for line in block.splitlines())
    for program, *arguments in (headless, [*editor, "--help"]):
        done = run(folder, str(Path(sys.executable).with_name(program)), *arguments)
        assert done.returncode == 0, done.stderr
        assert "± n" in done.stdout or "--analyst" in done.stdout
