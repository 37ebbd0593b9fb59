"""The spelling of SQL's parts that differ between engines, for the rows, cells, norms and sums of a measure.

    wide("n")        n::HUGEINT                 CAST(n AS NUMERIC) where there are no integers of 128 bits
    subquery(...)    (SELECT ...)               (SELECT ...) AS s1 where a subquery has to have a name

A dialect is carried by what is printed with it: ``Reading`` for relations, ``Arithmetic`` for cells and sums.
A dialect may refuse a scalar or rows that it has no vetted text for. Blocks and synthetic rows are printed
in DuckDB's alone.

Claim   a measure printed in two dialects has the same exact table on the same rows.
Proof   Each method states one value for each argument: the text differs, the value does not. A dialect whose
        engine raises where DuckDB does not (floats that underflow) guards the text of that method.
Test    tests/privacy/test_second_dialect.py: a second engine's tables, bit for bit, and planted errors
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final, Protocol
from weakref import WeakKeyDictionary

from dpsql.aggregates import shelf as aggregates
from dpsql.engines.identifiers import TEXTED, quote, table_sql
from dpsql.functions.core.literals import literal_sql
from dpsql.functions.core.meaning import Lookup
from dpsql.functions.core.printing import Found, sql_of
from dpsql.ir.column import VARCHAR, Fact, Kind, Type, Value, can_be_opened, type_range
from dpsql.ir.relation import Materialized, ScanColumn
from dpsql.ir.scalar import Literal, Scalar


class Dialect(Protocol):
    """How one engine writes what SQL leaves to engines."""

    @property
    def infinity(self) -> str:
        """The largest DOUBLE but for NaN."""
        ...

    @property
    def inlines(self) -> bool:
        """Whether a column of a subquery is computed anew wherever it is read, but for ``computed_once``."""
        ...

    @property
    def joins_as_written(self) -> bool:
        """Whether the engine joins tables in the order in which they are written."""
        ...

    def number(self, value: float | int) -> str:
        """Print a constant DOUBLE with all its bits, infinity and NaN too."""
        ...

    def real(self, value: int) -> str:
        """Print a constant whole number as a DOUBLE."""
        ...

    def double(self, sql: str) -> str:
        """Print a number as a DOUBLE."""
        ...

    def wide(self, sql: str) -> str:
        """Print a whole number so that products and sums with it hold 128 bits at least."""
        ...

    def whole(self, sql: str) -> str:
        """Print a DOUBLE below 2^62 as a BIGINT, rounded half to even."""
        ...

    def cut(self, sql: str) -> str:
        """Print a DOUBLE below 2^62 as a BIGINT, cut toward zero."""
        ...

    def place(self, sql: str) -> str:
        """Print a DOUBLE below 2^31 as an INTEGER, cut toward zero."""
        ...

    def units(self, sql: str) -> str:
        """Print a DOUBLE below 2^62 as a BIGINT, rounded, halves in any direction."""
        ...

    def quotient(self, sql: str, divisor: str) -> str:
        """Print a whole number divided by one above 0, cut toward zero."""
        ...

    def microseconds(self, sql: str) -> str:
        """Print the microseconds of a finite moment since 1970, as a BIGINT."""
        ...

    def scaled(self, sql: str, factor: float) -> str:
        """Print a DOUBLE times a positive constant, as precisely as ``whole`` of it needs."""
        ...

    def type(self, type: Type) -> str:
        """Print the name of a type that holds all values of this one."""
        ...

    def literal(self, literal: Literal) -> str:
        """Print a constant of this very type."""
        ...

    def share(self, sql: str, factor: float) -> str:
        """Print a DOUBLE times a positive constant, with a relative error; below 2^-200 it may be 0."""
        ...

    def scalar(
        self, scalar: Scalar, lookup: Lookup, column: Callable[[str], str], found: Found | None = None
    ) -> str:
        """Print a scalar that raises on no data; ``lookup`` gives column types, ``column`` prints names."""
        ...

    def hints(self, condition: Scalar, lookup: Lookup, column: Callable[[str], str]) -> list[str]:
        """Print conditions that hold where this one does, which tell the planner how many rows meet it."""
        ...

    def key(self, sql: str, type: Type) -> str:
        """Print a group key so that equal keys are identical: one NaN, one zero, microseconds at most."""
        ...

    def carried(self, name: str, type: Type) -> str:
        """Print a group key under its name as it is fetched, so that Python reads every value of its type."""
        ...

    def per_unit(
        self,
        function: str,
        argument: str,
        fact: Fact | None,
        distinct: bool,
        over: str,
        others: Sequence[tuple[str, Fact]],
    ) -> str:
        """Print an aggregate of one unit's rows, in no order."""
        ...

    def in_order(self, function: str, argument: str, order: str, filtered: str, others: Sequence[str]) -> str:
        """Print an aggregate of one unit's rows in an order; ``filtered`` is a FILTER clause, or empty."""
        ...

    def mark(
        self, function: str, argument: str, order: str, kept: Sequence[str], keys: Sequence[str]
    ) -> str | None:
        """Print a window that is true in the one row of a group that is picked, or in none.

        ``in_order`` is then printed over that row alone. None where it reads all rows of the group.
        """
        ...

    def window(self, function: str, arguments: Sequence[str], ignore_nulls: bool) -> str:
        """Print the call of a window function that is no aggregate."""
        ...

    def sort_keys(self, sql: str, type: Type) -> list[str]:
        """Return sort keys of a value: values that still tie are equal in everything a query can see."""
        ...

    def hashed(self, columns: Sequence[str]) -> str:
        """Print a hash of 64 bits of values, of which equal ones are identical, as the engine knows it."""
        ...

    def table(self, name: str) -> str:
        """Print a table of the catalogue."""
        ...

    def fixed_rows(self, rows: Materialized) -> str:
        """Return the SELECT of rows that are known, as constants of their types."""
        ...

    def one_sided(self, kept: str, other: str, on: str, anti: bool) -> str:
        """Return the SELECT of the rows of a table for which another has a row, or none."""
        ...

    def subquery(self, select: str) -> str:
        """Print a SELECT as a table of FROM."""
        ...

    def anew(self) -> Dialect:
        """Return a dialect that prints the same for the same again, whatever names subqueries have by now."""
        ...

    def squares(self, names: Sequence[str]) -> str | None:
        """Print the exact sum over rows of the squares of BIGINTs up to 2^50; None to add up wide ones."""
        ...

    def with_factors(self, rows: str, factors: str, all_rows: bool) -> str:
        """Print rows joined with the factor of their unit ``u``; each factor is of a unit that has rows.

        Where a unit has none, it is NULL in ``all_rows``; else its rows may be left out.
        """
        ...

    def octave(self, sql: str) -> str:
        """Print the whole logarithm to base 2 of a DOUBLE above 0, as a DOUBLE, or one less."""
        ...

    def summed(self, sql: str) -> str:
        """Print the exact sum of BIGINTs, 0 of none."""
        ...

    def kept(self, name: str, select: str, again: bool = False) -> str:
        """Print a SELECT as a CTE whose rows are computed once, or ``again`` for each of its readers."""
        ...

    def computed_once(self, select: str) -> str:
        """Print a SELECT whose columns are computed once, however often they are read above."""
        ...

    def all_but(self, table: str, column: str, others: Sequence[str]) -> str:
        """Print the columns of a table, ``others``, without the one named."""
        ...


