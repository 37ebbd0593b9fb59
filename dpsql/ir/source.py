"""A query's text and positions in it."""

from __future__ import annotations

from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """The characters from ``start`` up to, not including, ``end``."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Source:
    """A text, its name in error messages, and the values of its question marks."""

    text: str
    name: str = "query"
    parameters: tuple[object, ...] = ()
