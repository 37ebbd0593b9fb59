"""An answer beside what plain DuckDB says to the same SQL: rows are matched by the key columns.

    half-width   median of margin / |answer| over the numbers of the truth's rows; a number without a margin
                 counts by its error, a number that is not shown is infinitely wide
    worst        the same of the column where it is greatest: a count may be exact where its average is not
    error        median of |answer - truth| / |truth|; a number that is not shown counts as 1
    held         share of the numbers with a margin that are no further off than it

Rows that only the answer has, such as empty groups of declared keys, are not compared. A text or a time is
right or wrong. Numbers whose truth is NULL are left out, and so is the error beside a truth of 0.
"""

from __future__ import annotations

import datetime
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import dpsql

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Truth:
    """The answer of plain DuckDB."""

    columns: tuple[str, ...]
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class Compared:
    """How wide and how far off an answer is, and how many of the truth's rows it shows, and others."""

    shown: int
    others: int
    empty: bool
    half_width: float
    worst: float
    error: float
    held: float


def compared(answer: dpsql.Answer, truth: Truth, by: Sequence[str]) -> Compared:
    keys = [truth.columns.index(name) for name in by]
    found = {
        _key(row, keys): (row, margins) for row, margins in zip(answer.rows, answer.margins, strict=True)
    }
    kept = [(row, found.get(_key(row, keys))) for row in truth.rows]
    columns = [
        [number for row, ours in kept for number in _numbers(row[at], ours and (ours[0][at], ours[1][at]))]
        for at in range(len(truth.columns))
        if at not in keys
    ]
    numbers = [each for column in columns for each in column]
    held = [each.off <= each.margin for each in numbers if each.margin is not None and each.ours is not None]
    shown = sum(ours is not None for _, ours in kept)
    return Compared(
        shown=shown,
        others=len(answer.rows) - shown,
        empty=all(each.ours is None for each in numbers),
        half_width=_median([each.width for each in numbers]),
        worst=max(
            (_median([each.width for each in column]) for column in columns if column), default=math.nan
        ),
        error=_median([each.error for each in numbers if each.true != 0]),
        held=sum(held) / len(held) if held else math.nan,
    )


@dataclass(frozen=True, slots=True)
class _Number:
    """One number of the truth, and what the answer says of it: NULL or missing is None."""

    true: Any
    ours: Any
    margin: float | None

    @property
    def off(self) -> float:
        return abs(float(self.ours) - float(self.true))

    @property
    def error(self) -> float:
        if self.ours is None:
            return 1.0
        if isinstance(self.true, str | bool | datetime.date):
            return float(_day(self.ours) != _day(self.true))
        return _ratio(self.off, abs(float(self.true)))

    @property
    def width(self) -> float:
        if self.ours is None:
            return math.inf
        return self.error if self.margin is None else _ratio(self.margin, abs(float(self.ours)))


def _numbers(true: Any, answer: tuple[Any, Any] | None) -> Iterator[_Number]:
    """Give the numbers of a cell of the truth: of a list each, of an interval its seconds, of NULL none."""
    ours, margin = answer or (None, None)
    if isinstance(true, list):
        for at, each in enumerate(true):
            yield from _numbers(each, (ours[at], margin) if ours else None)
    elif true is not None and not (isinstance(true, float) and math.isnan(true)):
        yield _Number(_seconds(true), None if ours is None else _seconds(ours), _seconds(margin))


def _key(row: Row, keys: Sequence[int]) -> Row:
    return tuple(_day(row[at]) for at in keys)


def _day(value: object) -> object:
    """Return a midnight as its day: a date_trunc of days may be either."""
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date()
    return value


def _seconds(value: Any) -> Any:
    return value.total_seconds() if isinstance(value, datetime.timedelta) else value


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else (math.inf if part else 0.0)


def _median(numbers: list[float]) -> float:
    return statistics.median(numbers) if numbers else math.nan
