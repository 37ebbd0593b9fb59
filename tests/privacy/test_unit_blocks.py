"""No unit of a block that a query is said not to read moves any exact number of it."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import oracles, plan_of
from dpsql.cli import main
from dpsql.facts import unit_blocks
from dpsql.facts.unit_blocks import blocks_of
from dpsql.ir.plan import MeasurePlan, Plan
from dpsql.ir.relation import Scan
from dpsql.ir.table import ExactTable
from dpsql.ir.unit_blocks import REST, UnitBlocks
from dpsql.plan.blocks import blocks_read
from dpsql.release.matrices import measured
from dpsql.session import Session

YEARS = (2023, 2024, 2025)

POLICY = """
[budget]
epsilon = 2.0
delta = 1e-6
[query]
epsilon = 0.5
[unit]
name = "patient"
table = "patients"
key = "id"
blocks = { column = "cohort", values = [2023, 2024, 2025] }
[tables.patients.columns]
id = {}
cohort = {}
sex = { values = ["F", "M"] }
age = { range = [0, 120] }
[tables.visits]
unit = { column = "patient" }
rows_per_unit = 4
[tables.visits.columns]
visit = {}
patient = {}
ward = { values = ["A", "B"] }
cohort = {}
cost = { range = [0, 100] }
[tables.wards]
public = true
key = "ward"
"""
"""A visit's cohort is a decoy: it says nothing of whose visit it is."""


@dataclasses.dataclass(frozen=True)
class Column:
    """The type of the blocks' column, and how a year is written in it: in SQL, in the policy."""

    sql: str
    literal: str
    toml: str
    plain: tuple[str, ...]  # conditions on {own}, with {a} and {b} for two values, {year} for a number
    years: tuple[int, ...] = YEARS

    def of(self, year: int | None) -> str:
        return "NULL" if year is None else self.literal.format(year=year)

    @property
    def listed(self) -> str:
        return ", ".join(self.toml.format(year=year) for year in self.years)

    def policy(self) -> str:
        return POLICY.replace("2023, 2024, 2025", self.listed)


COMPARED = (
    "{own} = {a}",
    "{own} <> {a}",
    "{own} > {a}",
    "{own} <= {a}",
    "{a} <= {own}",
    "{own} BETWEEN {a} AND {b}",
    "{own} IN ({a}, {b})",
    "{own} NOT IN ({a}, {b})",
    "{own} IN ({a}, NULL)",
    "{own} IS NULL",
    "{own} IS NOT NULL",
    "{own} IS DISTINCT FROM {a}",
    "{own} IS NOT DISTINCT FROM {a}",
    "coalesce({own}, {a}) = {b}",
    "(CASE WHEN {own} = {a} THEN true WHEN {own} = {b} THEN false END)",
    "coalesce({own} = {a}, true)",
    "coalesce({own} = {a}, false)",
)
"""What may be asked of a column of any type."""

NUMBERS = Column(
    "INTEGER",
    "{year}",
    "{year}",
    (
        *COMPARED,
        "{own} + 1 = {year}",
        "{own} = {year}.5",
        "{own} > {year}.5",
        "CAST({own} AS DOUBLE) = {year}",
        "{own} % 2 = 1",
    ),
)


def fill(connection: duckdb.DuckDBPyConnection, chance: random.Random, column: Column = NUMBERS) -> None:
    connection.execute(
        f"CREATE TABLE patients (id INTEGER PRIMARY KEY, cohort {column.sql}, sex TEXT, age INTEGER)"
    )
    connection.execute(
        f"CREATE TABLE visits (visit INTEGER, patient INTEGER, ward TEXT, cohort {column.sql}, cost DOUBLE)"
    )
    connection.execute("CREATE TABLE wards (ward TEXT, floor INTEGER)")
    connection.execute("INSERT INTO wards VALUES ('A', 1), ('B', 2)")
    cohorts = (None, 2020, 2022, *YEARS, *YEARS, 2026)
    for unit in range(80):
        own = chance.choice(cohorts)
        row = [unit, chance.choice(["F", "M", None]), chance.choice([None, 20, 50, 80])]
        if unit % 8:  # of the others, no row of their own: they are in the rest
            connection.execute(f"INSERT INTO patients VALUES (?, {column.of(own)}, ?, ?)", row)
        for visit in range(chance.randrange(4)):
            ward, cohort = chance.choice(["A", "B", None]), chance.choice(cohorts)
            row = [10 * unit + visit, unit, ward, chance.choice([5.0, 50.0, None])]
            connection.execute(f"INSERT INTO visits VALUES (?, ?, ?, {column.of(cohort)}, ?)", row)


