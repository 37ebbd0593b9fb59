"""Charts as SVG, without scripts or external resources, in the reader's light or dark mode.

chart_svg(answer)     <svg ...> bars with error bars, or a line with a band </svg>
"""

from __future__ import annotations

import math
from html import escape

from dpsql.lazy_dataclass import dataclass
from dpsql.render.answer_fields import AnswerFields
from dpsql.render.chart import GAP, Chart, Mark, Panel, chart_of
from dpsql.render.text_width import cut_to_width, width_of
from dpsql.render.ticks import axis_range, tick_text, ticks

WIDTH = 640
_EDGE = 16
_HEAD, _HEIGHT = 26.0, 200.0
_MAX_POINTS = 40
_COLOURS = ("#3567b3", "#d9822b", "#2a9d78", "#a3479b", "#c2484c", "#7a7f87")
_DARK = ("#7fa8e8", "#f0a860", "#5cc9a3", "#d58ccd", "#ee8a8d", "#a9afb8")

MOST_COLOURS = len(_COLOURS)
"""Most series that are told apart."""

STYLE = (
    ".dp{--ink:#1f2328;--soft:#59636e;--line:#d8dee4;--paper:#fff;"
    + "".join(f"--c{at}:{colour};" for at, colour in enumerate(_COLOURS))
    + "font:12px system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',sans-serif;"
    "font-variant-numeric:tabular-nums}"
    "@media (prefers-color-scheme:dark){.dp{--ink:#e6edf3;--soft:#9aa4af;--line:#323a43;--paper:#0f1318;"
    + "".join(f"--c{at}:{colour};" for at, colour in enumerate(_DARK))
    + "}}@media print{.dp{--ink:#000;--soft:#444;--line:#ccc;--paper:#fff;"
    + "".join(f"--c{at}:{colour};" for at, colour in enumerate(_COLOURS))
    + "}}"
    ".dp text{fill:var(--ink)}.dp .soft{fill:var(--soft)}.dp .head{font-weight:600;font-size:13px}"
    ".dp .grid{stroke:var(--line);stroke-width:1}.dp .axis{stroke:var(--soft);stroke-width:1}"
    ".dp .reach{stroke:var(--ink);stroke-width:1.5;fill:none}"
    + "".join(
        f".dp .f{at}{{fill:var(--c{at})}}.dp .s{at}{{stroke:var(--c{at});stroke-width:2;fill:none}}"
        for at in range(len(_COLOURS))
    )
    + ".dp .thin{stroke-width:1.25}.dp .bar{opacity:.85}.dp .band{opacity:.18}.dp .paper{fill:var(--paper)}"
)


def chart_svg(answer: AnswerFields, alone: bool = True) -> str:
    """Draw the chart of an answer; if not ``alone``, for a page that has STYLE and its own background."""
    return drawn_svg(chart_of(answer), alone)


def drawn_svg(chart: Chart, alone: bool = True) -> str:
    """Draw a chart."""
    parts, top = _legend(chart)
    for panel in chart.panels:
        drawn, height = (_bars if chart.places is None else _line)(chart, panel)
        parts.append(f'<g transform="translate(0 {top:g})">{"".join(drawn)}</g>')
        top += height
    if chart.notes:
        parts.append(_text(0, top + 12, cut_to_width(f"not drawn: {', '.join(chart.notes)}", WIDTH), "soft"))
        top += 20
    edge = _EDGE if alone else 0
    width, height = WIDTH + 2 * edge, round(top) + 2 * edge
    paper = f'<rect class="paper" x="{-edge}" y="{-edge}" width="{width}" height="{height}"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="dp" role="img" width="{width}" height="{height}" '
        f'viewBox="{-edge} {-edge} {width} {height}"><title>{_escaped(chart.title)}</title>'
        f"{f'<style>{STYLE}</style>{paper}' if alone else ''}{''.join(parts)}</svg>\n"
    )


# ---- bars --------------------------------------------------------------------------------------------


