"""In which blocks statements of a file pay that are measured together: in those of their own conditions."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from test_unit_blocks import YEARS, World, condition

from dpsql.batch.bill import first_bill
from dpsql.batch.script import read
from dpsql.ir.column import BOOLEAN, INTEGER
from dpsql.ir.plan import Plan
from dpsql.ir.scalar import Call, Literal, Ref
from dpsql.plan import blocks
from dpsql.plan.blocks import blocks_read


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("blocks"), 3)
    yield made
    made.close()


def plans_of(world: World, statements: list[str]) -> list[Plan]:
    """Return the plans of statements of a file that are measured together."""
    named = [f"-- name: s{number}\n{sql};\n" for number, sql in enumerate(statements)]
    bill = first_bill(world.connections[0], read("".join(named), "asked"), 1.0)
    return [item.plan for item in bill.items if item.plan.measures[0].joint is not None]


def younger(condition: str) -> list[str]:
    return [f"SELECT COUNT(*) FROM patients WHERE {condition} AND age < {age}" for age in range(20, 80, 10)]


def drawn(chance: random.Random, narrow: bool) -> list[str]:
    """Draw counts of patients, some of them of one cohort alone."""
    years = chance.sample(YEARS, 2)

    def where() -> str:
        cohort = f"cohort = {chance.choice(years)}"
        drawn = condition(chance, "cohort", ["age >= 50", "sex = 'F'"])
        return f"({cohort}) AND ({drawn})" if narrow or chance.random() < 0.7 else drawn

    listed = "CASE WHEN sex = 'F' THEN 1 WHEN sex = 'M' THEN 2 ELSE 3 END"
    shapes = (
        "SELECT COUNT(*) FROM patients WHERE {}",
        f"SELECT {listed} AS k, COUNT(*) FROM patients WHERE {{}} GROUP BY 1",
    )
    return [*younger(where()), *(chance.choice(shapes).format(where()) for _ in range(6))]


def check(world: World, files: int, seed: int) -> tuple[int, int]:
    """Return how many files were measured together, and how many of these in fewer than all blocks."""
    chance, together, fewer = random.Random(seed), 0, 0
    assert world.session.blocks is not None
    for number in range(files):
        asked = drawn(chance, number % 2 == 0)
        plans = plans_of(world, asked)
        if not plans:
            continue
        together += 1
        read_by = {blocks_read(plan, world.session.blocks) for plan in plans}
        assert len({plan.digest for plan in plans}) == len(read_by) == 1, "one debit, whoever asks first"
        fewer += len(next(iter(read_by))) < len(world.session.blocks.numbers)
        assert world.moved(plans[0]) == [], asked
    return together, fewer


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(1, 11))
def test_no_unit_of_another_block_moves_what_is_measured_together(world: World, seed: int) -> None:
    together, fewer = check(world, 6, seed)
    assert together >= 3
    assert fewer >= 1


def test_one_statement_that_is_left_out_is_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted error: the blocks of the first statement stand for those of all."""
    plans = plans_of(world, younger("cohort = 2023") + younger("cohort = 2024"))
    assert plans
    assert world.moved(plans[0]) == []
    monkeypatch.setattr(blocks, "_of_cells", lambda *given: frozenset({1}))
    assert world.moved(plans[0])


def test_cells_in_another_order_are_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted error: cells are taken for those of the next cohort, as if their parts were turned."""
    right, cohorts = blocks._of_cells, 3
    monkeypatch.setattr(
        blocks, "_of_cells", lambda cells, at, all_: right(cells, _turned(at, len(at) // cohorts), all_)
    )
    plans = plans_of(world, younger("cohort = 2023") + younger("cohort = 2024"))
    assert world.moved(plans[0])


def _turned(places: tuple[int, ...], by: int) -> tuple[int, ...]:
    return (*places[-by:], *places[:-by])


def test_the_union_of_the_statements_is_paid(world: World) -> None:
    own, other = younger("cohort = 2023"), younger("cohort = 2025")
    everybody = ["SELECT COUNT(*) FROM patients WHERE age < 50"]
    assert world.session.blocks is not None
    for statements, expected in ((own, {1}), (own + other, {1, 3}), (own + everybody, {0, 1, 2, 3})):
        plans = plans_of(world, statements)
        assert len(plans) == len(statements)
        assert {blocks_read(plan, world.session.blocks) for plan in plans} == {frozenset(expected)}


def test_a_case_of_many_conditions_is_read_as_nested_ones() -> None:
    """Lists of more than a hundred values are one CASE (workload/cells.py)."""
    conditions = [Ref(f"c{place}") for place in range(3)]
    one, two, three = (Literal(kind, INTEGER) for kind in range(3))
    whole = Call("case", (conditions[0], one, conditions[1], two, conditions[2], one, three))
    assert blocks._results(whole) == {0, 1, 2}
    no, yes = Literal(False, BOOLEAN), Literal(True, BOOLEAN)
    expected = (conditions[0], no, conditions[1], yes, conditions[2], no, no)
    assert blocks._is(whole, 1) == Call("case", expected)
