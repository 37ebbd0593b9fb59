"""In which blocks of units a plan is paid: those that a private row which it measures can belong to.

    SELECT ward, COUNT(*) FROM patients WHERE cohort = 2025 GROUP BY ward      cohort 2025
    the same, and a range that is found first                                  all, for the range

Claim   no unit of another block moves any number that the plan measures.
Proof   All that is measured of private rows is computed from the relations of its measures, which have no
        row of such a unit (facts/unit_blocks.py). Numbers that are measured together are sums of cells, of
        which those of no number are not measured (``places`` of -1: release/matrices.py). A row of a cell has
        in each part the result that is the cell's, and is so in the relation that is filtered by it: a unit
        of a block that one of these filters leaves out has no row in the cell.
Test    tests/privacy/test_unit_blocks.py, tests/privacy/test_blocks_of_files.py
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from dpsql.facts.unit_blocks import blocks_of
from dpsql.ir.column import BOOLEAN
from dpsql.ir.export import ExportPlan
from dpsql.ir.plan import AlertQuestion, MeasurePlan, Plan
from dpsql.ir.relation import Filter
from dpsql.ir.scalar import Call, Literal, Scalar
from dpsql.ir.unit_blocks import UnitBlocks
from dpsql.ir.votes import VotePlan


def blocks_read(plan: Plan | ExportPlan | VotePlan, blocks: UnitBlocks) -> frozenset[int]:
    """Return the blocks that a plan is paid in: all, where it can read none, since nobody asks for that.

    An alert is paid in all blocks: which questions will be asked is not known when it is bought.
    """
    if not isinstance(plan, Plan):
        return blocks_of(plan.relation, blocks) or frozenset(blocks.numbers)
    if plan.alert is not None:
        return frozenset(blocks.numbers)
    return _read(plan.measures, blocks) or frozenset(blocks.numbers)


def blocks_asked(question: AlertQuestion, blocks: UnitBlocks) -> frozenset[int]:
    """Return the blocks that a question of an alert reads."""
    return _read((question.measure,), blocks)


def _read(measures: tuple[MeasurePlan, ...], blocks: UnitBlocks) -> frozenset[int]:
    return frozenset[int]().union(*(read for planned in measures for read in _each_read(planned, blocks)))


def _each_read(planned: MeasurePlan, blocks: UnitBlocks) -> Iterator[frozenset[int]]:
    joint = planned.joint
    if joint is None:
        yield blocks_of(planned.measure.relation, blocks)
    else:
        yield _of_cells(joint.cells, joint.applied.places, blocks)
    if planned.again is not None:
        yield _read((planned.again,), blocks)


def _of_cells(cells: MeasurePlan, places: tuple[int, ...], blocks: UnitBlocks) -> frozenset[int]:
    """Return the blocks that rows of the cells which are measured can be in."""
    relation = cells.measure.relation
    whole = blocks_of(relation, blocks)
    if -1 not in places:
        return whole
    parts = [
        [blocks_of(Filter(relation, _is(key.scalar, kind)), blocks) for kind in sorted(_results(key.scalar))]
        for key in cells.measure.keys
    ]
    found = frozenset[int]()
    for place, each in zip(places, itertools.product(*parts), strict=True):
        if place >= 0 and found != whole:
            found |= whole.intersection(*each)
    return found


def _results(part: Scalar) -> set[int]:
    match part:
        case Call("case", parts):
            return set[int]().union(*map(_results, (*parts[1::2], parts[-1])))
        case Literal(int(kind)):
            return {kind}
    raise AssertionError("a part of cells is a tree of CASE")


def _is(part: Scalar, kind: int) -> Scalar:
    """Return the condition that a tree of CASE has a result."""
    match part:
        case Call("case", (*parts, last)):
            told = [_is(each, kind) if place % 2 else each for place, each in enumerate(parts)]
            return Call("case", (*told, _is(last, kind)))
        case Literal(value):
            return Literal(value == kind, BOOLEAN)
    raise AssertionError("a part of cells is a tree of CASE")
