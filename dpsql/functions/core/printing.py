"""A scalar as SQL that raises on no data.

    Call("+", (Ref("a"), Ref("b")))    TRY_CAST((CAST("a" AS BIGINT) + CAST("b" AS BIGINT)) AS INTEGER)

Every function renders itself total, so no TRY is written (see the package's docstring). Arguments are
in parentheses where they need them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from dpsql.errors import refuse
from dpsql.functions import Argument, ArgumentError, shelf
from dpsql.functions.core.literals import constant, literal_sql
from dpsql.functions.core.meaning import Lookup, checked, enforced
from dpsql.ir.scalar import Call, Literal, Ref, Scalar

LONGEST = 200_000
"""Characters of SQL for one scalar. A few functions name an argument twice, so nesting could double it."""


def sql_of(scalar: Scalar, lookup: Lookup, column_sql: Callable[[str], str]) -> str:
    """SQL for a scalar over columns whose types ``lookup`` knows and ``column_sql`` spells; or D103."""
    try:
        return _printed(scalar, lookup, column_sql)[0]
    except ArgumentError as unfit:  # its types fit when it was bound: its length alone does not
        raise refuse(unfit.code, unfit.title, scalar.span, help="compute parts of it in a subquery") from None


def _printed(scalar: Scalar, lookup: Lookup, column_sql: Callable[[str], str]) -> tuple[str, Argument]:
    match scalar:
        case Ref(name):
            return column_sql(name), Argument(enforced(lookup(name)))
        case Literal():
            return literal_sql(scalar), constant(scalar)
        case Call(name, scalars, type):
            function = shelf()[name]
            printed = [_printed(each, lookup, column_sql) for each in scalars]
            arguments = tuple(argument for _, argument in printed)
            fact = checked(function, arguments, type)
            sql = function.render(tuple(text for text, _ in printed), arguments, type)
            if len(sql) > LONGEST:
                raise ArgumentError("this expression is too deeply nested", code="D103")
            return sql, Argument(fact)
        case _:
            assert_never(scalar)
