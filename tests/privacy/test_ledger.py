"""The ledger keeps its word with many processes, after kills, and against whoever edits the file."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.accounting.chain import START
from dpsql.accounting.entries import Overdrawn
from dpsql.accounting.ledger import Debit, Granted, Ledger, Promise
from dpsql.accounting.units import Units
from dpsql.errors import DatabaseError

PROMISE = Promise(database="clinic", unit="patients.patient_id", accountant="pure", delta=0.0)
GRANTED = Granted(1.0, Units(1000, 500), (("ana", 0.5, Units(500, 500)), ("bob", 0.5, Units(500, 500))))
ASKED = Debit(
    analyst="ana",
    sql="SELECT COUNT(*) FROM patients",
    digest="d0",
    version="v1",
    events="Laplace",
    epsilon=0.1,
    price=Units(7, 0),
)

# What the worker processes of the tests below share; each reads its task from the command line.
PRELUDE = """
import os, sys, threading, time
from pathlib import Path
from dpsql.accounting.units import Units
from dpsql.accounting.chain import START
from dpsql.accounting.ledger import Debit, Granted, Ledger, Promise
from dpsql.errors import DatabaseError
path, name, budget = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
promise = Promise("clinic", "patients.patient_id", "pure", 0.0)
granted = Granted(1.0, Units(budget, 0))
def ask(digest, price=7):
    return Debit("", "SELECT 1", digest, "v1", "Laplace", 0.1, Units(price))
def ready():
    print("ready", flush=True)
    sys.stdin.readline()
