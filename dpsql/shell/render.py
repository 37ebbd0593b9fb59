"""Answers for people: a box, each noised value with its margin, no digit that the noise makes meaningless.

┌────────────┬────────────┬──────────────┐
│ ward       │   patients │          age │
├────────────┼────────────┼──────────────┤
│ Cardiology │ 4422 ±  25 │ 65.8 ±   0.5 │
└────────────┴────────────┴──────────────┘
"""

from __future__ import annotations

import datetime
import json
import math
import unicodedata
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal, localcontext
from typing import Any

from dpsql.ir.column import Kind, type_named
from dpsql.ir.table import Answer
from dpsql.shell.terminal import printable

UNKNOWN = "?"
"""The margin of a noised value of which the noise leaves nothing."""


def answer_text(answer: Answer) -> str:
    """The table, and below it whatever the reader has to know."""
    lines = [answer_table(answer)]
    if not answer.rows:
        lines.append("(0 rows)")
    if any(UNKNOWN in cells for cells in _margins(answer)):
        lines.append(f"± {UNKNOWN}: the noise leaves nothing of this value.")
    return "\n".join([*lines, summary(answer)])


def summary(answer: Answer) -> str:
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


def below(epsilon: float) -> str:
    """What remains, never more than there is."""
    return f"{math.floor(epsilon * 1e4 + 1e-6) / 1e4:g}"


def above(epsilon: float) -> str:
    """What is spent, never less than it is."""
    return f"{math.ceil(epsilon * 1e4 - 1e-6) / 1e4:g}"


def answer_table(answer: Answer) -> str:
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


def _margins(answer: Answer) -> list[list[float | str | None]]:
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


def rounded(value: int | float | Decimal, margin: float, whole: bool) -> tuple[str, str]:
    """The margin rounded up to two digits, and the value to the same place: (4422, 24.3) -> 4422, 25."""
    if not 0 < margin < 1e15:
        return plain(value), f"{margin:.2g}"
    place = math.floor(math.log10(margin)) - 1
    place = max(place, 0) if whole else place
    with localcontext() as context:
        context.prec = 400
        step = Decimal(1).scaleb(place)
        number = (Decimal(value) / step).to_integral_value(ROUND_HALF_EVEN) * step + 0
        width = (Decimal(margin) / step).to_integral_value(ROUND_CEILING) * step
        digits = max(0, -place)
        return f"{number:.{digits}f}", f"{width:.{digits}f}"


def _six_digits(value: float) -> str:
    """A number computed from noised ones, of which nobody knows how many digits mean something."""
    return f"{value:.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:.6g}"


def _side_by_side(cells: list[tuple[str, str]]) -> list[str]:
    """Values under values, margins under margins."""
    margin = max((len(width) for _, width in cells), default=0)
    if not margin:
        return [value for value, _ in cells]
    return [f"{value} {'±' if width else ' '} {width:>{margin}}" for value, width in cells]


def plain(value: Any) -> str:
    """A value in full, as DuckDB spells it."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case Decimal():
            return f"{value:f}"
        case float():
            return repr(value)
        case datetime.datetime():
            return value.isoformat(" ")
        case bytes():
            return "".join(chr(each) if 32 <= each < 127 else f"\\x{each:02X}" for each in value)
        case list() | tuple() | dict():
            return token(value)
        case _:
            return str(value)


def token(value: Any) -> str:
    """A value in full, as JSON; a DECIMAL is a number with all its digits."""
    match value:
        case None | bool() | int() | str():
            return json.dumps(value, ensure_ascii=False)
        case float() if math.isfinite(value):
            return repr(value)
        case Decimal() if value.is_finite():
            return f"{value:f}"
        case list() | tuple():
            return f"[{', '.join(map(token, value))}]"
        case dict():
            return "{" + ", ".join(f"{token(str(key))}: {token(each)}" for key, each in value.items()) + "}"
        case _:
            return json.dumps(plain(value), ensure_ascii=False)


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


def wide(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1
        for each in text
    )
