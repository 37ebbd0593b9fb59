"""Answers as HTML for notebooks and pages: a table with dimmed margins, the price and the remaining budget.

<table><tr><th>patients</th></tr><tr><td>4 422<span style="opacity:.6"> ± 25</span></td></tr></table>

The HTML has no scripts and no external resources; all text from queries and tables is escaped.
"""

from __future__ import annotations

from html import escape

from dpsql.ir.column import type_named
from dpsql.render.answer_fields import AnswerFields
from dpsql.render.box import below_table, shown_rows
from dpsql.render.cells import Cell, cells, one_line
from dpsql.render.chart import GAP
from dpsql.render.display import Look

ROWS = 100
_MAX_CHARS = 400  # of a value

_PAD = "\N{FIGURE SPACE}"

_BOX = "overflow-x:auto;font-variant-numeric:tabular-nums"
_NOTES = "opacity:.65;font-size:.9em;margin-top:.3em"


def answer_html(answer: AnswerFields) -> str:
    """Return the answer as an HTML fragment with its own style."""
    notes = "<br>".join(_escaped(line) for line in below_table(answer, Look(rows=ROWS)))
    return f'<div style="{_BOX}">{table_html(answer)}<div style="{_NOTES}">{notes}</div></div>'


def table_html(answer: AnswerFields) -> str:
    """Return the rows as a table; of a long answer only the first and the last."""
    shown = shown_rows(answer, Look(rows=ROWS))
    numbers = [type_named(sql).numeric for sql in answer.types]
    names = [
        f'<th scope="col" style="{_alignment(number)}">{_escaped(name)}</th>'
        for name, number in zip(answer.columns, numbers, strict=True)
    ]
    row_indexes = [row for row in shown if row is not None]
    columns = [_column(cells(answer, at, row_indexes, GAP), number) for at, number in enumerate(numbers)]
    rows = [f"<tr>{''.join(row)}</tr>" for row in zip(*columns, strict=True)]
    if None in shown:
        gap = f'<tr><td colspan="{len(numbers)}" style="text-align:center">…</td></tr>'
        rows.insert(shown.index(None), gap)
    return f"<table><thead><tr>{''.join(names)}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _column(column: list[Cell], number: bool) -> list[str]:
    """Return the table cells of a column, with values and margins aligned."""
    width = max((len(cell.margin) for cell in column), default=0)
    elements = []
    for cell in column:
        value = _escaped(cell.value)
        margin = f" ± {cell.margin.rjust(width, _PAD)}" if cell.margin else _PAD * (width + 3 * bool(width))
        faint = f'<span style="opacity:.6">{value if cell.null else ""}{margin}</span>'
        text = faint if cell.null else value + (faint if margin else "")
        elements.append(f'<td style="{_alignment(number)}">{text}</td>')
    return elements


def _alignment(number: bool) -> str:
    return "text-align:right;white-space:nowrap" if number else "text-align:left"


def _escaped(text: str) -> str:
    text = text if len(text) <= _MAX_CHARS else text[:_MAX_CHARS] + "…"
    return escape("".join(char if char == GAP else one_line(char) for char in text))
