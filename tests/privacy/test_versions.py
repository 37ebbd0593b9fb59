"""What makes a repeat free: the bytes that a plan reads, not where and when they were written."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.engines import contents, open_files
from dpsql.engines.contents import Contents
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.folder import Folder
from dpsql.session.checks import parse_policy

POLICY = """\
[budget]
epsilon = 5000.0
delta = 1e-6

[query]
epsilon = 1.0

[unit]
name = "person"
column = "person"

[tables.people]
csv = {}
rows_per_unit = 1
[tables.people.columns]
person = { type = "INTEGER" }
age = { type = "INTEGER", range = [0, 120] }
income = { type = "INTEGER" }

[tables.visits]
files = "visits/*.parquet"
rows_per_unit = 20
[tables.visits.columns]
person = {}
cost = {}
"""

AGE = "SELECT SUM(age) FROM people"
INCOME = "SELECT SUM(income) FROM people"
COST = "SELECT SUM(cost) FROM visits"


def day(data: Path, number: int, cost: int = 9) -> None:
    """Write the visits of one day."""
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT p AS person, ({cost} + p % 7)::INTEGER AS cost FROM range(400) AS t(p)) "
            f"TO '{data}/visits/{number:02}.parquet'"
        )


PUBLIC = """
[tables.weights]
public = true
csv = {}
[tables.weights.columns]
part = { type = "DOUBLE" }
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder of a csv file and of a parquet file for each day."""
    data = tmp_path / "data"
    (data / "visits").mkdir(parents=True)
    lines = "".join(f"{p},{p % 90},{p % 50}\n" for p in range(400))
    (data / "people.csv").write_text("person,age,income\n" + lines)
    (tmp_path / "data.toml").write_text(POLICY)
    day(data, 1)
    return data


def costs(data: Path, *queries: str, policy: Path | None = None) -> list[float]:
    with dpsql.connect(data, policy) as db:
        return [db.execute(sql).cost for sql in queries]


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


# ---- what changes nothing --------------------------------------------------------------------------


def test_a_touched_file_is_the_same_version(data: Path, clinic: Path) -> None:
    for path, query in ((data, AGE), (clinic, "SELECT COUNT(*) FROM visits")):
        assert costs(path, query) == [1]
        for file in [path, *path.rglob("*")] if path.is_dir() else [path]:
            os.utime(file)
        assert costs(path, query) == [0]


def test_a_copy_is_the_same_version(clinic: Path, tmp_path: Path) -> None:
    query = "SELECT COUNT(*) FROM visits"
    assert costs(clinic, query) == [1]
    copy = tmp_path / "elsewhere" / "copy.duckdb"
    copy.parent.mkdir()
    shutil.copy(clinic, copy)
    ledger = clinic.with_suffix(".ledger")
    with dpsql.connect(copy, clinic.with_suffix(".toml"), ledger) as db:
        assert db.execute(query).cost == 0


def test_a_folder_is_the_same_version_elsewhere(data: Path, tmp_path: Path) -> None:
    shutil.copytree(data, tmp_path / "copy")
    for order in (data / "visits", tmp_path / "copy" / "visits"):
        day(order.parent, 2)
    (tmp_path / "copy" / "visits" / "01.parquet").rename(tmp_path / "copy" / "visits" / "zz.parquet")
    policy = parse_policy(POLICY, "data.toml")
    found = []
    for folder in (data, tmp_path / "copy"):
        engine = Folder(folder, policy)
        found.append([engine.version(Contents(), tables) for tables in (None, ["people"], ["visits"])])
        engine.close()
    assert found[0] == found[1]
    assert len(set(found[0])) == 3


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[budget]", "# what all may spend\n[budget]"),
        ("epsilon = 5000.0", "epsilon = 6000.0"),
        ('income = { type = "INTEGER" }', 'income = { type = "INTEGER", range = [0, 900] }'),
        ("rows_per_unit = 20", "rows_per_unit = 30"),
        ("cost = {}", "cost = { range = [0, 5] }"),
        ("[unit]", '[views.old]\nsql = "SELECT AVG(age) AS a FROM people"\n[unit]'),
        ("epsilon = 1.0", "epsilon = 1.0\nmin_units = 4"),
    ],
)
def test_what_the_plan_does_not_use_changes_nothing(data: Path, old: str, new: str) -> None:
    assert costs(data, AGE) == [1]
    edit(data.with_suffix(".toml"), old, new)
    assert costs(data, AGE) == [0]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(cost) FROM people JOIN visits USING (person) WHERE age > 3",
        "SELECT SUM(c) FROM (SELECT cost AS c, RANK() OVER (PARTITION BY person ORDER BY cost) AS r "
        "FROM visits) WHERE r < 3",
        "SELECT SUM(n) FROM (SELECT COUNT(*) OVER (PARTITION BY person) AS n FROM visits)",
        "SELECT SUM(c) FROM (SELECT person, LAG(cost) OVER (PARTITION BY person ORDER BY cost) AS c "
        "FROM (SELECT person, cost FROM visits))",
        "SELECT SUM(c) FROM (SELECT cost AS c FROM visits UNION ALL SELECT cost FROM visits)",
        "SELECT SUM(c) FROM (SELECT person, ARG_MIN(cost, cost) AS c FROM visits GROUP BY person)",
    ],
)
def test_a_column_that_is_not_read_changes_nothing(data: Path, sql: str) -> None:
    """Not below windows, unions and aggregates of ordered rows either."""
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT *, cost AS fee, cost AS note FROM '{data}/visits/01.parquet') "
            f"TO '{data}/visits/01.parquet'"
        )
    edit(data.with_suffix(".toml"), "cost = {}", "cost = { range = [0, 20] }")
    assert costs(data, sql) == [1]
    edit(data.with_suffix(".toml"), "[tables.visits.columns]", "[tables.visits.columns]\nfee = {}\nnote = {}")
    assert costs(data, sql) == [0]


def test_a_tie_that_another_column_breaks_is_asked_anew(data: Path) -> None:
    """Of equal costs, ROW_NUMBER numbers the one of the lower note first: the rows are others then."""
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT *, 9 - cost AS note FROM '{data}/visits/01.parquet') TO '{data}/visits/01.parquet'"
        )
    edit(data.with_suffix(".toml"), "cost = {}", "cost = { range = [0, 20] }")
    sql = (
        "SELECT SUM(cost) FROM "
        "(SELECT cost, ROW_NUMBER() OVER (PARTITION BY person ORDER BY cost) AS n FROM visits) WHERE n = 1"
    )
    assert costs(data, sql) == [1]
    edit(data.with_suffix(".toml"), "[tables.visits.columns]", "[tables.visits.columns]\nnote = {}")
    assert costs(data, sql) == [1]


def test_the_order_of_a_policy_changes_nothing(data: Path) -> None:
    assert costs(data, AGE, COST) == [1, 1]
    head, people, visits = re.split(r"^(?=\[tables\.(?:people|visits)\]$)", POLICY, flags=re.MULTILINE)
    data.with_suffix(".toml").write_text(f"{visits}\n{people}\n{head}")
    assert costs(data, AGE, COST) == [0, 0]


# ---- what is another version -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("range = [0, 120]", "range = [0, 90]"),
        ("csv = {}", 'csv = { nullstr = "-" }'),
        ('income = { type = "INTEGER" }', 'income = { type = "DOUBLE" }'),
        ("[budget]", 'timezone = "Europe/Oslo"\n[budget]'),
    ],
)
def test_what_the_plan_uses_is_asked_anew(data: Path, old: str, new: str) -> None:
    assert costs(data, AGE) == [1]
    edit(data.with_suffix(".toml"), old, new)
    if "DOUBLE" in new:
        data.with_suffix(".ledger").unlink()  # a column never changes its type in one ledger
    assert costs(data, AGE) == [1]


def test_a_new_file_is_a_new_version_of_its_table_alone(data: Path) -> None:
    assert costs(data, AGE, INCOME, COST) == [1, 1, 1]
    assert costs(data, AGE, INCOME, COST) == [0, 0, 0]
    day(data, 2)
    assert costs(data, AGE, INCOME) == [0, 0]
    assert costs(data, COST) == [1]
    assert costs(data, COST) == [0]
    (data / "visits" / "02.parquet").unlink()
    assert costs(data, COST) == [0]  # as on the first day


def test_public_rows_that_stages_hand_down_belong_to_the_version(data: Path) -> None:
    """What is measured second depends on them; what is only shown beside a release does not."""
    with data.with_suffix(".toml").open("a") as policy:
        policy.write(PUBLIC)
    (data / "weights.csv").write_text("part\n0.1\n")
    handed_down = (
        "SELECT COUNT(*) FROM people WHERE age > "
        "(SELECT n * part FROM (SELECT COUNT(*) AS n FROM people) AS r, weights ORDER BY 1 LIMIT 1)"
    )
    shown = "SELECT n * part AS x FROM (SELECT COUNT(*) AS n FROM people WHERE age > 3) AS r, weights"
    with dpsql.connect(data) as db:
        assert db.execute(handed_down).cost == 1
        before = db.execute(shown)
    (data / "weights.csv").write_text("part\n0.2\n")
    with dpsql.connect(data) as db:
        assert db.execute(handed_down).cost == 1
        after = db.execute(shown)
    assert (before.cost, after.cost) == (1, 0)
    assert after.rows[0][0] == pytest.approx(2 * before.rows[0][0])


def test_one_other_value_is_another_version(data: Path) -> None:
    """Of the same size, with the same times, and with the same statistics in its footer."""
    file = data / "people.csv"
    assert costs(data, AGE) == [1]
    before = file.stat()
    file.write_text(file.read_text().replace("\n7,7,7\n", "\n7,8,7\n"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert costs(data, AGE) == [1]


def test_a_log_belongs_to_the_version(clinic: Path, tmp_path: Path) -> None:
    """A database file whose last changes are in the log beside it."""
    query = "SELECT COUNT(*) FROM visits"
    assert costs(clinic, query) == [1]
    connection = duckdb.connect(str(clinic))
    connection.execute("SET checkpoint_threshold = '1TB'")
    connection.execute("PRAGMA disable_checkpoint_on_shutdown")
    connection.execute("INSERT INTO visits SELECT * FROM visits LIMIT 0")
    connection.execute("UPDATE visits SET cost = 1 WHERE visit_id = (SELECT min(visit_id) FROM visits)")
    connection.close()
    assert clinic.with_name(clinic.name + ".wal").stat().st_size > 0
    assert costs(clinic, query) == [1]


# ---- when files are read ---------------------------------------------------------------------------


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many bytes were read for each digest."""
    sizes: list[int] = []
    read = Contents._read

    def counted(self: Contents, content: contents.Content) -> str:
        sizes.append(content.state[2])
        return read(self, content)

    monkeypatch.setattr(Contents, "_read", counted)
    return sizes


