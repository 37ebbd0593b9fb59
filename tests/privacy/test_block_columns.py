"""Blocks by columns of other types, and queries of several stages: as test_unit_blocks.py, of more kinds."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from test_unit_blocks import COMPARED, STAGED, YEARS, Column, World, check, condition

import dpsql
from dpsql.audit import plan_of
from dpsql.facts import unit_blocks
from dpsql.plan.blocks import blocks_read


class Truth(Column):
    """Years that are odd, and years that are even."""

    def of(self, year: int | None) -> str:
        return "NULL" if year is None else ("false", "true")[year % 2]

    @property
    def listed(self) -> str:
        return "true, false"


COLUMNS = {
    "text": Column(
        "TEXT",
        "'c{year}'",
        '"c{year}"',
        (
            *COMPARED,
            "{own} LIKE 'c20%3'",
            "{own} ILIKE 'C{year}'",
            "lower({own}) = {a}",
            "upper({own}) = upper({a})",
            "{own} || 'x' = {a} || 'x'",
            "starts_with({own}, 'c2')",
            "length({own}) = 5",
            "{own} > 'C'",
        ),
    ),
    "date": Column(
        "DATE",
        "DATE '{year}-01-01'",
        "{year}-01-01",
        (
            *COMPARED,
            "year({own}) = {year}",
            "date_trunc('year', {own}) = {a}",
            "{own} > TIMESTAMP '{year}-01-01 00:00:01'",
            "{own} <= TIMESTAMP '{year}-01-01 00:00:00'",
            "{own} = '{year}-01-01'",
            "{own} BETWEEN {a} AND TIMESTAMP '{year}-12-31 12:00:00'",
            "{own} + INTERVAL 1 DAY > {a}",
        ),
    ),
    "boolean": Truth(
        "BOOLEAN",
        "",
        "",
        (*COMPARED, "{own}", "NOT {own}", "{own} IS TRUE", "{own} IS NOT TRUE", "coalesce({own}, false)"),
        YEARS[:2],
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=COLUMNS)
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("blocks"), 3, COLUMNS[request.param])
    yield made
    made.close()


def test_no_unit_of_another_block_moves_a_number(world: World) -> None:
    planned, fewer = check(world, 60, 7)
    assert planned > 30
    assert fewer > 8


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(2))
def test_no_unit_of_another_block_moves_a_number_of_many(world: World, seed: int) -> None:
    planned, fewer = check(world, 500, 200 + seed)
    assert planned >= 300
    assert fewer > 60


def test_stages_pay_in_the_blocks_of_each(world: World) -> None:
    """Of two stages, one of a block and one of another: both are paid, and nothing of a third one moves."""
    one, other = (f"p.cohort = {world.column.of(year)}" for year in YEARS[:2])
    assert world.session.blocks is not None
    for sql in STAGED:
        plan = plan_of(world.session, sql.format(c=one, d=other), 1.0)
        assert blocks_read(plan, world.session.blocks) == {1, 2}, sql
        assert world.moved(plan) == [], sql


def test_a_stage_that_is_left_out_is_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted error: the first condition on the column is taken for all."""
    right, first = unit_blocks._left_by, list[frozenset[int]]()

    def as_the_first(*given: object) -> frozenset[int]:
        first[:] = first or [right(*given)]  # type: ignore[arg-type]  # passed on
        return first[0]

    monkeypatch.setattr(unit_blocks, "_left_by", as_the_first)
    chance, found = random.Random(1), 0
    for _ in range(40):
        c, d = (condition(chance, "p.cohort", (), 1, world.column) for _ in range(2))
        try:
            plan = plan_of(world.session, chance.choice(STAGED).format(c=c, d=d), 1.0)
        except dpsql.Error:
            continue
        first.clear()
        found += bool(world.moved(plan))
    assert found