class World:
    """A database, and copies of it: without all units of a block, and without one of them."""

    def __init__(self, folder: Path, seed: int, column: Column = NUMBERS) -> None:
        self.connections, self.column = [], column
        whole = folder / "whole"
        self.session = self._session(whole, random.Random(seed), "")
        listed = ", ".join(map(column.of, column.years))
        self.without: dict[int, list[Session]] = {}
        for block in range(len(column.years) + 1):
            own = f"cohort = {column.of(column.years[block - 1])}" if block else ""
            here = own or f"cohort IS NULL OR cohort NOT IN ({listed})"
            units = f"SELECT id FROM patients WHERE {here}"
            if not block:
                units += " UNION SELECT patient FROM visits WHERE patient NOT IN (SELECT id FROM patients)"
            some = f"SELECT id FROM ({units} ORDER BY md5(id::VARCHAR)) LIMIT 3"
            self.without[block] = [
                self._session(folder / f"without-{block}-{at}", random.Random(seed), gone)
                for at, gone in enumerate((units, some))
            ]

    def _session(self, folder: Path, chance: random.Random, gone: str) -> Session:
        folder.mkdir()
        (folder / "c.toml").write_text(self.column.policy())
        with duckdb.connect(str(folder / "c.duckdb")) as connection:
            fill(connection, chance, self.column)
            if gone:
                connection.execute(f"CREATE TEMP TABLE gone AS {gone}")
                assert connection.execute("SELECT count(*) FROM gone").fetchall() > [(0,)]
                connection.execute("DELETE FROM visits WHERE patient IN (FROM gone)")
                connection.execute("DELETE FROM patients WHERE id IN (FROM gone)")
        self.connections.append(dpsql.connect(folder / "c.duckdb"))
        return self.connections[-1]._open()

    def close(self) -> None:
        for connection in self.connections:
            connection.close()

    def moved(self, plan: Plan) -> list[str]:
        """Return which blocks that a plan is said not to read move a number that it measures.

        Stages that rest on others are measured over what the whole database released without noise.
        """
        session, problems = self.session, list[str]()
        assert session.blocks is not None
        read = blocks_read(plan, session.blocks)
        for planned in oracles.ready_measures(plan, session.engine, session.sealed):
            measure = planned.measured
            exact = session.engine.measure(measure)
            problems += [
                f"block {block}"
                for block in set(session.blocks.numbers) - read
                for other in self.without[block]
                if _differ(measure, exact, other.engine.measure(measure))
            ]
        return problems


def _differ(planned: MeasurePlan, ours: ExactTable, theirs: ExactTable) -> bool:
    if planned.applied is not None:  # what no number reads is measured by nobody
        return measured(ours, planned) != measured(theirs, planned)
    return any(oracles.shares(planned, ours, theirs))


@pytest.fixture(scope="module", params=[3])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("blocks"), request.param)
    yield made
    made.close()


# ---- drawn queries -----------------------------------------------------------------------------------


def condition(
    chance: random.Random, own: str, others: Sequence[str], depth: int = 2, column: Column = NUMBERS
) -> str:
    """Draw a condition on the column ``own`` of the unit's row, and on others."""
    if depth and chance.random() < 0.5:
        parts = [condition(chance, own, others, depth - 1, column) for _ in range(2)]
        return f"({parts[0]} {chance.choice(['AND', 'OR'])} {parts[1]})"
    if chance.random() < 0.15:
        return f"NOT ({condition(chance, own, others, 0, column)})"
    year, other = chance.choice([2021, 2022, *YEARS, 2026]), chance.choice([*YEARS, 2027])
    plain = [each.format(own=own, a=column.of(year), b=column.of(other), year=year) for each in column.plain]
    plain += ["true", "NULL"] if chance.random() < 0.1 else []
    return chance.choice([*plain, *plain, *others])


