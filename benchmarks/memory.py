"""What is the peak memory of a private answer, with its sealed process? Each in a fresh process."""

from __future__ import annotations

import math
import statistics

from benchmarks.data import people, tiny_tpch, tpch, tpch_queries, visits
from benchmarks.timing import Report, Setting, Table, Verdict, fresh
from benchmarks.tpch import KEYS

PEAK = """
def peak():
    import os, resource
    try:  # of this program alone: ru_maxrss may begin with what the parent had when it forked
        with open(f"/proc/self/task/{os.getpid()}/children") as children:
            return sum([of_process(pid) for pid in ("self", *children.read().split())])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20

def of_process(pid):
    with open(f"/proc/{pid}/status") as status:
        return sum(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
"""

PLAIN = (
    PEAK
    + """
import sys, duckdb
connection = duckdb.connect(sys.argv[1], read_only=True)
connection.execute("SET enable_progress_bar = false")
connection.execute(sys.argv[2]).fetchall()
print(peak())
"""
)

OURS = (
    PEAK
    + """
import sys
from pathlib import Path
from benchmarks.data import connect
with connect(Path(sys.argv[1]), sys.argv[3]) as db:
    for asked in range(int(sys.argv[5])):
        db.execute(sys.argv[2], epsilon=float(sys.argv[4]) + asked / 1000)
    print(peak())
"""
)


def run(setting: Setting) -> Report:
    one = people(setting, 20_000 if setting.quick else 1_000_000)
    many = visits(setting, *((50_000, 2_000) if setting.quick else (5_000_000, 200_000)))
    by_state = "SELECT state, COUNT(*), SUM(income), AVG(income) FROM people GROUP BY state"
    by_place = "SELECT {0}, COUNT(*), SUM(cost), AVG(cost) FROM visits GROUP BY {0}"
    table = Table("peak memory, MB", ("query", "plain", "dpsql", "ratio"))
    verdicts = []
    for name, path, accountant, sql, limit in (
        ("one row per unit", one, "zcdp", by_state, 2.5),
        ("L1 clip, text keys", many, "pure", by_place.format("place"), 2.5),
        ("L1 clip, integer keys", many, "pure", by_place.format("place_no"), 2.5),
        ("L2 clip, text keys", many, "zcdp", by_place.format("place"), None),
        ("L2 clip, integer keys", many, "zcdp", by_place.format("place_no"), None),
    ):
        theirs, ours = [], []
        for number in range(1 if setting.quick else 3):
            theirs.append(float(fresh(setting, PLAIN, str(path), sql)))
            ours.append(float(fresh(setting, OURS, str(path), sql, accountant, str(1 + number / 1000), "1")))
        mine, other = statistics.median(ours), statistics.median(theirs)
        table.rows.append((name, other, mine, mine / other))
        if limit is None:
            verdicts.append(Verdict(f"{name}, MB", mine, 800.0, low=min(ours), high=max(ours)))
        else:
            pairs = [a / b for a, b in zip(ours, theirs, strict=True)]
            verdicts.append(Verdict(f"{name}: ratio", mine / other, limit, low=min(pairs), high=max(pairs)))
    standard, ratios = _of_tpch(setting)
    verdicts += [
        Verdict("TPC-H: ratio, geometric mean", math.exp(statistics.fmean(map(math.log, ratios))), None),
        Verdict("TPC-H: ratio, the largest", max(ratios), 1.5),
    ]
    return Report((table, standard), tuple(verdicts))


def _of_tpch(setting: Setting) -> tuple[Table, list[float]]:
    """Ask each query three times: what the engine finds out of the tables comes with the second."""
    path = tiny_tpch(setting) if setting.quick else tpch(setting)
    table = Table(f"the same on {path.stem}, MB", ("query", "plain", "dpsql", "ratio"))
    for number in list(KEYS)[:2] if setting.quick else KEYS:
        sql = tpch_queries()[number].rstrip().rstrip(";")
        theirs = float(fresh(setting, PLAIN, str(path), sql))
        ours = float(fresh(setting, OURS, str(path), sql, "zcdp", "1", "3"))
        table.rows.append((f"Q{number}", theirs, ours, ours / theirs))
    return table, [float(row[-1]) for row in table.rows]
