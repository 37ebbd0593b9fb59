"""Databases that tests only read, built once for all workers of a run."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def shared(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], None]) -> Path:
    """Return the folder that ``build`` fills; the first worker to ask builds it, the others wait.

    Nobody may write into the folder afterwards: ledgers and copies belong to each worker or test.
    """
    common = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        common = common.parent  # each worker's folder lies in that of the run
    folder, making = common / name, common / f"{name}-in-the-making"
    with (common / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir()
            build(making)
            making.rename(folder)
    return folder
