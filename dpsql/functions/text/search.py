"""Search for a constant text, and patterns of LIKE and GLOB.

contains(name, 'a')    name LIKE 'A%'    strpos(name, '-')
"""

from __future__ import annotations

from dpsql.functions import ArgumentError, Arguments, Function, Render
from dpsql.functions.core.ranges import truth, within
from dpsql.functions.text.common import check_text, constant_text, size_of, spelled
from dpsql.ir.column import BIGINT, EVERYWHERE, Fact, Interval, Type


def _search(name: str, target: Type | None = None, names: tuple[str, ...] = ()) -> Function:
    """Return a function that searches for a constant text."""

    def result(arguments: Arguments, type: Type | None) -> Fact:
        check_text(arguments[0], name)
        constant_text(arguments[1], "the text searched for")
        nullable = arguments[0].fact.nullable
        size = size_of(arguments[0])
        most = (
            EVERYWHERE.high if size is None else size + 1
        )  # an empty text is found behind the last character
        return truth(nullable) if target is None else within(target, Interval(0, most), nullable)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return f"{name}({spelled(texts[0], arguments[0])}, {texts[1]})"

    return Function(name, result, render, f"{name}(s, 'a')", (2, 2), names=names)


def _like(word: str) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        check_text(arguments[0], word)
        pattern = constant_text(arguments[1], "the pattern")
        if len(arguments) == 3:
            escape = constant_text(arguments[2], "the escape character", 1, 1)
            if (len(pattern) - len(pattern.rstrip(escape))) % 2:
                raise ArgumentError("the pattern ends with its escape character")
        return truth(arguments[0].fact.nullable)

    def rendered(word: str) -> Render:
        def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
            escape = f" ESCAPE {texts[2]}" if len(texts) == 3 else ""
            return f"({spelled(texts[0], arguments[0])} {word} {texts[1]}{escape})"

        return render

    negated = rendered(f"NOT {word}")
    return Function(word.lower(), result, rendered(word), f"s {word} 'a%'", (2, 3), negated=negated)


def _glob_result(arguments: Arguments, type: Type | None) -> Fact:
    check_text(arguments[0], "GLOB")
    constant_text(arguments[1], "the pattern")
    return truth(arguments[0].fact.nullable)


def _glob(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    return f"({spelled(texts[0], arguments[0])} GLOB {texts[1]})"


FUNCTIONS = (
    _search("contains"),
    _search("starts_with", names=("starts_with", "prefix")),
    _search("ends_with", names=("ends_with", "suffix")),
    _search("strpos", BIGINT),
    _like("LIKE"),
    _like("ILIKE"),
    Function("glob", _glob_result, _glob, "s GLOB 'a*'", (2, 2)),
)
