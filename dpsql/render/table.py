"""Load an answer into an in-memory DuckDB table, which converts it to data frames and files.

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
    """Yield a table of the rows with their types; ``what`` names the target format in a refusal."""
    import duckdb

    connection = duckdb.connect(":memory:")
    try:
        connection.execute("SET TimeZone = 'UTC'")  # the zone of an answer's times
        names = map(quoted, _distinct(answer.columns))
        columns = ", ".join(map(" ".join, zip(names, _types(answer), strict=True)))
        connection.execute(f"CREATE TABLE answer ({columns})")
        if answer.rows:
            values = [[_parameter(value) for value in column] for column in zip(*answer.rows, strict=True)]
            unnested = ", ".join(f"unnest(CAST(? AS {sql}[]))" for sql in _types(answer))
            connection.execute(f"INSERT INTO answer SELECT {unnested}", values)
        yield connection.table("answer")
    except duckdb.Error:
        raise refuse(
            "D601",
            f"the answer has a column that {what} cannot hold",
            help="cast it to VARCHAR, or choose another format: running the query again is free",
        ) from None
    finally:
        connection.close()


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _types(answer: AnswerFields) -> list[str]:
    return ["INTEGER" if sql == '"NULL"' else sql for sql in answer.types]


def _parameter(value: Any) -> Any:
    """Convert a value to a parameter; dates, times and decimals become text, which DuckDB casts back."""
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
    """Number repeated column names."""
    distinct: list[str] = []
    taken: set[str] = set()
    for name in names:
        number, candidate = 1, name
        while candidate.casefold() in taken:
            number, candidate = number + 1, f"{name}_{number}"
        taken.add(candidate.casefold())
        distinct.append(candidate)
    return distinct
