"""Regular expressions: PostgreSQL's ~ and ~* where RE2 means the same.

    ward ~ 'Card'       the same, as it is
    ward ~ 'C.r'        ward ~ 'C(?s:.)r'            PostgreSQL's dot matches the end of a line too
    ward ~* 'card'      ward ~ '[cC][aA][rR][dD]'    both cases of these letters, and no others
    ward !~* 'card'     ward !~ '[cC][aA][rR][dD]'

A pattern is read if it is made of letters and digits, spaces, plain signs, ., ^ at its start, $ at its end,
groups, |, *, +, ?, and classes of single characters and ranges within a-z, A-Z or 0-9. Only whether it
matches counts, so greed does not matter. Left alone: escapes (\\d), counts ({2}), lookahead, and other
letters than ASCII in ~*: there DuckDB's meaning holds, or dpsql's refusal.
Test: tests/server/test_dialect.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot.tokenizer_core import Token, TokenType

from dpsql.server.dialect.calls import quoted
from dpsql.server.dialect.edits import Edit

_ITEM = re.compile(
    r"(?P<plain>[A-Za-z0-9 _,;:@#%&=<>\"'/~!`-])|(?P<dot>\.)"
    r"|(?P<class>\[\^?(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|[A-Za-z0-9 _,;:@#%&=<>\"'/])+\])"
    r"|(?P<sign>[()|])|(?P<repeat>[*+?](?![*+?{]))"
)
_LONGEST, _DEEPEST = 2_000, 50
"""Characters and groups of a pattern that is read: Python's own reader calls itself for each group."""

_RANGE = re.compile(r"([A-Za-z])-([A-Za-z])|([A-Za-z])")


def re2_pattern(pattern: str, any_case: bool) -> str | None:
    """Return a pattern of RE2 that matches the same texts, or None."""
    if len(pattern) > _LONGEST or pattern.count("(") > _DEEPEST:
        return None
    body = pattern.removeprefix("^")
    start = pattern[: len(pattern) - len(body)]
    end = "$" if body.endswith("$") else ""
    body = body.removesuffix("$")
    made, at = "", 0
    before = "("
    while at < len(body):
        item = _ITEM.match(body, at)
        if item is None or (item["repeat"] and before in "(|"):
            return None
        if item["dot"]:
            made += "(?s:.)"
        elif any_case and item["plain"] and item["plain"].isalpha():
            made += f"[{item['plain'].lower()}{item['plain'].upper()}]"
        elif any_case and item["class"]:
            made += _RANGE.sub(_both_cases, item["class"])
        else:
            made += item[0]
        before = item[0]
        at = item.end()
    if (start or end) and "|" in body:  # ^a|b is (^a)|b in both; leave the reading of it to the reader
        return None
    try:
        re.compile(made)
    except re.error:  # a parenthesis without its other, a range upside down
        return None
    return start + made + end


def _both_cases(found: re.Match[str]) -> str:
    written = found[0]
    return written if written.lower() == written.upper() else written.lower() + written.upper()


_OPERATORS = {"~": False, "!~": False, "~*": True, "!~*": True}


def plain_patterns(tokens: Sequence[Token]) -> Iterator[Edit]:
    """Rewrite the operators ~* and !~*, and dots in patterns."""
    at = 0
    while at < len(tokens) - 1:
        length = next((size for size in (3, 2, 1) if _operator(tokens[at : at + size]) in _OPERATORS), 0)
        operator = _operator(tokens[at : at + length])
        behind = tokens[at + length] if length and at + length < len(tokens) else None
        at += max(1, length)
        if behind is None or behind.token_type is not TokenType.STRING or not _ends(tokens, at + 1):
            continue
        made = re2_pattern(str(behind.text), _OPERATORS[operator])
        if made is not None and (_OPERATORS[operator] or made != behind.text):
            first = tokens[at - length]
            if _OPERATORS[operator]:
                last = tokens[at - 1]
                yield Edit(first.start, last.end + 1, operator.replace("*", " "))
            yield Edit(behind.start, behind.end + 1, quoted(made))


def _ends(tokens: Sequence[Token], place: int) -> bool:
    """Whether a pattern ends there: behind it no operator makes it a part of something else."""
    return place >= len(tokens) or str(tokens[place].text).upper().partition(" ")[0] in _ENDS


_ENDS = frozenset(
    """
    ) , ; AND OR THEN ELSE END WHEN FROM WHERE GROUP ORDER HAVING LIMIT OFFSET AS IS UNION INTERSECT EXCEPT
    QUALIFY
    """.split()
)


def _operator(tokens: Sequence[Token]) -> str:
    """Return the text of tokens that touch each other."""
    if any(one.end + 1 != other.start for one, other in zip(tokens, tokens[1:], strict=False)):
        return ""
    return "".join(str(token.text) for token in tokens if token.token_type is not TokenType.STRING)
