"""Files as views: the SQL that reads a table's parquet or csv files.

    17,"Smith, Ann",2024-02-29      -> 17, Smith, Ann, 2024-02-29
    18,Bo,soon                      -> 18, Bo, NULL                    no such date
    19,C,2024-01-01,x               -> no row                          one field too many

Claim   the rows of csv files are a function of each line alone: a line never fails, and never changes what
        becomes of another one.
Proof   DuckDB reads a column of whole lines. The mark between columns is the line break itself, and there
        are no quotes, so that no byte of a line has a meaning; a line that is not UTF-8 is skipped, and so
        is one above a megabyte, well below the length from which DuckDB skips some itself (empty lines
        before a line count as part of it: two megabytes of nothing else take that line with them). The end
        of a line is told, \\n, so that \\r and \\n both end one; where DuckDB finds out itself that it is
        \\r\\n, a lone \\r takes the next line's first letter. What stands in a line is taken apart by total
        functions, and a value is cast with TRY_CAST.
Test    tests/cli/test_csv_lines.py

So quotes are understood within a line, and a line break always ends a row. DuckDB's own quotes do not end
there: one that is never closed would swallow everybody who follows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from dpsql.engines.identifiers import quote, text
from dpsql.policy.model import CsvRule

LONGEST = 10**6
"""Bytes of a line; what is longer is no row."""

INSIDE = 10_000
"""Marks of a line that stand between quotes; with more it is no row. It would take apart into too many."""

PUSHING = ("join_filter_pushdown", "top_n", "row_group_pruner", "partitioned_execution")
"""Optimizers that make the reader choose rows by statistics: for the keys that a join has met, for what
a LIMIT has found so far (two of them), for a range of a group's keys."""

_GROUPED = r" *[-+]?[0-9]{1,3}(\.[0-9]{3})+(,[0-9]*)? *"
_PLAIN = ("BOOLEAN", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "UUID")
"""Types that are no numbers."""

Typed = tuple[int, str, str]
"""A column of a csv file: its place in the line, its name, its type."""


def parquet_sql(paths: Sequence[Path], columns: Sequence[str]) -> str:
    """Files of one schema, of which every row is read, whatever is asked.

    Claim   what is read of a row is a function of its own pages' values, and of no statistics, but that a
            column of a row group is said to be NULL throughout.
    Proof   the reader skips rows for a condition that reaches it, by the least and greatest values of what
            lies around them, and for nothing else. A condition may not pass a row number, which it would
            change. The optimizer places conditions first and leaves out the number after that, since nobody
            looks at it, so that only the skipping is lost. What places conditions later is PUSHING, and off.
    Test    grammar_tests/test_folders.py::test_no_condition_reaches_the_reader_of_a_file, and
            grammar_tests/layouts

    DuckDB 2.0 takes all rows of a page that holds 'pill' and NULL for NULL, until somebody there has 'drip'.
    """
    listed = ", ".join(map(quote, columns))
    return f"SELECT {listed} FROM (SELECT *, row_number() OVER () FROM {parquet_files(paths)})"


def parquet_files(paths: Sequence[Path]) -> str:
    """The call of the reader; NaN is in no statistics, should it ever look at them."""
    told = "hive_partitioning = false, union_by_name = false, can_have_nan = true"
    return f"read_parquet({_paths(paths)}, {told})"


def csv_sql(paths: Sequence[Path], rule: CsvRule, width: int, columns: Sequence[Typed]) -> str:
    """Some columns of lines with ``width`` fields."""
    listed = ", ".join(f"{_value(place, type_, rule)} AS {quote(name)}" for place, name, type_ in columns)
    mark = text(rule.delim)
    marks = f"length(line) - length(replace(line, {mark}, ''))"
    few = f"strlen(line) <= {INSIDE} OR {marks} < {width + INSIDE}"
    lines = f"{lines_sql(paths, rule)} AND strlen(line) <= {LONGEST} AND ({few})"
    return f"SELECT {listed} FROM (SELECT {_fields(rule)} AS f FROM ({lines})) WHERE len(f) = {width}"


def lines_sql(paths: Sequence[Path], rule: CsvRule) -> str:
    """Everything between line breaks that is text and not empty, as a column ``line``."""
    return (
        f"SELECT line FROM read_csv({_paths(paths)}, columns = {{'line': 'VARCHAR'}}, "
        f"header = {str(rule.header).lower()}, auto_detect = false, delim = E'\\n', quote = '', escape = '', "
        "comment = '', nullstr = E'\\x1f\\x1e', strict_mode = false, ignore_errors = true, "
        "null_padding = false, new_line = '\\n', max_line_size = 2097152) WHERE line <> ''"
    )


def fields_of(line: str, rule: CsvRule) -> tuple[str, ...]:
    """A line taken apart as ``csv_sql`` does it: for the names of columns."""
    found = re.findall(_pattern(rule, re.escape), rule.delim + line)
    mark = rule.quote
    quoted = [bool(mark) and len(each) > 1 and each[0] == each[-1] == mark for each in found]
    return tuple(
        each[1:-1].replace(mark * 2, mark) if cut else each for each, cut in zip(found, quoted, strict=True)
    )


def _fields(rule: CsvRule) -> str:
    """The list of a line's fields, quotes and all."""
    plain = f"string_split(line, {text(rule.delim)})"
    if not rule.quote:
        return plain
    apart = f"regexp_extract_all({text(rule.delim)} || line, {text(_pattern(rule, _in_re2))}, 1)"
    return f"CASE WHEN contains(line, {text(rule.quote)}) THEN {apart} ELSE {plain} END"


def _pattern(rule: CsvRule, spelled: Callable[[str], str]) -> str:
    """A mark and the field behind it: quoted from end to end, else up to the next mark."""
    mark, quoted = spelled(rule.delim), spelled(rule.quote)
    plain = f"[^{mark}]*"
    return (
        f"{mark}({quoted}(?:[^{quoted}]|{quoted}{quoted})*{quoted}|{plain})" if quoted else f"{mark}({plain})"
    )


def _in_re2(mark: str) -> str:
    return f"\\x{{{ord(mark):x}}}" if mark else ""


def _value(place: int, type_: str, rule: CsvRule) -> str:
    """A field as a value of its type, NULL where it is none."""
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
    """``1.234,50`` -> ``1234.50``; NULL where a point stands elsewhere than before three digits."""
    bare = f"replace(replace({field}, '.', ''), ',', '.')"
    grouped = f"regexp_full_match({field}, {text(_GROUPED)})"
    return (
        f"CASE WHEN {grouped} THEN {bare} WHEN NOT contains({field}, '.') THEN replace({field}, ',', '.') END"
    )


def _paths(paths: Sequence[Path]) -> str:
    return f"[{', '.join(text(str(path)) for path in paths)}]"
