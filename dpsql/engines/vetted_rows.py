"""Rows that a statement spells out, and a measure as an engine parses it before the rows are there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dpsql.engines.identifiers import quote
from dpsql.ir.column import Type, Value, type_named
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.relation import Materialized, stage_inputs, with_rows


def spelled_rows(rows: Materialized, spelled: Callable[[Value, Type], str]) -> str:
    """Print a SELECT of these rows; where there are none, of one row of NULLs that is left out."""
    names = [f"v{i}" for i in range(len(rows.columns))]
    types = [type_named(column.source) for column in rows.columns]
    listed = ", ".join(
        f"{name} AS {quote(column.name)}" for name, column in zip(names, rows.columns, strict=True)
    )
    given = rows.rows or ((None,) * len(names),)
    values = ", ".join(f"({', '.join(map(spelled, row, types))})" for row in given)
    tail = "" if rows.rows else " WHERE false"
    return f"SELECT {listed} FROM (VALUES {values}) AS v({', '.join(names)}){tail}"


def before_its_rows(planned: MeasurePlan) -> MeasurePlan:
    """Return a measure with no rows of the stages before it, in their types: those are not released yet."""
    relation = planned.measure.relation
    awaited = dict.fromkeys(stage_inputs(relation), ())
    if not awaited:
        return planned
    return replace(planned, measure=replace(planned.measure, relation=with_rows(relation, awaited)))
