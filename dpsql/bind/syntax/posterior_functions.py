"""DP_BETA(yes, no [, a, b]), DP_GAMMA(events, exposure [, a, b]), DP_NORMAL(sum, n, sd): posteriors.

    SELECT ward, DP_BETA(COUNT(*) FILTER (WHERE smoker), COUNT(*) FILTER (WHERE NOT smoker)) AS p ...
    SELECT ward, DP_BETA(yes, n - yes).low FROM (SELECT ward, COUNT(*) AS n, ... AS yes ...)

They take released counts and sums, and what adds and subtracts them; other arguments are constants.
"""

from __future__ import annotations

import math
from typing import NoReturn

from sqlglot import exp

from dpsql.bind.scope.wrappers import unwrapped
from dpsql.errors import refuse
from dpsql.ir.formula import Formula, Operation, columns_in
from dpsql.ir.posterior import FIELDS, Posterior
from dpsql.parse.allow_list import POSTERIORS
from dpsql.parse.spans import span_of

_LEAST, _MOST = 0.25, 1e6
_EXAMPLES = {
    "dp_beta": "DP_BETA(yes, no), with COUNT(*) FILTER (WHERE x) AS yes, COUNT(*) FILTER (WHERE NOT x) AS no",
    "dp_gamma": "DP_GAMMA(events, exposure), with COUNT(*) AS events, SUM(days) AS exposure",
    "dp_normal": "DP_NORMAL(total, n, 12.5), with SUM(x) AS total, COUNT(x) AS n, values of x having a "
    "deviation of 12.5",
}
_DEFAULTS = {"dp_beta": (1.0, 1.0), "dp_gamma": (1.0, 0.0)}


def is_posterior(node: object) -> bool:
    """Whether this is a call of DP_BETA, DP_GAMMA or DP_NORMAL."""
    return isinstance(node, exp.Anonymous) and node.name.casefold() in POSTERIORS


def numbers_of(node: exp.Expr, text: str) -> list[exp.Expr]:
    """Return the two arguments that are released numbers."""
    counted = (3,) if node.name.casefold() == "dp_normal" else (2, 4)
    if len(node.expressions) not in counted:
        refuse_posterior(node, text, f"it has {len(node.expressions)} arguments here")
    return list(node.expressions[:2])


def constants_of(node: exp.Expr, text: str) -> tuple[float, ...]:
    """Return the arguments that are constants: the prior's, or the deviation of values."""
    name, written = node.name.casefold(), node.expressions[2:]
    if not written:
        return _DEFAULTS[name]
    numbers = tuple(_constant(each) for each in written)
    rate = name == "dp_gamma"
    for place, number in enumerate(numbers):
        least = 0.0 if name == "dp_normal" or (rate and place == 1) else _LEAST
        fine = not math.isnan(number) and least <= number <= _MOST and (number or name != "dp_normal")
        if not fine:
            what = "the deviation of values" if name == "dp_normal" else "a prior's a and b"
            raise refuse(
                "D205",
                f"{what} must be constants" if math.isnan(number) else f"{what} cannot be {number:g}",
                span_of(written[place], text),
                help=f"write {what} as numbers, {_LEAST:g} to {_MOST:,.0f}",
            )
    return numbers


def _constant(node: exp.Expr) -> float:
    node = unwrapped(node)
    if isinstance(node, exp.Neg):
        return -_constant(node.this)
    if isinstance(node, exp.Cast):
        return _constant(node.this)
    try:
        return float(node.this) if isinstance(node, exp.Literal) and not node.is_string else math.nan
    except ValueError:
        return math.nan


def is_linear(formula: Formula) -> bool:
    """Whether a formula only adds, subtracts, and multiplies or divides by constants."""
    match formula:
        case Operation("+" | "-" | "neg", arguments):
            return all(is_linear(argument) for argument in arguments)
        case Operation("*", (left, right)):
            return is_linear(left) and is_linear(right) and not (columns_in(left) and columns_in(right))
        case Operation("/", (left, right)):
            return is_linear(left) and not columns_in(right)
        case Operation():
            return False
        case _:
            return True


def field_of(node: exp.Expr) -> tuple[exp.Expr, int | None]:
    """Return what a field is taken of, and its place: DP_BETA(yes, no).low; None for all of them."""
    named = node.expression.name.casefold() if isinstance(node, exp.Dot) else ""
    return (unwrapped(node.this), FIELDS.index(named)) if named in FIELDS else (node, None)


def struct_of(posterior: Posterior, table: str, place: int | None) -> exp.Expr:
    """Return the struct of a posterior, or one of its fields, from the columns of a table."""

    def read(name: str) -> exp.Expr:
        return exp.column(exp.to_identifier(name, quoted=True), exp.to_identifier(table, quoted=True))

    if place is not None:
        return read(posterior.columns[place])
    fields = [
        exp.PropertyEQ(this=exp.to_identifier(field, quoted=True), expression=read(name))
        for field, name in zip(FIELDS, posterior.columns, strict=True)
    ]
    known = exp.Not(this=exp.Is(this=read(posterior.columns[0]), expression=exp.Null()))
    return exp.Case(ifs=[exp.If(this=known, true=exp.Struct(expressions=fields))])


def refuse_posterior(node: exp.Expr, text: str, label: str, help: str = "write ") -> NoReturn:
    name = node.name.casefold()
    raise refuse(
        "D205",
        f"{name.upper()} takes released counts and sums",
        span_of(node, text),
        label=label,
        help=f"{help}{_EXAMPLES[name]}",
    )
