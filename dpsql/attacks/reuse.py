"""Reuse: get fresh noise under a question that was paid once.

    again, by another analyst, on another connection, in another spelling of the same measurement
    after the process is killed, just after the answer or at any moment before
    on a ledger that is put back from before the purchase (with a witness in the policy)
    after a question that fails once it is released: if that were free, failures would tell of fresh noise

Every answer must be the first one, or a refusal; each purchase is debited once, and stays so.

Test: tests/privacy/test_attack_command.py
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from dpsql.attacks.ask import Ask
from dpsql.attacks.attack import Attack, Outcome, never
from dpsql.attacks.world import ANALYSTS, World
from dpsql.dbapi import connect
from dpsql.errors import Error

_COLUMNS = 16  # so that fresh noise is hardly ever the same by chance
_KILLED = """\
import os, signal, sys
import dpsql
database, policy, ledger, analyst, sql, price = sys.argv[1:]
with dpsql.connect(database, policy, ledger, analyst) as db:
    print("open", flush=True)
    print(db.execute(sql, epsilon=float(price)).rows, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
_MOMENTS = 3  # of killing before the answer
_LATEST = 0.15  # seconds after the database is open


def _again(world: World, ask: Ask) -> Outcome:
    whole, lower = (
        _question(world),
        _question(world).replace("SELECT COUNT", "select\n  count").replace("AND", "and"),
    )
    price, ledger, differ, tried = world.epsilon / 2, world.ledger(), 0, 0
    with ask.opened(world.database, ANALYSTS[0], ledger) as eve:
        first = eve.rows(whole, price)
        again = [
            eve.rows(whole, price),
            eve.rows(lower, price),
            eve.rows(f"SELECT * FROM ({whole}) AS t", price),
        ]
        again += [eve.rows(f"WITH t AS ({whole}) SELECT * FROM t", price)]
    for analyst in ANALYSTS:
        with ask.opened(world.database, analyst, ledger) as other:
            again.append(other.rows(whole, price))
            spent = other.spent
    differ, tried = sum(rows != first for rows in again) + (spent > price * 1.001), len(again) + 1
    for moment in (
        None,
        *(secrets.randbelow(1000) / 1000 * _LATEST for _ in range(min(_MOMENTS, world.trials // 10))),
    ):
        anew, compared = _after_a_kill(world, ask, moment, whole, price)
        differ, tried = differ + anew, tried + compared
    differ, tried = differ + _older(world, ask, whole, price) + _failing(world, ask, price), tried + 2
    return Outcome(tried, differ, 0.0)


def _question(world: World) -> str:
    persons = world.persons[:_COLUMNS]
    counts = ", ".join(f"COUNT(*) FILTER (WHERE {world.one(each)} AND {world.holds})" for each in persons)
    return f"SELECT {counts} FROM {world.people}"


def _after_a_kill(world: World, ask: Ask, moment: float | None, sql: str, price: float) -> tuple[int, int]:
    """Return how many answers after a kill differ from what is known, of how many comparisons."""
    ledger = world.ledger()
    arguments = [world.database, world.policy(), ledger, ANALYSTS[0], sql, repr(price)]
    package = str(Path(__file__).resolve().parents[2])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    left = world.folder / secrets.token_hex(8)  # what a killed process leaves goes with the world
    left.mkdir(mode=0o700)
    process = subprocess.Popen(
        [sys.executable, "-c", _KILLED, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "TMPDIR": str(left)},
    )
    assert process.stdout is not None
    with process:
        process.stdout.readline()
        if moment is not None:
            time.sleep(moment)
            process.kill()
        said = process.stdout.readline().strip()
    with ask.opened(world.database, ANALYSTS[0], ledger) as eve:
        known = [said] * bool(said)
        known += [str(eve.rows(sql, price)) for _ in range(2)]
        return (len(set(known)) > 1) + (eve.spent > price * 1.001), 2


def _older(world: World, ask: Ask, sql: str, price: float) -> int:
    """Buy, put back the ledger from before, ask again: 1 if that is answered otherwise."""
    folder = world.folder / secrets.token_hex(8)
    folder.mkdir(mode=0o700)
    watched = replace(
        world,
        folder=folder,
        document={**world.document, "ledger": {"witness": str(folder / "witness")}},
    )
    ledger, kept = folder / "l.ledger", folder / "kept"
    policy = watched.policy()
    with connect(world.database, policy, ledger, ANALYSTS[0]) as db:
        db.execute(f"SELECT COUNT(*) FROM {world.people}", epsilon=price)
    shutil.copy(ledger, kept)
    with connect(world.database, policy, ledger, ANALYSTS[0]) as db:
        first = db.execute(sql, epsilon=price).rows
    shutil.copy(kept, ledger)
    try:
        with connect(world.database, policy, ledger, ANALYSTS[0]) as db:
            return int(db.execute(sql, epsilon=price).rows != first)
    except Error as error:
        if error.code != "D512":
            raise
        return 0


def _failing(world: World, ask: Ask, price: float) -> int:
    """Ask what fails after it is released: 1 if nothing was paid for it."""
    counted = f"(SELECT COUNT(*) AS n FROM {world.people}) AS t"
    ledger = world.ledger()
    with ask.opened(world.database, ANALYSTS[0], ledger) as eve:
        try:
            eve.rows(f"SELECT CAST('no number ' || n AS INTEGER) FROM {counted}", price)
        except Error as error:
            if error.code != "D601":
                raise
    with ask.opened(world.database, ANALYSTS[0], ledger) as eve:
        return int(eve.spent == 0)


ATTACKS = (
    Attack(
        "reuse",
        "kill and resume, another analyst or spelling, a failure, an older ledger: fresh noise",
        _again,
        never,
        exact=False,
    ),
)
