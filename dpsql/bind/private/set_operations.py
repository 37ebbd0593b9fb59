"""UNION, INTERSECT and EXCEPT of private rows: the unit stands in the same position on both sides.

SELECT patient_id, kind FROM visits EXCEPT SELECT patient_id, 'checkup' FROM patients

the distinct rows of the left, anti-joined with the right on all columns, the unit among them
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.private.joins import all_of, join
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
from dpsql.ir.scalar import Call, Ref, Scalar, refs


def set_of_rows(ctx: Context, node: exp.SetOperation, left: Private, right: Private) -> Private:
    """The rows of a set operation, under the left side's names."""
    names, sides = _aligned(ctx, node, left, right)
    visible = tuple(
        Visible("", each.name, Ref(name)) for each, name in zip(left.scope.starred, names, strict=True)
    )
    scope = Scope(visible)
    whole: Relation
    if isinstance(node, exp.Union):
        whole = Union(*sides)
        if node.args.get("distinct"):
            whole, scope = distinct_rows(ctx, node, whole, names, scope)
        return Private(whole, scope)
    kind = JoinKind.SEMI if isinstance(node, exp.Intersect) else JoinKind.ANTI
    first, second = sides
    parts: list[Scalar] = []
    if node.args.get("distinct"):
        whole, scope = distinct_rows(ctx, node, first, names, scope)
        names = [ref.name for each in scope.columns if isinstance(ref := each.scalar, Ref)]
    else:  # the n-th of equal rows meets the n-th of equal rows
        whole, number = _numbered(ctx, node, first, names)
    others = [ctx.fresh(name) for name in names]
    renamed = tuple(Named(new, Ref(old)) for new, old in zip(others, facts_of(second), strict=True))
    right_rows: Relation = Project(second, renamed)
    if not node.args.get("distinct"):
        right_rows, theirs = _numbered(ctx, node, right_rows, others)
        parts.append(Call("=", (Ref(number), Ref(theirs))))
    owned, their_owned = ownership_of(whole), ownership_of(right_rows)
    assert isinstance(owned, Owned)
    assert isinstance(their_owned, Owned)
    for name, other in zip(names, others, strict=True):
        same = "=" if name in owned.units and other in their_owned.units else "is_not_distinct_from"
        parts.append(Call(same, (Ref(name), Ref(other))))
    return Private(join(kind, whole, right_rows, all_of(parts), ctx.span(node), ctx.known.unit), scope)


def _numbered(
    ctx: Context, node: exp.SetOperation, relation: Relation, names: list[str]
) -> tuple[Relation, str]:
    """Equal rows numbered from one."""
    refuse_ungroupable(ctx, node, relation, names)
    number = ctx.fresh("number")
    call = WindowCall(number, "row_number", (), tuple(Ref(name) for name in names), ())
    return Window(relation, call), number


def _aligned(
    ctx: Context, node: exp.SetOperation, left: Private, right: Private
) -> tuple[list[str], list[Project]]:
    """Both sides with the same columns, in name and type, the unit among them."""
    what = type(node).__name__.upper()
    ours, theirs = ownership_of(left.relation), ownership_of(right.relation)
    assert isinstance(ours, Owned)
    assert isinstance(theirs, Owned)
    mine, others = left.scope.starred, right.scope.starred
    if node.args.get("by_name"):
        by_name = {each.name.casefold(): each for each in others}
        if {each.name.casefold() for each in mine} != by_name.keys():
            raise refuse(
                "D205",
                "the sides of UNION BY NAME have different columns",
                ctx.span(node.right),
                help="give both sides the same column names",
            )
        others = tuple(by_name[each.name.casefold()] for each in mine)
    if len(mine) != len(others):
        raise refuse(
            "D205",
            f"the sides of {what} have different numbers of columns",
            ctx.span(node.right),
            help="select as many columns on both sides",
        )
    at = [i for i, each in enumerate(mine) if refs(each.scalar) and refs(each.scalar) <= ours.units]
    at = [i for i in at if isinstance(others[i].scalar, Ref) and refs(others[i].scalar) <= theirs.units]
    if not at:
        raise refuse(
            "D406",
            f"{what} needs the {ctx.known.unit} in the same position on both sides",
            ctx.span(node.right),
            label=f"without it, nobody knows which {ctx.known.unit}'s a row is",
            help=f"select it first: SELECT {ctx.known.unit_column}, x FROM a {what} SELECT "
            f"{ctx.known.unit_column}, y "
            "FROM b; or release both sides: SELECT x FROM a GROUP BY x ...",
        )
    names = [ctx.fresh(each.name) for each in mine]
    sides = []
    for side, columns in ((left, mine), (right, others)):
        listed = tuple(Named(name, each.scalar) for name, each in zip(names, columns, strict=True))
        sides.append(Project(side.relation, listed))
    first, second = (facts_of(each) for each in sides)
    for name, each in zip(names, mine, strict=True):
        if first[name].type == second[name].type:
            continue
        target = _common(first[name].type, second[name].type)
        if target is None:
            title = f"{each.name} has different types in {what}"
            raise refuse("D205", title, ctx.span(node.right), help="CAST one side")
        sides = [_cast(side, name, target) for side in sides]
    return names, sides


def _common(first: Type, second: Type) -> Type | None:
    """The type that holds both sides' values."""
    try:
        return common_type([Argument(Fact(first)), Argument(Fact(second))])
    except ArgumentError:
        return None


def _cast(side: Project, name: str, target: Type) -> Project:
    """The side with one of its columns cast."""
    columns = tuple(
        Named(each.name, Call("cast", (each.scalar,), target)) if each.name == name else each
        for each in side.columns
    )
    return Project(side.input, columns)
