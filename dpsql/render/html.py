"""Answers for notebooks and pages: a table with its margins dimmed, below it the price and what remains.

<table><tr><th>patients</th></tr><tr><td>4 422<span style="opacity:.6"> ± 25</span></td></tr></table>

No script, nothing from elsewhere, and whatever a query or a table brings along is nothing but text.
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
_TEXT = 400  # signs of a value that are shown

_PAD = "\N{FIGURE SPACE}"

_BOX = "overflow-x:auto;font-variant-numeric:tabular-nums"
_NOTES = "opacity:.65;font-size:.9em;margin-top:.3em"


def answer_html(answer: AnswerFields) -> str:
    """The answer as a piece of a page that brings its style along."""
    notes = "<br>".join(_clean(each) for each in below_table(answer, Look(rows=ROWS)))
    return f'<div style="{_BOX}">{table_html(answer)}<div style="{_NOTES}">{notes}</div></div>'


def table_html(answer: AnswerFields) -> str:
    """The rows as a table; of a long answer the first and the last."""
    shown = shown_rows(answer, Look(rows=ROWS))
    numbers = [type_named(sql).numeric for sql in answer.types]
    names = [
        f'<th scope="col" style="{_side(number)}">{_clean(name)}</th>'
        for name, number in zip(answer.columns, numbers, strict=True)
    ]
    there = [each for each in shown if each is not None]
    columns = [_column(cells(answer, at, there, GAP), number) for at, number in enumerate(numbers)]
    rows = [f"<tr>{''.join(row)}</tr>" for row in zip(*columns, strict=True)]
    if None in shown:
        gap = f'<tr><td colspan="{len(numbers)}" style="text-align:center">…</td></tr>'
        rows.insert(shown.index(None), gap)
    return f"<table><thead><tr>{''.join(names)}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _column(column: list[Cell], number: bool) -> list[str]:
    """Values under values, margins under margins."""
    width = max((len(each.margin) for each in column), default=0)
    found = []
    for each in column:
        value = _clean(each.value)
        margin = f" ± {each.margin.rjust(width, _PAD)}" if each.margin else _PAD * (width + 3 * bool(width))
        faint = f'<span style="opacity:.6">{value if each.null else ""}{margin}</span>'
        text = faint if each.null else value + (faint if margin else "")
        found.append(f'<td style="{_side(number)}">{text}</td>')
    return found


def _side(number: bool) -> str:
    return "text-align:right;white-space:nowrap" if number else "text-align:left"


def _clean(text: str) -> str:
    text = text if len(text) <= _TEXT else text[:_TEXT] + "…"
    return escape("".join(each if each == GAP else one_line(each) for each in text))
