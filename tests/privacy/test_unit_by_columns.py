"""Units of several columns: compared column by column, NULL in any is nobody, and one alone is no unit."""

from __future__ import annotations

import itertools
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.neighbours import units_of, without
from dpsql.audit.oracles import ready_measures, violations
from dpsql.cli import main
from dpsql.engines import relation_sql
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.identifiers import quote
from dpsql.engines.measure_sql import measure_sql
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.ir.relation import Columns, names_of
from dpsql.policy.compose import compose
from dpsql.policy.model import digest, unit_text
from dpsql.policy.references import owner_of
from dpsql.session.checks import parse_policy
from dpsql.shell.commands.tables import table_text

HOSPITALS = """
CREATE TABLE patients (hospital VARCHAR, number INTEGER, age INTEGER);
INSERT INTO patients SELECT ['a', 'a1', 'b'][1 + i % 3], i // 3, i % 7 FROM range(60) AS r(i);
INSERT INTO patients VALUES (NULL, 1, 1000), (NULL, 1, 1000), ('a', NULL, 1000);
CREATE TABLE visits (visit BIGINT, clinic VARCHAR, patient BIGINT, ward VARCHAR, cost DOUBLE);
INSERT INTO visits
SELECT i, ['a', 'a1', 'b'][1 + i % 3], i % 23, ['x', 'y'][1 + i % 2], i % 90 FROM range(900) AS r(i);
INSERT INTO visits SELECT 2000 + i, 'a', 11, 'x', i FROM range(300) AS r(i);
INSERT INTO visits SELECT 5000 + i, NULL, 11, 'x', 90 FROM range(40) AS r(i);
INSERT INTO visits SELECT 6000 + i, 'a', NULL, 'y', 90 FROM range(40) AS r(i);
CREATE TABLE doses (ward VARCHAR, visit INTEGER, dose DOUBLE);
INSERT INTO doses SELECT ['x', 'y'][1 + i % 2], i, i % 10 FROM range(900) AS r(i);
INSERT INTO doses SELECT 'x', 5000 + i, 10 FROM range(40) AS r(i);
INSERT INTO doses VALUES (NULL, 1, 10), ('y', NULL, 10);
"""
POLICY = """
[budget]
epsilon = 100
delta = 1e-6
[query]
epsilon = 1.0
max_epsilon = 10.0
[unit]
name = "patient"
table = "patients"
key = ["hospital", "number"]
[tables.patients.columns]
age = { range = [0, 100] }
[tables.visits]
unit = { column = ["clinic", "patient"] }
key = ["ward", "visit"]
rows_per_unit = 30
[tables.visits.columns]
ward = { values = ["x", "y"] }
cost = { range = [0, 90] }
[tables.doses]
unit = { column = ["ward", "visit"], references = ["visits.ward", "visits.visit"] }
rows_per_unit = 40
[tables.doses.columns]
dose = { range = [0, 10] }
"""
QUERIES = (
    "SELECT ward, COUNT(*), COUNT(DISTINCT (clinic, patient)), SUM(cost) FROM visits GROUP BY ward",
    "SELECT COUNT(*), SUM(dose) FROM doses",
    "SELECT ward, SUM(dose), SUM(cost) FROM doses JOIN visits USING (ward, visit) GROUP BY ward",
    "SELECT SUM(LEAST(n, 9)) FROM (SELECT hospital, number, COUNT(cost) AS n FROM patients LEFT JOIN visits "
    "ON hospital = clinic AND number = patient GROUP BY ALL)",
    "SELECT COUNT(*) FROM (SELECT clinic, patient FROM visits EXCEPT SELECT hospital, number FROM patients)",
    "SELECT COUNT(*) FROM patients FULL JOIN visits ON number = patient AND clinic = hospital",
)


def database(folder: Path, policy: str = POLICY, script: str = HOSPITALS) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "hospitals.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(script)
    path.with_suffix(".toml").write_text(policy)
    return path


def refused(folder: Path, policy: str, script: str = HOSPITALS) -> dpsql.Error:
    with pytest.raises(dpsql.Error) as error, dpsql.connect(database(folder, policy, script)) as opened:
        opened.execute("SELECT 1")
    return error.value


def test_nobody_moves_more_than_is_declared(tmp_path: Path) -> None:
    """A unit is a pair: ('a', 11) and ('a1', 1) are two, as are the numbers 11 of two hospitals."""
    path = database(tmp_path)
    with dpsql.connect(path) as opened:
        known = opened._open().known
    pairs = (("a", 11), ("a1", 1), ("b", 22))
    assert set(pairs) <= set(units_of(path, known))
    for place, unit in enumerate(pairs):
        without(path, tmp_path / f"{place}.duckdb", known, unit)
    neighbours = [DuckDB(tmp_path / f"{place}.duckdb") for place in range(len(pairs))]
    with dpsql.connect(path) as whole:
        session = whole._open()
        for sql in QUERIES:
            for planned in ready_measures(plan_of(session, sql, 1.0), session.engine, session.sealed):
                table = session.engine.measure(planned)
                for less in neighbours:
                    assert violations(planned, table, less.measure(planned)) == [], sql
    for less in neighbours:
        less.close()


