"""Half-widths and the ends of intervals, carried to wherever a released number passes through unchanged."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql

GRAMMAR = Path(__file__).resolve().parents[2] / "grammar_tests"
sys.path.insert(0, str(GRAMMAR))

from cases import script  # noqa: E402  (the worlds of the fixtures)

WARDS = "(SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward)"


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Connection]:
    path = tmp_path_factory.mktemp("intervals") / "world.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(script("calm"))
    with dpsql.connect(path, GRAMMAR / "world.toml") as connection:
        yield connection


@pytest.mark.parametrize(
    ("sql", "carried"),
    [
        (f"SELECT n, ward FROM {WARDS} WHERE n > -1000 ORDER BY n DESC LIMIT 2", (True, False)),
        (
            f"WITH r AS {WARDS}, s(w, m) AS (SELECT * FROM r) SELECT m FROM s QUALIFY rank() OVER () = 1",
            (True,),
        ),
        (f"(SELECT n FROM {WARDS}) ORDER BY 1 LIMIT 3", (True,)),
        (f"SELECT n, SUM(n) OVER (ORDER BY ward) AS so_far FROM {WARDS}", (True, True)),
        (
            f"SELECT a.n, b.n, floor FROM {WARDS} a JOIN {WARDS} b USING (ward) JOIN wards USING (ward)",
            (1, 1, 0),
        ),
        (f"SELECT n, COUNT(*) FROM {WARDS} GROUP BY n", (True, False)),
        (f"SELECT n AS m, COUNT(*) FROM {WARDS} GROUP BY ALL", (True, False)),
        (f"SELECT ward, MAX(n) FROM {WARDS} GROUP BY ward", (False, False)),
        (f"SELECT n + 1 FROM {WARDS}", (True,)),
        (f"SELECT DISTINCT n FROM {WARDS}", (False,)),
        (f"SELECT n FROM {WARDS} UNION ALL SELECT COUNT(*) FROM visits ORDER BY n", (True,)),
        (f"SELECT n FROM {WARDS} UNION SELECT COUNT(*) FROM visits ORDER BY 1 LIMIT 3", (True,)),
        (f"SELECT n FROM {WARDS} EXCEPT SELECT -999999", (False,)),
        (
            f"SELECT ward, n FROM (SELECT ward, n, 'x' FROM {WARDS} UNION ALL FROM {WARDS}, (SELECT 'y'))",
            (0, 1),
        ),
        ("SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward HAVING n > -99 ORDER BY n", (False, True)),
        ("SELECT n FROM ward_sizes", (True,)),
    ],
)
def test_half_widths_pass_through(sql: str, carried: tuple[object, ...], db: dpsql.Connection) -> None:
    answer = db.execute(sql)
    assert len(answer)
    for row in answer.margins:
        assert [each is not None for each in row] == [bool(each) for each in carried]


def test_a_union_gives_each_row_its_own_half_width(db: dpsql.Connection) -> None:
    sql = "SELECT 1, COUNT(*) FROM patients {0} SELECT 2, SUM(age) FROM patients {0} SELECT 3, 7 ORDER BY 1"
    for word in ("UNION", "UNION ALL"):
        answer = db.execute(sql.format(word))
        (_, count), (_, total), (_, constant) = answer.margins
        assert count is not None
        assert total is not None
        assert count < total / 10
        assert constant is None
        assert answer.rows[2] == (3, 7)


def test_ends_lie_a_half_width_away_at_most(db: dpsql.Connection) -> None:
    sql = "SELECT ward, COUNT(*) AS n, {0}(n) FROM patients GROUP BY ward HAVING AVG(age) IS NOT NULL"
    low, high = (db.execute(sql.format(f"DP_INTERVAL_{each}")) for each in ("LOW", "HIGH"))
    assert high.cost == 0.0  # the same release
    for (_, n, end), (_, _, other), margin in zip(low.rows, high.rows, low.margins, strict=True):
        assert end <= n <= other
        assert margin[1] == pytest.approx(max(n - end, other - n))
        assert margin[2] is None  # an end carries no noise of its own


def test_an_average_of_few_rows_stays_in_its_range(db: dpsql.Connection) -> None:
    sql = "SELECT kind, AVG(cost) AS a, DP_INTERVAL_LOW(a), DP_INTERVAL_HIGH(a) FROM visits GROUP BY kind"
    for row, margin in zip(*(lambda each: (each.rows, each.margins))(db.execute(sql)), strict=True):
        if margin[1] is not None:
            assert -1e-6 <= row[2] <= row[1] <= row[3] <= 5000 + 1e-6
            assert margin[1] == pytest.approx(max(row[1] - row[2], row[3] - row[1]))
