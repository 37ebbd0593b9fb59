"""Files as views: the SQL that reads a table's parquet or csv files.

    17,"Smith, Ann",2024-02-29      -> 17, Smith, Ann, 2024-02-29
    18,Bo,soon                      -> 18, Bo, NULL                    no such date
    19,C,2024-01-01,x               -> no row                          one field too many

Claim   the row of a csv line is a function of that line alone: no line fails, and no line changes the row of
        another one.
Proof   DuckDB reads the file as one column of whole lines. The delimiter between columns is the line break
        itself, and there is no quote character, so no byte of a line has a special meaning. A line that is
        not UTF-8 is skipped. So is a line above one megabyte, well below the length at which DuckDB itself
        skips lines (empty lines before a line count as part of it: after two megabytes of empty lines the
        next line is lost). The line break is set to \\n, so that both \\r and \\n end a line; if DuckDB
        detects \\r\\n itself, a lone \\r swallows the first letter of the next line. Total functions split a
        line into fields, and TRY_CAST casts the values.
Test    tests/cli/test_csv_lines.py

So quotes work within a line, and a line break always ends a row. With DuckDB's own quotes, a quote that is
never closed would swallow the rows of all units that follow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from dpsql.engines.identifiers import quote, text
from dpsql.policy.model import CsvRule

LONGEST = 10**6
"""Most bytes of a line; a longer line gives no row."""

INSIDE = 10_000
"""Most delimiters within quotes in a line; a line with more would split into too many fields: no row."""

PUSHING = ("join_filter_pushdown", "top_n", "row_group_pruner", "partitioned_execution")
"""Optimizers that make the reader skip rows by statistics: for the keys of a join, for the rows that a LIMIT
has so far (two of them), for a range of group keys."""

_GROUPED = r" *[-+]?[0-9]{1,3}(\.[0-9]{3})+(,[0-9]*)? *"
_PLAIN = ("BOOLEAN", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "UUID")
"""Types that are not numbers."""

Typed = tuple[int, str, str]
"""A column of a csv file: its place in the line, its name, its type."""


def parquet_sql(paths: Sequence[Path], columns: Sequence[str]) -> str:
    """Print a SELECT over parquet files of one schema that reads every row, whatever the query's conditions.

    Claim   the values read for a row are a function of the values in its own pages, and of no statistics,
            except the statement that a column is NULL throughout a row group.
    Proof   The reader skips rows only for a condition that is pushed down to it, by the minimum and maximum
            of the surrounding values. A condition cannot be pushed past row_number(), whose result it would
            change. The optimizer pushes conditions first, and removes the unused row number after that, so
            only the skipping is lost. The optimizers that push conditions later are PUSHING; they are off.
    Test    grammar_tests/test_folders.py::test_no_condition_reaches_the_reader_of_a_file, and
            grammar_tests/layouts

    Why: DuckDB 2.0 reads all rows of a page with 'pill' and NULL as NULL, unless one of them is 'drip'.
    """
    names = ", ".join(map(quote, columns))
    return f"SELECT {names} FROM (SELECT *, row_number() OVER () FROM {parquet_files(paths)})"


def parquet_files(paths: Sequence[Path]) -> str:
    """Print the call of the reader; statistics do not include NaN, in case it uses them."""
    options = "hive_partitioning = false, union_by_name = false, can_have_nan = true"
    return f"read_parquet({_paths(paths)}, {options})"


def csv_sql(paths: Sequence[Path], rule: CsvRule, width: int, columns: Sequence[Typed]) -> str:
    """Print a SELECT of some columns of the lines with ``width`` fields."""
    listed = ", ".join(f"{_value(place, type_, rule)} AS {quote(name)}" for place, name, type_ in columns)
    mark = text(rule.delim)
    marks = f"length(line) - length(replace(line, {mark}, ''))"
    few = f"strlen(line) <= {INSIDE} OR {marks} < {width + INSIDE}"
    lines = f"{lines_sql(paths, rule)} AND strlen(line) <= {LONGEST} AND ({few})"
    return f"SELECT {listed} FROM (SELECT {_fields(rule)} AS f FROM ({lines})) WHERE len(f) = {width}"


def lines_sql(paths: Sequence[Path], rule: CsvRule) -> str:
    """Print a SELECT of all lines that are UTF-8 and not empty, as a column ``line``."""
    return (
        f"SELECT line FROM read_csv({_paths(paths)}, columns = {{'line': 'VARCHAR'}}, "
        f"header = {str(rule.header).lower()}, auto_detect = false, delim = E'\\n', quote = '', escape = '', "
        "comment = '', nullstr = E'\\x1f\\x1e', strict_mode = false, ignore_errors = true, "
        "null_padding = false, new_line = '\\n', max_line_size = 2097152, "
        "hive_partitioning = false) WHERE line <> ''"
    )


def fields_of(line: str, rule: CsvRule) -> tuple[str, ...]:
    """Split a line as ``csv_sql`` does, for the names of columns."""
    fields = re.findall(_pattern(rule, re.escape), rule.delim + line)
    mark = rule.quote
    quoted = [bool(mark) and len(field) > 1 and field[0] == field[-1] == mark for field in fields]
    return tuple(
        field[1:-1].replace(mark * 2, mark) if cut else field
        for field, cut in zip(fields, quoted, strict=True)
    )


def _fields(rule: CsvRule) -> str:
    """Print the list of a line's fields, with their quotes."""
    plain = f"string_split(line, {text(rule.delim)})"
    if not rule.quote:
        return plain
    apart = f"regexp_extract_all({text(rule.delim)} || line, {text(_pattern(rule, _in_re2))}, 1)"
    return f"CASE WHEN contains(line, {text(rule.quote)}) THEN {apart} ELSE {plain} END"


