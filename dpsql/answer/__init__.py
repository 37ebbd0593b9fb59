"""An answer, and everything that it can be shown as: a file of this folder each.

answer_text(answer)      a box for a terminal, each value with its margin        box.py
answer_html(answer)      a table for a notebook or a page                        html.py
chart_text(answer)       bars or a line in a terminal, chart_svg for a page      bars.py, svg.py
to_csv, to_json, ...     every digit, for programs                               files.py
answer.df(), ...         frames of pandas, polars, pyarrow, numpy                here
"""

from __future__ import annotations

from typing import Any

from dpsql.answer.told import Told
from dpsql.errors import InterfaceError


class Answer(Told):
    """What the analyst gets: the values, and what they can be turned into.

    Frames have the types that DuckDB's own would have; ``margins=True`` adds a column
    ``<name>_margin`` behind each that carries noise.
    """

    __slots__ = ()

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows, as of a cursor; they are ``rows`` as well."""
        return list(self.rows)

    def df(self, *, margins: bool = False) -> Any:
        """The rows as a pandas DataFrame (needs pandas)."""
        _needs("df", "pandas")
        return self._made("df", "pandas", margins)

    def pl(self, *, margins: bool = False) -> Any:
        """The rows as a polars DataFrame (needs polars and pyarrow)."""
        _needs("pl", "polars", "pyarrow")
        return self._made("pl", "polars", margins)

    def arrow(self, *, margins: bool = False) -> Any:
        """The rows as a pyarrow Table (needs pyarrow)."""
        _needs("arrow", "pyarrow")
        return self._made("to_arrow_table", "Arrow", margins)

    def fetchnumpy(self, *, margins: bool = False) -> dict[str, Any]:
        """A numpy array for each column, masked where a value is NULL."""
        made: dict[str, Any] = self._made("fetchnumpy", "numpy", margins)
        return made

    def _made(self, how: str, what: str, margins: bool) -> Any:
        import warnings

        from dpsql.answer.files import with_margins
        from dpsql.answer.table import table_of

        with table_of(with_margins(self) if margins else self, what) as table, warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # between DuckDB's driver and pandas
            return getattr(table, how)()

    def __repr__(self) -> str:
        """The box that a prompt shows."""
        import shutil

        from dpsql.answer.box import answer_text
        from dpsql.answer.look import Look

        return answer_text(self, Look(shutil.get_terminal_size((80, 24)).columns, rows=40))

    def _repr_html_(self) -> str:
        """The table that a notebook shows."""
        from dpsql.answer.html import answer_html

        return answer_html(self)


def _needs(method: str, *packages: str) -> None:
    """Other people's packages are there, or it is said which one is not: DuckDB's own words hide that."""
    from importlib.util import find_spec

    for package in packages:
        if find_spec(package) is None:
            raise InterfaceError(
                f".{method}() needs {package}, which is not installed",
                help=f"pip install {package}; .rows and .fetchnumpy() need nothing else",
            )


__all__ = ["Answer"]
