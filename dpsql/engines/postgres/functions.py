"""The functions that are vetted for PostgreSQL, and how each is printed: on no row does one raise.

    a = b                CAST to one type, compared; texts by their bytes
    CASE, COALESCE       values in one type
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
from dpsql.engines.vetted_scalars import Render
from dpsql.functions import Arguments
from dpsql.functions.core.types import common_type
from dpsql.ir.column import Kind, Type

CONDITIONS = Conditions(converted, COMPARED | {Kind.INTERVAL})

# ---- lists and maps that the query spells out --------------------------------------------------------


def _contains(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    """DuckDB finds no NULL in a list, and no value beside one."""
    value, *listed = CONDITIONS.alike(texts, arguments)
    return f"(CASE WHEN {value} IS NOT NULL THEN COALESCE({value} IN ({', '.join(listed)}), FALSE) END)"


def _position(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    value, *listed = CONDITIONS.alike(texts, arguments)
    whens = " ".join(f"WHEN {value} = {item} THEN {place}" for place, item in enumerate(listed, 1))
    return f"(CASE {whens} END)"


def _item(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    """The item at a place, counted from the end below 0."""
    place, count = texts[0], len(texts) - 1
    target = common_type(arguments[1:])
    pairs = zip(texts[1:], arguments[1:], strict=True)
    whens = " ".join(
        f"WHEN {place} IN ({at}, {at - count - 1}) THEN {converted(text, item, target)}"
        for at, (text, item) in enumerate(pairs, 1)
    )
    return f"(CASE {whens} END)"


def _looked_up(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    key, *keys = CONDITIONS.alike((texts[0], *texts[1::2]), (arguments[0], *arguments[1::2]))
    target = common_type(arguments[2::2])
    values = zip(keys, texts[2::2], arguments[2::2], strict=True)
    whens = " ".join(f"WHEN {key} = {at} THEN {converted(text, value, target)}" for at, text, value in values)
    return f"(CASE {whens} END)"


RENDERS: Mapping[str, Render] = MappingProxyType(
    {
        **OF_NUMBERS,
        **OF_TEXTS,
        **OF_MOMENTS,
        **CONDITIONS.renders(),
        "is_distinct_from": CONDITIONS.form("({0} IS DISTINCT FROM {1})"),
        "is_not_distinct_from": CONDITIONS.form("({0} IS NOT DISTINCT FROM {1})"),
        "list_contains": _contains,
        "list_position": _position,
        "list_extract": _item,
        "map_extract_value": _looked_up,
        "array_length": lambda texts, *_: f"CAST({len(texts)} AS int8)",
    }
)
"""The text of each function; one that is not here is refused before anything is paid."""
