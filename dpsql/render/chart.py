"""Choose the chart of an answer: labels or positions on one axis, numbers on the other.

ward, COUNT(*), AVG(age)          two panels of bars, one for each number, with a bar for each ward
month, COUNT(*)                   a line: months have an order and distances
ward, smoker, COUNT(*)            bars: in each ward, one bar for each value of smoker
"""

from __future__ import annotations

import datetime
from typing import Any

from dpsql.errors import InterfaceError
from dpsql.ir.column import Kind, type_named
from dpsql.ir.model import COEFFICIENTS, TERM
from dpsql.lazy_dataclass import dataclass
from dpsql.render.answer_fields import AnswerFields
from dpsql.render.cells import ALL, cells, is_number, one_line
from dpsql.render.digits import plain
from dpsql.render.totals import with_totals

GAP = "\N{NARROW NO-BREAK SPACE}"
"""The separator of thousands."""

_HUGE = 1e300  # differences of larger numbers may overflow
_TINY = 1e-290  # smaller ones are drawn as zero: a scale for them would overflow
_MAX_SERIES, _MAX_BARS, _MAX_PANELS = 6, 40, 8
_MIN_LINE_POINTS = 3


@dataclass(frozen=True, slots=True)
class Mark:
    """A number in a chart, its margin (None: exact or unknown) and its text."""

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
    """One mark for each label; None if there is no number for it."""

    name: str
    marks: tuple[Mark | None, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One numeric column of the answer; its series share a scale."""

    name: str
    series: tuple[Series, ...]

    def reach(self) -> tuple[float, float]:
        """Return the lowest and the highest end of all margins."""
        marks = [mark for series in self.series for mark in series.marks if mark is not None]
        return min((mark.low for mark in marks), default=0.0), max((mark.high for mark in marks), default=0.0)


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of one or more panels.

    ``places`` is None for bars; for a line it has the position of each label, for ``dates`` in days since
    1970. ``notes`` say what is not drawn.
    """

    by: str
    labels: tuple[str, ...]
    places: tuple[float, ...] | None
    dates: bool
    panels: tuple[Panel, ...]
    notes: tuple[str, ...]

    @property
    def title(self) -> str:
        names = ", ".join(panel.name for panel in self.panels)
        return f"{names} by {self.by}" if self.by else names


def chart_of(answer: AnswerFields) -> Chart:
    """Return the chart of an answer; refuse an answer without rows or numbers."""
    answer = with_totals(answer, ALL, only_texts=True)
    keys, numbers = _parts(answer)
    label, series_column = _axis(answer, keys)
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
    if series_column is None:  # each row has its own place, even if two rows have the same label
        tags = [(tag, row) for row, tag in enumerate(tags)]
    places = list(dict.fromkeys(tags[row] for row in rows))
    if not line and len(places) > _MAX_BARS:
        notes.append(f"{len(places) - _MAX_BARS} more bars")
        places = places[:_MAX_BARS]
    if len(numbers) > _MAX_PANELS:
        notes.append(f"{len(numbers) - _MAX_PANELS} more numbers")
    panels = tuple(_panel(answer, at, series_column, rows, tags, places) for at in numbers[:_MAX_PANELS])
    names = [place if series_column is not None else place[0] for place in places]
    return Chart(
        by=", ".join(one_line(answer.columns[at]) for at in (*label, series_column) if at is not None),
        labels=_labels(names),
        places=tuple(_place(name[0]) or 0.0 for name in names) if line else None,
        dates=line and not type_named(answer.types[label[0]]).numeric,
        panels=panels,
        notes=tuple(notes),
    )


def _parts(answer: AnswerFields) -> tuple[list[int], list[int]]:
    """Split the columns into the keys of the rows and the numbers to draw; a noised column is never a key."""
    if not answer.rows:
        raise InterfaceError("there is nothing to plot: the answer has no rows")
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
        if set(numeric) - {*keys, at}:  # a number is left to draw
            keys.append(at)
    drawn = [at for at in numeric if at not in keys and any(_drawn(row[at]) for row in answer.rows)]
    if {TERM, *COEFFICIENTS} <= {*answer.columns}:  # what else is told of a coefficient describes its reach
        drawn = [at for at in drawn if answer.columns[at] not in COEFFICIENTS[1:]]
    if not drawn:
        raise InterfaceError(
            "there is nothing to plot: the answer has no number",
            help="ask for a number for each group: SELECT ward, COUNT(*) ... GROUP BY ward",
        )
    return keys, drawn


def _axis(answer: AnswerFields, keys: list[int]) -> tuple[tuple[int, ...], int | None]:
    """Return the columns that label the axis, and the column with a series for each value, or None."""
    if len(keys) != 2 or not _unique(answer, keys):
        return tuple(keys), None
    count = {at: len({_key(row[at]) for row in answer.rows}) for at in keys}
    first, second = sorted(keys, key=lambda at: (not _ordered(answer, at), -count[at], at))
    return ((first,), second) if count[second] <= _MAX_SERIES else (tuple(sorted(keys)), None)


def _unique(answer: AnswerFields, keys: list[int]) -> bool:
    return len({tuple(_key(row[at]) for at in keys) for row in answer.rows}) == len(answer.rows)


def _ordered(answer: AnswerFields, at: int) -> bool:
    """Whether the values of a column have an order and distances, and are enough for a line."""
    kinds = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ)
    if type_named(answer.types[at]).kind not in kinds:
        return False
    return len({_place(row[at]) for row in answer.rows} - {None}) >= _MIN_LINE_POINTS


