"""In which blocks of units a plan is paid: those that a private row which it measures can belong to.

    SELECT ward, COUNT(*) FROM patients WHERE cohort = 2025 GROUP BY ward      cohort 2025
    the same, and a range that is found first                                  all, for the range

Claim   no unit of another block moves any number that the plan measures.
Proof   All that is measured of private rows is computed from the relations of its measures, which have no
        row of such a unit (facts/unit_blocks.py). Numbers that are measured together are sums of cells: a row
        in which no statement's conditions are all true is in a cell of no number (workload/cells.py), and
        such a cell is not measured (``distinct`` of plan/joint.py, release/matrices.py), so that the rows of
        each statement are looked at. Where cells are measured as products, all are, and all rows count.
Test    tests/privacy/test_unit_blocks.py, tests/privacy/test_blocks_of_files.py
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.facts.unit_blocks import blocks_of
from dpsql.ir.export import ExportPlan
from dpsql.ir.plan import AlertQuestion, MeasurePlan, Plan
from dpsql.ir.relation import Relation
from dpsql.ir.unit_blocks import UnitBlocks


def blocks_read(plan: Plan | ExportPlan, blocks: UnitBlocks) -> frozenset[int]:
    """Return the blocks that a plan is paid in: all, where it can read none, since nobody asks for that.

    An alert is paid in all blocks: which questions will be asked is not known when it is bought.
    """
    relations = [plan.relation] if isinstance(plan, ExportPlan) else [*_relations(plan.measures)]
    if isinstance(plan, Plan) and plan.alert is not None:
        return frozenset(blocks.numbers)
    found = frozenset[int]().union(*(blocks_of(relation, blocks) for relation in relations))
    return found or frozenset(blocks.numbers)


def blocks_asked(question: AlertQuestion, blocks: UnitBlocks) -> frozenset[int]:
    """Return the blocks that a question of an alert reads."""
    relations = _relations((question.measure,))
    return frozenset[int]().union(*(blocks_of(relation, blocks) for relation in relations))


def _relations(measures: tuple[MeasurePlan, ...]) -> Iterator[Relation]:
    for planned in measures:
        yield planned.measure.relation
        yield from (planned.joint and planned.joint.reads) or (planned.measured.measure.relation,)
        if planned.again is not None:
            yield from _relations((planned.again,))
