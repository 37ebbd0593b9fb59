"""Statements over a drawn table, and what each says of a single row.

SELECT id, 1 FROM t WHERE c0 IS NULL                      chosen
SELECT id, c0 IS NULL FROM t                              and this is what should have been
SELECT id, k FROM t JOIN (VALUES ('pill')) AS v(k) ...    what a join finds
SELECT unit, (count(*), max(c1)) FROM t GROUP BY unit     what is said of a unit
"""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from layouts.rows import Column


@dataclass(frozen=True, slots=True)
class Others:
    """The numbers of the rows that are not the unit's, and of their units."""

    rows: frozenset[int]
    units: frozenset[int]


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL over ``{t}`` whose rows are of a row, or of a unit, and what is said of it.

    ``meant`` is the same without a condition: rows, and whether each is to be chosen.
    """

    sql: str
    of_units: bool = False
    meant: str | None = None

    def of(self, others: Others, rows: Sequence[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
        """What is said of the others; a line of the unit's that is broken in two may be a row of nobody."""
        known = others.units if self.of_units else others.rows
        return Counter(row for row in rows if row[0] in known)


def statements(rng: random.Random, columns: Sequence[Column], number: int) -> list[Statement]:
    found = []
    for _ in range(number):
        column = rng.choice(columns)
        path, condition = column.path, conditions(rng, columns)
        shape = rng.random()
        if shape < 0.7:
            found.append(
                Statement(
                    f"SELECT id, true FROM {{t}} WHERE {condition}",
                    meant=f"SELECT id, coalesce({condition}, false) FROM {{t}}",
                )
            )
        elif shape < 0.8:
            keys = ", ".join(
                f"(CAST({_literal(_value(rng, column))} AS {column.kind.duckdb}))"
                for _ in range(rng.choice((1, 2, 5)))
            )
            found.append(
                Statement(
                    f"SELECT t.id, true FROM {{t}} AS t SEMI JOIN (VALUES {keys}) AS v(k) ON t.{path} = v.k"
                    f" WHERE {condition}"
                )
            )
        elif shape < 0.88:
            found.append(
                Statement(
                    f"SELECT a.unit, count(*) FROM {{t}} AS a JOIN (SELECT unit, {path} AS k FROM {{t}} "
                    f"WHERE {condition}) AS b ON a.unit = b.unit AND a.{path} = b.k GROUP BY ALL",
                    of_units=True,
                )
            )
        elif shape < 0.94:
            found.append(
                Statement(f"SELECT unnest(list(id)), {_said(column, path)} FROM {{t}} GROUP BY {path}")
            )
        else:
            told = (
                f"count(*), count({path}), {_said(column, f'min({path})')}, {_said(column, f'max({path})')}"
            )
            found.append(Statement(f"SELECT unit, {told} FROM {{t}} WHERE {condition} GROUP BY unit", True))
    return found


def conditions(rng: random.Random, columns: Sequence[Column]) -> str:
    """One to three, in some order."""
    parts = [_condition(rng, rng.choice(columns)) for _ in range(rng.choice((1, 1, 2, 3)))]
    if rng.random() < 0.1:
        parts.append(rng.choice(("id >= 7", "id % 3 <> 1", "unit < 40")))
    return rng.choice((" AND ", " AND ", " OR ")).join(f"({each})" for each in parts)


def _condition(rng: random.Random, column: Column) -> str:
    path = column.path
    a, b = (_literal(_value(rng, column)) for _ in range(2))
    compared = rng.choice(("=", "<>", "<", "<=", ">", ">="))
    any_kind = (
        f"{path} IS NULL",
        f"{path} IS NULL",
        f"{path} IS NOT NULL",
        f"NOT ({path} IS NOT NULL)",
        f"{path} {compared} {a}",
        f"{path} {compared} {a}",
        f"NOT ({path} {compared} {a})",
        f"{path} IS DISTINCT FROM {a}",
        f"{path} IS NOT DISTINCT FROM {a}",
        f"COALESCE({path}, {a}) = {a}",
        f"COALESCE({path} {compared} {a}, true)",
        f"({path} {compared} {a}) IS NULL",
        f"nullif({path}, {a}) IS NULL",
        f"{path} IN ({a}, {b})",
        f"{path} NOT IN ({a}, {b})",
        f"{path} BETWEEN {a} AND {b}",
        f"CASE WHEN {path} IS NULL THEN true ELSE {path} = {a} END",
    )
    of_kind: tuple[str, ...] = ()
    if column.kind.duckdb == "VARCHAR":
        of_kind = (
            f"{path} LIKE 'p%'",
            f"{path} NOT LIKE '%l'",
            f"starts_with({path}, 'pil')",
            f"length({path}) = {rng.choice((0, 1, 4))}",
            f"upper({path}) = upper({a})",
        )
    elif column.kind.duckdb in ("FLOAT", "DOUBLE"):
        of_kind = (f"isnan({path})", f"isfinite({path})", f"{path} + 1 > {a}")
    elif column.kind.duckdb == "BOOLEAN":
        of_kind = (path, f"NOT {path}", f"{path} IS NOT TRUE")
    return rng.choice(of_kind if of_kind and rng.random() < 0.2 else any_kind)


def _said(column: Column, value: str) -> str:
    """A value as text; 0.0 and -0.0 are equal, and either may stand for both."""
    return f"CAST({value}{' + 0' if column.kind.duckdb in ('FLOAT', 'DOUBLE') else ''} AS VARCHAR)"


def _value(rng: random.Random, column: Column) -> Any:
    return rng.choice(column.kind.values)


def _literal(value: Any) -> str:
    """Text that takes the type of what it is compared with."""
    match value:
        case bytes():
            return "'" + "".join(f"\\x{each:02X}" for each in value) + "'"
        case dt.date() | dt.time():
            return f"'{value.isoformat()}'"
        case _:
            return f"'{value}'"
