"""Where a text is going to be read: how much room there is, and how what matters less is shown.

PLAIN                                          a pipe or a file: everything, in full
Look(width=80, rows=40, dim=..., grouped=True) a terminal of 80 columns
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _unchanged(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Look:
    """``None`` is room without an end; ``hint`` says how to see what there is no room for.
    ``records`` shows each row as lines, one per column.
    """

    width: int | None = None
    rows: int | None = None
    dim: Callable[[str], str] = _unchanged
    grouped: bool = False
    hint: str = ""
    records: bool = False


PLAIN = Look()
