"""What the options of one SELECT mean for its measure, or why they mean nothing there.

max_rows_contributed = 20      where clipping starts: a guess, and any guess keeps the privacy
max_values_contributed = 5     how many of the values that COUNT(DISTINCT x) counts one unit may stand for
max_groups_contributed = 3     the same over several groups: a unit counts in full with one row in each
rows_per_unit = 20             as the policy calls it
privacy_unit_column = id       said again: it must be the policy's
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.private.row_builder import RowBuilder
from dpsql.bind.scope.context import Context
from dpsql.errors import refuse
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.ir.column import BIGINT
from dpsql.ir.options import Option
from dpsql.ir.scalar import Literal, Ref, Scalar
from dpsql.parse.options_clause import options_of

MOST = 10_000
CLAIMS = "max_values_contributed"
_ROWS = ("max_rows_contributed", "max_groups_contributed", "rows_per_unit")


def clip_of(ctx: Context, node: exp.Select, source: RowBuilder) -> Option | None:
    """What a SELECT that releases says of where clipping starts."""
    options = options_of(node)
    if options is None:
        return None
    _check_unit(ctx, node, source)
    said = [each for each in options.listed if each.name in _ROWS]
    if len(said) > 1:
        raise refuse(
            "D252",
            f"{said[0].name} and {said[1].name} both say where clipping starts",
            said[1].span,
            help="say one of them",
        )
    for each in said:
        _check_number(ctx, each)
    return said[0] if said else None


def claims_of(ctx: Context, node: exp.Select) -> tuple[Scalar, ...]:
    """How many values a unit may claim in COUNT(DISTINCT x), if the SELECT says it."""
    options = options_of(node)
    said = None if options is None else options.get(CLAIMS)
    if said is None:
        return ()
    _check_number(ctx, said)
    assert isinstance(said.value, int)
    return (Literal(said.value, BIGINT),)


def refuse_claims(ctx: Context, node: exp.Select) -> None:
    """Of a SELECT that counts no values."""
    options = options_of(node)
    said = None if options is None else options.get(CLAIMS)
    if said is not None:
        raise refuse(
            "D252",
            f"{CLAIMS} means nothing here",
            said.span,
            label="this SELECT counts no values",
            help=f"say it where values are counted: COUNT(DISTINCT x), where x is not the {ctx.known.unit}",
        )


def _check_number(ctx: Context, said: Option) -> None:
    if type(said.value) is not int or said.value < 1:
        raise refuse(
            "D205", f"{said.name} is a positive whole number", said.span, help=f"write {said.name} = 20"
        )
    if said.value > MOST:
        raise refuse(
            "D305",
            f"{said.name} is at most {MOST:,}",
            said.span,
            label="noise grows with it",
            help=f"say how many {'values' if said.name == CLAIMS else 'rows'} most {ctx.known.unit}s "
            "have at most",
        )


def refuse_clip(ctx: Context, node: exp.Select, source: RowBuilder | None) -> None:
    """Of a SELECT that releases nothing: the price is the whole query's, a clip is misplaced."""
    options = options_of(node)
    if options is None:
        return
    _check_unit(ctx, node, source)
    _refuse_other(node)
    said = options.get(*_ROWS, CLAIMS, "weights")
    if said is not None:
        raise refuse(
            "D252",
            f"{said.name} means nothing here",
            said.span,
            label=f"this SELECT does not aggregate over the {ctx.known.unit}s: nothing is "
            + ("noised" if said.name == "weights" else "clipped"),
            help=f"say it in the SELECT whose aggregates are over the {ctx.known.unit}s",
        )


def _refuse_other(node: exp.Select) -> None:
    options = options_of(node)
    said = None if options is None else options.get("other_group")
    if said is not None:
        raise refuse(
            "D252",
            "other_group means nothing here",
            said.span,
            label="this SELECT releases no groups",
            help="say it in the SELECT whose groups may be hidden",
        )


def _check_unit(ctx: Context, node: exp.Select, source: RowBuilder | None) -> None:
    """privacy_unit_column names what the policy already says, or is refused."""
    options = options_of(node)
    said = None if options is None else options.get("privacy_unit_column")
    if said is None:
        return
    owned = None if source is None else ownership_of(source.relation)
    names = tuple(map(str, said.value)) if isinstance(said.value, tuple) else (str(said.value),)
    found = () if source is None else source.scope.find(names[-1], names[-2] if len(names) > 1 else "")
    units = owned.units if isinstance(owned, Owned) else frozenset()
    if not found or not all(isinstance(v.scalar, Ref) and v.scalar.name in units for v in found):
        raise refuse(
            "D252",
            f"this is not the column that holds the {ctx.known.unit}",
            said.span,
            label=f"whose privacy is kept is the owner's to say: the {ctx.known.unit}'s",
            help="leave it out: the policy names the column of every table",
        )
