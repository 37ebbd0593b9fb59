"""Expand stars to their columns, with EXCLUDE, REPLACE and RENAME applied.

SELECT * EXCLUDE (born) REPLACE (age // 10 AS age) RENAME (ward AS unit) FROM patients p

SELECT p.patient_id, p.age // 10 AS age, p.sex, p.ward AS unit, ... FROM patients p

This is the same for private and public rows: the result is bound like any other select list, so renaming a
column to the name of the unit does not make it the unit.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dpsql.errors import Error, refuse
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.spans import span_of
from dpsql.policy.names import nearest


@dataclass(frozen=True, slots=True, eq=False)
class StarColumn:
    """A column of FROM: its table, its name, and the expression that a plain star puts for it.

    A ``merged`` column (of the right side of USING) is only in ``t.*``.
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


def expand_stars(nodes: Sequence[exp.Expr], columns: Sequence[StarColumn], text: str) -> list[exp.Expr]:
    """Return the select list with its stars expanded."""
    return [
        output
        for node in nodes
        for output in (_columns_of(node, columns, text) if is_star(node) else (node,))
    ]


def _columns_of(node: exp.Expr, columns: Sequence[StarColumn], text: str) -> list[exp.Expr]:
    """Return the columns of one star."""
    star = node.this if isinstance(node, exp.Column) else node
    table = node.table if isinstance(node, exp.Column) else ""
    in_table = [column for column in columns if not table or column.table.casefold() == table.casefold()]
    if table and not in_table:
        raise refuse(
            "D201",
            f"there is no table {table} in this FROM",
            span_of(node, text),
            help=f"the tables here are {', '.join(dict.fromkeys(column.table for column in columns))}",
        )
    if any(value for key, value in star.args.items() if key not in ("except_", "replace", "rename")):
        raise refuse("D105", "a star with a pattern is not answered", span_of(node, text), help=_WRITE_OUT)
    excluded = [_named(node) for node in star.args.get("except_") or ()]
    replaced = [
        (exp.column(replacement.alias), replacement.this) for replacement in star.args.get("replace") or ()
    ]
    renamed = [(rename.this, rename.alias) for rename in star.args.get("rename") or ()]
    for named, keyword in (
        *((named, "EXCLUDE") for named in excluded),
        *((named, "REPLACE") for named, _ in replaced),
        *((named, "RENAME") for named, _ in renamed),
    ):
        matches = [column for column in in_table if column.called(named)]
        if not matches:
            raise _unknown(named, keyword, in_table, node, text)
        if keyword == "REPLACE" and sum(not column.merged for column in matches) > 1:
            raise refuse(
                "D203",
                f"{named.name} is ambiguous: more than one column has this name",
                span_of(node, text),
                help="REPLACE a column of one table: t.* REPLACE (...)",
            )
    _refuse_twice(
        [*excluded, *(named for named, _ in replaced), *(named for named, _ in renamed)], node, text
    )
    outputs: list[exp.Expr] = []
    for column in in_table:
        if (column.merged and not table) or any(column.called(named) for named in excluded):
            continue
        plain = column.qualified if table else column.written.copy()
        new = next((value for named, value in replaced if column.called(named)), None)
        name = next((value for named, value in renamed if column.called(named)), None)
        if new is not None:
            plain = exp.alias_(new.copy(), column.name, quoted=True)
        elif name is not None:
            plain = exp.alias_(plain, name, quoted=True)
        outputs.append(plain)
    if not outputs:
        raise refuse(
            "D202", "this star excludes all columns", span_of(node, text), help="keep at least one column"
        )
    return outputs


_WRITE_OUT = "write the columns out: SELECT a, b; for several aggregates SUM(a), SUM(b)"


def _named(node: exp.Expr) -> exp.Expr:
    return node if isinstance(node, exp.Column) else exp.column(node.name)


def _unknown(node: exp.Expr, keyword: str, columns: Sequence[StarColumn], star: exp.Expr, text: str) -> Error:
    names = list(dict.fromkeys(column.name for column in columns))
    close = nearest(node.name, names)
    return refuse(
        "D202",
        f"there is no column {node.name} to {keyword}",
        span_of(node, text) or span_of(star, text),
        help=f"did you mean {close}?" if close else f"the columns are {', '.join(names)}",
    )


def _refuse_twice(nodes: list[exp.Expr], star: exp.Expr, text: str) -> None:
    seen: set[tuple[str, str]] = set()
    for node in nodes:
        key = node.name.casefold(), node.table.casefold() if isinstance(node, exp.Column) else ""
        if key in seen:
            raise refuse(
                "D203",
                f"{node.name} is named twice in this star",
                span_of(node, text) or span_of(star, text),
                help="EXCLUDE, REPLACE or RENAME a column, and once only",
            )
        seen.add(key)
