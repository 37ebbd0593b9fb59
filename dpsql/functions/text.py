"""Functions of text. Patterns, separators and lengths are constants, so that no row sets its own work.

    upper(name)    name LIKE 'A%'    substring(name, 1, 3)    name || ' ' || town

What is glued together is cut at 65,536 characters: by doubling a text in each of thirty subqueries one
person's row could otherwise be made to cost a second. An ENUM is its text.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from dpsql.functions import MANY, Argument, Arguments, Function, Unfit
from dpsql.functions.conversion import converted
from dpsql.functions.ranges import any_null, known, possible, truth, within
from dpsql.functions.types import holds, named
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
)

LONGEST = 65_536
"""Characters that a text made by gluing or replacing can have."""
_GLUED = {Kind.TEXT, Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP,
          Kind.TIME, Kind.UUID}  # fmt: skip


def text(argument: Argument, name: str) -> None:
    """The argument must be text."""
    if argument.kind is not Kind.TEXT:
        raise Unfit(f"{name} takes text, not {named(argument.type)}", "write CAST(... AS VARCHAR)")


def constant_text(argument: Argument, what: str, most: int = 200, least: int = 0) -> str:
    """The value of an argument that must be a constant text."""
    literal = argument.literal
    if literal is None or not isinstance(literal.value, str) or argument.kind is not Kind.TEXT:
        raise Unfit(f"{what} must be a constant text", "write it in quotes")
    if not least <= len(literal.value) <= most or "\0" in literal.value:
        raise Unfit(f"{what} has {len(literal.value)} characters; {least} to {most} are read")
    return literal.value


def constant_number(argument: Argument, what: str, low: int, high: int) -> int:
    """The value of an argument that must be a constant whole number."""
    literal = argument.literal
    value = None if literal is None else literal.value
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise Unfit(f"{what} must be a constant from {low} to {high}")
    return value


def spelled(sql: str, argument: Argument) -> str:
    return converted(sql, argument, VARCHAR)


# ---- functions of one text -------------------------------------------------------------------------


def _ascii(domain: Domain, function: Callable[[str], str]) -> Domain:
    """The listed values after the function, where Python and DuckDB surely agree."""
    if isinstance(domain, Categories):
        values = [value for value in domain.values if isinstance(value, str) and value.isascii()]
        if len(values) == len(domain.values):
            return Categories(tuple(dict.fromkeys(function(value) for value in values)))
    return ANYTHING


def _to_text(name: str, listed: Callable[[str], str] | None = None) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        (one,) = arguments
        text(one, name)
        return Fact(VARCHAR, _ascii(one.fact.domain, listed) if listed else ANYTHING, one.fact.nullable)

    return Function(name, result, lambda t, a, _: f"{name}({spelled(t[0], a[0])})", f"{name}(s)")


def _to_number(name: str, target: Type, low: int, high: float) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        (one,) = arguments
        text(one, name)
        return within(target, Interval(low, high), one.fact.nullable)

    return Function(name, result, lambda t, a, _: f"{name}({spelled(t[0], a[0])})", f"{name}(s)")


def _length_result(arguments: Arguments, type: Type | None) -> Fact:
    (one,) = arguments
    text(one, "length")
    domain = one.fact.domain
    if isinstance(domain, Categories) and domain.values:
        sizes = [len(value) for value in domain.values if isinstance(value, str)]
        return within(BIGINT, Interval(min(sizes), max(sizes)), one.fact.nullable)
    return within(BIGINT, Interval(0, EVERYWHERE.high), one.fact.nullable)


def _trim(name: str) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        text(arguments[0], name)
        if len(arguments) == 2:
            constant_text(arguments[1], "the characters to trim")
        return Fact(VARCHAR, ANYTHING, any_null(arguments))

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return f"{name}({', '.join((spelled(texts[0], arguments[0]), *texts[1:]))})"

    return Function(name, result, render, f"{name}(s)", (1, 2))


# ---- parts of a text -------------------------------------------------------------------------------


def _part(name: str, arity: tuple[int, int], example: str) -> Function:
    """Offsets and lengths beyond an INTEGER would raise: they give NULL."""

    def result(arguments: Arguments, type: Type | None) -> Fact:
        text(arguments[0], name)
        for each in arguments[1:]:
            if each.kind is not Kind.INTEGER:
                raise Unfit(
                    f"{name} counts in whole numbers, not {named(each.type)}", "write CAST(... AS INTEGER)"
                )
        fails = not all(holds(INTEGER, possible(each)) for each in arguments[1:])
        return Fact(VARCHAR, ANYTHING, any_null(arguments) or fails)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        counts = (converted(t, a, INTEGER) for t, a in zip(texts[1:], arguments[1:], strict=True))
        return f"{name}({', '.join((spelled(texts[0], arguments[0]), *counts))})"

    return Function(name, result, render, example, arity)


def _pad(name: str) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        text(arguments[0], name)
        constant_number(arguments[1], "the length", 0, 1_000)
        constant_text(arguments[2], "the padding", least=1)
        return Fact(VARCHAR, ANYTHING, arguments[0].fact.nullable)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        size = converted(texts[1], arguments[1], INTEGER)
        return f"{name}({spelled(texts[0], arguments[0])}, {size}, {texts[2]})"

    return Function(name, result, render, f"{name}(s, 5, '*')", (3, 3))


def _split_part_result(arguments: Arguments, type: Type | None) -> Fact:
    text(arguments[0], "split_part")
    constant_text(arguments[1], "the separator")
    constant_number(arguments[2], "the part's number", -1_000, 1_000)
    return Fact(VARCHAR, ANYTHING, arguments[0].fact.nullable)


def _split_part(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    return f"split_part({spelled(texts[0], arguments[0])}, {texts[1]}, {texts[2]})"


# ---- gluing and replacing --------------------------------------------------------------------------


def cut(sql: str) -> str:
    return f"left({sql}, {LONGEST})"


def _glue(arguments: Arguments, name: str) -> None:
    for each in arguments:
        if each.kind not in _GLUED and each.kind is not Kind.NULL:
            raise Unfit(f"{name} cannot glue {named(each.type)}", "write CAST(... AS VARCHAR)")


def _glued_result(arguments: Arguments, type: Type | None) -> Fact:
    _glue(arguments, "||")
    if any(each.kind is Kind.NULL for each in arguments):
        raise Unfit("|| with NULL is NULL", "leave it away, or use concat")
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


def _concat(name: str) -> Callable[[tuple[str, ...], Arguments, Type | None], str]:
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


# ---- searching -------------------------------------------------------------------------------------


def _search(name: str, target: Type | None = None) -> Function:
    """Is a constant text in it, and where."""

    def result(arguments: Arguments, type: Type | None) -> Fact:
        text(arguments[0], name)
        constant_text(arguments[1], "the text searched for")
        nullable = arguments[0].fact.nullable
        return truth(nullable) if target is None else within(target, Interval(0, EVERYWHERE.high), nullable)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return f"{name}({spelled(texts[0], arguments[0])}, {texts[1]})"

    return Function(name, result, render, f"{name}(s, 'a')", (2, 2))


def _like(word: str) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        text(arguments[0], word)
        pattern = constant_text(arguments[1], "the pattern")
        if len(arguments) == 3:
            escape = constant_text(arguments[2], "the escape character", 1, 1)
            if (len(pattern) - len(pattern.rstrip(escape))) % 2:
                raise Unfit("the pattern ends with its escape character")
        return truth(arguments[0].fact.nullable)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        escape = f" ESCAPE {texts[2]}" if len(texts) == 3 else ""
        return f"({spelled(texts[0], arguments[0])} {word} {texts[1]}{escape})"

    return Function(word.lower(), result, render, f"s {word} 'a%'", (2, 3))


# ---- regular expressions ---------------------------------------------------------------------------

_ALLOWED = re.compile(
    r"""( [^\\()\[{*+?\0]                                    # a character, . ^ $ | and closing ones
        | \\[dDwWsSbBtnr.^$|()\[\]{}*+?/\\-]                 # an escape that RE2 knows
        | \[ \^? \]? ( [^\]\\\[\0] | \\[dDwWsStnr.^$|()\[\]{}*+?/\\-] )* \]
        | \( (\?: | (?!\?)) | \)
        | [*+?] \??
        | \{[0-9]{1,3}(,[0-9]{0,3})?\} \??
        )*""",
    re.VERBOSE,
)


def pattern_groups(pattern: str) -> int:
    """The number of groups of a regular expression that RE2 surely compiles; Unfit for any other."""
    try:
        if not _ALLOWED.fullmatch(pattern) or re.search(r"--|&&|~~|\|\|", pattern):
            raise re.error("unknown syntax")
        found = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise Unfit(f"the pattern {pattern[:40]!r} is not read", f"{error}; simple RE2 syntax is") from None
    size = 1
    for count in re.findall(r"\{([0-9]+)(?:,([0-9]*))?\}", pattern):
        size *= max(1, int(count[1] or count[0] or 1))
    if size > 1_000:
        raise Unfit("the pattern's repetitions multiply to more than 1,000")
    return found.groups


def _options(argument: Argument, allowed: str) -> str:
    options = constant_text(argument, "the options", 5)
    if set(options) - set(allowed):
        raise Unfit(f"the options {options!r} are not read", f"choose from {', '.join(allowed)}")
    return options


def _matches(name: str) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        text(arguments[0], name)
        pattern_groups(constant_text(arguments[1], "the pattern"))
        if len(arguments) == 3:
            _options(arguments[2], "ics")
        return truth(arguments[0].fact.nullable)

    return Function(name, result, _call(name), f"{name}(s, '[a-c]+')", (2, 3))


def _call(name: str) -> Callable[[tuple[str, ...], Arguments, Type | None], str]:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return f"{name}({', '.join((spelled(texts[0], arguments[0]), *texts[1:]))})"

    return render


def _regexp_replace_result(arguments: Arguments, type: Type | None) -> Fact:
    text(arguments[0], "regexp_replace")
    groups = pattern_groups(constant_text(arguments[1], "the pattern"))
    by = constant_text(arguments[2], "the replacement", 100)
    for escaped in re.findall(r"\\(.?)", by, re.DOTALL):
        if not (escaped.isascii() and escaped.isdigit() and int(escaped) <= groups):
            raise Unfit(f"the replacement {by[:40]!r} is not read", r"\0 to \9 stand for groups")
    if len(arguments) == 4:
        _options(arguments[3], "icsg")
    return Fact(VARCHAR, ANYTHING, arguments[0].fact.nullable)


def _regexp_replace(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    return cut(f"regexp_replace({', '.join((cut(spelled(texts[0], arguments[0])), *texts[1:]))})")


def _regexp_extract_result(arguments: Arguments, type: Type | None) -> Fact:
    text(arguments[0], "regexp_extract")
    groups = pattern_groups(constant_text(arguments[1], "the pattern"))
    if len(arguments) > 2:
        constant_number(arguments[2], "the group", 0, min(groups, 9))
    if len(arguments) > 3:
        _options(arguments[3], "ics")
    return Fact(VARCHAR, ANYTHING, arguments[0].fact.nullable)


# ---- characters ------------------------------------------------------------------------------------


def _chr_result(arguments: Arguments, type: Type | None) -> Fact:
    (one,) = arguments
    if one.kind is not Kind.INTEGER:
        raise Unfit(f"chr takes a whole number, not {named(one.type)}")
    whole = known(one)
    return Fact(VARCHAR, ANYTHING, one.fact.nullable or not (whole.low >= 0 and whole.high <= 55_295))


def _chr(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    number = converted(texts[0], arguments[0], INTEGER)
    return f"(CASE WHEN {number} BETWEEN 0 AND 55295 THEN chr({number}) END)"


FUNCTIONS = (
    _to_text("upper", str.upper),
    _to_text("lower", str.lower),
    _to_text("reverse"),
    _to_text("strip_accents"),
    _to_text("md5"),
    _to_text("sha1"),
    _to_text("sha256"),
    _to_number("ascii", INTEGER, 0, 0x10FFFF),
    _to_number("unicode", INTEGER, -1, 0x10FFFF),
    _to_number("ord", INTEGER, -1, 0x10FFFF),
    _to_number("strlen", BIGINT, 0, EVERYWHERE.high),
    _to_number("length_grapheme", BIGINT, 0, EVERYWHERE.high),
    _to_number("bit_length", BIGINT, 0, EVERYWHERE.high),
    Function("length", _length_result, lambda t, a, _: f"length({spelled(t[0], a[0])})", "length(s)"),
    _trim("trim"),
    _trim("ltrim"),
    _trim("rtrim"),
    _part("substring", (2, 3), "substring(s, 2, 3)"),
    _part("left", (2, 2), "left(s, 2)"),
    _part("right", (2, 2), "right(s, 2)"),
    _pad("lpad"),
    _pad("rpad"),
    Function("split_part", _split_part_result, _split_part, "split_part(s, '-', 2)", (3, 3)),
    Function("||", _glued_result, _glued, "s || '-' || i", (2, MANY)),
    Function("concat", _concat_result, _concat("concat"), "concat(s, '-', i)", (1, MANY), strict=False),
    Function(
        "concat_ws", _concat_ws_result, _concat("concat_ws"), "concat_ws('-', s, i)", (2, MANY), strict=False
    ),
    Function("replace", _replace_result, _replace, "replace(s, 'a', 'xyz')", (3, 3)),
    Function("translate", _translate_result, _call("translate"), "translate(s, 'abc', 'xy')", (3, 3)),
    _search("contains"),
    _search("starts_with"),
    _search("ends_with"),
    _search("strpos", BIGINT),
    _like("LIKE"),
    _like("ILIKE"),
    _matches("regexp_matches"),
    _matches("regexp_full_match"),
    Function(
        "regexp_replace",
        _regexp_replace_result,
        _regexp_replace,
        "regexp_replace(s, '[a-c]', 'x', 'g')",
        (3, 4),
    ),
    Function(
        "regexp_extract",
        _regexp_extract_result,
        _call("regexp_extract"),
        "regexp_extract(s, '([a-z]+)', 1)",
        (2, 4),
    ),
    Function("chr", _chr_result, _chr, "chr(i)"),
)
