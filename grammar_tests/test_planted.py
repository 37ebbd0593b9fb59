"""Errors planted in the engine that the fixtures find: a judge who never says no would be worth nothing."""

from __future__ import annotations

import pytest
from drawn.planted import IN_FIXTURES
from test_cases import ACCEPTED, misread
from worlds import Worlds

from dpsql.audit import plan_of
from dpsql.audit.oracles import ready_measures, violations


@pytest.mark.parametrize("file", IN_FIXTURES)
def test_planted_errors_are_found_by_their_fixtures(file: str, worlds: Worlds) -> None:
    """By meaning or by sensitivity; without the error, test_cases.py judges the same cases one by one."""
    found = []
    with IN_FIXTURES[file]():
        for case in (case for case in ACCEPTED if case.id.startswith(file)):
            session = worlds.session("world", case)
            for planned in ready_measures(
                plan_of(session, case.sql, case.cost), worlds.whole, session.sealed
            ):
                one = worlds.neighbours(case)[0].engine.measure(planned)
                found += violations(planned, worlds.whole.measure(planned), one)
            if case.has_meaning:
                found += misread(plan_of(worlds.session("calm", case), case.sql, case.cost), case, worlds)
    assert found != []
