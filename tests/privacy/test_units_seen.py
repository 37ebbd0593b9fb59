"""Units that move from one block to another keep the database shut, and appended values start empty."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.accounting.units_file import TakenFile
from dpsql.ir.unit_blocks import UnitHolder
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.catalogue import Known
from dpsql.session import units_seen
from dpsql.session.units_seen import SeenUnits

POLICY = """
[budget]
epsilon = 2
accountant = "pure"
[query]
epsilon = 0.5
max_epsilon = 2
[unit]
name = "patient"
table = "patients"
key = "id"
blocks = { column = "cohort", values = [VALUES], check = CHECK }
[tables.patients.columns]
cohort = {}
[tables.visits]
unit = { column = "id" }
rows_per_unit = 2
[tables.visits.columns]
cost = { range = [0, 10] }
[analysts.ana]
epsilon = 1
"""

Patients = dict[object, object]


@dataclass(frozen=True, slots=True)
class Clinic:
    """A database whose rows and policy are written anew."""

    path: Path

    def load(self, patients: Patients, visitors: Sequence[object] = (), type: str = "BIGINT") -> None:
        self.path.unlink(missing_ok=True)
        identity = self.path.with_suffix(".first")
        if identity.exists():  # the same database: its header names it
            shutil.copy(identity, self.path)
        with duckdb.connect(str(self.path)) as connection:
            connection.execute(f"CREATE TABLE IF NOT EXISTS patients (id {type} NOT NULL, cohort INTEGER)")
            connection.execute(f"CREATE TABLE IF NOT EXISTS visits (id {type}, cost INTEGER)")
            if patients:
                rows = [[str(unit) for unit in patients], [*patients.values()]]
                connection.execute("INSERT INTO patients SELECT unnest(?), unnest(?::INTEGER[])", rows)
            for visitor in visitors:
                connection.execute("INSERT INTO visits VALUES (?, 3), (?, 4)", [visitor, visitor])
            connection.execute("CHECKPOINT")

    def allow(self, *values: int, check: bool = True) -> None:
        listed = ", ".join(map(str, values))
        text = POLICY.replace("VALUES", listed).replace("CHECK", str(check).lower())
        self.path.with_suffix(".toml").write_text(text)

    def open(self, analyst: str | None = None) -> dpsql.Connection:
        return dpsql.connect(self.path, analyst=analyst)

    def shut(self, analyst: str | None = None) -> dpsql.Error:
        with pytest.raises(dpsql.Error) as caught:
            self.open(analyst).close()
        return caught.value

    def left(self) -> dict[str, float]:
        """Return what remains in each block."""
        with self.open() as connection:
            blocks = connection.budget.blocks
            return {block.analyst.removeprefix("cohort "): block.remaining for block in blocks}

    @property
    def units(self) -> Path:
        return self.path.with_name("clinic.ledger-units")


def outcome(path: Path, analyst: str | None = None) -> str:
    """Open a database; return the code of the refusal, '' if there is none."""
    try:
        dpsql.connect(path, analyst=analyst).close()
    except dpsql.Error as error:
        return error.code
    return ""


@pytest.fixture
def clinic(tmp_path: Path) -> Clinic:
    made = Clinic(tmp_path / "clinic.duckdb")
    with duckdb.connect(str(made.path.with_suffix(".first"))) as connection:
        connection.execute("CHECKPOINT")
    made.allow(2023, 2024)
    return made


WHO: Patients = {1: 2023, 2: 2024, 3: None, 4: 2030}
"""Patients of each block, of none, and of a value that is not listed; 5 has visits alone."""


# ---- one who moves ---------------------------------------------------------------------------------------

MOVES: dict[str, tuple[Patients, tuple[object, ...]]] = {
    "to another block": (WHO | {1: 2024}, (5,)),
    "into the rest": (WHO | {1: None}, (5,)),
    "out of the rest, as a NULL is filled in": (WHO | {3: 2023}, (5,)),
    "out of the rest, with another value": (WHO | {4: 2024}, (5,)),
    "out of the rest, as their row comes": (WHO | {5: 2023}, (5,)),
    "into the rest, as their row goes": ({key: WHO[key] for key in (2, 3, 4)}, (1, 5)),
}
SHUT = """error[D809]: a patient is in another block than before
  --> clinic.toml:12:62
   |
12 | ocks = { column = "cohort", values = [2023, 2024], check = true }
   |                                                            ^^^^ each one stays where it was seen first
  = note: a NULL that was filled in, and a row that came later, move one out of the rest
  = help: give it back the value that it had; a value is appended to the list before anybody \
