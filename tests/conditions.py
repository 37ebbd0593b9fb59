"""Random conditions over a table of awkward values, and the table: NaN, infinity, -0.0, one bit more than 53.

Most rows break what the policy declares. Every row has its own ``k``.
"""

from __future__ import annotations

import random
from pathlib import Path

import duckdb

POLICY = """\
[budget]
epsilon = 1000.0
delta = 1e-6
[query]
max_epsilon = 1000.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
k = { values = [KEYS] }
n = { range = [0, 3] }
i = { range = [0, 3] }
l = {}
d = { range = [0, 5] }
x = { range = [0, 5] }
f = {}
s = { values = ["a", "b"] }
e = {}
t = {}
m = {}
b = {}
"""

TABLE = """
CREATE TYPE letter AS ENUM ('b', 'a', 'C');
CREATE TABLE people (
    id INTEGER PRIMARY KEY, k INTEGER NOT NULL, n INTEGER NOT NULL, i INTEGER, l BIGINT, d DECIMAL(5, 1),
    x DOUBLE, f FLOAT, s VARCHAR, e letter, t DATE, m TIMESTAMP, b BOOLEAN
)
"""

# what a column holds, and what it is compared with; most rows break the declared range
COLUMNS = {
    "n": (["-1", "0", "1", "2", "3", "4", "100"], ["0", "1", "2", "2.5", "3e0", "-0.5"]),
    "i": (["NULL", "-1", "0", "1", "2", "3", "4"], ["0", "1", "2", "1.5", "2.0", "1e0", "99999999999"]),
    "l": (
        ["NULL", "0", "1", "9007199254740992", "9007199254740993"],
        ["1", "9007199254740993", "9007199254740992.0", "9007199254740992e0", "0.5"],
    ),
    "d": (["NULL", "0", "0.9", "1.0", "1.1", "2.5", "-3"], ["1", "1.0", "1.05", "2.5", "1.1e0", "0"]),
    "x": (
        ["NULL", "'nan'", "'infinity'", "'-infinity'", "0", "-0.0", "0.1", "0.30000000000000004", "2"],
        ["0", "0.1", "0.3", "-0.0", "2", "0.1e0", "1e300"],
    ),
    "f": (["NULL", "'nan'", "0.1", "1", "16777217"], ["0.1", "1", "0.1e0", "16777217"]),
    "s": (["NULL", "''", "'a'", "'A'", "'b'", "'ø'", "'ab'"], ["'a'", "'b'", "''", "'ø'", "'aa'"]),
    "e": (["NULL", "'a'", "'b'", "'C'"], ["'a'", "'b'", "'zz'"]),
    "t": (
        ["NULL", "'2020-01-01'", "'2020-01-02'", "'infinity'", "'1999-12-31'"],
        ["'2020-01-01'", "DATE '2020-01-02'", "TIMESTAMP '2020-01-01 12:00:00'"],
    ),
    "m": (
        ["NULL", "'2020-01-01'", "'2020-01-01 00:00:00.000001'", "'2020-01-02 12:00:00'", "'-infinity'"],
        ["'2020-01-01'", "DATE '2020-01-02'", "TIMESTAMP '2020-01-01 00:00:00.000001'"],
    ),
    "b": (["NULL", "true", "false"], ["true", "false"]),
}
ORDERED = ("=", "<>", "<", "<=", ">", ">=")


def policy(rows: int) -> str:
    """Every row's key is on the list."""
    return POLICY.replace("KEYS", ", ".join(map(str, range(rows))))


def make(path: Path, rows: int) -> None:
    """The database, its policy beside it."""
    chosen = random.Random(0)
    drawn = [[chosen.choice(values) for values, _ in COLUMNS.values()] for _ in range(rows)]
    listed = ", ".join(f"({i}, {i}, {', '.join(row)})" for i, row in enumerate(drawn))
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLE)
        connection.execute(f"INSERT INTO people VALUES {listed}")
    path.with_suffix(".toml").write_text(policy(rows))


def compared(chosen: random.Random, columns: str) -> str:
    """A comparison of a column with constants, or another condition that stands alone."""
    name = chosen.choice(columns)
    constants = COLUMNS[name][1]
    one, other = chosen.choice(constants), chosen.choice(constants)
    sign = chosen.choice(("=", "<>") if name in "eb" else ORDERED)
    ways = [f"{name} {sign} {one}"] * 4
    ways += [f"{one} {sign} {name}", f"{name} IS NULL", f"{name} IS NOT NULL"]
    ways += [f"{name} IN ({one}, {other})", f"{name} NOT IN ({one}, {other}, NULL)"]
    ways += [
        f"{name} IS DISTINCT FROM {one}",
        f"{name} IS NOT DISTINCT FROM {one}",
        f"({name} = {one}) IS TRUE",
    ]
    if name not in "eb":
        ways += [f"{name} BETWEEN {one} AND {other}", f"{name} BETWEEN NULL AND {one}"]
    if name == "b":
        ways += ["b", "b IS NOT TRUE", "COALESCE(b, false)"]
    if name == "i":
        ways += [f"i < n + {one}", "i = n", "i // 2 = 1", "i // 2 < 1", "1 / i > 0", "i IN (n, 2)"]
    if name == "x":
        ways += ["isnan(x)", "2 / x > 0", "2 / x < 0", "x * -0.0 >= 0"]
    return chosen.choice(ways)


def condition(chosen: random.Random, columns: str, depth: int) -> str:
    if depth == 0 or chosen.random() < 0.4:
        return compared(chosen, columns)
    one, other = (condition(chosen, columns, depth - 1) for _ in range(2))
    match chosen.randrange(5):
        case 0:
            return f"NOT ({one})"
        case 1:
            return f"CASE WHEN {one} THEN {other} WHEN {other} THEN {compared(chosen, columns)} END"
        case 2:
            return f"COALESCE({one}, {other})"
        case _:
            return f"({one}) {chosen.choice(('AND', 'OR'))} ({other})"


def argument(chosen: random.Random, columns: str) -> str:
    """A number that a condition chooses."""
    when = condition(chosen, columns, 1)
    value = chosen.choice(("i", "n", "0", "NULL", "7", "l", "d"))
    return chosen.choice(
        (
            f"CASE WHEN {when} THEN {value} END",
            f"CASE WHEN {when} THEN {value} ELSE 0 END",
            f"CASE WHEN {when} THEN {value} WHEN n > 1 THEN i ELSE 1 END",
            f"COALESCE(CASE WHEN {when} THEN {value} END, i)",
            f"i * CASE WHEN {when} THEN 1 ELSE 0 END",
        )
    )
