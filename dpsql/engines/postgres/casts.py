"""Constants and conversions on PostgreSQL: a value that does not fit is NULL, and nothing raises.

    DOUBLE -> INTEGER     CASE WHEN round(x) BETWEEN -2147483648 AND 2147483647 THEN CAST(x AS int4) END
    INTEGER -> DOUBLE     CAST(x AS float8)

Claim   no text that is printed here raises on a row, whatever the values are.
Proof   A plain CAST stands where the target holds all values of the source's type: whole numbers in wider
        ones, in numerics with enough digits, in DOUBLE; a DATE of a TIMESTAMP; a text of a value. Any other
        stands in a CASE whose condition is exact: NaN is above all numbers and infinity above all others, so
        that BETWEEN is false for both. ``round`` of a DOUBLE raises on nothing, and is what the cast itself
        rounds to. A condition and its value are computed from one text, which gives the same value twice.
        No text is so long that a regular expression, which takes 4 bytes for each of it, has no room for it:
        each has ``MOST_BYTES`` at most (texts.py).
Test    tests/privacy/test_postgres_functions.py: every pair of types, over values that break engines
"""

from __future__ import annotations

import datetime
import math
from decimal import Decimal

from dpsql.engines.identifiers import text
from dpsql.engines.not_vetted import NotVetted
from dpsql.engines.postgres.types import name_of
from dpsql.functions import Argument
from dpsql.functions.core.conversion import sure
from dpsql.functions.core.literals import coerce
from dpsql.functions.core.types import digits
from dpsql.functions.time.date_arithmetic import interval_parts
from dpsql.ir.column import NULL, Kind, Type, type_range
from dpsql.ir.scalar import Literal

_LAST_DAY = "CAST('294246-12-31' AS date)"
"""A day whose times a TIMESTAMP holds, in DuckDB too. The first day of both types is the same."""


_BLANKS, _DIGITS = r"[ \t\r\n]*", "[0-9]{{1,%s}}([.][0-9]{{0,%s}})?|[.][0-9]{{1,%s}}"
_EXACT = f"^{_BLANKS}[+-]?({_DIGITS % (38, 38, 38)}){_BLANKS}$"
_NAMED = "[iI][nN][fF]([iI][nN][iI][tT][yY])?"
_REAL = (
    f"^{_BLANKS}([+-]?(({_DIGITS % (100, 100, 100)})([eE][+-]?[0-9]{{{{1,2}}}})?|{_NAMED})|[nN][aA][nN])"
    f"{_BLANKS}$"
)
_DAY = "^[0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}}$"
"""Texts of numbers and days that are read, as parts of formulas: no number of these is beyond DOUBLE or
numeric. Others are NULL."""

_SINGLE = (
    "CASE WHEN abs({}) BETWEEN 1.1754944e-38 AND 3.4028234e38 OR {} = 0 OR NOT (abs({}) < 'infinity') "
    "THEN CAST({} AS float4) WHEN abs({}) < 1 THEN 0 END"
)
"""A DOUBLE as a FLOAT, of which those that are not normal are 0."""


_SHORT = 200
"""The most characters of operands that are repeated."""


def type_sql(type: Type) -> str:
    """Return PostgreSQL's name of a type."""
    name = name_of(type)
    if name is None:
        raise NotVetted(f"the type {type.said}")
    return name


def literal_sql(literal: Literal) -> str:
    """Print a constant of this very value and type. Texts compare by their bytes, as columns do."""
    value, target = literal.value, literal.type
    if value is None:
        return "NULL" if target == NULL else f"CAST(NULL AS {type_sql(target)})"
    name = type_sql(target)
    match target.kind, value:
        case Kind.BOOLEAN, bool():
            return "TRUE" if value else "FALSE"
        case Kind.INTEGER, int():
            return f"CAST('{value}' AS {name})"
        case Kind.DECIMAL, int() | Decimal() if Decimal(value).is_finite():
            return f"CAST('{Decimal(value):f}' AS {name})"
        case Kind.FLOAT, int() | float() if math.isfinite(value):
            return f"CAST('{float(value)!r}' AS {name})"
        case Kind.TEXT, str() if target.sql == "VARCHAR" and "\0" not in value:
            return f'(CAST({text(value)} AS text) COLLATE "C")'
        case Kind.DATE, datetime.date() if not isinstance(value, datetime.datetime):
            return f"CAST('{value.isoformat()}' AS date)"
        case Kind.TIMESTAMP, datetime.datetime() if value.tzinfo is None:
            return f"CAST('{value.isoformat(sep=' ')}' AS timestamp)"
        case Kind.TIMESTAMPTZ, datetime.datetime() if value.tzinfo is not None:
            utc = value.astimezone(datetime.UTC).replace(tzinfo=None)
            return f"CAST('{utc.isoformat(sep=' ')}+00' AS timestamptz)"
        case Kind.INTERVAL, str():
            months, days, micros = interval_parts(value)
            return f"CAST('{months} months {days} days {micros} microseconds' AS interval)"
        case _:
            raise NotVetted(f"this constant of type {target.said}")


