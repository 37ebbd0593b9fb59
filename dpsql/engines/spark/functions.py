"""The functions that are vetted for Spark, and how each is printed: on no row does one raise.

Claim   with ANSI off, every text is a total function of one row, and gives the same value on every machine.
Proof   Comparisons, choices and tests for NULL raise on nothing, of operands of one type; texts compare by
        their bytes. Whole numbers are computed as decimals of 38 digits, which are NULL beyond them, then
        narrowed (casts.py). DOUBLEs are added, multiplied and divided as IEEE says, with a quotient by zero
        written out. Exponentials, logarithms, powers and angles are not here: their last bit may differ
        between processors, and with it a row.
Test    tests/privacy/test_spark.py: each function over values that break engines, beside DuckDB's value
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dpsql.engines.not_vetted import NotVetted
from dpsql.engines.spark.casts import converted, narrowed, type_sql
from dpsql.engines.vetted_conditions import Conditions
from dpsql.engines.vetted_scalars import Render
from dpsql.functions import Arguments
from dpsql.functions.core.types import TINYINT, digits, signed
from dpsql.functions.numbers.operands import arithmetic_type
from dpsql.ir.column import DOUBLE, TIMESTAMP, VARCHAR, Kind, Type

_INFINITE, _NAN = "CAST('Infinity' AS double)", "CAST('NaN' AS double)"


_CONDITIONS = Conditions(converted)

# ---- numbers -----------------------------------------------------------------------------------------


def _exact(text: str, type: Type) -> str:
    return f"CAST({text} AS decimal(38,{digits(type)[1] if type.kind is Kind.DECIMAL else 0}))"


def _arithmetic(sign: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        left, right = arguments
        if not (left.type.numeric and right.type.numeric):
            raise NotVetted(f"{sign} of {left.type.said} and {right.type.said}")
        target = arithmetic_type(sign, left, right)
        if target.kind is Kind.FLOAT:
            if target != DOUBLE:
                raise NotVetted(f"{sign} of values of type FLOAT: cast them to DOUBLE")
            a, b = (converted(text, each, target) for text, each in zip(texts, arguments, strict=True))
            return f"({a} {sign} {b})" if sign != "/" else _quotient(a, b)
        if target.kind is Kind.DECIMAL:
            return f"CAST({texts[0]} {sign} {texts[1]} AS {type_sql(target)})"
        return f"({narrowed(f'{_exact(texts[0], left.type)} {sign} {_exact(texts[1], right.type)}', target)})"

    return render


def _quotient(a: str, b: str) -> str:
    """A quotient of DOUBLEs, infinite by zero: Spark's own is NULL."""
    sign = f"WHEN {a} > 0 THEN {_INFINITE} WHEN {a} < 0 THEN -{_INFINITE}"
    by_zero = f"CASE WHEN isnan({a}) OR {a} = 0 THEN {_NAN} {sign} END"
    return f"(CASE WHEN {b} = 0 THEN {by_zero} ELSE {a} / {b} END)"


