"""What does time tell of one person? The same query on data with and without one at the edge of a clip.

Everybody has as many rows as count in full. Beside that, one person has one row more, so that a correction
is made; or one value lies beyond its range, so that values are clamped; or an item stands in two rows of one
person, so that there are fewer people than rows. A copy of the first data shows how far apart two equal files
are. Each turn asks all of them, at a price of its own.
"""

from __future__ import annotations

import itertools
import shutil
from contextlib import ExitStack
from pathlib import Path

import duckdb

from benchmarks.data import connect, policies
from benchmarks.timing import Report, Runs, Setting, Table, Verdict, alternate

ROWS = 20
"""Rows of each person, which all count."""

POLICY = f"""\
[unit]
name = "user"
column = "user_id"
[tables.visits]
rows_per_unit = {ROWS}
[tables.visits.columns]
place = {{ values = ["p0", "p1", "p2", "p3", "p4"] }}
cost = {{ range = [0, 100] }}
item = {{}}
"""
EDGES = {
    "a copy": None,
    "one row more": "INSERT INTO visits VALUES (7, 'p3', 50, 'i999')",
    "one value beyond its range": "UPDATE visits SET cost = 101 WHERE user_id = 7 AND cost = 7",
    "one item twice": "UPDATE visits SET item = 'i9' WHERE user_id = 7 AND item = 'i8'",
}
ASKED = {
    "count": "SELECT COUNT(*) FROM visits",
    "sum": "SELECT SUM(cost) FROM visits",
    "by place": "SELECT place, COUNT(*), SUM(cost) FROM visits GROUP BY place",
    "by item": "SELECT item, COUNT(DISTINCT user_id) FROM visits GROUP BY item",
}
_PRICES = itertools.count()


def run(setting: Setting) -> Report:
    users, rounds = (1_000, 2) if setting.quick else (250_000, 21)
    paths = [_path(setting, users, name) for name in ("nobody", *EDGES)]
    table = Table("whole calls, ms", ("question", "beside nobody", *EDGES))
    verdicts = []
    with ExitStack() as opened:
        connections = [opened.enter_context(connect(path)) for path in paths]
        for name, sql in ASKED.items():
            found: list[Runs] = alternate(
                [
                    lambda db=db, sql=sql: db.execute(sql, epsilon=1 + next(_PRICES) * 1e-6).fetchall()
                    for db in connections
                ],
                rounds,
                warm=3,
            )
            table.rows.append((name, *found))
            for edge, runs in zip(EDGES, found[1:], strict=True):
                verdicts.append(Verdict(f"{name}, {edge}: of the time", runs.median / found[0].median, None))
    return Report((table,), tuple(verdicts))


def _path(setting: Setting, users: int, name: str) -> Path:
    path = setting.folder / f"edge-{users}-{name.replace(' ', '-')}.duckdb"
    if path.exists():
        return path
    if name == "nobody":
        with duckdb.connect(str(path)) as connection:
            connection.execute(
                "CREATE TABLE visits AS SELECT u AS user_id, 'p' || ((u + n) % 5) AS place, "
                "CAST(n + 4 AS DOUBLE) AS cost, 'i' || ((u + n) % 1000) AS item "
                f"FROM range({users}) AS p(u), range({ROWS}) AS r(n)"
            )
    else:
        shutil.copy(_path(setting, users, "nobody"), path)
        change = EDGES[name]
        if change is not None:
            with duckdb.connect(str(path)) as connection:
                connection.execute(change)
    policies(path, POLICY)
    return path
