"""Functions of one text: case, accents, length, codes, hashes, parts of paths.

    upper(name)    length(name)    md5(name)

A declared length of a text bounds its length in characters, four times that in bytes, and so it is carried
through functions that make no text longer. Like every declared range it is a scale: values are clamped to it.

Patterns, separators and lengths must be constants: the cost may not depend on data. An ENUM counts as text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
    Sized,
    Type,
    item_type,
    type_named,
    type_range,
)

UBIGINT = type_named("UBIGINT")
LONGEST = 65_536
"""Maximum characters of a text after concatenation or replacement."""


def check_text(argument: Argument, name: str) -> None:
    """Refuse an argument that is not text."""
    if argument.kind is not Kind.TEXT:
        raise ArgumentError(f"{name} takes text, not {named(argument.type)}", "write CAST(... AS VARCHAR)")


def constant_text(argument: Argument, subject: str, most: int = 200, least: int = 0) -> str:
    """Return the value of a constant text argument; refuse any other."""
    literal = argument.literal
    if literal is None or not isinstance(literal.value, str) or argument.kind is not Kind.TEXT:
        raise ArgumentError(f"{subject} must be a constant text", "write it in quotes")
    if not least <= len(literal.value) <= most or "\0" in literal.value:
        raise ArgumentError(f"{subject} has {len(literal.value)} characters; allowed are {least} to {most}")
    return literal.value


def constant_number(argument: Argument, subject: str, low: int, high: int) -> int:
    """Return the value of a constant integer argument; refuse any other."""
    literal = argument.literal
    value = None if literal is None else literal.value
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ArgumentError(
            f"{subject} must be a constant from {low} to {high}",
            "write a number: the cost may not depend on data",
        )
    return value


def spelled(sql: str, argument: Argument) -> str:
    return converted(sql, argument, VARCHAR)


def cut(sql: str) -> str:
    return f"left({sql}, {LONGEST})"


def size_of(argument: Argument) -> int | None:
    """Return the most characters of a text, by what is declared; None if nothing says it."""
    match argument.fact.domain:
        case Sized(most):
            return most
        case Categories(values) if argument.kind is Kind.TEXT:
            return max((len(value) for value in values if isinstance(value, str)), default=0)
        case _:
            return 0 if argument.kind is Kind.NULL else None


def sized(most: int | None) -> Domain:
    """Return the domain of texts of at most so many characters."""
    return ANYTHING if most is None else Sized(min(most, LONGEST))


def total_size(arguments: Sequence[Argument]) -> int | None:
    """Return the most characters of texts one after the other."""
    sizes = [size_of(argument) for argument in arguments]
    return None if any(size is None for size in sizes) else sum(size for size in sizes if size is not None)


def call_of(name: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return f"{name}({', '.join((spelled(texts[0], arguments[0]), *texts[1:]))})"

    return render


def _mapped_domain(domain: Domain, function: Callable[[str], str]) -> Domain:
    """Apply a function to listed values if they are ASCII, where Python and DuckDB agree."""
    if isinstance(domain, Categories):
        values = [value for value in domain.values if isinstance(value, str) and value.isascii()]
        if len(values) == len(domain.values):
            return Categories(tuple(dict.fromkeys(function(value) for value in values)))
    return ANYTHING


def _escaping(name: str) -> Function:
    """Return a function that may lengthen its text; argument and result are cut."""

    def result(arguments: Arguments, type: Type | None) -> Fact:
        check_text(arguments[0], name)
        return Fact(VARCHAR, ANYTHING, arguments[0].fact.nullable)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return cut(f"{name}({cut(spelled(texts[0], arguments[0]))})")

    return Function(name, result, render, f"{name}(s)", names=(name,))


def _to_text(
    name: str,
    listed: Callable[[str], str] | None = None,
    names: tuple[str, ...] = (),
    keeps: bool = False,
) -> Function:
    """Return a function of a text; ``keeps``: it has as many characters as its argument."""

    def result(arguments: Arguments, type: Type | None) -> Fact:
        (argument,) = arguments
        check_text(argument, name)
        domain = _mapped_domain(argument.fact.domain, listed) if listed else ANYTHING
        if domain == ANYTHING and keeps:
            domain = sized(size_of(argument))
        return Fact(VARCHAR, domain, argument.fact.nullable)

    return Function(name, result, lambda t, a, _: f"{name}({spelled(t[0], a[0])})", f"{name}(s)", names=names)


def _to_number(
    name: str, target: Type, low: int, high: float, names: tuple[str, ...] = (), each: int = 0
) -> Function:
    """Return a function of a text to a number; ``each``: the most that one character adds to it."""

    def result(arguments: Arguments, type: Type | None) -> Fact:
        (argument,) = arguments
        check_text(argument, name)
        size = size_of(argument)
        most = high if size is None or not each else each * size
        return within(target, Interval(low, most), argument.fact.nullable)

    return Function(name, result, lambda t, a, _: f"{name}({spelled(t[0], a[0])})", f"{name}(s)", names=names)


def _length_result(arguments: Arguments, type: Type | None) -> Fact:
    (argument,) = arguments
    domain = argument.fact.domain
    if item_type(argument.type) is None:
        check_text(argument, "length")
    if isinstance(domain, Sized):
        return within(BIGINT, Interval(0, domain.most), argument.fact.nullable)
    if isinstance(domain, Categories) and domain.values:
        sizes = [len(value) for value in domain.values if isinstance(value, str)]
        return within(BIGINT, Interval(min(sizes), max(sizes)), argument.fact.nullable)
    return within(BIGINT, Interval(0, EVERYWHERE.high), argument.fact.nullable)


def _length(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    text = texts[0] if item_type(arguments[0].type) is not None else spelled(texts[0], arguments[0])
    return f"length({text})"


FUNCTIONS = (
    _to_text("upper", str.upper, keeps=True),
    _to_text("lower", str.lower, keeps=True),
    _to_text("reverse", keeps=True),
    _to_text("strip_accents", names=("strip_accents",)),
    _to_text("nfc_normalize", names=("nfc_normalize",)),
    *(_to_text(name, names=(name,)) for name in ("parse_filename", "parse_dirname", "parse_dirpath")),
    _escaping("regexp_escape"),
    _escaping("url_encode"),
    _to_text("md5"),
    _to_text("sha1"),
    _to_text("sha256"),
    _to_number("md5_number", UHUGEINT, 0, type_range(UHUGEINT).high, ("md5_number",)),
    _to_number("md5_number_lower", UBIGINT, 0, type_range(UBIGINT).high, ("md5_number_lower",)),
    _to_number("md5_number_upper", UBIGINT, 0, type_range(UBIGINT).high, ("md5_number_upper",)),
    _to_number("ascii", INTEGER, 0, 0x10FFFF),
    _to_number("unicode", INTEGER, -1, 0x10FFFF),
    _to_number("ord", INTEGER, -1, 0x10FFFF, ("ord",)),
    _to_number("strlen", BIGINT, 0, EVERYWHERE.high, ("strlen",), each=4),
    _to_number("length_grapheme", BIGINT, 0, EVERYWHERE.high, ("length_grapheme",), each=1),
    _to_number("bit_length", BIGINT, 0, EVERYWHERE.high, ("bit_length",), each=32),
    Function("length", _length_result, _length, "length(s)", opens=True),
)