STAGED = (
    "SELECT COUNT(*) FROM patients p WHERE p.age > (SELECT AVG(age) FROM patients p WHERE {c}) AND {d}",
    "SELECT COUNT(*) FROM patients p, (SELECT COUNT(*) AS n FROM patients p WHERE {c}) m "
    "WHERE m.n > 3 AND {d}",
    "WITH m AS (SELECT p.sex, COUNT(*) AS n FROM patients p WHERE {c} GROUP BY p.sex) SELECT COUNT(*) "
    "FROM patients p JOIN m ON m.sex = p.sex WHERE m.n > 1 AND {d}",
    "SELECT (SELECT COUNT(*) FROM patients p WHERE {c}) - (SELECT COUNT(*) FROM patients p WHERE {d})",
    "SELECT COUNT(*) FROM patients p WHERE {c} UNION ALL SELECT COUNT(*) FROM patients p WHERE {d}",
)
"""Queries of several stages: what the first releases goes into the next."""


def query(chance: random.Random, column: Column = NUMBERS) -> str:
    second = f"v.cohort = {column.of(2024)}"

    def where(own: str, others: Sequence[str] = (), depth: int = 2) -> str:
        return condition(chance, own, others, depth, column)

    ours, theirs = ["p.sex = 'F'", "p.age > 40"], ["v.ward = 'A'", second, "v.cost > 10"]
    both = [*ours, *theirs, "p.cohort = v.cohort", "p.cohort < v.cohort"]
    c, v = where("p.cohort", ours), where("v.cohort", theirs)
    b = where("p.cohort", both)
    kind = chance.choice(["INNER", "LEFT", "FULL", "RIGHT"])
    on = chance.choice(["", f" AND {where('p.cohort', [second], 0)}"])
    joined = f"patients p {kind} JOIN visits v ON p.id = v.patient{on}"
    swapped = f"visits v {chance.choice(['INNER', 'LEFT'])} JOIN patients p ON p.id = v.patient{on}"
    count = chance.choice(["COUNT(*)", "COUNT(*)", f"COUNT(*) FILTER (WHERE {where('cohort', depth=1)})"])
    of_visits = chance.choice(
        ["COUNT(*)", "SUM(v.cost)", "AVG(v.cost)", "MEDIAN(v.cost)", "COUNT(DISTINCT v.ward)"]
    )
    q = where("q.cohort")
    by = chance.choice(["", "", "v.ward", "p.sex", "p.cohort"])
    group = f" GROUP BY {by}" if by else ""
    shown = f"{by}, " if by else ""
    return chance.choice(
        [
            f"SELECT {count} FROM patients p WHERE {c}",
            f"SELECT p.sex, COUNT(*) FROM patients p WHERE {c} GROUP BY p.sex",
            f"SELECT p.sex, COUNT(*) FROM patients p WHERE {c} GROUP BY CUBE (p.sex)",
            f"SELECT p.cohort, COUNT(*) FROM patients p WHERE {c} GROUP BY p.cohort",
            f"SELECT {of_visits} FROM visits v WHERE {v}",
            f"SELECT {shown}{of_visits} FROM {joined} WHERE {b}{group}",
            f"SELECT {shown}{of_visits} FROM {swapped} WHERE {b}{group}",
            f"SELECT {of_visits} FROM visits v JOIN wards w ON v.ward = w.ward JOIN patients p "
            f"ON p.id = v.patient WHERE {b} AND w.floor = 1",
            f"SELECT {of_visits} FROM visits v WHERE v.patient IN (SELECT p.id FROM patients p WHERE {c})",
            f"SELECT {of_visits} FROM visits v WHERE {chance.choice(['', 'NOT '])}EXISTS "
            f"(SELECT 1 FROM patients p WHERE p.id = v.patient AND {b})",
            f"SELECT COUNT(*) FROM (SELECT id, cohort FROM patients p WHERE {c} UNION ALL "
            f"SELECT id, cohort FROM patients p WHERE {where('p.cohort', ours)}) q WHERE {q}",
            f"SELECT COUNT(*) FROM (SELECT patient AS id, cohort FROM visits UNION ALL "
            f"SELECT id, cohort FROM patients) q WHERE {q}",
            f"WITH n AS (SELECT p.id, p.cohort, COUNT(*) AS n FROM {joined} WHERE {b} "
            f"GROUP BY p.id, p.cohort) SELECT COUNT(*) FROM n q WHERE {q}",
            f"WITH n AS (SELECT p.id, MAX(v.cohort) AS cohort FROM {joined} GROUP BY p.id) "
            f"SELECT COUNT(*) FROM n q WHERE {q}",
            f"SELECT COUNT(*) FROM (SELECT p.*, ROW_NUMBER() OVER (PARTITION BY p.id ORDER BY v.visit) AS k "
            f"FROM {joined} WHERE {c}) q WHERE q.k = 1 AND {q}",
            f"SELECT COUNT(*) FROM patients p JOIN patients q ON p.id = q.id WHERE {c} AND {q}",
            f"SELECT COUNT(*) FROM patients p LEFT JOIN patients q ON p.id = q.id AND {q} WHERE {c}",
            *(staged.format(c=c, d=where("p.cohort", ours)) for staged in STAGED),
        ]
    )


