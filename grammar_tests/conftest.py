"""The fixtures of this folder, and the order of its tests."""

from __future__ import annotations

import pytest
from cases import HERE
from worlds import worlds

__all__ = ["worlds"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of each case side by side, so that one worker runs them and they share its plans."""
    places = [at for at, item in enumerate(items) if item.path == HERE / "test_cases.py"]
    by_case = sorted((items[at] for at in places), key=lambda item: item.callspec.params["case"].id)  # type: ignore[attr-defined]  # pytest's
    for at, item in zip(places, by_case, strict=True):
        items[at] = item
