"""Numbers as text: characters by code, digits in another base, sizes in bytes.

chr(65)    hex(age)    to_base(age, 2)    format_bytes(steps)
"""

from __future__ import annotations

from dpsql.functions import ArgumentError, Arguments, Function
from dpsql.functions.core.conversion import converted
from dpsql.functions.core.ranges import known, possible
from dpsql.functions.core.types import holds, named
from dpsql.functions.text.common import constant_number, cut, spelled
from dpsql.ir.column import ANYTHING, BIGINT, INTEGER, VARCHAR, Fact, Kind, Type


def _chr_result(arguments: Arguments, type: Type | None) -> Fact:
    (argument,) = arguments
    if argument.kind is not Kind.INTEGER:
        raise ArgumentError(f"chr takes a whole number, not {named(argument.type)}")
    interval = known(argument)
    return Fact(
        VARCHAR, ANYTHING, argument.fact.nullable or not (interval.low >= 0 and interval.high <= 55_295)
    )


def _chr(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    number = converted(texts[0], arguments[0], INTEGER)
    return f"(CASE WHEN {number} BETWEEN 0 AND 55295 THEN chr({number}) END)"


def _digits(name: str, names: tuple[str, ...] = ()) -> Function:
    """Return ``hex`` or ``bin`` of a whole number, or of the bytes of a text, which is cut first."""

    def result(arguments: Arguments, type: Type | None) -> Fact:
        (argument,) = arguments
        if argument.kind not in (Kind.INTEGER, Kind.TEXT):
            raise ArgumentError(f"{name} takes a whole number or text, not {named(argument.type)}")
        return Fact(VARCHAR, ANYTHING, argument.fact.nullable)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        (argument,) = arguments
        return (
            f"{name}({texts[0]})"
            if argument.kind is Kind.INTEGER
            else cut(f"{name}({cut(spelled(texts[0], argument))})")
        )

    return Function(name, result, render, f"{name}(i)", names=names)


def _to_base_result(arguments: Arguments, type: Type | None) -> Fact:
    if arguments[0].kind is not Kind.INTEGER:
        raise ArgumentError(f"to_base takes a whole number, not {named(arguments[0].type)}")
    constant_number(arguments[1], "the base", 2, 36)
    for argument in arguments[2:]:
        constant_number(argument, "the minimum length", 0, 64)
    interval = possible(arguments[0])
    return Fact(
        VARCHAR, ANYTHING, arguments[0].fact.nullable or interval.low < 0 or not holds(BIGINT, interval)
    )


def _to_base(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    number = converted(texts[0], arguments[0], BIGINT)
    call = f"to_base({', '.join((number, *texts[1:]))})"
    return call if possible(arguments[0]).low >= 0 else f"(CASE WHEN {number} >= 0 THEN {call} END)"


def _size(name: str, names: tuple[str, ...]) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        (argument,) = arguments
        if argument.kind is not Kind.INTEGER:
            raise ArgumentError(
                f"{name} takes a whole number, not {named(argument.type)}", "write CAST(... AS BIGINT)"
            )
        return Fact(VARCHAR, ANYTHING, argument.fact.nullable or not holds(BIGINT, possible(argument)))

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return f"{name}({converted(texts[0], arguments[0], BIGINT)})"

    return Function(name, result, render, f"{name}(i)", names=names)


FUNCTIONS = (
    Function("chr", _chr_result, _chr, "chr(i)"),
    _digits("hex"),
    _digits("bin", ("bin",)),
    Function("to_base", _to_base_result, _to_base, "to_base(i, 2)", (2, 3), names=("to_base",)),
    _size("format_bytes", ("format_bytes", "formatreadablesize", "pg_size_pretty")),
    _size("formatReadableDecimalSize", ("formatreadabledecimalsize",)),
)
