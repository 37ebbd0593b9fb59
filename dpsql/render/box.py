"""Answers as boxes: noised values with their margins, rounded to the digits that the noise leaves.

┌────────────┬────────────┬──────────────┐
│ ward       │   patients │          age │
├────────────┼────────────┼──────────────┤
│ Cardiology │ 4422 ±  25 │ 65.8 ±   0.5 │
└────────────┴────────────┴──────────────┘
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from dpsql.ir.column import type_named
from dpsql.render.answer_fields import AnswerFields
from dpsql.render.cells import UNKNOWN, Cell, cells, one_line
from dpsql.render.digits import below, group_thousands
from dpsql.render.display import PLAIN, Look
from dpsql.render.folding import Column, Text, draw_box, draw_table


def answer_text(answer: AnswerFields, look: Look = PLAIN) -> str:
    """Return the table of an answer with the lines below it."""
    return "\n".join([answer_table(answer, look), *below_table(answer, look)])


def answer_table(answer: AnswerFields, look: Look = PLAIN) -> str:
    """Draw the rows in a box; in several boxes or without the middle rows if there is too little room."""
    shown = shown_rows(answer, look)
    columns = []
    for at, name in enumerate(answer.columns):
        number = type_named(answer.types[at]).numeric
        column = cells(answer, at, [row for row in shown if row is not None], " " if look.grouped else "")
        texts = _aligned_texts(column)
        if None in shown:
            texts.insert(shown.index(None), Text("", "…"))
        columns.append(Column(one_line(name), tuple(texts), number))
    return draw_table(columns, look)


def below_table(answer: AnswerFields, look: Look = PLAIN) -> list[str]:
    """Return the lines below the table: hidden rows, unknown margins, the plan's note, price and budget."""
    lines = []
    shown = sum(row is not None for row in shown_rows(answer, look))
    if not answer.rows:
        lines.append("(0 rows)")
    if shown < len(answer.rows):
        count = group_thousands(str(len(answer.rows)), " " if look.grouped else "")
        lines.append(f"({count} rows, {shown} shown{'; ' + look.hint if look.hint else ''})")
    if _unknown(answer):
        lines.append(f"± {UNKNOWN}: nobody can say how far off this value may be.")
    lines += summary(answer).split("\n")
    if look.width is None:
        return lines
    return [textwrap.fill(line, look.width, break_on_hyphens=False) for line in lines]


def summary(answer: AnswerFields) -> str:
    """Return the plan's note, the price and the remaining budget."""
    remaining = f"remaining {below(answer.remaining)}"
    if answer.repeated and answer.cost:
        price = f"already answered for another analyst: cost epsilon {answer.cost:g} of your own, {remaining}"
    elif answer.repeated:
        price = f"repeated: served from the ledger, free; {remaining}"
    elif answer.cost == 0:
        price = f"free: {answer.paid_as or 'only public data was read'}; {remaining}"
    else:
        price = f"cost epsilon {answer.cost:g}, {remaining}"
    return "\n".join(filter(None, (answer.note, price)))


def box(names: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """Draw names and rows in a box; ``right`` says which columns are right-aligned."""
    columns = [
        Column(one_line(name), tuple(Text(row[at]) for row in rows), right[at])
        for at, name in enumerate(names)
    ]
    return draw_box(columns, PLAIN)


def shown_rows(answer: AnswerFields, look: Look) -> list[int | None]:
    """Return the indexes of the rows to show; None stands for the rows left out."""
    rows: list[int | None] = list(range(len(answer.rows)))
    if look.rows is None or len(rows) <= look.rows or answer.columns == ("explain",):
        return rows
    head = (look.rows + 1) // 2
    return [*rows[:head], None, *rows[len(rows) - look.rows + head :]]


def _unknown(answer: AnswerFields) -> bool:
    """Whether a noised value has an unknown margin, other than in the columns that the plan's note names."""
    for at in range(len(answer.columns)):
        column = [(row[at], margins[at]) for row, margins in zip(answer.rows, answer.margins, strict=True)]
        noised = answer.noised(at) and at not in answer.open
        if noised and any(value is not None and margin is None for value, margin in column):
            return True
    return False


def _aligned_texts(column: Sequence[Cell]) -> list[Text]:
    """Align the values with each other, and the margins with each other."""
    width = max((len(cell.margin) for cell in column), default=0)
    texts = []
    for cell in column:
        margin = f" {'±' if cell.margin else ' '} {cell.margin:>{width}}" if width else ""
        texts.append(Text("", cell.value + margin) if cell.null else Text(cell.value, margin))
    return texts
