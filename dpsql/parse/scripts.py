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
    r"""--[^\n]*             # a comment to the end of its line
    |   /\*                  # what opens here, ends where _CLOSING says
    |   [eE]'|'|"
    |   (?<![\w$])\$\w*\$
    |   ;|\w+|\s+|.
    """,
    re.X | re.S,
)
_CLOSING = {
    "'": re.compile(r"(?:[^']++|'')*+'"),  # 'it''s'
    '"': re.compile(r'(?:[^"]++|"")*+"'),  # "a name"
    "e'": re.compile(r"(?:[^'\\]++|''|\\.)*+'", re.S),  # E'it\'s'
}
_MARK = re.compile(r"/\*|\*/")
_SAID = re.compile(r"--\s*(name|weight)\s*:\s*(.*)$", re.I)
_UNSET = re.compile(r"--\s*(epsilon|timeout)\s*[:=]\s*([\d.]+)\s*;?\s*$", re.I)
_SET = re.compile(r"SET\s+(?:SESSION\s+)?(\w+)\s*(?:=|\bTO\b)\s*(.+)$", re.I | re.S)


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
class _Begun:
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
    for start, end, _ in _tokens(text, 0):
        yield start, text[start:end]


class Lines:
    """What lines say together that come one by one, each of them read once.

    ``behind`` is the first token after the last semicolon.
    """

    def __init__(self) -> None:
        self.behind = ""
        self._said = self._ended = False
        self._open: _Open | None = None  # a quote or a comment, if one is

    @property
    def begun(self) -> bool:
        """Whether there is anything but comments."""
        return self._said or self._open is not None

    @property
    def open(self) -> bool:
        """Whether it ends within quotes or a comment."""
        return self._open is not None

    @property
    def finished(self) -> bool:
        """Whether a semicolon was the last that was said."""
        return self._ended and self._open is None

    def add(self, text: str) -> None:
        """More of it; the text ends where a line does."""
        start = 0
        if self._open is not None:
            start, self._open = _end(text, 0, self._open)
        if self._open is not None:
            return
        for at, end, left in _tokens(text, start):
            self._open, token = left, text[at:end]
            if not _blank(token):
                self._said, self._ended = True, token == ";"
                self.behind = "" if self._ended else self.behind or token


@dataclass(frozen=True, slots=True)
class _Open:
    """A mark whose other mark has not come yet; of comments, how deep they stand in one another."""

    mark: str
    depth: int = 1


def _tokens(text: str, at: int) -> Iterator[tuple[int, int, _Open | None]]:
    """Where each token starts and ends; what the last one leaves open."""
    while found := _TOKEN.match(text, at):
        mark, end, left = found[0].casefold(), found.end(), None
        if mark == "/*" or mark in _CLOSING or (mark[0] == "$" and len(mark) > 1):
            end, left = _end(text, end, _Open(found[0] if mark[0] == "$" else mark))
        yield at, end, left
        at = end


def _end(text: str, at: int, opened: _Open) -> tuple[int, _Open | None]:
    """Behind what closes a mark; at the end of the text, if it stays open."""
    if opened.mark == "/*":
        depth = opened.depth
        for mark in _MARK.finditer(text, at):
            depth += 1 if mark[0] == "/*" else -1
            if depth == 0:
                return mark.end(), None
        return len(text), _Open("/*", depth)
    if opened.mark in _CLOSING:
        closed = _CLOSING[opened.mark].match(text, at)
        return (len(text), opened) if closed is None else (closed.end(), None)
    place = text.find(opened.mark, at)
    return (len(text), opened) if place < 0 else (place + len(opened.mark), None)


def _blank(token: str) -> bool:
    return token.isspace() or token.startswith(("--", "/*"))


def _statements(text: str) -> Iterator[Statement]:
    now, counted, line = _Begun(), 0, 1
    for at, end, left in _tokens(text, 0):
        token = text[at:end]
        if left is not None:
            raise _unclosed(at, left)
        if token == ";":
            if now.start is not None:
                line, counted = line + text.count("\n", counted, now.start), now.start
                yield _statement(text, now, line, closed=True)
            now = _Begun()
        elif not _blank(token):
            now.start = at if now.start is None else now.start
            now.end = end
        elif now.start is None and (said := _SAID.match(token)) is not None:
            now.said[said[1].casefold()] = said[2].rstrip(), Span(at, end)
        elif (said := _UNSET.match(token)) is not None:
            name = said[1].casefold()
            raise refuse(
                "D107", f"a comment sets no {name}", Span(at, end), help=f"write SET {name} = {said[2]};"
            )
    if now.start is not None:
        yield _statement(text, now, line + text.count("\n", counted, now.start), closed=False)


def _unclosed(at: int, left: _Open) -> Error:
    what = "comment" if left.mark == "/*" else "name" if left.mark == '"' else "text"
    closing = {"/*": "*/", "e'": "'"}.get(left.mark, left.mark)
    return refuse(
        "D101",
        f"this {what} is not closed",
        Span(at, at + len(left.mark)),
        label="everything behind it is a part of it",
        help=f"end it with {closing}",
    )


def _statement(text: str, now: _Begun, line: int, closed: bool) -> Statement:
    assert now.start is not None
    own = text[now.start : now.end]
    setting = _SET.match(own)
    return Statement(
        own,
        now.start,
        line,
        _name(now),
        _weight(now),
        None if setting is None else (setting[1].casefold(), setting[2]),
        closed,
    )


def _name(now: _Begun) -> str | None:
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


def _weight(now: _Begun) -> float | None:
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
