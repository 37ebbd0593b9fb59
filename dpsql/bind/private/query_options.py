"""Read the options of one SELECT for its measure, and refuse those that have no effect there.

max_rows_contributed = 20      the clip: a guess; any guess keeps the privacy
max_rows_contributed = auto    the clip is chosen privately, on the rows of this SELECT
max_values_contributed = 5     how many values one unit may contribute to COUNT(DISTINCT x)
max_groups_contributed = 3     the clip over several groups: a unit with one row in each is not clipped
rows_per_unit = 20             the clip, by its name in the policy
privacy_unit_column = id       redundant: it must be the column of the policy
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.private.row_builder import RowBuilder
from dpsql.bind.scope.context import Context
from dpsql.errors import refuse
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.ir.column import BIGINT
from dpsql.ir.options import Option, Options
from dpsql.ir.scalar import Literal, Ref, Scalar
from dpsql.parse.options_clause import AUTO, FITTED, options_of

MOST = 10_000
CLAIMS = "max_values_contributed"
_ROWS = ("max_rows_contributed", "max_groups_contributed", "rows_per_unit")


def clip_of(ctx: Context, node: exp.Select, source: RowBuilder) -> Option | None:
    """Return the clip option of a SELECT that releases, unless it is to be chosen."""
    option = _clip_option(ctx, node, source)
    return None if option is None or option.value == AUTO else option


def fitted_of(ctx: Context, node: exp.Select, source: RowBuilder) -> Option | None:
    """Return the clip option of a SELECT that releases, if its clip is to be chosen."""
    option = _clip_option(ctx, node, source)
    return option if option is not None and option.value == AUTO else None


def _clip_option(ctx: Context, node: exp.Select, source: RowBuilder) -> Option | None:
    options = options_of(node)
    if options is None:
        return None
    _check_unit(ctx, node, source)
    _refuse_steps(options)
    clips = [option for option in options.listed if option.name in _ROWS]
    if len(clips) > 1:
        raise refuse(
            "D252",
            f"{clips[0].name} and {clips[1].name} both set the clip",
            clips[1].span,
            help="give only one of them",
        )
    for option in clips:
        if option.name not in FITTED or option.value != AUTO:
            _check_number(ctx, option)
    return clips[0] if clips else None


def claims_of(ctx: Context, node: exp.Select) -> tuple[Scalar, ...]:
    """Return how many values a unit may contribute to COUNT(DISTINCT x), if an option says it."""
    options = options_of(node)
    option = None if options is None else options.get(CLAIMS)
    if option is None:
        return ()
    _check_number(ctx, option)
    assert isinstance(option.value, int)
    return (Literal(option.value, BIGINT),)


def refuse_claims(ctx: Context, node: exp.Select) -> None:
    """Refuse max_values_contributed in a SELECT without COUNT(DISTINCT x)."""
    options = options_of(node)
    option = None if options is None else options.get(CLAIMS)
    if option is not None:
        raise refuse(
            "D252",
            f"{CLAIMS} means nothing here",
            option.span,
            label="this SELECT counts no distinct values",
            help="give it to a SELECT that counts distinct values: COUNT(DISTINCT x), where x is not the "
            f"{ctx.known.unit}",
        )


def _check_number(ctx: Context, option: Option) -> None:
    """Refuse a value that is not a whole number from 1 to the maximum."""
    if type(option.value) is not int or option.value < 1:
        raise refuse(
            "D205",
            f"{option.name} must be a positive whole number",
            option.span,
            help=f"write {option.name} = 20",
        )
    if option.value > MOST:
        raise refuse(
            "D305",
            f"{option.name} is at most {MOST:,}",
            option.span,
            label="noise grows with it",
            help=f"give the number of {'values' if option.name == CLAIMS else 'rows'} most {ctx.known.unit}s "
            "have at most",
        )


def non_negative_of(node: exp.Select) -> Option | None:
    """Return the option that raises released numbers to 0."""
    options = options_of(node)
    option = None if options is None else options.get("non_negative")
    return option if option is not None and option.value is True else None


def refuse_clip(ctx: Context, node: exp.Select, source: RowBuilder | None) -> None:
    """Refuse options that need a release, in a SELECT that has none."""
    options = options_of(node)
    if options is None:
        return
    _check_unit(ctx, node, source)
    _refuse_other_group(node)
    _refuse_steps(options)
    option = options.get(*_ROWS, CLAIMS, "weights", "non_negative")
    if option is not None:
        raise refuse(
            "D252",
            f"{option.name} means nothing here",
            option.span,
            label=f"this SELECT does not aggregate over the {ctx.known.unit}s: nothing is "
            + ("noised" if option.name in ("weights", "non_negative") else "clipped"),
            help=f"give it to the SELECT that aggregates over the {ctx.known.unit}s",
        )


def _refuse_steps(options: Options) -> None:
    """Refuse the steps of a fit in a SELECT that none is made of: DP_LOGISTIC has taken its own."""
    option = options.get("steps")
    if option is not None:
        raise refuse(
            "D252",
            "steps means nothing here",
            option.span,
            label="only a logistic fit has steps",
            help="leave it out, or give it to the query inside: DP_LOGISTIC((SELECT OPTIONS(steps = 5) ...))",
        )


def _refuse_other_group(node: exp.Select) -> None:
    """Refuse other_group in a SELECT that releases nothing."""
    options = options_of(node)
    option = None if options is None else options.get("other_group")
    if option is not None:
        raise refuse(
            "D252",
            "other_group means nothing here",
            option.span,
            label="this SELECT releases no groups",
            help="give it to the SELECT that releases the groups",
        )


def _check_unit(ctx: Context, node: exp.Select, source: RowBuilder | None) -> None:
    """Refuse a privacy_unit_column that is not the unit column of the policy."""
    options = options_of(node)
    option = None if options is None else options.get("privacy_unit_column")
    if option is None:
        return
    owned = None if source is None else ownership_of(source.relation)
    names = tuple(map(str, option.value)) if isinstance(option.value, tuple) else (str(option.value),)
    columns = () if source is None else source.scope.find(names[-1], names[-2] if len(names) > 1 else "")
    units = owned.units if isinstance(owned, Owned) else frozenset()
    if not columns or not all(isinstance(v.scalar, Ref) and v.scalar.name in units for v in columns):
        raise refuse(
            "D252",
            f"this is not the column that holds the {ctx.known.unit}",
            option.span,
            label=f"the policy sets the privacy unit: the {ctx.known.unit}",
            help="leave it out: the policy names the column of every table",
        )
