"""Accepted fixtures on Spark: DuckDB's exact tables, the clip on neighbours, or a refusal before payment.

python -m pytest grammar_tests/test_spark_fixtures.py -n0    with SPARK_STEP=1 all of them, half an hour

Statements run without compiled code, which takes a second each; tests/privacy/test_spark.py runs with it.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cases import Case, all_cases
from folders import exported
from postgres_worlds import CALENDAR, EVERYTHING, amended
from sparks import MASTER, needs_spark
from test_postgres_fixtures import one_unit_short

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.neighbours import without
from dpsql.audit.oracles import ready_measures, violations
from dpsql.engines import measure_sql
from dpsql.engines.exact_tables import measured
from dpsql.engines.folder import Folder
from dpsql.engines.spark.address import LocalAddress
from dpsql.engines.spark.dialect import Spark
from dpsql.engines.spark.engine import SparkEngine
from dpsql.engines.special_units import Limits
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

EQUAL, REFUSED, ABSENT, SLOW = "equal", "refused", "a column is absent", "slow"

LIMIT = 30.0
"""Seconds after which a case is left: some multiply the rows of busy units."""

ANSWERED = {
    "aggregates": 0.92, "attacks": 0.93, "bounds": 0.88, "cte": 0.83, "from": 0.5, "group_by": 0.96,
    "having": 1.0, "joins": 1.0, "keys": 0.93, "options": 1.0, "order_limit": 1.0, "per_unit": 0.73,
    "pivot": 0.6, "post": 1.0, "public": 1.0, "scalars": 0.61, "select": 0.9, "sets": 0.96, "stages": 1.0,
    "subqueries": 0.96, "units": 0.29, "views": 1.0, "where": 0.83,
}  # fmt: skip
"""The least share of equal tables in each folder: it may rise, and no case may be answered otherwise."""

UNLIKE = {
    "attacks/bounds.sql: a date moved beyond its calendar": "moments after the year 9999 are NULL",
    "scalars/moments.sql: months, quarters and years of a column": "moments after the year 9999 are NULL",
    "scalars/time_zones.sql: the clocks of two cities": "moments before the year 1 are NULL",
    "where/moments.sql: the days since a moment": "DuckDB counts the weeks since a day before our era anew",
}
"""Cases whose tables differ, and why that is the meaning of one function on one row."""

FAST = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
}


@dataclass
class Both:
    """The adversarial world for both engines, and its neighbours in folders of their own.

    ``fast``, and the engines of the neighbours, sum everything and correct the few.
    """

    folder: Path
    file: Path
    here: SparkEngine
    fast: SparkEngine
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
            known = sums_of(measured(planned, self.there._all, self.there._arrays))
            tables = [sums_of(exact) for exact in self.measured(planned, self.here, self.fast)]
            if not tables:
                return SLOW
            if tables[0] != known:
                return "another table"
            if tables[1] != known:
                return "another table where the few are corrected"
        return EQUAL

    def measured(self, planned: MeasurePlan, *engines: SparkEngine) -> list[ExactTable]:
        """Measure on each engine; return nothing where one takes too long."""
        tables = []
        for engine in engines:
            timer = threading.Timer(LIMIT, engine.interrupt)
            timer.start()
            try:
                tables.append(engine.measure(planned))
            except dpsql.OperationalError as error:
                if error.title != "the query was interrupted":
                    raise
                return []
            finally:
                timer.cancel()
        return tables

    def moved(self, case: Case) -> list[str]:
        """Say where one unit moves the tables of a case by more than is declared, on Spark itself."""
        problems = []
        for planned in self.measures(case):
            try:
                self.here.measure_sql(planned)
            except (KeyError, dpsql.OperationalError):
                continue
            exact = self.measured(planned, self.here, *self.neighbours.values())
            for name, other in zip(self.neighbours, exact[1:], strict=True) if exact else ():
                found = violations(planned, exact[0], other)
                problems += [f"{case.id} without {name}: {problem}" for problem in found]
        return problems


def sums_of(exact: ExactTable) -> dict[str, tuple[int, ...]]:
    rows = zip(exact.groups, exact.sums.tolist(), strict=True)
    return {repr(group): tuple(sums) for group, sums in rows if any(sums)}


def policy() -> Policy:
    path = Path(__file__).with_name("world.toml")
    return parse_policy(path.read_text(encoding="utf-8"), path.name)


def opened(file: Path, limits: Limits | None = None) -> SparkEngine:
    folder = file.with_suffix("")
    if not folder.exists():
        exported(file, folder, "parquet")
    engine = SparkEngine(LocalAddress(folder, MASTER[6:-1]), policy(), limits)
    for name, value in FAST.items():
        engine._session.conf.set(name, value)
    return engine


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("spark")
    file = amended(folder, "world", CALENDAR)
    here, fast = opened(file), opened(file, EVERYTHING)
    made = Both(folder, file, here, fast, Folder(file.with_suffix(""), policy()), {})
    known = made.session(CASES[0]).known
    for unit in UNITS:
        without(file, folder / f"w{unit}.duckdb", known, unit)
        made.neighbours[str(unit)] = opened(folder / f"w{unit}.duckdb", EVERYTHING)
    yield made
    for each in (here, fast, made.there, *made.neighbours.values(), *made.connections.values()):
        each.close()


def test_fixtures(both: Both) -> None:
    outcomes: dict[str, str] = {}
    for case in CASES[::STEP]:
        outcomes[case.id] = both.outcome(case)
        print(f"{outcomes[case.id]}: {case.id}", flush=True)
    known = (EQUAL, REFUSED, ABSENT, SLOW)
    assert {each: said for each, said in outcomes.items() if said not in known and each not in UNLIKE} == {}
    folders = Counter(each.split("/")[0] for each in outcomes)
    equal = Counter(each.split("/")[0] for each, said in outcomes.items() if said == EQUAL)
    shares = {folder: equal[folder] / count for folder, count in folders.items()}
    print(Counter(outcomes.values()), {folder: (equal[folder], count) for folder, count in folders.items()})
    if STEP == 1:
        assert {folder: share for folder, share in shares.items() if share < ANSWERED.get(folder, 0)} == {}
    else:
        assert sum(equal.values()) >= len(outcomes) * 2 // 3


def test_the_clip_holds(both: Both) -> None:
    assert [problem for case in CASES[::STEP] for problem in both.moved(case)] == []


# ---- planted errors: each is found by the tables of fixtures -------------------------------------------


def cut(self: Spark, sql: str) -> str:
    return f"CAST({sql} AS bigint)"


def overflowing(self: Spark, sql: str) -> str:
    return f"coalesce(sum(CAST({sql} AS decimal(4,0))), 0)"


def found_by_tables(both: Both, folder: str) -> bool:
    both.fast._fast_sums().forget()
    try:
        cases = [case for case in CASES if case.id.startswith(folder)][:20]
        return any("another table" in both.outcome(case) for case in cases)
    finally:
        both.fast._fast_sums().forget()


@pytest.mark.parametrize(("method", "plant"), [("whole", cut), ("summed", overflowing)])
def test_planted_errors_are_found(
    both: Both, monkeypatch: pytest.MonkeyPatch, method: str, plant: object
) -> None:
    """A cast that cuts, and a sum of decimals that overflows to NULL."""
    monkeypatch.setattr(Spark, method, plant)
    assert found_by_tables(both, "aggregates/sums") or found_by_tables(both, "aggregates/averages")


def test_a_forgotten_unit_is_found(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    one_unit_short(monkeypatch)
    assert found_by_tables(both, "group_by/public_keys")


def test_an_unclipped_unit_is_found(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what one unit moves, on Spark itself."""
    monkeypatch.setattr(measure_sql, "clipped_sql", lambda name, *_: name)
    cases = [case for case in CASES if case.id.startswith("group_by/public_keys")]
    assert any(both.moved(case) for case in cases)


def test_a_cast_that_raises_is_found(both: Both) -> None:
    """An ANSI session, in which a cast of one row's text fails: no measure is run there."""
    [case] = [case for case in CASES if case.id == "scalars/casts.sql: a text as a number"]
    [planned] = both.measures(case)
    both.here._session.conf.set("spark.sql.ansi.enabled", "true")
    try:
        with pytest.raises(dpsql.OperationalError, match="ansi"):
            both.here.measure(planned)
    finally:
        both.here._session.conf.set("spark.sql.ansi.enabled", "false")
    assert both.outcome(case) == EQUAL
