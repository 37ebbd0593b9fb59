"""The engine that plans with statistics has the sums of the other one, on adversarial rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import duckdb
import pytest
from test_corrected import all_measures
from tiers import without_sweeps
from worlds import Worlds

from dpsql.engines.corrected_sql import Special
from dpsql.engines.duckdb import SIMPLIFYING, lock_down
from dpsql.engines.exact_tables import measured
from dpsql.engines.special_units import EVERYTHING, SpecialUnits
from dpsql.engines.statistics_engine import StatisticsEngine
from dpsql.facts.known_calls import known_calls
from dpsql.fuzz.judges import weights_shown
from dpsql.ir.table import ExactTable


@pytest.fixture
def second(worlds: Worlds) -> Iterator[StatisticsEngine]:
    path: Path = worlds.whole._path
    with duckdb.connect(":memory:") as engine:
        engine.execute(f"ATTACH '{path}' AS beside (READ_ONLY)")
        lock_down(engine, "UTC", without=(SIMPLIFYING,))
        opened = StatisticsEngine(engine, "beside", EVERYTHING)
        yield opened
        opened.close()


def exact(table: ExactTable) -> list[object]:
    """Return the sums and the weights of bins by group."""
    rows = zip(table.groups, table.sums.tolist(), strict=True)
    return [{repr(group): sums for group, sums in rows if any(sums)}, *map(weights_shown, table.details)]


def compared(worlds: Worlds, second: StatisticsEngine, every: int = 1) -> Iterator[bool]:
    """Yield for each measure that the second engine answers whether its numbers are the same."""
    for each in islice(all_measures(worlds), None, None, every):
        ours = second.measure(each) if known_calls(each.measure) else None
        if ours is not None:
            known = measured(each, worlds.whole._all, worlds.whole._arrays)
            yield exact(ours) == exact(known)


def test_sums_are_the_same(worlds: Worlds, second: StatisticsEngine, pytestconfig: pytest.Config) -> None:
    """Without sweeps one measure in three is compared."""
    same = list(compared(worlds, second, 3 if without_sweeps(pytestconfig) else 1))
    assert len(same) > 100
    assert all(same)


def test_rows_of_nobody_are_missed(
    worlds: Worlds, second: StatisticsEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted error: the comparison sees what this engine adds up."""
    monkeypatch.setattr(SpecialUnits, "special", lambda *given: Special())
    assert not all(compared(worlds, second))
