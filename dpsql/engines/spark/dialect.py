"""Spark's spelling of a measure.

    wide("n")          CAST(n AS decimal(38,0))      whole("x")    CAST(rint(x) AS bigint)
    summed("g0")       coalesce(sum(CAST(g0 AS decimal(38,0))), 0)

Claim   what is printed raises on no row, every sum is exact, and equal units and keys are the same bytes.
Proof   With ANSI off nothing raises (settings.py). A sum of BIGINTs would wrap: each is a decimal of 38
        digits first, which 10^19 rows do not fill. A square of a cell has 31 digits; the sum of those of a
        unit with more than 7 * 10^7 cells may be NULL, and such a unit's factor is 0 (measure_sql.py).
        A cast to BIGINT cuts, so that ``rint`` rounds before it, half to even. Texts are UTF8_BINARY.
Test    tests/privacy/test_spark.py
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal

from dpsql.aggregates.sum import grid_of
from dpsql.engines.dialect import MANY, holds_whole_numbers
from dpsql.engines.identifiers import quote
from dpsql.engines.not_vetted import NotVetted
from dpsql.engines.number_sql import clamped_sql
from dpsql.engines.spark.casts import literal_sql, type_sql
from dpsql.engines.spark.functions import RENDERS
from dpsql.engines.spark.moments import zone_sql
from dpsql.engines.vetted_rows import spelled_rows
from dpsql.engines.vetted_scalars import printed
from dpsql.errors import DatabaseError, refuse
from dpsql.functions import Arguments
from dpsql.functions.core.meaning import Lookup
from dpsql.functions.core.printing import Found
from dpsql.functions.core.types import bits, digits
from dpsql.ir.column import Fact, Kind, Type, Value, type_named
from dpsql.ir.relation import Materialized
from dpsql.ir.scalar import Literal, Scalar

_SUMMED = 1e280
"""Sums of as many DOUBLEs of this size as there are rows are DOUBLEs."""

_PLAIN = (Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ)


class Spark:
    """The dialect of one session: ``tables`` are SELECTs of the columns that are read, by their names.

    ``zones`` returns the time zones that Java knows.
    """

    infinity = "CAST('Infinity' AS double)"
    inlines = False
    joins_as_written = True

    def __init__(self, tables: Mapping[str, str], zones: Callable[[], Collection[str]] = tuple) -> None:
        self._tables, self._zones = tables, zones
        self._numbers = itertools.count()

    # ---- numbers -----------------------------------------------------------------------------------

    def number(self, value: float | int) -> str:
        return f"CAST('{float(value)!r}' AS double)"

    def real(self, value: int) -> str:
        return self.number(value)

    def double(self, sql: str) -> str:
        return f"CAST({sql} AS double)"

    def wide(self, sql: str) -> str:
        return f"CAST({sql} AS decimal(38,0))"

    def whole(self, sql: str) -> str:
        return f"CAST(rint({sql}) AS bigint)"

    def cut(self, sql: str) -> str:
        return f"CAST({sql} AS bigint)"

    def place(self, sql: str) -> str:
        return f"CAST({sql} AS int)"

    def units(self, sql: str) -> str:
        return self.whole(sql)

    def quotient(self, sql: str, divisor: str) -> str:
        return f"({sql} div {divisor})"

    def microseconds(self, sql: str) -> str:
        return f"unix_micros(CAST({sql} AS timestamp))"

    def scaled(self, sql: str, factor: float) -> str:
        return f"{sql} * {self.number(factor)}"

    def share(self, sql: str, factor: float) -> str:
        return self.scaled(sql, factor)

    def squares(self, names: Sequence[str]) -> str | None:
        return None

    def with_factors(self, rows: str, factors: str, all_rows: bool) -> str:
        return f"{rows} {'LEFT JOIN' if all_rows else 'JOIN'} {factors} ON {rows}.u = {factors}.u"

    def octave(self, sql: str) -> str:
        return self.double(f"floor(ln({sql}) * {self.number(1 / math.log(2))} - {self.number(1e-9)})")

    def summed(self, sql: str) -> str:
        return f"coalesce(sum({self.wide(sql)}), 0)"

    # ---- scalars and keys --------------------------------------------------------------------------

    def type(self, type: Type) -> str:
        return type_sql(type)

    def literal(self, literal: Literal) -> str:
        return literal_sql(literal)

    def scalar(
        self, scalar: Scalar, lookup: Lookup, column: Callable[[str], str], found: Found | None = None
    ) -> str:
        return printed(scalar, lookup, column, literal_sql, self._called, refused, found)[0]

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

    def hints(self, condition: Scalar, lookup: Lookup, column: Callable[[str], str]) -> list[str]:
        return []

    def key(self, sql: str, type: Type) -> str:
        if type.kind is Kind.FLOAT:
            name = type_sql(type)
            return f"CASE WHEN isnan({sql}) THEN CAST('NaN' AS {name}) ELSE ({sql}) + CAST(0 AS {name}) END"
        if type.kind in _PLAIN or type.sql == "VARCHAR":
            return sql
        raise NotVetted(f"a key of type {type.said}")

    def carried(self, name: str, type: Type) -> str:
        if type.kind is Kind.TIMESTAMPTZ:
            return f"concat(CAST({name} AS string), '+00') AS {name}"
        if type.kind in (Kind.DATE, Kind.TIMESTAMP):
            return f"CAST({name} AS string) AS {name}"
        return f"CAST({name} AS double) AS {name}" if type.kind is Kind.FLOAT else name

    def per_unit(
        self,
        function: str,
        argument: str,
        fact: Fact | None,
        distinct: bool,
        over: str,
        others: Sequence[tuple[str, Fact]],
    ) -> str:
        """Counts, sums of whole numbers, decimals and grid steps, and extremes: the same in any order."""
        word = "DISTINCT " if distinct else ""
        if function == "count":
            return f"count({word}{argument}){over}"
        assert fact is not None
        match function, fact.type.kind:
            case "min" | "max", Kind.FLOAT:  # 0.0 and -0.0 tie: adding zero makes them one value
                return f"{function}({argument} + CAST(0 AS {type_sql(fact.type)})){over}"
            case "min" | "max", _ if fact.type.kind in _PLAIN or fact.type.sql == "VARCHAR":
                return f"{function}({argument}){over}"
            case "bool_and" | "bool_or", Kind.BOOLEAN:
                return f"{function}({argument}){over}"
            case "sum", Kind.INTEGER if bits(fact.type) <= 64:
                return f"sum({word}{self.wide(argument)}){over}"
            case "sum", Kind.DECIMAL if digits(fact.type)[0] <= 28:
                return f"sum({word}CAST({argument} AS decimal(38,{digits(fact.type)[1]}))){over}"
            case "sum" | "avg", Kind.FLOAT:
                return self._sum_of_steps(function, argument, fact, word, over)
            case "avg", Kind.INTEGER | Kind.DECIMAL:
                total = self.double(self.per_unit("sum", argument, fact, distinct, over, others))
                return f"{total} / nullif(count({word}{argument}){over}, 0)"
            case _:
                raise NotVetted(f"{function} of {fact.type.said} values within a unit")

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
        raise NotVetted(f"{function} within a unit")  # Spark's lists have no order of their own

    def mark(
        self, function: str, argument: str, order: str, kept: Sequence[str], keys: Sequence[str]
    ) -> str | None:
        return None

    def window(self, function: str, arguments: Sequence[str], ignore_nulls: bool) -> str:
        if ignore_nulls:
            raise NotVetted("IGNORE NULLS")
        return f"{function}({', '.join(arguments)})"

    def sort_keys(self, sql: str, type: Type) -> list[str]:
        """-0.0 and 0.0 tie: as texts they do not."""
        if type.kind is Kind.FLOAT:
            return [sql, f"CAST({sql} AS string)"]
        if type.kind in _PLAIN or type.sql == "VARCHAR":
            return [sql]
        raise NotVetted(f"an order of {type.said} values")

    def hashed(self, columns: Sequence[str]) -> str:
        """NULL leaves Spark's hash as it is: whether one is there is hashed too."""
        return f"xxhash64({', '.join([*columns, *(f'{column} IS NULL' for column in columns)])})"

    # ---- rows --------------------------------------------------------------------------------------

    def table(self, name: str) -> str:
        return f"({self._tables[name]})"

    def fixed_rows(self, rows: Materialized) -> str:
        whole = map(holds_whole_numbers, rows.columns, zip(*rows.rows, strict=True))
        if len(rows.rows) > MANY and all(whole):
            return _exploded(rows)
        return spelled_rows(rows, self._fixed)

    def _fixed(self, value: Value, type: Type) -> str:
        """Print a known value; a moment that no constant holds is NULL."""
        if isinstance(value, float) and type.kind is Kind.FLOAT:
            return f"CAST('{value!r}' AS {type_sql(type)})"
        if isinstance(value, int | Decimal) and not isinstance(value, bool) and type.kind is Kind.FLOAT:
            return f"CAST('{float(value)!r}' AS {type_sql(type)})"
        if isinstance(value, str) and type.kind in (Kind.DATE, Kind.TIMESTAMP):
            plain = len(value) >= 10 and value[:4].isdigit() and value[4] == "-" and "(" not in value
            return (
                f"CAST({literal_sql(Literal(value, type_named('VARCHAR')))} AS {type_sql(type)})"
                if (plain and value.isascii())
                else f"CAST(NULL AS {type_sql(type)})"
            )
        return literal_sql(Literal(value, type))

    def one_sided(self, kept: str, other: str, on: str, anti: bool) -> str:
        return f"SELECT * FROM {kept} LEFT {'ANTI' if anti else 'SEMI'} JOIN {other} ON {on}"

    def subquery(self, select: str) -> str:
        return f"({select}) AS s{next(self._numbers)}"

    def anew(self) -> Spark:
        return Spark(self._tables, self._zones)

    def kept(self, name: str, select: str, again: bool = False) -> str:
        return f"{name} AS ({select})"  # Spark keeps nothing: each reader computes it, to the same rows

    def computed_once(self, select: str) -> str:
        return select

    def all_but(self, table: str, column: str, others: Sequence[str]) -> str:
        return ", ".join(f"{table}.{other}" for other in others)


