"""Constants and conversions on PostgreSQL: a value that does not fit is NULL, and nothing raises.

    DOUBLE -> INTEGER     CASE WHEN round(x) BETWEEN -2147483648 AND 2147483647 THEN CAST(x AS int4) END
    INTEGER -> DOUBLE     CAST(x AS float8)

Claim   no text that is printed here raises on a row, whatever the values are.
Proof   A plain CAST stands where the target holds all values of the source's type: whole numbers in wider
        ones, in numerics with enough digits, in DOUBLE; a DATE of a TIMESTAMP. Any other stands in a CASE
        whose condition is exact: NaN is above all numbers and infinity above all others, so that BETWEEN is
        false for both. ``round`` of a DOUBLE raises on nothing, and is what the cast itself rounds to. A
        condition and its value are computed from the same text, which gives the same value twice.
Test    tests/privacy/test_postgres_functions.py: every pair of types, over values that break engines
"""

from __future__ import annotations

import datetime
import math
from decimal import Decimal

from dpsql.engines.identifiers import text
from dpsql.engines.postgres.types import name_of
from dpsql.functions import Argument
from dpsql.functions.core.conversion import sure
from dpsql.functions.core.literals import coerce
from dpsql.functions.core.types import digits
from dpsql.ir.column import NULL, Kind, Type, type_range
from dpsql.ir.scalar import Literal

_LAST_DAY = "CAST('294246-12-31' AS date)"
"""A day whose times a TIMESTAMP holds, in DuckDB too. The first day of both types is the same."""


_SHORT = 200
"""The most characters of operands that are repeated."""


class NotVetted(Exception):
    """Nothing is known to print this so that it raises on no row; ``what`` names it."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


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