"""


class Worker:
    """A process of its own that runs PRELUDE and then this script."""

    def __init__(self, script: str, path: Path, name: object = "", budget: int = 1000) -> None:
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
        self.process = subprocess.Popen(
            [sys.executable, "-c", PRELUDE + script, str(path), str(name), str(budget)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def wait_ready(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def finish(self) -> list[str]:
        """Let it go, and everything it printed."""
        out, _ = self.process.communicate("go\n", timeout=300)
        assert self.process.returncode == 0
        return out.split()


def together(workers: list[Worker]) -> list[list[str]]:
    for worker in workers:
        worker.wait_ready()
    for worker in workers:
        assert worker.process.stdin is not None
        worker.process.stdin.write("go\n")
        worker.process.stdin.flush()
    return [worker.finish() for worker in workers]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "clinic.ledger"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with Ledger.open(path, PROMISE, GRANTED) as ledger:
        yield ledger


def refused(code: str, act: Callable[[], Any]) -> DatabaseError:
    with pytest.raises(DatabaseError) as caught:
        act()
    assert caught.value.code == code, str(caught.value)
    return caught.value


def reopen(path: Path, **changed: Any) -> None:
    Ledger.open(path, replace(PROMISE, **changed), GRANTED, patience=0.2).close()


def edit(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_a_debit_is_paid_once_and_answered_once(ledger: Ledger) -> None:
    assert ledger.created
    assert ledger.stored("d0", "v1", "ana") is None
    first = ledger.debit_or_join(ASKED)
    assert first.answer is None
    assert first.charged
    again = replace(first, charged=False)
    assert ledger.debit_or_join(ASKED) == again == ledger.stored("d0", "v1", "ana")
    assert ledger.spent() == ledger.spent("ana") == Units(7, 0)
    assert ledger.store(first.debit_id, b"noisy") == b"noisy"
    assert ledger.store(first.debit_id, b"fresh noise") == b"noisy"
    assert ledger.debit_or_join(ASKED).answer == b"noisy"
    other_day = ledger.debit_or_join(replace(ASKED, version="v2"))
    assert other_day.answer is None
    assert other_day.debit_id != first.debit_id
    assert ledger.spent() == Units(14, 0)


def test_an_answer_without_a_debit_is_our_bug(ledger: Ledger) -> None:
    refused("D901", lambda: ledger.store(1, b"answer"))


def test_another_analyst_shares_the_noise_and_pays_for_seeing_it(ledger: Ledger) -> None:
    ana = ledger.debit_or_join(ASKED)
    ledger.store(ana.debit_id, b"noisy")
    assert ledger.stored("d0", "v1", "bob") is None
    bob = ledger.debit_or_join(replace(ASKED, analyst="bob"))
    assert (bob.debit_id, bob.answer) == (ana.debit_id, b"noisy")
    assert bob.joined
    assert ledger.stored("d0", "v1", "bob") == replace(bob, joined=False, charged=False)
    assert ledger.debit_or_join(replace(ASKED, analyst="bob")) == replace(bob, joined=False, charged=False)
    assert ledger.spent() == ledger.spent("ana") == ledger.spent("bob") == Units(7, 0)
    ledger.debit_or_join(replace(ASKED, analyst="bob", digest="d1", price=Units(490)))  # 500 - 497 = 3
    ledger.debit_or_join(replace(ASKED, digest="d2"))
    refused("D501", lambda: ledger.debit_or_join(replace(ASKED, analyst="bob", digest="d2")))


def test_an_open_debit_is_not_completed_at_another_price(ledger: Ledger) -> None:
    cheap = ledger.debit_or_join(ASKED)
    dear = ledger.debit_or_join(replace(ASKED, price=Units(9)))
    assert dear.debit_id != cheap.debit_id
    assert ledger.spent() == Units(16, 0)


def test_the_budget_is_a_filter(ledger: Ledger) -> None:
    ledger.debit_or_join(replace(ASKED, price=Units(400, 500)))
    error = refused("D501", lambda: ledger.debit_or_join(replace(ASKED, digest="d1", price=Units(101))))
    assert isinstance(error, Overdrawn)
    assert (error.needed, error.left, error.analyst) == (Units(101), Units(100, 0), "ana")
    assert "it needs 20.2 % of the whole budget; 20 % is left" in error.label
    ledger.debit_or_join(replace(ASKED, digest="d1", price=Units(100)))
    ledger.debit_or_join(replace(ASKED, digest="d2", analyst="", price=Units(480)))
    error = refused(
        "D501", lambda: ledger.debit_or_join(replace(ASKED, digest="d3", analyst="bob", price=Units(21)))
    )
    assert isinstance(error, Overdrawn)
    assert error.analyst is None
    debit = replace(ASKED, digest="d4", analyst="", price=Units(0, 1))
    error = refused("D501", lambda: ledger.debit_or_join(debit))
    assert error.label == "it needs 0.2 % of the whole delta; 0 % is left"
    assert ledger.spent() == Units(980, 500)
    refused("D504", lambda: ledger.debit_or_join(replace(ASKED, digest="d5", analyst="eve")))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "ana", "bob"]),
            st.integers(0, 5),
            st.integers(0, 400),
            st.integers(0, 200),
        ),
        max_size=20,
    )
)
def test_any_order_of_debits_agrees_with_the_sums(asked: list[tuple[str, int, int, int]]) -> None:
    spent: defaultdict[str, Units] = defaultdict(Units)
    total, paid = Units(), {}
    with tempfile.TemporaryDirectory() as folder:
        with Ledger.open(Path(folder) / "l", PROMISE, GRANTED) as ledger:
            for analyst, digest, main, delta in asked:
                price = Units(main, delta + 1)
                key = (digest, price)
                debit = replace(ASKED, analyst=analyst, digest=repr(key), price=price)
                fits = analyst in paid.get(key, ()) or (
                    (key in paid or (total + price).within(GRANTED.total))
                    and (analyst == "" or (spent[analyst] + price).within(Units(500, 500)))
                )
                if not fits:
                    refused("D501", lambda debit=debit: ledger.debit_or_join(debit))
                    continue
                ledger.debit_or_join(debit)
                if key not in paid:
                    total += price
                if analyst not in paid.setdefault(key, set()):
                    spent[analyst] += price
                paid[key].add(analyst)
            assert ledger.spent() == total
        with Ledger.open(Path(folder) / "l", PROMISE, GRANTED) as ledger:
            assert not ledger.created
            assert ledger.spent() == total
            assert all(ledger.spent(name) == spent[name] for name in ("", "ana", "bob"))


@pytest.mark.parametrize("bad", [True, 1.0, float("nan"), "1", -1, None, Decimal(1), np.int64(1), 10**61])
def test_prices_are_whole_numbers_and_nothing_else(ledger: Ledger, bad: Any) -> None:
    for price in (Units(bad, 0), Units(1, bad)):
        refused("D503", lambda price=price: ledger.debit_or_join(replace(ASKED, price=price)))
    refused("D503", lambda: ledger.debit_or_join(replace(ASKED, price=Units(10**5000))))
    refused("D503", lambda: Ledger.open(Path("nowhere"), PROMISE, Granted(1.0, Units(bad, 0))))
    assert ledger.spent() == Units()


def test_nothing_is_free(ledger: Ledger) -> None:
    refused("D503", lambda: ledger.debit_or_join(replace(ASKED, price=Units(0, 0))))


@pytest.mark.parametrize(
    "bad", [True, float("nan"), float("inf"), 0.0, -0.1, "0.1", np.float64(0.1), Decimal(1)]
)
def test_epsilon_is_finite_and_positive(ledger: Ledger, bad: Any) -> None:
    refused("D503", lambda: ledger.debit_or_join(replace(ASKED, epsilon=bad)))


def test_numbers_beyond_64_bits_are_kept_exactly(path: Path) -> None:
    huge = Granted(1.0, Units(10**40, 10**40))
    with Ledger.open(path, PROMISE, huge) as ledger:
        ledger.debit_or_join(replace(ASKED, analyst="", price=Units(10**39 + 1, 2**63)))
    with Ledger.open(path, PROMISE, huge) as ledger:
        assert ledger.spent() == Units(10**39 + 1, 2**63)


@pytest.mark.parametrize(
    "changed", [{"database": "other"}, {"unit": "visits.id"}, {"accountant": "zcdp"}, {"delta": 1e-9}]
)
def test_another_promise_is_refused(path: Path, ledger: Ledger, changed: dict[str, Any]) -> None:
    error = refused("D505", lambda: reopen(path, **changed))
    (name,) = changed
    assert name in error.title
    assert repr(changed[name]) in error.notes[0]
    assert "name another ledger file" in error.help


def test_another_budget_is_an_entry(path: Path) -> None:
    def names() -> list[tuple[str, float]]:
        with Ledger.open(path, PROMISE, now) as ledger:
            return [(entry.analyst, entry.epsilon) for entry in ledger.entries() if entry.kind == "grant"]

    now = Granted(1.0, Units(100), (("ana", 0.5, Units(50)),))
    assert names() == [("", 1.0), ("ana", 0.5)]
    assert names() == [("", 1.0), ("ana", 0.5)]
    now = Granted(2.0, Units(200), (("ana", 0.5, Units(50)), ("bob", 0.5, Units(50))))
    assert names() == [("", 1.0), ("ana", 0.5), ("", 2.0), ("bob", 0.5)]
    with Ledger.open(path, PROMISE, now) as session:
        session.debit_or_join(replace(ASKED, price=Units(50)))
        less = Granted(0.4, Units(40), (("bob", 0.5, Units(50)),))
        with Ledger.open(path, PROMISE, less) as ledger:  # while the first session is still open
            assert ledger.spent() == Units(50)
        refused("D504", lambda: session.debit_or_join(replace(ASKED, digest="d1")))
        error = refused("D501", lambda: session.debit_or_join(replace(ASKED, digest="d1", analyst="bob")))
    assert isinstance(error, Overdrawn)
    assert error.left == Units(-10, 0)


def test_entries_tell_the_story(ledger: Ledger) -> None:
    debit = ledger.debit_or_join(ASKED)
    ledger.store(debit.debit_id, b"noisy")
    ledger.debit_or_join(replace(ASKED, analyst="bob"))
    ledger.debit_or_join(replace(ASKED, digest="d1"))
    ledger.note_verified("v1", frozenset({"key patients.patient_id"}))
    entries = ledger.entries()
    assert [entry.id for entry in entries] == list(range(1, len(entries) + 1))
    assert [(e.kind, e.analyst, e.price, e.answered) for e in entries if e.kind not in ("open", "grant")] == [
        ("debit", "ana", Units(7), True),
        ("answer", "ana", Units(), True),
        ("share", "bob", Units(7), True),
        ("debit", "ana", Units(7), False),
        ("verified", "", Units(), False),
    ]
    assert entries[4].sql == ASKED.sql
    assert entries[4].time.endswith("+00:00")
    assert entries[-1].events == "key patients.patient_id"


def test_verified_facts_belong_to_one_version(ledger: Ledger) -> None:
    ledger.note_verified("v1", frozenset({"a", "b"}))
    ledger.note_verified("v1", frozenset({"b"}))
    ledger.note_verified("v1", frozenset({"c"}))
    assert ledger.verified("v1") == {"a", "b", "c"}
    assert ledger.verified("v2") == frozenset()
    assert [entry.events for entry in ledger.entries() if entry.kind == "verified"] == ["a, b", "c"]


# Many processes


def test_sixteen_processes_spend_exactly_the_budget(path: Path) -> None:
    """1000 / 7 = 142 debits and 6 units left, whoever gets them; the file is made by one of them."""
    script = """
