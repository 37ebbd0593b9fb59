"""Regular expressions in RE2 syntax; the pattern is a constant.

name ~ '[a-c]+'    regexp_extract(name, '([a-z]+)', 1)
"""

from __future__ import annotations

import re

from dpsql.functions import Argument, ArgumentError, Arguments, Function
from dpsql.functions.core.ranges import truth
from dpsql.functions.text.common import call_of, check_text, constant_number, constant_text, cut, spelled
from dpsql.ir.column import ANYTHING, VARCHAR, Fact, Type

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
    """Return the number of groups of a pattern; refuse a pattern that RE2 might not compile."""
    try:
        if not _ALLOWED.fullmatch(pattern) or re.search(r"--|&&|~~|\|\|", pattern):
            raise re.error("write classes out: [A-Za-z], or \\w; flags go behind the pattern: 'i'")
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ArgumentError(
            f"the pattern {pattern[:40]!r} is not supported", f"use simple RE2 syntax; {error}"
        ) from None
    size = 1
    for count in re.findall(r"\{([0-9]+)(?:,([0-9]*))?\}", pattern):
        size *= max(1, int(count[1] or count[0] or 1))
    if size > 1_000:
        raise ArgumentError("the repetitions of the pattern multiply to more than 1,000")
    return compiled.groups


def _options(argument: Argument, allowed: str) -> str:
    options = constant_text(argument, "the options", 5)
    if set(options) - set(allowed):
        raise ArgumentError(f"the options {options!r} are not supported", f"choose from {', '.join(allowed)}")
    return options


def _matches(name: str) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        check_text(arguments[0], name)
        pattern_groups(constant_text(arguments[1], "the pattern"))
        if len(arguments) == 3:
            _options(arguments[2], "ics")
        return truth(arguments[0].fact.nullable)

    return Function(name, result, call_of(name), f"{name}(s, '[a-c]+')", (2, 3))


def _regexp_replace_result(arguments: Arguments, type: Type | None) -> Fact:
    check_text(arguments[0], "regexp_replace")
    groups = pattern_groups(constant_text(arguments[1], "the pattern"))
    by = constant_text(arguments[2], "the replacement", 100)
    for escaped in re.findall(r"\\(.?)", by, re.DOTALL):
        if not (escaped.isascii() and escaped.isdigit() and int(escaped) <= groups):
            raise ArgumentError(
                f"the replacement {by[:40]!r} is not supported", r"use \0 to \9 for the groups of the pattern"
            )
    if len(arguments) == 4:
        _options(arguments[3], "icsg")
    return Fact(VARCHAR, ANYTHING, arguments[0].fact.nullable)


def _regexp_replace(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    return cut(f"regexp_replace({', '.join((cut(spelled(texts[0], arguments[0])), *texts[1:]))})")


def _regexp_extract_result(arguments: Arguments, type: Type | None) -> Fact:
    check_text(arguments[0], "regexp_extract")
    groups = pattern_groups(constant_text(arguments[1], "the pattern"))
    if len(arguments) > 2:
        constant_number(arguments[2], "the group", 0, min(groups, 9))
    if len(arguments) > 3:
        _options(arguments[3], "ics")
    return Fact(VARCHAR, ANYTHING, arguments[0].fact.nullable)


FUNCTIONS = (
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
        call_of("regexp_extract"),
        "regexp_extract(s, '([a-z]+)', 1)",
        (2, 4),
    ),
)