def sums_with_and_without_nobody(folder: Path, *queries: str) -> list[tuple[dict[str, list[int]], ...]]:
    """The exact sums of queries, with the rows of nobody and without them."""
    gone = """
    DELETE FROM patients WHERE hospital IS NULL OR number IS NULL;
    DELETE FROM doses WHERE visit >= 5000 OR visit IS NULL OR ward IS NULL;
    DELETE FROM visits WHERE clinic IS NULL OR patient IS NULL;
    """
    with (
        dpsql.connect(database(folder / "a")) as one,
        dpsql.connect(database(folder / "b", POLICY, HOSPITALS + gone)) as other,
    ):
        sessions = [one._open(), other._open()]
        plans = [plan_of(sessions[0], sql, 1.0) for sql in queries]
        read = (ready_measures(plan, sessions[0].engine, sessions[0].sealed) for plan in plans)
        found = []
        for planned in itertools.chain(*read):
            tables = [session.engine.measure(planned) for session in sessions]
            found.append(tuple(dict(zip(map(repr, t.groups), t.sums.tolist(), strict=True)) for t in tables))
        return found


def test_rows_of_nobody_count_for_nothing(tmp_path: Path) -> None:
    """NULL in the first column or in the second, of a unit and of a link to it."""
    for with_them, without_them in sums_with_and_without_nobody(tmp_path, *QUERIES[:3]):
        assert with_them == without_them
        assert any(map(any, with_them.values()))


@pytest.mark.parametrize("place", [0, 1])
def test_a_look_at_one_column_alone_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    def there(columns: Columns, row: str) -> str:
        return f"{row}.{quote(names_of(columns)[place % len(names_of(columns))])} IS NOT NULL"

    monkeypatch.setattr(relation_sql, "there_sql", there)
    [(with_them, without_them)] = sums_with_and_without_nobody(tmp_path, QUERIES[0])
    assert with_them != without_them


def test_a_policy_may_say_it_once(tmp_path: Path) -> None:
    """A list of one is its column; types of one kind go together, and NOT NULL changes no number."""
    named = HOSPITALS.replace("clinic", "hospital").replace("patient BIGINT", "number BIGINT")
    each = POLICY.replace('"clinic", "patient"', '"hospital", "number"')
    once = each.replace('unit = { column = ["hospital", "number"] }\n', "").replace(
        "[tables.patients.columns]", 'column = ["hospital", "number"]\n[tables.patients.columns]'
    )
    alone = once.replace('table = "patients"\nkey = ["hospital", "number"]\n', "")
    alone = alone.replace(
        "[tables.patients.columns]", "[tables.patients]\nrows_per_unit = 1\n[tables.patients.columns]"
    )
    sql = "SELECT COUNT(*), COUNT(DISTINCT (number, hospital)) FROM visits"
    with (
        dpsql.connect(database(tmp_path / "a", each, named)) as in_each,
        dpsql.connect(database(tmp_path / "b", once, named)) as said,
        dpsql.connect(database(tmp_path / "c", alone, named)) as without_table,
    ):
        plans = [plan_of(opened._open(), sql, 1.0) for opened in (in_each, said, without_table)]
        assert (
            len({tuple((m.noise.sensitivity, measure_sql(m)) for m in plan.measures) for plan in plans}) == 1
        )
    one = POLICY.replace('["hospital", "number"]', '["hospital"]').replace(
        '["clinic", "patient"]', '"clinic"'
    )
    single = parse_policy(one[: one.index("[tables.doses]")], "p.toml")
    assert (single.unit.key, single.unit.held_in("patients")) == ("hospital", ("key", "hospital"))
    assert unit_text(single) == "unit patients.hospital\nvisits: clinic"


def test_the_promise_names_all_columns_in_their_order() -> None:
    policy = parse_policy(POLICY, "p.toml")
    assert unit_text(policy) == (
        "unit patients.(hospital, number)\n"
        "doses: (ward, visit) -> visits.(ward, visit)\n"
        "visits: (clinic, patient)"
    )
    again = parse_policy(compose(policy, ""), "p.toml")
    assert (unit_text(again), digest(again)) == (unit_text(policy), digest(policy))
    turned = parse_policy(POLICY.replace('["clinic", "patient"]', '["patient", "clinic"]'), "p.toml")
    assert unit_text(turned) != unit_text(policy)


