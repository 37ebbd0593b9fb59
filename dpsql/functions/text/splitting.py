"""Parts of a text, by position or by separator.

substring(name, 1, 3)    left(name, 1)    split_part(address, ', ', 2)    lpad(code, 5, '0')
"""

from __future__ import annotations

from dpsql.functions import ArgumentError, Arguments, Function
from dpsql.functions.core.conversion import converted
from dpsql.functions.core.ranges import any_null, possible
from dpsql.functions.core.types import holds, named
from dpsql.functions.text.common import (
    check_text,
    constant_number,
    constant_text,
    cut,
    size_of,
    sized,
    spelled,
)
from dpsql.ir.column import ANYTHING, INTEGER, VARCHAR, Fact, Kind, Type


def _trim(name: str) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        check_text(arguments[0], name)
        if len(arguments) == 2:
            constant_text(arguments[1], "the characters to trim")
        return Fact(VARCHAR, sized(size_of(arguments[0])), any_null(arguments))

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return f"{name}({', '.join((spelled(texts[0], arguments[0]), *texts[1:]))})"

    return Function(name, result, render, f"{name}(s)", (1, 2))


def _part(name: str, arity: tuple[int, int], example: str, names: tuple[str, ...] = ()) -> Function:
    """Return a function of offsets and lengths; those outside of INTEGER give NULL."""

    def result(arguments: Arguments, type: Type | None) -> Fact:
        check_text(arguments[0], name)
        for argument in arguments[1:]:
            if argument.kind is not Kind.INTEGER:
                raise ArgumentError(
                    f"{name} takes whole numbers, not {named(argument.type)}",
                    "write CAST(... AS INTEGER)",
                )
        fails = not all(holds(INTEGER, possible(argument)) for argument in arguments[1:])
        return Fact(VARCHAR, sized(_part_size(name, arguments)), any_null(arguments) or fails)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        counts = (converted(t, a, INTEGER) for t, a in zip(texts[1:], arguments[1:], strict=True))
        return f"{name}({', '.join((spelled(texts[0], arguments[0]), *counts))})"

    return Function(name, result, render, example, arity, names=names)


def _part_size(name: str, arguments: Arguments) -> int | None:
    """Return the most characters of a part: those of the text, or as many as a constant says."""
    count = arguments[-1].literal if len(arguments) > (2 if name.startswith("substring") else 1) else None
    known = [size_of(arguments[0])]
    if count is not None and isinstance(count.value, int) and count.value >= 0 and "grapheme" not in name:
        known.append(count.value)
    return min((size for size in known if size is not None), default=None)


def _overlay_result(arguments: Arguments, type: Type | None) -> Fact:
    check_text(arguments[0], "overlay")
    constant_text(arguments[1], "the replacement")
    for argument in arguments[2:]:
        constant_number(argument, "a position or length", 0, 100_000)
    return Fact(VARCHAR, ANYTHING, arguments[0].fact.nullable)


def _overlay(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    return cut(f"overlay({', '.join((spelled(texts[0], arguments[0]), *texts[1:]))})")


def _pad(name: str) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        check_text(arguments[0], name)
        constant_number(arguments[1], "the length", 0, 1_000)
        constant_text(arguments[2], "the padding", least=1)
        length = constant_number(arguments[1], "the length", 0, 1_000)
        return Fact(VARCHAR, sized(length), arguments[0].fact.nullable)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        size = converted(texts[1], arguments[1], INTEGER)
        return f"{name}({spelled(texts[0], arguments[0])}, {size}, {texts[2]})"

    return Function(name, result, render, f"{name}(s, 5, '*')", (3, 3))


def _split_part_result(arguments: Arguments, type: Type | None) -> Fact:
    check_text(arguments[0], "split_part")
    constant_text(arguments[1], "the separator")
    constant_number(arguments[2], "the part's number", -1_000, 1_000)
    return Fact(VARCHAR, sized(size_of(arguments[0])), arguments[0].fact.nullable)


def _split_part(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    return f"split_part({spelled(texts[0], arguments[0])}, {texts[1]}, {texts[2]})"


FUNCTIONS = (
    _trim("trim"),
    _trim("ltrim"),
    _trim("rtrim"),
    _part("substring", (2, 3), "substring(s, 2, 3)"),
    _part("left", (2, 2), "left(s, 2)"),
    _part("right", (2, 2), "right(s, 2)"),
    _part("substring_grapheme", (2, 3), "substring_grapheme(s, 2, 3)", names=("substring_grapheme",)),
    _part("left_grapheme", (2, 2), "left_grapheme(s, 2)", names=("left_grapheme",)),
    _part("right_grapheme", (2, 2), "right_grapheme(s, 2)", names=("right_grapheme",)),
    Function("overlay", _overlay_result, _overlay, "overlay(s, 'xy', 2, 1)", (3, 4)),
    _pad("lpad"),
    _pad("rpad"),
    Function("split_part", _split_part_result, _split_part, "split_part(s, '-', 2)", (3, 3)),
)