def _pattern(rule: CsvRule, spelled: Callable[[str], str]) -> str:
    """Return the pattern of a delimiter and its field: fully quoted, or up to the next delimiter."""
    mark, quoted = spelled(rule.delim), spelled(rule.quote)
    plain = f"[^{mark}]*"
    return (
        f"{mark}({quoted}(?:[^{quoted}]|{quoted}{quoted})*{quoted}|{plain})" if quoted else f"{mark}({plain})"
    )


def _in_re2(mark: str) -> str:
    return f"\\x{{{ord(mark):x}}}" if mark else ""


def _value(place: int, type_: str, rule: CsvRule) -> str:
    """Print a field as a value of its type, NULL if it is not one."""
    field = f"f[{place + 1}]"
    if rule.quote:
        mark = text(rule.quote)
        inner = f"replace(substring({field}, 2, length({field}) - 2), {text(rule.quote * 2)}, {mark})"
        closed = f"length({field}) > 1 AND starts_with({field}, {mark}) AND ends_with({field}, {mark})"
        field = f"CASE WHEN {closed} THEN {inner} ELSE {field} END"
    field = f"nullif({field}, {text(rule.nullstr)})"
    if type_ == "VARCHAR":
        return field
    if type_ == "DATE" and rule.dateformat:
        return f"CAST(try_strptime({field}, {text(rule.dateformat)}) AS DATE)"
    if rule.decimal == "," and type_ not in _PLAIN:
        return f"TRY_CAST({_pointed(field)} AS {type_})"
    return f"TRY_CAST({field} AS {type_})"


def _pointed(field: str) -> str:
    """Print ``1.234,50`` -> ``1234.50``; NULL if a point is not followed by three digits."""
    bare = f"replace(replace({field}, '.', ''), ',', '.')"
    grouped = f"regexp_full_match({field}, {text(_GROUPED)})"
    return (
        f"CASE WHEN {grouped} THEN {bare} WHEN NOT contains({field}, '.') THEN replace({field}, ',', '.') END"
    )


def _paths(paths: Sequence[Path]) -> str:
    return f"[{', '.join(text(str(path)) for path in paths)}]"