ready()
with Ledger.open(path, promise, granted, patience=60) as ledger:
    print("created" if ledger.created else "found")
    for i in range(20):
        try:
            print(ledger.debit_or_join(ask(f"{name}-{i}")).debit_id)
        except DatabaseError as error:
            assert error.code == "D501", str(error)
            break
"""
    printed = together([Worker(script, path, i) for i in range(16)])
    assert [lines[0] for lines in printed].count("created") == 1
    ids = [line for lines in printed for line in lines[1:]]
    assert len(ids) == len(set(ids)) == 142
    assert sorted(os.listdir(path.parent)) == [path.name + ending for ending in ("", "-journal", "-queue")]
    with Ledger.open(path, PROMISE, Granted(1.0, Units(1000))) as ledger:
        assert ledger.spent() == Units(142 * 7)
        assert {str(e.id) for e in ledger.entries() if e.kind == "debit"} == set(ids)


def test_one_statement_asked_by_many_is_one_debit_and_one_answer(path: Path) -> None:
    script = """
with Ledger.open(path, promise, granted, patience=60) as ledger:
    ready()
    for i in range(5):
        joined = ledger.debit_or_join(ask(f"same-{i}"))
        print(joined.debit_id, ledger.store(joined.debit_id, f"noise-of-{name}".encode()).decode())
"""
    printed = together([Worker(script, path, i) for i in range(8)])
    assert len({tuple(lines) for lines in printed}) == 1
    with Ledger.open(path, PROMISE, Granted(1.0, Units(1000))) as ledger:
        assert ledger.spent() == Units(35)
        assert [e.kind for e in ledger.entries()].count("answer") == 5


def test_a_kill_loses_no_debit_and_no_answer(path: Path) -> None:
    script = """
with Ledger.open(path, promise, granted, patience=60) as ledger:
    ready()
    for i in range(10**6):
        debit = ledger.debit_or_join(ask(f"{name}-{i}", 3))
        print("debit", debit.debit_id, flush=True)
        ledger.store(debit.debit_id, os.urandom(9000))
        print("answer", debit.debit_id, flush=True)
"""
    granted, dice = Granted(1.0, Units(10**9)), random.Random(1)
    debits, answers = set(), set()
    for life in range(15):
        worker = Worker(script, path, life, 10**9)
        worker.wait_ready()
        assert worker.process.stdin is not None
        worker.process.stdin.write("go\n")
        worker.process.stdin.flush()
        assert worker.process.stdout is not None
        seen = [worker.process.stdout.readline() for _ in range(dice.randrange(3))]
        time.sleep(dice.uniform(0.001, 0.03))
        worker.process.kill()
        seen += worker.process.stdout.readlines()
        worker.process.communicate()
        for line in seen:
            if line.endswith("\n"):
                kind, number = line.split()
                (debits if kind == "debit" else answers).add(int(number))
        with Ledger.open(path, PROMISE, granted) as ledger:
            kept = [entry for entry in ledger.entries() if entry.kind == "debit"]
            assert ledger.spent() == Units(3 * len(kept))
        assert debits <= {entry.id for entry in kept}
        assert answers <= {entry.id for entry in kept if entry.answered}
    assert len(debits) > 3


def test_a_killed_query_is_completed_without_a_second_debit(path: Path) -> None:
    script = """
