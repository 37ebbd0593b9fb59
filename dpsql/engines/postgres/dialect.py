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
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal

from dpsql.aggregates import shelf as aggregates
from dpsql.aggregates.sum import grid_of
from dpsql.engines.identifiers import TEXTED
from dpsql.engines.not_vetted import NotVetted
from dpsql.engines.number_sql import added_sql, clamped_sql
from dpsql.engines.postgres.casts import literal_sql, type_sql
from dpsql.engines.postgres.functions import RENDERS
from dpsql.engines.postgres.moments import zone_sql
from dpsql.engines.vetted_rows import spelled_rows
from dpsql.engines.vetted_scalars import printed
from dpsql.errors import DatabaseError, refuse
from dpsql.functions import Arguments
from dpsql.functions.core.meaning import Lookup, fact_of
from dpsql.functions.core.printing import Found
from dpsql.functions.core.types import bits, digits
from dpsql.ir.column import Fact, Kind, Type, Value
from dpsql.ir.relation import Materialized
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, conjuncts, refs

_SUMMED = 1e280
"""Sums of as many DOUBLEs of this size as there are rows are DOUBLEs."""

_DAY = re.compile(r"-?infinity|\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"-?infinity|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?")

_PICKING = ("first", "last", "any_value")
"""What picks one row of a group (``in_order`` of aggregates)."""


class Postgres:
    """The dialect of one database: ``tables`` are SELECTs of the columns that are read, by their names.

    ``zones`` returns the time zones that the server knows.
    """

    infinity = "CAST('infinity' AS float8)"
    inlines = True
    joins_as_written = False

    def __init__(self, tables: Mapping[str, str], zones: Callable[[], Collection[str]] = tuple) -> None:
        self._tables, self._zones = tables, zones
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

    def place(self, sql: str) -> str:
        return f"CAST(trunc({sql}) AS int4)"

    def units(self, sql: str) -> str:
        return self.whole(sql)

    def quotient(self, sql: str, divisor: str) -> str:
        return f"{sql} / {divisor}"

    def microseconds(self, sql: str) -> str:
        return f"CAST(extract(epoch FROM {sql}) * 1000000 AS int8)"

    def share(self, sql: str, factor: float) -> str:
        """Products of what is printed here, four at most, do not underflow."""
        large = f"abs({sql}) >= {self.number(2.0**-200 / factor)}"
        product = f"{sql} * {self.number(factor)}"
        return f"(CASE WHEN {large} THEN {product} WHEN {sql} IS NOT NULL THEN {self.number(0)} END)"

    def scaled(self, sql: str, factor: float) -> str:
        """Below a quarter, all products are rounded to 0: none is computed that could underflow.

        A product with 1 or more is no smaller than the number, and none is 0 but that of 0.
        """
        product = f"{sql} * {self.number(factor)}"
        if factor >= 1:
            return product
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
        return printed(scalar, lookup, column, literal_sql, self._called, refused, found)[0]

    def hints(self, condition: Scalar, lookup: Lookup, column: Callable[[str], str]) -> list[str]:
        """A day is compared with a moment as it is, too: the planner knows nothing of a CASE.

        PostgreSQL's own comparison of the two raises on nothing, and is that of the moments at midnight.
        """
        hints = []
        for part in conjuncts(condition):
            if isinstance(part, Call) and part.function in ("=", "<", "<=", ">", ">="):
                day, moment = part.arguments
                of_day = isinstance(day, Ref) and lookup(day.name).type.kind is Kind.DATE
                if of_day and not refs(moment) and fact_of(moment, lookup).type.sql == "TIMESTAMP":
                    sides = (self.scalar(side, lookup, column) for side in (day, moment))
                    hints.append(f" {part.function} ".join(sides))
        return hints

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
        """Counts, sums of whole numbers, numerics and grid steps, and extremes: the same in any order."""
        word = "DISTINCT " if distinct else ""
        if function == "count":
            return f"count({word}{argument}){over}"
        assert fact is not None
        match function, fact.type.kind:
            case "min" | "max", Kind.FLOAT:  # 0.0 and -0.0 tie: adding zero makes them one value
                return f"{function}({argument} + CAST(0 AS {type_sql(fact.type)})){over}"
            case "min" | "max", Kind.INTEGER | Kind.DECIMAL | Kind.DATE | Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
                return f"{function}({argument}){over}"
            case "min" | "max", Kind.TEXT if fact.type.sql == "VARCHAR":
                return f"{function}({argument}){over}"
            case "bool_and" | "bool_or", Kind.BOOLEAN:
                return f"{function}({argument}){over}"
            case "sum", Kind.INTEGER if bits(fact.type) <= 64:
                return f"sum({word}{self.wide(argument)}){over}"
            case "sum", Kind.DECIMAL if digits(fact.type)[0] <= 28:
                return f"CAST(sum({word}{argument}){over} AS numeric(38,{digits(fact.type)[1]}))"
            case "sum" | "avg", Kind.FLOAT:
                return self._sum_of_steps(function, argument, fact, word, over)
            case "avg", Kind.INTEGER | Kind.DECIMAL:
                total = self.double(self.per_unit("sum", argument, fact, distinct, over, others))
                return f"{total} / nullif(count({word}{argument}){over}, 0)"
            case _:
                raise NotVetted(f"{function} of {fact.type.said} values within a unit")

    def _called(self, name: str, texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        if name == "timezone":
            zone = arguments[1].literal
            if zone is None or zone.value not in self._zones():
                raise NotVetted("this time zone")
            return zone_sql(texts[0], arguments[0], str(zone.value))
        render = RENDERS.get(name)
        if render is None:
            raise NotVetted(f"the function {name}")
        return render(texts, arguments, type)

    def _sum_of_steps(self, function: str, argument: str, fact: Fact, word: str, over: str) -> str:
        """DOUBLEs in whole steps of a grid add up to the same in any order."""
        step, low, high = grid_of(fact)
        if max(abs(low), abs(high)) > _SUMMED:
            raise NotVetted(f"{function} of so wide a range within a unit")
        value = argument if fact.type.sql == "DOUBLE" else self.double(argument)
        cell = self.whole(self.scaled(f"({clamped_sql(value, low, high, dialect=self)})", 1 / step))
        total = f"{self.double(f'sum({word}{self.wide(cell)}){over}')} * {self.number(step)}"
        return total if function == "sum" else f"{total} / nullif(count({word}{cell}){over}, 0)"

    def in_order(self, function: str, argument: str, order: str, filtered: str, others: Sequence[str]) -> str:
        """The value in the row that is marked: an array of one."""
        if aggregates()[function].in_order not in _PICKING:
            raise NotVetted(f"{function} within a unit")
        return f"(array_agg({argument}){filtered})[1]"

    def mark(
        self, function: str, argument: str, order: str, kept: Sequence[str], keys: Sequence[str]
    ) -> str | None:
        """The first or the last row in an order by all that a query can see, of those that are kept.

        Claim   one row of a group is marked if any is kept, and none otherwise; nothing fails on any rows.
        Proof   The rows of a part have one group and all are kept, or none is: their numbers run from one to
                their count, so one of them is numbered so. What is aggregated is then one value: an array of
                all values of a group fails beyond a gigabyte, which would tell of a unit with many long
                texts. A window spills.
        Test    tests/privacy/test_postgres.py
        """
        if (rule := aggregates()[function].in_order) not in _PICKING:
            return None
        if rule == "any_value":
            kept = [*kept, f"({argument}) IS NOT NULL"]
        meets = f"coalesce({' AND '.join(kept)}, false)" if kept else ""
        parts = ", ".join([*keys, meets] if meets else keys)
        over = f"PARTITION BY {parts}" if parts else ""
        place = f"count(*) OVER ({over})" if rule == "last" else "1"
        return f"{f'{meets} AND ' if meets else ''}row_number() OVER ({over}{order}) = {place}"

    def window(self, function: str, arguments: Sequence[str], ignore_nulls: bool) -> str:
        if ignore_nulls:
            raise NotVetted("IGNORE NULLS")
        return f"{function}({', '.join(arguments)})"

    def sort_keys(self, sql: str, type: Type) -> list[str]:
        """-0.0 and 0.0 tie: as texts they do not."""
        match type.kind:
            case Kind.FLOAT:
                return [sql, f'CAST({sql} AS text) COLLATE "C"']
            case Kind.BOOLEAN | Kind.INTEGER | Kind.DECIMAL | Kind.DATE | Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
                return [sql]
            case Kind.TEXT if type.sql == "VARCHAR":
                return [sql]
            case _:
                raise NotVetted(f"an order of {type.said} values")

    def hashed(self, columns: Sequence[str]) -> str:
        return f"hash_record_extended(ROW({', '.join(columns)}), 0)"

    # ---- rows --------------------------------------------------------------------------------------

    def table(self, name: str) -> str:
        return f"({self._tables[name]})"

    def fixed_rows(self, rows: Materialized) -> str:
        return spelled_rows(rows, self._fixed)

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

    def anew(self) -> Postgres:
        return Postgres(self._tables, self._zones)

    def squares(self, names: Sequence[str]) -> str | None:
        """Numerics are slow: x = 2^25 a + b has the square 2^50 a^2 + 2^26 a b + b^2, all in 64 bits.

        Of 4,096 numbers up to 2^50 each of the three adds up to 2^62 at most; int8s are added up exactly.
        """
        if len(names) > 4096:
            return None
        names = [f"CAST({name} AS int8)" for name in names]
        high, low = ([f"({name} {part})" for name in names] for part in ("/ 33554432", "% 33554432"))
        parts = (
            (2**50, [f"{a} * {a}" for a in high]),
            (2**26, [f"{a} * {b}" for a, b in zip(high, low, strict=True)]),
            (1, [f"{b} * {b}" for b in low]),
        )
        return " + ".join(f"sum({added_sql(products)}) * {factor}" for factor, products in parts)

    def with_factors(self, rows: str, factors: str, all_rows: bool) -> str:
        """A FULL JOIN hashes or sorts, however few rows the planner expects; no row of factors is alone."""
        return f"{rows} FULL JOIN {factors} ON {rows}.u = {factors}.u"

    def octave(self, sql: str) -> str:
        return f"floor(ln({sql}) * {self.number(1 / math.log(2))} - {self.number(1e-9)})"

    def summed(self, sql: str) -> str:
        return f"coalesce(sum({sql}), 0)"

    def kept(self, name: str, select: str, again: bool = False) -> str:
        return f"{name} AS {'NOT ' if again else ''}MATERIALIZED ({select})"

    def computed_once(self, select: str) -> str:
        """PostgreSQL writes the columns of a subquery into what reads them, unless it has an OFFSET."""
        return f"{select} OFFSET 0"

    def all_but(self, table: str, column: str, others: Sequence[str]) -> str:
        return ", ".join(f"{table}.{other}" for other in others)


def refused(what: str, scalar: Scalar | None = None) -> DatabaseError:
    """Return the refusal of what has no vetted text."""
    return refuse(
        "D605",
        f"{what} is not answered on postgresql",
        None if scalar is None else scalar.span,
        label="nothing is known to compute it there without an error on some rows",
        notes=() if scalar is None else (f"these functions are: {', '.join(_NAMED)}",),
        help="ask without it; docs/engines.md lists what is answered there",
    )


_SIGNS = ("is_distinct_from", "is_not_distinct_from", "is_null", "is_not_null", "negate")
"""Functions that are called by signs and words of other names."""

_NAMED = tuple(sorted(name for name in RENDERS if name not in _SIGNS))
