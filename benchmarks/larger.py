"""Are files larger than DuckDB's memory limit answered, and how much is spilled?"""

from __future__ import annotations

import json
from pathlib import Path

import duckdb

from benchmarks.timing import Report, Setting, Table, Verdict, fresh

LIMIT_MB = 250

POLICY = """\
[budget]
epsilon = 1000.0
delta = 1e-6
[query]
epsilon = 1.0
[unit]
table = "people"
key = "id"
[tables.people.columns]
id = {{ {id} }}
town = {{ {town} }}
[tables.visits]
files = "visits/*.{kind}"
unit = {{ column = "id" }}
rows_per_unit = 15
[tables.visits.columns]
id = {{ {id} }}
visit = {{ {id} }}
cost = {{ {cost} range = [0, 1000] }}
note = {{ {town} }}
reason = {{ {town} }}
"""

QUERIES = {
    "sums by reason": "SELECT reason, COUNT(*), SUM(cost), AVG(cost) FROM visits GROUP BY reason",
    "medians by reason": "SELECT reason, MEDIAN(cost) FROM visits GROUP BY reason",
    "distinct notes": "SELECT COUNT(DISTINCT note) FROM visits",
    "by town": "SELECT town, AVG(cost) FROM visits JOIN people USING (id) GROUP BY town",
    "notes of each": "SELECT AVG(n) FROM (SELECT id, COUNT(DISTINCT note) AS n FROM visits GROUP BY id)",
    "one after the other": "SELECT AVG(c) FROM "
    "(SELECT cost - lag(cost) OVER (PARTITION BY id ORDER BY visit) AS c FROM visits)",
}

ASK = """
import json, os, sys, threading, time
import dpsql
from dpsql.engines import duckdb as databases, folder
usual, limit = databases.configuration, {"memory_limit": sys.argv[2] + "MB", "threads": 2}
folder.configuration = lambda *threads: usual(*threads) | limit
found = {}
with dpsql.connect(sys.argv[1]) as db:
    spilled, place, done = 0, databases.spill_folder(), threading.Event()
    def watch():
        global spilled
        while not done.wait(0.01):
            try:
                spilled = max(spilled, sum(each.stat().st_size for each in os.scandir(place)))
            except FileNotFoundError:  # gone meanwhile
                pass
    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    for name, sql in json.loads(sys.argv[3]).items():
        spilled, start = 0, time.perf_counter()
        rows = len(db.execute(sql).rows)
        found[name] = (time.perf_counter() - start, spilled / 1e6, rows)
    done.set()
    watching.join()
left = [name for name in os.listdir(place) if name != ".held"]
print(json.dumps([found, left]))
"""


def run(setting: Setting) -> Report:
    table = Table(
        f"files beside {LIMIT_MB} MB of memory", ("files", "MB", "query", "seconds", "spilled, MB", "rows")
    )
    verdicts = []
    for kind, number in (("parquet", 3), ("csv", 2)):
        folder = _files(setting, kind, number, 5_000 if setting.quick else 2_000_000)
        size = sum(each.stat().st_size for each in folder.rglob(f"*.{kind}")) / 1e6
        found, left = fresh(setting, ASK, str(folder), str(LIMIT_MB), json.dumps(QUERIES))
        for name, (seconds, spilled, rows) in found.items():
            table.rows.append((kind, size, name, seconds, spilled, rows))
        verdicts.append(Verdict(f"{kind}: MB of files that were answered", size, LIMIT_MB, at_least=True))
        verdicts.append(Verdict(f"{kind}: files left behind", len(left), 0))
    return Report((table,), tuple(verdicts))


def _files(setting: Setting, kind: str, number: int, rows: int) -> Path:
    """Write files of visits of a tenth as many people; a note of 32 letters makes each row long."""
    folder = setting.folder / f"{kind}-files"
    (folder / "visits").mkdir(parents=True)
    people = rows * number // 10
    with duckdb.connect() as connection:
        town = f"SELECT i AS id, 'town' || i % 20 AS town FROM range({people}) r(i)"
        connection.execute(f"COPY ({town}) TO '{folder / f'people.{kind}'}'")
        for each in range(number):
            visits = (
                f"SELECT (hash(i, 1) % {people})::BIGINT AS id, i AS visit, (hash(i, 2) % 100000 / 100.0) AS "
                "cost, md5(i::VARCHAR) AS note, 'reason' || hash(i, 3) % 40 AS reason "
                f"FROM range({each * rows}, {(each + 1) * rows}) r(i)"
            )
            connection.execute(f"COPY ({visits}) TO '{folder / 'visits' / f'{each}.{kind}'}'")
    said = {"id": "BIGINT", "town": "VARCHAR", "cost": "DOUBLE"}
    types = {name: f'type = "{type_}"' if kind == "csv" else "" for name, type_ in said.items()}
    types["cost"] += "," if kind == "csv" else ""
    folder.with_suffix(".toml").write_text(POLICY.format(kind=kind, **types))
    return folder
