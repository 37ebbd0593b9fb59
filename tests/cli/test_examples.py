"""Every example runs by itself, says something, warns of nothing and leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpsql.server.configuration import read_setup

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("[0-9]*.py"))


def test_they_are_numbered_without_a_gap() -> None:
    assert [int(each.name[:2]) for each in EXAMPLES] == list(range(1, len(EXAMPLES) + 1))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_it_runs(example: Path, tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        env=os.environ | {"TMPDIR": str(tmp_path), "PYTHONUTF8": "1"},
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_unit_of_systemd_is_one() -> None:
    """All but that its program is not installed here."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed: apt-get install systemd")
    unit = Path(__file__).parents[2] / "examples" / "server" / "dpsql.service"
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False, timeout=120
    )
    said = {line for line in (done.stdout + done.stderr).splitlines() if "/opt/dpsql/bin/dpsql" not in line}
    assert said == set()


def test_the_file_of_the_server_is_read(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "examples" / "server" / "serve.toml").read_text()
    file = tmp_path / "serve.toml"
    (tmp_path / "clinic.duckdb").touch()
    file.write_text(text.replace("/var/lib/dpsql", str(tmp_path)).replace("/var/log/dpsql", str(tmp_path)))
    assert [place.name for place, _ in read_setup(file).places] == ["clinic"]
