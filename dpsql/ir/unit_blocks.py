"""Blocks of units: a column of the unit's own table says in which one a unit is.

    patients.cohort, values 2023, 2024      block 1 is 2023, block 2 is 2024, block 0 is everybody else

A unit without a row there, with NULL, or with a value that is not listed, is in block 0, the rest.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection

from dpsql.ir.column import Value
from dpsql.ir.relation import Columns
from dpsql.lazy_dataclass import dataclass

REST = 0


@dataclass(frozen=True, slots=True)
class UnitHolder:
    """A private table, and its columns that hold units."""

    table: str
    columns: Columns


@dataclass(frozen=True, slots=True)
class UnitBlocks:
    """The listed ``values`` of a column, in an order that lasts: block n is the n-th value."""

    table: str
    column: str
    values: tuple[Value, ...]

    @property
    def numbers(self) -> range:
        """Return all blocks, the rest first."""
        return range(len(self.values) + 1)

    @property
    def written(self) -> tuple[str, ...]:
        """Return the values as text; a policy's are of one kind, so that no two have the same."""
        return tuple(map(_written, self.values))

    def named(self, block: int) -> str:
        """Return what a block is called: cohort 2023, or the rest of cohort."""
        return named(self.column, self.written, block)

    def told(self, blocks: Collection[int]) -> str:
        """Return what some blocks are called: cohort 2023 and 2024 (2 of 5 blocks)."""
        whole = len(self.numbers)
        if len(blocks) == whole:
            return f"all {whole} blocks of {self.column}"
        values = [
            self.written[block - 1] if block else "the rest" for block in sorted(blocks, key=_rest_last)
        ]
        listed = values[0] if len(values) == 1 else f"{', '.join(values[:-1])} and {values[-1]}"
        return f"{self.column} {listed} ({len(blocks)} of {whole} blocks)"


def named(column: str, values: Collection[str], block: int) -> str:
    """Return what a block of a column is called."""
    return f"{column} {[*values][block - 1]}" if block else f"the rest of {column}"


def _rest_last(block: int) -> tuple[bool, int]:
    return block == REST, block


def _written(value: Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case datetime.date():
            return value.isoformat()
        case _:
            return str(value)
