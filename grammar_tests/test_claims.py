"""What facts say of the rows of every relation, on adversarial rows: keys, rows per unit, what it settles.

Sensitivity rests on them, but a clip may hide a wrong one. Keys with NULL: tests/privacy/test_lone_rows.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from cases import all_cases
from claims import Claims
from tiers import without_sweeps
from worlds import Worlds

from dpsql.audit.oracles import ready_measures
from dpsql.facts import ownership
from dpsql.facts.ownership import Owned
from dpsql.facts.types import types_of
from dpsql.ir.relation import Join, Relation


def measured(worlds: Worlds, every: int) -> Iterator[tuple[str, Relation]]:
    """The relations of one in so many accepted cases."""
    cases = [case for case in all_cases() if case.outcome == "accepted"]
    for case in cases[::every]:
        sealed = worlds.session("world", case).sealed
        for each in ready_measures(worlds.plan("world", case), worlds.whole, sealed):
            yield case.id, each.measure.relation


def breaks_any(worlds: Worlds) -> bool:
    claims = Claims(worlds.whole._all)
    return any(claims.broken(relation) for _, relation in measured(worlds, 1))


def broken(worlds: Worlds, every: int) -> dict[str, list[str]]:
    claims = Claims(worlds.whole._all)
    found = {name: claims.broken(relation) for name, relation in measured(worlds, every)}
    assert len(claims.asked) > 100
    return {name: said for name, said in found.items() if said}


def test_rows_keep_what_is_said_of_them(worlds: Worlds, pytestconfig: pytest.Config) -> None:
    """Without sweeps, one case in eight."""
    assert broken(worlds, 8 if without_sweeps(pytestconfig) else 1) == {}


def rows_that_met_two(patch: pytest.MonkeyPatch) -> None:
    times = ownership._multiply_rows
    patch.setattr(
        ownership, "_multiply_rows", lambda owned, fan: replace(times(owned, fan), row_keys=owned.row_keys)
    )


def no_more_rows_for_two_partners(patch: pytest.MonkeyPatch) -> None:
    times = ownership._multiply_rows
    patch.setattr(
        ownership, "_multiply_rows", lambda owned, fan: replace(times(owned, fan), at_most=owned.at_most)
    )


def all_columns_of_a_join_settled(patch: pytest.MonkeyPatch) -> None:
    joined = ownership._unit_join_ownership

    def settled(join: Join, left: Owned, right: Owned) -> Owned:
        return replace(joined(join, left, right), settled=frozenset(types_of(join)))

    patch.setattr(ownership, "_unit_join_ownership", settled)


@pytest.mark.parametrize(
    "plant",
    [rows_that_met_two, no_more_rows_for_two_partners, all_columns_of_a_join_settled],
)
def test_planted_errors_are_found(
    worlds: Worlds, monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None]
) -> None:
    plant(monkeypatch)
    assert breaks_any(worlds)