with it is loaded"""
STAYS: dict[str, tuple[Patients, tuple[object, ...]]] = {
    "nobody": (WHO, (5,)),
    "who leaves": ({2: 2024}, ()),
    "who comes": (WHO | {6: 2023, 7: None}, (5, 8, 1)),
    "within the rest": (WHO | {3: 1999, 4: None, 5: None}, (5,)),
    "a visit without a patient": (WHO, (5, None)),
}


@pytest.mark.parametrize("move", MOVES)
def test_a_unit_that_moves_keeps_the_database_shut(clinic: Clinic, move: str) -> None:
    clinic.load(WHO, (5,))
    clinic.open().close()
    units, entries = clinic.units.read_bytes(), ledger_kinds(clinic)
    clinic.load(*MOVES[move])
    for name in (None, "ana"):
        told = clinic.shut(name)
        assert str(told) == SHUT, "whoever asks, whoever moved"
    assert clinic.units.read_bytes() == units
    assert ledger_kinds(clinic)[len(entries) :] == ["verified"]  # that its key holds
    clinic.load({})  # all have left, and are not forgotten
    clinic.open().close()
    clinic.load(*MOVES[move])
    assert clinic.shut().code == "D809"


@pytest.mark.parametrize("stay", STAYS)
def test_others_keep_it_open(clinic: Clinic, stay: str) -> None:
    clinic.load(WHO, (5,))
    clinic.open("ana").close()
    clinic.load(*STAYS[stay])
    for name in (None, "ana"):
        clinic.open(name).close()
    clinic.load(WHO, (5,))
    clinic.open().close()


def test_who_left_and_comes_back_elsewhere_has_moved(clinic: Clinic) -> None:
    clinic.load(WHO)
    clinic.open().close()
    clinic.load({2: 2024})
    clinic.open().close()
    clinic.load({1: 2024, 2: 2024})
    assert clinic.shut().code == "D809"
    clinic.load({1: 2023, 2: 2024})
    clinic.open().close()


def test_a_version_is_read_once(clinic: Clinic) -> None:
    clinic.load(WHO, (5,))
    clinic.open().close()
    before = clinic.units.read_bytes()
    entries = ledger_kinds(clinic)
    for name in (None, "ana"):
        clinic.open(name).close()
    assert (ledger_kinds(clinic), clinic.units.read_bytes()) == (entries, before)
    assert entries.count("units") == 1


def test_the_ledger_grows_alike_whoever_comes(clinic: Clinic) -> None:
    clinic.load(WHO)
    clinic.open().close()
    grown = []
    for patients in (WHO | {9: 2023}, WHO | {9: 2023}, {}):
        clinic.load(patients)
        before = len(ledger_kinds(clinic))
        clinic.open().close()
        grown.append(ledger_kinds(clinic)[before:])
    assert grown[0] == grown[2] == ["verified", "units", "verified"]
    assert grown[1] in ([], grown[0])  # a table that was written anew may have other bytes


def ledger_kinds(clinic: Clinic) -> list[str]:
    import json
    import sqlite3

    with sqlite3.connect(clinic.path.with_name("clinic.ledger")) as ledger:
        kinds = [
            json.loads(text)["kind"] for (text,) in ledger.execute("SELECT entry FROM entries ORDER BY id")
        ]
    return [kind for kind in kinds if kind != "contents"]


def test_units_of_several_columns_are_told_apart(tmp_path: Path) -> None:
    """Texts that are equal when glued together, and rows that belong to nobody."""
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE p (a VARCHAR NOT NULL, b VARCHAR NOT NULL, sex VARCHAR)")
        connection.execute("CREATE TABLE v (x VARCHAR, y VARCHAR, cost INTEGER)")
        connection.execute(
            "INSERT INTO p VALUES ('1', '1:2', 'f'), ('11:', '2', 'm'), ('', 'a', 'f'), ('a', '', 'm')"
        )
        connection.execute("INSERT INTO v VALUES ('a', NULL, 1), ('a', '', 1), ('b', 'b', 1)")
    path.with_suffix(".toml").write_text(
        """
