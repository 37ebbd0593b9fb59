"""Functions of numbers on Spark: arithmetic, rounding, roots, powers and bits.

    a + b        whole numbers as decimals of 38 digits, then narrowed; DOUBLEs as IEEE says
    ln(x)        ln(x) where x > 0, minus infinity at 0, NaN below

Claim   with ANSI off, no text that is printed here raises on a row, and each gives the same value on every
        machine.
Proof   Arithmetic of two decimals is NULL beyond 38 digits, and that of DOUBLEs is IEEE's; Spark's negation
        and absolute value of a decimal raise there, and are not used. Exponentials, logarithms and powers are
        those of Java's StrictMath, which says each bit of them; angles are not, so that they have no text
        here. Whole numbers are cast from DOUBLEs below 2^52 only.
Test    tests/privacy/test_spark_functions.py: over values that break engines; StrictMath bit for bit
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from dpsql.engines.not_vetted import NotVetted
from dpsql.engines.spark.casts import converted, narrowed, once, type_sql
from dpsql.engines.vetted_scalars import Render, whole_constant
from dpsql.functions import Arguments
from dpsql.functions.core.types import (
    TINYINT,
    adapted_types,
    bits,
    both_integers,
    decimal,
    digits,
    signed,
)
from dpsql.functions.numbers.operands import arithmetic_type
from dpsql.functions.numbers.rounding import rounded_type
from dpsql.ir.column import DOUBLE, HUGEINT, Kind, Type, type_range

INFINITE, NAN = "CAST('Infinity' AS double)", "CAST('NaN' AS double)"


# ---- arithmetic --------------------------------------------------------------------------------------


def _exact(text: str, type: Type) -> str:
    return f"CAST({text} AS decimal(38,{digits(type)[1] if type.kind is Kind.DECIMAL else 0}))"


def _arithmetic(sign: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        left, right = arguments
        _check_numbers(sign, arguments)
        target = arithmetic_type(sign, left, right)
        if target.kind is Kind.FLOAT:
            if target != DOUBLE:
                raise NotVetted(f"{sign} of values of type FLOAT: cast them to DOUBLE")
            a, b = _doubles(texts, arguments)
            return f"({a} {sign} {b})" if sign != "/" else f"({once(_QUOTIENT, a, b)})"
        if target.kind is Kind.DECIMAL:
            return f"CAST({texts[0]} {sign} {texts[1]} AS {type_sql(target)})"
        return f"({narrowed(f'{_exact(texts[0], left.type)} {sign} {_exact(texts[1], right.type)}', target)})"

    return render


_QUOTIENT = (
    f"CASE WHEN {{1}} = 0 THEN CASE WHEN isnan({{0}}) OR {{0}} = 0 THEN {NAN} "
    f"WHEN {{0}} > 0 THEN {INFINITE} WHEN {{0}} < 0 THEN -{INFINITE} END ELSE {{0}} / {{1}} END"
)
"""A quotient of DOUBLEs, infinite by zero: Spark's own is NULL."""


def _divided(form: str, sign: str) -> Render:
    """Whole quotients and remainders, cut toward zero; of a divisor that is 0, NULL."""

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        _check_numbers(sign, arguments)
        target = arithmetic_type(sign, *arguments)
        if target.kind is not Kind.INTEGER:
            raise NotVetted(f"{sign} of numbers that are not whole")
        parts = (_exact(text, each.type) for text, each in zip(texts, arguments, strict=True))
        return f"({narrowed(form.format(*parts), target)})"

    return render


def _check_numbers(name: str, arguments: Arguments) -> None:
    if not all(argument.type.numeric for argument in arguments):
        raise NotVetted(f"{name} of {' and '.join(argument.type.said for argument in arguments)}")


def _doubles(texts: tuple[str, ...], arguments: Arguments) -> tuple[str, ...]:
    return tuple(converted(text, argument, DOUBLE) for text, argument in zip(texts, arguments, strict=True))


# ---- signs and rounding ------------------------------------------------------------------------------


