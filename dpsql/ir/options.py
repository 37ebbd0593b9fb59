"""What a query says in BigQuery's clause: SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.2) ..."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from dpsql.ir.source import Span

OptionValue: TypeAlias = int | float | str | tuple[str, ...] | tuple[int | float, ...]
"""A number, a text, the parts of a column's name, or a list of numbers."""


@dataclass(frozen=True, slots=True)
class Option:
    """One ``name = value``, and where it stands."""

    name: str
    value: OptionValue
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Goal:
    """How near the truth a query's numbers are wanted: within ``reach``, or within that part of the truth."""

    reach: float
    relative: bool
    confidence: float
    span: Span = field(compare=False, repr=False)

    def __str__(self) -> str:
        reach = f"{100 * self.reach:g} %" if self.relative else f"± {self.reach:g}"
        return f"{reach} ({100 * self.confidence:g} %)"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one SELECT, in the order of the text. No name stands twice."""

    listed: tuple[Option, ...]
    span: Span = field(compare=False, repr=False)

    def get(self, *names: str) -> Option | None:
        """The first option with one of these names."""
        return next((each for each in self.listed if each.name in names), None)