def test_a_file_is_read_once_in_each_state(
    data: Path, reads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "_SETTLED", 0)
    costs(data, AGE, COST)
    assert len(reads) == 2
    costs(data, AGE, COST)
    assert len(reads) == 2
    day(data, 2)
    costs(data, AGE, COST)
    assert len(reads) == 3


def test_a_file_of_this_moment_is_read_again(data: Path, reads: list[int]) -> None:
    """The clock of change times has steps, in which a file might change once more."""
    costs(data, AGE)
    known = len(reads)
    costs(data, AGE)
    assert len(reads) == 2 * known


def test_nobody_tests_a_guess_of_a_file(data: Path) -> None:
    """What is noted of one file differs from ledger to ledger."""
    noted = []
    for name in ("one", "two"):
        with dpsql.connect(data, ledger=data.with_name(name)) as db:
            session = db._open()
            assert session.versions.whole()
            noted.append(session.versions.of(["people"]))
    assert noted[0] != noted[1]


# ---- found bounds ----------------------------------------------------------------------------------


def searches(data: Path) -> int:
    with dpsql.connect(data) as db:
        return sum("/* finds" in purchase.sql for purchase in db.purchases)


def test_a_month_of_daily_files(data: Path) -> None:
    """Bounds are paid for once; what was asked of tables that stay is free on every day."""
    spent = costs(data, AGE, INCOME, COST)
    assert spent == [1, 1, 1]
    assert searches(data) == 2  # of income, and of cost
    for number in range(2, 31):
        day(data, number, cost=9 + number * 100)
        assert costs(data, AGE, INCOME, COST) == [0, 0, 1]
        assert costs(data, COST) == [0]
    assert searches(data) == 2
    with dpsql.connect(data) as db:
        db._open().ledger.verify()
        assert sum(purchase.epsilon for purchase in db.purchases) == pytest.approx(3 + 29)


