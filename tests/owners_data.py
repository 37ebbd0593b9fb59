"""Data as owners have it: nine small sets, each made by a script, none with a policy.

    log         an event log, whose persons have no table
    events      the same with a primary key of its own, which is no person
    shop        keys, checks and references under names that say nothing
    hospital    a key of two columns
    accounts    ENUM, UUID, TIMESTAMPTZ
    meters      readings of households' meters
    census      130 columns
    towns       a table of groups: nobody is in it
    daily       a folder with a parquet file for each day

``python tests/owners_data.py DIR`` makes them all.
"""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb

PEOPLE = 3_000

LOG = """
CREATE TABLE events AS
SELECT 1 + (i * 7919) % {people} AS user_id, TIMESTAMP '2024-03-01' + INTERVAL (i) MINUTE AS seen,
    ['home', 'search', 'basket', 'pay'][1 + i % 4] AS page, (i % 240)::DOUBLE AS seconds
FROM range(4 * {people}) AS r(i);
"""

EVENTS = """
CREATE TABLE events (
    event_id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, kind VARCHAR NOT NULL, seen TIMESTAMP NOT NULL,
    amount DECIMAL(9, 2)
);
INSERT INTO events
SELECT i, 1 + (i * 7919) % {people}, ['view', 'buy', 'return'][1 + i % 3],
    TIMESTAMP '2024-03-01' + INTERVAL (i) MINUTE, CASE WHEN i % 3 = 1 THEN i % 200 END
FROM range(4 * {people}) AS r(i);
"""

SHOP = """
CREATE TABLE members (
    mid INTEGER PRIMARY KEY, email VARCHAR UNIQUE, born INTEGER CHECK (born BETWEEN 1900 AND 2020),
    country VARCHAR CHECK (country IN ('DK', 'NO', 'SE'))
);
CREATE TABLE products (sku VARCHAR PRIMARY KEY, title VARCHAR NOT NULL, price DECIMAL(9, 2));
CREATE TABLE purchases (
    no INTEGER PRIMARY KEY, buyer INTEGER NOT NULL REFERENCES members (mid),
    sku VARCHAR REFERENCES products (sku),
    paid DECIMAL(9, 2) CHECK (paid >= 0 AND paid <= 5000), ordered DATE, sent DATE, CHECK (ordered <= sent)
);
INSERT INTO members SELECT i, 'm' || i || '@example.org', 1940 + i % 70, ['DK', 'NO', 'SE'][1 + i % 3]
FROM range({people}) AS r(i);
INSERT INTO products SELECT 'P' || i, 'product ' || i, i FROM range(50) AS r(i);
INSERT INTO purchases SELECT i, (i * 7919) % {people}, 'P' || (i % 50), i % 400,
    DATE '2024-01-01' + (i % 300)::INTEGER, DATE '2024-01-03' + (i % 300)::INTEGER
FROM range(3 * {people}) AS r(i);
"""

HOSPITAL = """
CREATE TABLE patients (
    hospital_id INTEGER, patient_no INTEGER, born INTEGER, sex VARCHAR, PRIMARY KEY (hospital_id, patient_no)
);
CREATE TABLE stays (hospital_id INTEGER, patient_no INTEGER, ward VARCHAR, days INTEGER);
INSERT INTO patients SELECT 1 + i % 3, i // 3, 1930 + i % 80, ['F', 'M'][1 + i % 2]
FROM range({people}) AS r(i);
INSERT INTO stays SELECT 1 + i % 3, (i // 3) % ({people} // 3), ['A', 'B'][1 + i % 2], i % 14
FROM range(2 * {people}) AS r(i);
"""

