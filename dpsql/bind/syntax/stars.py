"""Stars written out: the columns they stand for, less EXCLUDE, with REPLACE and RENAME.

SELECT * EXCLUDE (born) REPLACE (age // 10 AS age) RENAME (ward AS unit) FROM patients p

SELECT p.patient_id, p.age // 10 AS age, p.sex, p.ward AS unit, ... FROM patients p

Nothing here knows private rows from others: what comes out is bound like any other select list, so a
column that is called like the unit is still what it was made from.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from dpsql.errors import Error, refuse
from dpsql.parse.spans import span_of


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A column of FROM: its table's name there, its own, and how a plain star writes it.

    A ``merged`` one (the right side's of USING) is shown by ``t.*`` only.
    """

    table: str
    name: str
    written: exp.Expr
    merged: bool = False

    @property
    def qualified(self) -> exp.Expr:
        return exp.column(self.name, self.table or None, quoted=True)

    def called(self, node: exp.Expr) -> bool:
        """Whether ``name`` or ``table.name`` means this column."""
        table = node.table if isinstance(node, exp.Column) else ""
        return self.name.casefold() == node.name.casefold() and (
            not table or table.casefold() == self.table.casefold()
        )


def is_star(node: exp.Expr) -> bool:
    return isinstance(node.this if isinstance(node, exp.Column) else node, exp.Star)


def starless(nodes: Sequence[exp.Expr], columns: Sequence[Shown], text: str) -> list[exp.Expr]:
    """The select list with its stars written out; anything else as it is."""
    return [
        each for node in nodes for each in (_columns_of(node, columns, text) if is_star(node) else (node,))
    ]


def _columns_of(node: exp.Expr, columns: Sequence[Shown], text: str) -> list[exp.Expr]:
    star = node.this if isinstance(node, exp.Column) else node
    table = node.table if isinstance(node, exp.Column) else ""
    meant = [each for each in columns if not table or each.table.casefold() == table.casefold()]
    if table and not meant:
        raise refuse(
            "D201",
            f"there is no table {table} in this FROM",
            span_of(node, text),
            help=f"the tables here are {', '.join(dict.fromkeys(each.table for each in columns))}",
        )
    if any(value for key, value in star.args.items() if key not in ("except_", "replace", "rename")):
        raise refuse("D105", "a star with a pattern is not answered", span_of(node, text), help=_WRITE_OUT)
    out = [_named(each) for each in star.args.get("except_") or ()]
    swapped = [(exp.column(each.alias), each.this) for each in star.args.get("replace") or ()]
    renamed = [(each.this, each.alias) for each in star.args.get("rename") or ()]
    for each, what in (
        *((each, "EXCLUDE") for each in out),
        *((each, "REPLACE") for each, _ in swapped),
        *((each, "RENAME") for each, _ in renamed),
    ):
        found = [column for column in meant if column.called(each)]
        if not found:
            raise _unknown(each, what, meant, node, text)
        if what == "REPLACE" and sum(not column.merged for column in found) > 1:
            raise refuse(
                "D203",
                f"{each.name} could be more than one column",
                span_of(node, text),
                help="REPLACE a column of one table: t.* REPLACE (...)",
            )
    _refuse_twice([*out, *(each for each, _ in swapped), *(each for each, _ in renamed)], node, text)
    written: list[exp.Expr] = []
    for column in meant:
        if (column.merged and not table) or any(column.called(each) for each in out):
            continue
        plain = column.qualified if table else column.written.copy()
        new = next((value for each, value in swapped if column.called(each)), None)
        name = next((value for each, value in renamed if column.called(each)), None)
        if new is not None:
            plain = exp.alias_(new.copy(), column.name, quoted=True)
        elif name is not None:
            plain = exp.alias_(plain, name, quoted=True)
        written.append(plain)
    if not written:
        raise refuse(
            "D202", "nothing is left of this star", span_of(node, text), help="leave a column in, or name one"
        )
    return written


_WRITE_OUT = "write the columns out: SELECT a, b; for several aggregates SUM(a), SUM(b)"


def _named(node: exp.Expr) -> exp.Expr:
    return node if isinstance(node, exp.Column) else exp.column(node.name)


def _unknown(node: exp.Expr, what: str, columns: Sequence[Shown], star: exp.Expr, text: str) -> Error:
    names = {each.name.casefold(): each.name for each in columns}
    close = difflib.get_close_matches(node.name.casefold(), names, 1)
    return refuse(
        "D202",
        f"there is no column {node.name} to {what}",
        span_of(node, text) or span_of(star, text),
        help=f"did you mean {names[close[0]]}?" if close else f"the columns are {', '.join(names.values())}",
    )


def _refuse_twice(nodes: list[exp.Expr], star: exp.Expr, text: str) -> None:
    seen: set[tuple[str, str]] = set()
    for node in nodes:
        key = node.name.casefold(), node.table.casefold() if isinstance(node, exp.Column) else ""
        if key in seen:
            raise refuse(
                "D203",
                f"{node.name} is named twice behind this star",
                span_of(node, text) or span_of(star, text),
                help="EXCLUDE, REPLACE or RENAME a column, and once only",
            )
        seen.add(key)
