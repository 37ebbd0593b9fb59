"""Errors planted in the engine that the fixtures find: a judge who never says no would be worth nothing."""

from __future__ import annotations

import pytest
from cases import Case
from drawn.planted import IN_FIXTURES
from test_cases import ACCEPTED, misread
from worlds import Worlds

from dpsql.audit import plan_of
from dpsql.audit.oracles import ready_measures, violations


@pytest.mark.parametrize("file", IN_FIXTURES)
def test_planted_errors_are_found_by_their_fixtures(file: str, worlds: Worlds) -> None:
    """By meaning or by sensitivity; without the error, test_cases.py judges the same cases one by one."""
    with IN_FIXTURES[file]():
        assert any(found(case, worlds) for case in ACCEPTED if case.id.startswith(file))


def found(case: Case, worlds: Worlds) -> bool:
    """Whether a judge says no: some unit changes too much, or plain DuckDB answers something else."""
    session = worlds.session("world", case)
    for planned in ready_measures(plan_of(session, case.sql, case.cost), worlds.whole, session.sealed):
        whole = worlds.whole.measure(planned)
        if any(
            violations(planned, whole, one.engine.measure(planned)) for one in worlds.all_neighbours(case)
        ):
            return True
    return case.has_meaning and bool(
        misread(plan_of(worlds.session("calm", case), case.sql, case.cost), case, worlds)
    )
