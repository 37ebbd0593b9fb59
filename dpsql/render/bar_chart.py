"""Charts in a terminal: bars in eighths of a character, lines in braille dots, with error bars.

patients by ward
Cardiology ████████████████├─┼─┤          4 422 ± 325
Maternity  ██▌├┼┤                           994 ± 325
"""

from __future__ import annotations

import math

from dpsql.render.answer_fields import AnswerFields
from dpsql.render.chart import GAP, Chart, Mark, Panel, chart_of
from dpsql.render.digits import wide
from dpsql.render.display import PLAIN, Look
from dpsql.render.folding import cut
from dpsql.render.line_chart import line_panel

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_WIDTH = 80


def chart_text(answer: AnswerFields, look: Look = PLAIN) -> str:
    """Draw the chart of an answer: bars, or a line if the labels have an order."""
    chart, width = chart_of(answer), look.width or _WIDTH
    blocks = []
    for panel in chart.panels:
        head = f"{panel.name} by {chart.by}" if chart.by else panel.name
        draw = bar_panel if chart.places is None else line_panel
        blocks.append("\n".join([cut(head, width), *draw(chart, panel, width, look)]))
    if chart.notes:
        blocks.append(cut(f"(not drawn: {', '.join(chart.notes)})", width))
    return "\n\n".join(blocks)


def bar_panel(chart: Chart, panel: Panel, width: int, look: Look) -> list[str]:
    """Draw a line for each bar: its name, the bar with its margin, the number."""
    rows: list[tuple[str, Mark | None]] = []
    for at, label in enumerate(chart.labels):
        if panel.series[0].name and len(panel.series) > 1:
            rows.append((label, None))
            rows += [(f"  {series.name}", series.marks[at]) for series in panel.series if series.marks[at]]
        else:
            rows += [(label, series.marks[at]) for series in panel.series]
    texts = ["" if mark is None else mark.text.replace(GAP, " ") for _, mark in rows]
    name_width = min(max(wide(label) for label, _ in rows), max(6, width // 3))
    text_width = max(1, min(max(map(wide, texts)), width - name_width - 7))
    room = max(4, width - name_width - text_width - 2 - bool(name_width))
    low, high = panel.reach()
    low, high = min(low, 0.0), max(high, 0.0)
    zero = round(room * -low / (high - low)) if high > low else 0
    scale = min((room - zero) / high if high > 0 else math.inf, zero / -low if low < 0 else math.inf)
    lines = []
    for (label, mark), text in zip(rows, texts, strict=True):
        name = cut(label, name_width)
        start = name + " " * (name_width - wide(name) + bool(name_width))
        bar = _bar(mark, zero, scale, room, look) if mark else ""
        lines.append((f"{start}{bar}  {cut(text, text_width):>{text_width}}" if text else start).rstrip())
    return lines


def _bar(mark: Mark, zero: int, scale: float, room: int, look: Look) -> str:
    """Draw a bar from zero to the value, with the margin over its end."""
    chars = ["│" if at == zero > 0 else " " for at in range(room)]
    end = zero + mark.value * scale if mark.value else float(zero)
    for at in range(zero, min(room, math.ceil(end))):
        chars[at] = _EIGHTHS[round(min(1.0, end - at) * 8)]
    for at in range(max(0, math.floor(end)), zero):  # right-aligned blocks exist for halves only
        chars[at] = "█" if at + 1 - end > 0.75 else "▐"
    if not mark.margin:
        return "".join(chars)
    first, last = (max(0, min(room - 1, math.floor(zero + edge * scale))) for edge in (mark.low, mark.high))
    if first == last:
        return "".join(chars)
    error_bar = ["├", *"─" * (last - first - 1), "┤"]
    if last - first > 1:
        error_bar[max(1, min(last - first - 1, math.floor(end) - first))] = "┼"
    return "".join(chars[:first]) + look.dim("".join(error_bar)) + "".join(chars[last + 1 :])
