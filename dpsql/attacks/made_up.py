"""A made-up population of 200 to attack, computed from hashes: the same everywhere.

    151 persons have a zip code, a birth date and a sex that nobody else has; the others share them by sevens
    the target has 3,000 visits of which 5 count, and a salary of five million in a range that ends at 100,000

Test: tests/privacy/test_attack_command.py
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from dpsql.attacks.world import Amount, Secret, World, known_of, policy_text
from dpsql.driver import connect

PERSONS, ALONE = 200, 151

_DATA = f"""
CREATE TEMP MACRO u(i, salt) AS md5_number_upper(salt || i);
CREATE TABLE people (
    pid INTEGER PRIMARY KEY, zip VARCHAR, birth DATE, sex VARCHAR, town VARCHAR, ward VARCHAR NOT NULL,
    smoker BOOLEAN, salary DOUBLE
);
INSERT INTO people
SELECT
    i, format('0{{:03d}}', 150 + (u(who, 'zip') % 8)::INTEGER),
    if(i <= {ALONE}, DATE '1930-01-01' + (i * 163)::INTEGER, DATE '1929-01-01' + who::INTEGER),
    if(u(who, 'sex') % 2 = 0, 'F', 'M'), 'town ' || (u(i, 'town') % 5), ['A', 'B'][1 + i % 2],
    u(i, 'smoker') % 5 = 0, if(i = 17, 5e6, (u(i, 'salary') % 100000)::DOUBLE)
FROM (
    SELECT i, if(i <= {ALONE}, i, 1000 + (i - {ALONE} - 1) // 7) AS who FROM range(1, {PERSONS} + 1) AS r(i)
)
ORDER BY i;
CREATE TABLE visits (pid INTEGER NOT NULL, cost DOUBLE);
INSERT INTO visits SELECT 1 + i % {PERSONS}, (u(i, 'cost') % 500)::DOUBLE FROM range(600) AS r(i);
INSERT INTO visits SELECT 17, 500 FROM range(2997) AS r(i);
"""

_POLICY = """
[unit]
name = "person"
table = "people"
key = "pid"

[tables.people.columns]
pid = {}
zip = {}
birth = {}
sex = {}
town = {}
ward = { values = ["A", "B"] }
smoker = {}
salary = { range = [0, 100000] }

[tables.visits]
unit = { column = "pid" }
rows_per_unit = 5

[tables.visits.columns]
pid = {}
cost = { range = [0, 500] }
"""


def made_up(folder: Path, ledgers: Path, accountant: str, epsilon: float, delta: float, trials: int) -> World:
    """Create the population in a folder; return its world."""
    database, policy = folder / "people.duckdb", folder / "policy.toml"
    connection = connect(str(database))
    try:
        connection.execute(_DATA)
    finally:
        connection.close()
    document = tomllib.loads(_POLICY)
    policy.write_text(policy_text(document, "approx", 1.0, 1e-6), encoding="utf-8")
    return World(
        folder,
        database,
        known_of(database, policy, ledgers / "known.ledger"),
        document,
        "people",
        "pid",
        tuple(range(1, PERSONS + 1)),
        17,
        Secret("smoker", "true", "false"),
        epsilon,
        delta,
        accountant,
        trials,
        ledgers,
        place="town",
        ward="ward",
        quasi=("zip", "birth", "sex"),
        amount=Amount("salary", 0.0, 100_000.0, 5e6),
        details=("visits", 5),
    )
