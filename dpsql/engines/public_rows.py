"""The rows of public tables, for SQL that runs beside the database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpsql.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

    from dpsql.engines import Engine
    from dpsql.policy.catalogue import Known, KnownTable


@dataclass(frozen=True, slots=True)
class PublicRows:
    """The public tables of a database, by their names in the policy."""

    engine: Engine
    known: Known

    def columns(self, table: str) -> list[str]:
        """Return the names of the columns of a public table."""
        return [column.name for column in self._public(table).columns]

    def rows(self, table: str, columns: Sequence[str]) -> tuple[list[str], list[tuple[object, ...]]]:
        """Return the types and the values of columns of a public table."""
        return self.engine.rows(self._public(table).name, columns)

    def size(self, table: str) -> int:
        """Return the number of rows of a public table."""
        return self._public(table).size or 0

    def arrays(self, table: str, columns: Sequence[str]) -> tuple[list[str], list[NDArray[Any]]] | None:
        """Return the same as arrays, where the engine has them (``Engine.public_arrays``)."""
        return self.engine.public_arrays(self._public(table).name, columns)

    def _public(self, name: str) -> KnownTable:
        table = self.known.table(name)
        assert table is not None
        assert table.public, "only public tables are copied"
        return table
