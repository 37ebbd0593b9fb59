"""Data that moves takes its ledger along: what was spent stays spent, and the old place can pay no more."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.cli import main

COUNT = "SELECT COUNT(*) FROM people"
POLICY = """\
[budget]
epsilon = 10.0
delta = 1e-6
[analysts.ana]
epsilon = 5.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
id = { type = "INTEGER" }
age = { type = "INTEGER", range = [0, 120] }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of files, and what was paid for a count of it."""
    data = tmp_path / "here" / "data"
    data.mkdir(parents=True)
    (data / "people.csv").write_text("id,age\n" + "".join(f"{i},{i % 90}\n" for i in range(100)))
    data.with_suffix(".toml").write_text(POLICY)
    with dpsql.connect(data, analyst="ana") as db:
        db.execute(COUNT)
    return data


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The same in a DuckDB file."""
    path = tmp_path / "here" / "people.duckdb"
    path.parent.mkdir()
    build(path)
    path.with_suffix(".toml").write_text(
        POLICY.replace('type = "INTEGER", ', "").replace('type = "INTEGER" ', "")
    )
    with dpsql.connect(path, analyst="ana") as db:
        db.execute(COUNT)
    return path


def build(path: Path) -> None:
    with duckdb.connect(str(path)) as owner:
        owner.execute("CREATE TABLE people AS SELECT i AS id, i % 90 AS age FROM range(100) AS r(i)")


def carried(data: Path) -> Path:
    """Data, policy and ledger in another folder, as by mv."""
    there = data.parent.parent / "there"
    shutil.move(data.parent, there)
    return there / data.name


def spent(data: Path, ledger: Path | None = None) -> float:
    with dpsql.connect(data, ledger=ledger) as db:
        return db.budget.spent


def refused(code: str, act: Callable[[], object]) -> dpsql.Error:
    with pytest.raises(dpsql.Error) as caught:
        act()
    assert caught.value.code == code, str(caught.value)
    return caught.value


