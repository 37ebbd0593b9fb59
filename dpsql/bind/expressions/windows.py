"""Windows over private rows: inside one unit, or refused.

    ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on DESC)

The unit is in the partition by lineage, or a declared key that determines it is: then the unit is added.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from sqlglot import exp

from dpsql.aggregates import Unbounded
from dpsql.aggregates import shelf as aggregates
from dpsql.bind.expressions.aggregates import aggregate
from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.scope.context import Context
from dpsql.errors import Error, refuse
from dpsql.facts.ownership import Owned, ownership_of, rows_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions.core.literals import number_literal
from dpsql.functions.core.windows import MOST, WindowFunction, windows
from dpsql.ir.column import Fact, Kind
from dpsql.ir.relation import Ordering, Relation, WindowCall
from dpsql.ir.scalar import Ref, Scalar
from dpsql.ir.source import Span

_FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.RowNumber: "row_number",
    exp.Rank: "rank",
    exp.DenseRank: "dense_rank",
    exp.PercentRank: "percent_rank",
    exp.CumeDist: "cume_dist",
    exp.Ntile: "ntile",
    exp.Lag: "lag",
    exp.Lead: "lead",
    exp.FirstValue: "first_value",
    exp.LastValue: "last_value",
    exp.NthValue: "nth_value",
    exp.First: "first_value",
    exp.Last: "last_value",
}
_ORDERED = frozenset(Kind) - {Kind.OPAQUE, Kind.NULL, Kind.INTERVAL}


def windowed(
    ctx: Context, node: exp.Window, scalars: Scalars, named: Mapping[str, exp.Window], relation: Relation
) -> WindowCall:
    """A window as a column of the relation (its name is still to be given)."""
    node = _written_out(ctx, node, named)
    partition = _partition(ctx, node, scalars, relation)
    order = tuple(_ordering(ctx, each, scalars) for each in _order_items(node.args.get("order")))
    function, inner, ignore_nulls = _function(node.this)
    rows = _frame(ctx, node, bool(order), function is None or windows()[function].framed)
    span = ctx.span(node)
    if function is None:
        call = aggregate(ctx, node.this, scalars)
        if call is None or call.distinct or ignore_nulls:
            _refuse_function(ctx, node)
        arguments = () if call.argument is None else (call.argument, *call.others)
        return WindowCall("", call.function, arguments, partition, order, rows, call.condition, span=span)
    if ignore_nulls and not windows()[function].keeps:
        _refuse_function(ctx, node)
    taken = _arguments(ctx, node, windows()[function], inner, scalars)
    return WindowCall("", function, taken, partition, order, rows, None, ignore_nulls, span)


def _refuse_function(ctx: Context, node: exp.Window) -> NoReturn:
    raise refuse(
        "D254",
        "this function is not answered in a window over private rows",
        ctx.span(node.this) or ctx.span(node),
        help=f"these are: {', '.join(sorted(windows()))}; count, sum, avg, min, max, median",
    )


def _written_out(ctx: Context, node: exp.Window, named: Mapping[str, exp.Window]) -> exp.Window:
    """OVER w, OVER (w ORDER BY ...): with what WINDOW w AS (...) says."""
    alias = node.args.get("alias")
    if alias is None:
        return node
    meant = named.get(alias.name.casefold())
    if meant is None:
        raise refuse("D202", f"there is no window {alias.name}", ctx.span(node), help="write OVER (...)")
    meant = _written_out(ctx, meant, {k: v for k, v in named.items() if v is not meant})
    whole = node.copy()
    whole.set("alias", None)
    for key in ("partition_by", "order", "spec"):
        if not whole.args.get(key) and meant.args.get(key):
            whole.set(key, meant.args[key])
    return whole


def _order_items(order: exp.Expr | None) -> list[exp.Expr]:
    return [] if order is None else list(order.expressions)


def _partition(ctx: Context, node: exp.Window, scalars: Scalars, relation: Relation) -> tuple[Scalar, ...]:
    found = [scalars.bind(each) for each in node.args.get("partition_by") or ()]
    for each, written in zip(found, node.args.get("partition_by") or (), strict=True):
        _comparable(ctx, each, written, scalars)
    names = frozenset(each.name for each in found if isinstance(each, Ref))
    owned = ownership_of(relation)
    assert isinstance(owned, Owned)
    if names & owned.units:
        return tuple(found)
    if any(key <= names for key in owned.keys):
        return (*found, Ref(owned.unit))
    unit = ctx.known.unit
    label = f"its partition does not hold the {unit}"
    if any(each.name.casefold() == ctx.known.unit_column.casefold() for each in _columns(node)):
        label = (
            f"this is not the {unit} of every row: another column of that name, or NULL after an outer join"
        )
    raise refuse(
        "D254",
        "a window over private rows looks at several units",
        ctx.span(node),
        label=label,
        help=f"PARTITION BY {ctx.known.unit_column}, which looks at one {unit}'s rows; or look at "
        "released groups: "
        "SELECT x, RANK() OVER (ORDER BY COUNT(*) DESC) FROM ... GROUP BY x",
    )


def _columns(node: exp.Window) -> list[exp.Column]:
    return [each for each in node.args.get("partition_by") or () if isinstance(each, exp.Column)]


def _ordering(ctx: Context, node: exp.Expr, scalars: Scalars) -> Ordering:
    inner = node.this if isinstance(node, exp.Ordered) else node
    scalar = scalars.bind(inner)
    _comparable(ctx, scalar, inner, scalars)
    return Ordering(scalar, bool(node.args.get("desc")), bool(node.args.get("nulls_first")))


def _comparable(ctx: Context, scalar: Scalar, node: exp.Expr, scalars: Scalars) -> None:
    if fact_of(scalar, scalars.facts).type.kind not in _ORDERED:
        raise refuse(
            "D205", "these values have no order", ctx.span(node), help="cast them to text or a number"
        )


def _function(node: exp.Expr) -> tuple[str | None, exp.Expr, bool]:
    """The window function's name (None: an aggregate), its node, and whether NULLs are left out."""
    ignore = isinstance(node, exp.IgnoreNulls)
    inner = node.this if isinstance(node, exp.IgnoreNulls | exp.RespectNulls) else node
    return _FUNCTIONS.get(type(inner)), inner, ignore


