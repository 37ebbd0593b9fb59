"""smartnoise-sql's whole calls over DuckDB, through its PostgreSQL reader: it has none for DuckDB.

Its epsilon is the price of one statistic, so a query of n mechanisms gets epsilon / n for each. Its noise has
a largest scale, so amounts of money are in thousands, and a bounded number has to be a column.
"""

import warnings
from collections.abc import Callable, Sized

from repeated import Task, repeat

warnings.filterwarnings("ignore")

from snsql import Privacy  # noqa: E402  # after warnings are silenced
from snsql.metadata import Metadata  # noqa: E402  # after warnings are silenced
from snsql.sql.private_reader import PrivateReader  # noqa: E402  # after warnings are silenced
from snsql.sql.reader.postgres import PostgresReader  # noqa: E402  # after warnings are silenced

PRICE, PAID = "l_extendedprice", "l_extendedprice * (1 - l_discount)"


class Reader(PostgresReader):
    def __init__(self, connection):  # type: ignore[no-untyped-def]  # its own signature
        super().__init__(conn=connection)
        self.connection = connection

    def execute(self, query, *ignore, accuracy=False):  # type: ignore[no-untyped-def]  # its own signature
        cursor = self.connection.execute(str(query))
        return [tuple(each[0] for each in cursor.description), *cursor.fetchall()]


def prepare(task: Task) -> Callable[[], Sized]:
    question = task.question
    sql = question.joined.replace(PAID, "paid").replace("DATE '", "'")
    sql = sql.replace(f"FROM {question.table}", f"FROM temp.{question.table}")
    ranges = task.ranges()
    shown = "*"
    if question.table == "lines":
        shown = f"* REPLACE ({PRICE} / 1000 AS {PRICE}), {PAID} / 1000 AS paid"
        ranges[PRICE] = ranges["paid"] = (0.0, ranges[PRICE][1] / 1000)
    (database,) = task.connection.execute("SELECT current_database()").fetchone()
    read = f'"{database}".main.{question.table}'
    task.connection.execute(f"CREATE TEMP VIEW {question.table} AS SELECT {shown} FROM {read}")
    columns: dict[str, object] = {}
    for row in task.connection.execute(f"DESCRIBE temp.{question.table}").fetchall():
        name, type_ = row[0], row[1]
        if name == question.unit:
            columns[name] = {"type": "int", "private_id": True}
        elif name in ranges:
            columns[name] = {"type": "float", "lower": ranges[name][0], "upper": ranges[name][1]}
        else:
            columns[name] = {"type": "datetime" if type_ == "DATE" else "string"}
    table = {
        "max_ids": task.rows,
        "sample_max_ids": task.rows > 1,
        "clamp_columns": True,
        "clamp_counts": False,
        "censor_dims": not task.public,
        "rows": 1_000_000,
        **columns,
    }
    metadata = Metadata.from_dict({"": {"temp": {question.table: table}}})

    def reader(epsilon: float) -> PrivateReader:
        privacy = Privacy(epsilon=epsilon, delta=task.delta)
        return PrivateReader(Reader(task.connection), metadata, privacy=privacy)

    mechanisms = len([each for each in reader(1.0)._get_mechanism_costs(sql) if each])
    return lambda: reader(task.epsilon / mechanisms).execute(sql)[1:]  # its first row is the columns' names


if __name__ == "__main__":
    repeat(prepare)
