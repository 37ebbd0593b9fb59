"""What is the peak memory of a private answer? Each in a fresh process."""

from __future__ import annotations

import statistics

from benchmarks.data import people, visits
from benchmarks.timing import Report, Setting, Table, Verdict, fresh

PEAK = """
def peak():
    import resource, sys
    try:  # of this program alone: ru_maxrss may begin with what the parent had when it forked
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
"""

PLAIN = (
    PEAK
    + """
import sys, duckdb
connection = duckdb.connect(sys.argv[1], read_only=True)
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
    db.execute(sys.argv[2], epsilon=float(sys.argv[4]))
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
            ours.append(float(fresh(setting, OURS, str(path), sql, accountant, str(1 + number / 1000))))
        mine, other = statistics.median(ours), statistics.median(theirs)
        table.rows.append((name, other, mine, mine / other))
        if limit is None:
            verdicts.append(Verdict(f"{name}, MB", mine, 800.0, low=min(ours), high=max(ours)))
        else:
            pairs = [a / b for a, b in zip(ours, theirs, strict=True)]
            verdicts.append(Verdict(f"{name}: ratio", mine / other, limit, low=min(pairs), high=max(pairs)))
    return Report((table,), tuple(verdicts))
