"""The bins of a histogram in SQL: every value of a type has one of the grid's, or none."""

from decimal import Decimal

import duckdb
import pytest

from dpsql.details.quantiles.sql import bin_sql
from dpsql.functions.core.types import type_named
from dpsql.ir.column import Fact, Interval
from dpsql.ir.grid import grid_of

WHOLE = (
    "-170141183460469231731687303715884105728",
    "-1",
    "0",
    "1",
    "170141183460469231731687303715884105727",
)
REAL = ("'nan'", "'inf'", "'-inf'", "-1.7e308", "-0.0", "5e-324", "0.1", "1.7e308")
DAYS = ("'-infinity'", "'infinity'", "'1970-01-01'", "'2024-02-29'")
CASES = [
    (
        "DECIMAL(18,2)",
        (Decimal("72455949427876.24"), Decimal("72455949428176.24")),
        ("1", "9" * 16),
    ),
    (
        "DECIMAL(18,2)",
        (Decimal("81791372218680.21"), Decimal("81791372218980.21")),
        ("1", "9" * 16),
    ),
    ("DECIMAL(38,10)", (0, 10), ("-9999999999999999999999999999", "9999999999999999999999999999")),
    ("HUGEINT", (0, 120), WHOLE),
    ("HUGEINT", (-(10**18), 10**18), WHOLE),
    ("DOUBLE", (0.0, 5000.0), REAL),
    ("DOUBLE", (-1e300, 1e300), REAL),
    ("DOUBLE", (1e-300, 1e-299), REAL),
    ("DOUBLE", (4503599627370495.5, 4503599627370496.5), REAL),
    ("DATE", (0, 20_000), DAYS),
    ("TIMESTAMP", (-(10**15), 10**15), DAYS),
]


@pytest.mark.parametrize(("name", "ends", "values"), CASES)
def test_every_value_has_a_bin_of_the_grid_or_none(name, ends, values):
    fact = Fact(type_named(name), Interval(*ends))
    grid = grid_of(fact, Interval(*ends))
    own = (
        []
        if name in ("DATE", "TIMESTAMP")
        else [repr(each) if name == "DOUBLE" else str(each) for each in ends]
    )
    listed = ", ".join(f"(CAST({each} AS {name}))" for each in (*values, *own, "NULL"))
    found = (
        duckdb.connect()
        .sql(f"SELECT x, {bin_sql('x', fact, grid)} FROM (VALUES {listed}) AS t(x)")
        .fetchall()
    )
    for value, place in found:
        missing = value is None or value != value
        assert (place is None) if missing else (0 <= place < grid.size), value
