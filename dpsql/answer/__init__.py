"""An answer, and everything that it can be shown as: a file of this folder each.

answer_text(answer)      a box for a terminal, each value with its margin        box.py
to_csv, to_json, ...     every digit, for programs                               files.py
"""

from __future__ import annotations

from typing import Any

from dpsql.answer.told import Told


class Answer(Told):
    """What the analyst gets: the values, and what they can be turned into."""

    __slots__ = ()

    def df(self) -> Any:
        """The rows as a pandas DataFrame (needs pandas)."""
        import pandas

        return pandas.DataFrame(self.rows, columns=list(self.columns))

    def arrow(self) -> Any:
        """The rows as a pyarrow Table (needs pyarrow)."""
        import pyarrow

        columns = [[row[i] for row in self.rows] for i in range(len(self.columns))]
        return pyarrow.table(columns, names=list(self.columns))


__all__ = ["Answer"]
