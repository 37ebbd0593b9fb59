"""Conditions and choices, in words that every SQL has: an engine says how an argument becomes of a type.

    a = b, a BETWEEN b AND c, a IN (b, c), NULLIF(a, b)    operands in one type
    CASE, COALESCE, GREATEST, LEAST                        values in one type

Claim   each text is a total function of one row, of operands and conversions that are.
Proof   Comparisons, AND, OR, NOT, CASE, IN and tests for NULL raise on nothing, of operands of one type.
Test    tests/privacy/test_postgres_functions.py, tests/privacy/test_spark_functions.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from dpsql.engines.not_vetted import NotVetted
from dpsql.engines.vetted_scalars import Render
from dpsql.functions import Argument, Arguments
from dpsql.functions.core.comparison import comparison_type
from dpsql.functions.core.conditional import branches
from dpsql.functions.core.types import common_type
from dpsql.ir.column import Kind, Type
from dpsql.lazy_dataclass import dataclass

Converted: TypeAlias = Callable[[str, Argument, Type], str]
"""Prints an argument in another type, NULL where it does not fit."""

COMPARED = frozenset(
    (Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP)
) | {Kind.TIMESTAMPTZ, Kind.NULL}


@dataclass(frozen=True, slots=True)
class Conditions:
    """The texts of one engine, which compares values of these kinds."""

    converted: Converted
    compared: frozenset[Kind] = COMPARED

    def alike(self, texts: Sequence[str], arguments: Arguments) -> tuple[str, ...]:
        """Print the arguments in the type in which they are compared."""
        target = comparison_type(arguments)
        if target.kind not in self.compared:
            raise NotVetted(f"a comparison of values of type {target.said}")
        return self._all(texts, arguments, target)

    def _all(self, texts: Sequence[str], arguments: Arguments, target: Type) -> tuple[str, ...]:
        return tuple(self.converted(text, each, target) for text, each in zip(texts, arguments, strict=True))

    def form(self, form: str) -> Render:
        """Return the render of operands of one type in a form: ``({0} = {1})``."""
        return lambda texts, arguments, _: form.format(*self.alike(texts, arguments))

    def _in(self, texts: tuple[str, ...], arguments: Arguments, _: Type | None) -> str:
        value, *listed = self.alike(texts, arguments)
        return f"({value} IN ({', '.join(listed)}))"

    def _nullif(self, texts: tuple[str, ...], arguments: Arguments, _: Type | None) -> str:
        left, right = self.alike(texts, arguments)
        return f"(CASE WHEN {left} = {right} THEN NULL ELSE {texts[0]} END)"

    def _case(self, texts: tuple[str, ...], arguments: Arguments, _: Type | None) -> str:
        values = branches(len(arguments))
        target = common_type([arguments[i] for i in values])
        parts = list(texts)
        for i in values:
            parts[i] = self.converted(texts[i], arguments[i], target)
        whens = " ".join(f"WHEN {parts[i]} THEN {parts[i + 1]}" for i in range(0, len(parts) - 1, 2))
        otherwise = f" ELSE {parts[-1]}" if len(parts) % 2 else ""
        return f"(CASE {whens}{otherwise} END)"

    def _first(self, name: str) -> Render:
        """COALESCE, GREATEST and LEAST: the latter two ignore NULL, and NaN is the greatest, as in DuckDB."""

        def render(texts: tuple[str, ...], arguments: Arguments, _: Type | None) -> str:
            target = common_type(arguments)
            if target.kind not in self.compared:
                raise NotVetted(f"{name} of values of type {target.said}")
            parts = self._all(texts, arguments, target)
            return f"{name}({', '.join(parts)})" if len(parts) > 1 else parts[0]

        return render

    def _cast(self, texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        assert type is not None
        return f"({self.converted(texts[0], arguments[0], type)})"

    def renders(self) -> dict[str, Render]:
        """Return the text of each function."""
        return {
            **{sign: self.form(f"({{0}} {sign} {{1}})") for sign in ("=", "<>", "<", "<=", ">", ">=")},
            "between": self.form("({0} BETWEEN {1} AND {2})"),
            "in": self._in,
            "is_null": lambda texts, *_: f"({texts[0]} IS NULL)",
            "is_not_null": lambda texts, *_: f"({texts[0]} IS NOT NULL)",
            "and": lambda texts, *_: f"({' AND '.join(texts)})",
            "or": lambda texts, *_: f"({' OR '.join(texts)})",
            "not": lambda texts, *_: f"(NOT {texts[0]})",
            "case": self._case,
            "coalesce": self._first("COALESCE"),
            "greatest": self._first("GREATEST"),
            "least": self._first("LEAST"),
            "nullif": self._nullif,
            "cast": self._cast,
        }
