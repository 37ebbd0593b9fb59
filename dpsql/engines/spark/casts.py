"""Constants and conversions on Spark: a value that does not fit is NULL, and nothing raises.

    DOUBLE -> INTEGER     CASE WHEN rint(x) BETWEEN -2147483648 AND 2147483647 THEN CAST(rint(x) AS int) END
    INTEGER -> DOUBLE     CAST(x AS double)

Claim   with ANSI off, no text that is printed here raises on a row, whatever the values are.
Proof   Without ANSI, a cast that fails is NULL, cut or wrapped, and arithmetic wraps or is NULL. Where it
        would be cut or wrapped, the cast stands in a CASE whose condition is exact: NaN is above all numbers,
        so that BETWEEN is false for it. settings.py checks that ANSI is off, before each measure.
Test    tests/privacy/test_spark_functions.py: every pair of types, over values that break engines
"""

from __future__ import annotations

import datetime
import math
from decimal import Decimal

from dpsql.engines.not_vetted import NotVetted
from dpsql.engines.spark.types import name_of
from dpsql.functions import Argument
from dpsql.functions.core.conversion import sure
from dpsql.functions.core.literals import coerce
from dpsql.functions.core.ranges import DAY
from dpsql.functions.core.types import bits, digits
from dpsql.functions.time.date_arithmetic import interval_parts
from dpsql.ir.column import NULL, Kind, Type, type_range
from dpsql.ir.scalar import Literal

_BLANKS, _DIGITS = "[ \\t\\r\\n]*", "[0-9]{{1,%s}}([.][0-9]{{0,%s}})?|[.][0-9]{{1,%s}}"
_EXACT = f"^{_BLANKS}[+-]?({_DIGITS % (38, 38, 38)}){_BLANKS}$"
_NAMED = "[iI][nN][fF]([iI][nN][iI][tT][yY])?"
_REAL = (
    f"^{_BLANKS}([+-]?(({_DIGITS % (100, 100, 100)})([eE][+-]?[0-9]{{{{1,2}}}})?|{_NAMED})|[nN][aA][nN])"
    f"{_BLANKS}$"
)
_DAY = "^[0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}}$"
"""Texts of numbers and days that are read, as parts of formulas. Others are NULL."""

_SINGLE = (
    "CASE WHEN abs({}) BETWEEN 1.1754944e-38D AND 3.4028234e38D OR {} = 0 OR isnan({}) "
    "OR abs({}) = CAST('Infinity' AS double) THEN CAST({} AS float) "
    "WHEN abs({}) < 1 THEN CAST(0 AS float) END"
)
"""A DOUBLE as a FLOAT, of which those that are not normal are 0."""

YEARS = 20_000
"""The most years of an interval: none moves a moment of the calendar out of 64 bits of microseconds."""

_SHORT = 200
"""The most characters of operands that are repeated."""


def type_sql(type: Type) -> str:
    """Return Spark's name of a type."""
    name = name_of(type)
    if name is None:
        raise NotVetted(f"the type {type.said}")
    return name


def text_sql(value: str) -> str:
    """Print a text: by its bytes where a letter of it could mean something else in a constant."""
    if value.isascii() and value.isprintable() and not {"'", '"', "\\", "`"} & {*value}:
        return f"'{value}'"
    return f"decode(unhex('{value.encode().hex()}'), 'UTF-8')"


