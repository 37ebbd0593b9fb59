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
    """A text and the name under which errors point into it."""

    text: str
    name: str = "query"
