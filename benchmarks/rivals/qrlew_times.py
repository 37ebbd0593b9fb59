"""Qrlew's whole calls: SQL is rewritten to SQL, which DuckDB runs.

It reads a catalogue through SQLAlchemy, which has none for DuckDB: an SQLite database with the same columns
in the same order stands in, and the true number of rows is written into what Qrlew found.
"""

import json
import uuid
import warnings
from collections.abc import Callable, Sized
from typing import Any

from repeated import Task, repeat

warnings.filterwarnings("ignore")

import pyqrlew  # noqa: E402  # after warnings are silenced
import sqlalchemy  # noqa: E402  # after warnings are silenced

TYPES = {"BIGINT": "INTEGER", "INTEGER": "INTEGER", "DOUBLE": "FLOAT", "VARCHAR": "TEXT", "DATE": "TEXT"}
UNITS = {
    "people": [("people", [], "person")],
    "visits": [("visits", [], "user_id")],
    "lines": [
        ("customer", [], "c_custkey"),
        ("orders", [], "o_custkey"),
        ("lineitem", [("l_orderkey", "orders", "o_orderkey")], "o_custkey"),
    ],
}


def prepare(task: Task) -> Callable[[], Sized]:
    units = UNITS[task.question.table]
    dataset = catalogue(task, [table for table, _, _ in units])
    sql = task.question.sql.replace("DATE '", "'")  # a typed literal is a panic
    price = {"epsilon": task.epsilon, "delta": task.delta}

    def ask() -> Sized:
        relation = dataset.relation(sql, pyqrlew.Dialect.PostgreSql)
        private = relation.rewrite_with_differential_privacy(
            dataset,
            units,
            price,
            max_multiplicity=float(task.rows),
            max_multiplicity_share=1.0,
            max_privacy_unit_groups=task.groups,
        )
        rewritten = private.relation().to_query(pyqrlew.Dialect.PostgreSql)
        return task.connection.execute(rewritten).fetchall()

    return ask


def catalogue(task: Task, tables: list[str]) -> Any:
    engine = sqlalchemy.create_engine("sqlite://", poolclass=sqlalchemy.pool.StaticPool)
    columns: dict[str, list[str]] = {}
    with engine.connect() as sqlite:
        for table in tables:
            described = task.connection.execute(f"DESCRIBE {table}").fetchall()
            columns[table] = [row[0] for row in described]
            typed = ", ".join(f"{row[0]} {TYPES[row[1]]}" for row in described)
            sqlite.execute(sqlalchemy.text(f"CREATE TABLE {table} ({typed})"))
            ones = ", ".join("1" for _ in described)  # a table without rows has no size at all
            sqlite.execute(sqlalchemy.text(f"INSERT INTO {table} VALUES ({ones})"))
        sqlite.commit()
    found = pyqrlew.Dataset.from_database("db", engine)
    size = json.loads(found.size)
    for table in tables:
        rows = task.connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()
        resize(size, table, str(rows[0] if rows else 0))
    named = {
        "@type": "sarus_data_spec/sarus_data_spec.Dataset",
        "uuid": uuid.uuid4().hex,
        "name": "Transformed",
        "spec": {"transformed": {"transform": uuid.uuid4().hex, "arguments": [], "named_arguments": {}}},
        "properties": {},
        "doc": "",
    }
    dataset = pyqrlew.Dataset.from_str(json.dumps(named), found.schema, json.dumps(size))
    ranges = task.ranges()
    for table, names in columns.items():
        for name in names:
            if name in ranges:
                dataset = dataset.with_range(None, table, name, *ranges[name])
            elif name in task.question.keys and task.public:
                dataset = dataset.with_possible_values(None, table, name, task.values(name))
    return dataset


def resize(found: Any, table: str, rows: str, inside: bool = False) -> None:
    """Write the number of rows wherever a size of this table is told."""
    match found:
        case dict():
            inside = inside or found.get("name") == table
            for key, value in found.items():
                if inside and key == "size":
                    found[key] = rows
                else:
                    resize(value, table, rows, inside)
        case list():
            for each in found:
                resize(each, table, rows, inside)


if __name__ == "__main__":
    repeat(prepare)
