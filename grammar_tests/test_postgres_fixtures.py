"""Accepted fixtures on a PostgreSQL server: DuckDB's exact tables, the clip, or a refusal before payment.

python -m pytest grammar_tests/test_postgres_fixtures.py                    all of them, some minutes
python -m pytest grammar_tests/test_postgres_fixtures.py -m "not sweep"     a share
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
from cases import Case, all_cases
from postgres_servers import Server, needs_postgres, running_server
from postgres_worlds import EVERYTHING, amended, engine, load

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.neighbours import without
from dpsql.audit.oracles import ready_measures, violations
from dpsql.engines import special_units
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.exact_tables import measured
from dpsql.engines.extremes import Extremes
from dpsql.engines.postgres.dialect import Postgres
from dpsql.engines.postgres.engine import PostgresEngine
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.table import ExactTable
from dpsql.session import Session

pytestmark = needs_postgres

LIMIT = 30.0
"""Seconds after which a case is left: some multiply the rows of busy units, and PostgreSQL needs minutes."""

CASES = [case for case in all_cases() if case.outcome == "accepted"]

UNITS = (1, 12, 20)
"""Units that are left out in a database each: a patient, one with odd values, a stranger or a busy one."""

EQUAL, REFUSED, ABSENT, SLOW = "equal", "refused", "a column is absent", "slow"

ANSWERED = {
    "aggregates": 0.92, "attacks": 0.96, "bounds": 0.97, "cte": 0.87, "from": 0.56, "group_by": 0.97,
    "having": 1.0, "joins": 1.0, "keys": 0.94, "options": 1.0, "order_limit": 1.0, "per_unit": 0.86,
    "pivot": 0.7, "post": 1.0, "public": 1.0, "scalars": 0.65, "select": 0.92, "sets": 1.0, "stages": 1.0,
    "subqueries": 0.97, "units": 0.34, "views": 1.0, "where": 0.95,
}  # fmt: skip
"""The least share of equal tables in each folder: it may rise, and no case may be answered otherwise."""

UNLIKE = {
    "where/moments.sql: the days since a moment": "DuckDB counts the weeks since a day before our era anew",
    "scalars/real_numbers.sql: angles of two zeros, of which only a float may be negative": "the sign of a 0",
}
"""Cases whose tables differ, and why that is the meaning of one function on one row."""


@dataclass
class Both:
    """The adversarial world in both engines, and its neighbours in databases of the server.

    ``fast``, and the engines of the neighbours, sum everything and correct the few.
    """

    folder: Path
    file: Path
    here: PostgresEngine
    fast: PostgresEngine
    there: DuckDB
    neighbours: dict[str, PostgresEngine]
    connections: dict[str, dpsql.Connection]

    def session(self, case: Case) -> Session:
        name = case.policy.name
        if name not in self.connections:
            self.connections[name] = dpsql.connect(self.file, case.policy, self.folder / f"{name}.ledger")
        return self.connections[name]._open()

    def measures(self, case: Case) -> list[MeasurePlan]:
        session = self.session(case)
        return ready_measures(plan_of(session, case.sql, case.cost), self.there, session.sealed)

    def measured(self, planned: MeasurePlan, engine: PostgresEngine | None = None) -> ExactTable:
        engine = engine or self.here
        timer = threading.Timer(LIMIT, engine.interrupt)
        timer.start()
        try:
            return engine.measure(planned)
        finally:
            timer.cancel()

    def outcome(self, case: Case) -> str:
        """Compare the tables of all measures of a case; say how it differs, if it does."""
        for planned in self.measures(case):
            try:
                self.here.measure_sql(planned)
            except dpsql.OperationalError as refusal:
                return {"D605": REFUSED, "D602": ABSENT}.get(refusal.code, str(refusal))
            try:
                ours, corrected = (sums_of(self.measured(planned, each)) for each in (self.here, self.fast))
            except dpsql.OperationalError as error:
                if error.title != "the query was interrupted":
                    raise
                return SLOW
            if ours != sums_of(measured(planned, self.there._all, self.there._arrays)):
                return "another table"
            if corrected != ours:
                return "another table where the few are corrected"
        return EQUAL


def sums_of(exact: ExactTable) -> dict[str, tuple[int, ...]]:
    """Return the sums by group, without those that are all zero."""
    rows = zip(exact.groups, exact.sums.tolist(), strict=True)
    return {repr(group): tuple(sums) for group, sums in rows if any(sums)}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as running:
        yield running


@pytest.fixture(scope="module")
def both(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("postgres")
    file = amended(folder, "world")
    load(server, "world", file).close()
    here, fast = engine(server, "world"), engine(server, "world", EVERYTHING)
    made = Both(folder, file, here, fast, DuckDB(file), {}, {})
    known = made.session(CASES[0]).known
    for unit in UNITS:
        without(file, folder / f"{unit}.duckdb", known, unit)
        load(server, f"w{unit}", folder / f"{unit}.duckdb").close()
        made.neighbours[str(unit)] = engine(server, f"w{unit}", EVERYTHING)
    yield made
    for opened in (made.here, made.fast, made.there, *made.neighbours.values(), *made.connections.values()):
        opened.close()


def moved(both: Both, case: Case) -> list[str]:
    """Say where one unit moves the tables of a case by more than is declared, on the server itself."""
    problems = []
    for planned in both.measures(case):
        try:
            both.here.measure_sql(planned)
        except dpsql.OperationalError:
            continue
        try:
            exact = both.measured(planned)
        except dpsql.OperationalError as error:
            if error.title != "the query was interrupted":
                raise
            continue
        for name, neighbour in both.neighbours.items():
            found = violations(planned, exact, neighbour.measure(planned))
            problems += [f"{case.id} without {name}: {problem}" for problem in found]
    return problems


def test_a_share_of_the_fixtures(both: Both) -> None:
    outcomes = {case.id: both.outcome(case) for case in CASES[1::100]}  # of others, one takes half a minute
    assert set(outcomes.values()) <= {EQUAL, REFUSED, ABSENT, SLOW}, outcomes
    assert Counter(outcomes.values())[EQUAL] >= len(outcomes) * 2 // 3


def test_fits_read_what_is_computed_once(both: Both) -> None:
    """Formulas of formulas, written into each other, took minutes and all memory."""
    fits = [case for case in CASES if case.id.startswith(("from/models.sql", "from/logistic.sql"))]
    assert {both.outcome(case) for case in fits} == {EQUAL}


def test_the_clip_holds_on_a_share(both: Both) -> None:
    assert [problem for case in CASES[::200] for problem in moved(both, case)] == []


@pytest.mark.sweep
def test_all_fixtures(both: Both) -> None:
    outcomes = {case.id: both.outcome(case) for case in CASES}
    known = (EQUAL, REFUSED, ABSENT, SLOW)
    assert {each: said for each, said in outcomes.items() if said not in known and each not in UNLIKE} == {}
    folders = Counter(each.split("/")[0] for each in outcomes)
    equal = Counter(each.split("/")[0] for each, said in outcomes.items() if said == EQUAL)
    shares = {folder: equal[folder] / count for folder, count in folders.items()}
    assert {folder: share for folder, share in shares.items() if share < ANSWERED.get(folder, 0)} == {}


@pytest.mark.sweep
def test_the_clip_holds_on_all(both: Both) -> None:
    assert [problem for case in CASES for problem in moved(both, case)] == []


def double(self: Postgres, sql: str) -> str:
    return f"CAST(2 * trunc({sql}) AS int8)"


def rounded_down(self: Postgres, sql: str) -> str:
    return f"CAST(floor({sql}) AS int8)"


@pytest.mark.parametrize(("method", "plant"), [("cut", double), ("whole", rounded_down)])
def test_planted_errors_are_found(
    both: Both, monkeypatch: pytest.MonkeyPatch, method: str, plant: object
) -> None:
    monkeypatch.setattr(Postgres, method, plant)
    cases = [case for case in CASES if case.id.startswith(("aggregates/sums", "aggregates/averages"))]
    assert "another table" in {both.outcome(case) for case in cases}


def one_unit_short(patch: pytest.MonkeyPatch) -> None:
    found = special_units.found_sql
    others = "SELECT * FROM {0} AS f WHERE u IS DISTINCT FROM (SELECT max(u) FROM {0} AS f)"
    patch.setattr(special_units, "found_sql", lambda *given: others.format(f"({found(*given)})"))


def nobody_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    found = special_units.found_sql
    belongs = "SELECT * FROM ({}) AS f WHERE u IS NOT NULL"
    patch.setattr(special_units, "found_sql", lambda *given: belongs.format(found(*given)))


def changes_are_halved(patch: pytest.MonkeyPatch) -> None:
    squares = Postgres.squares
    patch.setattr(Postgres, "squares", lambda self, names: f"({squares(self, names)}) / 4")


def strays_are_not_clamped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Extremes, "of_argument", lambda self, statistic, relation: (statistic.low, statistic.high))


CORRECTED = (
    (one_unit_short, "group_by"),
    (nobody_is_forgotten, "bounds/found"),
    (changes_are_halved, "group_by"),
    (strays_are_not_clamped, "aggregates/sums"),
)


@pytest.mark.parametrize(
    ("plant", "folder"), CORRECTED, ids=lambda given: getattr(given, "__name__", given).replace("_", " ")
)
def test_planted_errors_of_corrections_are_found(
    both: Both, monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None], folder: str
) -> None:
    plant(monkeypatch)
    both.fast._fast_sums().forget()
    cases = [case for case in CASES if case.id.startswith(folder)]
    try:
        assert any("another table" in both.outcome(case) for case in cases)
    finally:
        both.fast._fast_sums().forget()


def test_texts_without_their_case_are_found(server: Server, both: Both, tmp_path: Path) -> None:
    """A measure that compared units by a loose collation would make one of two."""
    file = tmp_path / "spelled.duckdb"
    with duckdb.connect(str(file)) as made:
        made.execute("CREATE TABLE stays (person VARCHAR, n INTEGER)")
        made.execute("INSERT INTO stays VALUES ('ann', 1), ('Ann', 1), ('ann ', 1)")
    load(server, "spelled", file).close()
    with closing(engine(server, "spelled")) as opened:
        rows = opened._ask(f"SELECT person, count(*) FROM {opened._rows('stays')} GROUP BY person")
    assert len(rows) == 3
