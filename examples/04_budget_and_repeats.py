"""The price of a query, free repeats, and an exhausted budget."""

import tempfile
from pathlib import Path

import duckdb

import dpsql

POLICY = """
[budget]
epsilon = 1.0
delta = 1e-6
[query]
epsilon = 0.3
max_epsilon = 0.5
[unit]
name = "person"
table = "people"
key = "person_id"
[tables.people.columns]
age = { range = [0, 120] }
"""

COUNT = "SELECT COUNT(*) FROM people WHERE age >= 65"

with tempfile.TemporaryDirectory() as folder:
    database = Path(folder) / "town.duckdb"
    with duckdb.connect(str(database)) as owner:
        owner.execute("CREATE TABLE people AS SELECT i AS person_id, i % 90 AS age FROM range(5000) AS t(i)")
    database.with_suffix(".toml").write_text(POLICY)

    with dpsql.connect(database) as db:
        first = db.execute(COUNT)
        print("first ", first.rows, "cost", first.cost, "remaining", first.remaining)

    with dpsql.connect(database) as db:  # the ledger is a file: it remembers
        again = db.execute(COUNT)
        print("again ", again.rows, "cost", again.cost, "repeated", again.repeated)
        twice = db.execute("SELECT 2 * COUNT(*) FROM people WHERE age >= 65")
        print("twice ", twice.rows, "cost", twice.cost, "(the same measurement, so nothing new is released)")

        try:
            db.execute(COUNT, epsilon=0.8)
        except dpsql.OperationalError as refusal:
            print(refusal)

        for age in range(100):
            try:
                answer = db.execute("SELECT COUNT(*) FROM people WHERE age < ?", (age,))
            except dpsql.OperationalError as refusal:
                print(f"after {age} more questions:")
                print(refusal)
                break
        print(db.budget)
        print("still free:", db.execute(COUNT).rows)
