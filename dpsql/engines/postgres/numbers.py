"""Functions of numbers on PostgreSQL: arithmetic, rounding, roots, powers, bits.

    a + b of INTEGERs    CAST(CAST(a AS numeric) + CAST(b AS numeric) AS int4), NULL beyond the type
    x * y of DOUBLEs     in a CASE: PostgreSQL raises where a product overflows, and where it underflows
    ln(x), sqrt(x)       in a CASE: PostgreSQL raises for 0, and for what is below

Claim   no text that is printed here raises on a row, whatever the values are.
Proof   Whole numbers and numerics are computed as numerics, which have room for every result of their types,
        then narrowed (casts.py), or in 64 bits where these hold every result; a divisor of 0 is NULL. DOUBLEs
        are added where halves of the largest one bound them, or where one is none; multiplied, divided and
        raised to powers where their logarithms add up to what a DOUBLE holds, with a margin above the
        rounding of ``ln``. ``exp`` and ``power`` raise for results that are not normal, too: these are 0
        here, below e^-708. Other functions are called inside their domains. NaN is the largest DOUBLE: a
        condition that it should not meet names it first.
Test    tests/privacy/test_postgres_functions.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from dpsql.engines.not_vetted import NotVetted
from dpsql.engines.postgres.casts import converted, narrowed, once, type_sql
from dpsql.engines.vetted_scalars import Render, whole_constant
from dpsql.functions import Argument, Arguments
from dpsql.functions.core.ranges import corners, in_decimals, possible
from dpsql.functions.core.types import (
    TINYINT,
    WIDEST,
    adapted_types,
    bits,
    both_integers,
    decimal,
    digits,
    holds,
    signed,
)
from dpsql.functions.numbers.operands import OPERATIONS, arithmetic_type, exact_size, fits
from dpsql.functions.numbers.rounding import rounded_type
from dpsql.ir.column import BIGINT, DOUBLE, HUGEINT, Kind, Type, type_range

_LARGEST = "CAST('1.7976931348623e308' AS float8)"
_HALF = "CAST('8e307' AS float8)"
_PLAIN = "CAST('1e-150' AS float8) AND CAST('1e150' AS float8)"
INFINITE = "CAST('infinity' AS float8)"
NAN = "CAST('NaN' AS float8)"


# ---- arithmetic --------------------------------------------------------------------------------------


def _arithmetic(sign: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        _check_numbers(sign, arguments)
        target = arithmetic_type(sign, *arguments)
        if target.kind is Kind.FLOAT:
            if target.sql != "DOUBLE":
                raise NotVetted(f"{sign} of values of type FLOAT: cast them to DOUBLE")
            return once(_IN_DOUBLES[sign], *_doubles(texts, arguments))
        return f"({_exact(sign, texts, arguments, target)})"

    return render


def _exact(sign: str, texts: tuple[str, ...], arguments: Arguments, target: Type) -> str:
    """Print a sum, difference or product of whole numbers or numerics, NULL where the type does not hold it.

    A numeric has the digits of the exact result: it is rounded where the type has fewer, and compared with
    the ends of the type where the ranges of the operands reach them.
    """
    result = f"(CAST({texts[0]} AS numeric) {sign} CAST({texts[1]} AS numeric))"
    if target.kind is not Kind.DECIMAL:
        return _in_64_bits(sign, texts, arguments, target) or narrowed(result, target)
    (width, scale), (most, places) = exact_size(sign, *(each.type for each in arguments)), digits(target)
    if scale != places:
        return narrowed(result, target)
    interval = corners(in_decimals(OPERATIONS[sign]), *map(possible, arguments))
    if width <= most or (most < WIDEST and fits(target, interval)):
        return result
    end = f"{'9' * (most - places) or 0}.{'9' * places or 0}"
    return once(f"CASE WHEN {{}} BETWEEN -{end} AND {end} THEN {{}} END", result)


def _in_64_bits(sign: str, texts: tuple[str, ...], arguments: Arguments, target: Type) -> str | None:
    """Print it of whole numbers whose results 64 bits hold; None where they do not."""
    interval = corners(OPERATIONS[sign], *map(possible, arguments))
    if not all(holds(BIGINT, each) for each in (interval, *map(possible, arguments))):
        return None
    result = f"(CAST({texts[0]} AS int8) {sign} CAST({texts[1]} AS int8))"
    name, ends = type_sql(target), type_range(target)
    if holds(target, interval):
        return result if target == BIGINT else f"CAST({result} AS {name})"
    return once(f"CASE WHEN {{}} BETWEEN {ends.low} AND {ends.high} THEN CAST({{}} AS {name}) END", result)


def _divided(name: str, sign: str) -> Render:
    """Whole quotients and remainders, cut toward zero; of a divisor that is 0, NULL."""

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        _check_numbers(sign, arguments)
        target = arithmetic_type(sign, *arguments)
        if target.kind is Kind.FLOAT or (sign == "//" and target.kind is not Kind.INTEGER):
            raise NotVetted(f"{sign} of numbers that are not whole")
        divisor = f"NULLIF(CAST({texts[1]} AS numeric), 0)"
        return f"({narrowed(f'{name}(CAST({texts[0]} AS numeric), {divisor})', target)})"

    return render


def _check_numbers(sign: str, arguments: Arguments) -> None:
    if not all(argument.type.numeric for argument in arguments):
        raise NotVetted(f"{sign} of {' and '.join(argument.type.said for argument in arguments)}")


def _doubles(texts: tuple[str, ...], arguments: Arguments) -> tuple[str, ...]:
    return tuple(converted(text, argument, DOUBLE) for text, argument in zip(texts, arguments, strict=True))


def _added(sign: str) -> str:
    """Two finite numbers of one sign overflow where their sizes add up to more than the largest DOUBLE."""
    other = "{1}" if sign == "+" else "(-{1})"
    finite = f"abs({{0}}) < {INFINITE} AND abs({{1}}) < {INFINITE}"
    large = f"({{0}} > 0) = ({other} > 0) AND {finite} AND abs({{0}}) > {_LARGEST} - abs({{1}})"
    return (
        f"(CASE WHEN abs({{0}}) <= {_HALF} AND abs({{1}}) <= {_HALF} THEN {{0}} {sign} {{1}} "
        f"WHEN {large} THEN CASE WHEN {{0}} > 0 THEN {INFINITE} ELSE -{INFINITE} END "
        f"ELSE {{0}} {sign} {{1}} END)"
    )


def _scaled(sign: str, size: str, zero: str) -> str:
    """A product or quotient; ``size`` is its logarithm where both are finite and not zero.

    What is below the smallest DOUBLEs is 0, and what is at the largest or above is infinite.
    """
    finite = f"abs({{0}}) < {INFINITE} AND abs({{1}}) < {INFINITE}"
    infinite = f"CASE WHEN ({{0}} > 0) = ({{1}} > 0) THEN {INFINITE} ELSE -{INFINITE} END"
    return (
        f"(CASE WHEN abs({{0}}) BETWEEN {_PLAIN} AND abs({{1}}) BETWEEN {_PLAIN} THEN {{0}} {sign} {{1}} "
        f"WHEN {zero} OR NOT ({finite}) THEN {{0}} {sign} {{1}} "
        f"WHEN {size} < -744 THEN 0 "
        f"WHEN {size} > 709.7 THEN {infinite} "
        f"ELSE {{0}} {sign} {{1}} END)"
    )


_BY_ZERO = (
    "CASE WHEN {0} = 'NaN' OR {0} = 0 THEN 'NaN' "
    f"WHEN {{0}} > 0 THEN {INFINITE} WHEN {{0}} < 0 THEN -{INFINITE} END"
)
_IN_DOUBLES: Mapping[str, str] = {
    "+": _added("+"),
    "-": _added("-"),
    "*": _scaled("*", "ln(abs({0})) + ln(abs({1}))", "{0} = 0 OR {1} = 0"),
    "/": f"(CASE WHEN {{1}} = 0 THEN {_BY_ZERO} "
    f"ELSE {_scaled('/', 'ln(abs({0})) - ln(abs({1}))', '{0} = 0')} END)",
}


# ---- signs and rounding ------------------------------------------------------------------------------


def _negated(form: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        (argument,) = arguments
        if argument.kind is Kind.INTEGER:
            return f"({narrowed(form.format(f'CAST({texts[0]} AS numeric)'), argument.type)})"
        if argument.kind not in (Kind.DECIMAL, Kind.FLOAT):
            raise NotVetted(f"a sign of type {argument.type.said}")
        return f"({form.format(texts[0])})"

    return render


def _sign(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    _check_numbers("sign", arguments)
    whens = "WHEN {0} > 0 THEN 1 WHEN {0} < 0 THEN -1 WHEN {0} = 0 THEN 0"
    whens = f"WHEN {{0}} = 'NaN' THEN 0 {whens}" if arguments[0].kind is Kind.FLOAT else whens
    return once(f"CAST(CASE {whens} END AS {type_sql(TINYINT)})", texts[0])


def _not_a_number(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    if arguments[0].kind is not Kind.FLOAT:
        raise NotVetted(f"isnan of type {arguments[0].type.said}")
    return f"({texts[0]} = CAST('NaN' AS {type_sql(arguments[0].type)}))"


_AWAY = (
    "CASE WHEN abs({0}) >= 4503599627370496 THEN {0} "
    "WHEN abs({0} - trunc({0})) >= 0.5 THEN trunc({0}) + sign({0}) ELSE trunc({0}) END"
)
"""A DOUBLE rounded to a whole one, halves away from zero; from 2^52 on all are whole."""


def _rounded(name: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        argument = arguments[0]
        places = whole_constant(arguments[1]) or 0 if len(arguments) > 1 else 0
        match argument.kind:
            case Kind.INTEGER if signed(argument.type):
                return f"({narrowed(f'{name}(CAST({texts[0]} AS numeric), {places})', argument.type)})"
            case Kind.DECIMAL:
                target = rounded_type(argument, places, name)
                return f"({narrowed(f'{name}({texts[0]}, {places})', target)})"
            case Kind.FLOAT if argument.type == DOUBLE and not places:
                return f"({once('trunc({0})' if name == 'trunc' else _AWAY, texts[0])})"
            case Kind.FLOAT if argument.type == DOUBLE and name == "round" and 0 < places <= 15:
                power = f"CAST('1e{places}' AS float8)"
                near = f"CASE WHEN abs({{0}}) < 1e290 THEN ({_AWAY}) / {power} ELSE {{1}} END"
                scaled = once(f"CASE WHEN abs({{0}}) < 1e290 THEN {{0}} * {power} ELSE {{0}} END", texts[0])
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
        return f"{name}({converted(texts[0], argument, DOUBLE)})"

    return render


# ---- roots, powers, angles ---------------------------------------------------------------------------


def _of_double(form: str) -> Render:
    """Print a function of a DOUBLE; ``form`` may repeat it."""

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        _check_numbers("this function", arguments)
        return f"({once(form, *_doubles(texts, arguments))})"

    return render


def _logarithm(name: str) -> str:
    least = f"WHEN {{0}} = 0 THEN -{INFINITE} WHEN {{0}} < 0 THEN {NAN}"
    return f"CASE WHEN {{0}} > 0 THEN {name}({{0}}) {least} END"


def _within(condition: str, form: str) -> str:
    return f"CASE WHEN {condition} THEN {form} WHEN {{0}} IS NOT NULL THEN {NAN} END"


_FINITE = f"abs({{0}}) < {INFINITE}"
_EXP = (
    f"CASE WHEN {{0}} = {NAN} THEN {NAN} WHEN {{0}} > 709.7 THEN {INFINITE} "
    "WHEN {0} < -708 THEN 0 ELSE exp({0}) END"
)
_ODD = "floor({1} / 2) <> {1} / 2"
_POWER = (
    "CASE WHEN {0} IS NULL OR {1} IS NULL THEN NULL WHEN {1} = 0 OR {0} = 1 THEN 1 "
    f"WHEN {{0}} = {NAN} OR {{1}} = {NAN} THEN {NAN} "
    f"WHEN {{0}} = 0 THEN CASE WHEN {{1}} > 0 THEN 0 ELSE {INFINITE} END "
    f"WHEN {{0}} < 0 AND floor({{1}}) <> {{1}} THEN {NAN} "
    f"WHEN abs({{0}}) = {INFINITE} OR abs({{1}}) = {INFINITE} THEN power({{0}}, {{1}}) "
    "WHEN abs({1}) < 1e-300 OR abs({0}) = 1 AND abs({1}) > 1e300 THEN 1 "
    f"WHEN abs({{1}}) > 1e300 THEN CASE WHEN ({{1}} > 0) = (abs({{0}}) > 1) THEN {INFINITE} ELSE 0 END "
    "WHEN {1} * ln(abs({0})) < -708 THEN 0 "
    f"WHEN {{1}} * ln(abs({{0}})) > 709.7 THEN CASE WHEN {{0}} < 0 AND {_ODD} THEN -{INFINITE} "
    f"ELSE {INFINITE} END ELSE power({{0}}, {{1}}) END"
)


def _finite(negated: bool) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        (argument,) = arguments
        match argument.kind:
            case Kind.FLOAT:
                size, infinite = f"abs({texts[0]})", f"CAST('infinity' AS {type_sql(argument.type)})"
                return f"({size} = {infinite})" if negated else f"({size} < {infinite})"
            case Kind.INTEGER | Kind.DECIMAL:
                return f"(CASE WHEN {texts[0]} IS NOT NULL THEN {'FALSE' if negated else 'TRUE'} END)"
            case Kind.DATE | Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
                return f"({'NOT ' if negated else ''}isfinite({texts[0]}))"
            case _:
                raise NotVetted(f"a test of type {argument.type.said}")

    return render


# ---- whole numbers -----------------------------------------------------------------------------------


def _multiple(name: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        least = type_range(BIGINT).low  # of which DuckDB knows no divisor
        parts = ", ".join(f"NULLIF(CAST({text} AS numeric), {least})" for text in texts)
        return f"({narrowed(f'{name}({parts})', BIGINT)})"

    return render


def _factorial(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    call = "CASE WHEN {0} BETWEEN 0 AND 33 THEN CAST(factorial(CAST({0} AS int8)) AS numeric) END"
    return f"({once(call, texts[0])})"


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
        count = literal.value
        if not left:
            return f"({texts[0]} >> {count})" if count < bits(argument.type) else _zero(texts[0], argument)
        most = int(type_range(argument.type).high) >> count
        return f"({once(f'CASE WHEN {{0}} BETWEEN 0 AND {most} THEN {{0}} << {count} END', texts[0])})"

    return render


def _zero(text: str, argument: Argument) -> str:
    return f"CAST(CASE WHEN {text} IS NOT NULL THEN 0 END AS {type_sql(argument.type)})"


def _check_bits(arguments: Arguments, target: Type) -> None:
    types = (*(argument.type for argument in arguments), target)
    if not all(each.kind is Kind.INTEGER and signed(each) and each != HUGEINT for each in types):
        raise NotVetted("bits of unsigned numbers, or of numbers wider than 64 bits")


RENDERS: Mapping[str, Render] = MappingProxyType(
    {
        **{sign: _arithmetic(sign) for sign in ("+", "-", "*", "/")},
        "//": _divided("div", "//"),
        "%": _divided("mod", "%"),
        "negate": _negated("-{}"),
        "abs": _negated("abs({})"),
        "sign": _sign,
        "isnan": _not_a_number,
        "isfinite": _finite(False),
        "isinf": _finite(True),
        "round": _rounded("round"),
        "trunc": _rounded("trunc"),
        "floor": _integral("floor"),
        "ceil": _integral("ceil"),
        "sqrt": _of_double(f"CASE WHEN {{0}} < 0 THEN {NAN} ELSE sqrt({{0}}) END"),
        "cbrt": _of_double("cbrt({0})"),
        "exp": _of_double(_EXP),
        "ln": _of_double(_logarithm("ln")),
        "log10": _of_double(_logarithm("log")),
        "pow": _of_double(_POWER),
        **{name: _of_double(_within(_FINITE, f"{name}({{0}})")) for name in ("sin", "cos", "tan")},
        **{name: _of_double(_within("abs({0}) <= 1", f"{name}({{0}})")) for name in ("asin", "acos")},
        "atan": _of_double("atan({0})"),
        "atan2": _of_double("atan2({0}, {1})"),
        "pi": lambda *_: f"CAST('{math.pi!r}' AS float8)",
        "gcd": _multiple("gcd"),
        "lcm": _multiple("lcm"),
        "factorial": _factorial,
        "&": _of_bits("({} & {})"),
        "|": _of_bits("({} | {})"),
        "xor": _of_bits("({} # {})"),
        "~": _of_bits("(~{})"),
        "<<": _shift(True),
        ">>": _shift(False),
    }
)
"""The text of each function."""
