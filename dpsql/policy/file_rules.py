"""File settings in a new policy: the lines of its text, and the rules of tables found in files.

files = "visits/*.parquet"            if the files are not named after the table
csv = { delim = ";" }                 if the csv format is not the default
age = { type = "INTEGER" }            for every column of a csv file that is used
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dpsql.ir.relation import names_of
from dpsql.policy.catalogue import FoundTable
from dpsql.policy.model import ColumnRule, TableRule, UnitRule
from dpsql.policy.names import fold
from dpsql.policy.toml_keys import TABLE
from dpsql.policy.toml_lines import line


def file_lines(table: FoundTable | TableRule) -> list[str]:
    """Write the lines for a table's files and csv format, where they differ from the default."""
    return [*line(TABLE["files"], table.files), *line(TABLE["csv"], table.csv)]


def with_files(
    rules: tuple[TableRule, ...], tables: Mapping[str, FoundTable], unit: UnitRule
) -> tuple[TableRule, ...]:
    """Add files, and the types of the columns in use, to the rules."""
    needed: set[tuple[str, str]] = set()
    for rule in rules:
        names = list(rule.key)
        if rule.unit is not None:
            names += names_of(rule.unit.column)
            there, keys = rule.unit.references or (rule.name, rule.unit.column)
            needed |= {(there, fold(key)) for key in names_of(keys)}
        elif not rule.public:
            names += names_of(unit.held_in(rule.name)[1])
        needed |= {(rule.name, fold(name)) for name in names}
    completed = []
    for rule in rules:
        table = tables[rule.name]
        if table.csv is not None:
            rule = replace(rule, csv=table.csv, columns=tuple(_typed(rule, table, needed)))
        completed.append(replace(rule, files=table.files))
    return tuple(completed)


def _typed(rule: TableRule, table: FoundTable, needed: set[tuple[str, str]]) -> list[ColumnRule]:
    """Return the columns in the file's order; hidden ones, without a type, only if there is no header."""
    assert table.csv is not None
    rules = {fold(column.name): column for column in rule.columns}
    columns = []
    for column in table.columns:
        column_rule = rules.get(fold(column.name))
        if column_rule is None and (rule.public or (rule.name, fold(column.name)) in needed):
            column_rule = ColumnRule(column.name, 0)
        if column_rule is not None:
            columns.append(replace(column_rule, type=column.sql))
        elif not table.csv.header:
            columns.append(ColumnRule(column.name, 0))
    return columns
