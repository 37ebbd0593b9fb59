"""Synthetic rows in place of groups: the events of marginals that are measured, and the values of columns.

    columns (age, sex, ward)    1 total, marginals of one column and of two, and choices among the pairs

``mechanisms/synthetic`` makes such plans, spends them, and fits rows to what was measured.
"""

from __future__ import annotations

from dpsql.ir.column import Value
from dpsql.ir.event import ChoiceEvent, Event, GaussianEvent
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SyntheticPlan:
    """The events of one measurement; ``clip`` is in grid steps, ``step`` of them to a row."""

    method: str
    sizes: tuple[int, ...]
    clip: int
    step: int
    total: GaussianEvent
    one_column: tuple[GaussianEvent, ...]
    choices: tuple[ChoiceEvent, ...]
    two_columns: tuple[GaussianEvent, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        return (self.total, *self.one_column, *self.choices, *self.two_columns)


@dataclass(frozen=True, slots=True)
class SyntheticRows:
    """The groups that are shown are those of synthetic rows, which have values of these ``domains``.

    No column lists a value twice; NULL is the last one of a column that has it. A value's place in its list
    is its code.
    """

    domains: tuple[tuple[Value, ...], ...]
    plan: SyntheticPlan

    def groups_listed(self) -> None:
        """Return the groups that are shown whatever is measured: none."""
