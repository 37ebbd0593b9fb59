"""The policy's blocks: [unit] blocks = { column = "cohort", values = [2023, 2024] }

A list of values that no unit is in, and that can only grow. The column is one of the unit's own table, of a
kind whose values are compared exactly.
"""

from __future__ import annotations

from dpsql.ir.column import Kind, Value
from dpsql.ir.unit_blocks import UnitBlocks
from dpsql.policy.catalogue import KnownTable
from dpsql.policy.domain import Mismatch, categories_of, shown
from dpsql.policy.model import BlocksRule, Policy
from dpsql.policy.names import fold, perhaps
from dpsql.policy.toml_keys import BLOCKS
from dpsql.policy.toml_positions import Document
from dpsql.policy.toml_section import Section, family, sort_of
from dpsql.policy.toml_values import regular_values

MOST_BLOCKS = 1_000
KINDS = (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN, Kind.DATE)
"""Kinds of columns whose comparisons with constants are understood exactly (facts/truth_vectors.py)."""


def read_blocks(section: Section) -> BlocksRule:
    """Read the blocks of [unit]."""
    value = section.values["blocks"]
    if not isinstance(value, dict):
        raise section.wrong(
            "blocks",
            "blocks must be a table",
            label=f"this is {sort_of(value)}",
            help=BLOCKS["column"].needed,
        )
    if "table" not in section.values:
        raise section.wrong(
            "blocks",
            "blocks are values of a column of the unit's own table",
            on_key=True,
            label="[unit] names no table that has a row for each unit",
            help='table = "people" and key = "person_id"; or leave blocks out',
        )
    inner = section.table("blocks")
    inner.allow(BLOCKS)
    for key in ("column", "values"):
        inner.need(BLOCKS[key])
    return BlocksRule(values=_values(inner), **regular_values(inner, BLOCKS))


def _values(section: Section) -> tuple[Value, ...]:
    listed = section.values["values"]
    if not isinstance(listed, list) or not listed:
        raise section.wrong(
            "values", "blocks need a list of values that is not empty", help="values = [2024]"
        )
    if len(listed) > MOST_BLOCKS:
        raise section.wrong(
            "values", f"there are at most {MOST_BLOCKS:,} blocks", label=f"{len(listed):,} values here"
        )
    seen: set[object] = set()
    for index, value in enumerate(listed):
        if isinstance(value, float) or family(value) not in ("string", "number", "boolean", "date"):
            raise section.wrong(
                "values",
                "values of blocks must be strings, whole numbers, booleans or dates",
                at=index,
                label=f"this is {sort_of(value)}",
            )
        if family(value) != family(listed[0]):
            raise section.wrong(
                "values",
                "values must be of one kind",
                at=index,
                label=f"{sort_of(value)}; the first is {sort_of(listed[0])}",
            )
        if value in seen:
            raise section.wrong("values", "this value is listed twice", at=index)
        seen.add(value)
    return tuple(listed)


def unit_blocks(policy: Policy, document: Document, table: KnownTable) -> UnitBlocks | None:
    """Return the blocks as values of a column of ``table``, the unit's own."""
    rule = policy.unit.blocks
    if rule is None:
        return None
    column = next((each for each in table.columns if fold(each.name) == fold(rule.column)), None)
    if column is None:
        raise document.refuse(
            "D804",
            f"the policy lists no column {rule.column} of {table.name}",
            ("unit", "blocks", "column"),
            label="blocks are values of a listed column of the unit's own table",
            help=perhaps(rule.column, (each.name for each in table.columns))
            or f"add {rule.column} below [tables.{table.name}.columns]",
        )
    its = column.fact.type
    if its.kind not in KINDS or its.sql.startswith("ENUM("):
        raise document.refuse(
            "D804",
            f"{table.name}.{column.name} cannot tell blocks",
            ("unit", "blocks", "column"),
            label=f"it is of type {shown(its)}",
            help="blocks are values of an INTEGER, VARCHAR, BOOLEAN or DATE",
        )
    try:
        values = categories_of(its, rule.values).values
    except Mismatch as odd:
        raise document.refuse(
            "D804",
            f"a block is no value of {table.name}.{column.name}",
            ("unit", "blocks", "values", *(() if odd.at is None else (odd.at,))),
            label=str(odd),
            notes=(f"it is of type {shown(its)}",),
            help=odd.help,
        ) from None
    return UnitBlocks(table.name, column.name, values)
