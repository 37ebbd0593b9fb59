"""From an answer to what is drawn of it: names or places along one axis, numbers along the other.

ward, COUNT(*), AVG(age)          two panels of bars, one for each number, a bar for each ward
month, COUNT(*)                   a line: months have an order and distances
ward, smoker, COUNT(*)            bars, in each ward a bar for each of smoker's values
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from dpsql.errors import InterfaceError
from dpsql.ir.column import Kind, type_named
from dpsql.render.answer_fields import AnswerFields
from dpsql.render.cells import cells, is_number, one_line
from dpsql.render.digits import plain

GAP = "\N{NARROW NO-BREAK SPACE}"
"""Between thousands."""

_HUGE = 1e300  # beyond it a difference is infinite
_SERIES, _BARS, _PANELS = 6, 40, 8
_ORDERED = 3  # places from which on a line says more than bars


@dataclass(frozen=True, slots=True)
class Mark:
    """A number that is drawn, how far the noise reaches (None: it is exact, or nobody knows), its text."""

    value: float
    margin: float | None
    text: str

    @property
    def low(self) -> float:
        return self.value - (self.margin or 0.0)

    @property
    def high(self) -> float:
        return self.value + (self.margin or 0.0)


@dataclass(frozen=True, slots=True)
class Series:
    """One mark for each label; None where there is nothing to draw."""

    name: str
    marks: tuple[Mark | None, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One number of the answer: its series have one scale."""

    name: str
    series: tuple[Series, ...]

    def reach(self) -> tuple[float, float]:
        """From the lowest end of a margin to the highest."""
        marks = [mark for series in self.series for mark in series.marks if mark is not None]
        return min((each.low for each in marks), default=0.0), max((each.high for each in marks), default=0.0)


@dataclass(frozen=True, slots=True)
class Chart:
    """``places`` is None for bars; for a line they say where each label is, ``dates`` in days since 1970.
    ``notes`` name what is not drawn."""

    by: str
    labels: tuple[str, ...]
    places: tuple[float, ...] | None
    dates: bool
    panels: tuple[Panel, ...]
    notes: tuple[str, ...]

    @property
    def title(self) -> str:
        names = ", ".join(each.name for each in self.panels)
        return f"{names} by {self.by}" if self.by else names


def chart_of(answer: AnswerFields) -> Chart:
    """What is drawn of an answer, or an error that says why nothing is."""
    keys, numbers = _parts(answer)
    label, other = _axis(answer, keys)
    rows, notes = list(range(len(answer.rows))), []
    line = len(label) == 1 and _ordered(answer, label[0])
    if line:
        rows = sorted(
            (row for row in rows if _place(answer.rows[row][label[0]]) is not None),
            key=lambda row: _place(answer.rows[row][label[0]]) or 0.0,
        )
        if left := len(answer.rows) - len(rows):
            notes.append(
                f"{left} {'row' if left == 1 else 'rows'} without {one_line(answer.columns[label[0]])}"
            )
    tags: list[Any] = [tuple(_key(row[at]) for at in label) for row in answer.rows]
    if other is None:  # each row has its own place, if the query made two of one name too
        tags = [(tag, row) for row, tag in enumerate(tags)]
    places = list(dict.fromkeys(tags[row] for row in rows))
    if not line and len(places) > _BARS:
        notes.append(f"{len(places) - _BARS} more bars")
        places = places[:_BARS]
    if len(numbers) > _PANELS:
        notes.append(f"{len(numbers) - _PANELS} more numbers")
    panels = tuple(_panel(answer, at, other, rows, tags, places) for at in numbers[:_PANELS])
    names = [place if other is not None else place[0] for place in places]
    return Chart(
        by=", ".join(one_line(answer.columns[at]) for at in (*label, other) if at is not None),
        labels=_labels(names),
        places=tuple(_place(name[0]) or 0.0 for name in names) if line else None,
        dates=line and not type_named(answer.types[label[0]]).numeric,
        panels=panels,
        notes=tuple(notes),
    )