[budget]
epsilon = 2
accountant = "pure"
[unit]
table = "p"
key = ["a", "b"]
blocks = { column = "sex", values = ["f", "m"], check = true }
[tables.p.columns]
sex = {}
[tables.v]
unit = { column = ["x", "y"] }
rows_per_unit = 1
"""
    )
    dpsql.connect(path).close()
    for change, code in (
        ("DELETE FROM v WHERE y IS NULL", ""),
        ("UPDATE p SET b = '2' WHERE a = '1'", ""),  # another unit
        ("INSERT INTO p VALUES ('b', 'b', 'f')", "D809"),
        ("UPDATE p SET sex = 'x' WHERE a = 'b'", ""),
        ("UPDATE p SET sex = 'f' WHERE a = '11:'", "D809"),
    ):
        with duckdb.connect(str(path)) as connection:
            connection.execute(change)
        assert outcome(path) == code, change


def test_a_unit_at_the_end_of_a_path_is_seen(tmp_path: Path) -> None:
    """The customer of an order, who has no row of their own, and is read by way of it."""
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, since INTEGER)")
        connection.execute("CREATE TABLE orders (no INTEGER PRIMARY KEY, customer INTEGER)")
        connection.execute("CREATE TABLE lines (no INTEGER, price INTEGER)")
        connection.execute("INSERT INTO orders VALUES (10, 1), (11, 2)")
        connection.execute("INSERT INTO customers VALUES (2, 2024)")
        connection.execute("INSERT INTO lines VALUES (10, 5), (11, 5)")
    path.with_suffix(".toml").write_text(
        """