def _remainder(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    target = arithmetic_type("%", *arguments)
    if target.kind is not Kind.INTEGER:
        raise NotVetted("% of numbers that are not whole")
    left, right = (_exact(text, each.type) for text, each in zip(texts, arguments, strict=True))
    return f"({narrowed(f'{left} % {right}', target)})"


def _whole_quotient(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    target = arithmetic_type("//", *arguments)
    if target.kind is not Kind.INTEGER:
        raise NotVetted("// of numbers that are not whole")
    left, right = (_exact(text, each.type) for text, each in zip(texts, arguments, strict=True))
    return f"({narrowed(f'({left} - {left} % {right}) / {right}', target)})"


def _negated(form: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        (argument,) = arguments
        if argument.kind is Kind.INTEGER:
            return f"({narrowed(form.format(_exact(texts[0], argument.type)), argument.type)})"
        if argument.kind not in (Kind.DECIMAL, Kind.FLOAT):
            raise NotVetted(f"a sign of type {argument.type.said}")
        return f"({form.format(texts[0])})"

    return render


def _sign(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    if not arguments[0].type.numeric:
        raise NotVetted("a sign of this")
    (text,) = texts
    nan = f"WHEN isnan({text}) THEN 0 " if arguments[0].kind is Kind.FLOAT else ""
    whens = f"{nan}WHEN {text} > 0 THEN 1 WHEN {text} < 0 THEN -1 WHEN {text} = 0 THEN 0"
    return f"CAST(CASE {whens} END AS {type_sql(TINYINT)})"


def _not_a_number(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    if arguments[0].kind is not Kind.FLOAT:
        raise NotVetted(f"isnan of type {arguments[0].type.said}")
    return f"(CASE WHEN {texts[0]} IS NOT NULL THEN isnan({texts[0]}) END)"


def _integral(name: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        (argument,) = arguments
        if argument.kind not in (Kind.FLOAT, Kind.INTEGER) or argument.type.sql == "FLOAT":
            raise NotVetted(f"{name} of type {argument.type.said}")
        x = converted(texts[0], argument, DOUBLE)
        return f"(CASE WHEN abs({x}) < 4503599627370496D THEN CAST({name}({x}) AS double) ELSE {x} END)"

    return render


def _square_root(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    if not arguments[0].type.numeric:
        raise NotVetted("a root of this")
    return f"sqrt({converted(texts[0], arguments[0], DOUBLE)})"


# ---- texts and moments -------------------------------------------------------------------------------


def _of_text(form: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        if arguments[0].type != VARCHAR:
            raise NotVetted(f"a text of type {arguments[0].type.said}")
        return f"({form.format(*texts)})"

    return render


def _like(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    pattern = arguments[1].literal
    if len(texts) == 3 or pattern is None or "\\" in str(pattern.value) or arguments[0].type != VARCHAR:
        raise NotVetted("LIKE with an escape")
    return f"({texts[0]} LIKE {texts[1]})"


def _part(form: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        (argument,) = arguments
        if argument.kind not in (Kind.DATE, Kind.TIMESTAMP):
            raise NotVetted(f"a part of type {argument.type.said}")
        return f"CAST({form.format(converted(texts[0], argument, TIMESTAMP))} AS bigint)"

    return render


def _days_between(texts: tuple[str, ...], arguments: Arguments) -> str:
    return f"CAST(datediff({texts[0]}, {texts[1]}) AS bigint)"


def _less(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    if all(argument.kind is Kind.DATE for argument in arguments):
        return _days_between(texts, arguments)
    return _arithmetic("-")(texts, arguments, type)


RENDERS: Mapping[str, Render] = MappingProxyType(
    {
        **_CONDITIONS.renders(),
        "is_distinct_from": _CONDITIONS.form("(NOT {0} <=> {1})"),
        "is_not_distinct_from": _CONDITIONS.form("({0} <=> {1})"),
        "+": _arithmetic("+"),
        "-": _less,
        "*": _arithmetic("*"),
        "/": _arithmetic("/"),
        "//": _whole_quotient,
        "%": _remainder,
        "negate": _negated("-{}"),
        "abs": _negated("abs({})"),
        "sign": _sign,
        "isnan": _not_a_number,
        "floor": _integral("floor"),
        "ceil": _integral("ceil"),
        "sqrt": _square_root,
        "length": _of_text("CAST(char_length({0}) AS bigint)"),
        "starts_with": _of_text("startswith({0}, {1})"),
        "ends_with": _of_text("endswith({0}, {1})"),
        "contains": _of_text("contains({0}, {1})"),
        "like": _like,
        "year": _part("year({0})"),
        "quarter": _part("quarter({0})"),
        "month": _part("month({0})"),
        "day": _part("day({0})"),
        "hour": _part("hour({0})"),
        "minute": _part("minute({0})"),
        "second": _part("second({0})"),
        "dayofweek": _part("dayofweek({0}) - 1"),
        "isodow": _part("weekday({0}) + 1"),
        "dayofyear": _part("dayofyear({0})"),
        "week": _part("weekofyear({0})"),
    }
)
"""The text of each function; one that is not here is refused before anything is paid."""


def check_signed(type: Type) -> None:
    """Refuse unsigned numbers, which Spark does not have."""
    if type.kind is Kind.INTEGER and not signed(type):
        raise NotVetted(f"the type {type.said}")