def _parts(answer: AnswerFields) -> tuple[list[int], list[int]]:
    """The columns that tell rows apart, and the numbers to be drawn: noised ones tell nothing apart."""
    if not answer.rows:
        raise InterfaceError("there is nothing to draw: the answer has no rows")
    numeric = [at for at, sql in enumerate(answer.types) if type_named(sql).numeric]
    noised = [at for at in numeric if answer.noised(at)]
    texts = [at for at in range(len(answer.columns)) if at not in numeric]
    plain_numbers = [at for at in numeric if at not in noised]
    if not texts and not noised and len(answer.columns) == 1:
        plain_numbers = []
    keys: list[int] = []
    for at in texts + plain_numbers:
        if (keys and _unique(answer, keys)) or (len(answer.rows) == 1 and at in numeric):
            break
        if set(numeric) - {*keys, at}:  # something is left to draw
            keys.append(at)
    drawn = [at for at in numeric if at not in keys and any(_drawn(row[at]) for row in answer.rows)]
    if not drawn:
        raise InterfaceError(
            "there is nothing to draw: the answer has no number",
            help="ask for a number for each group: SELECT ward, COUNT(*) ... GROUP BY ward",
        )
    return keys, drawn


def _axis(answer: AnswerFields, keys: list[int]) -> tuple[tuple[int, ...], int | None]:
    """The columns that label an axis, and one whose values become series."""
    if len(keys) != 2 or not _unique(answer, keys):
        return tuple(keys), None
    count = {at: len({_key(row[at]) for row in answer.rows}) for at in keys}
    first, second = sorted(keys, key=lambda at: (not _ordered(answer, at), -count[at], at))
    return ((first,), second) if count[second] <= _SERIES else (tuple(sorted(keys)), None)


def _unique(answer: AnswerFields, keys: list[int]) -> bool:
    return len({tuple(_key(row[at]) for at in keys) for row in answer.rows}) == len(answer.rows)


def _ordered(answer: AnswerFields, at: int) -> bool:
    """Whether a column's values have an order and distances, and are enough for a line."""
    kinds = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ)
    if type_named(answer.types[at]).kind not in kinds:
        return False
    return len({_place(row[at]) for row in answer.rows} - {None}) >= _ORDERED


def _drawn(value: Any) -> bool:
    return is_number(value) and abs(value) < _HUGE


def _key(value: Any) -> Any:
    """A value that can be looked up: a list as its text."""
    return plain(value) if isinstance(value, list | dict) else value


def _place(value: Any) -> float | None:
    """Where a value is on its axis: a number, or days since 1970."""
    match value:
        case datetime.datetime():
            return (value.replace(tzinfo=value.tzinfo or datetime.UTC)).timestamp() / 86_400
        case datetime.date():
            return float((value - datetime.date(1970, 1, 1)).days)
        case _:
            return float(value) if is_number(value) else None


def _panel(
    answer: AnswerFields, at: int, other: int | None, rows: list[int], tags: list[Any], places: list[Any]
) -> Panel:
    """A number of the answer, by label and series."""
    marks = {}
    for row, cell in zip(rows, cells(answer, at, rows, GAP), strict=True):
        value, margin = answer.rows[row][at], answer.margins[row][at]
        if _drawn(value):
            name = "" if other is None else _name(answer.rows[row][other])
            text = f"{cell.value} ± {cell.margin}" if cell.margin else cell.value
            marks[name, tags[row]] = Mark(float(value), margin if _drawn(margin) else None, text)
    names = [""] if other is None else sorted({_name(row[other]) for row in answer.rows})
    series = (Series(name, tuple(marks.get((name, place)) for place in places)) for name in names)
    return Panel(one_line(answer.columns[at]), tuple(series))


def _labels(names: list[tuple[Any, ...]]) -> tuple[str, ...]:
    """Names as text; days without their midnight."""
    moments = [each for name in names for each in name if isinstance(each, datetime.datetime)]
    days = all(each.time() == datetime.time() for each in moments)
    return tuple(
        " · ".join(
            each.date().isoformat() if days and isinstance(each, datetime.datetime) else _name(each)
            for each in name
        )
        for name in names
    )


def _name(value: Any) -> str:
    return "NULL" if value is None else one_line(plain(value))