def test_moved_data_keeps_what_was_spent(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = spent(folder)
    with dpsql.connect(folder, analyst="ana") as db:
        rows = db.execute(COUNT).rows
    new = carried(folder)
    error = refused("D505", lambda: dpsql.connect(new))
    assert "dpsql ledger move OLD NEW" in error.help
    assert main(["ledger", "move", str(folder), str(new)]) == 0
    said = capsys.readouterr().out
    assert f"{new.with_suffix('.ledger')} belongs to {new}\n" in said
    assert "ana: 0.1" in said
    assert spent(new) == before > 0
    with dpsql.connect(new, analyst="ana") as db:
        again = db.execute(COUNT)
        assert (again.rows, again.cost) == (rows, 0), "the files hold what they held"
        for age in range(40):  # past the entries that hold the sums
            db.execute(f"SELECT COUNT(*) FROM people WHERE age > {age}", epsilon=0.01)
        ledger = db._open().ledger
        ledger.verify()
        assert [each.kind for each in ledger.entries()].count("moved") == 1
        after = db._open().ledger.spent()
    with dpsql.connect(new) as db:
        assert db._open().ledger.spent() == after


def test_it_belongs_no_longer_to_the_old_data(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that was built anew has an identifier of its own, and so its place says nothing."""
    new = file.with_name("rebuilt.duckdb")
    build(new)
    policy, ledger = file.with_suffix(".toml"), file.with_suffix(".ledger")
    words = ["ledger", "move", str(file), str(new), "--policy", str(policy), "--ledger", str(ledger)]
    assert main(words) == 0
    assert "is still there; with a new ledger it would be a new budget" in capsys.readouterr().err
    refused("D505", lambda: dpsql.connect(file))
    before = ledger.read_bytes()
    assert main(words) == 0
    assert "belonged already to" in capsys.readouterr().out
    assert ledger.read_bytes() == before
    back = ["ledger", "move", str(new), str(file)]
    assert main(back) == 0
    assert spent(file) == pytest.approx(0.1, abs=0.05)


def test_an_open_connection_to_the_old_data_can_pay_no_more(file: Path) -> None:
    new = file.with_name("rebuilt.duckdb")
    build(new)
    ledger = file.with_suffix(".ledger")
    with dpsql.connect(file, analyst="ana") as db:
        assert (
            main(
                [
                    "ledger",
                    "move",
                    str(file),
                    str(new),
                    "--policy",
                    str(file.with_suffix(".toml")),
                    "--ledger",
                    str(ledger),
                ]
            )
            == 0
        )
        refused("D505", lambda: db.execute(f"{COUNT} WHERE age > 7"))
        assert db.purchase_count == 1
    with dpsql.connect(new, policy=file.with_suffix(".toml"), ledger=ledger, analyst="ana") as db:
        db.execute(f"{COUNT} WHERE age > 7")
        assert db.purchase_count == 2


def test_a_ledger_of_other_data_is_not_moved(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = carried(folder)
    ledger = new.with_suffix(".ledger")
    before = ledger.read_bytes()
    assert main(["ledger", "move", str(folder.with_name("other")), str(new)]) == 1
    assert "error[D505]: this ledger belongs to another database" in capsys.readouterr().err
    policy = new.with_suffix(".toml")
    policy.write_text(policy.read_text().replace("delta = 1e-6", "delta = 1e-5"))
    assert main(["ledger", "move", str(folder), str(new)]) == 1
    assert "error[D505]: this ledger belongs to another delta" in capsys.readouterr().err
    assert ledger.read_bytes() == before


def test_a_place_of_another_name_is_begun(folder: Path, tmp_path: Path) -> None:
    """A mirror in a folder is named after the ledger, and a witness beside the policy moves with it."""
    mirrors = tmp_path / "mirrors"
    mirrors.mkdir()
    policy = folder.with_suffix(".toml")
    policy.write_text(f'{policy.read_text()}\n[ledger]\nmirror = "{mirrors}/"\nwitness = "last"\n')
    before = spent(folder)
    new = carried(folder).with_name("renamed")
    for old in [*new.parent.iterdir()]:
        if old.name.startswith(folder.name):
            old.rename(old.with_name(old.name.replace(folder.name, "renamed")))
    files = [*mirrors.glob("*.ledger")]
    assert main(["ledger", "move", str(folder.with_name("other")), str(new)]) == 1
    assert [*mirrors.glob("*.ledger")] == files, "a move that is refused begins nothing"
    assert main(["ledger", "move", str(folder), str(new)]) == 0
    assert spent(new) == before
    ledger = new.with_suffix(".ledger")
    assert (mirrors / ledger.name).stat().st_size == ledger.stat().st_size
    (mirrors / ledger.name).unlink()
    refused("D507", lambda: spent(new))
    assert main(["ledger", "move", str(folder), str(new)]) == 1
    assert not (mirrors / ledger.name).exists(), "one that the ledger knows and that is gone stays gone"


def test_a_file_that_stands_where_it_was_is_asked_itself(file: Path) -> None:
    """Its header says that the ledger is not its own; of a file that is gone nothing can be said."""
    new = file.with_name("rebuilt.duckdb")
    build(new)
    stranger = file.with_name("stranger.duckdb")
    build(stranger)
    words = [
        str(new),
        "--policy",
        str(file.with_suffix(".toml")),
        "--ledger",
        str(file.with_suffix(".ledger")),
    ]
    assert main(["ledger", "move", str(stranger), *words]) == 1
    file.rename(file.with_name("gone"))
    assert main(["ledger", "move", str(file), *words]) == 0


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        ("data", "there is no database"),
        (".ledger", "there is no ledger"),
        ("twice", "there is a ledger at the old place too"),
    ],
)
def test_what_is_not_there_is_told(
    folder: Path, missing: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    new = carried(folder)
    if missing == "data":
        shutil.rmtree(new)
    elif missing == "twice":
        folder.parent.mkdir()
        shutil.copy(new.with_suffix(".ledger"), folder.with_suffix(".ledger"))
    else:
        new.with_suffix(".ledger").unlink()
    assert main(["ledger", "move", str(folder), str(new)]) == 1
    assert told in capsys.readouterr().err


def test_only_the_entry_that_says_so_moves_a_ledger(folder: Path) -> None:
    """Looking at a ledger of other data changes nothing."""
    new = carried(folder)
    ledger = new.with_suffix(".ledger")
    with pytest.raises(dpsql.Error, match="D505"):
        dpsql.connect(new)
    assert b'"moved"' not in ledger.read_bytes()
