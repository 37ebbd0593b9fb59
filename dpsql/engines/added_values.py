"""Sums of cells from sums of values, where a cell is a whole multiple of its value.

    quantity DECIMAL(15,2) in [1, 50], in steps of 1/21300    21300 * SUM(quantity) - 21300 * COUNT(quantity)

Claim   the result is the sum of the cells, to the last digit.
Proof   ``ends`` say that no value is beyond the range: a cell is (value - offset) * per_step, rounded.
        A value, rounded to the statistic's digits if it has any, is a whole number of 10^-scale, per_step is
        a multiple of 10^scale, and the offset is a whole number: the product is whole. The DOUBLE that is
        rounded to it is off by less than a half: a value in the range is less than 2^51 steps, so that its
        DOUBLE is off by a quarter of a step at most, and what is left of it is below 2^40. Nor are values
        beyond the range by one unit taken for its end. DECIMALs and whole numbers are added up exactly, and
        what is multiplied stays below 2^104, in 128 bits: fewer than 2^53 rows (``fits``).
Test    tests/privacy/test_light_units.py, grammar_tests/test_corrected.py
"""

from __future__ import annotations

from dpsql.engines.arithmetic import Arithmetic
from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.ir.column import BIGINT, HUGEINT, Fact, Kind, Type, decimal_size
from dpsql.ir.statistic import Part, Statistic

_DIGITS = 6
"""The longest scale: 10^6 times a sum of less than 2^95 is a DECIMAL(38,6)."""


def whole_multiples(
    statistic: Statistic,
    fact: Fact | None,
    ends: tuple[float, float] | None,
    arithmetic: Arithmetic,
) -> bool:
    """Whether the sum of the statistic's cells is told by the sum of its values."""
    if statistic.part not in (Part.VALUE, Part.REST) or ends is None or not arithmetic.doubles:
        return False
    assert fact is not None
    of_type, per_step = fact.type, 1 / statistic.step
    if of_type.kind not in (Kind.INTEGER, Kind.DECIMAL) or _scale(of_type) > _DIGITS:
        return False
    within = statistic.low <= ends[0] and ends[1] <= statistic.high
    largest = max(1, abs(statistic.low), abs(statistic.high)) * per_step
    return (
        within
        and per_step.denominator == 1
        and per_step.numerator % 10 ** _scale(of_type) == 0
        and float(statistic.offset).is_integer()
        and statistic.most < 2**40
        and largest < 2**51
    )


def multiplied_sql(statistic: Statistic, name: str, type: Type, dialect: Dialect = DUCKDB) -> str:
    """Print the sum of the cells of a column of values, as a BIGINT."""
    scale, per_step = _scale(type), int(1 / statistic.step)
    total, times = f"coalesce(sum({name}), 0)", per_step // 10**scale
    wide, whole = dialect.type(HUGEINT), dialect.type(BIGINT)
    total = f"{total} * {10**scale}" if scale else total
    offset = int(statistic.offset) * per_step
    if times == 1 and not offset:
        return f"CAST({total} AS {whole})"
    less = f" - count({name}) * {dialect.wide(str(offset))}" if offset else ""
    return f"CAST(CAST({total} AS {wide}) * {dialect.wide(str(times))}{less} AS {whole})"


def _scale(type: Type) -> int:
    return decimal_size(type)[1] if type.kind is Kind.DECIMAL else 0
