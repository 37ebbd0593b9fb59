"""Ways to compute cells and to add them up in SQL, with the same results.

    WHOLE      CAST(z AS BIGINT), summed in 128 bits                  whatever the cells
    DOUBLES    z + 1.5 * 2^52 - 1.5 * 2^52, summed as DOUBLEs         where ``fits`` says so: half the time
    SMALL      the same                                               and no sum reaches ``CELL``
    FEW        CAST(z AS BIGINT), summed in 64 bits                   where no sum reaches ``CELL``
    in_longs   CAST(z AS BIGINT), summed in 64 bits                   the same, below 2^59
    in_halves  CAST(z AS BIGINT), its halves summed in 64 bits each   of fewer than 2^31 rows

Claim   a cell and the sum of any cells of a table are the same in all of them.
Proof   A cell is the DOUBLE z, |z| < 2^51, rounded to a whole number, half to even. CAST rounds so, and so
        does the addition of 1.5 * 2^52: the sum is between 2^52 and 2^53, where DOUBLEs are whole numbers,
        and the difference is exact. All else is arithmetic of whole numbers below 2^53. ``fits`` bounds the
        absolute values of all cells together by 2^53: every partial sum, in any order, is exact; so of
        cells that a factor of at most 1 made smaller and TRUNC whole. Sums of
        sums with the coefficients of polynomials, 4 at most, stay below 2^57, so that 64 bits hold them. Of
        BIGINTs below 2^59 together such sums stay below 2^61, and the three parts of a measure below 2^63.
        A BIGINT is 2^32 times its upper half (shifted with its sign) plus its lower one, from 0 to 2^32 - 1:
        fewer than 2^31 of either add up to less than 2^63, and the two sums are put together as decimals.
Test    tests/privacy/test_light_units.py, grammar_tests/test_corrected.py

The constant has an exponent: without one it would be a DECIMAL, and nothing would be rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.ir.column import BIGINT
from dpsql.lazy_dataclass import dataclass

_HALVES = "6755399441055744e0"
_LARGEST = 2**50

HALVES = 2**31
"""So many rows, or more, are not summed in halves."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How cells are rounded, and how they are added up; ``doubles`` are DOUBLEs of whole numbers.

    ``wide`` prints a constant in the type of sums. ``small``: no sum reaches ``CELL``. The absolute values of
    all cells that are added up are below ``most`` together, where that matters.
    """

    doubles: bool
    wide: Callable[[str], str]
    rounded: Callable[[str], str]
    truncated: Callable[[str], str]
    summed: Callable[[str], str]
    small: bool = False
    most: int = 2**53
    dialect: Dialect = DUCKDB


def in_whole_numbers(dialect: Dialect) -> Arithmetic:
    """Return the arithmetic of all cells, as one engine writes it."""
    return Arithmetic(
        doubles=False,
        wide=dialect.wide,
        rounded=dialect.whole,
        truncated=dialect.cut,
        summed=dialect.summed,
        dialect=dialect,
    )


def in_doubles(dialect: Dialect) -> Arithmetic:
    """Return that of another engine, whose ``round`` of a DOUBLE is that of its ``whole``: half to even."""
    return Arithmetic(
        doubles=True,
        wide=lambda sql: f"CAST({sql} AS {dialect.type(BIGINT)})",
        rounded="round({})".format,
        truncated="trunc({})".format,
        summed=lambda sql: f"CAST(coalesce(sum({sql}), 0) AS {dialect.type(BIGINT)})",
        dialect=dialect,
    )


def in_longs(dialect: Dialect) -> Arithmetic:
    """Return that of an engine whose sums of BIGINTs are BIGINTs: fast, and exact where they fit."""
    return Arithmetic(
        doubles=False,
        wide=lambda sql: f"CAST({sql} AS {dialect.type(BIGINT)})",
        rounded=dialect.whole,
        truncated=dialect.cut,
        summed="coalesce(sum({}), 0)".format,
        most=2**59,
        dialect=dialect,
    )


def in_halves(dialect: Dialect) -> Arithmetic:
    """Return that of all cells of fewer than ``HALVES`` rows, as Spark writes it: decimals add up slowly."""

    def summed(sql: str) -> str:
        number = f"CAST({sql} AS {dialect.type(BIGINT)})"
        upper, lower = f"sum(shiftright({number}, 32))", f"sum({number} & {2**32 - 1})"
        parts = [dialect.wide(f"coalesce({part}, 0)") for part in (upper, lower)]
        return f"({parts[0]} * {dialect.wide(str(2**32))} + {parts[1]})"

    return replace(in_whole_numbers(dialect), summed=summed)


WHOLE = in_whole_numbers(DUCKDB)
DOUBLES = Arithmetic(
    doubles=True,
    wide="{}::BIGINT".format,
    rounded=f"({{}} + {_HALVES} - {_HALVES})".format,
    truncated="trunc({})".format,
    summed="CAST(coalesce(sum({}), 0) AS BIGINT)".format,
)
SMALL = replace(DOUBLES, small=True)
FEW = replace(
    WHOLE, wide="{}::BIGINT".format, summed="CAST(coalesce(sum({}), 0) AS BIGINT)".format, small=True
)


def fits(rows: int, most: int, below: int = 2**53) -> bool:
    """Whether that many cells of at most ``most`` steps can be added up as DOUBLEs."""
    return most < _LARGEST and rows * most < below


TIES = f"""
SELECT bool_and(CAST(z AS BIGINT) = z + {_HALVES} - {_HALVES})
FROM (SELECT (n - 500) * 1099511627775 + (n % 8) / 4::DOUBLE AS z FROM range(1001) AS t(n))
"""
"""Whether this machine rounds as the proof says; asked once for each engine."""
