"""Comparisons, in a type that holds both sides, and tests for NULL.

    age = 30    born < DATE '1990-01-01'    price BETWEEN 1 AND 2.5    name IN ('a', 'b')    x IS NULL

An ENUM is compared as text, and only for equality: DuckDB orders it by its declaration.
"""

from __future__ import annotations

from dpsql.functions import MANY, Argument, ArgumentError, Arguments, Function, together
from dpsql.functions.core.conversion import converted, sure
from dpsql.functions.core.literals import literal_sql
from dpsql.functions.core.ranges import any_null, date_of, known, truth
from dpsql.functions.core.types import UHUGEINT, common_type
from dpsql.ir.column import DATE, VARCHAR, Fact, Kind, Type
from dpsql.ir.scalar import Literal


def in_one_type(texts: tuple[str, ...], arguments: Arguments) -> tuple[str, ...]:
    """Cast the arguments to one type if DuckDB could not compare them as they are without an error."""
    target = comparison_type(arguments)
    if all(_natural(argument, target) for argument in arguments):
        return texts
    return tuple(converted(text, argument, target) for text, argument in zip(texts, arguments, strict=True))


def _compared(texts: tuple[str, ...], arguments: Arguments) -> tuple[str, ...]:
    """Return the arguments in one type, or DATEs and constant midnights as days: these skip rows unread."""
    if comparison_type(arguments).kind is not Kind.TIMESTAMP:
        return in_one_type(texts, arguments)
    pairs = zip(texts, arguments, strict=True)
    days = [text if argument.kind is Kind.DATE else _midnight(argument) for text, argument in pairs]
    return in_one_type(texts, arguments) if None in days else tuple(map(str, days))


def _midnight(argument: Argument) -> str | None:
    """Print the DATE that begins at a constant TIMESTAMP; None if none does, or if there is no such constant.

    The facts of what is printed hold in any row: where the range is one moment, the argument is a constant.
    """
    moments = known(argument)
    if argument.fact.nullable or argument.kind is not Kind.TIMESTAMP or moments.low != moments.high:
        return None
    day = date_of(moments.low)
    return None if day is None else literal_sql(Literal(day, DATE))


def comparison_type(arguments: Arguments) -> Type:
    """Return the type in which the arguments are compared; an ENUM becomes text."""
    target = common_type(arguments, compared=True)
    return VARCHAR if target.kind is Kind.TEXT else target


def _natural(argument: Argument, target: Type) -> bool:
    if argument.type == target:
        return True
    return argument.type.numeric and argument.type != UHUGEINT and sure(argument, target)


def _result(arguments: Arguments, type: Type | None) -> Fact:
    target = comparison_type(arguments)
    return truth(any_null(arguments) or not all(sure(argument, target) for argument in arguments))


def _ordered_result(arguments: Arguments, type: Type | None) -> Fact:
    if any(argument.type.sql.startswith("ENUM(") for argument in arguments):
        raise ArgumentError(
            "ENUM values cannot be ordered here", "write CAST(... AS VARCHAR) to compare them as text"
        )
    return _result(arguments, type)


def _distinct_result(arguments: Arguments, type: Type | None) -> Fact:
    _result(arguments, type)
    return truth(nullable=False)


def _operator(sign: str) -> Function:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        left, right = _compared(texts, arguments)
        return f"({left} {sign} {right})"

    name = sign.lower().replace(" ", "_")
    result = _distinct_result if sign.startswith("IS") else _ordered_result if sign in _ORDERED else _result
    return Function(name, result, render, f"i {sign} 5", (2, 2), together, strict=not sign.startswith("IS"))


_ORDERED = ("<", "<=", ">", ">=")


def _between(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    value, low, high = _compared(texts, arguments)
    return f"({value} BETWEEN {low} AND {high})"


def _in(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    value, *listed = _compared(texts, arguments)
    return f"({value} IN ({', '.join(listed)}))"


def _null_test(arguments: Arguments, type: Type | None) -> Fact:
    return truth(nullable=False)


FUNCTIONS = (
    *(_operator(sign) for sign in ("=", "<>", *_ORDERED, "IS DISTINCT FROM", "IS NOT DISTINCT FROM")),
    # not strict: NULL BETWEEN 1 AND NULL is NULL, but 5 BETWEEN 6 AND NULL is false
    Function("between", _ordered_result, _between, "i BETWEEN 1 AND 5", (3, 3), together, strict=False),
    Function("in", _result, _in, "i IN (1, 2, 5)", (2, MANY), together, strict=False),
    Function("is_null", _null_test, lambda t, a, _: f"({t[0]} IS NULL)", "i IS NULL", strict=False),
    Function(
        "is_not_null", _null_test, lambda t, a, _: f"({t[0]} IS NOT NULL)", "i IS NOT NULL", strict=False
    ),
)
