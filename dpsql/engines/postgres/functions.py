"""The functions that are vetted for PostgreSQL, and how each is printed: on no row does one raise.

    a + b of INTEGERs    CAST(CAST(a AS int8) + CAST(b AS int8) AS int4), NULL beyond the type
    x * y of DOUBLEs     in a CASE: PostgreSQL raises where a product overflows, and where it underflows

Claim   every text is a total function of one row: it raises on no values, and gives the same value each time.
Proof   Comparisons, AND, OR, NOT, CASE, IN and tests for NULL raise on nothing, of operands of one type; a
        text carries the collation C, by scan and literal. Whole numbers and numerics are computed with room
        for every result of their types, then narrowed (casts.py). DOUBLEs are added where halves of the
        largest one bound them, or where one is none; multiplied and divided where their logarithms add up to
        what a DOUBLE holds, with a margin above the rounding of ``ln``. A subexpression of constants alone
        may be computed while a statement is planned: it is the query's own, and no row decides.
Test    tests/privacy/test_postgres_functions.py: each function over values that break engines, raising
        nothing, and equal to DuckDB's value
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from dpsql.engines.postgres.casts import NotVetted, converted, narrowed, once, type_sql
from dpsql.functions import Arguments
from dpsql.functions.core.comparison import comparison_type
from dpsql.functions.core.conditional import branches
from dpsql.functions.core.types import common_type
from dpsql.functions.numbers.operands import arithmetic_type
from dpsql.ir.column import Kind, Type

Render: TypeAlias = Callable[[tuple[str, ...], Arguments, "Type | None"], str]

_LARGEST = "CAST('1.7976931348623e308' AS float8)"
_HALF = "CAST('8e307' AS float8)"
_PLAIN = "CAST('1e-150' AS float8) AND CAST('1e150' AS float8)"
_INFINITE = "CAST('infinity' AS float8)"


# ---- conditions --------------------------------------------------------------------------------------


def _alike(texts: tuple[str, ...], arguments: Arguments) -> tuple[str, ...]:
    """Print the arguments in the type in which they are compared."""
    target = comparison_type(arguments)
    if target.kind not in _COMPARED:
        raise NotVetted(f"a comparison of values of type {target.said}")
    return tuple(converted(text, each, target) for text, each in zip(texts, arguments, strict=True))


_COMPARED = frozenset(
    (Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP)
) | {Kind.TIMESTAMPTZ, Kind.NULL}


def _operator(sign: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        left, right = _alike(texts, arguments)
        return f"({left} {sign} {right})"

    return render


def _between(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    value, low, high = _alike(texts, arguments)
    return f"({value} BETWEEN {low} AND {high})"


def _in(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    value, *listed = _alike(texts, arguments)
    return f"({value} IN ({', '.join(listed)}))"


def _connective(word: str) -> Render:
    return lambda texts, *_: f"({f' {word} '.join(texts)})"


# ---- choices -----------------------------------------------------------------------------------------


def _case(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    values = branches(len(arguments))
    target = common_type([arguments[i] for i in values])
    parts = [converted(text, arguments[i], target) if i in values else text for i, text in enumerate(texts)]
    whens = " ".join(f"WHEN {parts[i]} THEN {parts[i + 1]}" for i in range(0, len(parts) - 1, 2))
    otherwise = f" ELSE {parts[-1]}" if len(parts) % 2 else ""
    return f"(CASE {whens}{otherwise} END)"


def _first(name: str) -> Render:
    """COALESCE, GREATEST and LEAST: the latter two ignore NULL, and NaN is the greatest, as in DuckDB."""

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        target = common_type(arguments)
        if target.kind not in _COMPARED:
            raise NotVetted(f"{name} of values of type {target.said}")
        parts = (converted(text, each, target) for text, each in zip(texts, arguments, strict=True))
        return f"{name}({', '.join(parts)})"

    return render


def _nullif(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    left, right = _alike(texts, arguments)
    return f"(CASE WHEN {left} = {right} THEN NULL ELSE {texts[0]} END)"


# ---- numbers -----------------------------------------------------------------------------------------


def _arithmetic(sign: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        left, right = arguments
        if not (left.type.numeric and right.type.numeric):
            raise NotVetted(f"{sign} of {left.type.said} and {right.type.said}")
        target = arithmetic_type(sign, left, right)
        if target.kind is Kind.FLOAT:
            if target.sql != "DOUBLE":
                raise NotVetted(f"{sign} of values of type FLOAT: cast them to DOUBLE")
            pair = tuple(converted(t, a, target) for t, a in zip(texts, arguments, strict=True))
            return once(_IN_DOUBLES[sign], *pair)
        exact = f"(CAST({texts[0]} AS numeric) {sign} CAST({texts[1]} AS numeric))"
        return f"({narrowed(exact, target)})"

    return render


def _added(sign: str) -> str:
    """Two finite numbers of one sign overflow where their sizes add up to more than the largest DOUBLE."""
    other = "{1}" if sign == "+" else "(-{1})"
    finite = f"abs({{0}}) < {_INFINITE} AND abs({{1}}) < {_INFINITE}"
    large = f"({{0}} > 0) = ({other} > 0) AND {finite} AND abs({{0}}) > {_LARGEST} - abs({{1}})"
    return (
        f"(CASE WHEN abs({{0}}) <= {_HALF} AND abs({{1}}) <= {_HALF} THEN {{0}} {sign} {{1}} "
        f"WHEN {large} THEN CASE WHEN {{0}} > 0 THEN {_INFINITE} ELSE -{_INFINITE} END "
        f"ELSE {{0}} {sign} {{1}} END)"
    )


def _scaled(sign: str, size: str, zero: str) -> str:
    """A product or quotient; ``size`` is its logarithm where both are finite and not zero.

    What is below the smallest DOUBLEs is 0, and what is at the largest or above is infinite.
    """
    finite = f"abs({{0}}) < {_INFINITE} AND abs({{1}}) < {_INFINITE}"
    infinite = f"CASE WHEN ({{0}} > 0) = ({{1}} > 0) THEN {_INFINITE} ELSE -{_INFINITE} END"
    return (
        f"(CASE WHEN abs({{0}}) BETWEEN {_PLAIN} AND abs({{1}}) BETWEEN {_PLAIN} THEN {{0}} {sign} {{1}} "
        f"WHEN {zero} OR NOT ({finite}) THEN {{0}} {sign} {{1}} "
        f"WHEN {size} < -744 THEN 0 "
        f"WHEN {size} > 709.7 THEN {infinite} "
        f"ELSE {{0}} {sign} {{1}} END)"
    )


_BY_ZERO = (
    f"CASE WHEN {{0}} = 'NaN' OR {{0}} = 0 THEN 'NaN' WHEN {{0}} > 0 THEN {_INFINITE} ELSE -{_INFINITE} END"
)
_IN_DOUBLES: Mapping[str, str] = {
    "+": _added("+"),
    "-": _added("-"),
    "*": _scaled("*", "ln(abs({0})) + ln(abs({1}))", "{0} = 0 OR {1} = 0"),
    "/": f"(CASE WHEN {{1}} = 0 THEN {_BY_ZERO} "
    f"ELSE {_scaled('/', 'ln(abs({0})) - ln(abs({1}))', '{0} = 0')} END)",
}


def _negated(form: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        (argument,) = arguments
        if argument.kind is Kind.INTEGER:
            return f"({narrowed(form.format(f'CAST({texts[0]} AS numeric)'), argument.type)})"
        if argument.kind not in (Kind.DECIMAL, Kind.FLOAT):
            raise NotVetted(f"a sign of type {argument.type.said}")
        return f"({form.format(texts[0])})"

    return render


def _cast(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    assert type is not None
    return f"({converted(texts[0], arguments[0], type)})"


def _not_a_number(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    if arguments[0].kind is not Kind.FLOAT:
        raise NotVetted(f"isnan of type {arguments[0].type.said}")
    return f"({texts[0]} = CAST('NaN' AS {type_sql(arguments[0].type)}))"


RENDERS: Mapping[str, Render] = MappingProxyType(
    {
        **{sign: _operator(sign) for sign in ("=", "<>", "<", "<=", ">", ">=")},
        "is_distinct_from": _operator("IS DISTINCT FROM"),
        "is_not_distinct_from": _operator("IS NOT DISTINCT FROM"),
        "between": _between,
        "in": _in,
        "is_null": lambda texts, *_: f"({texts[0]} IS NULL)",
        "is_not_null": lambda texts, *_: f"({texts[0]} IS NOT NULL)",
        "and": _connective("AND"),
        "or": _connective("OR"),
        "not": lambda texts, *_: f"(NOT {texts[0]})",
        "case": _case,
        "coalesce": _first("COALESCE"),
        "greatest": _first("GREATEST"),
        "least": _first("LEAST"),
        "nullif": _nullif,
        "+": _arithmetic("+"),
        "-": _arithmetic("-"),
        "*": _arithmetic("*"),
        "/": _arithmetic("/"),
        "negate": _negated("-{}"),
        "abs": _negated("abs({})"),
        "cast": _cast,
        "isnan": _not_a_number,
    }
)
"""The text of each function; one that is not here is refused before anything is paid."""
