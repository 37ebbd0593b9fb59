"""An answer: rows, margins, price, and frames of pandas, polars, pyarrow and numpy."""

from __future__ import annotations

from typing import Any

from dpsql.errors import InterfaceError
from dpsql.render.answer_fields import AnswerFields


class Answer(AnswerFields):
    """The answer to a query, with conversions to frames.

    Frames have the same types as DuckDB's own. ``margins=True`` adds a column ``<name>_margin`` after each
    column that carries noise, NULL where there is no margin. ``totals="(all)"`` writes this word for the keys
    of the totals of ROLLUP and CUBE, in columns that become text; without it they are NULL, as in SQL.
    """

    __slots__ = ()

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows, as a cursor does; the same as ``rows``."""
        return list(self.rows)

    def df(self, *, margins: bool = False, totals: str | None = None) -> Any:
        """Return the rows as a pandas DataFrame (needs pandas)."""
        _require("df", "pandas")
        return self._convert("df", "pandas", margins, totals)

    def pl(self, *, margins: bool = False, totals: str | None = None) -> Any:
        """Return the rows as a polars DataFrame (needs polars and pyarrow)."""
        _require("pl", "polars", "pyarrow")
        return self._convert("pl", "polars", margins, totals)

    def arrow(self, *, margins: bool = False, totals: str | None = None) -> Any:
        """Return the rows as a pyarrow Table (needs pyarrow)."""
        _require("arrow", "pyarrow")
        return self._convert("to_arrow_table", "Arrow", margins, totals)

    def fetchnumpy(self, *, margins: bool = False) -> dict[str, Any]:
        """Return a numpy array for each column, masked where a value is NULL."""
        arrays: dict[str, Any] = self._convert("fetchnumpy", "numpy", margins)
        return arrays

    def _convert(self, how: str, target: str, margins: bool, totals: str | None = None) -> Any:
        import warnings

        from dpsql.render.formats import with_margins
        from dpsql.render.table import table_of
        from dpsql.render.totals import with_totals

        fields: AnswerFields = self if totals is None else with_totals(self, totals)
        with (
            table_of(with_margins(fields) if margins else fields, target) as table,
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore", DeprecationWarning)  # of DuckDB's driver about pandas
            return getattr(table, how)()

    def __repr__(self) -> str:
        """Return the box that a prompt shows."""
        import shutil

        from dpsql.render.box import answer_text
        from dpsql.render.display import Look

        return answer_text(self, Look(shutil.get_terminal_size((80, 24)).columns, rows=40))

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        from dpsql.render.html import answer_html

        return answer_html(self)


def _require(method: str, *packages: str) -> None:
    """Refuse if a package is missing, by its name; DuckDB's own message hides it."""
    from importlib.util import find_spec

    for package in packages:
        if find_spec(package) is None:
            raise InterfaceError(
                f".{method}() needs {package}, which is not installed",
                help=f"pip install {package}; .rows and .fetchnumpy() need nothing else",
            )


__all__ = ["Answer"]
