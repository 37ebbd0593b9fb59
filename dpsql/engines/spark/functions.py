"""The functions that are vetted for Spark, and how each is printed: on no row does one raise.

    a = b                CAST to one type, compared; texts by their bytes
    CASE, COALESCE       values in one type; lists and maps that a query spells out
    numbers.py, texts.py, moments.py    all others

Claim   with ANSI off, every text is a total function of one row, and gives the same value on every machine.
Proof   Comparisons, choices and tests for NULL raise on nothing, of operands of one type; texts compare by
        their bytes. The other files say what holds of theirs.
Test    tests/privacy/test_spark_functions.py: each function over values that break engines
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dpsql.engines.spark.casts import converted
from dpsql.engines.spark.moments import RENDERS as OF_MOMENTS
from dpsql.engines.spark.numbers import RENDERS as OF_NUMBERS
from dpsql.engines.spark.texts import RENDERS as OF_TEXTS
from dpsql.engines.vetted_conditions import Conditions
from dpsql.engines.vetted_lists import Lists
from dpsql.engines.vetted_scalars import Render

_CONDITIONS = Conditions(converted)

RENDERS: Mapping[str, Render] = MappingProxyType(
    {
        **OF_NUMBERS,
        **OF_TEXTS,
        **OF_MOMENTS,
        **_CONDITIONS.renders(),
        **Lists(_CONDITIONS, "bigint").renders(),
        "is_distinct_from": _CONDITIONS.form("(NOT {0} <=> {1})"),
        "is_not_distinct_from": _CONDITIONS.form("({0} <=> {1})"),
    }
)
"""The text of each function; one that is not here is refused before anything is paid."""
