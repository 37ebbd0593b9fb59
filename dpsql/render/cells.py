"""The values of an answer as text, with their margins, rounded to the digits that the noise leaves.

4422.3 with a margin of 24.3, a BIGINT         Cell("4422", "25")
NULL                                           Cell("NULL", null=True)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from dpsql.ir.column import Kind, type_named
from dpsql.lazy_dataclass import dataclass
from dpsql.render.answer_fields import AnswerFields
from dpsql.render.digits import group_thousands, plain, printable, rounded

UNKNOWN = "?"
"""The margin of a noised value without a known margin: the noise may exceed any value."""

ALL = "(all)"
"""A key in the row of a total over it: not a group of NULL."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as text; ``margin`` is '' if it has no noise."""

    value: str
    margin: str = ""
    null: bool = False


def cells(answer: AnswerFields, at: int, rows: Iterable[int], gap: str = "") -> list[Cell]:
    """Return the cells of some rows of a column; ``gap`` separates the thousands of noised values."""
    integer = type_named(answer.types[at]).kind is Kind.INTEGER
    exact = answer.cost == 0 and not answer.repeated
    noised = answer.noised(at)
    column = []
    for row in rows:
        value, margin = answer.rows[row][at], answer.margins[row][at]
        if value is None:
            column.append(Cell(ALL if (row, at) in answer.totals else "NULL", null=True))
        elif margin is not None and is_number(value):
            text, width = rounded(value, margin, integer)
            column.append(Cell(group_thousands(text, gap), group_thousands(width, gap)))
        elif margin is not None and isinstance(value, dict):  # a histogram: each of its counts
            _, width = rounded(0, margin, True)
            column.append(Cell(one_line(plain(value)), group_thousands(width, gap)))
        else:
            column.append(Cell(_without_margin(value, exact), UNKNOWN if noised and margin is None else ""))
    return column


def _without_margin(value: Any, exact: bool) -> str:
    if isinstance(value, float) and not exact:  # computed from noised values: the valid digits are unknown
        return f"{value:.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:.6g}"
    return one_line(plain(value))


def one_line(text: str) -> str:
    """Escape the line ends and control characters of a text."""
    return printable(text).replace("\n", "\\n")


def is_number(value: Any) -> bool:
    """Whether a value is a finite number: not NULL, a boolean, NaN or infinite."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool) and math.isfinite(value)
