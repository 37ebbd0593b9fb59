"""Where a thing stands in the text somebody wrote."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Characters ``start`` up to, not including, ``end``."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Source:
    """A text, the name under which errors point into it, and the values of its question marks."""

    text: str
    name: str = "query"
    parameters: tuple[object, ...] = ()
