"""A witness and a mirror know a ledger's entries: an older copy is refused, and both come before a look."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from test_ledger import ASKED, GRANTED, PROMISE  # the same ledgers

import dpsql
from dpsql.accounting import second_places
from dpsql.accounting.backups import backed_up
from dpsql.accounting.entry_index import names_of
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.second_places import Mirror, SecondPlace, Witness
from dpsql.cli import main
from dpsql.engines.duckdb import DuckDB

COUNT = "SELECT COUNT(*) FROM patients"
KINDS = ("witness", "mirror")


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """Another disk."""
    folder = tmp_path / "there"
    folder.mkdir()
    return folder


@pytest.fixture(params=KINDS)
def placed(request: pytest.FixtureRequest, clinic: Path, there: Path) -> Path:
    """A clinic with a witness, or a mirror."""
    path = {"witness": there / "clinic.witness", "mirror": f"{there}/"}[request.param]
    with_ledger(clinic, f'{request.param} = "{path}"')
    return clinic


def with_ledger(clinic: Path, line: str) -> None:
    policy = clinic.with_suffix(".toml")
    policy.write_text(f"{policy.read_text()}\n[ledger]\n{line}\n")


def second(there: Path) -> Path:
    (file,) = (each for each in there.iterdir() if not each.name.endswith(("-queue", "-journal")))
    return file


def ask(clinic: Path, age: int, analyst: str | None = "ana") -> float:
    with dpsql.connect(clinic, analyst=analyst) as db:
        db.execute(f"{COUNT} WHERE age > {age}")
        return db.budget.spent


def refused(code: str, act: Callable[[], object]) -> dpsql.Error:
    with pytest.raises(dpsql.Error) as caught:
        act()
    assert caught.value.code == code, str(caught.value)
    return caught.value


def entries(path: Path) -> list[tuple[object, ...]]:
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT id, entry, payload, hash FROM entries ORDER BY id").fetchall()
    connection.close()
    return rows


def test_an_older_copy_is_refused(placed: Path, there: Path) -> None:
    ledger = placed.with_suffix(".ledger")
    ask(placed, 1)
    shutil.copy(ledger, there.parent / "last_week")
    ask(placed, 2)
    now = ledger.read_bytes()
    shutil.copy(there.parent / "last_week", ledger)
    error = refused("D512", lambda: ask(placed, 3))
    assert "which the ledger does not have" in error.label
    assert main(["policy", "check", str(placed)]) == 1
    ledger.write_bytes(now)
    ask(placed, 3)


def test_a_ledger_that_is_gone_is_not_made_anew(placed: Path) -> None:
    ledger = placed.with_suffix(".ledger")
    ask(placed, 1)
    ledger.unlink()
    assert "is gone" in refused("D512", lambda: ask(placed, 1)).label
    assert not ledger.exists()
    assert main(["policy", "check", str(placed)]) == 1


def test_another_ledger_is_refused(placed: Path, there: Path) -> None:
    """One that went on from an older copy has entries of the same numbers."""
    ledger, policy = placed.with_suffix(".ledger"), placed.with_suffix(".toml")
    ask(placed, 1)
    shutil.copy(ledger, there.parent / "last_week")
    ask(placed, 2)
    shutil.copy(there.parent / "last_week", ledger)
    given = policy.read_text()
    policy.write_text(given.partition("\n[ledger]")[0])
    for age in (5, 6, 7):
        ask(placed, age)  # without a witness, nobody notices
    policy.write_text(given)
    assert "is another one than" in refused("D512", lambda: ask(placed, 8)).label


def test_a_place_that_is_gone_is_not_made_anew(placed: Path, there: Path) -> None:
    """As where a disk is not mounted, and its folder is empty."""
    spent = ask(placed, 1)
    second(there).rename(there.parent / "kept")
    error = refused("D507", lambda: ask(placed, 2))
    assert "is its disk mounted" in error.help
    assert {each.name for each in there.iterdir()} <= {"clinic.ledger-journal"}
    (there.parent / "kept").rename(there / ("clinic.ledger" if "mirror" in error.title else "clinic.witness"))
    assert ask(placed, 1) == spent


def test_nothing_is_read_and_nothing_is_paid_without_the_place(
    placed: Path, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DuckDB, "measure", lambda *_: pytest.fail("private rows were read"))
    ledger = placed.with_suffix(".ledger")
    with dpsql.connect(placed, analyst="ana") as db:
        there.rename(there.with_name("unmounted"))
        before = ledger.read_bytes()
        assert "nothing was written" in refused("D507", lambda: db.execute(COUNT)).notes[0]
        assert ledger.read_bytes() == before
        there.with_name("unmounted").rename(there)
        assert db.purchase_count == 0


def test_a_debit_is_in_both_before_a_look(clinic: Path, there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the very moment at which private rows are read, another process would find it in the mirror."""
    with_ledger(clinic, f'mirror = "{there}/"\nwitness = "{there.parent}/clinic.witness"')
    seen, measure = [], DuckDB.measure

    def looked(engine: DuckDB, planned: object) -> object:
        mirrored = [json.loads(str(row[1]))["kind"] for row in entries(there / "clinic.ledger")]
        witness = json.loads((there.parent / "clinic.witness").read_text())
        seen.append((mirrored[-1], witness["entry"] == len(mirrored)))
        return measure(engine, planned)  # type: ignore[arg-type]  # a plan

    monkeypatch.setattr(DuckDB, "measure", looked)
    ask(clinic, 1)
    assert seen == [("debit", True)]


