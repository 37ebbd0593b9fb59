"""What statements give to a client: columns with their types, rows, and failures as fields."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from dpsql.answer import Answer
from dpsql.errors import Error
from dpsql.ir.heading import Heading
from dpsql.lazy_dataclass import dataclass
from dpsql.server.encoding import Kind, kind_of
from dpsql.server.notices import Fields, fields


@dataclass(frozen=True, slots=True)
class Column:
    """A column as clients read it; ``noised`` if its numbers carry noise."""

    name: str
    kind: Kind
    noised: bool = False


@dataclass(slots=True)
class Result:
    """Rows for a client, and what to say beside them."""

    columns: tuple[Column, ...]
    rows: Sequence[tuple[Any, ...]]
    tag: str = "SELECT"
    notices: tuple[Fields, ...] = ()


class Failure(Exception):
    """A statement fails, and the connection goes on; by a refusal of dpsql's, or without one."""

    def __init__(self, fields: Fields, refusal: Error | None = None) -> None:
        super().__init__(fields["M"])
        self.fields, self.refusal = fields, refusal


class Expelled(Exception):
    """The connection ends, with these fields."""

    def __init__(self, fields: Fields) -> None:
        super().__init__(fields["M"])
        self.fields = fields


def failed(state: str, message: str, hint: str = "") -> Failure:
    return Failure(fields("ERROR", state, message, hint=hint))


def expelled(state: str, message: str, hint: str = "") -> Expelled:
    return Expelled(fields("FATAL", state, message, hint=hint))


def columns_of(headings: Iterable[Heading]) -> tuple[Column, ...]:
    return tuple(Column(each.name, kind_of(each.type), each.noised) for each in headings)


def texts(*names: str) -> tuple[Column, ...]:
    """Return columns of texts."""
    return columns_of(Heading(name, "VARCHAR") for name in names)


def alike(columns: Sequence[Column] | None, others: Sequence[Column] | None) -> bool:
    """Whether clients read both in the same way."""
    if columns is None or others is None:
        return columns is others
    return [column.kind.oid for column in columns] == [column.kind.oid for column in others]


def widened(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Add a column for the margins after each noised one."""
    wide: list[Column] = []
    for column in columns:
        wide += [column, Column(f"{column.name}_margin", kind_of("DOUBLE"))] if column.noised else [column]
    return tuple(wide)


def with_margins(result: Result, noised: Sequence[bool], answer: Answer) -> Result:
    """Add the margins of an answer to its rows, after each column that is ``noised``."""
    rows = []
    for row, margins in zip(answer.rows, answer.margins, strict=True):
        wide: list[Any] = []
        for value, margin, has_margin in zip(row, margins, noised, strict=True):
            wide += [value, margin] if has_margin else [value]
        rows.append(tuple(wide))
    marked = [replace(column, noised=at) for column, at in zip(result.columns, noised, strict=True)]
    return replace(result, columns=widened(marked), rows=rows)
