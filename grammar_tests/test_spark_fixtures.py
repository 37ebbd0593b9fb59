"""Accepted fixtures on Spark: DuckDB's exact tables, the clip on neighbours, or a refusal before payment.

python -m pytest grammar_tests/test_spark_fixtures.py -n0    with SPARK_STEP=1 all of them, which takes hours
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cases import Case, all_cases
from folders import exported
from postgres_worlds import CALENDAR, amended
from sparks import MASTER, needs_spark

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.neighbours import without
from dpsql.audit.oracles import ready_measures, violations
from dpsql.engines.exact_tables import measured
from dpsql.engines.folder import Folder
from dpsql.engines.spark.address import SparkAddress
from dpsql.engines.spark.engine import SparkEngine
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.table import ExactTable
from dpsql.policy.model import Policy
from dpsql.session import Session
from dpsql.session.checks import parse_policy

pytestmark = needs_spark

STEP = int(os.environ.get("SPARK_STEP", "40"))
CASES = [case for case in all_cases() if case.outcome == "accepted"]
UNITS = (1, 12)
"""Units that are left out in a folder each: a patient, and one with odd values."""

EQUAL, REFUSED, ABSENT = "equal", "refused", "a column is absent"

ANSWERED = 0.5
"""The least share of equal tables: it may rise, and no case may be answered otherwise."""


@dataclass
class Both:
    """The adversarial world for both engines, and its neighbours in folders of their own."""

    folder: Path
    file: Path
    here: SparkEngine
    there: Folder
    neighbours: dict[str, SparkEngine]
    connections: dict[str, dpsql.Connection] = field(default_factory=dict)

    def session(self, case: Case) -> Session:
        name = case.policy.name
        if name not in self.connections:
            self.connections[name] = dpsql.connect(self.file, case.policy, self.folder / f"{name}.ledger")
        return self.connections[name]._open()

    def measures(self, case: Case) -> list[MeasurePlan]:
        session = self.session(case)
        return ready_measures(plan_of(session, case.sql, case.cost), self.there, session.sealed)

    def outcome(self, case: Case) -> str:
        for planned in self.measures(case):
            try:
                self.here.measure_sql(planned)
            except KeyError:
                return ABSENT
            except dpsql.OperationalError as refusal:
                if refusal.code == "D605":
                    return REFUSED
                raise
            known = measured(planned, self.there._all, self.there._arrays)
            if sums_of(self.here.measure(planned)) != sums_of(known):
                return "another table"
        return EQUAL

    def moved(self, case: Case) -> list[str]:
        """Say where one unit moves the tables of a case by more than is declared, on Spark itself."""
        problems = []
        for planned in self.measures(case):
            try:
                self.here.measure_sql(planned)
            except (KeyError, dpsql.OperationalError):
                continue
            exact = self.here.measure(planned)
            for name, neighbour in self.neighbours.items():
                found = violations(planned, exact, neighbour.measure(planned))
                problems += [f"{case.id} without {name}: {problem}" for problem in found]
        return problems


def sums_of(exact: ExactTable) -> dict[str, tuple[int, ...]]:
    rows = zip(exact.groups, exact.sums.tolist(), strict=True)
    return {repr(group): tuple(sums) for group, sums in rows if any(sums)}


def policy() -> Policy:
    path = Path(__file__).with_name("world.toml")
    return parse_policy(path.read_text(encoding="utf-8"), path.name)


def opened(file: Path) -> SparkEngine:
    folder = file.with_suffix("")
    exported(file, folder, "parquet")
    return SparkEngine(SparkAddress(MASTER[6:-1], folder), policy())


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("spark")
    file = amended(folder, "world", CALENDAR)
    here = opened(file)
    made = Both(folder, file, here, Folder(file.with_suffix(""), policy()), {})
    known = made.session(CASES[0]).known
    for unit in UNITS:
        without(file, folder / f"w{unit}.duckdb", known, unit)
        made.neighbours[str(unit)] = opened(folder / f"w{unit}.duckdb")
    yield made
    for each in (made.here, made.there, *made.neighbours.values(), *made.connections.values()):
        each.close()


def test_fixtures(both: Both) -> None:
    outcomes = {case.id: both.outcome(case) for case in CASES[::STEP]}
    assert {each: said for each, said in outcomes.items() if said not in (EQUAL, REFUSED, ABSENT)} == {}
    counted = Counter(outcomes.values())
    assert counted[EQUAL] >= ANSWERED * len(outcomes), counted


def test_the_clip_holds(both: Both) -> None:
    assert [problem for case in CASES[:: 3 * STEP] for problem in both.moved(case)] == []