def test_a_debit_that_is_not_in_both_is_completed_later(
    placed: Path, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger has it, and the other place fails at its commit: nothing is read, or paid twice."""
    ask(placed, 1)
    with dpsql.connect(placed, analyst="ana") as db:
        with monkeypatch.context() as patched:
            patched.setattr(DuckDB, "measure", lambda *_: pytest.fail("private rows were read"))
            patched.setattr(second_places, "_commit", fail)
            patched.setattr(Witness, "_replace", fail)
            error = refused("D507", lambda: db.execute(COUNT, epsilon=2.0))
        assert "ask again" in error.notes[0]
        spent = db.budget.spent
        assert (db.purchase_count, db.latest_purchases(1)[0].answered) == (2, False)
        db.execute(COUNT, epsilon=2.0)
        assert (db.purchase_count, db.latest_purchases(1)[0].answered) == (2, True)
        assert db.budget.spent == spent


def fail(*_: object) -> None:
    raise OSError(5, "Input/output error")


def test_a_mirror_takes_the_place_of_a_lost_ledger(clinic: Path, there: Path) -> None:
    with_ledger(clinic, f'mirror = "{there}/"')
    with dpsql.connect(clinic, analyst="ana") as db:
        for age in range(40):  # past the entries that hold the sums
            db.execute(f"{COUNT} WHERE age > {age}")
    ledger, mirror = clinic.with_suffix(".ledger"), there / "clinic.ledger"
    assert entries(mirror) == entries(ledger)
    assert mirror.stat().st_mode & 0o077 == 0
    with dpsql.connect(clinic, analyst="ana") as db:
        spent, answer = db.budget.spent, db.execute(f"{COUNT} WHERE age > 7").rows
    ledger.unlink()
    shutil.copy(mirror, ledger)
    with dpsql.connect(clinic, analyst="ana") as db:
        db._open().ledger.verify()
        assert db.budget.spent == spent
        again = db.execute(f"{COUNT} WHERE age > 7")
        assert (again.rows, again.cost) == (answer, 0)
        db.execute(f"{COUNT} WHERE age > 77")
    assert entries(mirror) == entries(ledger)


def test_what_was_written_without_the_mirror_is_made_up_for(clinic: Path, there: Path) -> None:
    """A kill between the two commits, or a policy that names it later."""
    ask(clinic, 1)
    with_ledger(clinic, f'mirror = "{there}/"\nwitness = "{there}/clinic.witness"')
    ask(clinic, 2)
    assert entries(there / "clinic.ledger") == entries(clinic.with_suffix(".ledger"))
    with sqlite3.connect(there / "clinic.ledger") as connection:
        last = connection.execute("SELECT max(id) FROM entries").fetchone()[0]
        connection.execute("DELETE FROM places WHERE id = ?", (last,))
        connection.execute("DELETE FROM entries WHERE id = ?", (last,))
        connection.execute("UPDATE sqlite_sequence SET seq = ?", (last - 1,))
    connection.close()
    ask(clinic, 3)
    assert entries(there / "clinic.ledger") == entries(clinic.with_suffix(".ledger"))


WRITER = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[3].split(":")
from dataclasses import replace
from test_ledger import ASKED, GRANTED, PROMISE
from dpsql.accounting.entry_index import names_of
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.units import Units
from dpsql.accounting.second_places import Mirror, Witness
path, other = Path(sys.argv[1]), Path(sys.argv[2])
granted = replace(GRANTED, total=Units(10**9, 0), analysts=())
places = Mirror(other, names_of), Witness(other.with_suffix(".w"))
with Ledger.open(path, PROMISE, granted, places=places) as ledger:
    for number in range(int(sys.argv[4])):
        paid = ledger.debit_or_join(replace(ASKED, analyst="", digest=f"{sys.argv[5]} {number}"))
        print(f"{sys.argv[5]} {number}", flush=True)
"""


def writer(path: Path, other: Path, many: int, name: str) -> subprocess.Popen[str]:
    rooms = f"{Path(__file__).parent}:{Path(__file__).parents[1]}:{Path(__file__).parents[2]}"
    words = [sys.executable, "-c", WRITER, str(path), str(other), rooms, str(many), name]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def test_a_kill_leaves_no_debit_that_one_of_them_lacks(tmp_path: Path, there: Path) -> None:
    """What a process has said to be paid is in both; what it was about to say may be in the first alone."""
    path, other = tmp_path / "clinic.ledger", there / "clinic.ledger"
    places: tuple[SecondPlace, ...] = (Mirror(other, names_of), Witness(other.with_suffix(".w")))
    for turn in range(3):
        worker = writer(path, other, 10**6, f"turn {turn}")
        assert worker.stdout is not None
        said = [worker.stdout.readline().strip() for _ in range(3 + turn)]
        os.kill(worker.pid, signal.SIGKILL)
        said += worker.communicate()[0].split("\n")[:-1]
        mirrored = {json.loads(str(row[1])).get("digest") for row in entries(other)}
        assert mirrored >= {each.strip() for each in said}
        with Ledger.open(path, PROMISE, GRANTED, places=places) as ledger:
            ledger.debit_or_join(ASKED)
            ledger.debit_or_join(replace(ASKED, digest=f"after {turn}"))
            ledger.verify()
        assert entries(other) == entries(path)


def test_processes_write_one_mirror(tmp_path: Path, there: Path) -> None:
    path, other = tmp_path / "clinic.ledger", there / "clinic.ledger"
    workers = [writer(path, other, 15, f"worker {name}") for name in range(3)]
    assert [len(worker.communicate()[0].split("\n")) for worker in workers] == [16] * 3
    assert [worker.returncode for worker in workers] == [0] * 3
    assert entries(other) == entries(path)
    assert sum(json.loads(str(row[1]))["kind"] == "debit" for row in entries(path)) == 45


@pytest.mark.parametrize("kind", KINDS)
def test_of_two_copies_that_write_at_once_one_is_refused(
    tmp_path: Path, there: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other copy writes after this one has looked, and before it has the place for itself."""
    place: SecondPlace = Witness(there / "w") if kind == "witness" else Mirror(there / "m", names_of)
    one, other = tmp_path / "one.ledger", tmp_path / "other.ledger"
    with Ledger.open(one, PROMISE, GRANTED, places=(place,)) as ledger:
        ledger.debit_or_join(ASKED)
    shutil.copy(one, other)
    check, looks = second_places.check_place, list[int]()

    def look(place: SecondPlace, connection: sqlite3.Connection) -> second_places.Last:
        last = check(place, connection)
        looks.append(last[0])
        if len(looks) == 1:
            ledger.debit_or_join(replace(ASKED, digest="d1"))
        return last

    with (
        Ledger.open(one, PROMISE, GRANTED, places=(place,)) as ledger,
        Ledger.open(other, PROMISE, GRANTED, places=(place,)) as copy,
    ):
        monkeypatch.setattr(second_places, "check_place", look)
        before = entries(other)
        refused("D512", lambda: copy.debit_or_join(replace(ASKED, digest="d2")))
        assert entries(other) == before
        assert place.last()[0] == len(entries(one)) > looks[0]


def test_a_witness_that_another_holds_is_waited_for(
    tmp_path: Path, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    witness = Witness(there / "w")
    with Ledger.open(tmp_path / "l", PROMISE, GRANTED, places=(witness,)) as ledger:
        monkeypatch.setattr(second_places, "_PATIENCE", 0.01)
        with Witness(there / "w")._locked():
            error = refused("D507", lambda: ledger.debit_or_join(ASKED))
        assert "locked by another process" in error.label
        ledger.debit_or_join(ASKED)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('witness = ""', "D803.*witness must be a path"),
        ('witness = "there/"', "D803.*witness must be a file"),
        ("mirror = 1", "D803.*mirror must be a string"),
        ('mirror = "./"', "D803.*the mirror of the ledger is the ledger itself"),
        ('witness = "clinic.toml"', "D507.*the ledger's witness cannot be used"),
        ('mirror = "clinic.toml"', "D507.*the ledger's mirror cannot be used"),
        (
            'mirror = "nowhere/clinic.ledger"',
            "D507.*the ledger's mirror cannot be used(.|\n)*no longer exists",
        ),
    ],
)
def test_a_place_is_a_file_of_its_own(clinic: Path, line: str, told: str) -> None:
    with_ledger(clinic, line)
    with pytest.raises(dpsql.DatabaseError, match=told):
        ask(clinic, 1)


def test_a_place_of_others_is_refused(placed: Path, there: Path) -> None:
    ask(placed, 1)
    second(there).chmod(0o644)
    assert "open to other users" in refused("D507", lambda: ask(placed, 2)).label


# ---- backups -------------------------------------------------------------------------------------------


def test_a_backup_is_a_ledger_with_every_entry(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spent, ledger = ask(clinic, 1), clinic.with_suffix(".ledger")
    file = clinic.with_name("monday.ledger")
    assert main(["ledger", "backup", str(clinic), str(file)]) == 0
    number = len(entries(ledger))
    assert f"monday.ledger: {number} entries, all checked; the last is of " in capsys.readouterr().out
    assert entries(file) == entries(ledger)
    assert file.stat().st_mode & 0o777 == 0o600
    assert not [each for each in file.parent.iterdir() if each.name.startswith(".ledger-")]
    with dpsql.connect(clinic, ledger=file, analyst="ana") as db:
        assert db.budget.spent == spent
        assert db.execute(f"{COUNT} WHERE age > 1").cost == 0
    before = file.read_bytes()
    assert main(["ledger", "backup", str(clinic), str(file)]) == 1
    assert "is there already, and is left alone" in capsys.readouterr().err
    assert file.read_bytes() == before
    assert main(["ledger", "backup", str(clinic), str(clinic.parent / "none" / "x")]) == 1
    assert main(["ledger", "backup", str(clinic.with_name("none")), str(clinic.with_name("y"))]) == 1


def test_a_backup_is_made_while_others_write(tmp_path: Path, there: Path) -> None:
    path, other = tmp_path / "clinic.ledger", there / "clinic.ledger"
    worker = writer(path, other, 10**6, "one")
    assert worker.stdout is not None
    said = [worker.stdout.readline().strip() for _ in range(5)]
    copies = []
    for number in range(4):
        copy = tmp_path / f"copy {number}"
        last = backed_up(path, copy)
        copies.append(entries(copy))
        assert len(copies[-1]) == last.id
    os.kill(worker.pid, signal.SIGKILL)
    worker.communicate()
    digests = [json.loads(str(row[1])).get("digest") for row in copies[0]]
    assert set(said) <= set(digests), "what was paid before it began"
    whole = entries(path)  # of the ledger: the kill may leave the mirror an entry behind
    for copy in copies:
        assert copy == whole[: len(copy)]
    second = entries(other)
    assert second == whole[: len(second)]
    assert len(whole) - len(second) <= 1


def test_a_damaged_ledger_is_not_backed_up(clinic: Path) -> None:
    ask(clinic, 1)
    ledger, file = clinic.with_suffix(".ledger"), clinic.with_name("monday.ledger")
    ledger.write_bytes(ledger.read_bytes().replace(b"age > 1", b"age > 2"))
    refused("D506", lambda: backed_up(ledger, file))
    assert not file.exists()
    assert not [each for each in file.parent.iterdir() if each.name.startswith(".ledger-")]
