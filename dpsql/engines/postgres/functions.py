"""The functions that are vetted for PostgreSQL, and how each is printed: on no row does one raise.

    a = b                CAST to one type, compared; texts by their bytes
    CASE, COALESCE       values in one type; lists and maps that a query spells out
    numbers.py, texts.py, moments.py    all others

Claim   every text is a total function of one row: it raises on no values, and gives the same value each time.
Proof   Comparisons, AND, OR, NOT, CASE, IN and tests for NULL raise on nothing, of operands of one type; a
        text carries the collation C, by scan and literal. Conversions are those of casts.py. A subexpression
        of constants alone may be computed while a statement is planned: it is the query's own, and no row
        decides.
Test    tests/privacy/test_postgres_functions.py: each function over values that break engines, raising
        nothing, and equal to DuckDB's value
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dpsql.engines.postgres.casts import converted
from dpsql.engines.postgres.moments import RENDERS as OF_MOMENTS
from dpsql.engines.postgres.numbers import RENDERS as OF_NUMBERS
from dpsql.engines.postgres.texts import RENDERS as OF_TEXTS
from dpsql.engines.vetted_conditions import COMPARED, Conditions
from dpsql.engines.vetted_lists import Lists
from dpsql.engines.vetted_scalars import Render
from dpsql.ir.column import Kind

CONDITIONS = Conditions(converted, COMPARED | {Kind.INTERVAL})

RENDERS: Mapping[str, Render] = MappingProxyType(
    {
        **OF_NUMBERS,
        **OF_TEXTS,
        **OF_MOMENTS,
        **CONDITIONS.renders(),
        **Lists(CONDITIONS, "int8").renders(),
        "is_distinct_from": CONDITIONS.form("({0} IS DISTINCT FROM {1})"),
        "is_not_distinct_from": CONDITIONS.form("({0} IS NOT DISTINCT FROM {1})"),
    }
)
"""The text of each function; one that is not here is refused before anything is paid."""