ledger = Ledger.open(path, promise, granted)
print(ledger.debit_or_join(ask("d0")).debit_id, flush=True)
os._exit(0)
"""
    (number,) = Worker(script, path).finish()
    with Ledger.open(path, PROMISE, Granted(1.0, Units(1000))) as ledger:
        joined = ledger.debit_or_join(replace(ASKED, analyst=""))
        assert (joined.debit_id, joined.answer) == (int(number), None)
        assert ledger.spent() == Units(7)


def test_forked_children_spend_from_the_same_budget(path: Path) -> None:
    """Five children forked while another thread is debiting: 1000 / 7 = 142 debits between them."""
    script = """
ledger = Ledger.open(path, promise, granted, patience=60)
def spend(who):
    try:
        for i in range(10**6):
            ledger.debit_or_join(ask(f"{who}-{i}"))
    except DatabaseError as error:
        return error.code
thread = threading.Thread(target=spend, args=("parent",))
thread.start()
children = []
for child in range(5):
    process = os.fork()
    if process == 0:
        os._exit(0 if spend(f"child-{child}") == "D501" else 1)
    children.append(process)
thread.join()
print(*(os.waitpid(process, 0)[1] for process in children), ledger.spent().main)
ledger.close()
"""
    assert Worker(script, path).finish() == ["0"] * 5 + [str(142 * 7)]


def test_threads_share_one_ledger(ledger: Ledger) -> None:
    ids: list[int] = []

    def spend(name: int) -> None:
        for i in range(10):
            ids.append(ledger.debit_or_join(replace(ASKED, digest=f"{name}-{i}", price=Units(1))).debit_id)

    threads = [threading.Thread(target=spend, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(ids)) == 80
    assert ledger.spent() == Units(80)


# A file that somebody touched


@pytest.fixture
def filled(path: Path) -> Path:
    """Entries 1 to 4 open and grant; 5, 7, 9 are debits; 6, 8, 10 their answers."""
    with Ledger.open(path, PROMISE, GRANTED) as ledger:
        for i in range(3):
            ledger.store(ledger.debit_or_join(replace(ASKED, digest=f"d{i}")).debit_id, b"noisy" * 1000)
    return path


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            "UPDATE entries SET entry = replace(entry, '\"main\":7', '\"main\":0') WHERE id = 7",
            "entry 7 does not",
        ),
        ("UPDATE entries SET entry = CAST(entry AS BLOB) WHERE id = 7", "entry 7 does not"),
        ("UPDATE entries SET entry = CAST(x'ff' AS TEXT) WHERE id = 7", "decode"),
        ("UPDATE entries SET hash = zeroblob(32) WHERE id = 7", "entry 7 does not"),
        ("UPDATE entries SET hash = 'text' WHERE id = 7", "entry 7 does not"),
        (
            "UPDATE entries SET payload = substr(payload, 1, 100) WHERE id = 8",
            "the answer in entry 8 was cut",
        ),
        ("UPDATE entries SET payload = NULL WHERE id = 8", "the answer in entry 8 was cut"),
        ("UPDATE entries SET payload = CAST(payload AS TEXT) WHERE id = 8", "the answer in entry 8 was cut"),
        ("UPDATE entries SET payload = x'00' WHERE id = 7", "the answer in entry 7 was cut"),
        ("DELETE FROM entries WHERE id = 7", "entry 7 is missing"),
        ("DELETE FROM entries WHERE id = 1", "entry 1 is missing"),
        ("DELETE FROM entries WHERE id > 8", "it ends at entry 8, but entry 10"),
        ("DELETE FROM entries", "it ends at entry 0, but entry 10"),
        ("UPDATE entries SET id = CASE id WHEN 9 THEN -7 WHEN 7 THEN -9 END WHERE id IN (7, 9)", "missing"),
        ("INSERT INTO entries (entry, hash) VALUES ('{}', x'00')", "entry 11 does not"),
        ("INSERT INTO entries (id, entry, hash) VALUES (0, '{}', x'00')", "entry 1 is missing"),
        ("DROP TABLE entries", "not a ledger"),
        ("CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END", "not a ledger"),
        ("PRAGMA application_id = 1", "not a ledger"),
    ],
)
def test_an_edit_is_noticed(filled: Path, change: str, told: str) -> None:
    edit(filled, change, "UPDATE entries SET id = -id WHERE id < 0" if "-7" in change else "SELECT 1")
    if "-7" in change:
        told = "entry 7 does not"
    assert told in refused("D506", lambda: Ledger.look(filled, PROMISE)).label
    if "substr" not in change:  # answers are read when they are asked for
        assert told in refused("D506", lambda: reopen(filled)).label


def test_a_flipped_byte_is_noticed_or_harmless(filled: Path) -> None:
    """Every entry reads as before (the byte meant nothing) or the file is refused."""
    with Ledger.open(filled, PROMISE, GRANTED) as ledger:
        before = ledger.entries()
    good, dice, noticed = filled.read_bytes(), random.Random(2), 0
    for _ in range(300):
        where = dice.randrange(len(good))
        filled.write_bytes(good[:where] + bytes([good[where] ^ dice.randrange(1, 256)]) + good[where + 1 :])
        code = ""
        try:
            with Ledger.open(filled, PROMISE, GRANTED, patience=0.2) as ledger:
                assert ledger.entries() == before
        except DatabaseError as error:
            code = error.code
        assert code in ("", "D506")
        noticed += code == "D506"
    assert noticed > 100


@pytest.mark.parametrize("kept", [0, 1, 50, 100, 4096, -4096, -1])
def test_a_cut_file_is_noticed(filled: Path, kept: int) -> None:
    filled.write_bytes(filled.read_bytes()[:kept])
    size = filled.stat().st_size
    refused("D506", lambda: reopen(filled))
    assert filled.stat().st_size == size


@pytest.mark.parametrize("content", [b"", b"\0" * 5000, b"epsilon,price\n0.1,7\n" * 300])
def test_a_foreign_file_is_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(0o600)
    refused("D506", lambda: reopen(path))
    assert path.read_bytes() == content


def test_a_foreign_database_is_left_alone(path: Path) -> None:
    edit(path, "CREATE TABLE entries (id INTEGER)")
    path.chmod(0o600)
    refused("D506", lambda: reopen(path))


def test_a_forged_entry_that_means_nothing_is_refused(path: Path, ledger: Ledger) -> None:
    with ledger._chain.writing() as pen:
        pen.append({"kind": "refund", "main": -7})
    assert "means nothing" in refused("D506", ledger.spent).label
    assert "means nothing" in refused("D506", lambda: reopen(path)).label


def test_a_change_behind_an_open_ledger_is_noticed(path: Path, ledger: Ledger) -> None:
    debit = ledger.debit_or_join(ASKED)
    ledger.store(debit.debit_id, b"noisy")
    assert ledger.spent() == Units(7)
    edit(path, "UPDATE entries SET payload = x'00' WHERE payload IS NOT NULL")
    ledger.note_verified("v1", frozenset({"a"}))
    refused("D506", lambda: ledger.stored("d0", "v1", "ana"))
    edit(path, "DELETE FROM entries WHERE id > 5")
    refused("D506", lambda: ledger.debit_or_join(replace(ASKED, digest="d1")))


def test_last_weeks_file_is_noticed_by_those_who_saw_this_weeks(path: Path, ledger: Ledger) -> None:
    copy = path.with_suffix(".copy")
    shutil.copy2(path, copy)
    ledger.debit_or_join(ASKED)
    copy.replace(path)
    assert "replaced" in refused("D506", ledger.spent).label
    path.unlink()
    refused("D507", lambda: ledger.debit_or_join(ASKED))
    assert not path.exists()


def test_a_ledger_lost_with_its_journal_left_is_not_made_anew(path: Path) -> None:
    path.with_name(path.name + "-journal").write_bytes(b"something")
    refused("D506", lambda: reopen(path))
    assert not path.exists()


def test_the_journal_of_what_was_finished_is_overwritten_and_says_nothing(path: Path, ledger: Ledger) -> None:
    journal, kept = path.with_name(path.name + "-journal"), path.with_suffix(".kept")
    entries = []
    for number in range(3):
        ledger.debit_or_join(replace(ASKED, digest=f"d{number}"))
        entries.append((journal.stat().st_ino, journal.read_bytes()[:28]))
    assert entries == [(journal.stat().st_ino, bytes(28))] * 3
    spent = ledger.spent()
    shutil.copy2(path, kept)
    journal.unlink()  # a copy without it has every debit
    with Ledger.open(kept, PROMISE, GRANTED) as copy:
        assert copy.spent() == spent
        copy.debit_or_join(replace(ASKED, digest="d3"))
    kept.unlink()  # the journal is left, and belongs to nothing that was interrupted
    with Ledger.open(kept, PROMISE, GRANTED) as anew:
        assert anew.created
        assert anew.spent() != spent


def test_a_debit_whose_journal_was_not_yet_overwritten_did_not_happen(path: Path, ledger: Ledger) -> None:
    journal = path.with_name(path.name + "-journal")
    ledger.debit_or_join(ASKED)
    spent = ledger.spent()
    with ledger._chain.writing() as pen:
        pen.append({"kind": "verified", "time": "", "version": "v1", "facts": []})
        sizes = journal.read_bytes()[12:28]
    ledger.close()
    assert sizes != bytes(16)
    magic, many = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", b"\xff" * 4  # as many records as there are
    with journal.open(
        "r+b"
    ) as file:  # as a power cut leaves it: all pages are written, the header still stands
        file.write(magic + many + sizes)
    with Ledger.open(path, PROMISE, GRANTED) as again:
        assert again.spent() == spent
        assert again._chain.tail.content["kind"] == "debit"


# Places and permissions


def test_only_the_owner_can_read_it(path: Path) -> None:
    before = os.umask(0)
    try:
        with Ledger.open(path, PROMISE, GRANTED) as ledger, ledger._chain.writing() as pen:
            pen.append({"kind": "verified", "time": "", "version": "v1", "facts": []})
            modes = {name: (path.parent / name).stat().st_mode & 0o777 for name in os.listdir(path.parent)}
    finally:
        os.umask(before)
    assert modes == {path.name + ending: 0o600 for ending in ("", "-journal", "-queue")}
    path.chmod(0o640)
    assert "chmod 600" in refused("D507", lambda: reopen(path)).help


def test_a_missing_ledger_is_made_only_where_allowed(path: Path) -> None:
    error = refused("D507", lambda: Ledger.open(path, PROMISE, GRANTED, create=False))
    assert "a new budget" in error.help
    assert not path.exists()


def test_a_link_leads_to_the_same_ledger(path: Path, ledger: Ledger) -> None:
    link = path.with_name("link")
    link.symlink_to(path)
    with Ledger.open(link, PROMISE, GRANTED) as same:
        assert not same.created
        same.debit_or_join(ASKED)
    assert ledger.spent() == Units(7)
    (path.parent / "dangling").symlink_to(path.parent / "new")
    with Ledger.open(path.parent / "dangling", PROMISE, GRANTED) as new:
        assert new.created
    assert (path.parent / "new").is_file()


def test_what_is_not_a_file_is_refused(path: Path) -> None:
    (path.parent / "loop").symlink_to(path.parent / "loop")
    (path.parent / "file").write_text("")
    os.mkfifo(path.parent / "pipe")
    for name in (".", "loop", "pipe", "file/ledger", "missing/ledger", "x" * 300, "nul\0"):
        refused("D507", lambda name=name: reopen(path.parent / name))
    assert refused("D507", lambda: reopen(Path("/dev/null"))).code == "D507"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away or ignores permissions")
def test_anothers_ledger_is_refused(filled: Path) -> None:
    os.chown(filled, 12345, 12345)
    assert "another user" in refused("D507", lambda: reopen(filled)).label


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_or_file_is_refused(filled: Path) -> None:
    filled.chmod(0o400)
    with Ledger.open(filled, PROMISE, GRANTED) as ledger:
        refused("D507", lambda: ledger.debit_or_join(replace(ASKED, digest="new")))
    filled.parent.chmod(0o500)
    try:
        refused("D507", lambda: reopen(filled.parent / "new"))
    finally:
        filled.parent.chmod(0o700)


def test_a_full_disk_refuses_and_keeps_what_was_paid(path: Path) -> None:
    """The file may not grow beyond 64 kB: an answer of 100 kB, then debits until the last page is full."""
    script = """
