"""Errors planted in the engine that the fixtures find: a judge who never says no would be worth nothing."""

from __future__ import annotations

import pytest
from drawn.planted import IN_FIXTURES
from test_cases import ACCEPTED, misread
from worlds import Worlds

from dpsql.audit import plan_of


@pytest.mark.parametrize("file", IN_FIXTURES)
def test_planted_errors_are_found_by_their_fixtures(file: str, worlds: Worlds) -> None:
    """Without the error, the same cases are judged one by one in test_cases.py."""
    found = []
    with IN_FIXTURES[file]():
        for case in (case for case in ACCEPTED if case.id.startswith(file) and case.has_meaning):
            found += misread(plan_of(worlds.session("calm", case), case.sql, case.cost), case, worlds)
    assert found != []
