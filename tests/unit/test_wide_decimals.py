"""Arithmetic on DECIMALs of up to 38 digits: no row fails, and what is not NULL is the exact result."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from decimal import Context, Decimal

import duckdb
import pytest

from dpsql.engines.duckdb import steady
from dpsql.functions import ArgumentError
from dpsql.functions.core.meaning import fact_of
from dpsql.functions.core.printing import sql_of
from dpsql.functions.numbers import rounding
from dpsql.ir.column import ANYTHING, INTEGER, Fact, Kind, type_named, type_range
from dpsql.ir.scalar import Call, Literal, Ref, Scalar

SIZES = ((1, 0), (5, 0), (19, 0), (37, 0), (38, 0), (38, 1), (38, 19), (38, 36), (38, 37), (38, 38), (19, 19))
TYPES = [
    *(f"DECIMAL({width},{scale})" for width, scale in SIZES),
    *("TINYINT", "INTEGER", "UBIGINT", "HUGEINT", "UHUGEINT"),
]
EXACT = Context(prec=100)
SIGNS = {"+": EXACT.add, "-": EXACT.subtract, "*": EXACT.multiply}
FACTS = {f"{side}{i}": Fact(type_named(sql), ANYTHING, True) for side in "ab" for i, sql in enumerate(TYPES)}


def ends(sql: str) -> list[Decimal]:
    """The largest and the smallest numbers of a type, and some in between."""
    if sql.startswith("DECIMAL"):
        width, scale = map(int, sql[8:-1].split(","))
        step = Decimal(1).scaleb(-scale)
        largest = EXACT.multiply(Decimal(10**width - 1), step)
        return [
            largest,
            EXACT.minus(largest),
            step,
            EXACT.minus(step),
            Decimal(0),
            EXACT.multiply(Decimal(10 ** (width // 2)), step),
        ]
    low, high = type_range(type_named(sql)).low, type_range(type_named(sql)).high
    return [Decimal(int(low)), Decimal(int(high)), Decimal(1), Decimal(2), Decimal(0), Decimal(9)]


@pytest.fixture(scope="module")
def plain() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for setting in steady():  # as in the engine
            connection.execute(f"SET {setting}")
        for side in "ab":
            columns = ", ".join(f"{side}{i} {sql}" for i, sql in enumerate(TYPES))
            connection.execute(f"CREATE TABLE {side} ({columns})")
            for row in zip(*map(ends, TYPES), strict=True):
                values = ", ".join(f"'{value:f}'" for value in row)
                connection.execute(f"INSERT INTO {side} VALUES ({values})")
        yield connection


def rows(plain: duckdb.DuckDBPyConnection, scalar: Scalar) -> list[tuple[object, ...]] | None:
    """The operands and what is computed of them, or None if it is refused."""
    try:
        fact = fact_of(scalar, FACTS.__getitem__)
    except ArgumentError:
        return None
    sql = sql_of(scalar, FACTS.__getitem__, str)
    assert isinstance(scalar, Call)
    operands = [each.name for each in scalar.arguments if isinstance(each, Ref)]
    tables = ", ".join(sorted({name[0] for name in operands}))
    selected = ", ".join([*operands, sql])
    found = plain.execute(f"SELECT {selected}, typeof({sql}) FROM {tables}").fetchall()
    if fact.type.kind is Kind.DECIMAL:
        assert {row[-1] for row in found} == {fact.type.sql}
    return [row[:-1] for row in found]


def compared(plain: duckdb.DuckDBPyConnection, sign: str) -> Iterator[tuple[str, bool]]:
    """Each result that is not NULL, and whether it is exact."""
    for one, other in itertools.product(range(len(TYPES)), repeat=2):
        kinds = {FACTS[f"a{each}"].type.kind for each in (one, other)}
        if Kind.DECIMAL not in kinds:
            continue
        for left, right, result in rows(plain, Call(sign, (Ref(f"a{one}"), Ref(f"b{other}")))) or ():
            if result is not None:
                exact = SIGNS[sign](Decimal(str(left)), Decimal(str(right)))
                said = f"{TYPES[one]} {sign} {TYPES[other]}: {left} and {right}"
                yield said, Decimal(str(result)) == exact


@pytest.mark.parametrize("sign", SIGNS)
def test_no_result_overflows(plain: duckdb.DuckDBPyConnection, sign: str) -> None:
    found = [*compared(plain, sign)]
    assert len(found) > 1_000
    assert [said for said, exact in found if not exact] == []


@pytest.mark.parametrize("sign", SIGNS)
def test_what_leaves_no_digit_before_the_point_is_refused(sign: str) -> None:
    for other in ("DECIMAL(1,0)", "INTEGER", "HUGEINT"):
        names = f"a{TYPES.index('DECIMAL(38,38)')}", f"b{TYPES.index(other)}"
        for pair in (names, names[::-1]):
            with pytest.raises(ArgumentError):
                fact_of(Call(sign, tuple(map(Ref, pair))), FACTS.__getitem__)


ROUNDING = ("round", "round_even", "trunc")


@pytest.mark.parametrize("name", ROUNDING)
def test_no_rounding_overflows(plain: duckdb.DuckDBPyConnection, name: str) -> None:
    for number, sql in enumerate(TYPES):
        for places in (2, 0, -1, -2, -18, -36, -37, -38, -39):
            asked = Call(name, (Ref(f"a{number}"), Literal(places, INTEGER)))
            for value, result in rows(plain, asked) or ():
                if sql.startswith("DECIMAL") and result is not None:
                    step = EXACT.scaleb(Decimal(1), -places)
                    assert EXACT.abs(EXACT.subtract(Decimal(str(result)), Decimal(str(value)))) <= step


def test_rounding_without_its_guard_is_found(
    plain: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: 10^38 - 1 is rounded up to 10^38."""
    monkeypatch.setattr(rounding, "_overflows", lambda *given: False)
    with pytest.raises(duckdb.OutOfRangeException):
        test_no_rounding_overflows(plain, "round")
