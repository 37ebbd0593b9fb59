"""Functions of one text, and what all functions of text share.

    upper(name)    length(name)    md5(name)

Patterns, separators and lengths are constants, so that no row sets its own work. An ENUM is its text.
"""

from __future__ import annotations

from collections.abc import Callable

from dpsql.functions import Argument, ArgumentError, Arguments, Function, Render
from dpsql.functions.core.conversion import converted
from dpsql.functions.core.ranges import within
from dpsql.functions.core.types import UHUGEINT, named
from dpsql.ir.column import (
    ANYTHING,
    BIGINT,
    EVERYWHERE,
    INTEGER,
    VARCHAR,
    Categories,
    Domain,
    Fact,
    Interval,
    Kind,
    Type,
    type_named,
    type_range,
)

UBIGINT = type_named("UBIGINT")
LONGEST = 65_536
"""Characters that a text made by gluing or replacing can have."""


def text(argument: Argument, name: str) -> None:
    """The argument must be text."""
    if argument.kind is not Kind.TEXT:
        raise ArgumentError(f"{name} takes text, not {named(argument.type)}", "write CAST(... AS VARCHAR)")


def constant_text(argument: Argument, what: str, most: int = 200, least: int = 0) -> str:
    """The value of an argument that must be a constant text."""
    literal = argument.literal
    if literal is None or not isinstance(literal.value, str) or argument.kind is not Kind.TEXT:
        raise ArgumentError(f"{what} must be a constant text", "write it in quotes")
    if not least <= len(literal.value) <= most or "\0" in literal.value:
        raise ArgumentError(f"{what} has {len(literal.value)} characters; {least} to {most} are read")
    return literal.value


def constant_number(argument: Argument, what: str, low: int, high: int) -> int:
    """The value of an argument that must be a constant whole number."""
    literal = argument.literal
    value = None if literal is None else literal.value
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ArgumentError(
            f"{what} must be a constant from {low} to {high}", "no row may set its own work; write a number"
        )
    return value


def spelled(sql: str, argument: Argument) -> str:
    return converted(sql, argument, VARCHAR)


def cut(sql: str) -> str:
    return f"left({sql}, {LONGEST})"


def call_of(name: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return f"{name}({', '.join((spelled(texts[0], arguments[0]), *texts[1:]))})"

    return render


def _ascii(domain: Domain, function: Callable[[str], str]) -> Domain:
    """The listed values after the function, where Python and DuckDB surely agree."""
    if isinstance(domain, Categories):
        values = [value for value in domain.values if isinstance(value, str) and value.isascii()]
        if len(values) == len(domain.values):
            return Categories(tuple(dict.fromkeys(function(value) for value in values)))
    return ANYTHING


def _grown(name: str) -> Function:
    """A text in which single characters may become several; it is cut on both sides of the call."""

    def result(arguments: Arguments, type: Type | None) -> Fact:
        text(arguments[0], name)
        return Fact(VARCHAR, ANYTHING, arguments[0].fact.nullable)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return cut(f"{name}({cut(spelled(texts[0], arguments[0]))})")

    return Function(name, result, render, f"{name}(s)", names=(name,))


def _to_text(name: str, listed: Callable[[str], str] | None = None, names: tuple[str, ...] = ()) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        (one,) = arguments
        text(one, name)
        return Fact(VARCHAR, _ascii(one.fact.domain, listed) if listed else ANYTHING, one.fact.nullable)

    return Function(name, result, lambda t, a, _: f"{name}({spelled(t[0], a[0])})", f"{name}(s)", names=names)


def _to_number(name: str, target: Type, low: int, high: float, names: tuple[str, ...] = ()) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        (one,) = arguments
        text(one, name)
        return within(target, Interval(low, high), one.fact.nullable)

    return Function(name, result, lambda t, a, _: f"{name}({spelled(t[0], a[0])})", f"{name}(s)", names=names)


def _length_result(arguments: Arguments, type: Type | None) -> Fact:
    (one,) = arguments
    text(one, "length")
    domain = one.fact.domain
    if isinstance(domain, Categories) and domain.values:
        sizes = [len(value) for value in domain.values if isinstance(value, str)]
        return within(BIGINT, Interval(min(sizes), max(sizes)), one.fact.nullable)
    return within(BIGINT, Interval(0, EVERYWHERE.high), one.fact.nullable)


FUNCTIONS = (
    _to_text("upper", str.upper),
    _to_text("lower", str.lower),
    _to_text("reverse"),
    _to_text("strip_accents", names=("strip_accents",)),
    _to_text("nfc_normalize", names=("nfc_normalize",)),
    *(_to_text(name, names=(name,)) for name in ("parse_filename", "parse_dirname", "parse_dirpath")),
    _grown("regexp_escape"),
    _grown("url_encode"),
    _to_text("md5"),
    _to_text("sha1"),
    _to_text("sha256"),
    _to_number("md5_number", UHUGEINT, 0, type_range(UHUGEINT).high, ("md5_number",)),
    _to_number("md5_number_lower", UBIGINT, 0, type_range(UBIGINT).high, ("md5_number_lower",)),
    _to_number("md5_number_upper", UBIGINT, 0, type_range(UBIGINT).high, ("md5_number_upper",)),
    _to_number("ascii", INTEGER, 0, 0x10FFFF),
    _to_number("unicode", INTEGER, -1, 0x10FFFF),
    _to_number("ord", INTEGER, -1, 0x10FFFF, ("ord",)),
    _to_number("strlen", BIGINT, 0, EVERYWHERE.high, ("strlen",)),
    _to_number("length_grapheme", BIGINT, 0, EVERYWHERE.high, ("length_grapheme",)),
    _to_number("bit_length", BIGINT, 0, EVERYWHERE.high, ("bit_length",)),
    Function("length", _length_result, lambda t, a, _: f"length({spelled(t[0], a[0])})", "length(s)"),
)
