"""Repeated queries to smartnoise-sql over DuckDB: data epsilon delta repetitions -> JSON lines.

Its epsilon is the price of one statistic, so a query of n mechanisms gets epsilon / n for each, as a careful
user would ask. It has no reader for DuckDB, so its PostgreSQL reader gets a DuckDB connection.
"""

import json
import sys
import warnings

warnings.filterwarnings("ignore")

import duckdb  # noqa: E402  # after warnings are silenced
from snsql import Privacy  # noqa: E402  # after warnings are silenced
from snsql.metadata import Metadata  # noqa: E402  # after warnings are silenced
from snsql.sql.private_reader import PrivateReader  # noqa: E402  # after warnings are silenced
from snsql.sql.reader.postgres import PostgresReader  # noqa: E402  # after warnings are silenced

ASKED = {
    "COUNT": "SELECT state, COUNT(*) AS n FROM main.people GROUP BY state",
    "SUM": "SELECT state, SUM(income) AS n FROM main.people GROUP BY state",
    "AVG": "SELECT state, AVG(age) AS n FROM main.people GROUP BY state",
    "VAR": "SELECT state, VARIANCE(age) AS n FROM main.people GROUP BY state",
}


class Reader(PostgresReader):
    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        super().__init__(conn=connection)
        self.connection = connection

    def execute(self, query, *ignore, accuracy=False):  # type: ignore[no-untyped-def]  # its own signature
        cursor = self.connection.execute(str(query))
        return [tuple(each[0] for each in cursor.description), *cursor.fetchall()]


def main(data: str, epsilon: float, delta: float, repetitions: int) -> None:
    connection = duckdb.connect(":memory:")
    connection.execute(f"CREATE TABLE people AS SELECT * FROM '{data}'")
    people = {
        "max_ids": 1,
        "sample_max_ids": False,
        "clamp_columns": True,
        "censor_dims": False,
        "clamp_counts": False,
        "rows": 250_000,
        "person": {"type": "int", "private_id": True},
        "age": {"type": "float", "lower": 0.0, "upper": 120.0},
        "income": {"type": "float", "lower": 0.0, "upper": 200_000.0},
        "state": {"type": "string"},
    }
    metadata = Metadata.from_dict({"": {"main": {"people": people}}})
    for aggregate, sql in ASKED.items():
        try:
            reader = PrivateReader(Reader(connection), metadata, privacy=Privacy(epsilon=1.0, delta=delta))
            mechanisms = len([each for each in reader._get_mechanism_costs(sql) if each])
            for _ in range(repetitions):
                privacy = Privacy(epsilon=epsilon / mechanisms, delta=delta)
                reader = PrivateReader(Reader(connection), metadata, privacy=privacy)
                values = {row[0]: float(row[1]) for row in reader.execute(sql)[1:] if row[1] is not None}
                print(json.dumps({"aggregate": aggregate, "values": values}), flush=True)
        except Exception as error:  # it has an aggregate less: the others are still worth a comparison
            print(f"{aggregate}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
