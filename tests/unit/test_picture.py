"""What a refusal to show private rows says of their columns: what is declared, and nothing of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql

POLICY = """
[budget]
epsilon = 10
delta = 1e-6
[unit]
name = "guest"
table = "guests"
key = "guest_id"
[tables.guests.columns]
age = { range = [0, 110] }
level = { values = ["gold", "silver", "iron", "none"] }
mood = {}
[tables.stays]
unit = { column = "guest_id" }
rows_per_unit = 4
[tables.stays.columns]
day = { range = [2024-01-01, 2024-12-31] }
room = {}
[tables.rooms]
public = true
key = "room"
"""


@pytest.fixture(params=["empty", "full"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dpsql.Connection]:
    """A house without a guest, and one with guests beyond all that is declared."""
    path = tmp_path / "house.duckdb"
    with duckdb.connect(str(path)) as writer:
        writer.execute(
            "CREATE TABLE guests (guest_id INTEGER PRIMARY KEY, age INTEGER, level VARCHAR, mood VARCHAR);"
            "CREATE TABLE stays (guest_id INTEGER, day DATE, room VARCHAR);"
            "CREATE TABLE rooms (room VARCHAR PRIMARY KEY, beds INTEGER);"
            "INSERT INTO rooms VALUES ('a', 1), ('b', 2);"
        )
        if request.param == "full":
            writer.execute("INSERT INTO guests VALUES (1, 999, 'clay', 'secret')")
            writer.execute("INSERT INTO stays SELECT 1, DATE '1999-01-01', 'cellar' FROM range(50)")
    (tmp_path / "house.toml").write_text(POLICY, encoding="utf-8")
    with dpsql.connect(path, tmp_path / "house.toml") as connection:
        yield connection


GUESTS = (
    "guest_id: INTEGER, tells the guest",
    "age: INTEGER, [0, 110]",
    "level: VARCHAR, gold, silver, iron, ...",
    "mood: VARCHAR",
)


STAYS = "SELECT n FROM (SELECT guest_id, COUNT(*) AS n FROM stays GROUP BY guest_id)"
ROOMS = (
    "guest_id: INTEGER, tells the guest",
    "day: DATE, [2024-01-01, 2024-12-31]",
    "room: VARCHAR, those of rooms.room",
    "beds: INTEGER, [1, 2]",
)


@pytest.mark.parametrize(
    ("sql", "code", "notes"),
    [
        ("SELECT * FROM guests LIMIT 10", "D402", GUESTS),
        ("FROM guests", "D402", GUESTS),
        ("SUMMARIZE guests", "D104", GUESTS),
        ('describe main."Guests";', "D104", GUESTS),
        ("SELECT age FROM guests WHERE age >= 18", "D402", ("age: INTEGER, [18, 110]",)),
        ("SELECT * FROM stays JOIN rooms USING (room) LIMIT 1", "D402", ROOMS),
        (STAYS, "D402", ("n: BIGINT",)),
        ("SUMMARIZE nobody", "D104", ()),
        ("SUMMARIZE SELECT age FROM guests", "D104", ()),
        ("DROP TABLE guests", "D104", ()),
    ],
)
def test_it_is_the_same_whatever_the_rows_are(
    sql: str, code: str, notes: tuple[str, ...], db: dpsql.Connection
) -> None:
    with pytest.raises(dpsql.Error) as refused:
        db.execute(sql)
    assert refused.value.code == code
    assert refused.value.notes == notes
    assert db.budget.spent == 0


def test_a_wide_table_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "wide.duckdb"
    columns = [f"c{i} INTEGER" for i in range(30)]
    with duckdb.connect(str(path)) as writer:
        writer.execute(f"CREATE TABLE people (id INTEGER PRIMARY KEY, {', '.join(columns)})")
    lines = "\n".join(f"c{i} = {{}}" for i in range(30))
    (tmp_path / "wide.toml").write_text(
        '[budget]\nepsilon = 1\ndelta = 1e-6\n[unit]\nname = "person"\ntable = "people"\nkey = "id"\n'
        f"[tables.people.columns]\n{lines}\n",
        encoding="utf-8",
    )
    with dpsql.connect(path, tmp_path / "wide.toml") as db, pytest.raises(dpsql.Error) as refused:
        db.execute("SELECT * FROM people")
    assert len(refused.value.notes) == 21
    assert refused.value.notes[-1] == "and 11 more columns"
