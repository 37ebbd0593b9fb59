"""Windows over the rows of one unit; any other window over private rows is refused.

    ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on DESC)

The partition must hold the unit, by lineage, or a declared key that determines it; then the unit is added.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from sqlglot import exp

from dpsql.aggregates import by_node
from dpsql.aggregates import shelf as aggregates
from dpsql.bind.expressions.aggregates import aggregate
from dpsql.bind.expressions.orders import check_comparable, ordering
from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.scope.context import Context
from dpsql.errors import refuse
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import fact_of
from dpsql.functions.core.literals import number_literal
from dpsql.functions.core.windows import MOST, WindowFunction, windows
from dpsql.ir.column import Kind
from dpsql.ir.relation import Relation, WindowCall
from dpsql.ir.scalar import Ref, Scalar

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


def bind_window(
    ctx: Context, node: exp.Window, scalars: Scalars, named: Mapping[str, exp.Window], relation: Relation
) -> WindowCall:
    """Bind a window as a column of the relation, still without a name."""
    select = node.find_ancestor(exp.Select)
    node = _expanded(ctx, node, named)
    partition = _partition(ctx, node, scalars, relation, select)
    order = tuple(ordering(ctx, item, scalars) for item in _order_items(node.args.get("order")))
    function, inner, ignore_nulls = _function(node.this)
    if isinstance(inner.this, exp.Order) and type(inner) in by_node():
        _refuse_order(ctx, node, by_node()[type(inner)].name)
    rows = _frame(ctx, node, bool(order), function is None or windows()[function].framed)
    span = ctx.span(node)
    if function is None:
        call = aggregate(ctx, node.this, scalars)
        if call is not None and aggregates()[call.function].in_order:
            _refuse_order(ctx, node, call.function)
        if call is None or call.distinct or ignore_nulls:
            _refuse_function(ctx, node, call is not None and call.distinct)
        arguments = () if call.argument is None else (call.argument, *call.others)
        return WindowCall("", call.function, arguments, partition, order, rows, call.condition, span=span)
    if ignore_nulls and not windows()[function].keeps:
        _refuse_function(ctx, node)
    taken = _arguments(ctx, node, windows()[function], inner, scalars)
    return WindowCall("", function, taken, partition, order, rows, None, ignore_nulls, span)


def _refuse_function(ctx: Context, node: exp.Window, distinct: bool = False) -> NoReturn:
    span, unit = ctx.span(node.this), ctx.known.unit_column
    names = f"these are: {', '.join(sorted(windows()))}; count, sum, avg, min, max, median"
    call = "COUNT(DISTINCT x)" if span is None else ctx.text[span.start : span.end]
    joined = f"join the rows with (SELECT {unit}, {call} AS m FROM ... GROUP BY {unit}) USING ({unit})"
    inner = node.this.this if isinstance(node.this, exp.IgnoreNulls) else node.this
    if isinstance(inner, exp.Lag | exp.Lead) and inner.args.get("default") is not None:
        names = f"put what stands in outside: COALESCE({inner.key.upper()}(x) OVER (...), 0)"
    raise refuse(
        "D254",
        "this function is not answered in a window over private rows",
        span or ctx.span(node),
        help=joined if distinct else names,
    )


def _refuse_order(ctx: Context, node: exp.Window, function: str) -> NoReturn:
    """Refuse a window of an aggregate with an order of its own: it would sort its rows once for each row."""
    name, unit = function.upper(), ctx.known.unit_column
    call = aggregates()[function].example or f"{name}(x)"
    raise refuse(
        "D254",
        f"{name} is not answered in a window over private rows",
        ctx.span(node.this) or ctx.span(node),
        help=f"write FIRST_VALUE(x) OVER (PARTITION BY {unit} ORDER BY y); or join the rows with "
        f"(SELECT {unit}, {call} AS m FROM ... GROUP BY {unit}) USING ({unit})",
    )


def _expanded(ctx: Context, node: exp.Window, named: Mapping[str, exp.Window]) -> exp.Window:
    """Expand OVER w and OVER (w ORDER BY ...) by the definition WINDOW w AS (...)."""
    alias = node.args.get("alias")
    if alias is None:
        return node
    definition = named.get(alias.name.casefold())
    if definition is None:
        raise refuse("D202", f"there is no window {alias.name}", ctx.span(node), help="write OVER (...)")
    definition = _expanded(ctx, definition, {k: v for k, v in named.items() if v is not definition})
    window = node.copy()
    window.set("alias", None)
    for key in ("partition_by", "order", "spec"):
        if not window.args.get(key) and definition.args.get(key):
            window.set(key, definition.args[key])
    return window


def _order_items(order: exp.Expr | None) -> list[exp.Expr]:
    return [] if order is None else list(order.expressions)


def _partition(
    ctx: Context, node: exp.Window, scalars: Scalars, relation: Relation, select: exp.Select | None
) -> tuple[Scalar, ...]:
    """Bind PARTITION BY, and add the unit where a key determines it; refuse a window over several units."""
    keys = [scalars.bind(expression) for expression in node.args.get("partition_by") or ()]
    for key, expression in zip(keys, node.args.get("partition_by") or (), strict=True):
        check_comparable(ctx, key, expression, scalars)
    names = frozenset(key.name for key in keys if isinstance(key, Ref))
    owned = ownership_of(relation)
    assert isinstance(owned, Owned)
    if names & owned.units:
        return tuple(keys)
    if any(key <= names for key in owned.keys):
        return (*keys, Ref(owned.unit))
    unit = ctx.known.unit
    label = f"its PARTITION BY does not have the {unit}"
    names_of_unit = {name.casefold() for name in ctx.known.unit_columns}
    if names_of_unit <= {column.name.casefold() for column in _columns(node)}:
        label = (
            f"this is not the {unit} of every row: another column of that name, or NULL after an outer join"
        )
    raise refuse(
        "D254",
        f"a window over private rows reads rows of several {unit}s",
        ctx.span(node),
        label=label,
        help=_by_quantile(node, select, scalars)
        or f"PARTITION BY {ctx.known.unit_column}, the rows of one {unit}; or use a window over "
        "released groups: SELECT x, RANK() OVER (ORDER BY COUNT(*) DESC) FROM ... GROUP BY x",
    )


_PLACED = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.DATE, Kind.TIMESTAMP)


def _by_quantile(node: exp.Window, select: exp.Select | None, scalars: Scalars) -> str:
    """Return the conditions that say with quantiles what NTILE and ranks in percent say; "" for others.

    NTILE(10) OVER (ORDER BY x)    x > (SELECT QUANTILE_CONT(x, 0.9) FROM t)
    """
    order, name = _order_items(node.args.get("order")), _FUNCTIONS.get(type(node.this))
    if node.args.get("partition_by") or len(order) != 1 or select is None or select.args.get("from_") is None:
        return ""
    if name is None or fact_of(scalars.bind(order[0].this), scalars.facts).type.kind not in _PLACED:
        return ""
    value, rising = order[0].this.sql(dialect="duckdb"), not order[0].args.get("desc")
    parts = [select.args["from_"], *(select.args.get("joins") or ()), select.args.get("where")]
    rows = " ".join(part.sql(dialect="duckdb").strip() for part in parts if part is not None)

    def beyond(sign: str, level: float) -> str:
        return f"{value} {sign} (SELECT QUANTILE_CONT({value}, {level:.4g}) {rows})"

    if name in ("percent_rank", "cume_dist"):
        above = beyond(">", 0.9) if rising else beyond("<", 0.1)
        return f"compare with a released quantile: a rank above 0.9 is {above}"
    written = node.this.this if name == "ntile" else None
    count = number_literal(written.name) if isinstance(written, exp.Literal) else None
    number = None if count is None else count.value
    if not isinstance(number, int) or number < 2:
        return ""
    return (
        f"compare with released quantiles: the highest of {number} parts is {beyond('>', 1 - 1 / number)}, "
        f"the lowest {beyond('<=', 1 / number)}"
    )


def _columns(node: exp.Window) -> list[exp.Column]:
    return [
        expression for expression in node.args.get("partition_by") or () if isinstance(expression, exp.Column)
    ]


def _function(node: exp.Expr) -> tuple[str | None, exp.Expr, bool]:
    """Return the name of a window function (None: an aggregate), its node, and whether it ignores NULLs."""
    ignore = isinstance(node, exp.IgnoreNulls)
    inner = node.this if isinstance(node, exp.IgnoreNulls | exp.RespectNulls) else node
    return _FUNCTIONS.get(type(inner)), inner, ignore


def _arguments(
    ctx: Context, window: exp.Window, function: WindowFunction, node: exp.Expr, scalars: Scalars
) -> tuple[Scalar, ...]:
    arguments = [value for key, value in node.args.items() if isinstance(value, exp.Expr)]
    if any(value and key not in ("this", "offset") for key, value in node.args.items()):
        _refuse_function(ctx, window)
    least = function.arguments + (0 if function.optional else function.constants)
    if not least <= len(arguments) <= function.arguments + function.constants:
        raise refuse(
            "D205",
            f"wrong number of arguments for {function.name}",
            ctx.span(window),
            help=f"write {function.name}({', '.join('x' * function.arguments + '1' * function.constants)})",
        )
    bound = [scalars.bind(argument) for argument in arguments[: function.arguments]]
    for argument in arguments[function.arguments :]:
        literal = (
            number_literal(argument.this)
            if isinstance(argument, exp.Literal) and not argument.is_string
            else None
        )
        value = None if literal is None else literal.value
        if literal is None or not isinstance(value, int) or not function.least <= value <= MOST:
            raise refuse(
                "D205",
                f"{function.name} takes a whole number from {function.least} to {MOST:,} here",
                ctx.span(argument) or ctx.span(window),
                help="write the number",
            )
        bound.append(literal)
    return tuple(bound)


def _frame(
    ctx: Context, node: exp.Window, ordered: bool, framed: bool
) -> tuple[int | None, int | None] | None:
    """Return the ends of a ROWS frame; None for the default frame, also where it is written out."""
    spec = node.args.get("spec")
    if spec is None:
        return None
    start, end = _frame_end(spec, "start"), _frame_end(spec, "end") if spec.args.get("end") else 0
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
    unit = ctx.known.unit_column
    raise refuse(
        "D254",
        "this window frame is not answered over private rows",
        ctx.span(node),
        help="count rows, ROWS BETWEEN 6 PRECEDING AND CURRENT ROW; or join the rows near each row: FROM t "
        f"AS a JOIN t AS b ON a.{unit} = b.{unit} AND b.d BETWEEN a.d - INTERVAL 7 DAY AND a.d "
        f"GROUP BY a.{unit}, and a key of a",
    )


def _frame_end(spec: exp.Expr, which: str) -> int | str | None:
    """Return how many rows outwards a frame end reaches: None for all, "?" for what is not a number."""
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
