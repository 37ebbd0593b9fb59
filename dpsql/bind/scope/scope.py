"""Visible columns, their scopes, and fresh names for generated tables and columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from dpsql.errors import refuse
from dpsql.ir.scalar import Scalar
from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.other_functions import CLOCKS, ELSEWHERE
from dpsql.policy.names import nearest


class Fresh:
    """Generate names that are unique in a query, close to the names in its text."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = {name.casefold() for name in taken}
        self._numbers: dict[str, int] = {}

    def __call__(self, base: str) -> str:
        base = "".join(char for char in base if char.isprintable()).strip() or "column"
        folded = base.casefold()
        name, number = base, self._numbers.get(folded, 1)
        while name.casefold() in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name.casefold())
        self._numbers[folded] = number
        return name


@dataclass(frozen=True, slots=True)
class Visible:
    """A column as the query may name it, and the scalar that it stands for.

    ``merged`` columns (those of the right side of USING) have only their qualified name.
    """

    qualifier: str
    name: str
    scalar: Scalar
    merged: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """The columns in scope. Names are case-insensitive, quoted or not, as in DuckDB.

    ``outer`` is the scope around a subquery; a name that is not found here is resolved there.
    """

    columns: tuple[Visible, ...] = ()
    hints: tuple[str, ...] = field(default=())
    outer: Scope | None = None

    def __add__(self, right: Scope) -> Scope:
        return Scope(self.columns + right.columns, self.hints + right.hints, self.outer)

    def inside(self, outer: Scope | None) -> Scope:
        """Return this scope nested in the scope of the query around it."""
        return Scope(self.columns, self.hints, outer)

    def find(self, name: str, qualifier: str = "") -> tuple[Visible, ...]:
        """Return the columns of this name; a name merged by USING counts once."""
        folded, table = name.casefold(), qualifier.casefold()
        return tuple(
            column
            for column in self.columns
            if column.name.casefold() == folded
            and (column.qualifier.casefold() == table if table else not column.merged)
        )

    def resolve(self, name: str, qualifier: str, span: Span | None, quoted: bool = False) -> Scalar:
        """Return the scalar that a column name stands for, or refuse and suggest the nearest name."""
        columns = self.find(name, qualifier)
        if len(columns) == 1:
            return columns[0].scalar
        if len(columns) > 1:
            choices = ", ".join(sorted({f"{column.qualifier}.{column.name}" for column in columns}))
            raise refuse(
                "D203",
                f"{name} is ambiguous: more than one column has this name",
                span,
                help=f"qualify it: {choices}",
            )
        outer = self.outer
        while outer is not None and not outer.find(name, qualifier):
            outer = outer.outer
        if outer is not None:
            return outer.resolve(name, qualifier, span, quoted)
        shown = f"{qualifier}.{name}" if qualifier else name
        meant = "" if qualifier else _meant(name, quoted)
        raise refuse("D202", f"there is no column {shown} here", span, help=meant + self._nearest(name))

    def _nearest(self, name: str) -> str:
        known = sorted({column.name for column in self.columns})
        if (close := nearest(name, known)) is not None:
            return f"did you mean {close}?"
        listed = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
        more = f"; {self.hints[0]}" if self.hints else ""
        return f"the columns here are {listed}{more}" if known else "there are no columns here"

    def under(self, alias: str, names: tuple[str, ...] = ()) -> Scope:
        """Return the same columns under another table name, the first ones renamed."""
        return Scope(
            tuple(
                Visible(alias, names[i] if i < len(names) else column.name, column.scalar)
                for i, column in enumerate(self.columns)
            ),
            self.hints,
        )

    @property
    def starred(self) -> tuple[Visible, ...]:
        """The columns that a star stands for."""
        return tuple(column for column in self.columns if not column.merged)


def _meant(name: str, quoted: bool) -> str:
    """Return what to write if a name is a text in double quotes, or a function of another database."""
    if quoted:
        text = name.replace("'", "''")
        return f"write '{text}' if it is a text; "
    return f"{ELSEWHERE[name.casefold()]}; " if name.casefold() in CLOCKS else ""