def converted(sql: str, argument: Argument, target: Type) -> str:
    """Print an argument in the target type; it is NULL where it does not fit."""
    source = argument.type
    if source == target:
        return sql
    if argument.literal is not None:
        read = coerce(argument.literal, target)
        if read is not None:
            return literal_sql(read)
    name = type_sql(target)
    match source.kind, target.kind:
        case Kind.NULL, _:
            return f"CAST(NULL AS {name})"
        case Kind.BOOLEAN, Kind.INTEGER:
            return f"CAST(CAST({sql} AS int4) AS {name})"
        case Kind.BOOLEAN | Kind.INTEGER, Kind.TEXT if target.sql == "VARCHAR":
            return f'(CAST({sql} AS text) COLLATE "C")'
        case ((Kind.INTEGER | Kind.DECIMAL), (Kind.INTEGER | Kind.DECIMAL)):
            return f"CAST({sql} AS {name})" if sure(argument, target) else narrowed(sql, target)
        case ((Kind.INTEGER | Kind.DECIMAL | Kind.FLOAT), Kind.FLOAT) if target.sql == "DOUBLE":
            return f"CAST({sql} AS float8)"
        case Kind.FLOAT, Kind.INTEGER:
            return _whole(f"CAST({sql} AS float8)", target)
        case Kind.FLOAT, Kind.DECIMAL if digits(target)[0] <= 18:
            return _decimal(f"CAST({sql} AS float8)", target)
        case Kind.FLOAT, Kind.FLOAT:
            return once(_SINGLE, sql)
        case Kind.TEXT, Kind.INTEGER | Kind.DECIMAL:
            return once(
                f"CASE WHEN {{}} ~ '{_EXACT}' THEN {narrowed('CAST({} AS numeric)', target)} END", sql
            )
        case Kind.TEXT, Kind.FLOAT if target.sql == "DOUBLE":
            return once(f"CASE WHEN {{}} ~ '{_REAL}' THEN CAST({{}} AS float8) END", sql)
        case Kind.TEXT, Kind.DATE:
            parts = (f"CAST(split_part({{}}, '-', {place}) AS int4)" for place in (1, 2, 3))
            return once(f"CASE WHEN {{}} ~ '{_DAY}' THEN {made_date('1').format(*parts)} END", sql)
        case Kind.TEXT, Kind.TEXT if target.sql == "VARCHAR":
            return sql
        case ((Kind.DATE | Kind.TIMESTAMP | Kind.DECIMAL), Kind.TEXT) if target.sql == "VARCHAR":
            return f"(replace(CAST({sql} AS text), ' BC', ' (BC)') COLLATE \"C\")"
        case Kind.DATE, Kind.TIMESTAMP if target.sql == "TIMESTAMP":
            held = f"{{}} <= {_LAST_DAY} OR {{}} = CAST('infinity' AS date)"
            return once(f"CASE WHEN {held} THEN CAST({{}} AS timestamp) END", sql)
        case Kind.TIMESTAMP, Kind.DATE:
            return f"CAST({sql} AS date)"
        case _:
            raise NotVetted(f"a cast from {source.said} to {target.said}")


def narrowed(sql: str, target: Type) -> str:
    """Print a whole number or numeric in a narrower type, NULL where it does not fit; halves away from 0."""
    name = type_sql(target)
    if target.kind is Kind.INTEGER:
        ends = type_range(target)
        rounded = "round(CAST({} AS numeric))"
        held = f"{rounded} BETWEEN {ends.low} AND {ends.high}"
    else:
        width, scale = digits(target)
        most = f"{'9' * (width - scale) or 0}.{'9' * scale or 0}"
        rounded = f"round(CAST({{}} AS numeric), {scale})"
        held = f"{rounded} BETWEEN -{most} AND {most}"
    return once(f"CASE WHEN {held} THEN CAST({rounded} AS {name}) END", sql)


def _whole(double: str, target: Type) -> str:
    """Print a DOUBLE rounded half to even; the ends are those of DOUBLEs that the type holds."""
    ends = type_range(target)
    if target.sql in ("HUGEINT", "UHUGEINT", "UBIGINT"):
        raise NotVetted(f"a cast from DOUBLE to {target.said}")
    most = math.nextafter(float(ends.high), 0) if float(ends.high) > ends.high else float(ends.high)
    low, high = (f"CAST('{end!r}' AS float8)" for end in (float(ends.low), most))
    return once(
        f"CASE WHEN round({{}}) BETWEEN {low} AND {high} THEN CAST({{}} AS {type_sql(target)}) END", double
    )


def _decimal(double: str, target: Type) -> str:
    """Print a DOUBLE as a numeric: scaled and rounded half to even, as a whole number of 64 bits at most."""
    width, scale = digits(target)
    units = f"{{}} * CAST('1e{scale}' AS float8)"
    held = f"abs({{}}) < CAST('1e{width - scale}' AS float8)"
    exact = f"CAST(CAST({units} AS int8) AS numeric) / {10**scale}"
    return once(f"CASE WHEN {held} THEN {narrowed(exact, target)} END", double)


def made_date(least: str) -> str:
    """Print a date of year, month and day, from a year to 9999; NULL if there is no such day."""
    first = "make_date(CAST({0} AS int4), CAST({1} AS int4), 1)"
    last = f"extract(day FROM {first} + interval '1 month - 1 day')"
    known = f"{{0}} BETWEEN {least} AND 9999 AND {{1}} BETWEEN 1 AND 12 AND {{2}} BETWEEN 1 AND 31"
    day = f"{first} + (CAST({{2}} AS int4) - 1)"
    return f"CASE WHEN {known} THEN CASE WHEN {{2}} <= {last} THEN {day} END END"


def once(form: str, *operands: str) -> str:
    """Print a formula in which operands are repeated; long ones are computed once, in a subquery.

    A text with n operators then has a length of order n, and each operand is computed once in a row.
    """
    form = form.replace("{}", "{0}")
    if sum(map(len, operands)) <= _SHORT:
        return form.format(*operands)
    names = [f"o{place}" for place in range(len(operands))]
    named = ", ".join(f"{sql} AS {name}" for sql, name in zip(operands, names, strict=True))
    return f"(SELECT {form.format(*names)} FROM (SELECT {named} OFFSET 0) AS o)"
