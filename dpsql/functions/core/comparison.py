"""Comparisons. They are made in the type that holds both sides; NULL is neither true nor false.

    age = 30    born < DATE '1990-01-01'    price BETWEEN 1 AND 2.5    name IN ('a', 'b')    x IS NULL

An ENUM is compared as text, and only for equality: its order is that of its declaration.
"""

from __future__ import annotations

from dpsql.functions import MANY, Argument, ArgumentError, Arguments, Function, together
from dpsql.functions.core.conversion import converted, sure
from dpsql.functions.core.ranges import any_null, truth
from dpsql.functions.core.types import UHUGEINT, common_type
from dpsql.ir.column import VARCHAR, Fact, Kind, Type


def in_one_type(texts: tuple[str, ...], arguments: Arguments) -> tuple[str, ...]:
    """The sides as DuckDB may compare them without an error; left as they are where it may."""
    target = comparison_type(arguments)
    if all(_natural(each, target) for each in arguments):
        return texts
    return tuple(converted(text, each, target) for text, each in zip(texts, arguments, strict=True))


def comparison_type(arguments: Arguments) -> Type:
    """The type in which they are compared: an ENUM is text here."""
    found = common_type(arguments, compared=True)
    return VARCHAR if found.kind is Kind.TEXT else found


def _natural(argument: Argument, target: Type) -> bool:
    if argument.type == target:
        return True
    return argument.type.numeric and argument.type != UHUGEINT and sure(argument, target)


def _result(arguments: Arguments, type: Type | None) -> Fact:
    target = comparison_type(arguments)
    return truth(any_null(arguments) or not all(sure(each, target) for each in arguments))


def _ordered_result(arguments: Arguments, type: Type | None) -> Fact:
    if any(each.type.sql.startswith("ENUM(") for each in arguments):
        raise ArgumentError("an ENUM has no order here", "write CAST(... AS VARCHAR) to compare it as text")
    return _result(arguments, type)


def _distinct_result(arguments: Arguments, type: Type | None) -> Fact:
    _result(arguments, type)
    return truth(nullable=False)


def _operator(sign: str) -> Function:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        left, right = in_one_type(texts, arguments)
        return f"({left} {sign} {right})"

    name = sign.lower().replace(" ", "_")
    result = _distinct_result if sign.startswith("IS") else _ordered_result if sign in _ORDERED else _result
    return Function(name, result, render, f"i {sign} 5", (2, 2), together, strict=not sign.startswith("IS"))


_ORDERED = ("<", "<=", ">", ">=")


def _between(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    value, low, high = in_one_type(texts, arguments)
    return f"({value} BETWEEN {low} AND {high})"


def _in(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    value, *listed = in_one_type(texts, arguments)
    return f"({value} IN ({', '.join(listed)}))"


def _null_test(arguments: Arguments, type: Type | None) -> Fact:
    return truth(nullable=False)


FUNCTIONS = (
    *(_operator(sign) for sign in ("=", "<>", *_ORDERED, "IS DISTINCT FROM", "IS NOT DISTINCT FROM")),
    # never strict: NULL BETWEEN 1 AND NULL is NULL, but 5 BETWEEN 6 AND NULL is false
    Function("between", _ordered_result, _between, "i BETWEEN 1 AND 5", (3, 3), together, strict=False),
    Function("in", _result, _in, "i IN (1, 2, 5)", (2, MANY), together, strict=False),
    Function("is_null", _null_test, lambda t, a, _: f"({t[0]} IS NULL)", "i IS NULL", strict=False),
    Function(
        "is_not_null", _null_test, lambda t, a, _: f"({t[0]} IS NOT NULL)", "i IS NOT NULL", strict=False
    ),
)
