"""dpsql is a PEP 249 module: cursors, parameters, and pandas if it is installed."""

import tempfile
import warnings
from pathlib import Path

import duckdb

import dpsql

POLICY = """
[budget]
epsilon = 4.0
delta = 1e-6
[unit]
name = "person"
table = "people"
key = "person_id"
[tables.people.columns]
age  = { range = [0, 120] }
city = { values = ["Oslo", "Rome"] }
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
        cursor = db.cursor()
        cursor.execute("SELECT city, AVG(age) FROM people WHERE age BETWEEN ? AND ? GROUP BY city", (18, 65))
        print([column[0] for column in cursor.description or ()])
        print(cursor.fetchall())

        # A count may come out negative; whatever is done to an answer afterwards is free.
        nobody = "SELECT GREATEST(COUNT(*), 0) AS people FROM people WHERE age = ?"
        print(cursor.execute(nobody, (115,)).fetchone())

        try:
            import pandas
        except ImportError:
            print("pandas is not installed")
        else:
            sql = "SELECT city, COUNT(*) AS people FROM people GROUP BY city"
            print(db.execute(sql).df())
            with warnings.catch_warnings():  # pandas says that it tests SQLAlchemy's connections only
                warnings.simplefilter("ignore", UserWarning)
                print(pandas.read_sql(sql, db, index_col="city"))  # the same answer, free