def _plain_constant(value: Value) -> str:
    """Print a value as a constant for a CAST: text for everything that is not NULL or BOOLEAN."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"'{value:f}'"  # to DECIMAL(7,7), 1E-7 is NULL
    if isinstance(value, int):
        return f"'{value}'"
    return literal_sql(Literal(str(value) if isinstance(value, float) else value, VARCHAR))


MANY = 100
"""More rows of numbers are printed as texts, which engines read many times as fast."""


def holds_whole_numbers(column: ScanColumn, values: Sequence[Value]) -> bool:
    """Whether a column has whole numbers of its type, or NULL."""
    kind = column.fact.type
    if kind.kind is not Kind.INTEGER or kind.sql != column.source:
        return False
    ends, whole = type_range(kind), [value for value in values if type(value) is int]
    if len(whole) + values.count(None) < len(values):
        return False
    return not whole or (ends.low <= min(whole) and max(whole) <= ends.high)


def _holds_numbers(column: ScanColumn, values: Sequence[Value]) -> bool:
    """Whether a column has DOUBLEs that are numbers, or whole numbers of its type, or NULL."""
    if column.fact.type.sql == column.source == "DOUBLE":
        return all(value is None or (type(value) is float and math.isfinite(value)) for value in values)
    return holds_whole_numbers(column, values)


def _unnested(rows: Materialized) -> str | None:
    """Return the SELECT of columns of numbers, each one text that is cast to a list; None of others."""
    columns = []
    if not all(map(_holds_numbers, rows.columns, zip(*rows.rows, strict=True))):
        return None
    for column, values in zip(rows.columns, zip(*rows.rows, strict=True), strict=True):
        listed = ",".join("NULL" if value is None else str(value) for value in values)
        columns.append(f"unnest(CAST('[{listed}]' AS {column.source}[])) AS {quote(column.name)}")
    return f"SELECT {', '.join(columns)}"


_UNNESTED: WeakKeyDictionary[Materialized, str | None] = WeakKeyDictionary()
"""The SQL of rows, for as long as these are there: a query prints the same rows three times."""


class _DuckDB:
    infinity = "'infinity'::DOUBLE"
    inlines = False
    joins_as_written = False

    def number(self, value: float | int) -> str:
        return f"{float(value)!r}::DOUBLE" if math.isfinite(value) else f"'{float(value)!r}'::DOUBLE"

    def real(self, value: int) -> str:
        return f"{value}::DOUBLE"

    def double(self, sql: str) -> str:
        return f"CAST({sql} AS DOUBLE)"

    def wide(self, sql: str) -> str:
        return f"{sql}::HUGEINT"

    def whole(self, sql: str) -> str:
        return f"CAST({sql} AS BIGINT)"

    def cut(self, sql: str) -> str:
        return f"CAST(trunc({sql}) AS BIGINT)"

    def place(self, sql: str) -> str:
        return f"CAST(trunc({sql}) AS INTEGER)"

    def units(self, sql: str) -> str:
        return f"CAST(round({sql}) AS BIGINT)"

    def quotient(self, sql: str, divisor: str) -> str:
        return f"{sql} // {divisor}"

    def microseconds(self, sql: str) -> str:
        return f"epoch_us({sql})"

    def scaled(self, sql: str, factor: float) -> str:
        return f"{sql} * {self.number(factor)}"

    def share(self, sql: str, factor: float) -> str:
        return f"{sql} * {self.number(factor)}"

    def type(self, type: Type) -> str:
        return type.sql

    def literal(self, literal: Literal) -> str:
        return literal_sql(literal)

    def scalar(
        self, scalar: Scalar, lookup: Lookup, column: Callable[[str], str], found: Found | None = None
    ) -> str:
        return sql_of(scalar, lookup, column, found)

    def hints(self, condition: Scalar, lookup: Lookup, column: Callable[[str], str]) -> list[str]:
        return []

    def key(self, sql: str, type: Type) -> str:
        if type.kind is Kind.FLOAT:
            return f"CASE WHEN isnan({sql}) THEN 'nan'::{type.sql} ELSE ({sql}) + 0::{type.sql} END"
        if type.kind is Kind.TIMESTAMP and type.sql != "TIMESTAMP":
            return f"TRY_CAST({sql} AS TIMESTAMP)"
        return sql

    def carried(self, name: str, type: Type) -> str:
        return f"CAST({name} AS VARCHAR) AS {name}" if type.kind in TEXTED else name

    def per_unit(
        self,
        function: str,
        argument: str,
        fact: Fact | None,
        distinct: bool,
        over: str,
        others: Sequence[tuple[str, Fact]],
    ) -> str:
        argument = f"DISTINCT {argument}" if distinct else argument
        return aggregates()[function].per_unit(argument, fact, over, *others)

    def in_order(self, function: str, argument: str, order: str, filtered: str, others: Sequence[str]) -> str:
        return aggregates()[function].ordered_sql(argument, order, filtered, *others)

    def mark(
        self, function: str, argument: str, order: str, kept: Sequence[str], keys: Sequence[str]
    ) -> str | None:
        return None

    def window(self, function: str, arguments: Sequence[str], ignore_nulls: bool) -> str:
        return f"{function}({', '.join(arguments)}{' IGNORE NULLS' if ignore_nulls else ''})"

    def sort_keys(self, sql: str, type: Type) -> list[str]:
        """Of a list, a struct, a map or JSON a query can see the parts.

        DuckDB compares them part by part, and their texts tell apart what compares as equal: 0.0 and -0.0,
        30 days and a month. Of other nested values a query sees only whether there is one.
        """
        match type.kind:
            case Kind.OPAQUE if can_be_opened(type):
                return [sql, f"CAST({sql} AS VARCHAR)"]
            case Kind.OPAQUE:
                return [f"({sql} IS NULL)"]
            case Kind.FLOAT:
                return [sql, f"signbit({sql})"]
            case Kind.INTERVAL | Kind.TEXT:
                return [f"CAST({sql} AS VARCHAR)"]
            case _:
                return [sql]

    def hashed(self, columns: Sequence[str]) -> str:
        return f"hash({', '.join(columns)})"

    def table(self, name: str) -> str:
        return table_sql(name)

    def fixed_rows(self, rows: Materialized) -> str:
        """A timestamp rounded to microseconds may lie beyond the last one of its type: NULL, no failure."""
        if len(rows.rows) > MANY:
            if rows not in _UNNESTED:
                _UNNESTED[rows] = _unnested(rows)
            unnested = _UNNESTED[rows]
            if unnested is not None:
                return unnested
        names = [f"v{i}" for i in range(len(rows.columns))]
        listed = ", ".join(
            f"TRY_CAST({name} AS {column.source}) AS {quote(column.name)}"
            for name, column in zip(names, rows.columns, strict=True)
        )
        given = rows.rows or ((None,) * len(names),)
        values = ", ".join(f"({', '.join(_plain_constant(value) for value in row)})" for row in given)
        tail = "" if rows.rows else " WHERE false"
        return f"SELECT {listed} FROM (VALUES {values}) AS v({', '.join(names)}){tail}"

    def one_sided(self, kept: str, other: str, on: str, anti: bool) -> str:
        return f"SELECT * FROM {kept} {'ANTI' if anti else 'SEMI'} JOIN {other} ON {on}"

    def subquery(self, select: str) -> str:
        return f"({select})"

    def anew(self) -> Dialect:
        return self

    def squares(self, names: Sequence[str]) -> str | None:
        return None

    def with_factors(self, rows: str, factors: str, all_rows: bool) -> str:
        join = "LEFT JOIN" if all_rows else "JOIN"
        return f"{rows} {join} {factors} ON {rows}.u = {factors}.u"

    def octave(self, sql: str) -> str:
        return f"floor(log2({sql}))"

    def summed(self, sql: str) -> str:
        return f"coalesce(sum({sql}), 0)"

    def kept(self, name: str, select: str, again: bool = False) -> str:
        return f"{name} AS {'NOT ' if again else ''}MATERIALIZED ({select})"

    def computed_once(self, select: str) -> str:
        return select

    def all_but(self, table: str, column: str, others: Sequence[str]) -> str:
        return f"{table}.* EXCLUDE ({column})"


DUCKDB: Final[Dialect] = _DuckDB()
