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

from dpsql.engines.not_vetted import NotVetted
from dpsql.engines.postgres.casts import converted
from dpsql.engines.postgres.moments import RENDERS as OF_MOMENTS
from dpsql.engines.postgres.numbers import RENDERS as OF_NUMBERS
from dpsql.engines.postgres.numbers import Render
from dpsql.engines.postgres.texts import RENDERS as OF_TEXTS
from dpsql.functions import Arguments
from dpsql.functions.core.comparison import comparison_type
from dpsql.functions.core.conditional import branches
from dpsql.functions.core.types import common_type
from dpsql.ir.column import Kind, Type

# ---- conditions --------------------------------------------------------------------------------------


def _alike(texts: tuple[str, ...], arguments: Arguments) -> tuple[str, ...]:
    """Print the arguments in the type in which they are compared."""
    target = comparison_type(arguments)
    if target.kind not in _COMPARED:
        raise NotVetted(f"a comparison of values of type {target.said}")
    return tuple(converted(text, each, target) for text, each in zip(texts, arguments, strict=True))


_COMPARED = frozenset(
    (Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP)
) | {Kind.TIMESTAMPTZ, Kind.INTERVAL, Kind.NULL}


def _operator(sign: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        left, right = _alike(texts, arguments)
        return f"({left} {sign} {right})"

    return render


def _between(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    value, low, high = _alike(texts, arguments)
    return f"({value} BETWEEN {low} AND {high})"


def _in(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    value, *listed = _alike(texts, arguments)
    return f"({value} IN ({', '.join(listed)}))"


def _connective(word: str) -> Render:
    return lambda texts, *_: f"({f' {word} '.join(texts)})"


# ---- choices -----------------------------------------------------------------------------------------


def _case(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    values = branches(len(arguments))
    target = common_type([arguments[i] for i in values])
    parts = [converted(text, arguments[i], target) if i in values else text for i, text in enumerate(texts)]
    whens = " ".join(f"WHEN {parts[i]} THEN {parts[i + 1]}" for i in range(0, len(parts) - 1, 2))
    otherwise = f" ELSE {parts[-1]}" if len(parts) % 2 else ""
    return f"(CASE {whens}{otherwise} END)"


def _first(name: str) -> Render:
    """COALESCE, GREATEST and LEAST: the latter two ignore NULL, and NaN is the greatest, as in DuckDB."""

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        target = common_type(arguments)
        if target.kind not in _COMPARED:
            raise NotVetted(f"{name} of values of type {target.said}")
        parts = (converted(text, each, target) for text, each in zip(texts, arguments, strict=True))
        return f"{name}({', '.join(parts)})"

    return render


def _nullif(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    left, right = _alike(texts, arguments)
    return f"(CASE WHEN {left} = {right} THEN NULL ELSE {texts[0]} END)"


# ---- lists and maps that the query spells out --------------------------------------------------------


def _contains(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    """DuckDB finds no NULL in a list, and no value beside one."""
    value, *listed = _alike(texts, arguments)
    return f"(CASE WHEN {value} IS NOT NULL THEN COALESCE({value} IN ({', '.join(listed)}), FALSE) END)"


def _position(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    value, *listed = _alike(texts, arguments)
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
    key, *keys = _alike((texts[0], *texts[1::2]), (arguments[0], *arguments[1::2]))
    target = common_type(arguments[2::2])
    values = zip(keys, texts[2::2], arguments[2::2], strict=True)
    whens = " ".join(f"WHEN {key} = {at} THEN {converted(text, value, target)}" for at, text, value in values)
    return f"(CASE {whens} END)"


# ---- casts -------------------------------------------------------------------------------------------


def _cast(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    assert type is not None
    return f"({converted(texts[0], arguments[0], type)})"


RENDERS: Mapping[str, Render] = MappingProxyType(
    {
        **OF_NUMBERS,
        **OF_TEXTS,
        **OF_MOMENTS,
        **{sign: _operator(sign) for sign in ("=", "<>", "<", "<=", ">", ">=")},
        "is_distinct_from": _operator("IS DISTINCT FROM"),
        "is_not_distinct_from": _operator("IS NOT DISTINCT FROM"),
        "between": _between,
        "in": _in,
        "is_null": lambda texts, *_: f"({texts[0]} IS NULL)",
        "is_not_null": lambda texts, *_: f"({texts[0]} IS NOT NULL)",
        "and": _connective("AND"),
        "or": _connective("OR"),
        "not": lambda texts, *_: f"(NOT {texts[0]})",
        "case": _case,
        "coalesce": _first("COALESCE"),
        "greatest": _first("GREATEST"),
        "least": _first("LEAST"),
        "nullif": _nullif,
        "cast": _cast,
        "list_contains": _contains,
        "list_position": _position,
        "list_extract": _item,
        "map_extract_value": _looked_up,
        "array_length": lambda texts, *_: f"CAST({len(texts)} AS int8)",
    }
)
"""The text of each function; one that is not here is refused before anything is paid."""