def _drawn(value: Any) -> bool:
    return is_number(value) and abs(value) < _HUGE


def _size(value: Any) -> float:
    """Return the number that is drawn."""
    return float(value) if abs(value) >= _TINY else 0.0


def _key(value: Any) -> Any:
    """Return a hashable value: a list or a map becomes text."""
    return plain(value) if isinstance(value, list | dict) else value


def _place(value: Any) -> float | None:
    """Return the position of a value on its axis: a number, or days since 1970."""
    match value:
        case datetime.datetime():
            return (value.replace(tzinfo=value.tzinfo or datetime.UTC)).timestamp() / 86_400
        case datetime.date():
            return float((value - datetime.date(1970, 1, 1)).days)
        case _:
            return float(value) if is_number(value) else None


def _panel(
    answer: AnswerFields,
    at: int,
    series_column: int | None,
    rows: list[int],
    tags: list[Any],
    places: list[Any],
) -> Panel:
    """Return the marks of a numeric column, by label and series."""
    marks = {}
    for row, cell in zip(rows, cells(answer, at, rows, GAP), strict=True):
        value, margin = answer.rows[row][at], answer.margins[row][at]
        if _drawn(value):
            name = "" if series_column is None else _name(answer.rows[row][series_column])
            text = f"{cell.value} ± {cell.margin}" if cell.margin else cell.value
            reach = _size(margin) if _drawn(margin) else None
            marks[name, tags[row]] = Mark(_size(value), reach, text)
    names = [""] if series_column is None else sorted({_name(row[series_column]) for row in answer.rows})
    series = (Series(name, tuple(marks.get((name, place)) for place in places)) for name in names)
    return Panel(one_line(answer.columns[at]), tuple(series))


def _labels(names: list[tuple[Any, ...]]) -> tuple[str, ...]:
    """Return names as text; timestamps that are all at midnight become dates."""
    times = [value for name in names for value in name if isinstance(value, datetime.datetime)]
    days = all(value.time() == datetime.time() for value in times)
    return tuple(
        " · ".join(
            value.date().isoformat() if days and isinstance(value, datetime.datetime) else _name(value)
            for value in name
        )
        for name in names
    )


def _name(value: Any) -> str:
    return "NULL" if value is None else one_line(plain(value))
