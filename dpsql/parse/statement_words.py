"""The words of a statement that neither DuckDB nor its parsers know, one after the other.

    reader = StatementReader("DROP PRIVATE VIEW census", "DROP PRIVATE VIEW v")
    reader.take("drop")     True, and the next word is PRIVATE

Refusals point at the word that is wrong, and name the ``forms`` of such statements.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from dpsql.errors import Error, refuse
from dpsql.ir.source import Span

_WORD = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*.*?\*/)
    |   (?P<name>"(?:[^"]|"")+")
    |   (?P<text>'(?:[^']|'')*')
    |   (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |   (?P<word>\w+)
    |   (?P<sign>.)
    """,
    re.X | re.S,
)


class StatementReader:
    """The words of a statement, one after the other."""

    def __init__(self, text: str, forms: str) -> None:
        self.text = text
        self.forms = forms
        self._words = [
            (match.lastgroup, Span(match.start(), match.end()))
            for match in _WORD.finditer(text)
            if match.lastgroup != "space"
        ]
        self._next = 0

    def place(self) -> Span | None:
        """Return where the next word is."""
        return self._words[self._next][1] if self._next < len(self._words) else None

    @property
    def behind(self) -> int:
        """Where the word ends that was read last."""
        return self._words[self._next - 1][1].end

    def sees(self, word: str) -> bool:
        at = self.place()
        return at is not None and self.text[at.start : at.end].casefold() == word

    def take(self, word: str) -> bool:
        """Pass a word if it is the next one."""
        taken = self.sees(word)
        self._next += taken
        return taken

    def expect(self, word: str) -> None:
        if not self.take(word):
            raise self.wrong(word.upper(), self.forms)

    def name(self, what: str) -> tuple[str, Span]:
        """Read a name, quoted or not."""
        return self.read(what, ("word", "name"), unquoted)

    def number(self) -> tuple[float, Span]:
        """Read a number."""
        value, at = self.read("a number", ("number",), str)
        return float(value), at

    def price(self) -> float:
        """Read a price."""
        value, at = self.number()
        if not 0 < value < math.inf:
            raise refuse("D503", "a price must be a finite positive number", at, help="epsilon = 0.5")
        return value

    def read(self, what: str, kinds: tuple[str, ...], made: Callable[[str], str]) -> tuple[str, Span]:
        if self._next >= len(self._words) or self._words[self._next][0] not in kinds:
            raise self.wrong(what, self.forms)
        at = self._words[self._next][1]
        self._next += 1
        return made(self.text[at.start : at.end]), at

    def end(self) -> None:
        """Refuse what follows, but for a semicolon."""
        self.take(";")
        if self.place() is not None:
            raise self.wrong("the end of the statement", self.forms)

    def wrong(self, what: str, help: str) -> Error:
        at = self.place() or Span(max(0, len(self.text) - 1), len(self.text))
        return refuse("D101", "this SQL cannot be parsed", at, label=f"expected {what}", help=help)


def unquoted(name: str) -> str:
    mark = name[0]
    return name[1:-1].replace(mark * 2, mark) if mark in "\"'" else name