def _bars(chart: Chart, panel: Panel) -> tuple[list[str], float]:
    """Draw horizontal bars, with names on the left and numbers on the right; also return the height."""
    marks = [mark for series in panel.series for mark in series.marks if mark is not None]
    name_width = min(200.0, 10 + max(map(width_of, chart.labels))) if any(chart.labels) else 4.0
    text_width = 10 + max((width_of(mark.text) for mark in marks), default=0.0)
    low, high = panel.reach()
    axis = _Axis(min(low, 0.0), max(high, 0.0) or float(low >= 0), name_width, WIDTH - text_width)
    thick = 20.0 if len(panel.series) == 1 else 15.0
    step = thick * len(panel.series) + 8
    base = _HEAD + step * len(chart.labels)
    parts = [_head(chart, panel)]
    for tick, text in axis.ticks(5):
        x = axis.at(tick)
        parts.append(_path("grid", (x, _HEAD - 2), (x, base)))
        half = width_of(text) / 2
        parts.append(_text(min(max(x, half), WIDTH - half), base + 14, text, "soft", "middle"))
    for at, label in enumerate(chart.labels):
        top = _HEAD + step * at + 4
        parts.append(
            _text(name_width - 8, top + (step - 8) / 2 + 4, cut_to_width(label, name_width - 9), "", "end")
        )
        for number, series in enumerate(panel.series):
            if mark := series.marks[at]:
                parts += _bar(mark, axis, top + thick * number, thick, number)
    parts.append(_path("axis", (axis.at(0), _HEAD - 2), (axis.at(0), base)))
    return parts, base + 34


def _bar(mark: Mark, axis: _Axis, top: float, thick: float, number: int) -> list[str]:
    zero, end, middle = axis.at(0), axis.at(mark.value), top + thick / 2
    parts = [
        f'<rect class="bar f{number}" x="{min(zero, end):.1f}" y="{top + 1:.1f}" rx="1.5" '
        f'width="{abs(end - zero):.1f}" height="{thick - 2:.1f}"/>'
    ]
    if mark.margin:
        low, high = axis.at(mark.low), axis.at(mark.high)
        parts.append(
            f'<path class="reach" d="M{low:.1f} {middle:.1f}H{high:.1f}M{low:.1f} {middle - 4:.1f}v8'
            f'M{high:.1f} {middle - 4:.1f}v8"/>'
        )
    parts.append(_text(max(end, zero, axis.at(mark.high)) + 6, middle + 4, mark.text, "soft"))
    return parts


# ---- lines -------------------------------------------------------------------------------------------


def _line(chart: Chart, panel: Panel) -> tuple[list[str], float]:
    """Draw lines with their margins as bands, and as error bars if there are few points.

    Also return the height.
    """
    low, high = axis_range(*panel.reach())
    up = _Axis(low, high, _HEAD + _HEIGHT, _HEAD)
    tick_texts = up.ticks(5)
    left = 10 + max(width_of(text) for _, text in tick_texts)
    places = chart.places or ()
    across = _Axis(places[0], places[-1], left + 10, WIDTH - 14)
    parts = [_head(chart, panel)]
    for tick, text in tick_texts:
        parts.append(_path("grid" if tick else "axis", (left, up.at(tick)), (WIDTH, up.at(tick))))
        parts.append(_text(left - 8, up.at(tick) + 4, text, "soft", "end"))
    base = _HEAD + _HEIGHT
    for x, text in _horizontal_labels(chart, across):
        parts.append(_path("axis", (x, base), (x, base + 4)))
        parts.append(_text(x, base + 17, text, "soft", "middle"))
    for number, series in enumerate(panel.series):
        points = [(across.at(x), mark) for x, mark in zip(places, series.marks, strict=True) if mark]
        if not points:
            continue
        if any(mark.margin for _, mark in points):
            upper = [f"{x:.1f} {up.at(mark.high):.1f}" for x, mark in points]
            lower = [f"{x:.1f} {up.at(mark.low):.1f}" for x, mark in reversed(points)]
            parts.append(f'<path class="band f{number}" d="M{"L".join(upper + lower)}Z"/>')
        path = "L".join(f"{x:.1f} {up.at(mark.value):.1f}" for x, mark in points)
        parts.append(f'<path class="s{number}" d="M{path}"/>')
        if len(points) <= _MAX_POINTS:
            parts += [_point(x, mark, up, number) for x, mark in points]
    return parts, base + 38