ACCOUNTS = """
CREATE TYPE plan AS ENUM ('free', 'plus', 'team');
CREATE TABLE accounts (account UUID PRIMARY KEY, plan plan NOT NULL, opened TIMESTAMPTZ, seats INTEGER);
CREATE TABLE logins (account UUID REFERENCES accounts (account), seen TIMESTAMPTZ, ok BOOLEAN NOT NULL);
INSERT INTO accounts SELECT md5('a' || i)::UUID, ['free', 'plus', 'team'][1 + i % 3]::plan,
    TIMESTAMPTZ '2024-01-01 00:00:00+00' + INTERVAL (i) HOUR, 1 + i % 9
FROM range({people}) AS r(i);
INSERT INTO logins SELECT md5('a' || i % {people})::UUID,
    TIMESTAMPTZ '2024-06-01 00:00:00+00' + INTERVAL (i) MINUTE, i % 20 > 0
FROM range(3 * {people}) AS r(i);
"""

METERS = """
CREATE TABLE meters (meter_id INTEGER PRIMARY KEY, household_id INTEGER NOT NULL, tariff VARCHAR);
CREATE TABLE readings (
    meter_id INTEGER NOT NULL REFERENCES meters (meter_id), seen TIMESTAMP NOT NULL, kwh DOUBLE
);
INSERT INTO meters SELECT i, i * 2 // 3, ['day', 'night'][1 + i % 2] FROM range({people}) AS r(i);
INSERT INTO readings
SELECT i % {people}, TIMESTAMP '2024-01-01' + INTERVAL (i // {people}) HOUR, (i % 37) / 10
FROM range(8 * {people}) AS r(i);
"""

CENSUS = """
CREATE TABLE census AS
SELECT i AS person_id, i % 100 AS age, ['F', 'M'][1 + i % 2] AS sex, {columns}
FROM range({people}) AS r(i);
ALTER TABLE census ADD PRIMARY KEY (person_id);
"""

TOWNS = """
CREATE TABLE town_stats (town VARCHAR PRIMARY KEY, inhabitants INTEGER, mean_income DOUBLE);
INSERT INTO town_stats SELECT 'town ' || i, 1000 + i, 20000.0 + i FROM range(80) AS r(i);
"""

DAILY = """
COPY (SELECT i AS patient_id, 1930 + i % 80 AS born FROM range({people}) AS r(i))
TO '{folder}/patients.parquet';
"""

DAY = """
COPY (SELECT (i * 7919) % {people} AS patient_id, DATE '2024-01-01' + {day} AS day, (i % 300)::DOUBLE AS cost
    FROM range({people} // 4) AS r(i)) TO '{folder}/visits/{day:03}.parquet';
"""

KINDS = (
    *(f"i % {10 + 7 * n} AS hours_{n}" for n in range(60)),
    *(f"(i % {100 + n})::DOUBLE / 4 AS spent_{n}" for n in range(37)),
    *(f"['a', 'b', 'c'][1 + (i + {n}) % 3] AS answer_{n}" for n in range(20)),
    *(f"DATE '2020-01-01' + (i % {300 + n})::INTEGER AS day_{n}" for n in range(5)),
    *(f"i % {n + 2} = 0 AS is_{n}" for n in range(5)),
)
"""With the key, the age and the sex they make 130."""

SETS = {
    "log": LOG,
    "events": EVENTS,
    "shop": SHOP,
    "hospital": HOSPITAL,
    "accounts": ACCOUNTS,
    "meters": METERS,
    "census": CENSUS,
    "towns": TOWNS,
}
NAMES = (*SETS, "daily")


def make(name: str, folder: Path) -> Path:
    """Make one set in a folder; return its path."""
    if name == "daily":
        return _daily(folder / "daily")
    database = folder / f"{name}.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(SETS[name].format(people=PEOPLE, columns=",\n".join(KINDS)))
    return database


def _daily(folder: Path) -> Path:
    (folder / "visits").mkdir(parents=True)
    with duckdb.connect() as connection:
        connection.execute(DAILY.format(people=PEOPLE, folder=folder))
        for day in range(6):
            connection.execute(DAY.format(people=PEOPLE, folder=folder, day=day))
    return folder


if __name__ == "__main__":
    for each in NAMES:
        print(make(each, Path(sys.argv[1])))
