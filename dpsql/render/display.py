"""The look of an output: its width, its number of rows, and its style for dim text.

PLAIN                                          a pipe or a file: everything, in full
Look(width=80, rows=40, dim=..., grouped=True) a terminal of 80 columns
"""

from __future__ import annotations

from collections.abc import Callable

from dpsql.lazy_dataclass import dataclass


def _unchanged(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Look:
    """The limits and styles of an output; None means no limit.

    ``grouped`` separates thousands. ``hint`` says how to see the rows left out. ``records`` shows each row
    with one column per line.
    """

    width: int | None = None
    rows: int | None = None
    dim: Callable[[str], str] = _unchanged
    grouped: bool = False
    hint: str = ""
    records: bool = False


PLAIN = Look()
