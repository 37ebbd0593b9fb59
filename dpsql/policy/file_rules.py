"""What a new policy says of files: the lines of its text, and the rules of tables that were found in files.

files = "visits/*.parquet"            where the table's name does not tell
csv = { delim = ";" }                 where lines are not written as usual
age = { type = "INTEGER" }            of every column of a csv file that anything needs
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dpsql.policy.catalogue import FoundTable
from dpsql.policy.model import ColumnRule, TableRule, UnitRule
from dpsql.policy.names import fold
from dpsql.policy.toml_keys import TABLE
from dpsql.policy.toml_lines import line


def file_lines(table: FoundTable | TableRule) -> list[str]:
    """Which files, and how they are written, where that is not as usual."""
    return [*line(TABLE["files"], table.files), *line(TABLE["csv"], table.csv)]


def with_files(
    rules: tuple[TableRule, ...], tables: Mapping[str, FoundTable], unit: UnitRule
) -> tuple[TableRule, ...]:
    """The same rules, with files and with types of the columns that they need."""
    needed: set[tuple[str, str]] = {(unit.table, unit.key)}
    for rule in rules:
        needed |= {(rule.name, name) for name in rule.key}
        if rule.unit is not None:
            needed |= {
                (rule.name, rule.unit.column),
                *([rule.unit.references] if rule.unit.references else []),
            }
    made = []
    for rule in rules:
        table = tables[rule.name]
        if table.csv is not None:
            rule = replace(rule, csv=table.csv, columns=tuple(_typed(rule, table, needed)))
        made.append(replace(rule, files=table.files))
    return tuple(made)


def _typed(rule: TableRule, table: FoundTable, needed: set[tuple[str, str]]) -> list[ColumnRule]:
    """Columns in the file's order; one that is hidden has no type, and is listed where places count."""
    assert table.csv is not None
    rules = {fold(each.name): each for each in rule.columns}
    found = []
    for column in table.columns:
        said = rules.get(fold(column.name))
        if said is None and (rule.public or (rule.name, column.name) in needed):
            said = ColumnRule(column.name, 0)
        if said is not None:
            found.append(replace(said, type=column.sql))
        elif not table.csv.header:
            found.append(ColumnRule(column.name, 0))
    return found
