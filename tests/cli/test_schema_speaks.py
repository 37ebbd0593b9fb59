"""What a schema declares is proposed: foreign keys say whose a row is, CHECKs which values there may be."""

from __future__ import annotations

import io
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.cli import main
from dpsql.engines.open_database import open_database
from dpsql.policy.catalogue import FoundColumn, FoundTable
from dpsql.policy.check_ranges import proposed
from dpsql.policy.draft import draft
from dpsql.policy.model import Policy
from dpsql.policy.toml_spelling import key, quoted
from dpsql.session.checks import load_policy, parse_policy

SHOP = """
CREATE TABLE members (mid INTEGER PRIMARY KEY, grade INTEGER CHECK (grade BETWEEN 1 AND 5));
CREATE TABLE purchases (
    pid INTEGER PRIMARY KEY, buyer INTEGER NOT NULL REFERENCES members (mid),
    paid DECIMAL(9, 2) CHECK (paid >= 0 AND paid < 5000), kind VARCHAR CHECK (kind IN ('web', 'shop, small')),
    day DATE CHECK (day >= DATE '2020-01-01'), CHECK (day <= DATE '2030-12-31')
);
CREATE TABLE items (
    purchase INTEGER REFERENCES purchases (pid), pieces INTEGER CHECK (pieces > 0 OR pieces < 9)
);
CREATE TABLE towns (town VARCHAR PRIMARY KEY);
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SHOP)
    return path


def judge(policy: Policy) -> None:
    assert (policy.unit.table, policy.unit.key) == ("members", "mid")
    rules = {rule.name: rule for rule in policy.tables}
    assert set(rules) == {"members", "purchases", "items"}
    assert not any(rule.public for rule in policy.tables)
    paths = {name: rule.unit for name, rule in rules.items() if rule.unit is not None}
    assert {name: (path.column, path.references) for name, path in paths.items()} == {
        "purchases": ("buyer", None),
        "items": ("purchase", ("purchases", "pid")),
    }
    columns = {column.name: column for rule in policy.tables for column in rule.columns}
    assert columns["grade"].range == (1, 5)
    assert columns["paid"].range == (0, 5000)
    assert columns["kind"].values == ("web", "shop, small")
    assert tuple(map(str, columns["day"].range or ())) == ("2020-01-01", "2030-12-31")
    assert columns["pieces"].range is None  # joined by OR: nothing is known


def test_init_reads_the_schema(shop: Path) -> None:
    assert main(["init", str(shop), "--yes"]) == 0
    judge(load_policy(shop.with_suffix(".toml")))


def test_a_draft_reads_the_schema(shop: Path) -> None:
    engine = open_database(shop)
    try:
        judge(parse_policy(draft(engine.describe(), "shop"), "draft.toml"))
    finally:
        engine.close()


def test_the_schema_is_believed_before_names(tmp_path: Path) -> None:
    """Names are compared as the database compares them, and a column leads where it is declared to lead."""
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("""
        CREATE TABLE Patients (ID INTEGER PRIMARY KEY); CREATE TABLE devices (did INTEGER PRIMARY KEY);
        CREATE TABLE bills (payer INTEGER REFERENCES patients (id));
        CREATE TABLE uses (patient_id INTEGER REFERENCES devices (did));
        """)
    assert main(["init", str(path), "--yes", "--unit", "Patients.ID"]) == 0
    rules = {rule.name: rule for rule in load_policy(path.with_suffix(".toml")).tables}
    assert set(rules) == {"Patients", "bills"}
    assert rules["bills"].unit is not None
    assert rules["bills"].unit.column == "payer"


HOSPITALS = """
CREATE TABLE hospitals (hospital_id INTEGER PRIMARY KEY, town VARCHAR);
CREATE TABLE patients (
    hospital_id INTEGER REFERENCES hospitals (hospital_id), patient_no INTEGER, born DATE,
    PRIMARY KEY (hospital_id, patient_no)
);
CREATE TABLE visits (
    hid INTEGER, visit_no INTEGER, pno INTEGER, PRIMARY KEY (visit_no, hid),
    FOREIGN KEY (hid, pno) REFERENCES patients (hospital_id, patient_no)
);
CREATE TABLE labs (patient_no BIGINT, hospital_id SMALLINT, value DOUBLE);
CREATE TABLE doses (
    hospital INTEGER, visit INTEGER, dose DOUBLE,
    FOREIGN KEY (visit, hospital) REFERENCES visits (visit_no, hid)
);
"""


def test_keys_of_several_columns_are_proposed(tmp_path: Path) -> None:
    """In the order of the unit's, where they are declared to lead there, and where names are the same."""
    path = tmp_path / "hospitals.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(HOSPITALS)
    engine = open_database(path)
    try:
        drafted = parse_policy(draft(engine.describe(), "hospitals"), "draft.toml")
    finally:
        engine.close()
    assert main(["init", str(path), "--yes"]) == 0
    for policy in (drafted, load_policy(path.with_suffix(".toml"))):
        assert (policy.unit.table, policy.unit.key) == ("patients", ("hospital_id", "patient_no"))
        rules = {rule.name: rule.unit for rule in policy.tables if rule.unit is not None}
        assert {name: (path.column, path.references) for name, path in rules.items()} == {
            "visits": (("hid", "pno"), None),
            "labs": (("hospital_id", "patient_no"), None),
            "doses": (("visit", "hospital"), ("visits", ("visit_no", "hid"))),
        }


