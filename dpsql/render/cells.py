"""The values of an answer as text, each with its margin, no digit that the noise makes meaningless.

4422.3 with a margin of 24.3, of a BIGINT      Cell("4422", "25")
NULL                                           Cell("NULL", null=True)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from dpsql.ir.column import Kind, type_named
from dpsql.render.answer_fields import AnswerFields
from dpsql.render.digits import apart, plain, printable, rounded

UNKNOWN = "?"
"""The margin of a noised value of which the noise leaves nothing, or of which none is known."""


@dataclass(frozen=True, slots=True)
class Cell:
    """``margin`` is '' where a value carries no noise."""

    value: str
    margin: str = ""
    null: bool = False


def cells(answer: AnswerFields, at: int, rows: Iterable[int], gap: str = "") -> list[Cell]:
    """Some rows of a column; ``gap`` stands between the thousands of noised values."""
    whole = type_named(answer.types[at]).kind is Kind.INTEGER
    exact = answer.cost == 0 and not answer.repeated
    noised = answer.noised(at)
    found = []
    for row in rows:
        value, margin = answer.rows[row][at], answer.margins[row][at]
        if value is None:
            found.append(Cell("NULL", null=True))
        elif margin is not None and is_number(value):
            text, width = rounded(value, margin, whole)
            found.append(Cell(apart(text, gap), apart(width, gap)))
        else:
            found.append(Cell(_unrounded(value, exact), UNKNOWN if noised and margin is None else ""))
    return found


def _unrounded(value: Any, exact: bool) -> str:
    if isinstance(value, float) and not exact:  # computed from noised values: who knows how many digits hold
        return f"{value:.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:.6g}"
    return one_line(plain(value))


def one_line(text: str) -> str:
    """Text that stays on its line and cannot steer a terminal."""
    return printable(text).replace("\n", "\\n")


def is_number(value: Any) -> bool:
    """Whether it is a number that has a place on a line: not NULL, not true, not NaN."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool) and math.isfinite(value)
