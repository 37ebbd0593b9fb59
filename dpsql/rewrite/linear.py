"""Sums of lines of one argument -> one measured sum, of which each is a line again.

    SUM(x), SUM(x + 1), AVG(2 * x)     a pair of sums of x: SUM(x) + COUNT(x), 2 * AVG(x)
    SUM(x), SUM(2 * x)                 one sum: 2 * SUM(x)
    SUM(2 * x)                         as it is
    SUM(x), SUM(y), SUM(x + y)         as they are: a row where only y is NULL counts in the first alone

Claim   For y = slope * x + offset, row by row, with slope not 0, over the rows of one condition:
        SUM(y) = slope * SUM(x) + offset * COUNT(x), of clamped values too, up to the grid; AVG(y) likewise.
        No answer has more noise than if it were measured apart, and what is measured is a part of what was.
Proof   Functions of constants and one value that are not NULL for numbers in its range: y is NULL, or NaN,
        where x is. A line with a slope maps the clamp of x to its range to the clamp of y to the image,
        infinity too. Lines are taken together only where that image is the range of y, so a row outside the
        declared range of x adds what the end adds, whichever of the two is clamped. The slope and the offset
        are exact fractions, and a row is rounded once, to the grid of the measured argument: slope times its
        step is a step of the same part of y's range.
        Apart, each line is a family; together they are one, so the norm of what a row adds falls. Of a pair,
        a sum with values in [low, high] has the noise of low * rest + high * value, sqrt(low^2 + high^2)
        instead of the larger of the two. Both plans are made, and ``no_worse`` compares the products.
Test    tests/unit/test_linear.py, grammar_tests/aggregates/lines.sql
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from dpsql.aggregates import Need, shelf
from dpsql.ir.column import DOUBLE, Interval
from dpsql.ir.measure import Finish, Line, Measure
from dpsql.ir.relation import AggregateCall
from dpsql.ir.scalar import Call, Literal, Scalar
from dpsql.ir.statistic import Part, Statistic
from dpsql.lazy_dataclass import dataclass

RangeOf = Callable[[AggregateCall], Interval | None]
"""From an aggregate to the finite range of its argument under its condition; None if there is none."""

_SAME = Line(Fraction(1), Fraction(0))
_NEAR = 1e-9
"""Part of a range's width by which its ends may differ from those of an image: bounds of floats round."""


def line_of(scalar: Scalar) -> tuple[Scalar, Line]:
    """Return what a scalar is a line of, and the line."""
    match scalar:
        case Call("+", (inner, Literal() as literal)) | Call("+", (Literal() as literal, inner)):
            return _with(scalar, inner, 1, _number(literal))
        case Call("-", (inner, Literal() as literal)):
            number = _number(literal)
            return _with(scalar, inner, 1, None if number is None else -number)
        case Call("-", (Literal() as literal, inner)):
            return _with(scalar, inner, -1, _number(literal))
        case Call("*", (inner, Literal() as literal)) | Call("*", (Literal() as literal, inner)):
            return _with(scalar, inner, _number(literal), 0)
        case Call("/", (inner, Literal() as literal)) if number := _number(literal):
            return _with(scalar, inner, 1 / number, 0)
        case Call("negate", (inner,)):
            return _with(scalar, inner, -1, 0)
        case Call("cast", (inner,), type) if type == DOUBLE:
            return _with(scalar, inner, 1, 0)
        case _:
            return scalar, _SAME


def _with(
    scalar: Scalar, inner: Scalar, slope: Fraction | int | None, offset: Fraction | int | None
) -> tuple[Scalar, Line]:
    if not slope or offset is None:  # a constant that is no number, or a factor of 0
        return scalar, _SAME
    base, line = line_of(inner)
    return base, Line(slope * line.slope, slope * line.offset + offset)


def _number(literal: Literal) -> Fraction | None:
    value = literal.value
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not math.isfinite(value):
        return None
    return Fraction(value)


def _relative(line: Line, to: Line) -> Line:
    """Return y as a line of z, of two lines of one x."""
    slope = line.slope / to.slope
    return Line(slope, line.offset - slope * to.offset)


@dataclass(frozen=True, slots=True)
class _Member:
    """An aggregate of a line: its position, the line, and the range of its argument."""

    place: int
    call: AggregateCall
    line: Line
    range: Interval


_TRIED = 4
"""Most arguments that are tried as what is measured."""

Lines = Mapping[int, tuple[Scalar, Line]]
"""By position, what is measured for an aggregate, and as which line of it."""