def test_a_key_that_nobody_references_is_not_a_person(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A customer's version makes rows unique: each would be protected, and not the customer."""
    path = tmp_path / "versions.duckdb"
    versions = (
        "CREATE TABLE customers (customer_id INTEGER, version INTEGER, PRIMARY KEY (customer_id, version));"
    )
    with duckdb.connect(str(path)) as connection:
        connection.execute(versions + "CREATE TABLE orders (customer_id INTEGER, paid DOUBLE)")
        connection.execute("INSERT INTO customers VALUES (1, 1), (1, 2)")
    assert main(["init", str(path), "--yes"]) != 0
    assert 'say [unit] column = "customer_id"' in " ".join(capsys.readouterr().err.split())
    assert main(["init", str(path), "--yes", "--unit", "customers.customer_id,customers.version"]) == 0
    policy = load_policy(path.with_suffix(".toml"))
    assert (policy.unit.table, policy.unit.key) == ("customers", ("customer_id", "version"))


@pytest.mark.parametrize(
    ("key", "doubt"),
    [
        ("customer_id, version", "customers.customer_id"),
        ("tenant, user_id", "customers.user_id"),
        ("customer_no, valid_year", "customers.customer_no"),
        ("shop, customer_no", ""),
    ],
)
def test_a_key_that_may_be_more_than_a_person_is_asked_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str, doubt: str
) -> None:
    path = tmp_path / "customers.duckdb"
    columns = ", ".join(f"{name} INTEGER" for name in key.split(", "))
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE customers ({columns}, PRIMARY KEY ({key}))")
        connection.execute(
            f"CREATE TABLE orders ({columns}, FOREIGN KEY ({key}) REFERENCES customers ({key}))"
        )
    assert main(["init", str(path), "--yes"]) == (2 if doubt else 0)
    assert doubt == "" or f"may be the person, or {doubt}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("type", "checks", "said"),
    [
        ("INTEGER", ("(0 <= x)", "(x <= 9)"), (0, 9)),
        ("INTEGER", ("((x > -3) AND (9 > x))",), (-3, 9)),
        ("DOUBLE", ("(x BETWEEN CAST(0 AS DOUBLE) AND 1.5)",), (0, 1.5)),
        ("VARCHAR", ("(x IN ('a', 'b'))",), ("a", "b")),
        ("INTEGER", ("(x >= 0)",), None),
        ("INTEGER", ("(x >= 9)", "(x <= 0)"), None),
        ("INTEGER", ("(x >= 0 OR x <= 9)",), None),
        ("INTEGER", ("(x BETWEEN y AND 9)",), None),
        ("INTEGER", ("(abs(x) BETWEEN 0 AND 9)",), None),
        ("INTEGER", ("(NOT (x BETWEEN 0 AND 9))",), None),
        ("INTEGER", ("(x NOT IN (1, 2))",), None),
        ("INTEGER", ("(x BETWEEN DATE '2020-01-01' AND 9)",), None),
        ("DATE", ("(x BETWEEN 0 AND 9)",), None),
        ("VARCHAR", ("(x IN ('a', 'a'))",), None),
        ("VARCHAR", ("(x NOT IN ('a', 'b'))",), None),
        ("VARCHAR", ("x IN (",), None),
    ],
)
def test_what_a_check_says_of_a_column(type: str, checks: tuple[str, ...], said: object) -> None:
    columns = (FoundColumn("x", type, True), FoundColumn("y", "INTEGER", True))
    rule = proposed(FoundTable("t", columns, checks=checks)).get("x")
    assert (None if rule is None else rule.range or rule.values) == said


# ---- views -------------------------------------------------------------------------------------------


@pytest.fixture
def viewed(tmp_path: Path) -> Path:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, age INTEGER, town VARCHAR);"
            "INSERT INTO customers SELECT i, i % 90, 'Oslo' FROM range(3000) AS r(i);"
            "CREATE VIEW adults AS SELECT customer_id, age FROM customers WHERE age > 17;"
            """CREATE VIEW "of Ann" (id, "years; old") AS SELECT customer_id, age FROM adults """
            "WHERE customer_id <> 7 /* Ann */;"
            "CREATE SCHEMA other; CREATE VIEW other.elsewhere AS FROM main.customers"
        )
    return path


def test_views_are_proposed_and_left_out(
    viewed: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their SQL may hold names: without a word of the owner none exists."""
    assert main(["policy", "draft", str(viewed)]) == 0
    text = capsys.readouterr().out
    assert "# [views.adults]\n# sql = " in text
    assert '# [views."of Ann"]\n# sql = ' in text
    assert "elsewhere" not in text
    assert parse_policy(text, "draft.toml").views == ()
    monkeypatch.setattr("sys.stdin", io.StringIO("\n" * 40))
    assert main(["init", str(viewed)]) == 0
    assert parse_policy(viewed.with_suffix(".toml").read_text(), "shop.toml").views == ()
    assert "The database has views: adults, of Ann." in " ".join(capsys.readouterr().out.split())


def test_views_that_the_owner_names_are_asked(viewed: Path) -> None:
    with closing(open_database(viewed)) as engine:
        lines = [f"[views.{key(view.name)}]\nsql = {quoted(view.sql)}\n" for view in engine.views()]
    assert main(["init", str(viewed), "--yes"]) == 0
    with viewed.with_suffix(".toml").open("a") as policy:
        policy.write("\n" + "\n".join(lines))
    with dpsql.connect(viewed) as db:
        answer = db.execute('SELECT COUNT(*) FROM "of Ann" WHERE "years; old" < 40', epsilon=0.5)
    assert abs(answer.rows[0][0] - 738) < 200