import resource
ledger = Ledger.open(path, promise, granted)
first = ledger.debit_or_join(ask("first"))
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, resource.RLIM_INFINITY))
def code(act):
    try:
        act()
    except DatabaseError as error:
        return error.code
print(code(lambda: ledger.store(first.debit_id, bytes(100_000))))
for i in range(10**6):
    if code(lambda: ledger.debit_or_join(ask(f"{i}"))):
        break
print(code(lambda: ledger.debit_or_join(ask(f"{i}"))), i + 1, ledger.spent().main)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(code(lambda: ledger.debit_or_join(ask(f"{i}"))), ledger.spent().main)
ledger.close()
"""
    refusal, again, paid, spent, now, later = Worker(script, path, budget=10**9).finish()
    assert (refusal, again, now) == ("D507", "D507", "None")
    assert int(paid) > 10
    assert int(spent) == 7 * int(paid)
    assert int(later) == 7 * (int(paid) + 1)
    with Ledger.open(path, PROMISE, Granted(1.0, Units(10**9))) as ledger:
        assert ledger.spent() == Units(int(later))


def test_a_locked_ledger_refuses_after_its_patience(path: Path, ledger: Ledger) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        assert "locked" in refused("D507", lambda: reopen(path)).label
    finally:
        other.execute("ROLLBACK")
        other.close()
    ledger.debit_or_join(ASKED)


def test_the_file_holds_what_it_says(path: Path, ledger: Ledger) -> None:
    """SQL may hold any text; the entry is canonical JSON."""
    odd = "SELECT '\u00e9\x00\ud800' -- \"\\"
    ledger.debit_or_join(replace(ASKED, sql=odd))
    assert [entry.sql for entry in ledger.entries() if entry.kind == "debit"] == [odd]
    connection = sqlite3.connect(path)
    (text,) = connection.execute("SELECT entry FROM entries ORDER BY id DESC LIMIT 1").fetchone()
    connection.close()
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))


def test_the_price_of_a_debit_in_time(ledger: Ledger, capsys: pytest.CaptureFixture[str]) -> None:
    """Printed, not asserted: a query with its durable debit should take 15 ms."""
    times = []
    for i in range(100):
        start = time.perf_counter()
        ledger.store(
            ledger.debit_or_join(replace(ASKED, digest=f"{i}", price=Units(1))).debit_id, b"x" * 2000
        )
        times.append(1000 * (time.perf_counter() - start))
    with capsys.disabled():
        print(f"\ndebit and answer: {statistics.median(times):.2f} ms")


# A ledger of many answers


def fill(path: Path, many: int) -> None:
    """Debits and answers, a part of them shared."""
    granted = replace(
        GRANTED, total=Units(10**6), analysts=tuple((n, 0.5, Units(10**6)) for n in ("ana", "bob"))
    )
    with Ledger.open(path, PROMISE, granted) as ledger:
        for i in range(many):
            debit = replace(ASKED, digest=f"d{i}", analyst=("ana", "bob", "")[i % 3])
            ledger.store(ledger.debit_or_join(debit).debit_id, b"noisy" * i)
            if i % 10 == 0:
                ledger.debit_or_join(replace(debit, analyst="bob"))


@pytest.fixture(scope="module")
def filled_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("long") / "clinic.ledger"
    fill(made, 100)
    return made


@pytest.fixture
def long(path: Path, filled_once: Path) -> Path:
    shutil.copy2(filled_once, path)
    return path


def look(path: Path) -> None:
    found = Ledger.look(path, PROMISE)
    assert found is not None
    found.close()


def sums_of(path: Path) -> list[int]:
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT id, entry FROM entries ORDER BY id").fetchall()
    connection.close()
    return [number for number, text in rows if json.loads(text)["kind"] == "sums"]


def chain_anew(path: Path, first: int) -> None:
    """What a forger would do who knows how entries are chained: make every hash fit again."""
    connection = sqlite3.connect(path, isolation_level=None)
    before = START.hash
    if first > 1:
        (before,) = connection.execute("SELECT hash FROM entries WHERE id = ?", (first - 1,)).fetchone()
    rows = connection.execute("SELECT id, entry FROM entries WHERE id >= ? ORDER BY id", (first,)).fetchall()
    for number, text in rows:
        before = sha256(before + text.encode()).digest()
        connection.execute("UPDATE entries SET hash = ? WHERE id = ?", (before, number))
    connection.close()


def test_opening_reads_no_entry_from_before_the_last_sums(long: Path) -> None:
    """Each process read and verified the whole ledger first: 2.2 s and 557 MB for 100,000 answers."""
    last = sums_of(long)[-1]
    edit(long, f"DELETE FROM entries WHERE id < {last - 1}")
    with Ledger.open(long, PROMISE, GRANTED) as ledger:
        assert ledger.spent() == Units(100 * 7)
    assert "entry 1 is missing" in refused("D506", lambda: look(long)).label


def test_sums_are_those_of_all_entries(long: Path) -> None:
    with Ledger.open(long, PROMISE, GRANTED) as ledger:
        kept = [entry for entry in ledger.entries() if entry.kind in ("debit", "share")]
        for name in ("ana", "bob", ""):
            assert ledger.spent(name) == Units(7 * sum(each.analyst == name for each in kept))
            assert ledger.times(name) == sum(each.analyst == name for each in kept)
            assert ledger.bought(name, 5) == tuple(each for each in kept if each.analyst == name)[-5:]
        assert ledger.times() == len(kept)
        assert ledger.bought(None) == tuple(kept)
        ledger.verify()


def test_sums_that_were_edited_are_noticed_when_the_ledger_is_opened(long: Path) -> None:
    (*_, last) = sums_of(long)
    edit(long, f"UPDATE entries SET entry = replace(entry, '[[null,', '[[null ,') WHERE id = {last}")
    assert f"entry {last} does not follow" in refused("D506", lambda: reopen(long)).label


@pytest.mark.parametrize("which", [0, -1])
def test_forged_sums_are_noticed_by_who_reads_everything(long: Path, which: int) -> None:
    """Somebody lowers what was spent, and makes every hash after it fit."""
    number = sums_of(long)[which]
    connection = sqlite3.connect(long, isolation_level=None)
    (text,) = connection.execute("SELECT entry FROM entries WHERE id = ?", (number,)).fetchone()
    content = json.loads(text)
    content["accounts"][0][3][0] -= 7
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    connection.execute("UPDATE entries SET entry = ? WHERE id = ?", (text, number))
    connection.close()
    chain_anew(long, number)
    assert f"sums in entry {number} are not those" in refused("D506", lambda: look(long)).label


def test_an_edit_before_the_sums_refills_no_budget_and_is_noticed_where_it_is_read(long: Path) -> None:
    edit(long, "UPDATE entries SET entry = replace(entry, '\"main\":7', '\"main\":0') WHERE id = 8")
    with Ledger.open(long, PROMISE, GRANTED) as ledger:
        assert ledger.spent() == Units(100 * 7)
        kept = [json.loads(text) for (text,) in sqlite3.connect(long).execute("SELECT entry FROM entries")]
        debit = kept[7]
        assert debit["kind"] == "debit"
        again = replace(ASKED, digest=debit["digest"], analyst=debit["analyst"])
        assert "entry 8 does not follow" in refused("D506", lambda: ledger.debit_or_join(again)).label
        refused("D506", ledger.verify)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("DELETE FROM places WHERE id = {}", "is missing from the index"),
        ("INSERT INTO places VALUES (x'00', {})", "that do not exist"),
    ],
)
def test_places_that_were_edited_are_noticed_by_who_reads_everything(
    long: Path, change: str, told: str
) -> None:
    edit(long, change.format(20))
    assert told in refused("D506", lambda: look(long)).label


def test_an_answer_that_is_not_found_is_not_drawn_again(long: Path) -> None:
    """An answered debit that looks open would be completed free, with fresh noise, as often as one likes."""
    with Ledger.open(long, PROMISE, GRANTED) as ledger:
        debit = next(each for each in ledger.entries() if each.kind == "debit" and each.answered)
        answer = debit.id + 1
        edit(long, f"DELETE FROM places WHERE id = {answer}")
        again = replace(ASKED, digest=debit.digest, analyst=debit.analyst)
        for act in (
            lambda: ledger.stored(debit.digest, debit.version, debit.analyst),
            lambda: ledger.debit_or_join(again),
            lambda: ledger.store(debit.id, b"fresh"),
        ):
            assert f"entry {answer} is missing from the index" in refused("D506", act).label


def test_a_debit_that_is_not_found_is_paid_again(long: Path) -> None:
    """Nothing is free for what the file does not show: at worst it is paid twice."""
    with Ledger.open(long, PROMISE, replace(GRANTED, total=Units(10**6))) as ledger:
        before = ledger.spent()
        edit(long, "DELETE FROM places")
        ledger.debit_or_join(replace(ASKED, digest="d3", analyst=""))
        assert ledger.spent() == before + ASKED.price


def old(path: Path) -> None:
    """As it was before there were sums and places, and entries that say whose they are."""
    connection = sqlite3.connect(path, isolation_level=None)
    rows = connection.execute("SELECT entry, payload FROM entries ORDER BY id").fetchall()
    connection.execute("DROP TABLE places")
    connection.execute("DELETE FROM entries")
    numbers: dict[int, int] = {}
    for before, (text, payload) in enumerate(rows, 1):
        content = json.loads(text)
        if content["kind"] == "sums":
            continue
        numbers[before] = len(numbers) + 1
        if content["kind"] in ("answer", "part"):
            del content["analyst"]
        if content["kind"] == "share":
            del content["main"], content["delta"]
        if "debit" in content:
            content["debit"] = numbers[content["debit"]]
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        row = numbers[before], text, payload, b""
        connection.execute("INSERT INTO entries (id, entry, payload, hash) VALUES (?, ?, ?, ?)", row)
    connection.execute("UPDATE sqlite_sequence SET seq = ?", (len(numbers),))
    connection.close()
    chain_anew(path, 1)


@pytest.mark.parametrize("many", [3, 100])
def test_a_ledger_of_an_older_dpsql_opens_and_goes_on(path: Path, many: int) -> None:
    fill(path, many)
    with Ledger.open(path, PROMISE, GRANTED) as ledger:
        before = [each for each in ledger.entries() if each.kind not in ("sums", "grant")]
        spent = [ledger.spent(name) for name in (None, "ana", "bob", "")]
    old(path)
    kept = path.read_bytes()
    look(path)  # writes nothing
    assert path.read_bytes() == kept
    for _ in range(2):
        with Ledger.open(path, PROMISE, GRANTED) as ledger:
            after = [each for each in ledger.entries() if each.kind not in ("sums", "grant")]
            told = [(each.kind, each.sql, each.analyst, each.price, each.answered) for each in after]
            assert told == [(each.kind, each.sql, each.analyst, each.price, each.answered) for each in before]
            assert [ledger.spent(name) for name in (None, "ana", "bob", "")] == spent
            assert ledger.stored("d2", "v1", "") is not None
            ledger.verify()
    assert sums_of(path)


def test_who_is_killed_in_the_queue_holds_up_nobody(path: Path) -> None:
    """The system takes back the locks of a process that ends, however it ends."""
    script = """
