"""A database, its owner's policy, and the first noised answers."""

import tempfile
from pathlib import Path

import duckdb

import dpsql

POLICY = """
[budget]                              # of all analysts together, for good
epsilon = 4.0
delta = 1e-6

[query]
epsilon = 0.5                         # what a query costs if it does not say

[unit]                                # whom the promise protects
name = "person"
table = "people"
key = "person_id"

[tables.people.columns]
age  = { range = [0, 120] }           # values outside are clamped
city = { values = ["Oslo", "Rome"] }  # a public list: each city always appears
"""

with tempfile.TemporaryDirectory() as folder:
    database = Path(folder) / "town.duckdb"
    with duckdb.connect(str(database)) as owner:
        owner.execute(
            "CREATE TABLE people (person_id INTEGER PRIMARY KEY, age INTEGER, city VARCHAR NOT NULL)"
        )
        owner.execute(
            "INSERT INTO people SELECT i, i % 90, if(i % 3 = 0, 'Oslo', 'Rome') FROM range(5000) t(i)"
        )
    database.with_suffix(".toml").write_text(POLICY)

    with dpsql.connect(database) as db:
        answer = db.execute("SELECT city, COUNT(*) AS people, AVG(age) AS age FROM people GROUP BY city")
        print(answer.columns)
        for row, margins in zip(answer.rows, answer.margins, strict=True):
            print(row, "95 % within", margins)
        print("cost", answer.cost, "remaining", answer.remaining)

        try:
            db.execute("SELECT age FROM people WHERE person_id = 7")
        except dpsql.NotSupportedError as refusal:
            print(refusal)
