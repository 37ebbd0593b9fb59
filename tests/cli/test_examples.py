"""Every example runs by itself, says something, warns of nothing and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
