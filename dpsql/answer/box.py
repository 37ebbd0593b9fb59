"""Answers for people: a box, each noised value with its margin, no digit that the noise makes meaningless.

┌────────────┬────────────┬──────────────┐
│ ward       │   patients │          age │
├────────────┼────────────┼──────────────┤
│ Cardiology │ 4422 ±  25 │ 65.8 ±   0.5 │
└────────────┴────────────┴──────────────┘
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from dpsql.answer.digits import below, plain, printable, rounded, wide
from dpsql.answer.told import Told
from dpsql.ir.column import Kind, type_named

UNKNOWN = "?"
"""The margin of a noised value of which the noise leaves nothing."""


def answer_text(answer: Told) -> str:
    """The table, and below it whatever the reader has to know."""
    lines = [answer_table(answer)]
    if not answer.rows:
        lines.append("(0 rows)")
    if any(UNKNOWN in cells for cells in _margins(answer)):
        lines.append(f"± {UNKNOWN}: the noise leaves nothing of this value.")
    return "\n".join([*lines, summary(answer)])


def summary(answer: Told) -> str:
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


def answer_table(answer: Told) -> str:
    """The rows in a box."""
    exact = answer.cost == 0 and not answer.repeated
    columns = []
    for at, margins in enumerate(_margins(answer)):
        kind = type_named(answer.types[at])
        cells = []
        for row, margin in zip(answer.rows, margins, strict=True):
            cells.append(_cell(row[at], margin, exact, kind.kind is Kind.INTEGER))
        columns.append(_side_by_side(cells))
    right = [type_named(each).numeric for each in answer.types]
    return box(answer.columns, list(zip(*columns, strict=True)), right)


def _margins(answer: Told) -> list[list[float | str | None]]:
    """Column by column: a half-width, UNKNOWN, or None where no value of the column has one."""
    found: list[list[float | str | None]] = []
    for at in range(len(answer.columns)):
        column = [row[at] for row in answer.margins]
        noised = any(each is not None for each in column)
        found.append(
            [
                (UNKNOWN if noised and margin is None and row[at] is not None else margin)
                for row, margin in zip(answer.rows, column, strict=True)
            ]
        )
    return found


def _cell(value: Any, margin: float | str | None, exact: bool, whole: bool) -> tuple[str, str]:
    """A value and its margin as text."""
    if value is None:
        return "NULL", ""
    if isinstance(margin, float) and _number(value):
        return rounded(value, margin, whole)
    if isinstance(value, float) and not exact:
        return _six_digits(value), margin if isinstance(margin, str) else ""
    return printable(plain(value)).replace("\n", "\\n"), margin if isinstance(margin, str) else ""


def _number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool) and math.isfinite(value)


def _six_digits(value: float) -> str:
    """A number computed from noised ones, of which nobody knows how many digits mean something."""
    return f"{value:.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:.6g}"


def _side_by_side(cells: list[tuple[str, str]]) -> list[str]:
    """Values under values, margins under margins."""
    margin = max((len(width) for _, width in cells), default=0)
    if not margin:
        return [value for value, _ in cells]
    return [f"{value} {'±' if width else ' '} {width:>{margin}}" for value, width in cells]


# ---- boxes -------------------------------------------------------------------------------------------


def box(names: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """Names and rows in a frame; ``right`` tells which columns keep to the right."""
    names = [printable(name).replace("\n", "\\n") for name in names]
    widths = [max(map(wide, column)) for column in zip(names, *rows, strict=True)]
    lines = [
        _rule("┌┬┐", widths),
        _line(names, widths, right),
        _rule("├┼┤", widths),
        *(_line(row, widths, right) for row in rows),
        _rule("└┴┘", widths),
    ]
    return "\n".join(lines)


def _rule(ends: str, widths: list[int]) -> str:
    return ends[0] + ends[1].join("─" * (width + 2) for width in widths) + ends[2]


def _line(cells: Sequence[str], widths: list[int], right: Sequence[bool]) -> str:
    padded = []
    for cell, width, to_right in zip(cells, widths, right, strict=True):
        space = " " * (width - wide(cell))
        padded.append(space + cell if to_right else cell + space)
    return "│ " + " │ ".join(padded) + " │"
