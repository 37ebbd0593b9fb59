"""What is the error of sums with a privately found range, by the number of people and the price?

Every row stands for many new ledgers. Each finds the range of ``wealth`` for a fifth of the price, and then
answers SUM(wealth) with the rest. The truth is the sum of all rows. ``median`` and ``90 %`` are quantiles of
|answer - truth| / truth, ``margin`` is the median of margin / truth, and ``held`` is the share of answers
with |answer - truth| <= margin. A margin does not include the values that the range clips.
``astray`` is the share with an error of half the truth or more, and of more than three margins.
"""

from __future__ import annotations

import statistics
from pathlib import Path

import duckdb
import numpy as np

import dpsql
from benchmarks.data import session_of
from benchmarks.timing import Report, Setting, Table, Verdict
from dpsql.accounting.ledger import Ledger
from dpsql.session.checks import promise

SIZES = (50, 500, 5_000)
PRICES = (0.1, 0.5, 1.0)
SUM = "SELECT SUM(wealth) FROM people"


def run(setting: Setting) -> Report:
    ledgers = 2 if setting.quick else 200
    tables, astray = [], []
    for accountant in ("pure", "zcdp"):
        table = Table(
            f"SUM with a found range, {accountant}: {ledgers} ledgers in each row",
            ("people", "epsilon", "median", "90 %", "margin", "held", "astray"),
        )
        for size in SIZES:
            path, truth = _people(setting, size, accountant)
            for price in PRICES:
                with dpsql.connect(path) as db:
                    name = f"{path.stem}-{price}"
                    drawn = [_ask(db, path.with_name(f"{name}-{i}.ledger"), price) for i in range(ledgers)]
                off = [abs(total - truth) for total, _ in drawn]
                held = sum(far <= margin for far, (_, margin) in zip(off, drawn, strict=True))
                bad = sum(
                    far >= truth / 2 and far > 3 * margin for far, (_, margin) in zip(off, drawn, strict=True)
                )
                astray.append(bad / ledgers)
                table.rows.append(
                    (
                        *(size, price),
                        statistics.median(off) / truth,
                        sorted(off)[int(0.9 * ledgers)] / truth,
                        statistics.median(margin for _, margin in drawn) / truth,
                        held / ledgers,
                        bad / ledgers,
                    )
                )
        tables.append(table)
    return Report(tuple(tables), (Verdict("the greatest share astray", max(astray), 0.03),))


def _people(setting: Setting, size: int, accountant: str) -> tuple[Path, float]:
    """Create people with lognormal wealth of about 1,800; return the truth."""
    path = setting.folder / f"found-{size}-{accountant}.duckdb"
    wealth = np.random.default_rng(size).lognormal(7, 1, size).round(2)
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (person BIGINT PRIMARY KEY, wealth DOUBLE)")
        connection.execute(
            "INSERT INTO people SELECT unnest(?), unnest(?)", [list(range(size)), wealth.tolist()]
        )
    delta = "" if accountant == "pure" else "delta = 1e-6\n"
    path.with_suffix(".toml").write_text(
        f'[budget]\nepsilon = 10.0\n{delta}accountant = "{accountant}"\n'
        '[unit]\nname = "person"\ntable = "people"\nkey = "person"\n[tables.people.columns]\nwealth = {}\n'
    )
    return path, float(wealth.sum())


def _ask(db: dpsql.Connection, ledger: Path, price: float) -> tuple[float, float]:
    """Return the answer of a new ledger, and its margin. All share one connection, which saves time."""
    session = session_of(db)
    session.ledger.close()
    session.ledger = Ledger.open(ledger, promise(session.policy, session.engine), session.granted())
    answer = db.execute(SUM, epsilon=price)
    (((total,),), ((margin,),)) = answer.rows, answer.margins
    assert margin is not None
    return float(total), margin