def _negated(absolute: bool) -> Render:
    """Print 0 - x: Spark's own sign rounds a decimal to 34 digits, and raises where these are too many."""

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        (argument,) = arguments
        if argument.kind is Kind.FLOAT:
            return f"(abs({texts[0]}))" if absolute else f"(-{texts[0]})"
        if argument.kind not in (Kind.DECIMAL, Kind.INTEGER):
            raise NotVetted(f"a sign of type {argument.type.said}")
        exact, less = _exact(texts[0], argument.type), f"{_exact('0', argument.type)} - {{0}}"
        form = f"CASE WHEN {{0}} < 0 THEN {less} ELSE {{0}} END" if absolute else less
        return f"({narrowed(once(form, exact), argument.type)})"

    return render


def _sign(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    _check_numbers("sign", arguments)
    nan = "WHEN isnan({0}) THEN 0 " if arguments[0].kind is Kind.FLOAT else ""
    whens = f"{nan}WHEN {{0}} > 0 THEN 1 WHEN {{0}} < 0 THEN -1 WHEN {{0}} = 0 THEN 0"
    return once(f"CAST(CASE {whens} END AS {type_sql(TINYINT)})", texts[0])


def _not_a_number(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    if arguments[0].kind is not Kind.FLOAT:
        raise NotVetted(f"isnan of type {arguments[0].type.said}")
    return f"({once('CASE WHEN {0} IS NOT NULL THEN isnan({0}) END', texts[0])})"


def _finite(negated: bool) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        (argument,) = arguments
        match argument.kind:
            case Kind.FLOAT:
                infinite = f"CAST('Infinity' AS {type_sql(argument.type)})"
                return f"(abs({texts[0]}) {'=' if negated else '<'} {infinite})"
            case Kind.INTEGER | Kind.DECIMAL | Kind.DATE | Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
                return f"(CASE WHEN {texts[0]} IS NOT NULL THEN {'FALSE' if negated else 'TRUE'} END)"
            case _:
                raise NotVetted(f"a test of type {argument.type.said}")

    return render


_WHOLE = "4503599627370496D"
"""From 2^52 on, all DOUBLEs are whole."""
_CUT = f"CASE WHEN abs({{0}}) < {_WHOLE} THEN CAST(CAST({{0}} AS bigint) AS double) ELSE {{0}} END"
_TOWARD_ZERO = "CAST(CAST({0} AS bigint) AS double)"
_AWAY = (
    f"CASE WHEN abs({{0}}) < {_WHOLE} THEN CASE WHEN abs({{0}} - {_TOWARD_ZERO}) >= 0.5D "
    f"THEN {_TOWARD_ZERO} + signum({{0}}) ELSE {_TOWARD_ZERO} END ELSE {{0}} END"
)
"""A DOUBLE rounded to a whole one, halves away from zero."""


def _rounded(name: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        argument = arguments[0]
        places = whole_constant(arguments[1]) or 0 if len(arguments) > 1 else 0
        match argument.kind:
            case Kind.INTEGER if signed(argument.type) and name == "round" and places >= -18:
                exact = _exact(texts[0], argument.type)
                return f"({narrowed(f'round({exact}, {min(places, 0)})', argument.type)})"
            case Kind.INTEGER if places >= 0:
                return texts[0]
            case Kind.DECIMAL if name == "round" and places >= 0:
                near = f"round({texts[0]}, {min(places, digits(argument.type)[1])})"
                return f"({narrowed(near, rounded_type(argument, places, name))})"
            case Kind.FLOAT if argument.type == DOUBLE and not places:
                return f"({once(_CUT if name == 'trunc' else _AWAY, texts[0])})"
            case Kind.FLOAT if argument.type == DOUBLE and name == "round" and 0 < places <= 15:
                power = f"CAST('1e{places}' AS double)"
                scaled = once(f"CASE WHEN abs({{0}}) < 1e290D THEN {{0}} * {power} ELSE {{0}} END", texts[0])
                near = f"CASE WHEN abs({{1}}) < 1e290D THEN ({_AWAY}) / {power} ELSE {{1}} END"
                return f"({once(near, scaled, texts[0])})"
            case _:
                raise NotVetted(f"{name} of type {argument.type.said} to {places} places")

    return render


def _integral(name: str) -> Render:
    """Print ``floor`` or ``ceil``."""

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        (argument,) = arguments
        if argument.kind is Kind.DECIMAL:
            return f"({narrowed(f'{name}({texts[0]})', decimal(digits(argument.type)[0], 0))})"
        if not argument.type.numeric or argument.type.sql == "FLOAT":
            raise NotVetted(f"{name} of type {argument.type.said}")
        form = f"CASE WHEN abs({{0}}) < {_WHOLE} THEN CAST({name}({{0}}) AS double) ELSE {{0}} END"
        return f"({once(form, *_doubles(texts, arguments))})"

    return render


# ---- roots, powers -----------------------------------------------------------------------------------


def _of_double(form: str) -> Render:
    """Print a function of a DOUBLE; ``form`` may repeat it."""

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        _check_numbers("this function", arguments)
        return f"({once(form, *_doubles(texts, arguments))})"

    return render


def _logarithm(name: str) -> Render:
    least = f"WHEN {{0}} = 0 THEN -{INFINITE} WHEN {{0}} < 0 THEN {NAN}"
    return _of_double(f"CASE WHEN {{0}} > 0 THEN {name}({{0}}) {least} END")


_POWER = (
    "CASE WHEN {0} IS NULL OR {1} IS NULL THEN NULL WHEN {1} = 0 OR {0} = 1 THEN 1D "
    f"WHEN {{0}} = -1 AND abs({{1}}) = {INFINITE} THEN 1D ELSE power({{0}}, {{1}}) END"
)
"""Java has no power of 1 that is endless."""


# ---- whole numbers -----------------------------------------------------------------------------------


def _factorial(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    whens = " ".join(f"WHEN {{0}} = {n} THEN CAST('{math.factorial(n)}' AS decimal(38,0))" for n in range(34))
    return f"({once(f'CASE {whens} END', texts[0])})"


def _of_bits(form: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        target = both_integers(*adapted_types(*arguments)) if len(arguments) == 2 else arguments[0].type
        _check_bits(arguments, target)
        parts = (converted(text, argument, target) for text, argument in zip(texts, arguments, strict=True))
        return form.format(*parts)

    return render


def _shift(left: bool) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        argument, literal = arguments[0], arguments[1].literal
        _check_bits(arguments[:1], argument.type)
        assert literal is not None
        assert isinstance(literal.value, int)
        count, name = literal.value, type_sql(argument.type)
        if left:
            most = int(type_range(argument.type).high) >> count
            shifted = f"CAST(shiftleft(CAST({{0}} AS bigint), {count}) AS {name})"
            return f"({once(f'CASE WHEN {{0}} BETWEEN 0 AND {most} THEN {shifted} END', texts[0])})"
        if count >= bits(argument.type):
            return f"CAST(CASE WHEN {texts[0]} IS NOT NULL THEN 0 END AS {name})"
        return f"CAST(shiftright(CAST({texts[0]} AS bigint), {count}) AS {name})"

    return render


def _check_bits(arguments: Arguments, target: Type) -> None:
    types = (*(argument.type for argument in arguments), target)
    if not all(each.kind is Kind.INTEGER and signed(each) and each != HUGEINT for each in types):
        raise NotVetted("bits of unsigned numbers, or of numbers wider than 64 bits")


RENDERS: Mapping[str, Render] = MappingProxyType(
    {
        **{sign: _arithmetic(sign) for sign in ("+", "-", "*", "/")},
        "//": _divided("({0} - {0} % {1}) / {1}", "//"),
        "%": _divided("{0} % {1}", "%"),
        "negate": _negated(False),
        "abs": _negated(True),
        "sign": _sign,
        "isnan": _not_a_number,
        "isfinite": _finite(False),
        "isinf": _finite(True),
        "round": _rounded("round"),
        "trunc": _rounded("trunc"),
        "floor": _integral("floor"),
        "ceil": _integral("ceil"),
        "sqrt": _of_double("sqrt({0})"),
        "exp": _of_double("exp({0})"),
        "ln": _logarithm("ln"),
        "log10": _logarithm("log10"),
        "pow": _of_double(_POWER),
        "pi": lambda *_: f"CAST('{math.pi!r}' AS double)",
        "factorial": _factorial,
        "&": _of_bits("({} & {})"),
        "|": _of_bits("({} | {})"),
        "xor": _of_bits("({} ^ {})"),
        "~": _of_bits("(~{})"),
        "<<": _shift(True),
        ">>": _shift(False),
    }
)
"""The text of each function."""