def _arguments(
    ctx: Context, window: exp.Window, function: WindowFunction, node: exp.Expr, scalars: Scalars
) -> tuple[Scalar, ...]:
    written = [value for key, value in node.args.items() if isinstance(value, exp.Expr)]
    if any(value and key not in ("this", "offset") for key, value in node.args.items()):
        _refuse_function(ctx, window)
    least = function.arguments + (0 if function.optional else function.constants)
    if not least <= len(written) <= function.arguments + function.constants:
        raise refuse(
            "D205",
            f"{function.name} takes another number of arguments",
            ctx.span(window),
            help=f"write {function.name}({', '.join('x' * function.arguments + '1' * function.constants)})",
        )
    found = [scalars.bind(each) for each in written[: function.arguments]]
    for each in written[function.arguments :]:
        literal = number_literal(each.this) if isinstance(each, exp.Literal) and not each.is_string else None
        value = None if literal is None else literal.value
        if literal is None or not isinstance(value, int) or not function.least <= value <= MOST:
            raise refuse(
                "D205",
                f"{function.name} takes a whole number from {function.least} to {MOST:,} here",
                ctx.span(each) or ctx.span(window),
                help="write the number",
            )
        found.append(literal)
    return tuple(found)


def _frame(
    ctx: Context, node: exp.Window, ordered: bool, framed: bool
) -> tuple[int | None, int | None] | None:
    """The ends of a ROWS frame; None for SQL's own frame, also where it is written out."""
    spec = node.args.get("spec")
    if spec is None:
        return None
    start, end = _side(spec, "start"), _side(spec, "end") if spec.args.get("end") else 0
    if spec.args.get("exclude") or start == "?" or end == "?":
        _refuse_frame(ctx, node)
    assert not isinstance(start, str)
    assert not isinstance(end, str)
    if not framed:
        return None
    if str(spec.args.get("kind")).upper() == "ROWS":
        if start is not None and end is not None and -start > end:
            _refuse_frame(ctx, node)
        return start, end
    if start is None and (end == 0 if ordered else True):
        return None
    if start is None and end is None:
        return None, None
    _refuse_frame(ctx, node)


def _refuse_frame(ctx: Context, node: exp.Window) -> NoReturn:
    raise refuse(
        "D254",
        "this window frame is not answered over private rows",
        ctx.span(node),
        help="write ROWS BETWEEN 6 PRECEDING AND CURRENT ROW, or leave the frame out",
    )


def _side(spec: exp.Expr, which: str) -> int | str | None:
    """How many rows outwards an end reaches: None for all of them, "?" for what is not a number."""
    value, side = spec.args.get(which), str(spec.args.get(f"{which}_side") or "").upper()
    outwards = "PRECEDING" if which == "start" else "FOLLOWING"
    if isinstance(value, str):
        if value.upper() == "CURRENT ROW":
            return 0
        return None if value.upper() == "UNBOUNDED" and side == outwards else "?"
    if isinstance(value, exp.Literal) and not value.is_string and value.this.isdigit():
        rows = int(value.this)
        if rows <= MOST:
            return rows if side == outwards else -rows
    return "?"


def computable(
    ctx: Context, call: WindowCall, span: Span | None, around: Mapping[str, Fact], rows: Relation
) -> Relation:
    """The rows, if an aggregate over the window can be computed exactly; those ``around`` are read too."""
    while (refusal := _refusal(call, span, around, rows)) is not None:
        if refusal.code != "D301" or not call.arguments:
            raise refusal
        rows = ctx.need(rows, call.arguments, refusal)
    return rows


def _refusal(call: WindowCall, span: Span | None, around: Mapping[str, Fact], rows: Relation) -> Error | None:
    if call.function in windows():
        return None
    known = {**around, **facts_of(rows)}
    facts = [fact_of(each, known) for each in call.arguments]
    fact, others = facts[0] if facts else None, facts[1:]
    try:
        aggregates()[call.function].result(fact, rows_of(rows), *others)
        aggregates()[call.function].per_unit("x", fact, "", *(("y", each) for each in others))
    except Unbounded as finding:
        return refuse(finding.code, finding.title, span, help=finding.help)
    return None
