"""What the rows themselves make doubtful in a policy: ``policy check`` says it, and the owner decides.

orders.status: more than one row in a hundred has a value that is not declared
rides: more than one row in ten is beyond rows_per_unit = 60

Only shares of a few sizes are told, and to the owner alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.engines import Engine
from dpsql.ir.column import Kind
from dpsql.ir.relation import names_of, unit_types
from dpsql.policy.catalogue import Known, KnownTable
from dpsql.policy.model import Policy
from dpsql.render.english import one

_SHARES = {
    2: "more than one row in two",
    10: "more than one row in ten",
    100: "more than one row in a hundred",
}


def doubtful_rows(policy: Policy, tables: Known, engine: Engine) -> Iterator[str]:
    """Yield sentences on rows that hardly any owner means."""
    private = [table for table in tables.tables if not table.public]
    holder = None if policy.unit.table is None else tables.table(policy.unit.table)
    for table in private:
        yield from _spelled_alike(table, tables, engine)
    for table in private:
        yield from _misfits(table, None if table is holder else holder, tables.unit, engine)
    for table in private:
        yield from _undeclared(table, engine)


def _spelled_alike(table: KnownTable, tables: Known, engine: Engine) -> Iterator[str]:
    """Warn of columns that hold units under two spellings: each is protected as if it were one of two."""
    texts = any(each.kind is Kind.TEXT for each in unit_types(tables.unit_type))
    own = tuple(column.name for column in table.columns if column.name in table.unit_columns)
    if texts and own and engine.is_spelled_alike(table.name, own):
        named = " and ".join(f"{table.name}.{name}" for name in own)
        yield (
            f"some values of {named} differ only in case or blanks: if they are one "
            f"{tables.unit}, it counts as two, and is protected half as well; clean them"
        )


def _misfits(table: KnownTable, holder: KnownTable | None, unit: str, engine: Engine) -> Iterator[str]:
    """Warn of rows of nobody, of units that are not in their table, and of rows that are clipped away."""
    shares = engine.misfits(table, holder)
    column = table.links[0].column if table.links else table.unit_column
    assert column is not None
    named = [f"{table.name}.{name}" for name in names_of(column)]
    if shares.nobody is not None:
        why = "is NULL, or leads to no row" if table.links else "is NULL"
        yield (
            f"{table.name}: {_SHARES[shares.nobody]} is of no {unit}, since {' or '.join(named)} {why}: "
            "no answer counts them"
        )
    if shares.unknown is not None and holder is not None:
        said, key = " and ".join(named), " and ".join(names_of(holder.unit_column or ()))
        yield (
            f"{table.name}: {_SHARES[shares.unknown]} has a value of {said} that is none of {holder.name}."
            f"{key}: each such value is protected as {one(unit)}; if it is the key of something else, a "
            f"{unit} with several of them is protected in each alone: "
            f"name the column that leads to {holder.name}"
        )
    if shares.beyond is not None:
        yield (
            f"{table.name}: {_SHARES[shares.beyond]} is beyond rows_per_unit = {table.rows}: answers are too "
            "low by about as much, and their margins do not show it; if it is left out, it is found privately"
        )


def _undeclared(table: KnownTable, engine: Engine) -> Iterator[str]:
    """Warn of columns of which many values are none of those declared: misspelt, or of another scale."""
    declared = [column for column in table.columns if column.name not in table.found]
    texts = {column.name for column in declared if column.fact.type.kind is Kind.TEXT}
    for name, share in engine.strays(table.name, declared).items():
        mend = "clean what is misspelt" if name in texts else "if these values are real, widen the range"
        yield (
            f"{table.name}.{name}: {_SHARES[share]} has a value that is not declared; such rows are in no "
            f"group of it, and sums clip them: {mend}"
        )