def test_bounds_are_found_anew_where_the_owner_says_so(data: Path) -> None:
    edit(data.with_suffix(".toml"), "epsilon = 1.0", "epsilon = 1.0\nbounds_last = false")
    costs(data, INCOME, COST)
    day(data, 2)
    costs(data, INCOME, COST)
    assert searches(data) == 3
    day(data, 3)
    edit(data.with_suffix(".toml"), "bounds_last = false", "bounds_last = true")
    costs(data, COST)
    assert searches(data) == 3


def test_another_format_is_another_bound(data: Path) -> None:
    costs(data, INCOME)
    edit(data.with_suffix(".toml"), "csv = {}", 'csv = { nullstr = "-" }')
    costs(data, INCOME)
    assert searches(data) == 2


def test_a_version_without_the_bytes_is_found(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: versions by the names of files."""
    monkeypatch.setattr(Contents, "digest", lambda self, files: str(len(files)))
    assert costs(data, AGE) == [1]
    file = data / "people.csv"
    file.write_text(file.read_text().replace("\n7,7,7\n", "\n7,8,7\n"))
    assert costs(data, AGE) == [0]


# ---- loads while connections are open ----------------------------------------------------------------------


def load(clinic: Path, *, in_place: bool = False) -> None:
    """Put a database with one visit less where this one is."""
    fresh = clinic.with_name("fresh.duckdb")
    shutil.copy(clinic, fresh)
    with duckdb.connect(str(fresh)) as connection:
        connection.execute("DELETE FROM visits WHERE visit_id = (SELECT min(visit_id) FROM visits)")
    if in_place:
        shutil.copyfile(fresh, clinic)
    else:
        fresh.replace(clinic)


def of_file(db: dpsql.Connection) -> DuckDB:
    engine = db._open().engine
    assert isinstance(engine, DuckDB)
    return engine


@pytest.mark.parametrize("in_place", [False, True])
def test_a_new_version_is_opened_beside_the_old_one(clinic: Path, in_place: bool) -> None:
    """What was open says that it is old; new connections share the engine of the new data."""
    query = "SELECT COUNT(*) FROM visits"
    sizes = "SELECT count(*) FROM visits"
    old = dpsql.connect(clinic)
    before = old.execute(query).cost
    rows = int(str(of_file(old)._all(sizes)[0][0]))
    for number in range(2):
        load(clinic, in_place=in_place)
        with dpsql.connect(clinic) as one, dpsql.connect(clinic) as two:
            assert one.execute(query).cost == before
            assert two.execute(query).cost == 0
            for each in (one, two):
                assert of_file(each)._all(sizes) == [(rows - 1 - number,)]
                assert of_file(each)._file.aside is not None
            with pytest.raises(dpsql.OperationalError, match="has changed since it was opened") as caught:
                old.execute(query)
            assert "open it again" in str(caught.value)
    old.close()
    with dpsql.connect(clinic) as last:
        assert last.execute(query).cost == 0
        assert of_file(last)._file.aside is None


def test_who_reads_the_new_version_keeps_writers_out(clinic: Path) -> None:
    """It was written over the old one: what closes that drops the lock of both."""
    write = f"import duckdb; duckdb.connect({str(clinic)!r})"
    old = dpsql.connect(clinic)
    old.execute("SELECT COUNT(*) FROM visits")
    load(clinic, in_place=True)
    with dpsql.connect(clinic) as new:
        new.execute("SELECT COUNT(*) FROM visits")
        old.close()
        tried = subprocess.run([sys.executable, "-c", write], capture_output=True, text=True, check=False)
        assert "Could not set lock on file" in tried.stderr
        new.execute("SELECT COUNT(*) FROM patients")


def test_open_files_are_looked_through_while_none_is_added(tmp_path: Path) -> None:
    """A set that another thread adds to cannot be looked through: opening would fail."""
    file = open_files.Held(tmp_path)
    with ThreadPoolExecutor(1) as other:
        with open_files._FILES.lock:
            asked = other.submit(open_files.is_aside, file)
            with pytest.raises(TimeoutError):
                asked.result(0.1)
        assert not asked.result(10)