def literal_sql(literal: Literal) -> str:
    """Print a constant of this very value and type."""
    value, target = literal.value, literal.type
    if value is None:
        return "NULL" if target == NULL else f"CAST(NULL AS {type_sql(target)})"
    if target.kind is Kind.INTERVAL and isinstance(value, str):
        months, days, micros = interval_parts(value)
        if max(abs(months) / 12, abs(days) / 365, abs(micros) / (365 * DAY)) > YEARS:
            raise NotVetted("so long an interval")
        seconds = f"CAST('{Decimal(micros) / 1_000_000:f}' AS decimal(18,6))"
        return f"make_interval(0, {months}, 0, {days}, 0, 0, {seconds})"
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
        case Kind.TEXT, str() if target.sql == "VARCHAR":
            return text_sql(value)
        case Kind.DATE, datetime.date() if not isinstance(value, datetime.datetime):
            return f"CAST('{value.isoformat()}' AS date)"
        case Kind.TIMESTAMP, datetime.datetime() if value.tzinfo is None:
            return f"CAST('{value.isoformat(sep=' ')}' AS timestamp_ntz)"
        case Kind.TIMESTAMPTZ, datetime.datetime() if value.tzinfo is not None:
            utc = value.astimezone(datetime.UTC).replace(tzinfo=None)
            return f"CAST('{utc.isoformat(sep=' ')}+00:00' AS timestamp)"
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
            return f"CAST({sql} AS {name})"
        case Kind.BOOLEAN | Kind.INTEGER, Kind.TEXT if target.sql == "VARCHAR":
            return f"CAST({sql} AS string)"
        case ((Kind.INTEGER | Kind.DECIMAL), (Kind.INTEGER | Kind.DECIMAL)):
            return f"CAST({sql} AS {name})" if sure(argument, target) else narrowed(sql, target)
        case ((Kind.INTEGER | Kind.DECIMAL | Kind.FLOAT), Kind.FLOAT) if target.sql == "DOUBLE":
            return f"CAST({sql} AS double)"
        case Kind.FLOAT, Kind.INTEGER:
            return _whole(f"CAST({sql} AS double)", target)
        case Kind.FLOAT, Kind.DECIMAL if digits(target)[0] <= 18:
            return _decimal(f"CAST({sql} AS double)", target)
        case Kind.FLOAT, Kind.FLOAT:
            return once(_SINGLE, sql)
        case Kind.TEXT, Kind.INTEGER if bits(target) <= 64:
            read_sql = narrowed("CAST(trim({}) AS decimal(38,18))", target)
            return once(f"CASE WHEN {{}} RLIKE {_pattern(_EXACT)} THEN {read_sql} END", sql)
        case Kind.TEXT, Kind.DECIMAL:
            return once(f"CASE WHEN {{}} RLIKE {_pattern(_EXACT)} THEN CAST({{}} AS {name}) END", sql)
        case Kind.TEXT, Kind.FLOAT if target.sql == "DOUBLE":
            return once(f"CASE WHEN {{}} RLIKE {_pattern(_REAL)} THEN CAST({{}} AS double) END", sql)
        case Kind.TEXT, Kind.DATE:
            parts = (f"CAST(split_part({{}}, '-', {place}) AS int)" for place in (1, 2, 3))
            made = made_date("1").format(*parts)
            return once(f"CASE WHEN {{}} RLIKE {_pattern(_DAY)} THEN {made} END", sql)
        case Kind.TEXT, Kind.TEXT if target.sql == "VARCHAR":
            return sql
        case ((Kind.DATE | Kind.TIMESTAMP), Kind.TEXT) if target.sql == "VARCHAR":
            return f"CAST({sql} AS string)"
        case Kind.DECIMAL, Kind.TEXT if target.sql == "VARCHAR" and digits(source)[1] <= 6:
            return f"CAST({sql} AS string)"  # of more digits after the point, Java prints powers of ten
        case Kind.DATE, Kind.TIMESTAMP if target.sql == "TIMESTAMP":
            return f"CAST({sql} AS timestamp_ntz)"
        case Kind.TIMESTAMP, Kind.DATE if source.sql == "TIMESTAMP":
            return f"CAST({sql} AS date)"
        case _:
            raise NotVetted(f"a cast from {source.said} to {target.said}")


def _pattern(form: str) -> str:
    """Print a regular expression, part of a formula; letters behind a backslash are those themselves."""
    return "'" + form.replace("\\", "\\\\") + "'"


def narrowed(sql: str, target: Type) -> str:
    """Print a whole number or decimal in a narrower type, NULL where it does not fit; halves away from 0."""
    name = type_sql(target)
    if target.kind is not Kind.INTEGER or bits(target) > 64:
        return f"CAST({sql} AS {name})"  # NULL where it does not fit
    ends = type_range(target)
    held = f"{{}} BETWEEN {ends.low} AND {ends.high}"
    return once(f"CASE WHEN {held} THEN CAST({{}} AS {name}) END", f"CAST({sql} AS decimal(38,0))")


def _whole(double: str, target: Type) -> str:
    """Print a DOUBLE rounded half to even; the ends are those of DOUBLEs that the type holds."""
    ends = type_range(target)
    most = math.nextafter(float(ends.high), 0) if float(ends.high) > ends.high else float(ends.high)
    low, high = (f"CAST('{end!r}' AS double)" for end in (float(ends.low), most))
    held = f"{{}} BETWEEN {low} AND {high}"
    return once(f"CASE WHEN {held} THEN CAST({{}} AS {type_sql(target)}) END", f"rint({double})")


def _decimal(double: str, target: Type) -> str:
    """Print a DOUBLE as a decimal: scaled and rounded half to even, as a whole number of 64 bits at most."""
    width, scale = digits(target)
    units = f"CAST(rint({{}} * CAST('1e{scale}' AS double)) AS bigint)"
    exact = f"CAST({units} AS decimal(19,0)) * CAST('1e-{scale}' AS decimal(18,{scale}))"
    held = f"abs({{}}) < CAST('1e{width - scale}' AS double)"
    return once(f"CASE WHEN {held} THEN {narrowed(exact, target)} END", double)


def made_date(least: str) -> str:
    """Print a date of year, month and day, from a year to 9999; NULL if there is no such day."""
    return f"CASE WHEN {{0}} BETWEEN {least} AND 9999 THEN make_date({{0}}, {{1}}, {{2}}) END"


def once(form: str, *operands: str) -> str:
    """Print a formula in which operands are repeated; long ones are computed once, as items of an array.

    A text with n operators then has a length of order n, and each operand is computed once in a row.
    """
    form = form.replace("{}", "{0}")
    if sum(map(len, operands)) <= _SHORT:
        return form.format(*operands)
    names = [f"o.o{place}" for place in range(len(operands))]
    named = ", ".join(f"'o{place}', {sql}" for place, sql in enumerate(operands))
    return f"get(transform(array(named_struct({named})), o -> {form.format(*names)}), 0)"
