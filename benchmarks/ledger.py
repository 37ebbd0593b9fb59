"""How long does opening a ledger of 100,000 answers take, compared with an empty one? In fresh processes.

    Ledger.open         the ledger alone: its sums, its last entries, its promise
    dpsql.connect       with the database, the policy and all checks
    the whole process   the CPU time and the peak memory, imports included

The long ledger is filled through its own writer, with a count for each answer, many per transaction.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import dpsql
from benchmarks.data import connect, people, session_of
from benchmarks.memory import PEAK
from benchmarks.timing import Report, Runs, Setting, Table, fresh, ratio
from dpsql.accounting.units import Units

OPEN = (
    PEAK
    + """
import json, sys, time
from pathlib import Path
import dpsql
from dpsql.accounting.ledger import Ledger
from dpsql.session.checks import promise
database, policy, ledger = map(Path, sys.argv[1:])
start = time.perf_counter()
db = dpsql.connect(database, policy, ledger)
whole = time.perf_counter() - start
session = db._open()
start = time.perf_counter()
again = Ledger.open(ledger, promise(session.policy, session.engine), session.granted())
alone = time.perf_counter() - start
spent = db.budget.spent
db.close()
print(json.dumps([1e3 * alone, 1e3 * whole, 1e3 * time.process_time(), peak(), spent]))
"""
)
_AT_ONCE = 500


def run(setting: Setting) -> Report:
    path = people(setting, 1_000)
    policy, empty = path.with_suffix(".pure.toml"), path.with_suffix(".pure.ledger")
    connect(path, "pure").close()
    ledgers = {0: empty}
    for many in (100, 2_000 if setting.quick else 100_000):
        ledgers[many] = path.with_suffix(f".{many}.ledger")
        shutil.copy2(empty, ledgers[many])
        with dpsql.connect(path, policy, ledgers[many]) as db:
            _fill(db, many)
    found: dict[int, list[list[float]]] = {many: [] for many in ledgers}
    for number in range(1 + (0 if setting.quick else 11)):
        for many, ledger in ledgers.items():
            took = fresh(setting, OPEN, str(path), str(policy), str(ledger))
            if number or setting.quick:  # the first round reads the files from the disk, and compiles
                found[many].append(took)
    columns = ("Ledger.open, ms", "dpsql.connect, ms", "processor, ms", "peak, MB")
    runs = {
        many: [Runs(tuple(each[place] for each in rows)) for place in range(len(columns))]
        for many, rows in found.items()
    }
    table = Table(
        "opening, in a fresh process",
        ("answers", "ledger, MB", *columns),
        [(many, _size(ledgers[many]), *runs[many]) for many in ledgers],
    )
    *_, most = ledgers
    return Report(
        (table,),
        tuple(
            ratio(f"{name.partition(',')[0]}: {most:,} answers / none", runs[most][at], runs[0][at], 1.5)
            for at, name in enumerate(columns)
        ),
    )


def _fill(db: dpsql.Connection, many: int) -> None:
    """Write debits with their answers, as queries do, but without waiting for the disk."""
    db.execute("SELECT COUNT(*) FROM people")
    session = db._open()
    *_, debit, _ = session.ledger.entries()
    payload = session.ledger.stored(debit.digest, debit.version, "")
    assert payload is not None
    assert payload.answer is not None
    chain = session_of(db).ledger._chain
    assert chain._connection is not None
    for setting in ("synchronous = OFF", "journal_mode = MEMORY"):
        chain._connection.execute(f"PRAGMA {setting}")
    paid = {"kind": "debit", "epsilon": debit.epsilon, "events": debit.events, "version": debit.version}
    for start in range(0, many, _AT_ONCE):
        with chain.writing() as pen:
            for number in range(start, min(many, start + _AT_ONCE)):
                said = {"sql": f"{debit.sql} WHERE age > {number}", "digest": f"{number:064x}"}
                who = {"time": debit.time, "analyst": ""}
                bought = pen.append(paid | said | who | Units(1).written())
                pen.append({"kind": "answer", "debit": bought} | who, payload.answer)
    db.execute("SELECT COUNT(*) FROM people WHERE age > 20")


def _size(ledger: Path) -> float:
    return ledger.stat().st_size / 1e6
