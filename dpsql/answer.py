"""An answer: its rows, its margins, what it cost, and frames of pandas, polars, pyarrow and numpy."""

from __future__ import annotations

from typing import Any

from dpsql.errors import InterfaceError
from dpsql.render.answer_fields import AnswerFields


class Answer(AnswerFields):
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

        from dpsql.render.formats import with_margins
        from dpsql.render.table import table_of

        with table_of(with_margins(self) if margins else self, what) as table, warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # between DuckDB's driver and pandas
            return getattr(table, how)()

    def __repr__(self) -> str:
        """The box that a prompt shows."""
        import shutil

        from dpsql.render.box import answer_text
        from dpsql.render.display import Look

        return answer_text(self, Look(shutil.get_terminal_size((80, 24)).columns, rows=40))

    def _repr_html_(self) -> str:
        """The table that a notebook shows."""
        from dpsql.render.html import answer_html

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