def _point(x: float, mark: Mark, up: _Axis, number: int) -> str:
    """Draw a point with its error bar, and its number as a tooltip."""
    low, high = up.at(mark.low), up.at(mark.high)
    path = f"M{x:.1f} {low:.1f}V{high:.1f}M{x - 3:.1f} {low:.1f}h6M{x - 3:.1f} {high:.1f}h6"
    reach = f'<path class="s{number} thin" d="{path}"/>'
    dot = f'<circle class="f{number}" cx="{x:.1f}" cy="{up.at(mark.value):.1f}" r="3"/>'
    return f"<g><title>{_escaped(mark.text)}</title>{reach if mark.margin else ''}{dot}</g>"


def _horizontal_labels(chart: Chart, across: _Axis) -> list[tuple[float, str]]:
    """Return the labels of the horizontal axis: round numbers, or as many dates as fit."""
    if not chart.dates:
        return [(across.at(tick), text) for tick, text in across.ticks(8)]
    places = chart.places or ()
    room = max(map(width_of, chart.labels)) + 10
    every = max(1, math.ceil(len(places) * room / (across.end - across.start)))
    labels: list[tuple[float, str]] = []
    for at in range(0, len(places), every):
        x = across.at(places[at])
        half = room / 2 - 5
        if not labels or x - labels[-1][0] >= room:
            labels.append((min(max(x, half), WIDTH - half), chart.labels[at]))
    return labels


# ---- shared parts ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Axis:
    """A linear scale from the values ``low`` to ``high`` to the coordinates ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, about: int) -> list[tuple[float, str]]:
        """Return ``about`` many ticks with their texts."""
        values = ticks(self.low, self.high, about)
        return [(value, tick_text(value, values[1] - values[0], GAP)) for value in values]


def _legend(chart: Chart) -> tuple[list[str], float]:
    """Draw the colours and names of the series, if they have names; also return the height."""
    parts: list[str] = []
    x, y = 0.0, 0.0
    for number, series in enumerate(chart.panels[0].series):
        name = cut_to_width(series.name, 160)
        width = 24 + width_of(name)
        if x + width > WIDTH:
            x, y = 0.0, y + 20
        parts.append(f'<rect class="bar f{number}" x="{x:g}" y="{y + 2:g}" width="12" height="12" rx="2"/>')
        parts.append(_text(x + 17, y + 12, name))
        x += width + 10
    return (parts, y + 28) if chart.panels[0].series[0].name else ([], 0.0)


def _head(chart: Chart, panel: Panel) -> str:
    title = f"{panel.name} by {chart.by}" if chart.by else panel.name
    return _text(0, 14, cut_to_width(title, WIDTH / 1.2), "head")


def _path(style: str, start: tuple[float, float], end: tuple[float, float]) -> str:
    return f'<path class="{style}" d="M{start[0]:.1f} {start[1]:.1f}L{end[0]:.1f} {end[1]:.1f}"/>'


def _text(x: float, y: float, text: str, style: str = "", anchor: str = "") -> str:
    attributes = (f' class="{style}"' if style else "") + (f' text-anchor="{anchor}"' if anchor else "")
    return f'<text x="{x:.1f}" y="{y:.1f}"{attributes}>{_escaped(text)}</text>'


def _escaped(text: str) -> str:
    """Escape a text for XML; characters that are not printable become spaces."""
    return escape("".join(char if char.isprintable() or char == GAP else " " for char in text))
