"""A small run for every commit, and readers by statistics, which runs must find out."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path

import pytest

from dpsql.engines import file_sql, folder
from layouts.run import Run

SEED = 7
FILES = 46


def _found(seed: int, files: int, capsys: pytest.CaptureFixture[str]) -> list[str]:
    run = Run(seed)
    run.until(lambda each: each.files >= files)
    with capsys.disabled():
        print(f"\nseed {seed}: {run.files} files, {run.asked} statements, {len(run.violations)} violations")
    return [f"seed {seed}: {each}" for each in run.violations]


def test_no_row_is_read_otherwise_because_of_another_unit(capsys: pytest.CaptureFixture[str]) -> None:
    """A fixed seed; each kind of files has its turn."""
    assert _found(SEED, FILES, capsys) == []


@pytest.mark.sweep
def test_nor_under_another_seed(capsys: pytest.CaptureFixture[str]) -> None:
    """Other files every time; a failure names its seed: python grammar_tests/layouts --seed N."""
    assert _found(secrets.randbelow(10**6), FILES // 4, capsys) == []


def _by_page(paths: Sequence[Path], columns: Sequence[str]) -> str:
    return f"FROM {file_sql.parquet_files(paths)}"


def test_a_reader_that_skips_pages_is_found_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """DuckDB 2.0 took whole pages for NULL where conditions reached its reader."""
    monkeypatch.setattr(folder, "parquet_sql", _by_page)
    run = Run(SEED)
    run.until(lambda each: bool(each.violations) or each.files >= FILES)
    assert any("pyarrow" in each.layout for each in run.violations)