[budget]
epsilon = 2
accountant = "pure"
[unit]
table = "customers"
key = "id"
blocks = { column = "since", values = [2024], check = true }
[tables.customers.columns]
since = {}
[tables.orders]
unit = { column = "customer" }
rows_per_unit = 3
[tables.lines]
unit = { column = "no", references = "orders.no" }
rows_per_unit = 3
"""
    )
    dpsql.connect(path).close()
    with duckdb.connect(str(path)) as connection:
        connection.execute("INSERT INTO customers VALUES (1, 2024)")
    with pytest.raises(dpsql.Error, match="D809"):
        dpsql.connect(path)


# ---- appended values -------------------------------------------------------------------------------------

EVERYBODY = "SELECT COUNT(*) FROM visits"
OF = "SELECT COUNT(*) FROM patients WHERE cohort = {}"


def ask(clinic: Clinic, sql: str, epsilon: float) -> None:
    with clinic.open() as connection:
        connection.execute(sql, epsilon=epsilon, anyway=True)


def test_three_years_of_a_clinic(clinic: Clinic) -> None:
    """Loads and questions, a cohort each year: each has its whole budget, and old ones keep what they had."""
    patients: Patients = {0: None}
    clinic.allow(2023)
    spent = {"the rest of cohort": 0.0}
    for year in (2023, 2024, 2025):
        clinic.allow(*range(2023, year + 1))
        spent[str(year)] = 0.0
        assert clinic.path.exists() is (year > 2023)
        for day in range(2):
            patients |= {1000 * year + 10 * day + at: year for at in range(3)}
            clinic.load(patients, [*patients][-2:])
            if not day:
                assert clinic.left() == pytest.approx({block: 2 - paid for block, paid in spent.items()})
            ask(clinic, OF.format(year), 0.25)
            ask(clinic, OF.format(year), 0.25)  # the same data, the same answer: nothing is paid twice
            spent[str(year)] += 0.25
        ask(clinic, EVERYBODY, 0.1)
        spent = {block: paid + 0.1 for block, paid in spent.items()}
        del patients[1000 * year]  # who leaves is not forgotten
        assert clinic.left() == pytest.approx({block: 2 - paid for block, paid in spent.items()})
    assert spent == pytest.approx({"the rest of cohort": 0.3, "2023": 0.8, "2024": 0.7, "2025": 0.6})
    clinic.load(patients | {2_023_000: 2025})
    assert clinic.shut().code == "D809"


def test_without_the_check_a_new_year_has_spent_what_the_rest_has(clinic: Clinic) -> None:
    patients: Patients = {}
    clinic.allow(2023, check=False)
    spent = 0.0
    for year in (2023, 2024, 2025):
        clinic.allow(*range(2023, year + 1), check=False)
        patients |= {10 * year + at: year for at in range(3)}
        clinic.load(patients)
        assert clinic.left()[str(year)] == pytest.approx(2 - spent)
        ask(clinic, EVERYBODY, 0.25)
        ask(clinic, OF.format(year), 0.25)
        spent += 0.25
    assert not clinic.units.exists()


def test_a_value_whose_units_were_in_the_rest_is_not_appended(clinic: Clinic) -> None:
    clinic.load(WHO, (5,))
    ask(clinic, EVERYBODY, 0.5)
    clinic.allow(2023, 2024, 2030)
    assert clinic.shut().code == "D809"
    clinic.allow(2023, 2024)  # the ledger knows nothing of it
    assert clinic.left() == pytest.approx({"2023": 1.5, "2024": 1.5, "the rest of cohort": 1.5})
    clinic.load({1: 2023, 2: 2024})
    clinic.allow(2023, 2024, 2030)
    assert clinic.left()["2030"] == 2.0
    clinic.load(WHO)  # patient 4 was in the rest
    assert clinic.shut().code == "D809"


def test_what_was_spent_before_the_check_is_spent_in_later_blocks(clinic: Clinic) -> None:
    """Who was there before it began, and had left, may come in any block."""
    clinic.allow(2023, check=False)
    clinic.load(WHO, (5,))
    ask(clinic, EVERYBODY, 0.5)
    ask(clinic, OF.format(2023), 0.25)
    clinic.allow(2023)
    clinic.load({1: 2023})
    ask(clinic, EVERYBODY, 0.1)
    clinic.allow(2023, 2024)
    expected = {"the rest of cohort": 1.4, "2023": 1.15, "2024": 1.5}
    assert clinic.left() == pytest.approx(expected)
    clinic.allow(2023, 2024, 2025, check=False)
    assert clinic.left() == pytest.approx(expected | {"2025": 1.4})


def test_check_and_values_that_come_together_start_with_the_rest(clinic: Clinic) -> None:
    clinic.allow(2023, check=False)
    clinic.load(WHO)
    ask(clinic, EVERYBODY, 0.5)
    clinic.allow(2023, 2024)
    assert clinic.left()["2024"] == 1.5


def test_a_connection_from_before_the_check_pays_no_more(clinic: Clinic) -> None:
    """It may read data that the file knows nothing of."""
    clinic.allow(2023, 2024, check=False)
    clinic.load(WHO)
    with clinic.open() as before:
        before.execute(OF.format(2023), epsilon=0.1, anyway=True)
        clinic.allow(2023, 2024)
        clinic.open().close()
        before.execute(OF.format(2023), epsilon=0.1, anyway=True)  # paid for already
        with pytest.raises(dpsql.Error, match="D505"):
            before.execute(OF.format(2024), epsilon=0.1, anyway=True)
    with clinic.open() as first:
        clinic.allow(2023, 2024, check=False)
        clinic.open().close()
        clinic.allow(2023, 2024)
        clinic.open().close()  # the check has begun anew
        with pytest.raises(dpsql.Error, match="D505"):
            first.execute(OF.format(2024), epsilon=0.1, anyway=True)


# ---- the file --------------------------------------------------------------------------------------------


def test_the_file_is_the_owners_alone_and_names_nobody(clinic: Clinic) -> None:
    old = os.umask(0)
    try:
        clinic.load({"Borgen": 2023, "Nyborg": None}, type="VARCHAR")
        clinic.open().close()
    finally:
        os.umask(old)
    assert clinic.units.stat().st_mode & 0o777 == 0o600
    assert b"Borgen" not in clinic.units.read_bytes()
    clinic.units.chmod(0o640)
    assert clinic.shut().code == "D507"


def damage_missing(clinic: Clinic, old: bytes) -> None:
    clinic.units.unlink()


def damage_older(clinic: Clinic, old: bytes) -> None:
    clinic.units.write_bytes(old)


def damage_byte(clinic: Clinic, old: bytes) -> None:
    content = bytearray(clinic.units.read_bytes())
    content[len(old) - 40] ^= 1
    clinic.units.write_bytes(bytes(content))


def damage_cut(clinic: Clinic, old: bytes) -> None:
    clinic.units.write_bytes(clinic.units.read_bytes()[:-1])


def damage_empty(clinic: Clinic, old: bytes) -> None:
    clinic.units.write_bytes(b"")


@pytest.mark.parametrize("damage", [damage_missing, damage_older, damage_byte, damage_cut, damage_empty])
def test_a_file_that_is_missing_or_older_keeps_it_shut(
    clinic: Clinic, damage: Callable[[Clinic, bytes], None]
) -> None:
    clinic.load(WHO)
    clinic.open().close()
    old = clinic.units.read_bytes()
    clinic.load(WHO | {9: 2024})
    clinic.open().close()
    newest = clinic.units.read_bytes()
    damage(clinic, old)
    for patients in (WHO | {9: 2024}, WHO | {10: 2024}):
        for name in (None, "ana"):
            assert clinic.shut(name).code == "D514"
        clinic.load(patients)
    clinic.units.write_bytes(newest)
    clinic.units.chmod(0o600)
    clinic.open().close()


def test_the_file_of_another_ledger_or_of_another_kind_of_unit_is_refused(clinic: Clinic) -> None:
    clinic.load(WHO)
    clinic.open().close()
    ledger = clinic.path.with_name("clinic.ledger")
    ledger.rename(ledger.with_suffix(".old"))
    assert "another ledger" in clinic.shut().label
    ledger.unlink()
    ledger.with_suffix(".old").rename(ledger)
    clinic.open().close()


def test_a_part_that_the_ledger_does_not_know_was_seen_all_the_same(clinic: Clinic) -> None:
    """As a kill between the file and the ledger leaves it."""
    clinic.load(WHO)
    clinic.open().close()
    ledger = clinic.path.with_name("clinic.ledger")
    before = ledger.read_bytes()
    clinic.load(WHO | {9: 2024})
    clinic.open().close()
    ledger.write_bytes(before)
    clinic.load(WHO | {9: 2023})
    assert clinic.shut().code == "D809"
    clinic.load(WHO | {9: 2024})
    clinic.open().close()


@pytest.mark.parametrize("cut", [1, 31, 33, 50, 57])
def test_a_part_that_was_cut_is_written_anew(clinic: Clinic, cut: int) -> None:
    clinic.load(WHO)
    clinic.open().close()
    ledger = clinic.path.with_name("clinic.ledger")
    before = ledger.read_bytes()
    clinic.load(WHO | {9: 2024})
    clinic.open().close()
    ledger.write_bytes(before)
    clinic.units.write_bytes(clinic.units.read_bytes()[:-cut])
    clinic.open().close()
    clinic.load(WHO | {9: 2023})
    assert clinic.shut().code == "D809"


def test_a_lost_file_can_be_begun_anew_by_the_owner(clinic: Clinic) -> None:
    clinic.load(WHO)
    ask(clinic, EVERYBODY, 0.5)
    clinic.units.unlink()
    assert clinic.shut().code == "D514"
    clinic.allow(2023, 2024, check=False)
    clinic.open().close()
    clinic.allow(2023, 2024)
    clinic.open().close()
    clinic.allow(2023, 2024, 2025)
    assert clinic.left()["2025"] == 1.5  # as the rest had before the check began anew


def test_a_version_that_an_earlier_check_has_seen_is_looked_at_anew(clinic: Clinic) -> None:
    clinic.load(WHO)
    clinic.open().close()
    first = clinic.path.read_bytes()
    clinic.allow(2023, 2024, check=False)
    clinic.open().close()
    clinic.units.unlink()
    clinic.load({2: 2024})
    clinic.allow(2023, 2024)
    clinic.open().close()
    clinic.path.write_bytes(first)
    clinic.open().close()
    clinic.load(WHO | {1: 2024})
    assert clinic.shut().code == "D809"


# ---- against a model -------------------------------------------------------------------------------------


def history(clinic: Clinic, seed: int, steps: int = 14) -> None:
    """Random loads, lists and openings, against what has been seen."""
    rng, seen, listed = random.Random(seed), dict[object, int](), [0, 1]
    patients: Patients = {}
    visitors: list[int] = []
    clinic.allow(*listed)
    for _ in range(steps):
        for unit in rng.sample(range(12), 2):
            kind = rng.random()
            if kind < 0.4:
                patients.setdefault(unit, rng.choice([0, 1, 2, 3, None]))
            elif kind < 0.6:
                patients.pop(unit, None)
            elif kind < 0.7:
                patients[unit] = rng.choice([0, 1, 2, None])
            else:
                visitors = rng.sample(range(12), 2)
        grown = [*listed, len(listed)] if rng.random() < 0.15 and len(listed) < 4 else listed
        clinic.load(patients, visitors)
        clinic.allow(*grown)
        blocks = dict.fromkeys(visitors, 0) | {
            unit: grown.index(value) + 1 if value in grown else 0 for unit, value in patients.items()
        }
        moved = any(seen.get(unit, block) != block for unit, block in blocks.items())
        assert outcome(clinic.path, rng.choice([None, "ana"])) == ("D809" if moved else "")
        if moved:
            patients, visitors = {}, []  # else it would stay shut
        else:
            seen, listed = blocks | seen, grown


def histories(clinic: Clinic, seeds: Sequence[int]) -> None:
    for seed in seeds:
        for other in ("clinic.ledger", "clinic.ledger-units"):
            clinic.path.with_name(other).unlink(missing_ok=True)
        history(clinic, seed)


@pytest.mark.parametrize("seed", range(2))
def test_it_is_shut_where_somebody_moved_and_open_else(clinic: Clinic, seed: int) -> None:
    history(clinic, seed)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(100, 200))
def test_it_is_shut_where_somebody_moved_in_many(clinic: Clinic, seed: int) -> None:
    history(clinic, seed, 60)


def unforgetful(self: SeenUnits, records: bytes) -> None:
    """Forget what was seen."""


def careless(self: TakenFile, records: bytes) -> str:
    """Write nothing."""
    return self.digest


def own_alone(known: Known) -> tuple[UnitHolder, ...]:
    """Leave out units that have no row in their own table."""
    return _HOLDERS(known)[:1]


_HOLDERS = units_seen.unit_holders

PLANTED: dict[str, tuple[object, str, object]] = {
    "the file is not read": (SeenUnits, "remember", unforgetful),
    "the file is not written": (TakenFile, "append", careless),
    "other tables are not looked at": (units_seen, "unit_holders", own_alone),
    "the rest is no block": (
        SeenUnits,
        "_record_of",
        lambda self, row: b"" if row[-1] is None else _RECORD(self, row),
    ),
}
_RECORD = SeenUnits._record_of


@pytest.mark.parametrize("name", PLANTED)
def test_planted_errors_are_found(clinic: Clinic, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(*PLANTED[name])
    with pytest.raises(AssertionError):
        histories(clinic, range(4))


# ---- many at once, and kills -----------------------------------------------------------------------------

OPENS = """
import sys, dpsql
for _ in sys.stdin:
    try:
        with dpsql.connect(sys.argv[1]) as connection:
            connection.execute("SELECT COUNT(*) FROM patients WHERE cohort = 2023", anyway=True)
        print("open", flush=True)
    except dpsql.Error as error:
        print(error.code, flush=True)
