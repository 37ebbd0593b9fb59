"""Explanation of a plan, as text and as JSON."""

from __future__ import annotations

from typing import Any

from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Explanation:
    """``str()`` is for people, ``to_dict()`` for programs."""

    text: str
    facts: dict[str, Any]

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        return self.facts
