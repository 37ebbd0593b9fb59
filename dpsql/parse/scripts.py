"""Scripts: a text split into statements, with annotations in comments and SET commands.

    SET epsilon = 0.2;
    -- name: old                  Statement("SELECT COUNT(*) ...", start, line, name="old")
    -- weight: 2
    SELECT COUNT(*) FROM patients WHERE age >= 65;

Only quotes, comments and semicolons are parsed here; parse.py checks the statements.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import field

from dpsql.errors import Error, refuse
from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass

_TOKEN = re.compile(
    r"""--[^\n]*             # a comment to the end of its line
    |   /\*                  # an opening mark; _CLOSING matches its end
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
_ANNOTATION = re.compile(r"--\s*(name|weight|workload)\s*:\s*(.*)$", re.I)
_SETTING_COMMENT = re.compile(r"--\s*(epsilon|timeout)\s*[:=]\s*([\d.]+)\s*;?\s*$", re.I)
_SET = re.compile(r"SET\s+(?:SESSION\s+)?(\w+)\s*(?:=|\bTO\b)\s*(.+)$", re.I | re.S)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: its text without leading comments and final semicolon, and its position.

    ``name``, ``weight`` and ``apart`` come from the comments before it; ``setting`` is (name, value) of a
    SET. ``apart``: it is measured by itself. ``closed``: a semicolon ends it.
    """

    text: str
    start: int
    line: int
    name: str | None = None
    weight: float | None = None
    setting: tuple[str, str] | None = None
    closed: bool = True
    apart: bool = False


@dataclass(slots=True)
class _Draft:
    """A statement that is being read."""

    start: int | None = None
    end: int = 0
    annotations: dict[str, tuple[str, Span]] = field(default_factory=dict)


def statements(text: str, name: str = "query") -> tuple[Statement, ...]:
    """Return the statements of a text in order; refuse a meaningless annotation: D107."""
    try:
        return tuple(_statements(text))
    except Error as error:
        raise error.within(text, name) from None


def amount(value: str) -> float | None:
    """Read a numeric setting: a positive number, or None for none, off and default; else ValueError."""
    if value.casefold() in ("none", "off", "no", "default"):
        return None
    number = float(value)
    if not 0 < number < math.inf:
        raise ValueError
    return number


def in_script(error: Error, statement: Statement, text: str, name: str) -> Error:
    """Move the span of an error from the statement to the text that contains the statement."""
    if error.text == statement.text and error.start is not None:
        error.start += statement.start
        error.end = None if error.end is None else error.end + statement.start
        error.text, error.name = text, name
    return error


def tokens(text: str) -> Iterator[tuple[int, str]]:
    """Yield the start and the text of each token. Comments in ``/* */`` may be nested."""
    for start, end, _ in _tokens(text, 0):
        yield start, text[start:end]


class Lines:
    """Incremental scan of lines, for the prompt of a shell; each line is read once.

    ``behind`` is the first token after the last semicolon.
    """

    def __init__(self) -> None:
        self.behind = ""
        self._has_tokens = self._ended = False
        self._open: _Open | None = None  # the open quote or comment, if any

    @property
    def begun(self) -> bool:
        """Whether there is anything except comments."""
        return self._has_tokens or self._open is not None

    @property
    def open(self) -> bool:
        """Whether the text ends within quotes or a comment."""
        return self._open is not None

    @property
    def finished(self) -> bool:
        """Whether the last token is a semicolon."""
        return self._ended and self._open is None

    def add(self, text: str) -> None:
        """Scan more text, which ends at the end of a line."""
        start = 0
        if self._open is not None:
            start, self._open = _end(text, 0, self._open)
        if self._open is not None:
            return
        for at, end, left in _tokens(text, start):
            self._open, token = left, text[at:end]
            if not _is_blank(token):
                self._has_tokens, self._ended = True, token == ";"
                self.behind = "" if self._ended else self.behind or token


@dataclass(frozen=True, slots=True)
class _Open:
    """An opening mark without its closing mark; ``depth`` counts nested comments."""

    mark: str
    depth: int = 1


def _tokens(text: str, at: int) -> Iterator[tuple[int, int, _Open | None]]:
    """Yield the start and end of each token, and the mark that it leaves open."""
    while match := _TOKEN.match(text, at):
        mark, end, left = match[0].casefold(), match.end(), None
        if mark == "/*" or mark in _CLOSING or (mark[0] == "$" and len(mark) > 1):
            end, left = _end(text, end, _Open(match[0] if mark[0] == "$" else mark))
        yield at, end, left
        at = end


def _end(text: str, at: int, opened: _Open) -> tuple[int, _Open | None]:
    """Return the position after the closing mark; the end of the text if it stays open."""
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


def _is_blank(token: str) -> bool:
    return token.isspace() or token.startswith(("--", "/*"))


def _statements(text: str) -> Iterator[Statement]:
    draft, counted, line = _Draft(), 0, 1
    for at, end, left in _tokens(text, 0):
        token = text[at:end]
        if left is not None:
            raise _unclosed(at, left)
        if token == ";":
            if draft.start is not None:
                line, counted = line + text.count("\n", counted, draft.start), draft.start
                yield _statement(text, draft, line, closed=True)
            draft = _Draft()
        elif not _is_blank(token):
            draft.start = at if draft.start is None else draft.start
            draft.end = end
        elif draft.start is None and (annotation := _ANNOTATION.match(token)) is not None:
            draft.annotations[annotation[1].casefold()] = annotation[2].rstrip(), Span(at, end)
        elif (annotation := _SETTING_COMMENT.match(token)) is not None:
            name = annotation[1].casefold()
            raise refuse(
                "D107",
                f"a comment cannot set {name}",
                Span(at, end),
                help=f"write SET {name} = {annotation[2]};",
            )
    if draft.start is not None:
        yield _statement(text, draft, line + text.count("\n", counted, draft.start), closed=False)


def _unclosed(at: int, left: _Open) -> Error:
    kind = "comment" if left.mark == "/*" else "name" if left.mark == '"' else "text"
    closing = {"/*": "*/", "e'": "'"}.get(left.mark, left.mark)
    return refuse(
        "D101",
        f"this {kind} is not closed",
        Span(at, at + len(left.mark)),
        label="everything after it is part of it",
        help=f"end it with {closing}",
    )


def _statement(text: str, draft: _Draft, line: int, closed: bool) -> Statement:
    assert draft.start is not None
    statement = text[draft.start : draft.end]
    setting = _SET.match(statement)
    return Statement(
        statement,
        draft.start,
        line,
        _name(draft),
        _weight(draft),
        None if setting is None else (setting[1].casefold(), setting[2]),
        closed,
        _apart(draft),
    )


def _name(draft: _Draft) -> str | None:
    if "name" not in draft.annotations:
        return None
    name, span = draft.annotations["name"]
    if not re.fullmatch(r"\w[\w-]{0,99}", name):
        raise refuse(
            "D107",
            "this is not a name for a result",
            span,
            label="use letters, digits, - and _: it becomes a file name",
            help="write -- name: visits_by_ward",
        )
    return name


def _apart(draft: _Draft) -> bool:
    if "workload" not in draft.annotations:
        return False
    value, span = draft.annotations["workload"]
    if value.casefold() != "off":
        raise refuse(
            "D107",
            "a workload can be switched off here, and nothing else",
            span,
            help="write -- workload: off; statements are measured together without being asked to",
        )
    return True


def _weight(draft: _Draft) -> float | None:
    if "weight" not in draft.annotations:
        return None
    value, span = draft.annotations["weight"]
    try:
        weight = float(value)
    except ValueError:
        weight = 0.0
    if not 0 < weight < 1e9:
        raise refuse("D107", "a weight must be a positive number", span, help="write -- weight: 2")
    return weight
