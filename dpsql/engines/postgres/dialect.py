"""PostgreSQL's spelling of a measure.

    wide("n")          CAST(n AS numeric)        scaled("x", 64)    in a CASE: products that underflow raise
    table("people")    (SELECT "id", "ward" COLLATE "C" AS "ward" FROM ONLY "public"."people")

Claim   what is printed raises on no row, and equal units and keys are the same bytes.
Proof   Of cells, norms and factors: dialect.py, and the guard of ``scaled``. Of scalars: functions.py. Every
        text of a table is read in the collation C, which compares bytes, whatever the column's own is.
Test    tests/privacy/test_second_dialect.py, grammar_tests/test_postgres_fixtures.py
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import assert_never

from dpsql.engines.identifiers import TEXTED, quote
from dpsql.engines.postgres.casts import NotVetted, literal_sql, type_sql
from dpsql.engines.postgres.functions import RENDERS
from dpsql.errors import DatabaseError, refuse
from dpsql.functions import Argument, ArgumentError, shelf
from dpsql.functions.core.literals import constant
from dpsql.functions.core.meaning import Lookup, checked, enforced, written
from dpsql.functions.core.printing import LONGEST, Found
from dpsql.functions.core.types import bits, digits
from dpsql.ir.column import Fact, Kind, Type, Value, type_named
from dpsql.ir.relation import Materialized
from dpsql.ir.scalar import Call, Literal, Ref, Scalar

_DAY = re.compile(r"-?infinity|\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"-?infinity|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?")


class Postgres:
    """The dialect of one database: ``tables`` are SELECTs of the columns that are read, by their names."""

    infinity = "CAST('infinity' AS float8)"

    def __init__(self, tables: Mapping[str, str]) -> None:
        self._tables = tables
        self._numbers = itertools.count()

    # ---- numbers -----------------------------------------------------------------------------------

    def number(self, value: float | int) -> str:
        return f"CAST('{float(value)!r}' AS float8)"

    def real(self, value: int) -> str:
        return self.number(value)

    def double(self, sql: str) -> str:
        return f"CAST({sql} AS float8)"

    def wide(self, sql: str) -> str:
        return f"CAST({sql} AS numeric)"

    def whole(self, sql: str) -> str:
        return f"CAST({sql} AS int8)"

    def cut(self, sql: str) -> str:
        return f"CAST(trunc({sql}) AS int8)"

    def scaled(self, sql: str, factor: float) -> str:
        """Below a quarter, all products are rounded to 0: none is computed."""
        product = f"{sql} * {self.number(factor)}"
        large = f"abs({sql}) >= {self.number(0.25 / factor)}"
        return f"CASE WHEN {large} THEN {product} WHEN {sql} IS NOT NULL THEN {self.number(0)} END"

    # ---- scalars and keys --------------------------------------------------------------------------

    def type(self, type: Type) -> str:
        return type_sql(type)

    def literal(self, literal: Literal) -> str:
        return literal_sql(literal)

    def scalar(
        self, scalar: Scalar, lookup: Lookup, column: Callable[[str], str], found: Found | None = None
    ) -> str:
        return _printed(scalar, lookup, column)[0]

    def key(self, sql: str, type: Type) -> str:
        match type.kind:
            case Kind.FLOAT:
                name = type_sql(type)
                nan, zero = f"CAST('NaN' AS {name})", f"CAST(0 AS {name})"
                return f"CASE WHEN {sql} = {nan} THEN {nan} ELSE ({sql}) + {zero} END"
            case Kind.BOOLEAN | Kind.INTEGER | Kind.DECIMAL | Kind.DATE | Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
                return sql
            case Kind.TEXT if type.sql == "VARCHAR":
                return sql
            case _:
                raise NotVetted(f"a key of type {type.said}")

    def carried(self, name: str, type: Type) -> str:
        if type.kind is Kind.FLOAT:  # a float4 is sent with too few digits
            return f"CAST({name} AS float8) AS {name}"
        return f"CAST({name} AS text) AS {name}" if type.kind in TEXTED else name

    def per_unit(
        self,
        function: str,
        argument: str,
        fact: Fact | None,
        distinct: bool,
        over: str,
        others: Sequence[tuple[str, Fact]],
    ) -> str:
        """Counts, sums of whole numbers and numerics, and extremes are the same in any order of the rows."""
        assert not over, "windows are refused before they are printed"
        word = "DISTINCT " if distinct else ""
        if function == "count":
            return f"count({word}{argument})"
        assert fact is not None
        match function, fact.type.kind:
            case "min" | "max", Kind.FLOAT:  # 0.0 and -0.0 tie: adding zero makes them one value
                return f"{function}({argument} + CAST(0 AS {type_sql(fact.type)}))"
            case "min" | "max", Kind.INTEGER | Kind.DECIMAL | Kind.DATE | Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
                return f"{function}({argument})"
            case "min" | "max", Kind.TEXT if fact.type.sql == "VARCHAR":
                return f"{function}({argument})"
            case "sum", Kind.INTEGER if bits(fact.type) <= 64:
                return f"sum({word}{self.wide(argument)})"
            case "sum", Kind.DECIMAL if digits(fact.type)[0] <= 28:
                return f"CAST(sum({word}{argument}) AS numeric(38,{digits(fact.type)[1]}))"
            case "avg", Kind.INTEGER | Kind.DECIMAL:
                total = self.double(self.per_unit("sum", argument, fact, distinct, over, others))
                return f"{total} / nullif(count({word}{argument}), 0)"
            case _:
                raise NotVetted(f"{function} of {fact.type.said} values within a unit")

    # ---- rows --------------------------------------------------------------------------------------

    def table(self, name: str) -> str:
        return f"({self._tables[name]})"

    def fixed_rows(self, rows: Materialized) -> str:
        names = [f"v{i}" for i in range(len(rows.columns))]
        types = [type_named(column.source) for column in rows.columns]
        listed = ", ".join(
            f"{name} AS {quote(column.name)}" for name, column in zip(names, rows.columns, strict=True)
        )
        given = rows.rows or ((None,) * len(names),)
        values = ", ".join(f"({', '.join(map(self._fixed, row, types))})" for row in given)
        tail = "" if rows.rows else " WHERE false"
        return f"SELECT {listed} FROM (VALUES {values}) AS v({', '.join(names)}){tail}"

    def _fixed(self, value: Value, type: Type) -> str:
        """Print a known value; a date that neither Python nor a plain text holds is NULL."""
        if isinstance(value, float):
            return f"CAST('{value!r}' AS {type_sql(type)})" if type.kind is Kind.FLOAT else self._none(type)
        if isinstance(value, int | Decimal) and not isinstance(value, bool) and type.kind is Kind.FLOAT:
            return f"CAST('{float(value)!r}' AS {type_sql(type)})"
        if isinstance(value, str) and type.kind in (Kind.DATE, Kind.TIMESTAMP):
            plain = (_DAY if type.kind is Kind.DATE else _MOMENT).fullmatch(value)
            return f"CAST('{value}' AS {type_sql(type)})" if plain else self._none(type)
        return literal_sql(Literal(value, type))

    def _none(self, type: Type) -> str:
        return f"CAST(NULL AS {type_sql(type)})"

    def one_sided(self, kept: str, other: str, on: str, anti: bool) -> str:
        return f"SELECT * FROM {kept} WHERE {'NOT ' if anti else ''}EXISTS (SELECT 1 FROM {other} WHERE {on})"

    def subquery(self, select: str) -> str:
        return f"({select}) AS s{next(self._numbers)}"

    def all_but(self, table: str, column: str, others: Sequence[str]) -> str:
        return ", ".join(f"{table}.{other}" for other in others)


def refused(what: str, scalar: Scalar | None = None) -> DatabaseError:
    """Return the refusal of what has no vetted text."""
    return refuse(
        "D605",
        f"{what} is not answered on postgresql",
        None if scalar is None else scalar.span,
        label="nothing is known to compute it there without an error on some rows",
        notes=(f"these functions are: {', '.join(name for name in RENDERS if name not in _SIGNS)}",),
        help="ask without it: counts, sums, averages and variances, with joins, filters and groups",
    )


_SIGNS = ("is_distinct_from", "is_not_distinct_from", "is_null", "is_not_null", "negate")
"""Functions that are called by signs and words of other names."""


def _printed(scalar: Scalar, lookup: Lookup, column: Callable[[str], str]) -> tuple[str, Argument]:
    """Print a scalar, with what is known of it by its types alone; one that is not vetted is refused."""
    match scalar:
        case Ref(name):
            return column(name), Argument(enforced(lookup(name)))
        case Literal():
            try:
                return literal_sql(scalar), constant(scalar)
            except NotVetted as error:
                raise refused(error.what, scalar) from None
        case Call(name, scalars, type):
            printed = [_printed(each, lookup, column) for each in scalars]
            arguments = tuple(argument for _, argument in printed)
            known = written(scalar, lookup) or Argument(checked(shelf()[name], arguments, type))
            render = RENDERS.get(name)
            try:
                if render is None:
                    raise NotVetted(f"the function {name}")
                sql = render(tuple(text for text, _ in printed), arguments, type)
            except NotVetted as error:
                raise refused(error.what, scalar) from None
            except ArgumentError:
                raise refused(f"the function {name} of these values", scalar) from None
            if len(sql) > LONGEST:
                raise refuse(
                    "D103",
                    "this expression is too deeply nested",
                    scalar.span,
                    help="compute parts of it in a subquery",
                )
            return sql, known
        case _:
            assert_never(scalar)
