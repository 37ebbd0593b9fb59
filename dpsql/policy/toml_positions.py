"""Positions of the keys and values of a TOML text, which tomllib does not give.

    [tables.visits]                     ("tables", "visits")                     at 1:9
    unit = { column = "patient_id" }    ("tables", "visits", "unit", "column")   key 2:10, value 2:19
    [tables.visits.columns]
    ward = { values = ["A", "B"] }      (..., "ward", "values", 1)               the second value, 4:25

The scanner runs on text that tomllib has accepted, so it checks nothing. If it meets unexpected text it
stops, and errors then point at the nearest enclosing item that it has seen.
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from functools import lru_cache
from typing import TypeAlias

from dpsql.errors import DatabaseError, refuse
from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass

Path: TypeAlias = tuple[str | int, ...]
"""Keys from the root of the document, and positions in arrays."""


@dataclass(frozen=True, slots=True)
class Spot:
    """The spans of a key and its value; for a table both are its name in the header."""

    key: Span
    value: Span


@dataclass(frozen=True, slots=True)
class Document:
    """A TOML text with the positions of its parts, so that a refusal can point at them."""

    text: str
    name: str
    places: dict[Path, Spot]

    def spot(self, path: Path) -> Spot:
        """Return the position of an item, or of the nearest enclosing one, or of the first line."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.places:
                return self.places[path[:length]]
        first = Span(0, max(1, len(self.text.partition("\n")[0].rstrip())))
        return Spot(first, first)

    def line(self, path: Path) -> int:
        """Return the line of a key, counted from one; 0 when there is no text."""
        return self.text.count("\n", 0, self.spot(path).key.start) + 1 if self.text else 0

    def refuse(
        self,
        code: str,
        title: str,
        path: Path,
        *,
        on_key: bool = False,
        label: str = "",
        notes: tuple[str, ...] = (),
        help: str = "",
    ) -> DatabaseError:
        """Return a refusal that points at the value at ``path``, or at its key."""
        spot = self.spot(path)
        place = spot.key if on_key else spot.value
        error = refuse(
            code, title, place, label=label, notes=notes, help=help or "correct this line of the policy"
        )
        error.within(self.text, self.name)
        return error


@lru_cache(maxsize=16)
def document_of(text: str, name: str) -> Document:
    """Scan a text and return it with its positions; each connection asks several times for one policy's."""
    return Document(text, name, places_of(text))


def places_of(text: str) -> dict[Path, Spot]:
    """Return the positions of every key, table and array element of a TOML text."""
    scan = _Scan(text)
    with contextlib.suppress(_Lost, RecursionError):  # positions found so far are kept
        scan.document()
    return scan.places


class _Lost(Exception):
    """The text is not what the scanner expects."""


_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_KEY = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|[A-Za-z0-9_-]+')
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})'  # may end in five quotes: two belong to the string
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\r\n]+")


class _Scan:
    """One pass over a text that fills ``places``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.places: dict[Path, Spot] = {}
        self.last: dict[Path, int] = {}  # of each array of tables, the position now being written

    def document(self) -> None:
        prefix: Path = ()
        while True:
            self.take(_BLANK)
            if self.at == len(self.text):
                return
            prefix = self.header() if self.text[self.at] == "[" else self.pair(prefix)

    def header(self) -> Path:
        array = self.text.startswith("[[", self.at)
        self.expect("[[" if array else "[")
        path: Path = ()
        parts = self.key()
        for index, (part, span) in enumerate(parts):
            path += (part,)
            last = index == len(parts) - 1
            self.note(path, Spot(span, span), anew=last)
            if last and array:
                self.last[path] = self.last.get(path, -1) + 1
            if path in self.last:
                path += (self.last[path],)
                self.note(path, Spot(span, span), anew=last)
        self.expect("]]" if array else "]")
        return path

    def pair(self, prefix: Path) -> Path:
        path = prefix
        parts = self.key()
        self.expect("=")
        for part, span in parts:
            path += (part,)
            self.note(path, Spot(span, span))
        value = self.value(path)
        self.note(path, Spot(parts[-1][1], value), anew=True)
        return prefix

    def key(self) -> list[tuple[str, Span]]:
        parts: list[tuple[str, Span]] = []
        while not parts or self.text.startswith(".", self.at):
            if parts:
                self.expect(".")
            self.take(_SPACE)
            start = self.at
            raw = self.take(_KEY)
            parts.append((_plain(raw), Span(start, self.at)))
            self.take(_SPACE)
        return parts

    def value(self, path: Path) -> Span:
        self.take(_SPACE)
        start = self.at
        match self.text[start : start + 1]:
            case "[":
                self.array(path)
            case "{":
                self.inline_table(path)
            case '"' | "'":
                self.take(_STRING)
            case _:
                self.at = start + len(self.take(_SCALAR).rstrip())
        return Span(start, self.at)

    def array(self, path: Path) -> None:
        self.expect("[")
        for index in range(len(self.text)):
            self.take(_BLANK)
            if self.text.startswith("]", self.at):
                break
            span = self.value((*path, index))
            self.note((*path, index), Spot(span, span), anew=True)
            self.take(_BLANK)
            if not self.text.startswith(",", self.at):
                break
            self.expect(",")
        self.expect("]")

    def inline_table(self, path: Path) -> None:
        self.expect("{")
        while True:
            self.take(_BLANK)
            if self.text.startswith("}", self.at):
                break
            self.pair(path)
            self.take(_BLANK)
            if not self.text.startswith(",", self.at):
                break
            self.expect(",")
        self.expect("}")

    def note(self, path: Path, spot: Spot, *, anew: bool = False) -> None:
        if anew or path not in self.places:
            self.places[path] = spot

    def take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise _Lost
        self.at = match.end()
        return match.group()

    def expect(self, mark: str) -> None:
        if not self.text.startswith(mark, self.at):
            raise _Lost
        self.at += len(mark)


def _plain(raw: str) -> str:
    """Remove the quotes and escapes of a key."""
    if raw[0] == "'":
        return raw[1:-1]
    if raw[0] == '"' and "\\" in raw:
        try:
            return str(tomllib.loads(f"it = {raw}")["it"])
        except tomllib.TOMLDecodeError as error:
            raise _Lost from error
    return raw[1:-1] if raw[0] == '"' else raw
