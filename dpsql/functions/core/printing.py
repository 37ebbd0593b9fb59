"""SQL of scalars; it raises on no data.

    Call("+", (Ref("a"), Ref("b")))    TRY_CAST((CAST("a" AS BIGINT) + CAST("b" AS BIGINT)) AS INTEGER)

Every function renders a total expression, so TRY is not used (see the docstring of the package).
Arguments are put in parentheses where needed.

``found`` may give the range of all values of a column of whole numbers or decimals: sums, differences and
products of them that cannot overflow are then printed without a guard.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias, assert_never

from dpsql.errors import refuse
from dpsql.functions import Argument, ArgumentError, Arguments, Render, shelf
from dpsql.functions.core.literals import constant, literal_sql
from dpsql.functions.core.meaning import Lookup, checked, enforced, written
from dpsql.ir.column import Interval, Kind
from dpsql.ir.scalar import Call, Literal, Ref, Scalar

Found: TypeAlias = Callable[[str], Interval | None]

_EXACT = frozenset({"+", "-", "*"})
"""Functions whose range follows from the ranges of whole numbers and decimals, and from nothing else."""

LONGEST = 200_000
"""Maximum characters of SQL for one scalar. Some functions repeat an argument, so nesting may double it."""


def sql_of(
    scalar: Scalar, lookup: Lookup, column_sql: Callable[[str], str], found: Found | None = None
) -> str:
    """Return SQL for a scalar; ``lookup`` gives column types, ``column_sql`` names. Refuse long SQL: D103."""
    try:
        return _printed(scalar, lookup, column_sql, found)[0]
    except ArgumentError as error:  # types were checked at binding: only the length can fail
        raise refuse(error.code, error.title, scalar.span, help="compute parts of it in a subquery") from None


def _printed(
    scalar: Scalar, lookup: Lookup, column_sql: Callable[[str], str], found: Found | None
) -> tuple[str, Argument]:
    match scalar:
        case Ref(name):
            return column_sql(name), Argument(enforced(lookup(name)))
        case Literal():
            return literal_sql(scalar), constant(scalar)
        case Call("not", (Call(name) as inner,)) if (negated := shelf()[name].negated) is not None:
            sql, argument = _printed_call(inner, negated, lookup, column_sql, found)
            known = written(scalar, lookup) or Argument(checked(shelf()["not"], (argument,), scalar.type))
            return sql, known
        case Call(name):
            return _printed_call(scalar, shelf()[name].render, lookup, column_sql, found)
        case _:
            assert_never(scalar)


def _printed_call(
    scalar: Call, render: Render, lookup: Lookup, column_sql: Callable[[str], str], found: Found | None
) -> tuple[str, Argument]:
    printed = [_printed(each, lookup, column_sql, found) for each in scalar.arguments]
    arguments = tuple(argument for _, argument in printed)
    arguments, known = with_ranges(scalar, arguments, lookup, found)
    known = known or Argument(checked(shelf()[scalar.function], arguments, scalar.type))
    sql = render(tuple(text for text, _ in printed), arguments, scalar.type)
    if len(sql) > LONGEST:
        raise ArgumentError("this expression is too deeply nested", code="D103")
    return sql, known


def with_ranges(
    scalar: Call, arguments: Arguments, lookup: Lookup, found: Found | None
) -> tuple[Arguments, Argument | None]:
    """Return the arguments of a call with the ranges found of columns, and what is known of its result."""
    if found is None or scalar.function not in _EXACT or not all(map(_is_exact, arguments)):
        return arguments, written(scalar, lookup)
    return tuple(map(partial(_ranged, found), scalar.arguments, arguments)), None


def _is_exact(argument: Argument) -> bool:
    return argument.kind in (Kind.INTEGER, Kind.DECIMAL)


def _ranged(found: Found, scalar: Scalar, argument: Argument) -> Argument:
    interval = found(scalar.name) if isinstance(scalar, Ref) else None
    return argument if interval is None else Argument(replace(argument.fact, domain=interval))
