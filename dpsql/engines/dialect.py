"""The spelling of SQL's parts that differ between engines, for the rows, cells, norms and sums of a measure.

    wide("n")        n::HUGEINT                 CAST(n AS NUMERIC) where there are no integers of 128 bits
    subquery(...)    (SELECT ...)               (SELECT ...) AS s1 where a subquery has to have a name

A dialect is carried by what is printed with it: ``Reading`` for relations, ``Arithmetic`` for cells and sums.
Functions, keys and details are printed in DuckDB's alone.

Claim   a measure printed in two dialects has the same exact table on the same rows.
Proof   Each method states one value for each argument: the text differs, the value does not. A dialect whose
        engine raises where DuckDB does not (floats that underflow) guards the text of that method.
Test    tests/privacy/test_second_dialect.py: a second engine's tables, bit for bit, and planted errors
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Protocol


class Dialect(Protocol):
    """How one engine writes what SQL leaves to engines."""

    @property
    def infinity(self) -> str:
        """The largest DOUBLE but for NaN."""
        ...

    def number(self, value: float | int) -> str:
        """Print a constant DOUBLE with all its bits, infinity and NaN too."""
        ...

    def real(self, value: int) -> str:
        """Print a constant whole number as a DOUBLE."""
        ...

    def double(self, sql: str) -> str:
        """Print a number as a DOUBLE."""
        ...

    def wide(self, sql: str) -> str:
        """Print a whole number so that products and sums with it hold 128 bits at least."""
        ...

    def whole(self, sql: str) -> str:
        """Print a DOUBLE below 2^62 as a BIGINT, rounded half to even."""
        ...

    def cut(self, sql: str) -> str:
        """Print a DOUBLE below 2^62 as a BIGINT, cut toward zero."""
        ...

    def scaled(self, sql: str, factor: float) -> str:
        """Print a DOUBLE times a positive constant, as precisely as ``whole`` of it needs."""
        ...

    def subquery(self, select: str) -> str:
        """Print a SELECT as a table of FROM."""
        ...

    def all_but(self, table: str, column: str, others: Sequence[str]) -> str:
        """Print the columns of a table, ``others``, without the one named."""
        ...


class _DuckDB:
    infinity = "'infinity'::DOUBLE"

    def number(self, value: float | int) -> str:
        return f"{float(value)!r}::DOUBLE" if math.isfinite(value) else f"'{float(value)!r}'::DOUBLE"

    def real(self, value: int) -> str:
        return f"{value}::DOUBLE"

    def double(self, sql: str) -> str:
        return f"CAST({sql} AS DOUBLE)"

    def wide(self, sql: str) -> str:
        return f"{sql}::HUGEINT"

    def whole(self, sql: str) -> str:
        return f"CAST({sql} AS BIGINT)"

    def cut(self, sql: str) -> str:
        return f"CAST(trunc({sql}) AS BIGINT)"

    def scaled(self, sql: str, factor: float) -> str:
        return f"{sql} * {self.number(factor)}"

    def subquery(self, select: str) -> str:
        return f"({select})"

    def all_but(self, table: str, column: str, others: Sequence[str]) -> str:
        return f"{table}.* EXCLUDE ({column})"


DUCKDB: Final[Dialect] = _DuckDB()
