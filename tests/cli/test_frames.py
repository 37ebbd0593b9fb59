"""Answers in other people's hands: frames with the types that plain DuckDB gives, and a notebook's table."""

from __future__ import annotations

import datetime
import html.parser
import sys
import warnings

import duckdb
import numpy
import pandas
import polars
import polars.testing
import pyarrow
import pytest
from test_boxes import WARDS, answer

import dpsql
from dpsql.answer import Answer
from dpsql.errors import InterfaceError, OperationalError

VALUES = {
    "small": "42::TINYINT",
    "n": "1204::BIGINT",
    "x": "1.5::DOUBLE",
    "money": "12345678901234.25::DECIMAL(18,2)",
    "huge": "170141183460469231731687303715884105::HUGEINT",
    "day": "DATE '0044-03-15'",
    "at": "TIMESTAMP '2024-02-29 10:00:00.000001'",
    "zoned": "TIMESTAMPTZ '2024-02-29 10:00:00+02'",
    "clock": "TIME '23:59:59.999999'",
    "yes": "true",
    "text": "'it''s'",
    "id": "UUID '00000000-0000-0000-0000-00000000000a'",
    "list": "[1, NULL, 3]",
    "pair": "{'a': 1, 'b': 'x'}",
    "bytes": "'a\\x00b'::BLOB",
    "kind": "'b'::ENUM('a', 'b')",
}


def plain(rows: str) -> tuple[duckdb.DuckDBPyConnection, str]:
    connection = duckdb.connect(":memory:")
    connection.execute("SET TimeZone = 'UTC'")
    listed = ", ".join(f"{value} AS {name}" for name, value in VALUES.items())
    empty = ", ".join(f"NULL AS {name}" for name in VALUES)
    connection.execute(f"CREATE TABLE t AS (SELECT {listed} UNION ALL BY NAME SELECT {empty})")
    return connection, f"SELECT * FROM t {rows}"


def ours(connection: duckdb.DuckDBPyConnection, sql: str) -> Answer:
    """The same rows as an answer would hold them: zoned times in UTC, with their zone."""
    described = connection.execute(f"DESCRIBE {sql}").fetchall()
    fetchable = sql.replace("*", "* REPLACE (zoned::TIMESTAMP AS zoned)")
    rows = [list(row) for row in connection.execute(fetchable).fetchall()]
    at = list(VALUES).index("zoned")
    for row in rows:
        row[at] = row[at] and row[at].replace(tzinfo=datetime.UTC)
    columns = {name: kind for name, kind, *_ in described}
    return answer(columns, *map(tuple, rows))


def theirs(relation: duckdb.DuckDBPyRelation) -> pandas.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return relation.df()


@pytest.mark.parametrize("rows", ["", "WHERE n IS NOT NULL", "WHERE n IS NULL", "LIMIT 0"])
def test_frames_are_what_duckdb_makes(rows: str) -> None:
    connection, sql = plain(rows)
    given = ours(connection, sql)
    pandas.testing.assert_frame_equal(given.df(), theirs(connection.sql(sql)))
    assert given.arrow().equals(connection.sql(sql).to_arrow_table())
    polars.testing.assert_frame_equal(given.pl(), connection.sql(sql).pl())
    found, meant = given.fetchnumpy(), connection.sql(sql).fetchnumpy()
    assert list(found) == list(meant)
    for name, column in meant.items():
        assert (type(found[name]), found[name].dtype) == (type(column), column.dtype)
        assert numpy.ma.getmaskarray(found[name]).tolist() == numpy.ma.getmaskarray(column).tolist()
    connection.close()


def test_margins_beside_their_values() -> None:
    frame = WARDS.df(margins=True)
    assert list(frame.columns) == ["ward", "patients", "patients_margin", "age", "age_margin"]
    assert frame["patients_margin"].tolist() == [24.3, 24.3, 24.3]
    assert WARDS.pl(margins=True)["age_margin"].to_list() == [0.42, None, None]
    assert WARDS.arrow(margins=True).column("age_margin").type == pyarrow.float64()
    assert numpy.ma.getmaskarray(WARDS.fetchnumpy(margins=True)["age_margin"]).tolist() == [False, True, True]