def check(world: World, queries: int, seed: int) -> tuple[int, int]:
    """Ask drawn queries; return how many could be planned, and how many are paid in fewer than all blocks."""
    chance, planned, fewer = random.Random(seed), 0, 0
    assert world.session.blocks is not None
    for _ in range(queries):
        sql = query(chance, world.column)
        try:
            plan = plan_of(world.session, sql, 1.0)
        except dpsql.Error:
            continue
        if not plan.measures:
            continue
        planned += 1
        fewer += len(blocks_read(plan, world.session.blocks)) < len(world.session.blocks.numbers)
        assert world.moved(plan) == [], sql
    return planned, fewer


def test_no_unit_of_another_block_moves_a_number(world: World) -> None:
    planned, fewer = check(world, 120, 5)
    assert planned > 60
    assert fewer > 20


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(5))
def test_no_unit_of_another_block_moves_a_number_of_many(world: World, seed: int) -> None:
    planned, fewer = check(world, 600, 100 + seed)
    assert planned >= 400
    assert fewer > 100


def _reads_any_table(right: object, relation: object, blocks: UnitBlocks) -> object:
    """Take a column of that name for the unit's own, whatever table it is of."""
    if isinstance(relation, Scan) and relation.owner is not None:
        names = (column.name for column in relation.columns if column.source == blocks.column)
        return unit_blocks._Placed(frozenset(blocks.numbers), frozenset(names))
    return right(relation, blocks)  # type: ignore[operator]  # the function that it stands for


def test_a_block_read_from_a_visit_is_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    right = unit_blocks._placed
    monkeypatch.setattr(unit_blocks, "_placed", lambda *given: _reads_any_table(right, *given))
    with pytest.raises(AssertionError):
        check(world, 120, 5)