with Ledger.open(path, promise, granted) as ledger, ledger._chain.writing():
    ready()
"""
    holder = Worker(script, path)
    holder.wait_ready()
    script = """
print("ready", flush=True)
Ledger.open(path, promise, granted, patience=60).debit_or_join(ask("d0"))
"""
    waiting = Worker(script, path)
    waiting.wait_ready()
    drawn(path, waiting_for=1)
    waiting.process.kill()
    holder.process.kill()
    for each in (waiting, holder):
        each.process.communicate()
    with Ledger.open(path, PROMISE, Granted(1.0, Units(1000)), patience=30) as ledger:
        ledger.debit_or_join(replace(ASKED, analyst=""))


def drawn(path: Path, waiting_for: int) -> None:
    """Until so many are in the queue behind the one whose turn it is."""
    queue = path.with_name(path.name + "-queue")
    for _ in range(60_000):
        numbers = queue.read_bytes()
        first, last = (int.from_bytes(numbers[at : at + 8], "little") for at in (8, 0))
        if last - first > waiting_for:
            return
        time.sleep(0.001)
    raise AssertionError("nobody came")


def test_who_comes_first_is_served_first(path: Path) -> None:
    """With SQLite's polling, one of 16 processes waited for twenty seconds while others went before it."""
    script = """
ledger = Ledger.open(path, promise, granted, patience=60)
ready()
ledger.debit_or_join(ask(name))
ledger.close()
"""
    workers = [Worker(script, path, name) for name in range(6)]
    for worker in workers:
        worker.wait_ready()
    with Ledger.open(path, PROMISE, Granted(1.0, Units(1000)), patience=60) as ledger:
        with ledger._chain.writing():
            for place, worker in enumerate(workers, 1):
                assert worker.process.stdin is not None
                worker.process.stdin.write("go\n")
                worker.process.stdin.flush()
                drawn(path, waiting_for=place)
        for worker in workers:
            worker.process.communicate()
        served = [each.digest for each in ledger.entries() if each.kind == "debit"]
    assert served == [str(name) for name in range(6)]


def test_without_a_queue_the_locks_of_sqlite_do(path: Path) -> None:
    """Where the file of the queue is not to be had, nothing is refused."""
    path.with_name(path.name + "-queue").mkdir()
    with Ledger.open(path, PROMISE, GRANTED) as ledger:
        ledger.debit_or_join(ASKED)
        assert ledger.spent() == ASKED.price


def test_closing_waits_for_nobody(path: Path, ledger: Ledger) -> None:
    """Another thread is in a transaction of the very ledger that is closed: the close is done at its end."""
    inside, go = threading.Event(), threading.Event()

    def hold() -> None:
        with ledger._chain.writing() as pen:
            inside.set()
            go.wait(60)
            pen.append({"kind": "verified", "time": "", "version": "v1", "facts": ["a"]})

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(60)
    ledger.close()
    assert thread.is_alive()
    go.set()
    thread.join()
    assert ledger._chain._connection is None
    with Ledger.open(path, PROMISE, GRANTED) as again:
        assert again.verified("v1") == {"a"}