"""
"""Opens the database once for each line."""


@contextmanager
def openers(clinic: Clinic, many: int) -> Iterator[list[subprocess.Popen[str]]]:
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", OPENS, str(clinic.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(many)
    ]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()


def tell(workers: Sequence[subprocess.Popen[str]]) -> None:
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("\n")
        worker.stdin.flush()


def opened(workers: Sequence[subprocess.Popen[str]]) -> list[str]:
    """Let all of them open the database at once; return what each says."""
    tell(workers)
    return [worker.stdout.readline().strip() for worker in workers if worker.stdout is not None]


@pytest.mark.parametrize("many", [2, pytest.param(64, marks=pytest.mark.sweep)])
def test_many_processes_open_a_new_version_at_once(clinic: Clinic, many: int) -> None:
    clinic.load(WHO, (5,))
    with openers(clinic, many) as workers:
        assert opened(workers) == ["open"] * many
        assert ledger_kinds(clinic).count("units") == 1
        clinic.load(WHO | {1: 2024}, (5,))
        assert opened(workers) == ["D809"] * many
        assert ledger_kinds(clinic).count("units") == 1


@pytest.mark.parametrize("kills", [1, pytest.param(200, marks=pytest.mark.sweep)])
def test_what_was_asked_about_is_in_the_file_after_any_kill(clinic: Clinic, kills: int) -> None:
    """Killed while it opens a version with fresh units; it opens again, and knows who was asked about."""
    patients: Patients = dict(WHO)
    clinic.load(patients)
    policy = clinic.path.with_suffix(".toml")
    policy.write_text(policy.read_text().replace("epsilon = 2\n", "epsilon = 2000\n", 1))  # room for all
    clinic.open().close()
    for time_of in range(kills):
        patients |= {1000 + 300 * time_of + at: 2023 for at in range(300)}
        clinic.load(patients)
        before = len(ledger_kinds(clinic))
        with openers(clinic, 1) as workers:
            tell(workers)
            time.sleep(random.Random(time_of).uniform(0.2, 1.2))
        if "debit" in ledger_kinds(clinic)[before:]:
            clinic.load(patients | {1000 + 300 * time_of: 2024})
            assert clinic.shut().code == "D809"
            clinic.load(patients)
        if time_of % 10 == 9 or time_of < 3:
            with openers(clinic, 1) as workers:
                assert opened(workers) == ["open"]
