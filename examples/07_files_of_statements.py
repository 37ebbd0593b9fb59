"""A file of statements: priced as a whole, with one total divided among them, and a file for each answer."""

import json
import tempfile
from pathlib import Path

import duckdb

import dpsql
from dpsql.cli import main

POLICY = """
[budget]
epsilon = 4.0
delta = 1e-6
[query]
epsilon = 0.5
[unit]
name = "person"
table = "people"
key = "person_id"
[tables.people.columns]
age = { range = [0, 120] }
city = { values = ["Oslo", "Rome"] }
"""

STATEMENTS = """
-- name: old
SELECT COUNT(*) AS people FROM people WHERE age >= 65;

-- name: cities
-- weight: 3
SELECT city, COUNT(*) AS people, AVG(age) AS age FROM people GROUP BY city;
"""

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    database, file, results = folder / "town.duckdb", folder / "monthly.sql", folder / "november"
    with duckdb.connect(str(database)) as owner:
        owner.execute(
            "CREATE TABLE people AS SELECT i AS person_id, i % 90 AS age, "
            "['Oslo', 'Rome'][1 + i % 2] AS city FROM range(5000) t(i)"
        )
    database.with_suffix(".toml").write_text(POLICY)
    file.write_text(STATEMENTS)

    dpsql.connect(database).close()  # makes the ledger

    run = ["run", str(database), str(file), "--epsilon", "1"]
    main([*run, "--dry-run"])
    main([*run, "--out", str(results)])
    main([*run, "--out", str(folder / "again")])

    print((results / "cities.csv").read_text())
    manifest = json.loads((results / "manifest.json").read_text())
    for each in manifest["statements"]:
        print(each["name"], "price", each["price"], "plan", each["digest"][:12])
