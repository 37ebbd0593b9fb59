"""The suite that drivers are tested with (dbapi-compliance), as far as it only reads.

The suite makes its two tables through a cursor and fills them; here the owner has made them, public, and
a test finds in them what it would have inserted. What differs, test by test:

    executeDDL1, 2          are refused, which is tested
    _paraminsert            asks for the two rows that the suite inserts, one of them with a parameter
    test_cursor_isolation   inserts: two cursors read the same row instead
    test_executemany        is refused, which is tested
    test_rowcount           inserts: what is left is that rows are counted
    test_fetchone           inserts between its fetches: the same on a table that holds the row
    test_None               inserts a NULL: the same on a table that holds it
    test_nextset            one statement has one answer, so there is no nextset (PEP 249: optional)
    test_setoutputsize      PEP 249 lets it do nothing, and it does nothing
    test_non_idempotent_close   closing twice is harmless, as with most drivers; "reasonable persons differ"
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import ClassVar

import dbapi20
import duckdb
import pytest

import dpsql

POLICY = """
[budget]
epsilon = 1.0
delta = 1e-6
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
[tables.dbapi20test_booze]
public = true
[tables.dbapi20test_barflys]
public = true
"""
TABLES = """
CREATE TABLE people (id INTEGER PRIMARY KEY);
CREATE TABLE dbapi20test_booze (name VARCHAR(20));
CREATE TABLE dbapi20test_barflys (name VARCHAR(20), drink VARCHAR(30));
"""
BOOZE = "SELECT name FROM dbapi20test_booze"
BARFLYS = "SELECT drink FROM dbapi20test_barflys"


class TestCompliance(dbapi20.DatabaseAPI20Test):  # type: ignore[misc]  # it is not typed
    driver = dpsql
    full: ClassVar[dict[str, list[str]]] = {
        "test_fetchmany": dbapi20.DatabaseAPI20Test.samples,
        "test_fetchall": dbapi20.DatabaseAPI20Test.samples,
        "test_mixedfetch": dbapi20.DatabaseAPI20Test.samples,
        "test_cursor_isolation": ["Victoria Bitter"],
        "test_fetchone": ["Victoria Bitter"],
        "test_rowcount": ["Victoria Bitter"],
    }
    """What a test finds in the table of drinks."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        database = self.folder / "bar.duckdb"
        with duckdb.connect(str(database)) as owner:
            owner.execute(TABLES)
            for name in self.full.get(self._testMethodName, ()):
                owner.execute("INSERT INTO dbapi20test_booze VALUES (?)", [name])
            if self._testMethodName == "test_None":
                owner.execute("INSERT INTO dbapi20test_barflys VALUES ('a', NULL)")
        database.with_suffix(".toml").write_text(POLICY)
        self.connect_args = (str(database),)

    def tearDown(self) -> None:
        shutil.rmtree(self.folder)

    def executeDDL1(self, cursor: dpsql.Cursor) -> None:
        with pytest.raises(dpsql.ProgrammingError, match="D104"):  # another where the cursor is closed
            cursor.execute(self.ddl1)

    executeDDL2 = executeDDL1

    def _populate(self) -> list[str]:
        return []

    def _paraminsert(self, cur: dpsql.Cursor) -> None:
        trouble = "thi%s :may ca%(u)se? troub:1e"
        cur.execute(f"SELECT 'Victoria Bitter', '{trouble}' UNION ALL SELECT ?, '{trouble}'", ("Cooper's",))
        assert sorted(cur.fetchall()) == [("Cooper's", trouble), ("Victoria Bitter", trouble)]

    def test_cursor_isolation(self) -> None:
        with self._connect() as con:
            one, other = con.cursor(), con.cursor()
            for cursor in (one, other):
                assert cursor.execute(BOOZE).fetchall() == [("Victoria Bitter",)]

    def test_executemany(self) -> None:
        with self._connect() as con, pytest.raises(dpsql.NotSupportedError, match="D104"):
            con.cursor().executemany("INSERT INTO dbapi20test_booze VALUES (?)", [("Boag's",)])

    def test_rowcount(self) -> None:
        with self._connect() as con:
            cursor = con.cursor()
            assert cursor.rowcount == -1
            assert cursor.execute(BOOZE).rowcount == 1
            assert cursor.execute(f"{BOOZE} LIMIT 0").rowcount == 0

    def test_fetchone(self) -> None:
        with self._connect() as con:
            cursor = con.cursor()
            with pytest.raises(dpsql.Error):
                cursor.fetchone()
            assert cursor.execute(f"{BOOZE} LIMIT 0").fetchone() is None
            assert cursor.execute(BOOZE).fetchone() == ("Victoria Bitter",)
            assert cursor.fetchone() is None

    def test_None(self) -> None:
        with self._connect() as con:
            assert con.cursor().execute(BARFLYS).fetchall() == [(None,)]

    def test_nextset(self) -> None:
        with self._connect() as con:
            assert not hasattr(con.cursor(), "nextset")

    def test_setoutputsize(self) -> None:
        with self._connect() as con:
            cursor = con.cursor()
            cursor.setoutputsize(1)
            assert cursor.execute("SELECT 'whole' AS x").fetchall() == [("whole",)]

    def test_non_idempotent_close(self) -> None:
        con = self._connect()
        con.close()
        con.close()
