"""Ranges and lists that the database's own CHECKs declare: proposals for a policy, which is what counts.

    CHECK (age BETWEEN 0 AND 120)             age = { range = [0, 120] }
    CHECK (cost >= 0 AND cost < 500)          cost = { range = [0, 500] }
    CHECK (kind IN ('checkup', 'surgery'))    kind = { values = ["checkup", "surgery"] }

A condition that is joined by OR, or that names more than one column, proposes nothing.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator

import sqlglot
from sqlglot import exp

from dpsql.ir.column import Kind
from dpsql.policy.catalogue import FoundColumn, FoundTable
from dpsql.policy.columns import MOST_VALUES
from dpsql.policy.domain import Mismatch, categories_of, interval_of
from dpsql.policy.model import Bound, ColumnRule
from dpsql.policy.names import fold
from dpsql.policy.resolve import type_of

_LOW, _HIGH = (exp.GT, exp.GTE), (exp.LT, exp.LTE)


def proposed(table: FoundTable) -> dict[str, ColumnRule]:
    """Return the columns that checks declare a range or a list of, with their rules."""
    columns = {fold(column.name): column for column in table.columns}
    ends: dict[str, list[Bound | None]] = {}
    rules: dict[str, ColumnRule] = {}
    for part in (part for text in table.checks for part in _parts(text)):
        named = _column_of(part)
        column = columns.get(fold(named)) if named is not None else None
        if column is None:
            continue
        if isinstance(part, exp.In):
            values = tuple(each.this for each in part.expressions if isinstance(each, exp.Literal))
            if 0 < len(values) == len(part.expressions) <= MOST_VALUES and part.args.get("query") is None:
                rules[column.name] = ColumnRule(column.name, 0, values=values)
            continue
        low, high = _ends(part)
        known = ends.setdefault(column.name, [None, None])
        known[0] = low if known[0] is None else known[0]
        known[1] = high if known[1] is None else known[1]
    for name, (low, high) in ends.items():
        if low is not None and high is not None:
            rules.setdefault(name, ColumnRule(name, 0, range=(low, high)))
    return {name: rule for name, rule in rules.items() if _fits(columns[fold(name)], rule)}


def _parts(text: str) -> Iterator[exp.Expr]:
    """Yield the conditions that a check joins by AND."""
    try:
        tree = sqlglot.parse_one(text, dialect="duckdb")
    except sqlglot.errors.SqlglotError:
        return
    waiting = [tree.unnest()]
    while waiting:
        part = waiting.pop()
        if isinstance(part, exp.And):
            waiting += [part.right.unnest(), part.left.unnest()]
        else:
            yield part


def _column_of(part: exp.Expr) -> str | None:
    """Return the only column of a condition, which stands alone on one side of it."""
    sides = [part.this, *([part.expression] if isinstance(part, exp.Binary) else [])]
    names = [side.name for side in sides if isinstance(side, exp.Column)]
    return names[0] if len(names) == 1 and len(list(part.find_all(exp.Column))) == 1 else None


def _ends(part: exp.Expr) -> tuple[Bound | None, Bound | None]:
    match part:
        case exp.Between():
            return _constant(part.args["low"]), _constant(part.args["high"])
        case exp.GT() | exp.GTE() | exp.LT() | exp.LTE():
            column_first = isinstance(part.this, exp.Column)
            value = _constant(part.expression if column_first else part.this)
            return (value, None) if isinstance(part, _LOW) == column_first else (None, value)
        case _:
            return None, None


def _constant(tree: exp.Expr) -> Bound | None:
    """Read a number or a day; None if it is anything else."""
    match tree:
        case exp.Paren():
            return _constant(tree.unnest())
        case exp.Neg():
            value = _constant(tree.this)
            return -value if isinstance(value, int | float) else None
        case exp.Literal(is_string=False):
            return int(tree.this) if tree.is_int else float(tree.this)
        case exp.Cast(this=exp.Literal(is_string=True) as text):
            try:
                return datetime.date.fromisoformat(text.this)
            except ValueError:
                return None
        case exp.Cast():
            return _constant(tree.this)
        case _:
            return None


def _fits(column: FoundColumn, rule: ColumnRule) -> bool:
    """Whether a policy may say so of this column."""
    its = type_of(column)
    try:
        if rule.range is not None:
            interval_of(its, rule.range, "UTC")
            return its.kind in (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.DATE)
        categories_of(its, rule.values or ())
        return its.kind is Kind.TEXT
    except Mismatch:
        return False