def candidates(
    calls: Sequence[AggregateCall], range_of: RangeOf, shares_rows: Callable[[Scalar], bool]
) -> list[tuple[frozenset[int], Lines]]:
    """Return which aggregates may be told together, by their positions, and what is measured then.

    These are all lines of one value, or those without an offset between them; and each may be what is
    measured, the value itself first. What ``shares_rows`` is never measured in a pair, which offsets need.
    """
    found: list[tuple[frozenset[int], Lines]] = []
    for members in _of_one_value(calls, range_of):
        scaled: dict[Fraction, list[_Member]] = {}
        for member in members:
            scaled.setdefault(member.line.offset / member.line.slope, []).append(member)
        for part in (members, *(part for part in scaled.values() if len(part) < len(members))):
            moments = [member for member in part if not _summed(member)]
            together = frozenset(member.place for member in part)
            first = sorted(moments[:1] or part, key=lambda member: (member.line != _SAME, member.place))
            for to in {_argument(member): member for member in first[:_TRIED]}.values():
                moved = _moved(part, to)
                shifted = any(line.offset for _, line in moved.values())
                if moved and not (shifted and any(shares_rows(_argument(member)) for member in part)):
                    found.append((together, moved))
    return found


def _moved(members: Sequence[_Member], to: _Member) -> Lines:
    """Return the sums of other arguments as lines of what is measured."""
    return {
        member.place: (_argument(to), _relative(member.line, to.line))
        for member in members
        if _summed(member) and _argument(member) != _argument(to)
    }


def _of_one_value(calls: Sequence[AggregateCall], range_of: RangeOf) -> list[list[_Member]]:
    """Group aggregates of lines of one value under one condition, of which the lines map the ranges."""
    groups: dict[tuple[Scalar, Scalar | None], list[_Member]] = {}
    for place, call in enumerate(calls):
        if call.argument is None or call.others or shelf()[call.function].arguments != 1:
            continue
        if {Need.TOTAL, Need.SQUARE}.isdisjoint(shelf()[call.function].needs):
            continue
        ends, (base, line) = range_of(call), line_of(call.argument)
        if ends is not None and ends.low < ends.high:
            groups.setdefault((base, call.condition), []).append(_Member(place, call, line, ends))
    return [members for members in groups.values() if all(_is_image(each, members[0]) for each in members)]


def _argument(member: _Member) -> Scalar:
    assert member.call.argument is not None
    return member.call.argument


def _summed(member: _Member) -> bool:
    return Need.SQUARE not in shelf()[member.call.function].needs


def _is_image(member: _Member, to: _Member) -> bool:
    """Whether the line maps the range that is clamped to, to the range of the member's own argument."""
    line = _relative(member.line, to.line)
    ends = sorted(line.slope * Fraction(end) + line.offset for end in (to.range.low, to.range.high))
    own = Fraction(member.range.low), Fraction(member.range.high)
    near = Fraction(_NEAR) * (own[1] - own[0])
    return all(abs(end - mine) <= near for end, mine in zip(ends, own, strict=True))


# ---- which is more exact -------------------------------------------------------------------------------


def no_worse(together: Measure, apart: Measure) -> bool:
    """Whether no aggregate has more noise if these are told together, by the norm of a row that adds most.

    Families of conditions that exclude each other may share their clip later: then nothing is said of norms.
    """
    if len(together.families) >= len(apart.families):
        return False
    alone = len({call.condition for call in apart.aggregates}) == 1
    gains = [_norms(apart)[i] / _norms(together)[i] if alone else 1.0 for i in range(2)]
    pairs = zip(together.finishes, apart.finishes, strict=True)
    return all(
        _deviation(now, together) <= _deviation(then, apart) * min(gains) * (1 + _NEAR) for now, then in pairs
    )


def _norms(measure: Measure) -> tuple[float, float]:
    most = [float(family.most) for family in measure.families]
    return math.fsum(most), math.hypot(*most)


def _deviation(finish: Finish, measure: Measure) -> float:
    """Return the noise of an aggregate where each cell has noise of one step: of a mean, in mid-range.

    Other aggregates are told by the same cells in both.
    """
    rule, numbers = shelf()[finish.call.function], finish.statistics
    if finish.places or not {Need.ROWS, Need.TOTAL, Need.UNITS} >= {*rule.needs}:
        return 1.0
    first = measure.statistics[numbers[0][0]]
    if Need.TOTAL not in rule.needs:
        return math.sqrt(sum(map(len, numbers))) * _step_of_count(first)
    slope = 1.0 if finish.line is None else abs(float(finish.line.slope))
    if first.part in (Part.VALUE, Part.ROWS):
        return slope * float(measure.statistics[numbers[-1][0]].step)
    low, high = _axis(finish, first)
    if finish.line is not None:
        low, high = finish.line.ends(low, high)
    middle = 0.0 if rule.adds_up else (low + high) / 2
    nodes = [low + (high - low) * i / (len(numbers) - 1) - middle for i in range(len(numbers))]
    return (
        math.sqrt(sum(node**2 * len(cells) for node, cells in zip(nodes, numbers, strict=True))) / first.most
    )


def _step_of_count(first: Statistic) -> float:
    return float(first.step) if first.part in (Part.ROWS, Part.UNITS) else 1 / first.most


def _axis(finish: Finish, first: Statistic) -> tuple[float, float]:
    """Return the range of the argument among those of its cells."""
    if first.other is not None and first.other.argument == finish.call.argument:
        return float(first.other.low), float(first.other.high)
    return float(first.low), float(first.high)
