"""A session: what opening checks, what a price may be, and what every question does to the account."""

from __future__ import annotations

import math
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpsql
from dpsql.accounting.entries import Entry
from dpsql.accounting.units import UNIT

COUNT = "SELECT COUNT(*) FROM patients"


def edit(clinic: Path, *changes: tuple[str, str]) -> None:
    """Change the policy beside a database; every change must find its place."""
    policy = clinic.with_suffix(".toml")
    text = policy.read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    policy.write_text(text)


def write(clinic: Path, sql: str) -> None:
    """Change the data, as the owner."""
    with duckdb.connect(str(clinic)) as connection:
        connection.execute(sql)


def refused(code: str, clinic: Path, **given: Any) -> dpsql.Error:
    """The refusal to open; nothing stays open, so that the next attempt finds the files free."""
    with pytest.raises(dpsql.Error) as caught:
        dpsql.connect(clinic, **given)
    assert caught.value.code == code, str(caught.value)
    assert caught.value.help
    return caught.value


def grants(db: dpsql.Connection) -> list[Entry]:
    return [each for each in db._open().ledger.entries() if each.kind == "grant"]


# ---- a changed policy meets an existing ledger -------------------------------------------------------


def test_the_first_connection_makes_the_ledger_and_says_so(clinic: Path) -> None:
    with dpsql.connect(clinic) as db:
        assert db.ledger_created
        assert db.ledger_path == clinic.with_suffix(".ledger")
        assert [(each.analyst, each.epsilon) for each in grants(db)] == [
            ("", 100.0),
            ("ana", 50.0),
            ("bob", 2.0),
        ]
    with dpsql.connect(clinic) as db:
        assert not db.ledger_created
        assert len(grants(db)) == 3


def test_a_larger_budget_is_an_entry_of_its_own(clinic: Path) -> None:
    with dpsql.connect(clinic) as db:
        db.execute(COUNT)
        spent = db._open().ledger.spent()
    edit(clinic, ("epsilon = 100.0", "epsilon = 150.0"))
    with dpsql.connect(clinic) as db:
        assert [(each.analyst, each.epsilon) for each in grants(db)[3:]] == [("", 150.0)]
        assert db.budget.granted == 150.0
        assert db._open().ledger.spent() == spent
        assert len(db.purchases) == 1


def test_a_smaller_budget_leaves_what_was_spent_and_nothing_more(clinic: Path) -> None:
    edit(clinic, ('"zcdp"', '"approx"'), ("max_epsilon = 20.0", "max_epsilon = 1.0"))
    with dpsql.connect(clinic) as db:
        for age in range(3):
            db.execute(f"SELECT COUNT(*) FROM patients WHERE age > {age}")
    edit(clinic, ("epsilon = 100.0", "epsilon = 2.0"))
    with dpsql.connect(clinic) as db:
        assert (db.budget.granted, db.budget.remaining) == (2.0, 0.0)
        with pytest.raises(dpsql.OperationalError, match="D501"):
            db.execute(COUNT)
        assert [(each.analyst, each.epsilon) for each in grants(db)[3:]] == [("", 2.0)]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (("delta = 1e-6", "delta = 1e-7"), "delta"),
        (('accountant = "zcdp"', 'accountant = "approx"'), "accountant"),
        ((', references = "visits.visit_id" }', " }"), "unit"),
    ],
    ids=["delta", "accountant", "unit"],
)
def test_the_promise_of_a_ledger_never_changes(change: tuple[str, str], what: str, clinic: Path) -> None:
    dpsql.connect(clinic).close()
    edit(clinic, change)
    assert what in refused("D505", clinic).title


def test_where_clipping_starts_is_no_part_of_the_promise(clinic: Path) -> None:
    with dpsql.connect(clinic) as db:
        db.execute(COUNT)
    edit(clinic, ("rows_per_unit = 5", "rows_per_unit = 7"))
    with dpsql.connect(clinic) as db:
        assert len(db.purchases) == 1


def test_another_databases_ledger_is_refused(clinic: Path, clinics: Path) -> None:
    """A database made anew, even one with the same tables."""
    dpsql.connect(clinic).close()
    other = clinics / "neighbour" / "clinic.duckdb"
    error = refused("D505", other, ledger=clinic.with_suffix(".ledger"))
    assert "database" in error.title


