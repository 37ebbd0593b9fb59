"""Lines on two logarithmic axes, in plain characters: each line has a letter.

100 % ┤a
      │bbaa
 10 % ┤cccbbaaa
      │   cccbbbaaa
  1 % ┤      cccbbbaaa
      └┬─────┬─────┬──
      100  1 000 10 000
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpsql.render.digits import wide

LETTERS = "abcdefgh"
_STEPS = 3  # rows of a decade


def log_plot(
    places: Sequence[float],
    labels: Sequence[str],
    lines: Sequence[Sequence[float | None]],
    width: int,
    unit: str = "",
    most: float = math.inf,
) -> list[str]:
    """Draw lines of positive numbers over positive places; of two letters, the later one shows.

    What is above ``most`` is not drawn.
    """
    values = [min(value, most) for line in lines for value in line if value]
    high = math.ceil(math.log10(max(values)) - 1e-9)
    low = min(high - 1, math.floor(math.log10(min(values)) + 1e-9))
    texts = [f"{10.0**power:g}{unit}" for power in range(low, high + 1)]
    gutter = max(map(wide, texts))
    room = max(10, width - gutter - 3 - wide(labels[-1]) // 2)
    rows = [[" "] * room for _ in range((high - low) * _STEPS + 1)]
    logs = [math.log10(place) for place in places]
    across = [round((log - logs[0]) / ((logs[-1] - logs[0]) or 1.0) * (room - 1)) for log in logs]
    for letter, line in zip(LETTERS, lines, strict=False):
        points = [
            (x, math.log10(value))
            for x, value in zip(across, line, strict=True)
            if value is not None and value
        ]
        for x, height in _along(points):
            row = round((high - height) * _STEPS)
            if 0 <= row < len(rows):
                rows[row][x] = letter
    while len(rows) > 1 and not "".join(rows[-1]).strip():
        rows.pop()
    drawn = []
    for at, cells in enumerate(rows):
        text = texts[-1 - at // _STEPS] if at % _STEPS == 0 else ""
        drawn.append(f"{text:>{gutter}} {'┤' if text else '│'}{''.join(cells)}".rstrip())
    return [*drawn, *_axis(across, labels, room, gutter)]


def _along(points: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return a height for each column from the first point to the last."""
    found = points[:1]
    for (x0, before), (x1, after) in zip(points, points[1:], strict=False):
        found += [(x, before + (after - before) * (x - x0) / (x1 - x0)) for x in range(x0 + 1, x1 + 1)]
    return found


def _axis(across: Sequence[int], labels: Sequence[str], room: int, gutter: int) -> list[str]:
    """Draw the axis, with the labels that do not touch one another."""
    ticks, text = ["─"] * room, ""
    for x, label in zip(across, labels, strict=True):
        start = max(0, gutter + 2 + x - wide(label) // 2)
        if not text or start > wide(text) + 1:
            ticks[x] = "┬"
            text = f"{text:<{start}}{label}"
    return [" " * (gutter + 1) + "└" + "".join(ticks), text]
