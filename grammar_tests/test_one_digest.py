"""Plans of one digest measure the same, whatever else their policies say: one answer serves both."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cases import HERE, Case, all_cases
from worlds import Worlds

import dpsql
from dpsql.audit import plan_of
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.exact_tables import measured_sql
from dpsql.ir.plan import MeasurePlan, StagePlan
from dpsql.ir.relation import Materialized
from dpsql.plan import plan
from dpsql.plan.digest import digest_of
from dpsql.policy.compose import compose
from dpsql.policy.model import ColumnRule, Policy, TableRule, ViewRule
from dpsql.session import Session
from dpsql.session.checks import load_policy

EVERY = 31
"""Each so many fixtures are planned under each policy."""

LEFT_OUT: dict[str, Any] = {
    "range": None,
    "values": None,
    "length": None,
    "null": True,
    "tells_unit": False,
    "comment": "as the owner says",
}


def others(policy: Policy, draw: random.Random) -> Iterator[Policy]:
    """Policies that each leave out, or change, a part of what this one says."""
    for part in (0.1, 0.5):
        yield replace(
            policy,
            query=replace(policy.query, min_units=draw.choice((1, 5)), find_bounds=part > 0.2),
            tables=tuple(_other(table, part, draw) for table in reversed(policy.tables)),
            views=_some(policy.views, part, draw),
        )


def _some(views: tuple[ViewRule, ...], part: float, draw: random.Random) -> tuple[ViewRule, ...]:
    """Leave some views out, and those that read one of them."""
    kept = [view for view in views if draw.random() > part]
    names = {view.name for view in kept}
    return tuple(view for view in kept if "adults" in names or "adults" not in view.sql)


def _other(table: TableRule, part: float, draw: random.Random) -> TableRule:
    def changed(column: ColumnRule) -> ColumnRule:
        left = {name: value for name, value in LEFT_OUT.items() if draw.random() < part}
        return replace(column, **left)

    rows = table.rows_per_unit
    if rows is not None and draw.random() < part:
        rows += 1
    columns = tuple(map(changed, table.columns))
    check = "" if draw.random() < part else table.check
    return replace(table, columns=columns, rows_per_unit=rows, check=check)


def measures(session: Session, case: Case) -> tuple[str, tuple[object, ...]] | None:
    """The digest of a case's plan, and all that runs and is added; None where it is refused."""
    try:
        made = plan_of(session, case.sql, case.cost)
    except dpsql.Error:
        return None

    def told(planned: MeasurePlan) -> tuple[object, ...]:
        again = () if planned.again is None else told(planned.again)
        return measured_sql(planned), planned.noise, repr(planned.rule), repr(planned.details), again

    if any(stage.awaited is not None for stage in made.stages):
        return None  # what a later stage runs is printed when the rows of the one before are there
    return made.digest, tuple(map(told, made.measures))


def several(name: str, worlds: Worlds, folder: Path) -> tuple[list[str], int, int]:
    """Digests of several measures under one policy and others; and how many plans were equal, of how many."""
    chosen = [case for case in all_cases() if case.outcome == "accepted"][::EVERY]
    engine = worlds.connections["empty", name]._open().engine
    assert isinstance(engine, DuckDB)
    found: dict[str, set[tuple[object, ...]]] = {}
    shared = told = 0
    for number, policy in enumerate(others(load_policy(HERE / name), random.Random(name))):
        file = folder / f"{number}.toml"
        file.write_text(compose(policy, ""))
        with dpsql.connect(engine._path, file, folder / f"{number}.ledger") as db:
            for case in chosen:
                for session in (worlds.connections["empty", name]._open(), db._open()):
                    made = measures(session, case)
                    if made is not None:
                        told += 1
                        shared += made[0] in found
                        found.setdefault(made[0], set()).add(made[1])
    return [digest for digest, ways in found.items() if len(ways) > 1], shared, told


@pytest.mark.parametrize("name", ["world.toml", "filled.toml"])
def test_one_digest_is_one_measure(name: str, worlds: Worlds, tmp_path: Path) -> None:
    found, shared, told = several(name, worlds, tmp_path)
    assert found == []
    assert 10 < shared < told


def test_a_digest_without_the_rows_that_count_is_found(
    worlds: Worlds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        plan, "digest_of", lambda stages, terms: digest_of(tuple(map(_without_rows, stages)), terms)
    )
    found, _, _ = several("world.toml", worlds, tmp_path)
    assert found != []


def _without_rows(stage: StagePlan) -> StagePlan:
    return replace(
        stage,
        measures=tuple(
            replace(each, measure=replace(each.measure, relation=Materialized((), ())))
            for each in stage.measures
        ),
    )
