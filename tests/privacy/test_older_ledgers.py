"""Ledgers that earlier versions of dpsql have written, as they are on owners' disks: a few kB each.

    before_sums      entries alone: no sums, no index, nobody's name in an answer
    before_tables    the same with those; debits do not say which tables they are for

Both are of the same hundred people in /tmp/oldfix/data: ana paid for a count and for a sum, whose range was
found first; bob joined the count.
"""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

import dpsql
from dpsql.cli import main

LEDGERS = sorted((Path(__file__).parent / "ledgers").glob("*.gz"))
COUNT, SUM = "SELECT COUNT(*) FROM people", "SELECT SUM(income) FROM people WHERE age > ?"
SPENT = 1.13756668496
POLICY = """\
[budget]
epsilon = 10.0
delta = 1e-6
[analysts.ana]
epsilon = 5.0
[analysts.bob]
epsilon = 5.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
id = { type = "INTEGER" }
age = { type = "INTEGER", range = [0, 120] }
income = { type = "INTEGER" }
"""


@pytest.fixture(params=LEDGERS, ids=lambda path: path.name.partition(".")[0])
def data(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The people, their policy and their ledger, in another place than where it was written."""
    folder = tmp_path / "data"
    folder.mkdir()
    rows = "".join(f"{i},{i % 90},{i * 10}\n" for i in range(100))
    (folder / "people.csv").write_text(f"id,age,income\n{rows}")
    folder.with_suffix(".toml").write_text(POLICY)
    ledger = folder.with_suffix(".ledger")
    with gzip.open(request.param) as packed, ledger.open("wb") as file:
        shutil.copyfileobj(packed, file)
    ledger.chmod(0o600)
    return folder


def test_there_are_older_ledgers() -> None:
    assert len(LEDGERS) == 2


def test_an_older_ledger_opens_with_what_was_spent(data: Path) -> None:
    with pytest.raises(dpsql.Error, match="D505"):  # its folder was elsewhere
        dpsql.connect(data)
    assert main(["ledger", "move", "/tmp/oldfix/data", str(data)]) == 0
    with dpsql.connect(data) as db:
        assert db.budget.spent == pytest.approx(SPENT, rel=1e-9)
        told = [(each.analyst, each.sql, each.shared, each.answered) for each in db.purchases]
        assert told == [
            ("ana", COUNT, False, True),
            ("ana", f"/* finds people.income */ {SUM}", False, True),
            ("ana", SUM, False, True),
            ("bob", COUNT, True, True),
        ]
        assert {each.parameters for each in db.purchases} <= {"", "20"}, "the first ledgers kept none"
        db._open().ledger.verify()
    with dpsql.connect(data, analyst="bob") as db:
        assert [each.sql for each in db.purchases] == ["-- joined another's query"], "it may name anything"
        assert db.latest_purchases(1) == db.purchases
    assert main(["policy", "check", str(data)]) == 0


def test_an_older_ledger_goes_on(data: Path) -> None:
    assert main(["ledger", "move", "/tmp/oldfix/data", str(data)]) == 0
    with dpsql.connect(data, analyst="ana") as db:
        for sql, values in ((COUNT, ()), (SUM, (20,)), (SUM, (30,))):
            answer = db.execute(sql, values, epsilon=0.5)
            assert db.execute(sql, values, epsilon=0.5).rows == answer.rows
        spent = db.budget.spent
        assert spent > SPENT
    with dpsql.connect(data) as db:
        assert db.budget.spent == spent
        db._open().ledger.verify()
    assert main(["ledger", "backup", str(data), str(data.with_name("monday"))]) == 0
