"""Concatenation, replacement, repetition and formatting of text.

    name || ' ' || town    concat_ws(', ', street, town)    replace(name, 'a', 'b')

Results are cut at 65,536 characters. Otherwise thirty nested subqueries, each doubling a text, could
make the query time depend on one unit's row.
"""

from __future__ import annotations

import re

from dpsql.functions import MANY, Argument, ArgumentError, Arguments, Function, Render
from dpsql.functions.core.ranges import any_null
from dpsql.functions.core.types import named
from dpsql.functions.text.common import (
    LONGEST,
    call_of,
    check_text,
    constant_number,
    constant_text,
    cut,
    sized,
    spelled,
    total_size,
)
from dpsql.ir.column import ANYTHING, VARCHAR, Fact, Kind, Type

_CONCATENABLE = {Kind.TEXT, Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP,
          Kind.TIME, Kind.UUID}  # fmt: skip


def _check_concatenable(arguments: Arguments, name: str) -> None:
    for argument in arguments:
        if argument.kind not in _CONCATENABLE and argument.kind is not Kind.NULL:
            raise ArgumentError(
                f"{name} cannot concatenate {named(argument.type)}", "write CAST(... AS VARCHAR)"
            )


def _concatenation_result(arguments: Arguments, type: Type | None) -> Fact:
    _check_concatenable(arguments, "||")
    if any(argument.kind is Kind.NULL for argument in arguments):
        raise ArgumentError("|| with NULL is NULL", "leave it out, or use concat")
    return Fact(VARCHAR, sized(total_size(arguments)), any_null(arguments))


def _concatenation(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    return cut("(" + " || ".join(spelled(t, a) for t, a in zip(texts, arguments, strict=True)) + ")")


def _concat_result(arguments: Arguments, type: Type | None) -> Fact:
    _check_concatenable(arguments, "concat")
    return Fact(VARCHAR, sized(total_size(arguments)), nullable=False)


def _concat_ws_result(arguments: Arguments, type: Type | None) -> Fact:
    separator = constant_text(arguments[0], "the separator")
    _check_concatenable(arguments[1:], "concat_ws")
    size = total_size(arguments[1:])
    most = None if size is None else size + len(separator) * (len(arguments) - 2)
    return Fact(VARCHAR, sized(most), nullable=False)


def _concat(name: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return cut(f"{name}({', '.join(spelled(t, a) for t, a in zip(texts, arguments, strict=True))})")

    return render


def _replace_result(arguments: Arguments, type: Type | None) -> Fact:
    check_text(arguments[0], "replace")
    for argument in arguments[1:]:
        constant_text(argument, "the text to replace or its replacement", 100)
    return Fact(VARCHAR, ANYTHING, arguments[0].fact.nullable)


def _replace(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    source, target = (constant_text(argument, "text", 100) for argument in arguments[1:])
    subject = spelled(texts[0], arguments[0])
    if len(target) <= len(source):
        return f"replace({subject}, {texts[1]}, {texts[2]})"
    return cut(f"replace({cut(subject)}, {texts[1]}, {texts[2]})")


def _translate_result(arguments: Arguments, type: Type | None) -> Fact:
    check_text(arguments[0], "translate")
    for argument in arguments[1:]:
        constant_text(argument, "the characters")
    return Fact(VARCHAR, ANYTHING, arguments[0].fact.nullable)


def _repeat_result(arguments: Arguments, type: Type | None) -> Fact:
    check_text(arguments[0], "repeat")
    constant_number(arguments[1], "the number of repetitions", 0, 100)
    return Fact(VARCHAR, ANYTHING, arguments[0].fact.nullable)


def _repeat(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    count = constant_number(arguments[1], "the number of repetitions", 0, 100)
    return f"repeat(left({spelled(texts[0], arguments[0])}, {LONGEST // max(1, count)}), {count})"


_FORMATTED = {
    "{}": (Kind.TEXT, Kind.INTEGER, Kind.BOOLEAN, Kind.DATE),
    "%s": (Kind.TEXT,),
    "%d": (Kind.INTEGER,),
}
_BRACES = re.compile(r"(?:[^{}\0]|\{\{|\}\}|\{\})*")
_PERCENTS = re.compile(r"(?:[^%\0]|%%|%s|%d)*")


def _placeholders(name: str, argument: Argument) -> list[str]:
    """Return the placeholders of a constant format; refuse an unsupported format."""
    form = constant_text(argument, "the format")
    known, wanted = (_BRACES, "{}") if name == "format" else (_PERCENTS, "%s and %d")
    if not known.fullmatch(form):
        raise ArgumentError(
            f"the format {form[:40]!r} is not supported", f"use {wanted} for a value, and text"
        )
    plain = form.replace("{{", "").replace("}}", "").replace("%%", "")
    return re.findall(r"\{\}" if name == "format" else "%[sd]", plain)


def _formatted(name: str, example: str) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        holes, values = _placeholders(name, arguments[0]), arguments[1:]
        if len(holes) != len(values):
            raise ArgumentError(
                f"the format has {len(holes)} placeholders for {len(values)} values",
                "give one value for each placeholder",
            )
        for hole, value in zip(holes, values, strict=True):
            if value.kind not in _FORMATTED[hole]:
                raise ArgumentError(f"{hole} does not take {named(value.type)}", "write CAST(... AS VARCHAR)")
        return Fact(VARCHAR, ANYTHING, any_null(arguments))

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        values = (
            spelled(text, argument) if argument.kind is Kind.TEXT else text
            for text, argument in zip(texts[1:], arguments[1:], strict=True)
        )
        return cut(f"{name}({', '.join((texts[0], *values))})")

    names = () if name == "format" else (name,)
    return Function(name, result, render, example, (1, MANY), names=names)


def _array_to_string_result(arguments: Arguments, type: Type | None) -> Fact:
    constant_text(arguments[0], "the separator")
    for argument in arguments[1:]:
        check_text(argument, "array_to_string")
    return Fact(VARCHAR, ANYTHING, nullable=True)


def _array_to_string(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    items = (spelled(text, argument) for text, argument in zip(texts[1:], arguments[1:], strict=True))
    return cut(f"array_to_string([{', '.join(items)}], {texts[0]})")


FUNCTIONS = (
    Function("||", _concatenation_result, _concatenation, "s || '-' || i", (2, MANY)),
    Function("concat", _concat_result, _concat("concat"), "concat(s, '-', i)", (1, MANY), strict=False),
    Function(
        "concat_ws", _concat_ws_result, _concat("concat_ws"), "concat_ws('-', s, i)", (2, MANY), strict=False
    ),
    Function("replace", _replace_result, _replace, "replace(s, 'a', 'xyz')", (3, 3)),
    Function("translate", _translate_result, call_of("translate"), "translate(s, 'abc', 'xy')", (3, 3)),
    Function("repeat", _repeat_result, _repeat, "repeat(s, 3)", (2, 2)),
    _formatted("format", "format('{}: {}', s, i)"),
    _formatted("printf", "printf('%s: %d', s, i)"),
    Function(
        "array_to_string",
        _array_to_string_result,
        _array_to_string,
        "array_to_string([s, c], '-')",
        (2, MANY),
        strict=False,
    ),
)
