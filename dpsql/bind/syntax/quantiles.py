"""Parse quantile calls: the function, the argument and the place (which quantile).

QUANTILE_CONT(x, 0.9)                              quantile_cont, x, 9/10
PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)     the same
QUANTILE_DISC(x, [0.25, 0.75])                     a list of two calls
"""

from __future__ import annotations

from decimal import Decimal
from typing import NoReturn

from sqlglot import exp

from dpsql.errors import refuse
from dpsql.functions import ArgumentError
from dpsql.functions.reading.constants import literal_of
from dpsql.ir.column import DOUBLE
from dpsql.ir.scalar import Literal
from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.spans import span_of

_FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.PercentileCont: "quantile_cont",
    exp.PercentileDisc: "quantile_disc",
    exp.Quantile: "quantile_disc",
    exp.ApproxQuantile: "quantile_disc",
}

_DIGITS = 9
"""The decimal digits of a place."""


@dataclass(frozen=True, slots=True)
class QuantileCall:
    """The parts of a quantile call; ``argument`` may be a DISTINCT, ``place`` a list."""

    function: str
    argument: exp.Expr | None
    place: exp.Expr | None
    descending: bool = False


def is_quantile(node: exp.Expr) -> bool:
    """Whether this is a quantile, in any spelling, without its FILTER."""
    inner = node.this if isinstance(node, exp.WithinGroup) else node
    return type(inner) in _FUNCTIONS


def quantile_call(text: str, node: exp.Expr) -> QuantileCall:
    """Return the parts of a quantile call."""
    inner = node.this if isinstance(node, exp.WithinGroup) else node
    function = _FUNCTIONS[type(inner)]
    argument, place = inner.this, inner.args.get("quantile") or inner.args.get("expression")
    order = place if isinstance(place, exp.Order) else None
    if isinstance(node, exp.WithinGroup):  # PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x)
        order, place = node.expression, argument
        if len(order.expressions) != 1 or inner.args.get("expression") is not None:
            _refuse_shape(text, node)
        argument = order.expressions[0].this
    elif order is not None:  # QUANTILE_CONT(x, q ORDER BY x), as it is printed
        place = order.this
        if len(order.expressions) != 1 or order.expressions[0].this != argument:
            _refuse_shape(text, node)
    descending = order is not None and bool(order.expressions[0].args.get("desc"))
    if any(inner.args.get(key) for key in ("accuracy", "weight", "error_tolerance")):
        _refuse_shape(text, node)
    return QuantileCall(function, argument, place, descending)


def _refuse_shape(text: str, node: exp.Expr) -> NoReturn:
    raise refuse(
        "D205",
        "a quantile takes one value and one place",
        span_of(node, text),
        help="write QUANTILE_CONT(x, 0.9), or PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)",
    )


def place_of(text: str, node: exp.Expr, quantile: QuantileCall) -> Literal:
    """Return the place of a quantile, the fraction of rows below it, as a constant from 0 to 1."""
    place = quantile.place
    try:
        constant = None if place is None else literal_of(place)
    except ArgumentError:
        constant = None
    value = None if constant is None else constant.value
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise refuse(
            "D205",
            "the place of a quantile must be a constant number",
            _span(text, place, node),
            label="it may not depend on data",
            help="write it out: QUANTILE_CONT(x, 0.9)",
        )
    exact = Decimal(str(value))
    if not 0 <= exact <= 1:  # this comparison rejects NaN too
        raise refuse(
            "D205",
            f"there is no quantile at {value}",
            _span(text, place, node),
            label="a place is the fraction of rows below the quantile, from 0 to 1",
            help="the 95th percentile is QUANTILE_CONT(x, 0.95)",
        )
    exact = round(1 - exact if quantile.descending else exact, _DIGITS)
    return Literal(float(exact), DOUBLE, _span(text, place, node))


def _span(text: str, place: exp.Expr | None, node: exp.Expr) -> Span | None:
    return (span_of(place, text) if place is not None else None) or span_of(node, text)


def expand_places(text: str, node: exp.Expr) -> list[exp.Expr]:
    """Return a quantile with a list of places as one node per place; [] for anything else."""
    inner = node.this if isinstance(node, exp.Filter) else node
    if not is_quantile(inner):
        return []
    quantile = quantile_call(text, inner)
    place = quantile.place
    if not isinstance(place, exp.Array):
        return []
    if not place.expressions:
        raise refuse(
            "D205", "the list of quantiles is empty", span_of(node, text), help="list places: [0.25, 0.75]"
        )
    quantiles = []
    for number in place.expressions:
        alone = node.copy()
        for listed in alone.find_all(exp.Array):
            if listed == place:
                listed.replace(number.copy())
                break
        quantiles.append(alone)
    return quantiles