def test_one_column_is_not_the_unit(tmp_path: Path) -> None:
    with dpsql.connect(database(tmp_path)) as opened:
        session = opened._open()
        per_clinic, per_patient = (
            plan_of(
                session,
                f"SELECT AVG(n) FROM (SELECT {by}, LEAST(COUNT(*), 9) AS n FROM visits GROUP BY ALL)",
                1.0,
            )
            for by in ("clinic", "clinic, patient")
        )
        owned = [ownership_of(plan.measures[0].measure.relation) for plan in (per_clinic, per_patient)]
        assert [each.at_most for each in owned if isinstance(each, Owned)] == [None, 1]
        for sql in (
            "SELECT COUNT(*) FROM visits JOIN patients ON patient = number",
            "SELECT COUNT(*) FROM visits JOIN patients ON clinic = hospital AND visit = number",
            "SELECT COUNT(*) FROM patients WHERE number IN (SELECT patient FROM visits)",
            "SELECT COUNT(*) FROM (SELECT RANK() OVER (PARTITION BY patient ORDER BY cost) AS r FROM visits)",
        ):
            with pytest.raises(dpsql.Error, match=r"two patients|several patients|among private rows"):
                opened.explain(sql)


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ('["clinic", "patient"]', '"patient"', "D806", "the unit is not of as many columns everywhere"),
        ('["clinic", "patient"]', '["clinic", "cost"]', "D806", "visits.cost cannot identify units"),
        ('["clinic", "patient"]', '["patient", "clinic"]', "D806", "not of one kind everywhere"),
        ('["clinic", "patient"]', '["clinic", "nobody"]', "D804", "has no column nobody"),
        ('["ward", "visit"], ref', '["ward", "dose"], ref', "D806", "doses.dose cannot identify units"),
        (
            'key = ["hospital", "number"]',
            'key = ["hospital", "age"]',
            "D805",
            '[unit] column = ["hospital", "age"]',
        ),
    ],
)
def test_what_is_no_unit_is_refused(tmp_path: Path, old: str, new: str, code: str, said: str) -> None:
    error = refused(tmp_path, POLICY.replace(old, new, 1))
    assert error.code == code
    assert said in str(error)


def test_a_ledger_stays_with_its_unit(tmp_path: Path) -> None:
    path = database(tmp_path)
    with dpsql.connect(path) as opened:
        opened.execute(QUERIES[0])
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE OR REPLACE TABLE patients AS "
            "SELECT number, any_value(hospital) AS hospital, 1 AS age FROM patients GROUP BY 1"
        )
    one = POLICY.replace('["hospital", "number"]', '"number"').replace('["clinic", "patient"]', '"patient"')
    path.with_suffix(".toml").write_text(one)
    with pytest.raises(dpsql.Error, match="unit"), dpsql.connect(path) as opened:
        opened.execute(QUERIES[0])


def test_the_owner_and_analysts_read_both_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = database(tmp_path)
    assert main(["policy", "check", str(path)]) == 0
    told = capsys.readouterr().out
    assert (
        "patient: patients.hospital and patients.number together, protected with all rows in patients" in told
    )
    assert "visits: by clinic, patient, clipped from about 30 rows per patient" in told
    assert "doses: by ward, visit -> visits.ward, visits.visit" in told
    assert "differ only in case" not in told
    with dpsql.connect(path) as opened:
        tables = {table.name: table for table in opened.tables}
        columns = {column.name: column for column in tables["visits"].columns}
        assert not any(column.unit for column in columns.values())
        assert (columns["clinic"].beside, columns["patient"].beside) == (("patient",), ("clinic",))
        assert columns["ward"].beside == ()
        assert "with clinic the patient" in table_text(tables["visits"], 200)
        assert owner_of(tables["visits"], opened.tables) == (
            ["clinic", "patient"],
            tables["patients"],
            ["hospital", "number"],
        )
        assert owner_of(tables["doses"], opened.tables) == (
            ["ward", "visit"],
            tables["visits"],
            ["ward", "visit"],
        )
    with duckdb.connect(str(path)) as connection:
        connection.execute("INSERT INTO visits VALUES (9000, 'A ', 11, 'x', 1)")
    assert main(["policy", "check", str(path)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "some values of visits.clinic and visits.patient differ only in case or blanks" in told


def test_the_audit_leaves_out_a_pair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = database(tmp_path)
    (tmp_path / "q.sql").write_text(";\n".join(QUERIES[:3]))
    assert main(["audit", str(path), str(tmp_path / "q.sql"), "--units", "4", "--trials", "0"]) == 0
    assert "3 statements" in capsys.readouterr().out