def test_an_answer_without_rows_keeps_its_types() -> None:
    empty = answer({"n": "BIGINT", "day": "DATE", "b": "BOOLEAN", "t": "VARCHAR", "nothing": '"NULL"'})
    assert empty.pl().schema == {
        "n": polars.Int64,
        "day": polars.Date,
        "b": polars.Boolean,
        "t": polars.String,
        "nothing": polars.Int32,
    }
    assert [str(each) for each in empty.arrow().schema.types[:3]] == ["int64", "date32[day]", "bool"]
    assert empty.df()["n"].dtype == "int64"


def test_a_column_that_a_frame_cannot_hold_is_named_as_such() -> None:
    with pytest.raises(OperationalError, match="a column that pandas cannot hold"):
        answer({"n": "UHUGEINT"}, (2**100,)).df()


@pytest.mark.parametrize(
    ("method", "package"), [("df", "pandas"), ("pl", "polars"), ("pl", "pyarrow"), ("arrow", "pyarrow")]
)
def test_a_package_that_is_not_there_is_named(
    method: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InterfaceError, match=rf"\.{method}\(\) needs {package}, which is not installed"):
        getattr(answer({"n": "BIGINT"}, (1,)), method)()


def test_through_a_connection(db: dpsql.Connection) -> None:
    found = db.execute("SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM patients GROUP BY ward")
    assert found.pl().schema == {"ward": polars.String, "n": polars.Int64, "age": polars.Float64}
    assert found.pl()["ward"].to_list() == ["A", "B", "C"]
    assert found.df()["n"].tolist() == [row[1] for row in found.rows]
    assert found.arrow()["age"].to_pylist() == [row[2] for row in found.rows]


# ---- notebooks ---------------------------------------------------------------------------------------


class Seen(html.parser.HTMLParser):
    """Which elements a page has, with which attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.names: set[str] = set()
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.names |= {name for name, _ in attributes}

    def handle_data(self, data: str) -> None:
        self.text += data


EVIL = '</td></table><script>alert(1)</script><img src=x onerror="alert(2)">\x00\u202e\ud83d'


def test_a_notebook_shows_a_table_with_margins_price_and_rest() -> None:
    seen = Seen(WARDS._repr_html_())
    assert seen.tags.count("tr") == 4
    assert "14\u202f422 ± 25" in seen.text
    assert "cost epsilon 0.5, remaining 1.5" in seen.text
    assert '<span style="opacity:.6"> ± 25</span>' in WARDS._repr_html_()
    assert '<span style="opacity:.6">NULL</span></td>' in WARDS._repr_html_()  # NULL is not the text NULL
    assert '">NULL</td>' in WARDS._repr_html_()


def test_whatever_a_table_holds_is_text() -> None:
    given = answer({EVIL: "VARCHAR", "n": "BIGINT"}, (EVIL, 1), note=EVIL)
    seen = Seen(given._repr_html_())
    assert set(seen.tags) == {"div", "table", "thead", "tbody", "tr", "th", "td", "br"}
    assert seen.names <= {"style", "scope", "colspan"}
    given._repr_html_().encode("utf-8")
    assert "\u202e" not in given._repr_html_()


def test_of_a_long_answer_the_ends_are_shown() -> None:
    given = answer({"n": "BIGINT", "t": "VARCHAR"}, *((i, "x" * 1000) for i in range(5000)))
    page = given._repr_html_()
    assert Seen(page).tags.count("tr") == 102
    assert "(5000 rows, 100 shown)" in page
    assert len(page) < 100_000


def test_a_prompt_shows_a_box(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert repr(WARDS).startswith("┌")
    assert max(map(len, repr(WARDS).split("\n"))) <= 60
    assert str(WARDS) == repr(WARDS)
