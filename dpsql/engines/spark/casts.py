"""Constants and conversions on Spark: a value that does not fit is NULL, and nothing raises.

    DOUBLE -> INTEGER     CASE WHEN rint(x) BETWEEN -2147483648 AND 2147483647 THEN CAST(rint(x) AS int) END
    INTEGER -> DOUBLE     CAST(x AS double)

Claim   with ANSI off, no text that is printed here raises on a row, whatever the values are.
Proof   Without ANSI, a cast that fails is NULL, cut or wrapped, and arithmetic wraps or is NULL. Where it
        would be cut or wrapped, the cast stands in a CASE whose condition is exact: NaN is above all numbers,
        so that BETWEEN is false for it. settings.py checks that ANSI is off, before each measure.
Test    tests/privacy/test_spark.py: every pair of types, over values that break engines
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
from dpsql.ir.column import NULL, Kind, Type, type_range
from dpsql.ir.scalar import Literal


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
        case Kind.DATE, Kind.TIMESTAMP if target.sql == "TIMESTAMP":
            return f"CAST({sql} AS timestamp_ntz)"
        case Kind.TIMESTAMP, Kind.DATE if source.sql == "TIMESTAMP":
            return f"CAST({sql} AS date)"
        case _:
            raise NotVetted(f"a cast from {source.said} to {target.said}")


def narrowed(sql: str, target: Type) -> str:
    """Print a whole number or decimal in a narrower type, NULL where it does not fit; halves away from 0."""
    name = type_sql(target)
    if target.kind is not Kind.INTEGER:
        return f"CAST({sql} AS {name})"  # NULL where it does not fit
    ends = type_range(target)
    rounded = f"round(CAST({sql} AS {'decimal(38,10)' if '.' in sql else 'decimal(38,0)'}), 0)"
    return f"CASE WHEN {rounded} BETWEEN {ends.low} AND {ends.high} THEN CAST({rounded} AS {name}) END"


def _whole(double: str, target: Type) -> str:
    """Print a DOUBLE rounded half to even; the ends are those of DOUBLEs that the type holds."""
    ends = type_range(target)
    most = math.nextafter(float(ends.high), 0) if float(ends.high) > ends.high else float(ends.high)
    low, high = (f"CAST('{end!r}' AS double)" for end in (float(ends.low), most))
    rounded = f"rint({double})"
    return f"CASE WHEN {rounded} BETWEEN {low} AND {high} THEN CAST({rounded} AS {type_sql(target)}) END"
