"""Text of several statements -> the statements, with what the comments and SETs around them say.

    SET epsilon = 0.2;
    -- name: old                  Statement("SELECT COUNT(*) ...", start, line, name="old")
    -- weight: 2
    SELECT COUNT(*) FROM patients WHERE age >= 65;

Only quotes, comments and semicolons are understood here; whether a statement may be answered is
parse's to say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from dpsql.errors import Error, refuse
from dpsql.ir.source import Span

_TOKEN = re.compile(
    r"""--[^\n]*                                # a comment to the end of its line
    |   /\*                                     # one between marks: its end is found by counting
    |   [eE]'(?:[^'\\]|''|\\.)*(?:'|\Z)         # E'a text with \' in it'
    |   '(?:[^']|'')*(?:'|\Z)                   # 'a text'
    |   "(?:[^"]|"")*(?:"|\Z)                   # "a name"
    |   (?<![\w$])\$(\w*)\$.*?(?:\$\1\$|\Z)     # $$a text$$
    |   ;|\w+|\s+|.
    """,
    re.X | re.S,
)
_MARK = re.compile(r"/\*|\*/")
_SAID = re.compile(r"--\s*(name|weight)\s*:\s*(.*?)\s*$", re.I)
_SET = re.compile(r"SET\s+(?:SESSION\s+)?(\w+)\s*(?:=|\bTO\b)\s*(.+?)\s*$", re.I | re.S)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: its text without comments before it and semicolon after it, and where it begins.

    ``name`` and ``weight`` are what the comments before it say; ``setting`` is (name, value) of a SET.
    ``closed`` says that a semicolon ended it.
    """

    text: str
    start: int
    line: int
    name: str | None = None
    weight: float | None = None
    setting: tuple[str, str] | None = None
    closed: bool = True


@dataclass(slots=True)
class _Open:
    """A statement while it is read."""

    start: int | None = None
    end: int = 0
    said: dict[str, tuple[str, Span]] = field(default_factory=dict)


def statements(text: str, name: str = "query") -> tuple[Statement, ...]:
    """All statements of a text, in order; D107 for a comment that means nothing."""
    try:
        return tuple(_statements(text))
    except Error as error:
        raise error.within(text, name) from None


def finished(text: str) -> bool:
    """Whether the text ends with a semicolon that ends a statement, as a prompt wants to know."""
    last = ""
    for _, token in tokens(text):
        if not _blank(token):
            last = token
        elif token.startswith("/*") and not token.endswith("*/"):
            return False
    return last == ";"


def amount(said: str) -> float | None:
    """A setting that is a number: positive, or None for none, off and default. Else ValueError."""
    if said.casefold() in ("none", "off", "no", "default"):
        return None
    number = float(said)
    if not 0 < number < math.inf:
        raise ValueError
    return number


def in_script(error: Error, statement: Statement, text: str, name: str) -> Error:
    """An error of one statement, pointing into the text that the statement stands in."""
    if error.text == statement.text and error.start is not None:
        error.start += statement.start
        error.end = None if error.end is None else error.end + statement.start
        error.text, error.name = text, name
    return error


def tokens(text: str) -> Iterator[tuple[int, str]]:
    """Where each token starts, and the token. Comments between marks may stand in one another."""
    at = 0
    while found := _TOKEN.match(text, at):
        end = _end_of_comment(text, at) if found[0] == "/*" else found.end()
        yield at, text[at:end]
        at = end


def _end_of_comment(text: str, start: int) -> int:
    depth = 0
    for mark in _MARK.finditer(text, start):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(text)


def _blank(token: str) -> bool:
    return token.isspace() or token.startswith(("--", "/*"))


def _statements(text: str) -> Iterator[Statement]:
    now = _Open()
    for at, token in tokens(text):
        end = at + len(token)
        if token == ";":
            if now.start is not None:
                yield _statement(text, now, closed=True)
            now = _Open()
        elif not _blank(token):
            now.start = at if now.start is None else now.start
            now.end = end
        elif now.start is None and (said := _SAID.match(token)) is not None:
            now.said[said[1].casefold()] = said[2], Span(at, end)
    if now.start is not None:
        yield _statement(text, now, closed=False)


def _statement(text: str, now: _Open, closed: bool) -> Statement:
    assert now.start is not None
    own = text[now.start : now.end]
    setting = _SET.match(own)
    return Statement(
        own,
        now.start,
        text.count("\n", 0, now.start) + 1,
        _name(now),
        _weight(now),
        None if setting is None else (setting[1].casefold(), setting[2]),
        closed,
    )


def _name(now: _Open) -> str | None:
    if "name" not in now.said:
        return None
    name, span = now.said["name"]
    if not re.fullmatch(r"\w[\w-]{0,99}", name):
        raise refuse(
            "D107",
            "this is not a name for a result",
            span,
            label="letters, digits, - and _; it becomes a file's name",
            help="write -- name: visits_by_ward",
        )
    return name


def _weight(now: _Open) -> float | None:
    if "weight" not in now.said:
        return None
    said, span = now.said["weight"]
    try:
        weight = float(said)
    except ValueError:
        weight = 0.0
    if not 0 < weight < 1e9:
        raise refuse("D107", "a weight is a positive number", span, help="write -- weight: 2")
    return weight
