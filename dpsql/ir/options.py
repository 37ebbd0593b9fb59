"""Options of BigQuery's clause: SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.2) ..."""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass

OptionValue: TypeAlias = int | float | str | tuple[str, ...] | tuple[int | float, ...]
"""A number, a string, the parts of a column name, or a list of numbers."""


@dataclass(frozen=True, slots=True)
class Option:
    """One ``name = value`` and its position in the text."""

    name: str
    value: OptionValue
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Goal:
    """The accuracy asked for: an error of at most ``reach``, absolute or relative to the value."""

    reach: float
    relative: bool
    confidence: float
    span: Span = field(compare=False, repr=False)

    def __str__(self) -> str:
        reach = f"{100 * self.reach:g} %" if self.relative else f"± {self.reach:g}"
        return f"{reach} ({100 * self.confidence:g} %)"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one SELECT, in the order of the text. Names are unique."""

    listed: tuple[Option, ...]
    span: Span = field(compare=False, repr=False)

    def get(self, *names: str) -> Option | None:
        """Return the first option with one of these names."""
        return next((option for option in self.listed if option.name in names), None)
