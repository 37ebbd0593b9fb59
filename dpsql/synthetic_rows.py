"""Synthetic rows: whole rows that are drawn from a private view which is bought.

    census         31 ages x 3 sexes x 4 wards, with counts and their noise
    20,000 rows    (41, F, Oncology), (17, NULL, Maternity), ... in an order that says nothing

Claim   costs nothing: post-processing of what the ledger holds.
Proof   reads the released table of the view and fresh random bytes alone. A view that this analyst has not
        paid for is refused: nothing is bought or joined here.
Test    tests/privacy/test_synthetic_rows.py
"""

from __future__ import annotations

import os
from typing import Any, TypeAlias

from dpsql.errors import InterfaceError, refuse
from dpsql.ir.column import Kind, Value
from dpsql.ir.export import Export
from dpsql.ir.plan import MeasurePlan, Plan, PublicKeys
from dpsql.ir.source import Source
from dpsql.ir.synthetic import SyntheticRows
from dpsql.ir.table import ReleasedTable
from dpsql.late_numpy import np
from dpsql.mechanisms.sampler import Words
from dpsql.mechanisms.synthetic.systematic import secret_order
from dpsql.mechanisms.synthetic.whole_rows import whole_rows
from dpsql.planning import parsed, planned_query
from dpsql.post.synthetic import fitted_of, noise_of_pairs, valued
from dpsql.private_views import known_with, unknown
from dpsql.releasing import tables_of
from dpsql.session import Session

FORMAT = "dpsql synthetic rows 1"


def synthetic_rows(session: Session, name: str, rows: int, words: Words = os.urandom) -> Export:
    """Name of a private view -> so many synthetic rows of it; they are drawn anew each time."""
    most = session.policy.limits.rows
    if not 1 <= rows <= most:
        raise InterfaceError(
            f"a file has 1 to {most:,} synthetic rows, not {rows:,}",
            help="ask for fewer, or let the owner set rows in [limits] of the policy",
        )
    plan = _plan_of(session, name)
    planned, *_ = plan.measures  # sums follow the counts
    table = _released(session, name, plan)
    drawn, total = _of_synthetic(planned, table, rows, words) or _of_counts(planned, table, rows, words)
    manifest = _manifest(session, plan, total, rows)
    if isinstance(planned.rule, SyntheticRows):
        pairs = noise_of_pairs(table, planned)
        manifest["pairs"] = [{"columns": list(titles), "noise": noise} for titles, noise in pairs]
    return Export(
        planned.measure.titles, _types(planned), drawn, manifest, 0.0, session.remaining(), repeated=False
    )


Drawn: TypeAlias = tuple[list[tuple[Value, ...]], float]
"""Rows, and how many rows the view has."""


def _of_counts(planned: MeasurePlan, table: ReleasedTable, rows: int, words: Words) -> Drawn:
    """Draw rows from the counts of all combinations."""
    cells = table.sums[:, 0] / planned.measure.statistics[0].most
    counts = whole_rows(cells, float(cells.sum()), rows, words)
    places = np.repeat(np.arange(len(counts)), counts)[secret_order(rows, words)]
    return [table.groups[place] for place in places.tolist()], float(cells.sum())


def _of_synthetic(planned: MeasurePlan, table: ReleasedTable, rows: int, words: Words) -> Drawn | None:
    """Draw rows from what fits noisy marginals; None for a view of counts."""
    if not isinstance(planned.rule, SyntheticRows):
        return None
    fitted = fitted_of(table, planned)
    return valued(planned.rule, fitted.rows(rows, words)), fitted.total


def _plan_of(session: Session, name: str) -> Plan:
    """Return the plan that reads a private view and nothing else."""
    quoted = name.replace('"', '""')
    query = parsed(session, Source(f'FROM "{quoted}"', "view"), ())
    if known_with(session, query) is None:
        raise unknown(session, name)
    return planned_query(session, query, session.terms(None))


def _released(session: Session, name: str, plan: Plan) -> ReleasedTable:
    """Return what the ledger holds of a view that is paid for."""
    receipt = session.stored(plan)
    if receipt is None or receipt.answer is None:
        raise refuse(
            "D409",
            f"the private view {name} is not paid for",
            label=f"by {session.analyst}" if session.analyst is not None else "nobody has asked it",
            help=f"ask it once, which pays for it: SELECT COUNT(*) FROM {name}",
        )
    return tables_of(plan, receipt.answer)[0]


def _types(planned: MeasurePlan) -> tuple[str, ...]:
    types = [column.fact.type for column in planned.keys]
    return tuple("VARCHAR" if each.kind is Kind.TEXT else each.sql for each in types)


def _manifest(session: Session, plan: Plan, total: float, rows: int) -> dict[str, Any]:
    """Return what a reader of the file must know; made of the plan and of released numbers."""
    planned, *_ = plan.measures
    view, rule, unit = planned.measure.view, planned.rule, session.known.unit
    assert view is not None
    assert isinstance(rule, PublicKeys | SyntheticRows)
    columns = zip(planned.measure.titles, _types(planned), rule.domains, strict=True)
    return {
        "format": FORMAT,
        "synthetic": True,
        "view": view.name,
        "method": view.method or "all combinations",
        "bought": "" if plan.bought is None else plan.bought.time,
        "unit": unit,
        "epsilon": plan.epsilon,
        "accountant": plan.accountant,
        "rows": rows,
        "rows_of_the_view": round(total),
        "columns": [{"name": name, "type": kind, "values": len(values)} for name, kind, values in columns],
        "note": f"No row is a {unit}: rows are drawn from the noisy counts of a private view, and any "
        "likeness is chance. A count of the file, times rows_of_the_view / rows, estimates the same count of "
        "the data; its error is not known from the file. Ask the view itself, which is free.",
    }
