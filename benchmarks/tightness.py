"""How much of its declared sensitivity does a unit reach, over every third fixture?

A sensitivity that nothing reaches is noise given away. For each measure of every third accepted fixture,
units are made up with the ends of all ranges in as many rows as count in full, and in four times as many
(dpsql/audit/made_units.py): the furthest that one of them moves the sums, of what the plan declares. Where
few rows satisfy all conditions, chance may not find the furthest: the figures are lower bounds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb

import dpsql
from benchmarks.timing import ROOT, Report, Setting, Table, Verdict
from dpsql.audit import plan_of
from dpsql.audit.made_units import MadeUnits
from dpsql.audit.oracles import ready_measures, shares, violations
from dpsql.ir.plan import MeasurePlan

if TYPE_CHECKING:
    from cases import Case

FIXTURES = ROOT / "grammar_tests"
EACH = 3
TRIALS = 60
REACHED = 0.9


@dataclass(frozen=True, slots=True)
class Furthest:
    """What one measure reaches, by units whose rows count in full, and by any."""

    case: str
    keys: bool
    clipped: bool
    in_full: float
    anyhow: float
    broken: tuple[str, ...]


def run(setting: Setting) -> Report:
    sys.path.insert(0, str(FIXTURES))
    from cases import all_cases, script

    path = setting.folder / "world.duckdb"
    with duckdb.connect(str(path)) as plain:
        plain.execute(script("world"))
    cases = [case for case in all_cases() if case.outcome == "accepted"][:: 240 if setting.quick else EACH]
    trials = 6 if setting.quick else TRIALS
    return reported([each for case in cases for each in _of_case(setting, case, trials)])


def reported(found: list[Furthest]) -> Report:
    table = Table(
        "the furthest that a made-up unit moves a measure's sums, of what is declared",
        ("keys", "rows", "measures", "reach 90 %", "lowest", "a tenth", "a fifth", "median"),
    )
    for keys in (False, True):
        for rows in ("in full", "any"):
            moved = sorted(f.in_full if rows == "in full" else f.anyhow for f in found if f.keys is keys)
            if moved:
                at = (moved[int(part * (len(moved) - 1))] for part in (0, 0.1, 0.2, 0.5))
                table.rows.append(("some" if keys else "none", rows, len(moved), _share(moved), *at))
    low = Table("without keys, below a half", ("measure", "clip", "in full", "any"))
    low.rows.extend(
        (f.case, "clipped" if f.clipped else "one row", f.in_full, f.anyhow)
        for f in sorted(found, key=lambda f: f.in_full)
        if not f.keys and f.in_full < 0.5
    )
    return Report(
        (table, low),
        (
            Verdict(
                "measures without keys that reach 90 %",
                _share([f.in_full for f in found if not f.keys]),
                0.5,
                at_least=True,
            ),
            Verdict("measures that move too far", sum(bool(f.broken) for f in found), 0),
        ),
    )


def _share(moved: list[float]) -> float:
    return sum(each >= REACHED for each in moved) / max(1, len(moved))


def _of_case(setting: Setting, case: Case, trials: int) -> Iterator[Furthest]:
    """Measure every measure of a case that has sums, over all made-up units."""
    path = setting.folder / "world.duckdb"
    with dpsql.connect(path, case.policy, setting.folder / f"{case.policy.name}.ledger") as db:
        session = db._open()
        plan = plan_of(session, case.sql, case.cost)
        measures = [m for m in ready_measures(plan, session.engine, session.sealed) if m.measure.statistics]
        made = MadeUnits(path, session.known)
        try:
            yield from (_furthest(made, measure, case, trials) for measure in measures)
        finally:
            made.close()


def _furthest(made: MadeUnits, measure: MeasurePlan, case: Case, trials: int) -> Furthest:
    reached, broken = [0.0, 0.0], list[str]()
    for place, times in enumerate((1, 4)):
        number = trials if place == 0 else max(3, trials // 5)
        made.make(case.sql, made.measure_sql(measure), range(number), times)
        nothing = made.measured(measure, -1)
        for trial in range(number):
            moved = made.measured(measure, trial)
            reached[place] = max(reached[place], shares(measure, moved, nothing)[0])
            broken += violations(measure, moved, nothing)
            if reached[place] > 0.999:
                break
    clipped = measure.shape.name != "ROWS"
    return Furthest(case.id, bool(measure.keys), clipped, reached[0], max(reached), tuple(broken))
