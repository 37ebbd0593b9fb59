"""Units that hold the ends of every range, which no row of the worlds does, move no measure too far."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cases import Case
from test_cases import ACCEPTED, ids
from worlds import MEMBERS, Worlds

from dpsql.audit.made_units import MadeUnits
from dpsql.audit.oracles import ready_measures, shares, violations

TRIALS = 6

OF_PATIENTS = [case for case in ACCEPTED if case.policy.name != MEMBERS]


@pytest.fixture(scope="module")
def made(worlds: Worlds) -> Iterator[MadeUnits]:
    session = worlds.connections["world", "world.toml"]._open()
    engine = MadeUnits(worlds.whole._path, session.known)
    yield engine
    engine.close()


@pytest.mark.parametrize("case", OF_PATIENTS[::24], ids=ids)
def test_made_up_units_move_no_more_than_declared(case: Case, worlds: Worlds, made: MadeUnits) -> None:
    """With as many rows as count in full, and with four times as many."""
    measures = ready_measures(worlds.plan("world", case), worlds.whole, worlds.session("world", case).sealed)
    read = " ".join(map(made.measure_sql, measures))
    for times in (1, 4):
        made.make(case.sql, read, range(TRIALS), times)
        for each in measures:
            nothing = made.measured(each, -1)
            moved = [made.measured(each, trial) for trial in range(TRIALS)]
            assert [said for one in moved for said in violations(each, one, nothing)] == []


def test_made_up_units_reach_what_is_declared(worlds: Worlds, made: MadeUnits) -> None:
    """Otherwise they would find nothing: a sum of many rows is as large as its clip, and no larger."""
    [case] = (case for case in ACCEPTED if case.id == "aggregates/sums.sql: many rows per unit")
    [each] = ready_measures(worlds.plan("world", case), worlds.whole, None)
    made.make(case.sql, made.measure_sql(each), range(60))
    nothing = made.measured(each, -1)
    assert 0.9 < max(shares(each, made.measured(each, trial), nothing)[0] for trial in range(60)) <= 1


def test_texts_of_a_query_need_not_be_numbers(worlds: Worlds, made: MadeUnits) -> None:
    """A point splits a text, and is no value of a column of numbers."""
    made.make("SELECT '.', '1.2.3', '-', '.5', 7.25", 'main."visits"', range(60))
    seen = 0
    for trial in range(60):
        made.only(trial)
        seen += made._all("SELECT count(*) FROM main.visits WHERE cost = 7.25")[0][0]
    assert seen > 0
