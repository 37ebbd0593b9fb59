"""Lists and maps that a query spells out, in words that every SQL has: CASE and IN.

    list_contains([1, 7], x)    x IN (1, 7)         [a, b][x]    CASE WHEN x IN (1, -2) THEN a ... END

Claim   each text is a total function of one row, of operands and conversions that are.
Proof   CASE, IN and comparisons raise on nothing, of operands of one type.
Test    tests/privacy/test_postgres_functions.py, tests/privacy/test_spark_functions.py
"""

from __future__ import annotations

from dpsql.engines.vetted_conditions import Conditions
from dpsql.engines.vetted_scalars import Render
from dpsql.functions import Arguments
from dpsql.functions.core.types import common_type
from dpsql.ir.column import Type
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Lists:
    """The texts of one engine; ``long`` is its type of 64 bits."""

    conditions: Conditions
    long: str

    def _contains(self, texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        """DuckDB finds no NULL in a list, and no value beside one."""
        value, *listed = self.conditions.alike(texts, arguments)
        return f"(CASE WHEN {value} IS NOT NULL THEN COALESCE({value} IN ({', '.join(listed)}), FALSE) END)"

    def _position(self, texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        value, *listed = self.conditions.alike(texts, arguments)
        whens = " ".join(f"WHEN {value} = {item} THEN {place}" for place, item in enumerate(listed, 1))
        return f"(CASE {whens} END)"

    def _item(self, texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        """The item at a place, counted from the end below 0."""
        place, count = texts[0], len(texts) - 1
        target = common_type(arguments[1:])
        pairs = zip(texts[1:], arguments[1:], strict=True)
        whens = " ".join(
            f"WHEN {place} IN ({at}, {at - count - 1}) THEN {self.conditions.converted(text, item, target)}"
            for at, (text, item) in enumerate(pairs, 1)
        )
        return f"(CASE {whens} END)"

    def _looked_up(self, texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        of_keys = (arguments[0], *arguments[1::2])
        key, *keys = self.conditions.alike((texts[0], *texts[1::2]), of_keys)
        target = common_type(arguments[2::2])
        values = zip(keys, texts[2::2], arguments[2::2], strict=True)
        whens = " ".join(
            f"WHEN {key} = {at} THEN {self.conditions.converted(text, value, target)}"
            for at, text, value in values
        )
        return f"(CASE {whens} END)"

    def renders(self) -> dict[str, Render]:
        """Return the text of each function."""
        return {
            "list_contains": self._contains,
            "list_position": self._position,
            "list_extract": self._item,
            "map_extract_value": self._looked_up,
            "array_length": lambda texts, *_: f"CAST({len(texts)} AS {self.long})",
        }
