"""Sums and differences of days, moments and intervals: which of an engine's own texts prints which.

seen + INTERVAL '1' MONTH    ``moved``        day + 7    ``days_moved``        1 + 2    ``numbers``
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dpsql.engines.vetted_scalars import Render
from dpsql.functions import Argument, Arguments
from dpsql.functions.time.periods import part_name
from dpsql.ir.column import Kind, Type
from dpsql.lazy_dataclass import dataclass

_MOMENTS = (Kind.DATE, Kind.TIMESTAMP)

Moved = Callable[[str, tuple[str, ...], Arguments], str]
"""Prints a moment moved by what is added to it, ``+``, or taken from it."""


@dataclass(frozen=True, slots=True)
class Moments:
    """The texts of one engine; ``between`` prints a difference of two moments."""

    moved: Moved
    days_moved: Moved
    between: Render
    numbers: Mapping[str, Render]

    def plus(self, texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        first, second = (argument.kind for argument in arguments)
        if first in (Kind.INTERVAL, Kind.INTEGER) and second in _MOMENTS:
            return self.plus(texts[::-1], arguments[::-1], type)
        return self._by(second, first, "+")(texts, arguments, type)

    def minus(self, texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        first, second = (argument.kind for argument in arguments)
        if first in _MOMENTS and second in _MOMENTS:
            return self.between(texts, arguments, type)
        return self._by(second, first, "-")(texts, arguments, type)

    def _by(self, moves: Kind, moment: Kind, sign: str) -> Render:
        if (moment, moves) == (Kind.DATE, Kind.INTEGER):
            return lambda texts, arguments, _: self.days_moved(sign, texts, arguments)
        if moment in _MOMENTS and moves is Kind.INTERVAL:
            return lambda texts, arguments, _: self.moved(sign, texts, arguments)
        return self.numbers[sign]


def unit_of(argument: Argument) -> str:
    """Return the part of a moment that a constant names; empty where it is none."""
    value = None if argument.literal is None else argument.literal.value
    return part_name(value) if isinstance(value, str) else ""
