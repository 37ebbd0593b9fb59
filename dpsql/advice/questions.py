"""A few questions that a policy lets ask, to show its settings on.

patients, one row per unit          SELECT COUNT(*) FROM patients
sex, with a list of values          SELECT sex, COUNT(*) FROM patients GROUP BY sex
town, without a list                SELECT town, COUNT(*) FROM patients GROUP BY town
age, with a range                   SELECT AVG(age), SUM(age) FROM patients
visits, several rows per unit       SELECT COUNT(*) FROM visits
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress

from sqlglot.dialects.duckdb import DuckDB

from dpsql.errors import Error
from dpsql.ir.column import Categories, Column, Kind, bounded_range
from dpsql.ir.relation import names_of
from dpsql.parse.grammar import check_grammar
from dpsql.policy.catalogue import Known, KnownTable


def questions_of(known: Known) -> tuple[str, ...]:
    """Return the questions, a count of units first."""
    tables = sorted((table for table in known.tables if not table.public), key=lambda each: each.at_most != 1)
    return tuple(_questions(tables))


def counted(table: KnownTable) -> str:
    """Return the question how many rows a table has."""
    return f"SELECT COUNT(*) FROM {_table(table)}"


def _questions(tables: list[KnownTable]) -> Iterator[str]:
    first = tables[0]
    if first.at_most == 1:
        yield counted(first)
    elif not first.links:
        unit = ", ".join(map(_name, names_of(first.unit_column or "")))
        counted_unit = unit if isinstance(first.unit_column, str) else f"({unit})"
        yield f"SELECT COUNT(DISTINCT {counted_unit}) FROM {_table(first)}"
    for wanted in (_is_listed, _is_free):
        for name, column in _first(tables, wanted):
            yield f"SELECT {column}, COUNT(*) FROM {name} GROUP BY {column}"
    for name, column in _first(tables, _has_range):
        yield f"SELECT AVG({column}), SUM({column}) FROM {name}"
    for table in [each for each in tables if each.at_most != 1][:1]:
        yield counted(table)


def _first(
    tables: list[KnownTable], wanted: Callable[[KnownTable, Column], bool]
) -> Iterator[tuple[str, str]]:
    """Yield the first column of that sort with its table, if there is one."""
    for table in tables:
        for column in table.columns:
            if column.name not in _ids(table) and wanted(table, column):
                yield _table(table), _name(column.name)
                return


def _ids(table: KnownTable) -> set[str]:
    """Return the columns that tell rows or units apart."""
    links = (name for link in table.links for name in names_of(link.column))
    unit, keys = names_of(table.unit_column or ""), (name for key in table.keys for name in key)
    return {*unit, *links, *table.tied, *keys}


def _is_listed(table: KnownTable, column: Column) -> bool:
    return isinstance(column.fact.domain, Categories)


def _is_free(table: KnownTable, column: Column) -> bool:
    return column.fact.type.kind is Kind.TEXT and not isinstance(column.fact.domain, Categories)


def _has_range(table: KnownTable, column: Column) -> bool:
    return column.fact.type.numeric and bounded_range(column.fact) is not None


def table_in_sql(name: str) -> str:
    """Spell a table's name in SQL: patients, archive.visits, "order"."""
    return ".".join(map(_name, name.split(".", 1)))


def _table(table: KnownTable) -> str:
    return table_in_sql(table.name)


def _name(name: str) -> str:
    """Spell a name in SQL, in quotes where it needs them."""
    if re.fullmatch(r"[a-zA-Z_]\w*", name, re.ASCII) and name.upper() not in DuckDB.Tokenizer.KEYWORDS:
        with suppress(Error):  # it needs quotes
            check_grammar(f"SELECT {name} FROM {name}")
            return name
    return '"' + name.replace('"', '""') + '"'