def test_a_ledger_that_others_can_read_is_refused(clinic: Path) -> None:
    dpsql.connect(clinic).close()
    ledger = clinic.with_suffix(".ledger")
    assert stat.S_IMODE(ledger.stat().st_mode) == 0o600
    ledger.chmod(0o644)
    refused("D507", clinic)


def test_a_looser_policy_is_another_version_of_the_answers(clinic: Path) -> None:
    """An answer under another policy is not served as a repeat: its meaning may differ."""
    with dpsql.connect(clinic) as db:
        db.execute("SELECT AVG(age) FROM patients")
    edit(clinic, ("age = { range = [0, 120] }", "age = { range = [0, 121] }"))
    with dpsql.connect(clinic) as db:
        assert not db.execute("SELECT AVG(age) FROM patients").repeated


# ---- what is declared, held against the database -----------------------------------------------------


def test_a_column_that_changed_its_type(clinic: Path) -> None:
    dpsql.connect(clinic).close()
    write(clinic, "ALTER TABLE drugs ALTER dose TYPE DOUBLE")
    error = refused("D804", clinic)
    assert "dose" in error.title
    write(clinic, "ALTER TABLE drugs ALTER dose TYPE INTEGER")
    dpsql.connect(clinic).close()


def test_a_declared_key_that_is_none(clinic: Path) -> None:
    edit(clinic, ("[tables.drugs]", '[tables.drugs]\nkey = "dose"'))
    error = refused("D805", clinic)
    assert error.position is not None


def test_a_key_that_the_data_lost(clinic: Path) -> None:
    """Verified for a version of the data, and verified again for the next."""
    write(clinic, "CREATE TABLE bills AS SELECT i AS bill, 1 + i % 240 AS patient_id FROM range(9) AS r(i)")
    edit(
        clinic,
        ("[tables.wards]", '[tables.bills]\nkey = "bill"\nunit = { column = "patient_id" }\n[tables.wards]'),
    )
    dpsql.connect(clinic).close()
    write(clinic, "INSERT INTO bills VALUES (3, 1)")
    refused("D805", clinic)
    write(clinic, "DELETE FROM bills WHERE bill = 3")
    dpsql.connect(clinic).close()


def test_a_missing_policy(clinic: Path) -> None:
    clinic.with_suffix(".toml").unlink()
    refused("D807", clinic)
    assert not clinic.with_suffix(".ledger").exists()


def test_a_missing_database(clinic: Path, tmp_path: Path) -> None:
    for path in (tmp_path / "none.duckdb", tmp_path / "no folder" / "none.duckdb", Path()):
        refused("D602", path, policy=clinic.with_suffix(".toml"))
    assert not (tmp_path / "none.duckdb").exists()
    assert not (tmp_path / "none.ledger").exists()


