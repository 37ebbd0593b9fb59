"""An answer as a table of a DuckDB that holds nothing else, which then turns it into what others read.

with table_of(answer) as table:
    table.df()
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dpsql.errors import refuse
from dpsql.render.answer_fields import AnswerFields

if TYPE_CHECKING:
    import duckdb


@contextmanager
def table_of(answer: AnswerFields, what: str) -> Iterator[duckdb.DuckDBPyRelation]:
    """The rows with their types; ``what`` they become is named where it cannot hold one of them."""
    import duckdb

    connection = duckdb.connect(":memory:")
    try:
        connection.execute("SET TimeZone = 'UTC'")  # the zone of an answer's times
        names = map(quoted, _distinct(answer.columns))
        columns = ", ".join(map(" ".join, zip(names, _types(answer), strict=True)))
        connection.execute(f"CREATE TABLE answer ({columns})")
        if answer.rows:
            values = [[_sent(value) for value in column] for column in zip(*answer.rows, strict=True)]
            unnested = ", ".join(f"unnest(CAST(? AS {sql}[]))" for sql in _types(answer))
            connection.execute(f"INSERT INTO answer SELECT {unnested}", values)
        yield connection.table("answer")
    except duckdb.Error:
        raise refuse(
            "D601",
            f"the answer has a column that {what} cannot hold",
            help="cast it to VARCHAR, or choose another format: asked again, the query is free",
        ) from None
    finally:
        connection.close()


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _types(answer: AnswerFields) -> list[str]:
    return ["INTEGER" if sql == '"NULL"' else sql for sql in answer.types]


def _sent(value: Any) -> Any:
    """Dates, times and decimals travel as text, which DuckDB reads back as the column's type."""
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, datetime.timedelta):
        return f"{value // datetime.timedelta(microseconds=1)} microseconds"
    return (
        value
        if value is None or isinstance(value, bool | int | float | str | list | dict | bytes)
        else str(value)
    )


def _distinct(names: Iterable[str]) -> list[str]:
    found: list[str] = []
    taken: set[str] = set()
    for name in names:
        number, each = 1, name
        while each.casefold() in taken:
            number, each = number + 1, f"{name}_{number}"
        taken.add(each.casefold())
        found.append(each)
    return found
