"""Texts made of several: glued, replaced, repeated, formatted.

    name || ' ' || town    concat_ws(', ', street, town)    replace(name, 'a', 'b')

What is glued together is cut at 65,536 characters: by doubling a text in each of thirty subqueries one
person's row could otherwise be made to cost a second.
"""

from __future__ import annotations

import re

from dpsql.functions import MANY, Argument, ArgumentError, Arguments, Function, Render
from dpsql.functions.core.ranges import any_null
from dpsql.functions.core.types import named
from dpsql.functions.text.common import LONGEST, call_of, constant_number, constant_text, cut, spelled, text
from dpsql.ir.column import ANYTHING, VARCHAR, Fact, Kind, Type

_GLUED = {Kind.TEXT, Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP,
          Kind.TIME, Kind.UUID}  # fmt: skip


def _glue(arguments: Arguments, name: str) -> None:
    for each in arguments:
        if each.kind not in _GLUED and each.kind is not Kind.NULL:
            raise ArgumentError(f"{name} cannot glue {named(each.type)}", "write CAST(... AS VARCHAR)")


def _glued_result(arguments: Arguments, type: Type | None) -> Fact:
    _glue(arguments, "||")
    if any(each.kind is Kind.NULL for each in arguments):
        raise ArgumentError("|| with NULL is NULL", "leave it away, or use concat")
    return Fact(VARCHAR, ANYTHING, any_null(arguments))


def _glued(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    return cut("(" + " || ".join(spelled(t, a) for t, a in zip(texts, arguments, strict=True)) + ")")


def _concat_result(arguments: Arguments, type: Type | None) -> Fact:
    _glue(arguments, "concat")
    return Fact(VARCHAR, ANYTHING, nullable=False)


def _concat_ws_result(arguments: Arguments, type: Type | None) -> Fact:
    constant_text(arguments[0], "the separator")
    _glue(arguments[1:], "concat_ws")
    return Fact(VARCHAR, ANYTHING, nullable=False)


def _concat(name: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return cut(f"{name}({', '.join(spelled(t, a) for t, a in zip(texts, arguments, strict=True))})")

    return render


def _replace_result(arguments: Arguments, type: Type | None) -> Fact:
    text(arguments[0], "replace")
    for each in arguments[1:]:
        constant_text(each, "what is replaced and by what", 100)
    return Fact(VARCHAR, ANYTHING, arguments[0].fact.nullable)


def _replace(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    source, target = (constant_text(each, "text", 100) for each in arguments[1:])
    subject = spelled(texts[0], arguments[0])
    if len(target) <= len(source):
        return f"replace({subject}, {texts[1]}, {texts[2]})"
    return cut(f"replace({cut(subject)}, {texts[1]}, {texts[2]})")


def _translate_result(arguments: Arguments, type: Type | None) -> Fact:
    text(arguments[0], "translate")
    for each in arguments[1:]:
        constant_text(each, "the characters")
    return Fact(VARCHAR, ANYTHING, arguments[0].fact.nullable)


def _repeat_result(arguments: Arguments, type: Type | None) -> Fact:
    text(arguments[0], "repeat")
    constant_number(arguments[1], "how often a text is repeated", 0, 100)
    return Fact(VARCHAR, ANYTHING, arguments[0].fact.nullable)


def _repeat(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    count = constant_number(arguments[1], "how often a text is repeated", 0, 100)
    return f"repeat(left({spelled(texts[0], arguments[0])}, {LONGEST // max(1, count)}), {count})"


_SHOWN = {"{}": (Kind.TEXT, Kind.INTEGER, Kind.BOOLEAN, Kind.DATE), "%s": (Kind.TEXT,), "%d": (Kind.INTEGER,)}
_BRACES = re.compile(r"(?:[^{}\0]|\{\{|\}\}|\{\})*")
_PERCENTS = re.compile(r"(?:[^%\0]|%%|%s|%d)*")


def _holes(name: str, argument: Argument) -> list[str]:
    """The places that a constant format leaves for values; ArgumentError for any other format."""
    form = constant_text(argument, "the format")
    known, wanted = (_BRACES, "{}") if name == "format" else (_PERCENTS, "%s and %d")
    if not known.fullmatch(form):
        raise ArgumentError(f"the format {form[:40]!r} is not read", f"use {wanted} for a value, and text")
    plain = form.replace("{{", "").replace("}}", "").replace("%%", "")
    return re.findall(r"\{\}" if name == "format" else "%[sd]", plain)


def _formatted(name: str, example: str) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        holes, values = _holes(name, arguments[0]), arguments[1:]
        if len(holes) != len(values):
            raise ArgumentError(
                f"the format has {len(holes)} places for {len(values)} values",
                "give one value for each place",
            )
        for hole, each in zip(holes, values, strict=True):
            if each.kind not in _SHOWN[hole]:
                raise ArgumentError(f"{hole} does not show {named(each.type)}", "write CAST(... AS VARCHAR)")
        return Fact(VARCHAR, ANYTHING, any_null(arguments))

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        values = (
            spelled(text, each) if each.kind is Kind.TEXT else text
            for text, each in zip(texts[1:], arguments[1:], strict=True)
        )
        return cut(f"{name}({', '.join((texts[0], *values))})")

    names = () if name == "format" else (name,)
    return Function(name, result, render, example, (1, MANY), names=names)


def _listed_result(arguments: Arguments, type: Type | None) -> Fact:
    constant_text(arguments[0], "the separator")
    for each in arguments[1:]:
        text(each, "array_to_string")
    return Fact(VARCHAR, ANYTHING, nullable=True)


def _joined_by(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    items = (spelled(text, each) for text, each in zip(texts[1:], arguments[1:], strict=True))
    return cut(f"array_to_string([{', '.join(items)}], {texts[0]})")


FUNCTIONS = (
    Function("||", _glued_result, _glued, "s || '-' || i", (2, MANY)),
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
        "array_to_string", _listed_result, _joined_by, "array_to_string([s, c], '-')", (2, MANY), strict=False
    ),
)
