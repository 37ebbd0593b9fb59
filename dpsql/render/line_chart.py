"""A line in a terminal: two by four braille dots in a sign, shade where the noise may have moved it.

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
from dpsql.render.ticks import stretch, tick_text, ticks

_HEIGHT = 12
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


def line_panel(chart: Chart, panel: Panel, width: int, look: Look) -> list[str]:
    """The series of a panel one below the other, on one scale."""
    low, high = stretch(*panel.reach())
    marked = ticks(low, high, 4)
    texts = [tick_text(each, marked[1] - marked[0], " ") for each in marked]
    named = max(map(wide, texts))
    room = max(8, width - named - 3)
    places = chart.places or ()
    across = [(each - places[0]) / ((places[-1] - places[0]) or 1.0) * (room - 1) for each in places]
    names = {
        round((high - each) / (high - low) * (_HEIGHT - 1)): text
        for each, text in zip(marked, texts, strict=True)
    }
    lines = []
    for series in panel.series:
        lines += [cut(series.name, width)] if series.name else []
        for number, row in enumerate(_Canvas(room, low, high).drawn(series, across, look)):
            lines.append(f"{names.get(number, ''):>{named}} {'┤' if number in names else '│'}{row}".rstrip())
        lines += _below(chart, across, room, named)
    return lines


class _Canvas:
    """Signs in rows, the highest first: dots of the line, and where shade lies."""

    def __init__(self, room: int, low: float, high: float) -> None:
        self.room, self.low, self.high = room, low, high
        self.dots = [[0] * room for _ in range(_HEIGHT)]
        self.shade = [[False] * room for _ in range(_HEIGHT)]

    def drawn(self, series: Series, across: list[float], look: Look) -> list[str]:
        known = [(x, mark) for x, mark in zip(across, series.marks, strict=True) if mark is not None]
        for (x0, before), (x1, after) in zip(known, known[1:] or known, strict=False):
            rise = abs(self.row(after.value) - self.row(before.value))
            pieces = max(1, int((x1 - x0) * 4), int(rise * 8))
            for part in (each / pieces for each in range(pieces + 1)):
                x, value = x0 + (x1 - x0) * part, _between(before.value, after.value, part)
                self.dot(x, value)
                if before.margin is not None and after.margin is not None:
                    low, high = _between(before.low, after.low, part), _between(before.high, after.high, part)
                    self.shaded(x, low, high)
        return [
            "".join(
                chr(0x2800 + bits) if bits else look.dim("░") if dark else " "
                for bits, dark in zip(*row, strict=True)
            )
            for row in zip(self.dots, self.shade, strict=True)
        ]

    def row(self, value: float) -> float:
        return (self.high - value) / (self.high - self.low) * (_HEIGHT - 1)

    def dot(self, x: float, value: float) -> None:
        right = min(self.room * 2 - 1, int((x + 0.5) * 2))
        down = max(0, min(_HEIGHT * 4 - 1, int((self.row(value) + 0.5) * 4)))
        self.dots[down // 4][right // 2] |= _DOTS[down % 4][right % 2]

    def shaded(self, x: float, low: float, high: float) -> None:
        for row in range(max(0, int(self.row(high) + 0.5)), min(_HEIGHT - 1, int(self.row(low) + 0.5)) + 1):
            self.shade[row][int(x + 0.5)] = True


def _between(before: float, after: float, part: float) -> float:
    return before + (after - before) * part


def _below(chart: Chart, across: list[float], room: int, named: int) -> list[str]:
    """The axis with as many labels as stand apart; each begins or ends at its place."""
    axis, text = ["─"] * room, [" "] * room
    order = [0, len(across) - 1, *range(1, len(across) - 1)]
    taken: list[tuple[int, int]] = []
    for at in order:
        label, place = chart.labels[at], int(across[at] + 0.5)
        first = max(0, min(room - wide(label), place - wide(label) // 2))
        last = first + wide(label)
        if last > room or any(first < there + 3 and last + 3 > here for here, there in taken):
            continue
        taken.append((first, last))
        axis[place] = "┬"
        text[first:last] = [*label, *[""] * (wide(label) - len(label))]
    return [" " * (named + 1) + "└" + "".join(axis), " " * (named + 2) + "".join(text).rstrip()]
