"""Functions of numbers: rounding, roots, logarithms, angles, bits, the greatest and the least.

    round(price, 1)             a DECIMAL of one digit behind the point
    least(greatest(x, 0), 500)  [0, 500]: the analyst's own bound
    ln(0), sqrt(-1)             -infinity and NaN, as in DuckDB 2.0

Ranges of functions that come from a library of mathematics are taken a little wider than computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dpsql.functions import MANY, Argument, Arguments, Function, Unfit, together
from dpsql.functions.arithmetic import narrowed, numbers
from dpsql.functions.conditional import domain_of
from dpsql.functions.conversion import converted, converted_fact, range_as, rounded_to
from dpsql.functions.ranges import any_null, corners, known, outward, possible, truth, within
from dpsql.functions.types import (
    FLOAT,
    TINYINT,
    adapted,
    bits,
    both_integers,
    common_type,
    decimal,
    digits,
    holds,
    named,
    signed,
)
from dpsql.ir.column import (
    BIGINT,
    DOUBLE,
    EVERYWHERE,
    HUGEINT,
    INTEGER,
    Fact,
    Interval,
    Kind,
    Number,
    Type,
    type_range,
)

# ---- functions of a DOUBLE -------------------------------------------------------------------------

Curve = Callable[[Interval], Interval]


def _double(name: str, curve: Curve, example: str | None = None) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        numbers(arguments, name)
        whole = known(arguments[0])
        return within(DOUBLE, curve(Interval(float(whole.low), float(whole.high))), any_null(arguments))

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return f"{name}({converted(texts[0], arguments[0], DOUBLE)})"

    return Function(name, result, render, example or f"{name}(x)")


def rising(function: Callable[[float], float], low: float = -math.inf, high: float = math.inf) -> Curve:
    """The curve of a rising function on [low, high]; it is NaN elsewhere."""

    def curve(whole: Interval) -> Interval:
        left, right = max(float(whole.low), low), min(float(whole.high), high)
        if left > right:
            return Interval(0.0, 0.0)
        return outward(Interval(*(_at(function, end) for end in (left, right))))

    return curve


def _at(function: Callable[[float], float], end: float) -> float:
    try:
        return function(end)
    except OverflowError:
        return math.copysign(math.inf, end)
    except ValueError:  # a pole: ln(0), atanh(-1)
        return math.inf if end == 1 else -math.inf


def falling(function: Callable[[float], float], low: float, high: float) -> Curve:
    mirrored = rising(lambda end: -function(end), low, high)

    def curve(whole: Interval) -> Interval:
        found = mirrored(whole)
        return Interval(-found.high, -found.low)

    return curve


def even_curve(function: Callable[[float], float]) -> Curve:
    """The curve of a function that falls to zero and rises from there."""
    rise = rising(function, 0.0)

    def curve(whole: Interval) -> Interval:
        size = max(abs(whole.low), abs(whole.high))
        least = 0.0 if whole.low <= 0 <= whole.high else min(abs(whole.low), abs(whole.high))
        return rise(Interval(least, size))

    return curve


def within_bounds(low: float, high: float) -> Curve:
    return lambda whole: Interval(low, high)


def _everywhere(whole: Interval) -> Interval:
    return EVERYWHERE


def _scaled_by(factor: float) -> Curve:
    return lambda whole: outward(Interval(whole.low * factor, whole.high * factor))


_CURVES = (
    _double("sqrt", rising(math.sqrt, 0.0)),
    _double("cbrt", rising(math.cbrt)),
    _double("exp", rising(math.exp)),
    _double("ln", rising(math.log, 0.0)),
    _double("log10", rising(math.log10, 0.0), "log10(x)"),
    _double("log2", rising(math.log2, 0.0), "log2(x)"),
    _double("degrees", _scaled_by(180 / math.pi)),
    _double("radians", _scaled_by(math.pi / 180)),
    _double("sin", within_bounds(-1.0, 1.0)),
    _double("cos", within_bounds(-1.0, 1.0)),
    _double("tan", _everywhere),
    _double("cot", _everywhere),
    _double("asin", rising(math.asin, -1.0, 1.0)),
    _double("acos", falling(math.acos, -1.0, 1.0)),
    _double("atan", rising(math.atan)),
    _double("sinh", rising(math.sinh)),
    _double("cosh", even_curve(math.cosh)),
    _double("tanh", rising(math.tanh)),
    _double("asinh", rising(math.asinh)),
    _double("acosh", rising(math.acosh, 1.0)),
    _double("atanh", rising(math.atanh, -1.0, 1.0)),
    _double("gamma", _everywhere),
    _double("lgamma", _everywhere),
    _double("even", lambda whole: Interval(whole.low - 2, whole.high + 2)),
)


def _doubles(texts: tuple[str, ...], arguments: Arguments) -> str:
    return ", ".join(converted(t, a, DOUBLE) for t, a in zip(texts, arguments, strict=True))


def _power_result(arguments: Arguments, type: Type | None) -> Fact:
    numbers(arguments, "pow")
    base, exponent = known(arguments[0]), known(arguments[1])
    whole = EVERYWHERE
    power = exponent.low
    if power == exponent.high and float(power).is_integer() and 0 < power < 1_000:
        whole = outward((even_curve if power % 2 == 0 else rising)(_raised(int(power)))(base))
    elif base.low > 0 or (base.low == 0 and exponent.low >= 0):
        whole = outward(corners(_power, base, exponent))
        if exponent.low <= 0 <= exponent.high or base.low <= 1 <= base.high:
            whole = Interval(min(whole.low, 1.0), max(whole.high, 1.0))
    return within(DOUBLE, whole, any_null(arguments))


def _raised(power: int) -> Callable[[float], float]:
    return lambda end: _power(end, power)


def _power(base: Number, exponent: Number) -> Number:
    try:
        return math.pow(base, exponent)
    except (OverflowError, ValueError):
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf


def _log_result(arguments: Arguments, type: Type | None) -> Fact:
    numbers(arguments, "log")
    return within(DOUBLE, EVERYWHERE, any_null(arguments))


def _atan2_result(arguments: Arguments, type: Type | None) -> Fact:
    numbers(arguments, "atan2")
    return within(DOUBLE, Interval(-math.pi, math.pi), any_null(arguments))


# ---- rounding --------------------------------------------------------------------------------------


def _places(arguments: Arguments, name: str) -> int:
    """The constant number of digits behind the point."""
    if len(arguments) == 1:
        return 0
    literal = arguments[1].literal
    if literal is None or not isinstance(literal.value, int) or not -100 <= literal.value <= 100:
        raise Unfit(f"{name} takes a constant number of digits", f"write {name}(x, 2)")
    return literal.value


def _rounded_type(argument: Argument, places: int, name: str) -> Type:
    match argument.kind:
        case Kind.DECIMAL:
            width, scale = digits(argument.type)
            return decimal(width, max(0, min(places, scale)))
        case Kind.INTEGER if name != "trunc" and not signed(argument.type):
            return {128: DOUBLE, 64: HUGEINT}.get(bits(argument.type), BIGINT)
        case _:
            return argument.type


def _rounding_result(name: str) -> Callable[[Arguments, Type | None], Fact]:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        numbers(arguments, name)
        places, one = _places(arguments, name), arguments[0]
        target, whole = _rounded_type(one, places, name), known(one)
        if one.kind is Kind.INTEGER and places >= 0:
            return within(target, whole, any_null(arguments))
        slack = 0.0 if places > 300 else 10.0 ** -max(places, -300)
        if one.kind is Kind.FLOAT or name == "trunc" or places < 0:
            ends = Interval(whole.low - slack, whole.high + slack)
            if one.kind is Kind.FLOAT:  # DuckDB scales up, rounds and scales down: the last digit may move
                ends = outward(ends, 1e-6 if one.type == FLOAT else 1e-14)
            if name == "trunc" or places < 0:
                ends = Interval(min(ends.low, 0), max(ends.high, 0))
            if one.kind is Kind.INTEGER:
                ends = Interval(*(end if math.isinf(end) else int(end) for end in (ends.low, ends.high)))
        else:
            ends = Interval(rounded_to(whole.low, places).low, rounded_to(whole.high, places).high)
        fails = one.kind is Kind.INTEGER and name == "round"
        return within(target, ends, any_null(arguments) or fails or (one.kind is Kind.DECIMAL and fails))

    return result


def _rounding(name: str) -> Callable[[tuple[str, ...], Arguments, Type | None], str]:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        one, places = arguments[0], _places(arguments, name)
        target = _rounded_type(one, places, name)
        if one.kind is Kind.INTEGER and places >= 0:
            return converted(texts[0], one, target)
        digits_behind = f", {places}" if len(arguments) > 1 else ""
        if one.kind is Kind.INTEGER and name == "round":  # near the type's ends it would overflow
            if bits(one.type) >= 64:
                size = f"{converted(texts[0], one, DOUBLE)}{digits_behind}"
                return f"TRY_CAST(round({size}) AS {target.sql})"
            return narrowed(f"round({converted(texts[0], one, BIGINT)}{digits_behind})", BIGINT, target)
        return f"{name}({texts[0]}{digits_behind})"

    return render


def _whole_result(function: Callable[[Number], int], name: str) -> Callable[[Arguments, Type | None], Fact]:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        numbers(arguments, name)
        (one,) = arguments
        whole = known(one)
        ends = Interval(*(e if math.isinf(e) else float(function(e)) for e in (whole.low, whole.high)))
        return within(_whole_type(one), ends, any_null(arguments))

    return result


def _whole_type(argument: Argument) -> Type:
    if argument.kind is Kind.DECIMAL:
        return decimal(digits(argument.type)[0], 0)
    return FLOAT if argument.type == FLOAT else DOUBLE


# ---- the greatest and the least --------------------------------------------------------------------


def _extreme(name: str, best: Callable[[float, float], float]) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        target = common_type(arguments)
        if any(each.type.sql.startswith("ENUM(") for each in arguments):
            raise Unfit("an ENUM has no order here", "write CAST(... AS VARCHAR)")
        facts = [converted_fact(each, target) for each in arguments]
        nullable = all(fact.nullable for fact in facts)
        if not (target.numeric or target.kind in (Kind.DATE, Kind.TIMESTAMP)):
            return Fact(target, domain_of(arguments, target), nullable)
        ranges = [(range_as(Argument(fact), target), fact.nullable) for fact in facts]
        lows, highs = [each.low for each, _ in ranges], [each.high for each, _ in ranges]
        sure = [each for each, null in ranges if not null]  # NULL takes no part
        if best is max:
            low = max([min(lows), *(each.low for each in sure)])
            return within(target, Interval(low, max(highs)), nullable)
        # nor does NaN, which is greater than all numbers
        sure = [
            each
            for (each, null), given in zip(ranges, arguments, strict=True)
            if not null and (given.kind is not Kind.FLOAT or given.literal is not None)
        ]
        high = min([max(highs), *(each.high for each in sure)])
        return within(target, Interval(min(lows), high), nullable)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        target = common_type(arguments)
        parts = (converted(text, each, target) for text, each in zip(texts, arguments, strict=True))
        return f"{name}({', '.join(parts)})"

    return Function(name, result, render, f"{name}(i, 5)", (1, MANY), together, strict=False)


# ---- whole numbers and bits ------------------------------------------------------------------------


def _whole_numbers(arguments: Arguments, name: str) -> None:
    for each in arguments:
        if each.kind is not Kind.INTEGER:
            raise Unfit(f"{name} takes whole numbers, not {named(each.type)}")


def _bits(sign: str, form: str, example: str) -> Function:
    def target_of(arguments: Arguments) -> Type:
        _whole_numbers(arguments, sign)
        return both_integers(*adapted(*arguments)) if len(arguments) == 2 else arguments[0].type

    def result(arguments: Arguments, type: Type | None) -> Fact:
        target = target_of(arguments)
        nullable = any(converted_fact(each, target).nullable for each in arguments)
        ranges = [known(each) for each in arguments]
        whole = EVERYWHERE
        if all(each.finite and each.low >= 0 for each in ranges) and sign != "~":
            size = 2 ** max(int(each.high).bit_length() for each in ranges) - 1
            whole = Interval(0, min(each.high for each in ranges) if sign == "&" else size)
        elif sign == "~":
            top = 0 if signed(target) else type_range(target).high
            whole = Interval(top - 1 - ranges[0].high, top - 1 - ranges[0].low)
            whole = whole if signed(target) else Interval(top - ranges[0].high, top - ranges[0].low)
        return within(target, whole, nullable)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        target = target_of(arguments)
        parts = (converted(text, each, target) for text, each in zip(texts, arguments, strict=True))
        return form.format(*parts)

    return Function(sign, result, render, example, (1, 1) if sign == "~" else (2, 2))


def _shift_result(arguments: Arguments, type: Type | None) -> Fact:
    _whole_numbers(arguments, ">>")
    count = arguments[1].literal
    if count is None or not isinstance(count.value, int) or not 0 <= count.value < 64:
        raise Unfit("a shift takes a constant number of bits", "write x >> 3")
    whole = known(arguments[0])
    ends = Interval(min(whole.low, 0), max(whole.high, 0))
    return within(arguments[0].type, ends, any_null(arguments))


def _shift(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    return f"({texts[0]} >> {texts[1]})"


def _bit_count_result(arguments: Arguments, type: Type | None) -> Fact:
    _whole_numbers(arguments, "bit_count")
    if bits(arguments[0].type) == 128:  # 128 bits overflow the TINYINT that DuckDB counts in
        raise Unfit("bit_count takes numbers of 64 bits", "write CAST(... AS BIGINT)")
    return within(TINYINT, Interval(0, bits(arguments[0].type)), any_null(arguments))


def _gcd_result(arguments: Arguments, type: Type | None) -> Fact:
    _whole_numbers(arguments, "gcd")
    if not all(holds(BIGINT, type_range(each.type)) for each in arguments):
        raise Unfit("gcd takes numbers of 64 bits", "write CAST(... AS BIGINT)")
    size = max(max(abs(each.low), abs(each.high)) for each in map(known, arguments))
    fails = any(possible(each).low <= type_range(BIGINT).low for each in arguments)
    return within(BIGINT, Interval(0, size), any_null(arguments) or fails)


def _gcd(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    parts = []
    for text, each in zip(texts, arguments, strict=True):
        part = converted(text, each, BIGINT)
        parts.append(part if possible(each).low > type_range(BIGINT).low else f"NULLIF({part}, {_LEAST})")
    return f"gcd({', '.join(parts)})"


_LEAST = "-9223372036854775808"


def _factorial_result(arguments: Arguments, type: Type | None) -> Fact:
    _whole_numbers(arguments, "factorial")
    whole = known(arguments[0])
    top = int(max(0, min(whole.high, 33)))
    return within(HUGEINT, Interval(1, math.factorial(top)), nullable=True)


def _factorial(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    number = converted(texts[0], arguments[0], INTEGER)
    return f"(CASE WHEN {number} BETWEEN 0 AND 33 THEN factorial({number}) END)"


def _test_result(arguments: Arguments, type: Type | None) -> Fact:
    numbers(arguments, "this test")
    return truth(any_null(arguments))


def _pi_result(arguments: Arguments, type: Type | None) -> Fact:
    return Fact(DOUBLE, Interval(math.pi, math.pi), nullable=False)


FUNCTIONS = (
    *_CURVES,
    Function("pow", _power_result, lambda t, a, _: f"pow({_doubles(t, a)})", "pow(x, 2)", (2, 2)),
    Function("log", _log_result, lambda t, a, _: f"log({_doubles(t, a)})", "log(3, x)", (2, 2)),
    Function("atan2", _atan2_result, lambda t, a, _: f"atan2({_doubles(t, a)})", "atan2(x, y)", (2, 2)),
    Function("pi", _pi_result, lambda t, a, _: "pi()", "pi()", (0, 0)),
    Function("round", _rounding_result("round"), _rounding("round"), "round(x, 1)", (1, 2)),
    Function("trunc", _rounding_result("trunc"), _rounding("trunc"), "trunc(x)", (1, 2)),
    Function("floor", _whole_result(math.floor, "floor"), lambda t, a, _: f"floor({t[0]})", "floor(x)"),
    Function("ceil", _whole_result(math.ceil, "ceil"), lambda t, a, _: f"ceil({t[0]})", "ceil(x)"),
    _extreme("greatest", max),
    _extreme("least", min),
    _bits("&", "({} & {})", "i & 12"),
    _bits("|", "({} | {})", "i | 12"),
    _bits("xor", "xor({}, {})", "xor(i, 12)"),
    _bits("~", "(~{})", "~i"),
    Function(">>", _shift_result, _shift, "i >> 2", (2, 2)),
    Function("bit_count", _bit_count_result, lambda t, a, _: f"bit_count({t[0]})", "bit_count(i)"),
    Function("gcd", _gcd_result, _gcd, "gcd(i, 12)", (2, 2)),
    Function("factorial", _factorial_result, _factorial, "factorial(i)"),
    Function("isnan", _test_result, lambda t, a, _: f"isnan({t[0]})", "isnan(x)"),
    Function("signbit", _test_result, lambda t, a, _: f"signbit({t[0]})", "signbit(x)"),
)
