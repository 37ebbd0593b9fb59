"""Margins of outputs that are computed from released numbers.

    SUM(cost) / COUNT(*)      90.2, from 88.9 to 91.3

This is the bootstrap of ``margins``. Noise for all measured cells is drawn and subtracted together, so that
numbers that share cells (a count and a sum of one pair) vary together. Results of details (a quantile, a
matching) vary independently. A count of units near its threshold varies by its conditional distribution,
given that it is shown. Integers are rounded as in the answer.

A ratio whose denominator may be zero has no interval: draws around a small one say nothing of the ratio. Nor
has a CASE whose condition noise may change: the arm that the truth takes may be far from all draws. Nor have
COALESCE, GREATEST and LEAST of what is NULL, or may be: what stands in for it is no number with noise.

Claim   where few draws change the sign of a denominator, the interval holds the ratio of the exact sums about
        as often as it says.
Proof   a draw a'/b' is below r where a' - r b' is below 0, if b' keeps its sign. Of Gaussian noise that has
        the probability with which a - r b is far enough from 0 on that side: the draws' quantiles are the r
        that a test of a - r b = 0 does not refuse (Fieller). Draws with the other sign count as wrong.
Test    tests/unit/test_ratio_margins.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache, partial

from dpsql.aggregates import Floats
from dpsql.ir.column import DOUBLE, Kind
from dpsql.ir.finished import Finished
from dpsql.ir.formula import Derived, Formula, Operation, columns_in
from dpsql.ir.measure import Finish
from dpsql.ir.plan import MeasurePlan, Threshold
from dpsql.late_numpy import np
from dpsql.mechanisms import mechanism
from dpsql.post.joint import numbers_measured
from dpsql.post.margins import bootstrap, counts_behind, unit_draws

Follow = Callable[[Finish, Floats], Floats]
"""Compute an aggregate from the sums of all measured cells (the last axis)."""


def evaluated(formula: Formula, columns: Mapping[str, Floats]) -> Floats:
    """Evaluate a formula; NaN is NULL."""
    with np.errstate(all="ignore"):
        return _evaluated(formula, columns)


def _evaluated(formula: Formula, columns: Mapping[str, Floats]) -> Floats:
    match formula:
        case str():
            return columns[formula]
        case Operation(name, arguments):
            value: Floats = np.asarray(
                _operations()[name](*(_evaluated(argument, columns) for argument in arguments))
            )
            return value
        case _:
            return np.asarray(formula, dtype=np.float64)


def _coalesce(*values: Floats) -> Floats:
    result = values[-1]
    for value in reversed(values[:-1]):
        result = np.where(np.isnan(value), result, value)
    return result


def _folded(way: Callable[[Floats, Floats], Floats], *values: Floats) -> Floats:
    result = values[0]
    for value in values[1:]:
        result = way(result, value)
    return result


def _round(value: Floats, places: Floats | float = 0.0) -> Floats:
    scale = 10.0 ** np.asarray(places)
    return np.asarray(np.rint(value * scale) / scale)


def _compared(test: Callable[[Floats, Floats], Floats]) -> Callable[[Floats, Floats], Floats]:
    """Return a comparison: 1 or 0, NaN where a side is."""
    return lambda one, other: np.where(np.isnan(one) | np.isnan(other), np.nan, test(one, other))


@cache
def _operations() -> dict[str, Callable[..., Floats]]:
    """Return the operations by their names in formulas."""
    return {
        "+": np.add,
        "-": np.subtract,
        "*": np.multiply,
        "/": np.divide,
        "neg": np.negative,
        "abs": np.abs,
        "sqrt": np.sqrt,
        "power": np.power,
        "round": _round,
        "coalesce": _coalesce,
        "nullif": lambda value, null: np.where(value == null, np.nan, value),
        "greatest": partial(_folded, np.fmax),
        "least": partial(_folded, np.fmin),
        ">": _compared(np.greater),
        ">=": _compared(np.greater_equal),
        "<": _compared(np.less),
        "<=": _compared(np.less_equal),
        "=": _compared(np.equal),
        "<>": _compared(np.not_equal),
        "and": lambda one, other: np.where((one == 0) | (other == 0), 0.0, one + other - 1),
        "or": lambda one, other: np.where((one == 1) | (other == 1), 1.0, one + other),
        "not": lambda truth: 1 - truth,
        "is null": lambda value: np.isnan(value).astype(np.float64),
        "if": lambda truth, then, otherwise: np.asarray(np.where(truth == 1, then, otherwise)),
    }


_CHANGED = 1 / 5
"""The largest share of draws with another sign of a denominator, or another arm, as a part of one tail."""


def denominators(formula: Formula) -> list[Formula]:
    """Return what a formula divides by, or takes a root of, or compares with 0, if it is no constant."""
    if not isinstance(formula, Operation):
        return []
    inside = [each for argument in formula.arguments for each in denominators(argument)]
    return inside + [each for each in _far_from_zero(formula) if columns_in(each)]


def _far_from_zero(formula: Operation) -> list[Formula]:
    """Return what has to be far from 0: next to it a ratio is endless, and a root is steep."""
    match formula:
        case Operation("/", (_, divisor)):
            return [divisor]
        case Operation("power", (base, exponent)):
            return [] if isinstance(exponent, float) and exponent >= 1 else [_bare(base)]
        case Operation("sqrt", (base,)):
            return [_bare(base)]
        case Operation("=" | "<>" | "nullif", arguments):  # noise hardly ever meets what it is around
            return [Operation("-", arguments)]
        case _:
            return []


def _bare(formula: Formula) -> Formula:
    """Return what an absolute value is of, whose sign tells when it is near 0."""
    return formula.arguments[0] if isinstance(formula, Operation) and formula.name == "abs" else formula


def conditions(formula: Formula) -> list[Formula]:
    """Return what chooses among the arms of a CASE."""
    if not isinstance(formula, Operation):
        return []
    inside = [each for argument in formula.arguments for each in conditions(argument)]
    return [*inside, formula.arguments[0]] if formula.name == "if" else inside


def replaced(formula: Formula) -> list[Formula]:
    """Return what COALESCE, GREATEST and LEAST would leave out if it were NULL."""
    if not isinstance(formula, Operation):
        return []
    inside = [each for argument in formula.arguments for each in replaced(argument)]
    match formula:
        case Operation("coalesce", values):
            inside += values[:-1]
        case Operation("greatest" | "least", values):
            inside += values
    return [each for each in inside if columns_in(each)]


def _is_there(value: Floats) -> Floats:
    return np.where(np.isnan(value), np.nan, 1.0)


def _is_true(truth: Floats) -> Floats:
    return np.where(truth == 1, 1.0, 0.0)


def derived(
    output: Derived,
    planned: MeasurePlan,
    sums: Floats,
    spread: Floats,
    columns: list[Finished],
    follow: Follow,
    barely: Mapping[int, float],
    confidence: float,
    together: Callable[[Floats], Floats] | None = None,
) -> Finished:
    """Return a derived output as a column with its half-widths; ``columns`` holds its inputs.

    ``barely`` maps each row that is near its threshold to its number of units. ``together`` maps the noise of
    what is measured to that of all numbers.
    """
    finishes = {finish.call.name: finish for finish in planned.measure.finishes}
    cells = sums.shape[1]
    columns = [column for column in columns if column.name in columns_in(output.formula)]
    noised = [column for column in columns if column.name in finishes]
    measured = numbers_measured(planned) or cells
    draws = planned.noise.scale * unit_draws(planned.noise.mechanism, measured)
    moved_together = None if together is None else np.moveaxis(together(draws.T), -1, 0)
    draws = draws[:, np.newaxis, :]
    alone = unit_draws("gaussian", cells + len(noised))[:, cells:]
    usual = mechanism("gaussian").half_width(1.0, confidence) - 0.5
    delivered = {column.name: _numbers(column) for column in columns}
    decided: list[tuple[Formula, Callable[[Floats], Floats]]] = [
        *((each, np.sign) for each in denominators(output.formula)),
        *((each, _is_true) for each in conditions(output.formula)),
        *((each, _is_there) for each in replaced(output.formula)),  # what is not equals nothing
    ]

    def taken_off(part: slice) -> Floats:
        if moved_together is not None:
            return np.asarray(sums[part] - moved_together[:, part])
        cells_away: Floats = sums[part] - draws * spread[part, np.newaxis]
        units, rule = planned.measure.units, planned.rule
        for place, row in enumerate(range(len(sums))[part]):
            if row in barely and isinstance(rule, Threshold):
                cells_away[:, place, units] = counts_behind(
                    barely[row], rule.steps, planned.noise, draws[:, 0, units]
                )
        return cells_away

    def moved(part: slice) -> Floats:
        cells_away = taken_off(part)
        here = {name: numbers[part] for name, numbers in delivered.items()}
        middle, away = dict(here), dict(here)
        for at, column in enumerate(noised):
            finish, integer = finishes[column.name], column.type.kind is Kind.INTEGER
            if finish.places:
                assert column.margins is not None
                away[column.name] = (
                    here[column.name] + alone[:, at, np.newaxis] * column.margins[part] / usual
                )
                continue
            middle[column.name] = follow(finish, sums[part])
            away[column.name] = follow(finish, cells_away)
            if integer:
                middle[column.name], away[column.name] = (
                    np.rint(middle[column.name]),
                    np.rint(away[column.name]),
                )
        with np.errstate(invalid="ignore"):
            difference = evaluated(output.formula, away) - evaluated(output.formula, middle)
        shape = (len(draws), len(range(len(sums))[part]))
        change: Floats = np.array(np.broadcast_to(difference, shape))  # an arm may be a constant
        for formula, told in decided:
            same = np.broadcast_to(told(evaluated(formula, away)) == told(evaluated(formula, middle)), shape)
            change[:, same.mean(axis=0) < 1 - _CHANGED * (1 - confidence) / 2] = np.nan
        for place, row in enumerate(range(len(sums))[part]):
            if row in barely and np.isfinite(change[:, place]).mean() < (1 + confidence) / 2:  # mostly NULL
                change[:, place] = np.nan
        return change

    reach = bootstrap(moved, len(sums), alone.shape[0] * max(1, cells), confidence)
    value = np.broadcast_to(evaluated(output.formula, delivered), (len(sums),))
    half = np.maximum(np.abs(reach.below), np.abs(reach.above))
    return Finished(output.name, DOUBLE, value.tolist(), half, value - reach.below, value + reach.above)


def _numbers(column: Finished) -> Floats:
    """Return the values as floats; NaN where a value is not a number."""
    numbers = [
        float(value) if isinstance(value, int | float | Decimal) else np.nan for value in column.values
    ]
    return np.array(numbers, dtype=np.float64)
