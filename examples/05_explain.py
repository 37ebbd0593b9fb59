"""Explain a query before paying: its release, its expected errors and its bounds."""

import tempfile
from pathlib import Path

import duckdb

import dpsql

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
city = {}
[tables.trips]
unit = { column = "person_id" }
rows_per_unit = 4
[tables.trips.columns]
distance = { range = [0, 200] }
"""

SQL = "SELECT city, SUM(distance) AS km FROM people JOIN trips USING (person_id) GROUP BY city"

with tempfile.TemporaryDirectory() as folder:
    database = Path(folder) / "town.duckdb"
    with duckdb.connect(str(database)) as owner:
        owner.execute(
            "CREATE TABLE people AS SELECT i AS person_id, ['Oslo', 'Rome'][1 + i % 2] AS city "
            "FROM range(5000) t(i);"
            "CREATE TABLE trips AS SELECT i % 5000 AS person_id, i % 150 AS distance FROM range(12000) t(i)"
        )
    database.with_suffix(".toml").write_text(POLICY)

    with dpsql.connect(database) as db:
        print(db.explain(SQL))

        for price in (0.1, 0.5, 2.0):
            facts = db.explain(SQL, epsilon=price).to_dict()
            measure = facts["stages"][0]["measures"][0]
            (km,) = measure["columns"]
            print(f"epsilon {price}: km within {km['expected_error']:,.0f}; {measure['key_rule']['words']}")
        print("spent so far:", db.budget.spent)
