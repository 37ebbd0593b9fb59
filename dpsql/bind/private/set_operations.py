"""UNION, INTERSECT and EXCEPT of private rows, with the unit in the same position on both sides.

SELECT patient_id, kind FROM visits EXCEPT SELECT patient_id, 'checkup' FROM patients

EXCEPT is the distinct rows of the left, anti-joined with the right on all columns and so on the unit.

UNION ALL merges no rows, so no side has to select the unit: the hidden unit columns of both are carried
along, and each row belongs to the unit that it had. If one side selects the unit, the other must too. A unit
of several columns is always carried: rows are merged and compared with it, and both sides select its columns,
in the same positions, so that rows with equal columns have equal units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from sqlglot import exp

from dpsql.bind.private.joins import all_of, check_rows, join
from dpsql.bind.private.projection import distinct_rows, refuse_ungroupable
from dpsql.bind.scope.context import Context
from dpsql.bind.scope.scope import Scope, Visible
from dpsql.bind.scope.sources import Private
from dpsql.errors import refuse
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import facts_of
from dpsql.functions import Argument, ArgumentError
from dpsql.functions.core.types import common_type
from dpsql.ir.column import Fact, Type
from dpsql.ir.relation import JoinKind, Named, Project, Relation, Union, Window, WindowCall
from dpsql.ir.scalar import Call, Ref, Scalar


def set_of_rows(ctx: Context, node: exp.SetOperation, left: Private, right: Private) -> Private:
    """Return the rows of a set operation, with the column names of the left side."""
    names, hidden, sides = _align(ctx, node, left, right)
    visible = tuple(
        Visible("", column.name, Ref(name)) for column, name in zip(left.scope.starred, names, strict=True)
    )
    scope = Scope(visible)
    rows: Relation
    if isinstance(node, exp.Union):
        rows = Union(*sides)
        check_rows(rows, ctx.span(node), ctx.known.unit, "UNION ALL")
        if node.args.get("distinct"):
            rows, scope = distinct_rows(ctx, node, rows, names, scope, hidden)
        return Private(rows, scope)
    kind = JoinKind.SEMI if isinstance(node, exp.Intersect) else JoinKind.ANTI
    first, second = sides
    parts: list[Scalar] = []
    if node.args.get("distinct"):
        rows, scope = distinct_rows(ctx, node, first, names, scope, hidden)
        names = [ref.name for column in scope.columns if isinstance(ref := column.scalar, Ref)]
    else:  # join the n-th of equal rows with the n-th of equal rows
        rows, number = _numbered(ctx, node, first, names, hidden)
    right_names = [ctx.fresh(name) for name in names]
    renamed = {old: ctx.fresh("unit") if old == hidden else "" for old in facts_of(second)}
    listed = iter(right_names)
    right_rows: Relation = Project(
        second, tuple(Named(new or next(listed), Ref(old)) for old, new in renamed.items())
    )
    if not node.args.get("distinct"):
        right_rows, right_number = _numbered(
            ctx, node, right_rows, right_names, None if hidden is None else renamed[hidden]
        )
        parts.append(Call("=", (Ref(number), Ref(right_number))))
    owned, their_owned = ownership_of(rows), ownership_of(right_rows)
    assert isinstance(owned, Owned)
    assert isinstance(their_owned, Owned)
    if hidden is not None:
        parts.append(Call("=", (Ref(owned.unit), Ref(their_owned.unit))))
    for name, right_name in zip(names, right_names, strict=True):
        same = "=" if name in owned.units and right_name in their_owned.units else "is_not_distinct_from"
        parts.append(Call(same, (Ref(name), Ref(right_name))))
    return Private(join(kind, rows, right_rows, all_of(parts), ctx.span(node), ctx.known.unit), scope)


def _numbered(
    ctx: Context, node: exp.SetOperation, relation: Relation, names: list[str], hidden: str | None
) -> tuple[Relation, str]:
    """Add a column that numbers equal rows from one; return its name too."""
    refuse_ungroupable(ctx, node, relation, names)
    number, unit = ctx.fresh("number"), () if hidden is None else (hidden,)
    call = WindowCall(number, "row_number", (), tuple(Ref(name) for name in (*names, *unit)), ())
    return Window(relation, call), number


def _align(
    ctx: Context, node: exp.SetOperation, left: Private, right: Private
) -> tuple[list[str], str | None, list[Project]]:
    """Return both sides with the same column names and types, the unit among them, or hidden."""
    operation = type(node).__name__.upper()
    ours, theirs = ownership_of(left.relation), ownership_of(right.relation)
    assert isinstance(ours, Owned)
    assert isinstance(theirs, Owned)
    left_columns, right_columns = left.scope.starred, right.scope.starred
    if node.args.get("by_name"):
        by_name = {column.name.casefold(): column for column in right_columns}
        if {column.name.casefold() for column in left_columns} != by_name.keys():
            raise refuse(
                "D205",
                "the sides of UNION BY NAME have different columns",
                ctx.span(node.right),
                help="give both sides the same column names",
            )
        right_columns = tuple(by_name[column.name.casefold()] for column in left_columns)
    if len(left_columns) != len(right_columns):
        raise refuse(
            "D205",
            f"the sides of {operation} have different numbers of columns",
            ctx.span(node.right),
            help="select the same number of columns on both sides",
        )
    units = [_units_among(left_columns, ours), _units_among(right_columns, theirs)]
    merges = not isinstance(node, exp.Union) or node.args.get("distinct")
    spelled = _spelled_among(left_columns, ours) & _spelled_among(right_columns, theirs)
    carried = not any(units) and (not merges or bool(spelled))
    if not carried and not units[0] & units[1]:
        _refuse_without_unit(ctx, node, bool(merges))
    names = [ctx.fresh(column.name) for column in left_columns]
    hidden = ctx.fresh("unit") if carried else None
    sides = []
    for side, columns, owned in ((left, left_columns, ours), (right, right_columns, theirs)):
        listed = tuple(Named(name, column.scalar) for name, column in zip(names, columns, strict=True))
        unit = () if hidden is None else (Named(hidden, Ref(owned.unit)),)
        sides.append(Project(side.relation, (*listed, *unit)))
    first, second = (facts_of(side) for side in sides)
    for name, column in zip(names, left_columns, strict=True):
        if first[name].type == second[name].type:
            continue
        target = _common_type(first[name].type, second[name].type)
        if target is None:
            title = f"{column.name} has different types in {operation}"
            raise refuse("D205", title, ctx.span(node.right), help="CAST one side")
        sides = [_cast_column(side, name, target) for side in sides]
    return names, hidden, sides


def _spelled_among(columns: Sequence[Visible], owned: Owned) -> set[tuple[int, ...]]:
    """Return the positions of columns that together are the unit, in its order."""
    places = {column.scalar.name: i for i, column in enumerate(columns) if isinstance(column.scalar, Ref)}
    return {tuple(places[name] for name in names) for names in owned.spelled if set(names) <= places.keys()}


def _units_among(columns: Sequence[Visible], owned: Owned) -> set[int]:
    """Return the positions of the columns that hold the unit."""
    plain = (column.scalar for column in columns)
    return {i for i, scalar in enumerate(plain) if isinstance(scalar, Ref) and scalar.name in owned.units}


def _refuse_without_unit(ctx: Context, node: exp.SetOperation, merges: bool) -> NoReturn:
    """Refuse a set operation that loses the unit of a row."""
    operation, unit, column = type(node).__name__.upper(), ctx.known.unit, ctx.known.unit_column
    plain = "write UNION ALL, which merges no rows; or " if merges and operation == "UNION" else ""
    raise refuse(
        "D406",
        f"{operation} needs the {unit} in the same position on both sides",
        ctx.span(node.right),
        label=f"equal rows of several {unit}s would be one row of nobody"
        if merges
        else f"without it, the {unit} of a row is unknown",
        help=f"{plain}select it first: SELECT {column}, x FROM a {operation} SELECT {column}, y FROM b; or "
        "release both sides: SELECT x FROM a GROUP BY x ...",
    )


def _common_type(first: Type, second: Type) -> Type | None:
    """Return the common type of both sides, or None."""
    try:
        return common_type([Argument(Fact(first)), Argument(Fact(second))])
    except ArgumentError:
        return None


def _cast_column(side: Project, name: str, target: Type) -> Project:
    """Return the side with one column cast."""
    columns = tuple(
        Named(column.name, Call("cast", (column.scalar,), target)) if column.name == name else column
        for column in side.columns
    )
    return Project(side.input, columns)
