"""Functions of a timestamp that depend only on its day: midnights give all their values.

date_trunc('month', seen_at)    year(seen_at)    CAST(seen_at AS DATE)    strftime(seen_at, '%Y-%m')
"""

from __future__ import annotations

import re

from dpsql.functions.time.periods import part_name
from dpsql.ir.column import Kind
from dpsql.ir.scalar import Call, Literal, Scalar

_PARTS = frozenset(
    """
    year quarter month week day dayofweek isodow dayofyear isoyear yearweek decade century millennium
    dayname monthname last_day
    """.split()
)
_UNITS = frozenset("day week month quarter year decade century millennium isoyear".split())
_FORMAT = re.compile(r"([^%]|%-?[aAwdbBmyYjUWuVG]|%%)*")


def day_argument(call: Call) -> Scalar | None:
    """Return the argument that the call reads only the day of, or None."""
    match call:
        case Call(name, (moment,)) if name in _PARTS:
            return moment
        case Call("cast", (moment,), type) if type is not None and type.kind is Kind.DATE:
            return moment
        case Call("date_trunc", (Literal(str(unit)), moment)) if part_name(unit) in _UNITS:
            return moment
        case Call("strftime", (moment, Literal(str(pattern)))) if _FORMAT.fullmatch(pattern):
            return moment
        case _:
            return None
