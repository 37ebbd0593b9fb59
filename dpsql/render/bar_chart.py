"""Charts in a terminal: bars in eighths of a sign, a line of braille dots, the noise's reach around both.

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
    """The chart of an answer: bars, or a line where the labels have an order."""
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
    """A line for each bar: its name, the bar with its margin, the number."""
    rows: list[tuple[str, Mark | None]] = []
    for at, label in enumerate(chart.labels):
        if panel.series[0].name and len(panel.series) > 1:
            rows.append((label, None))
            rows += [(f"  {each.name}", each.marks[at]) for each in panel.series if each.marks[at]]
        else:
            rows += [(label, each.marks[at]) for each in panel.series]
    texts = ["" if mark is None else mark.text.replace(GAP, " ") for _, mark in rows]
    named = min(max(wide(label) for label, _ in rows), max(6, width // 3))
    told = max(1, min(max(map(wide, texts)), width - named - 7))
    room = max(4, width - named - told - 2 - bool(named))
    low, high = panel.reach()
    low, high = min(low, 0.0), max(high, 0.0)
    zero = round(room * -low / (high - low)) if high > low else 0
    scale = min((room - zero) / high if high > 0 else math.inf, zero / -low if low < 0 else math.inf)
    lines = []
    for (label, mark), text in zip(rows, texts, strict=True):
        name = cut(label, named)
        start = name + " " * (named - wide(name) + bool(named))
        bar = _bar(mark, zero, scale, room, look) if mark else ""
        lines.append((f"{start}{bar}  {cut(text, told):>{told}}" if text else start).rstrip())
    return lines


def _bar(mark: Mark, zero: int, scale: float, room: int, look: Look) -> str:
    """From zero to the value, with the margin over its end."""
    signs = ["│" if at == zero > 0 else " " for at in range(room)]
    end = zero + mark.value * scale if mark.value else float(zero)
    for at in range(zero, min(room, math.ceil(end))):
        signs[at] = _EIGHTHS[round(min(1.0, end - at) * 8)]
    for at in range(max(0, math.floor(end)), zero):  # no eighths keep to the right, but a half does
        signs[at] = "█" if at + 1 - end > 0.75 else "▐"
    if not mark.margin:
        return "".join(signs)
    first, last = (max(0, min(room - 1, math.floor(zero + each * scale))) for each in (mark.low, mark.high))
    if first == last:
        return "".join(signs)
    reach = ["├", *"─" * (last - first - 1), "┤"]
    if last - first > 1:
        reach[max(1, min(last - first - 1, math.floor(end) - first))] = "┼"
    return "".join(signs[:first]) + look.dim("".join(reach)) + "".join(signs[last + 1 :])
