"""Answers for people: a box, each noised value with its margin, no digit that the noise makes meaningless.

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
from dpsql.render.digits import apart, below
from dpsql.render.display import PLAIN, Look
from dpsql.render.folding import Column, Text, folded, framed


def answer_text(answer: AnswerFields, look: Look = PLAIN) -> str:
    """The table, and below it whatever the reader has to know."""
    return "\n".join([answer_table(answer, look), *below_table(answer, look)])


def answer_table(answer: AnswerFields, look: Look = PLAIN) -> str:
    """The rows in a box; in several, or with their middle left out, where there is too little room."""
    shown = shown_rows(answer, look)
    columns = []
    for at, name in enumerate(answer.columns):
        number = type_named(answer.types[at]).numeric
        column = cells(answer, at, [each for each in shown if each is not None], " " if look.grouped else "")
        texts = _side_by_side(column)
        if None in shown:
            texts.insert(shown.index(None), Text("", "…"))
        columns.append(Column(one_line(name), tuple(texts), number))
    return folded(columns, look)


def below_table(answer: AnswerFields, look: Look = PLAIN) -> list[str]:
    """What is not shown, what a margin means that is none, the plan's note, price and remaining budget."""
    lines = []
    shown = sum(each is not None for each in shown_rows(answer, look))
    if not answer.rows:
        lines.append("(0 rows)")
    if shown < len(answer.rows):
        every = apart(str(len(answer.rows)), " " if look.grouped else "")
        lines.append(f"({every} rows, {shown} shown{'; ' + look.hint if look.hint else ''})")
    if _unknown(answer):
        lines.append(f"± {UNKNOWN}: the noise leaves nothing of this value.")
    lines += summary(answer).split("\n")
    if look.width is None:
        return lines
    return [textwrap.fill(each, look.width, break_on_hyphens=False) for each in lines]


def summary(answer: AnswerFields) -> str:
    """What the plan has to say, then the price and what remains."""
    left = f"remaining {below(answer.remaining)}"
    if answer.repeated and answer.cost:
        said = f"answered before, for somebody else: cost epsilon {answer.cost:g} of your own, {left}"
    elif answer.repeated:
        said = f"repeated: served from the ledger, free; {left}"
    elif answer.cost == 0:
        said = f"free: only public data was read; {left}"
    else:
        said = f"cost epsilon {answer.cost:g}, {left}"
    return "\n".join(filter(None, (answer.note, said)))


def box(names: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """Names and rows in a frame; ``right`` tells which columns keep to the right."""
    columns = [
        Column(one_line(name), tuple(Text(row[at]) for row in rows), right[at])
        for at, name in enumerate(names)
    ]
    return framed(columns, PLAIN)


def shown_rows(answer: AnswerFields, look: Look) -> list[int | None]:
    """The rows that are shown; None stands for all that are left out."""
    every: list[int | None] = list(range(len(answer.rows)))
    if look.rows is None or len(every) <= look.rows or answer.columns == ("explain",):
        return every
    head = (look.rows + 1) // 2
    return [*every[:head], None, *every[len(every) - look.rows + head :]]


def _unknown(answer: AnswerFields) -> bool:
    """Whether a value of a noised column has no margin, and not for what the plan's note says."""
    for at in range(len(answer.columns)):
        column = [(row[at], each[at]) for row, each in zip(answer.rows, answer.margins, strict=True)]
        noised = answer.noised(at) and at not in answer.open
        if noised and any(value is not None and margin is None for value, margin in column):
            return True
    return False


def _side_by_side(column: Sequence[Cell]) -> list[Text]:
    """Values under values, margins under margins."""
    width = max((len(each.margin) for each in column), default=0)
    texts = []
    for each in column:
        margin = f" {'±' if each.margin else ' '} {each.margin:>{width}}" if width else ""
        texts.append(Text("", each.value + margin) if each.null else Text(each.value, margin))
    return texts