def test_an_outer_join_that_keeps_its_other_side_is_found(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if what an outer join adds were never NULL."""
    right = unit_blocks._left_by
    monkeypatch.setattr(unit_blocks, "_left_by", lambda *given: right(*given[:-1], True))
    with pytest.raises(AssertionError):
        check(world, 40, 5)


# ---- which blocks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "blocks"),
    [
        ("SELECT COUNT(*) FROM patients WHERE cohort = 2025", {3}),
        ("SELECT COUNT(*) FROM patients WHERE cohort > 2023 AND cohort <= 2025", {2, 3}),
        ("SELECT COUNT(*) FROM patients WHERE cohort IN (2023, 2025) AND age > 40", {1, 3}),
        ("SELECT COUNT(*) FROM patients WHERE (cohort = 2023 AND sex = 'F') OR cohort = 2024", {1, 2}),
        ("SELECT COUNT(*) FROM patients WHERE cohort IS NULL", {0}),
        ("SELECT COUNT(*) FROM patients WHERE cohort >= 2024", {0, 2, 3}),
        ("SELECT COUNT(*) FROM patients WHERE NOT cohort = 2024", {0, 1, 3}),
        ("SELECT COUNT(*) FROM visits JOIN patients ON id = patient WHERE patients.cohort = 2025", {3}),
        ("SELECT COUNT(*) FROM visits LEFT JOIN patients ON id = patient WHERE patients.cohort = 2025", {3}),
        (
            "SELECT COUNT(*) FROM visits LEFT JOIN patients ON id = patient AND patients.cohort = 2025",
            {0, 1, 2, 3},
        ),
        ("SELECT COUNT(*) FROM visits WHERE cohort = 2025", {0, 1, 2, 3}),
        ("SELECT COUNT(*) FROM patients WHERE cohort + 0 = 2025", {0, 1, 2, 3}),
        ("SELECT COUNT(*) FROM patients WHERE cohort = 2023 AND cohort = 2024", {0, 1, 2, 3}),
        ("SELECT AVG(n) FROM (SELECT patient, COUNT(*) AS n FROM visits JOIN patients ON id = patient WHERE "
         "patients.cohort IN (2023, 2024) GROUP BY patient)", {1, 2}),
    ],
)  # fmt: skip
def test_blocks_of_a_query(world: World, sql: str, blocks: set[int]) -> None:
    plan = plan_of(world.session, sql, 1.0)
    assert world.session.blocks is not None
    assert blocks_read(plan, world.session.blocks) == blocks


def test_a_table_without_a_verified_key_tells_no_block(world: World) -> None:
    plan = plan_of(world.session, "SELECT COUNT(*) FROM patients WHERE cohort = 2025", 1.0)
    blocks, relation = world.session.blocks, plan.measures[0].measure.relation
    assert blocks is not None
    assert blocks_of(relation, blocks) == {3}
    scan = relation
    while not isinstance(scan, Scan):
        scan = scan.input  # type: ignore[union-attr]  # filters and projections
    assert scan.owner is not None
    twice = dataclasses.replace(scan, owner=dataclasses.replace(scan.owner, at_most=None))
    other = relation
    parents = []
    while not isinstance(other, Scan):
        parents.append(other)
        other = other.input  # type: ignore[union-attr]  # as above
    rebuilt = twice
    for parent in reversed(parents):
        rebuilt = dataclasses.replace(parent, input=rebuilt)  # type: ignore[call-arg,assignment]  # as above
    assert blocks_of(rebuilt, blocks) == {*blocks.numbers}
    assert REST in blocks.numbers


# ---- from the policy to a refusal ----------------------------------------------------------------------


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "c.toml").write_text(POLICY + "[analysts.ana]\nepsilon = 1.0\n")
    with duckdb.connect(str(tmp_path / "c.duckdb")) as connection:
        fill(connection, random.Random(3))
    return tmp_path / "c.duckdb"


def test_a_query_pays_in_its_blocks(own: Path) -> None:
    year = "SELECT COUNT(*) FROM patients WHERE cohort = {}"
    with dpsql.connect(own, analyst="ana") as db:
        assert "pays in   cohort 2025 (1 of 4 blocks)" in str(db.explain(year.format(2025)))
        assert db.execute(year.format(2025), epsilon=0.9).remaining == pytest.approx(0.1)
        assert db.execute(year.format(2024), epsilon=0.8).remaining == pytest.approx(0.2)
        assert db.execute(year.format(2025), epsilon=0.9).cost == 0.0
        assert db.budget.accounts[0].spent == pytest.approx(0.9)
        assert [(block.analyst, round(block.spent, 6)) for block in db.budget.blocks] == [
            ("the rest of cohort", 0.0),
            ("cohort 2023", 0.0),
            ("cohort 2024", 0.8),
            ("cohort 2025", 0.9),
        ]
        with pytest.raises(dpsql.Error, match="budget in cohort 2024 does not hold") as short:
            db.execute("SELECT COUNT(*) FROM patients", epsilon=0.9)
        assert short.value.code == "D501"
        assert db.price(year.format(2023), epsilon=0.9).remaining == pytest.approx(1.0)
        assert db.outlook.more is not None
        assert db.execute(year.format(2023), epsilon=0.9).cost == 0.9
        drawn = {each.analyst: each.steps[-1][1] for each in db.spending}
        assert drawn["cohort 2023"] == pytest.approx(0.9)


def test_purchases_say_in_which_blocks_they_were_paid(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In csv and json, of a debit and of who joins it; a value that is appended is one more where it pays."""
    policy, year = own.with_suffix(".toml"), "SELECT COUNT(*) FROM patients WHERE cohort {}"
    with dpsql.connect(own) as db:
        db.execute(year.format("= 2025"), epsilon=0.1)
        db.execute(year.format("NOT IN (2024, 2025)"), epsilon=0.1)
        db.execute("SELECT COUNT(*) FROM patients", epsilon=0.1)
    with dpsql.connect(own, analyst="ana") as db:
        db.execute(year.format("= 2025"), epsilon=0.1)
        assert [each.blocks for each in db.purchases] == [("cohort 2025",)]
    policy.write_text(policy.read_text().replace("2024, 2025]", "2024, 2025, 2026]"))
    rest = "the rest of cohort; cohort 2023; cohort 2026"
    assert main(["budget", str(own), "--format", "csv"]) == 0
    rows = [*csv.DictReader(io.StringIO(capsys.readouterr().out))]
    assert [row["blocks"] for row in rows] == ["cohort 2025", rest, "", "cohort 2025"]
    assert main(["budget", str(own), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)["purchases"]
    assert ["; ".join(each["blocks"]) for each in told] == [row["blocks"] for row in rows]


def test_a_found_range_pays_in_all_blocks(own: Path) -> None:
    policy = own.with_suffix(".toml")
    policy.write_text(policy.read_text().replace("age = { range = [0, 120] }", "age = {}"))
    with dpsql.connect(own) as db:
        said = str(db.explain("SELECT SUM(age) FROM patients WHERE cohort = 2025"))
        assert "pays in   cohort 2025 (1 of 4 blocks); what is found first, in all 4 blocks of cohort" in said
        db.execute("SELECT SUM(age) FROM patients WHERE cohort = 2025", epsilon=1.0)
        spent = [each.spent for each in db.budget.blocks]
        assert 0 < spent[0] == spent[1] == spent[2] < spent[3]


@pytest.mark.parametrize(
    ("blocks", "code", "words"),
    [
        ('column = "cohort", values = [2024, 2023]', "D803", "the list of blocks has changed"),
        ('column = "age", values = [2023]', "D505", "blocks by cohort"),
        ('column = "cohrt", values = [2023]', "D804", "did you mean cohort"),
        ('column = "cohort", values = ["a"]', "D804", "a block is no value of patients.cohort"),
    ],
)
def test_other_blocks_are_refused(own: Path, blocks: str, code: str, words: str) -> None:
    dpsql.connect(own).close()
    policy, text = own.with_suffix(".toml"), own.with_suffix(".toml").read_text()
    policy.write_text(text.replace('column = "cohort", values = [2023, 2024, 2025]', blocks))
    with pytest.raises(dpsql.Error) as refused:
        dpsql.connect(own).close()
    assert refused.value.code == code
    assert words in str(refused.value)
    assert code == "D505" or "c.toml:" in str(refused.value)


def test_statements_measured_together_pay_in_the_blocks_of_each(own: Path, tmp_path: Path) -> None:
    statements = "\n".join(
        f"SELECT COUNT(*) FROM patients WHERE cohort = {year} AND age > {age};"
        for year in (2023, 2025)
        for age in (10, 30, 50)
    )
    (tmp_path / "q.sql").write_text(statements)
    asked = ["run", str(own), str(tmp_path / "q.sql"), "--epsilon", "1.0", "--out", str(tmp_path / "out")]
    assert main(asked) == 0
    with dpsql.connect(own) as db:
        rest, *spent = [each.spent for each in db.budget.blocks]
    assert rest == spent[1] == 0
    assert 0.99 < spent[0] == spent[2] <= 1.0 + 1e-9
