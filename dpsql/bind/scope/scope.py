"""What the words mean: visible columns, their scopes, and fresh names for everything we make."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field

from dpsql.errors import refuse
from dpsql.ir.scalar import Scalar
from dpsql.ir.source import Span


class Fresh:
    """Names used once in a query: as close to the analyst's words as uniqueness allows."""

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
    """A column as the analyst may name it, and what stands for it.

    ``merged`` columns (the right side's of USING) answer to their qualified name only.
    """

    qualifier: str
    name: str
    scalar: Scalar
    merged: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """All columns that can be named at a place. Names fold case, as DuckDB's do, quoted or not.

    ``outer`` is the scope around a subquery, where a name is looked for that is not found here.
    """

    columns: tuple[Visible, ...] = ()
    hints: tuple[str, ...] = field(default=())
    outer: Scope | None = None

    def __add__(self, other: Scope) -> Scope:
        return Scope(self.columns + other.columns, self.hints + other.hints, self.outer)

    def inside(self, outer: Scope | None) -> Scope:
        """The same, in a subquery of a query that has the other scope."""
        return Scope(self.columns, self.hints, outer)

    def find(self, name: str, qualifier: str = "") -> tuple[Visible, ...]:
        """The columns of this name; a name that USING merged counts once."""
        folded, table = name.casefold(), qualifier.casefold()
        return tuple(
            each
            for each in self.columns
            if each.name.casefold() == folded
            and (each.qualifier.casefold() == table if table else not each.merged)
        )

    def resolve(self, name: str, qualifier: str, span: Span | None) -> Scalar:
        """What a column's name stands for, or a refusal that suggests the nearest name."""
        found = self.find(name, qualifier)
        if len(found) == 1:
            return found[0].scalar
        if len(found) > 1:
            choices = ", ".join(sorted({f"{each.qualifier}.{each.name}" for each in found}))
            raise refuse(
                "D203",
                f"{name} could be more than one column",
                span,
                help=f"write which one: {choices}",
            )
        outer = self.outer
        while outer is not None and not outer.find(name, qualifier):
            outer = outer.outer
        if outer is not None:
            return outer.resolve(name, qualifier, span)
        shown = f"{qualifier}.{name}" if qualifier else name
        raise refuse("D202", f"there is no column {shown} here", span, help=self._nearest(name))

    def _nearest(self, name: str) -> str:
        known = sorted({each.name for each in self.columns})
        folded = {each.casefold(): each for each in known}
        close = difflib.get_close_matches(name.casefold(), folded, 1)
        if close:
            return f"did you mean {folded[close[0]]}?"
        listed = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
        more = f"; {self.hints[0]}" if self.hints else ""
        return f"the columns here are {listed}{more}" if known else "there are no columns here"

    def under(self, alias: str, names: tuple[str, ...] = ()) -> Scope:
        """The same columns under another table name, the first ones renamed."""
        return Scope(
            tuple(
                Visible(alias, names[i] if i < len(names) else each.name, each.scalar)
                for i, each in enumerate(self.columns)
            ),
            self.hints,
        )

    @property
    def starred(self) -> tuple[Visible, ...]:
        """What a star stands for."""
        return tuple(each for each in self.columns if not each.merged)
