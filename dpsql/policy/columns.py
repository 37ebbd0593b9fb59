"""Columns of the policy: each with a range, a list of values, a length, or none of them.

born = { range = [1900-01-01, 2030-12-31] }      two numbers, or two of TOML's dates of one kind
ward = { values = ["A", "B", "C"] }              strings, numbers, booleans or dates, of one kind
url = { length = 200 }                           texts of about so many characters at most, or lists of items
note = { }                                       exists; can be counted and grouped
cost = { type = "DOUBLE", range = [0, 9] }       csv file only: the type of its text; other text is NULL
"""

from __future__ import annotations

import datetime
import math

from dpsql.ir.column import Value
from dpsql.policy.files import read_type
from dpsql.policy.model import Bound, ColumnRule
from dpsql.policy.toml_keys import COLUMN
from dpsql.policy.toml_section import Section, as_float, family, is_number, sort_of
from dpsql.policy.toml_values import optional, regular_values

MOST_VALUES = 10_000


def read_columns(section: Section) -> tuple[ColumnRule, ...]:
    """Read all columns of a table."""
    section.distinct()
    rules = []
    for name, value in section.values.items():
        if not isinstance(value, dict):
            raise section.wrong(
                name,
                f"{name} must be a table",
                label=f"this is {sort_of(value)}",
                help=f"{name} = {{ range = [0, 120] }}, or {{ values = [...] }}, or {{ }}",
            )
        column = section.table(name)
        column.allow(COLUMN)
        if "range" in column.values and "values" in column.values:
            raise section.wrong(name, "a column has a range or a list of values, not both")
        if "length" in column.values and "values" in column.values:
            raise section.wrong(name, "a list of values says their lengths: a column has one of both")
        rules.append(
            ColumnRule(
                name,
                section.line(name),
                range=optional(column, COLUMN["range"], _range),
                values=optional(column, COLUMN["values"], _values),
                type=optional(column, COLUMN["type"], read_type),
                **regular_values(column, COLUMN),
            )
        )
    return tuple(rules)


def _range(section: Section) -> tuple[Bound, Bound]:
    ends = section.values["range"]
    if not isinstance(ends, list) or len(ends) != 2:
        raise section.wrong(
            "range", "a range is a list of two ends, the lower one first", help="range = [0, 120]"
        )
    for index, end in enumerate(ends):
        if is_number(end) and not math.isfinite(as_float(end)):
            raise section.wrong("range", "the ends of a range must be finite", at=index)
        if not is_number(end) and not isinstance(end, datetime.date):
            raise section.wrong(
                "range",
                "the ends of a range must be numbers or dates",
                at=index,
                label=f"this is {sort_of(end)}",
            )
    low, high = ends
    if family(low) != family(high):
        raise section.wrong(
            "range", "the ends of a range must be of one kind", label=f"{sort_of(low)} and {sort_of(high)}"
        )
    if not low <= high:
        raise section.wrong("range", "this range is empty: its ends are the wrong way round")
    return low, high


def _values(section: Section) -> tuple[Value, ...]:
    listed = section.values["values"]
    if not isinstance(listed, list) or not listed:
        raise section.wrong("values", "values must be a list that is not empty", help='values = ["A", "B"]')
    if len(listed) > MOST_VALUES:
        raise section.wrong(
            "values", f"a list holds at most {MOST_VALUES:,} values", label=f"{len(listed):,} here"
        )
    seen: set[object] = set()
    for index, value in enumerate(listed):
        if family(value) not in ("string", "number", "boolean", "date"):
            raise section.wrong(
                "values",
                "values must be strings, numbers, booleans or dates",
                at=index,
                label=f"this is {sort_of(value)}",
            )
        if is_number(value) and not math.isfinite(as_float(value)):
            raise section.wrong("values", "values must be finite", at=index)
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
