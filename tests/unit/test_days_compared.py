"""A DATE beside a constant TIMESTAMP: compared as a day where the constant is a midnight, as DuckDB compares.

Of TIMESTAMPs made of DATEs, DuckDB does not know which rows it may skip.
"""

from __future__ import annotations

import datetime

import duckdb
import pytest

from dpsql.functions.core.printing import sql_of
from dpsql.ir.column import BOOLEAN, DATE, INTERVAL, TIMESTAMP, Fact
from dpsql.ir.scalar import Call, Literal, Ref, Scalar

DAYS = """
SELECT d FROM (
    SELECT DATE '2023-12-01' + n::INTEGER AS d FROM range(120) AS t(n)
    UNION ALL
    VALUES (NULL), (DATE '-infinity'), (DATE 'infinity'), (DATE '5877642-06-25 (BC)'), (DATE '290000-01-01')
)
"""
"""A day in every place beside the constants, and those that no TIMESTAMP holds."""

DAY = Ref("d")
START = Literal(datetime.date(2024, 1, 31), DATE)


def moment(sign: str, interval: str) -> Scalar:
    return Call(sign, (START, Literal(interval, INTERVAL)))


CONSTANTS: dict[str, tuple[Scalar, bool]] = {
    "DATE '2024-01-31' + INTERVAL '1 MONTH'": (moment("+", "1 MONTH"), True),
    "DATE '2024-01-31' - INTERVAL '7 DAY'": (moment("-", "7 DAY"), True),
    "DATE '2024-01-31' + INTERVAL '48 HOUR'": (moment("+", "48 HOUR"), True),
    "DATE '2024-01-31' - INTERVAL '1 MICROSECOND'": (moment("-", "1 MICROSECOND"), False),
    "TIMESTAMP '2024-02-01 00:00:00'": (Literal(datetime.datetime(2024, 2, 1), TIMESTAMP), True),
    "TIMESTAMP '2024-02-01 12:00:00'": (Literal(datetime.datetime(2024, 2, 1, 12), TIMESTAMP), False),
}


def printed(scalar: Scalar) -> str:
    return sql_of(scalar, lambda name: Fact(DATE), str)


def same(connection: duckdb.DuckDBPyConnection, ours: str, plain: str) -> None:
    """Where DuckDB compares, we do alike; where it fails, ours does not."""
    held = f"SELECT * FROM ({DAYS}) WHERE TRY_CAST(d AS TIMESTAMP) IS NOT NULL OR d IS NULL"
    compared = f"SELECT d, {ours} AS ours, {plain} AS plain FROM held"
    differ = f"WITH held AS MATERIALIZED ({held}) FROM ({compared}) WHERE ours IS DISTINCT FROM plain"
    assert connection.execute(differ).fetchall() == []
    assert len(connection.execute(f"SELECT {ours} FROM ({DAYS})").fetchall()) == 125


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "=", "<>", "IS DISTINCT FROM"])
@pytest.mark.parametrize("plain", CONSTANTS)
def test_one_constant(sign: str, plain: str) -> None:
    constant, midnight = CONSTANTS[plain]
    name = sign.lower().replace(" ", "_")
    with duckdb.connect() as connection:
        for ours, theirs in (
            (Call(name, (DAY, constant), BOOLEAN), f"d {sign} {plain}"),
            (Call(name, (constant, DAY), BOOLEAN), f"{plain} {sign} d"),
        ):
            same(connection, printed(ours), theirs)
            assert ("TIMESTAMP" in printed(ours)) is not midnight


def test_several_constants() -> None:
    at_noon, midnights = [], []
    for plain, (constant, midnight) in CONSTANTS.items():
        (midnights if midnight else at_noon).append((plain, constant))
    with duckdb.connect() as connection:
        for chosen, days in ((midnights, True), (midnights + at_noon[:1], False)):
            ours = printed(Call("in", (DAY, *(constant for _, constant in chosen))))
            same(connection, ours, f"d IN ({', '.join(plain for plain, _ in chosen)})")
            assert ("TRY_CAST" in ours) is not days
        (low, first), (high, last) = midnights[1], midnights[0]
        ours = printed(Call("between", (DAY, first, last)))
        same(connection, ours, f"d BETWEEN {low} AND {high}")
        assert ours == "(d BETWEEN CAST('2024-01-24' AS DATE) AND CAST('2024-02-29' AS DATE))"


def test_a_range_of_one_moment_that_may_be_null_is_no_constant() -> None:
    maybe = Call("case", (Call("=", (DAY, START)), CONSTANTS["TIMESTAMP '2024-02-01 00:00:00'"][0]))
    ours = printed(Call(">", (DAY, maybe)))
    assert "TRY_CAST" in ours
    with duckdb.connect() as connection:
        plain = "d > CASE WHEN d = DATE '2024-01-31' THEN TIMESTAMP '2024-02-01' END"
        same(connection, ours, plain)