def test_what_is_no_database(clinic: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.duckdb"
    text.write_text("not a database, but as long as a header of one has to be: " + "x" * 5000)
    for path in (text, tmp_path):
        refused("D602", path, policy=clinic.with_suffix(".toml"), ledger=tmp_path / "x.ledger")
    assert not (tmp_path / "x.ledger").exists()


def test_a_database_that_another_process_writes(clinic: Path) -> None:
    script = (
        "import duckdb, sys; db = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(clinic)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "open\n"
    try:
        assert "in use" in refused("D602", clinic).title
    finally:
        holder.communicate("")
    dpsql.connect(clinic).close()


def test_a_database_that_this_process_writes(clinic: Path) -> None:
    with duckdb.connect(str(clinic)):
        assert "in use" in refused("D602", clinic).title
    dpsql.connect(clinic).close()


# ---- analysts ----------------------------------------------------------------------------------------


def test_an_analyst_whom_nobody_knows(clinic: Path) -> None:
    for name in ("eve", "ANA", "", "ana "):
        refused("D504", clinic, analyst=name)
    assert not clinic.with_suffix(".ledger").exists()


def test_an_own_budget_runs_out_before_the_databases(clinic: Path) -> None:
    edit(clinic, ('"zcdp"', '"approx"'))
    with dpsql.connect(clinic, analyst="bob") as bob, dpsql.connect(clinic, analyst="ana") as ana:
        for age in range(2):
            bob.execute(f"SELECT COUNT(*) FROM patients WHERE age > {age}")
        with pytest.raises(dpsql.OperationalError, match=r"D501.*bob's budget"):
            bob.execute(COUNT)
        assert ana.execute(COUNT).cost == 1.0
        with pytest.raises(dpsql.OperationalError, match=r"D501.*bob's budget"):
            bob.execute(COUNT)  # an answer that is there, and that bob has not paid for
        assert bob.execute("SELECT COUNT(*) FROM patients WHERE age > 1").repeated
        assert bob.budget.spent == 3.0
        assert {each.analyst: each.spent for each in bob.budget.accounts} == {"ana": 1.0, "bob": 2.0}


def test_the_databases_budget_binds_all_together(clinic: Path) -> None:
    edit(
        clinic,
        ('"zcdp"', '"approx"'),
        ("epsilon = 100.0", "epsilon = 3.0"),
        ("max_epsilon = 20.0", "max_epsilon = 2"),
    )
    with dpsql.connect(clinic, analyst="ana") as ana, dpsql.connect(clinic, analyst="bob") as bob:
        ana.execute(COUNT, epsilon=2.0)
        with pytest.raises(dpsql.OperationalError, match=r"D501.*the database's budget"):
            bob.execute("SELECT COUNT(*) FROM visits", epsilon=1.5)
        bob.execute("SELECT COUNT(*) FROM visits", epsilon=1.0)
        with dpsql.connect(clinic) as owner, pytest.raises(dpsql.OperationalError, match="D501"):
            owner.execute("SELECT COUNT(*) FROM drugs", epsilon=0.001)


def test_an_analyst_sees_own_purchases_alone(clinic: Path) -> None:
    with dpsql.connect(clinic, analyst="ana") as ana, dpsql.connect(clinic, analyst="bob") as bob:
        ana.execute(COUNT)
        bob.execute("SELECT COUNT(*) FROM visits")
        assert [each.sql for each in bob.purchases] == ["SELECT COUNT(*) FROM visits"]
        with dpsql.connect(clinic) as owner:
            assert [each.analyst for each in owner.purchases] == ["ana", "bob"]


# ---- prices ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "price",
    [
        math.nan,
        math.inf,
        -math.inf,
        -1,
        0,
        -0.0,
        True,
        False,
        "0.1",
        Decimal("0.1"),
        1j,
        [0.1],
    ],
    ids=repr,
)
def test_what_is_no_price(price: Any, db: dpsql.Connection) -> None:
    for ask in (db.execute, db.explain, db.cursor().execute):
        with pytest.raises(dpsql.OperationalError) as caught:
            ask(COUNT, epsilon=price)
        assert caught.value.code == "D503"
        assert caught.value.help
    assert db.purchases == ()


@pytest.mark.parametrize("price", [5e-324, 1e-300, 1e-18])
def test_a_price_that_buys_nothing(price: float, db: dpsql.Connection) -> None:
    with pytest.raises(dpsql.OperationalError, match="D503"):
        db.execute(COUNT, epsilon=price)
    assert db.budget.spent == 0


def test_a_price_above_the_ceiling(db: dpsql.Connection) -> None:
    for price in (20.000001, 21, 1e308):
        with pytest.raises(dpsql.OperationalError) as caught:
            db.execute(COUNT, epsilon=price)
        assert caught.value.code == "D502"
    assert db.execute(COUNT, epsilon=20).cost == 20.0


def test_a_price_beyond_all_floats_is_refused_like_any_other(db: dpsql.Connection) -> None:
    with pytest.raises(dpsql.OperationalError, match=r"D502|D503"):
        db.execute(COUNT, epsilon=10**400)


def test_the_default_price_is_the_policys(clinic: Path) -> None:
    edit(clinic, ("epsilon = 1.0\n", "epsilon = 0.25\n"))
    with dpsql.connect(clinic) as db:
        assert db.execute(COUNT).cost == 0.25
        assert db.explain(COUNT).to_dict()["price"] == 0.25
        assert db.purchases[0].epsilon == 0.25


# ---- the account -------------------------------------------------------------------------------------


def test_remaining_falls_with_every_paid_answer_and_with_nothing_else(db: dpsql.Connection) -> None:
    left = [db.budget.remaining]
    for age in range(12):
        answer = db.execute(f"SELECT COUNT(*), AVG(income) FROM patients WHERE age > {age}", epsilon=0.5)
        assert answer.cost == 0.5
        assert answer.remaining == db.budget.remaining < left[-1]
        left.append(answer.remaining)
        db.explain("SELECT SUM(cost) FROM visits")
        for wrong in ("SELECT SUM(ln(score)) FROM patients", "SELECT", "SELECT age FROM patients"):
            with pytest.raises(dpsql.DatabaseError):
                db.execute(wrong)
        assert db.execute(
            f"SELECT COUNT(*), AVG(income) FROM patients WHERE age > {age}", epsilon=0.5
        ).repeated
        assert db.budget.remaining == left[-1]
    assert db.budget.spent == pytest.approx(100.0 - left[-1])
    assert db.budget.spent < 12 * 0.5  # zcdp: many together cost less than the sum of their epsilons


def test_prices_add_up_without_losing_anything(clinic: Path) -> None:
    """Ten times a tenth is one, and fills a budget of one exactly (floats would miss it)."""
    edit(
        clinic,
        ('"zcdp"', '"approx"'),
        ("epsilon = 100.0", "epsilon = 1.0"),
        ("max_epsilon = 20.0", "max_epsilon = 1"),
    )
    with dpsql.connect(clinic) as db:
        for age in range(10):
            db.execute(f"SELECT COUNT(*) FROM patients WHERE age > {age}", epsilon=0.1)
        assert UNIT - 10 <= db._open().ledger.spent().main <= UNIT
        with pytest.raises(dpsql.OperationalError, match="D501"):
            db.execute(COUNT, epsilon=1e-3)


def test_what_reads_public_tables_alone_is_free(db: dpsql.Connection) -> None:
    answer = db.execute("SELECT floor, COUNT(*) FROM wards GROUP BY floor ORDER BY floor")
    assert answer.rows == [(1, 2), (2, 1)]
    assert (answer.cost, answer.repeated, answer.remaining) == (0.0, False, 100.0)
    assert answer.margins == [(None, None), (None, None)]
    assert db.execute("SELECT 1 + 1").rows == [(2,)]
    assert db.purchases == ()
    assert [
        each.kind for each in db._open().ledger.entries() if each.kind in ("debit", "share", "answer")
    ] == []


def test_what_fails_after_the_debit_stays_paid(db: dpsql.Connection) -> None:
    """The released number is kept: another way to look at it is free, and the same failure costs nothing."""
    failing = "SELECT CAST(CASE COUNT(*) WHEN 1 THEN '1' ELSE 'x' END AS INTEGER) FROM patients"
    with pytest.raises(dpsql.OperationalError) as caught:
        db.execute(failing)
    assert caught.value.code == "D601"
    spent = db.budget.spent
    assert spent > 0
    with pytest.raises(dpsql.OperationalError, match="D601"):
        db.execute(failing)
    number = db.execute(COUNT)
    assert number.repeated
    assert db.execute("SELECT TRY_CAST('x' || COUNT(*) AS INTEGER) FROM patients").rows == [(None,)]
    assert db.budget.spent == spent
    assert [(each.sql, each.answered) for each in db.purchases] == [(failing, True)]


def test_what_cannot_be_paid_reads_nothing(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(clinic, ("epsilon = 100.0", "epsilon = 0.5"), ("max_epsilon = 20.0", "max_epsilon = 0.5"))
    edit(clinic, ("epsilon = 1.0\n", "epsilon = 0.5\n"))
    with dpsql.connect(clinic) as db:
        db.execute(COUNT)
        monkeypatch.setattr("dpsql.engines.duckdb.DuckDB.measure", _never)
        with pytest.raises(dpsql.OperationalError, match="D501"):
            db.execute("SELECT COUNT(*) FROM visits")
        assert len(db.purchases) == 1


def test_the_debit_is_durable_before_a_private_row_is_read(
    clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with dpsql.connect(clinic) as db, dpsql.connect(clinic) as watcher:
        seen = []

        def looking(*given: object) -> None:
            seen.append([(each.sql, each.answered) for each in watcher.purchases])
            raise KeyboardInterrupt

        monkeypatch.setattr("dpsql.engines.duckdb.DuckDB.measure", looking)
        with pytest.raises(KeyboardInterrupt):
            db.execute(COUNT)
        assert seen == [[(COUNT, False)]]


def _never(*given: object) -> None:
    raise AssertionError("a private row was read")


# ---- several at once ---------------------------------------------------------------------------------


@pytest.fixture
def two(clinic: Path) -> Iterator[tuple[dpsql.Connection, dpsql.Connection]]:
    with dpsql.connect(clinic, analyst="ana") as one, dpsql.connect(clinic) as other:
        yield one, other


def test_two_connections_in_one_process(two: tuple[dpsql.Connection, dpsql.Connection]) -> None:
    """They see each other's debits at once, and closing one leaves the other open."""
    one, other = two
    one.execute(COUNT)
    assert other.budget == one.budget
    other.execute("SELECT COUNT(*) FROM visits")
    assert other.budget == one.budget
    one.close()
    assert other.execute(COUNT).repeated
    assert other.execute("SELECT ward FROM wards ORDER BY ward").rows == [("A",), ("B",), ("C",)]


# ---- the spill folder --------------------------------------------------------------------------------


def test_the_spill_folder_is_the_owners_and_goes_with_the_process(clinic: Path) -> None:
    script = """
import os, stat, sys
import dpsql
with dpsql.connect(sys.argv[1]) as db:
    db.execute("SELECT COUNT(*) FROM patients")
    asked = db._open().engine._connection.execute("SELECT current_setting('temp_directory')")
    folder = asked.fetchone()[0]
    open(os.path.join(folder, "spilled"), "w").close()
    print(folder, oct(stat.S_IMODE(os.stat(folder).st_mode)), os.stat(folder).st_uid == os.geteuid())
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(clinic)], capture_output=True, text=True, check=True
    )
    folder, mode, own = done.stdout.split()
    assert (mode, own) == ("0o700", "True")
    assert not Path(folder).exists()


def test_a_killed_process_leaves_its_folder_to_the_next_one(clinic: Path, tmp_path: Path) -> None:
    """What was spilled is private rows: it goes when anybody opens a database, but not while it is in use."""
    script = """
import os, signal, sys
from pathlib import Path
import dpsql
with dpsql.connect(sys.argv[1]) as db:
    asked = db._open().engine._connection.execute("SELECT current_setting('temp_directory')")
    folder = Path(asked.fetchone()[0])
    (folder / "spilled").touch()
    print(folder, flush=True)
    if sys.argv[2] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.read()
"""
    temporary = os.environ | {"TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", script, str(clinic)]
    killed = subprocess.run([*command, "killed"], env=temporary, capture_output=True, text=True, check=False)
    left = Path(killed.stdout.strip())
    assert (left / "spilled").exists()
    with subprocess.Popen(
        [*command, "alive"], env=temporary, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as alive:
        assert alive.stdout is not None
        held = Path(alive.stdout.readline().strip())
        assert not left.exists()
        subprocess.run([*command, "killed"], env=temporary, capture_output=True, check=False)
        assert (held / "spilled").exists()
        alive.communicate("")
    assert not held.exists()


@pytest.mark.parametrize("accountant", ["zcdp", "approx"])
def test_an_analyst_who_was_removed_has_nothing_left(clinic: Path, accountant: str) -> None:
    """The owner takes an analyst out of the policy while their connection is open: repeats stay free."""
    policy = clinic.with_suffix(".toml")
    text = policy.read_text().replace('accountant = "zcdp"', f'accountant = "{accountant}"')
    policy.write_text(text)
    count = "SELECT COUNT(*) FROM patients"
    with dpsql.connect(clinic, analyst="ana") as db:
        first = db.execute(count)
        start = text.index("[analysts.ana]")
        end = text.index("\n[", start)
        policy.write_text(text[:start] + text[end:])
        with dpsql.connect(clinic):
            pass
        again = db.execute(count)
        assert (again.rows, again.cost, again.remaining) == (first.rows, 0.0, 0.0)
        assert db.explain(count)
        assert db.budget.accounts[0].granted == 0.0
        with pytest.raises(dpsql.Error) as caught:
            db.execute("SELECT COUNT(*) FROM patients WHERE age > 3")
        assert caught.value.code == "D504"
