"""Line charts in a terminal: two by four braille dots in a character, the margins shaded.

8 000 ┤░░⡠⠤⢄░░
      │⡔⠁░░░⠈⢆░░⣀⠤
6 000 ┤░░    ░⠑⠉
      └┬─────────┬
       0        90
"""

from __future__ import annotations

from dpsql.render.chart import Chart, Panel, Series
from dpsql.render.digits import wide
from dpsql.render.display import Look
from dpsql.render.folding import cut
from dpsql.render.ticks import axis_range, tick_text, ticks

_HEIGHT = 12
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


def line_panel(chart: Chart, panel: Panel, width: int, look: Look) -> list[str]:
    """Draw the series of a panel one below the other, on one scale."""
    low, high = axis_range(*panel.reach())
    tick_values = ticks(low, high, 4)
    texts = [tick_text(tick, tick_values[1] - tick_values[0], " ") for tick in tick_values]
    label_width = max(map(wide, texts))
    room = max(8, width - label_width - 3)
    places = chart.places or ()
    across = [(place - places[0]) / ((places[-1] - places[0]) or 1.0) * (room - 1) for place in places]
    labels = {
        round((high - tick) / (high - low) * (_HEIGHT - 1)): text
        for tick, text in zip(tick_values, texts, strict=True)
    }
    lines = []
    for series in panel.series:
        lines += [cut(series.name, width)] if series.name else []
        for number, row in enumerate(_Canvas(room, low, high).draw(series, across, look)):
            axis = "┤" if number in labels else "│"
            lines.append(f"{labels.get(number, ''):>{label_width}} {axis}{row}".rstrip())
        lines += _horizontal_axis(chart, across, room, label_width)
    return lines


class _Canvas:
    """Rows of characters, the highest first: the dots of the line, and the shaded cells."""

    def __init__(self, room: int, low: float, high: float) -> None:
        self.room, self.low, self.high = room, low, high
        self.dots = [[0] * room for _ in range(_HEIGHT)]
        self.shade = [[False] * room for _ in range(_HEIGHT)]

    def draw(self, series: Series, across: list[float], look: Look) -> list[str]:
        """Draw a series and return the lines."""
        points = [(x, mark) for x, mark in zip(across, series.marks, strict=True) if mark is not None]
        for (x0, before), (x1, after) in zip(points, points[1:] or points, strict=False):
            rise = abs(self.row(after.value) - self.row(before.value))
            steps = max(1, int((x1 - x0) * 4), int(rise * 8))
            for part in (step / steps for step in range(steps + 1)):
                x, value = x0 + (x1 - x0) * part, _between(before.value, after.value, part)
                self.dot(x, value)
                if before.margin is not None and after.margin is not None:
                    low, high = _between(before.low, after.low, part), _between(before.high, after.high, part)
                    self.shade_between(x, low, high)
        return [
            "".join(
                chr(0x2800 + bits) if bits else look.dim("░") if shaded else " "
                for bits, shaded in zip(*row, strict=True)
            )
            for row in zip(self.dots, self.shade, strict=True)
        ]

    def row(self, value: float) -> float:
        return (self.high - value) / (self.high - self.low) * (_HEIGHT - 1)

    def dot(self, x: float, value: float) -> None:
        right = min(self.room * 2 - 1, int((x + 0.5) * 2))
        down = max(0, min(_HEIGHT * 4 - 1, int((self.row(value) + 0.5) * 4)))
        self.dots[down // 4][right // 2] |= _DOTS[down % 4][right % 2]

    def shade_between(self, x: float, low: float, high: float) -> None:
        for row in range(max(0, int(self.row(high) + 0.5)), min(_HEIGHT - 1, int(self.row(low) + 0.5)) + 1):
            self.shade[row][int(x + 0.5)] = True


def _between(before: float, after: float, part: float) -> float:
    return before + (after - before) * part


def _horizontal_axis(chart: Chart, across: list[float], room: int, label_width: int) -> list[str]:
    """Draw the axis with as many labels as fit without touching."""
    axis, text = ["─"] * room, [" "] * room
    order = [0, len(across) - 1, *range(1, len(across) - 1)]
    taken: list[tuple[int, int]] = []
    for at in order:
        label, place = chart.labels[at], int(across[at] + 0.5)
        first = max(0, min(room - wide(label), place - wide(label) // 2))
        last = first + wide(label)
        if last > room or any(first < end + 3 and last + 3 > start for start, end in taken):
            continue
        taken.append((first, last))
        axis[place] = "┬"
        text[first:last] = [*label, *[""] * (wide(label) - len(label))]
    return [" " * (label_width + 1) + "└" + "".join(axis), " " * (label_width + 2) + "".join(text).rstrip()]