def _exploded(rows: Materialized) -> str:
    """Print rows of whole numbers as one text, which Spark analyses at once; of VALUES it analyses each."""
    text = ",".join(" ".join("-" if value is None else str(value) for value in row) for row in rows.rows)
    names = [
        f"CAST(split_part(v, ' ', {place}) AS {type_sql(type_named(column.source))}) AS {quote(column.name)}"
        for place, column in enumerate(rows.columns, 1)
    ]
    return f"SELECT {', '.join(names)} FROM (SELECT explode(split('{text}', ',')) AS v) AS r"


_SIGNS = ("is_distinct_from", "is_not_distinct_from", "is_null", "is_not_null", "negate")
"""Functions that are called by signs and words of other names."""

_NAMED = tuple(sorted(name for name in (*RENDERS, "timezone") if name not in _SIGNS))


def refused(what: str, scalar: Scalar | None = None) -> DatabaseError:
    """Return the refusal of what has no vetted text."""
    return refuse(
        "D605",
        f"{what} is not answered on spark",
        None if scalar is None else scalar.span,
        label="nothing is known to compute it there without an error on some rows",
        notes=() if scalar is None else (f"these functions are: {', '.join(_NAMED)}",),
        help="ask without it; docs/engines.md lists what is answered there",
    )


def backquoted(sql: str) -> str:
    """Print names as Spark quotes them; no constant of this dialect has a double quote in it."""
    parts = sql.split('"')
    assert len(parts) % 2 == 1, "quotes come in pairs"
    assert not any("`" in part for part in parts), "no name and no constant has a backquote"
    return "`".join(parts)
