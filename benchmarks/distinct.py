"""What does COUNT(DISTINCT x) take in time and memory, compared with counting its pairs, and how exact is it?

The pairs are the distinct (unit, x), by group (unit, group, x). Plain DuckDB counts them; a matching has to
process each of them. A plain COUNT(DISTINCT x) needs none.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable

import dpsql
from benchmarks.data import baskets, connect, plain
from benchmarks.memory import OURS, PLAIN
from benchmarks.timing import Report, Runs, Setting, Table, Verdict, alternate, fresh, ratio

CASES = (
    ("integers", "item", ""),
    ("texts", "name", ""),
    ("by a public key", "item", "aisle"),
    ("by a private key", "item", "shop"),
    ("texts by a private key of texts", "name", "town"),
)


def run(setting: Setting) -> Report:
    path = baskets(setting, *((50_000, 2_000) if setting.quick else (5_000_000, 200_000)))
    times = Table(
        f"COUNT(DISTINCT x) over {path.stem}, ms",
        ("query", "plain", "plain pairs", "execute", "to pairs"),
    )
    peaks = Table("peak memory, MB", ("query", "plain pairs", "dpsql"))
    verdicts = []
    for name, value, key in CASES:
        keys = f"{key}, " if key else ""
        ours = f"SELECT {keys}COUNT(DISTINCT {value}) FROM baskets WHERE user_id >= -{{n}} {_by(key)}"
        pairs = (
            f"SELECT {keys}COUNT(*) FROM (SELECT DISTINCT user_id, {keys}{value} FROM baskets "
            f"WHERE user_id >= -{{n}}) {_by(key)}"
        )
        with connect(path) as db:
            direct, distinct, mine = _times(db, (ours, pairs, ours), setting)
        times.rows.append((name, direct, distinct, mine, mine.median / distinct.median))
        verdicts.append(ratio(f"{name}: execute / plain pairs", mine, distinct, 5.0))
        theirs = float(fresh(setting, PLAIN, str(path), pairs.format(n=0)))
        peak = [
            float(fresh(setting, OURS, str(path), ours.format(n=0), "zcdp", str(1 + number / 1000), "1"))
            for number in range(1 if setting.quick else 3)
        ]
        peaks.rows.append((name, theirs, statistics.median(peak)))
        verdicts.append(
            Verdict(f"{name}, MB", statistics.median(peak), 1024.0, low=min(peak), high=max(peak))
        )
    return Report((times, peaks), tuple(verdicts))


def _by(key: str) -> str:
    return f"GROUP BY {key}" if key else ""


def _times(db: dpsql.Connection, queries: tuple[str, str, str], setting: Setting) -> list[Runs]:
    cursor, numbers = plain(db), itertools.count(1)

    def asked(sql: str) -> Callable[[], object]:
        return lambda: cursor.execute(sql.format(n=next(numbers))).fetchall()

    direct, pairs, ours = queries
    return alternate(
        [asked(direct), asked(pairs), lambda: db.execute(ours.format(n=next(numbers)))],
        1 if setting.quick else 5,
    )
