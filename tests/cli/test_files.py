"""Folders of files, and single files: which are tables, what a policy says of them, when they change."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow
import pyarrow.parquet
import pytest

import dpsql
from dpsql import audit
from dpsql.cli import main
from dpsql.engines.folder import Folder
from dpsql.engines.open_database import open_database
from dpsql.session.checks import load_policy

HEAD = """\
[budget]
epsilon = 100.0
delta = 1e-6
[query]
max_epsilon = 50.0
[unit]
name = "person"
table = "people"
key = "id"
"""
PEOPLE = """\
[tables.people.columns]
id = { type = "INTEGER" }
age = { type = "INTEGER", range = [0, 120] }
town = { type = "VARCHAR", values = ["Oslo", "Bergen"] }
"""
VISITS = """\
[tables.visits]
files = "visits/*.parquet"
key = "visit"
unit = { column = "id" }
rows_per_unit = 5
[tables.visits.columns]
cost = { range = [0, 500] }
"""
TOWNS = """\
[tables.towns]
public = true
csv = { delim = ";", header = false }
[tables.towns.columns]
town = { type = "VARCHAR" }
height = { type = "DECIMAL(6, 1)" }
"""
COUNT = "SELECT town, COUNT(*) FROM people GROUP BY town"


def write_people(file: Path, people: int = 100) -> None:
    rows = (f"{i},{20 + i % 60},{('Oslo', 'Bergen')[i % 2]}" for i in range(people))
    file.write_text("\n".join(["id,age,town", *rows]) + "\n")


def write_visits(file: Path, first: int) -> None:
    with duckdb.connect() as connection:
        listed = (
            f"i AS visit, i % 100 AS id, (i % 300)::DOUBLE AS cost FROM range({first}, {first + 300}) r(i)"
        )
        connection.execute(f"COPY (SELECT {listed}) TO '{file}' (FORMAT parquet)")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder of files; data.toml beside it."""
    folder = tmp_path / "data"
    (folder / "visits").mkdir(parents=True)
    write_people(folder / "people.csv")
    write_visits(folder / "visits" / "2023.parquet", 0)
    write_visits(folder / "visits" / "2024.parquet", 300)
    (folder / "towns.csv").write_text('Oslo;12.5\n"Bergen";7\n')
    (tmp_path / "data.toml").write_text(HEAD + PEOPLE + VISITS + TOWNS)
    return folder


def exact(db: dpsql.Connection, sql: str) -> dict[str, tuple[int, ...]]:
    [run] = audit.measure(db, sql)
    steps = 2**20
    return {
        repr(group): tuple(round(n / steps) for n in sums) for group, sums in run.rows.items() if any(sums)
    }


def refused(code: str, path: Path, policy: str | None = None) -> dpsql.Error:
    if policy is not None:
        path.with_suffix(".toml").write_text(policy)
    with pytest.raises(dpsql.Error) as caught:
        dpsql.connect(path)
    assert caught.value.code == code, str(caught.value)
    assert caught.value.help
    return caught.value


# ---- what is a table ---------------------------------------------------------------------------------


def test_a_folder_is_a_database(data: Path) -> None:
    with dpsql.connect(f"{data}/") as db:
        assert db.ledger_path == data.with_name("data.ledger")
        assert exact(db, COUNT) == {"('Oslo',)": (50,), "('Bergen',)": (50,)}
        assert exact(db, "SELECT COUNT(*) FROM visits") == {"()": (500,)}  # five of each person's six
        joined = "SELECT p.town, COUNT(*) FROM visits v JOIN people p USING (id) WHERE cost < 300 GROUP BY 1"
        assert set(exact(db, joined)) == {"('Oslo',)", "('Bergen',)"}
        assert db.execute("SELECT * FROM towns ORDER BY ALL").rows == [("Bergen", 7), ("Oslo", 12.5)]


def test_one_file_is_a_database(data: Path) -> None:
    shutil.move(data / "people.csv", data.with_name("people.csv"))
    data.with_name("people.toml").write_text(HEAD + PEOPLE)
    with dpsql.connect(data.with_name("people.csv")) as db:
        assert db.ledger_path == data.with_name("people.ledger")
        assert exact(db, COUNT) == {"('Oslo',)": (50,), "('Bergen',)": (50,)}
    with duckdb.connect() as connection:
        made = f"COPY (FROM '{data.with_name('people.csv')}') TO '{data.with_name('people.parquet')}'"
        connection.execute(made)
    text = (HEAD + PEOPLE).replace('type = "INTEGER", ', "").replace('type = "VARCHAR", ', "")
    data.with_name("people.toml").write_text(text.replace('type = "INTEGER"', ""))
    with dpsql.connect(data.with_name("people.parquet"), ledger=data.with_name("other.ledger")) as db:
        assert exact(db, COUNT) == {"('Oslo',)": (50,), "('Bergen',)": (50,)}
    data.with_name("people.ledger").unlink()
    refused("D804", data.with_name("people.parquet"), HEAD + PEOPLE)


def test_the_working_folder_is_called_by_its_name(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(data)
    with dpsql.connect(".") as db:
        assert db.ledger_path == data.with_name("data.ledger")


def test_values_that_do_not_fit_are_null_and_never_words(data: Path) -> None:
    with (data / "people.csv").open("ab") as file:
        file.write(b'100,SECRET,Oslo\nSECRET,30,Oslo\n101,30,"SECRET\n102,30,Oslo,SECRET\n103,\xff,Oslo\n')
    with dpsql.connect(data) as db:
        assert exact(db, COUNT)["('Oslo',)"] == (
            51,
        )  # one without an age; nobody's row, and half rows, are none
        assert "SECRET" not in "".join(map(repr, audit.measure(db, "SELECT SUM(age) FROM people")))
        assert db.execute("SELECT SUM(age) FROM people").rows


def test_names_of_columns_come_from_the_header(data: Path) -> None:
    lines = [line.split(",") for line in (data / "people.csv").read_text().split()]
    text = "\n".join(f"{town},x,{id_},{age}" for id_, age, town in lines) + "\n"
    (data / "people.csv").write_text(text.replace("town,x", "Town,note", 1))
    with dpsql.connect(data) as db:
        assert exact(db, COUNT) == {"('Oslo',)": (50,), "('Bergen',)": (50,)}
        with pytest.raises(dpsql.ProgrammingError, match="D202"):
            db.execute("SELECT COUNT(note) FROM people")  # the policy does not list it


# ---- what a policy may not say -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "code", "words"),
    [
        ('files = "../people.csv"', "D803", "stays in the folder"),
        ('files = "/etc/people.csv"', "D803", "relative to the data"),
        ('files = "a\\\\b.csv"', "D803", "with / between"),
        ('files = "https://example.org/people.csv"', "D803", "outside the folder"),
        ('files = "people.xlsx"', "D803", ".parquet"),
        ('files = "nothing*.csv"', "D804", "no file is called"),
        ('files = "visits//*.parquet"', "D803", "empty"),
        ('files = "a**.csv"', "D803", "whole folders"),
        ("files = 3", "D803", "string"),
        ('csv = { delimiter = ";" }', "D802", "delim"),
        ('csv = { delim = "ab" }', "D803", "one character"),
        ('csv = { delim = "a" }', "D803", "one character"),
        ('csv = { delim = "\\"" }', "D803", "different characters"),
        ('csv = { header = "yes" }', "D803", "true or false"),
        ('csv = { dateformat = "%Q" }', "D803", "date format"),
        ("csv = ';'", "D803", "table"),
    ],
)
def test_a_line_of_the_policy_that_is_refused(data: Path, said: str, code: str, words: str) -> None:
    error = refused(code, data, f"{HEAD}[tables.people]\n{said}\n{PEOPLE}")
    assert words in str(error)
    assert error.position is not None
    assert error.position[0] == 11


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('type = "INTEGER", range', "range", "people.age has no type"),
        ('id = { type = "INTEGER" }', "", "people.id has no type"),
        ('"INTEGER", range = [0, 120]', '"INTEGER", range = [0.5, 120]', ""),
        ('"INTEGER", range', '"INTEGR", range', "did you mean INTEGER?"),
        ('"INTEGER", range', '"BLOB", range', "cannot be read as"),
        ('"INTEGER", range', '"DECIMAL(3, 9)", range', "cannot be read as"),
        ('"INTEGER", range', '"INTEGER); DROP TABLE x; --", range', "cannot be read as"),
        ('age = { type = "INTEGER"', 'agge = { type = "INTEGER"', "did you mean age?"),
    ],
)
def test_a_type_that_is_missing_or_wrong(data: Path, before: str, after: str, words: str) -> None:
    text = PEOPLE.replace(before, after)
    assert text != PEOPLE
    data.with_suffix(".toml").write_text(HEAD + text)
    if not words:
        dpsql.connect(data).close()
        return
    with pytest.raises(dpsql.Error) as caught:
        dpsql.connect(data)
    assert words in str(caught.value)
    assert caught.value.code in ("D803", "D804")
    assert caught.value.position is not None


def test_a_header_that_is_a_row(data: Path) -> None:
    """The first person's values are no names of columns, and no help quotes them."""
    (data / "people.csv").write_text("1,34,Oslo\n2,35,Bergen\n")
    error = refused("D804", data)
    assert "names no column of people" in error.title
    assert "34" not in str(error)
    text = data.with_suffix(".toml").read_text()
    headless = text.replace("[tables.people.columns]", "csv = { header = false }\n[tables.people.columns]")
    data.with_suffix(".toml").write_text(headless.replace("csv =", "[tables.people]\ncsv =", 1))
    with dpsql.connect(data) as db:
        assert exact(db, "SELECT COUNT(*) FROM people") == {"()": (2,)}


def test_files_are_for_folders(clinic: Path, data: Path) -> None:
    text = clinic.with_suffix(".toml").read_text()
    error = refused("D804", clinic, text.replace("[tables.drugs]", '[tables.drugs]\nfiles = "drugs.csv"'))
    assert "holds drugs itself" in error.title
    typed = text.replace("dose = { range", 'dose = { type = "INTEGER", range')
    assert "already has a type" in refused("D804", clinic, typed).title
    parquet = HEAD + PEOPLE + VISITS.replace("[tables.visits]", "[tables.visits]\ncsv = {}", 1)
    assert "not in csv files" in refused("D804", data, parquet).title
    single = HEAD + "[tables.people]\nfiles = 'people.csv'\n" + PEOPLE
    data.with_name("single.toml").write_text(single)
    with pytest.raises(dpsql.ProgrammingError, match="single file"):
        dpsql.connect(data / "people.csv", data.with_name("single.toml"))


def test_which_file_is_meant(data: Path) -> None:
    shutil.copy(data / "people.csv", data / "PEOPLE.csv")
    assert "could be people" in refused("D804", data).title
    (data / "PEOPLE.csv").unlink()
    folder = HEAD + PEOPLE + VISITS.replace('files = "visits/*.parquet"\n', "")
    assert 'files = "visits/*.parquet"' in refused("D804", data, folder).help
    (data / "people.csv").rename(data / "peoples.csv")
    error = refused("D804", data, HEAD + PEOPLE)
    assert "no table people" in error.title
    assert error.help == "did you mean peoples?"


def test_parts_of_one_table_are_of_one_schema(data: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 1 AS visit, 'x' AS id) TO '{data}/visits/2025.parquet'")
    assert "different schemas" in refused("D602", data).title
    (data / "visits" / "2025.parquet").write_bytes(b"PAR1 no parquet PAR1")
    assert "cannot be read as a parquet file" in refused("D602", data).title
    (data / "more").mkdir()
    (data / "people.csv").rename(data / "more" / "1.csv")
    (data / "more" / "2.csv").write_text("id,town,age\n900,Oslo,3\n")
    assert (
        "different headers"
        in refused("D602", data, HEAD + '[tables.people]\nfiles = "more/*.csv"\n' + PEOPLE).title
    )


@pytest.mark.parametrize("content", [b"", b"\n1,2,Oslo\n", b"\xff\xfei\0d\0,\0", b"x" * 1_100_000])
def test_a_file_without_a_header(data: Path, content: bytes) -> None:
    (data / "people.csv").write_bytes(content)
    assert "header" in refused("D602", data).title


def test_what_is_no_file_is_no_table(data: Path) -> None:
    """A pipe would never end, and a name that is not text cannot be said."""
    os.mkfifo(data / "pipe.csv")
    (data / "folder.csv").mkdir()
    (data / ".hidden.csv").write_text("a\n")
    (data / "dangling.parquet").symlink_to(data / "nowhere.parquet")
    with open(os.fsencode(data) + b"/\xff.csv", "w") as file:
        file.write("a\n")
    dpsql.connect(data).close()
    assert "pipe" not in dpsql_says("policy", "draft", str(data))


def test_a_folder_without_files(tmp_path: Path, data: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty.toml").write_text(HEAD + PEOPLE)
    assert "holds no parquet or csv" in refused("D602", tmp_path / "empty").title
    assert not (tmp_path / "empty.ledger").exists()


@pytest.mark.parametrize("name", ["it's", "with space", "ünï", 'quo"te', "semi;colon", "per%cent"])
def test_names_of_files_and_folders(data: Path, name: str) -> None:
    """What SQL, or a pattern, could read as something else."""
    folder = data.with_name(name)
    data.rename(folder)
    data.with_suffix(".toml").rename(data.with_name(f"{name}.toml"))
    (folder / "visits" / "2024.parquet").rename(folder / "visits" / f"{name}.parquet")
    with dpsql.connect(folder) as db:
        assert exact(db, "SELECT COUNT(*) FROM visits") == {"()": (500,)}
        assert set(exact(db, COUNT)) == {"('Oslo',)", "('Bergen',)"}


@pytest.mark.parametrize("name", ["a*", "b?", "c[d]"])
def test_names_that_are_patterns(data: Path, name: str) -> None:
    """DuckDB would look for other files."""
    (data / "visits" / "2024.parquet").rename(data / "visits" / f"{name}.parquet")
    error = refused("D804", data)
    assert "holds one of * ? [" in error.title
    assert error.help.startswith("rename it")


def test_files_without_rows(data: Path) -> None:
    """A header alone, with and without the end of its line, and no row group."""
    with duckdb.connect() as connection:
        file = data / "visits" / "2023.parquet"
        connection.execute(f"COPY (FROM '{file}' LIMIT 0) TO '{data / 'none.parquet'}' (FORMAT parquet)")
    for each in ("2023", "2024"):
        shutil.copy(data / "none.parquet", data / "visits" / f"{each}.parquet")
    for header in ("id,age,town\n", "id,age,town"):
        (data / "people.csv").write_text(header)
        with dpsql.connect(data) as db:
            assert exact(db, COUNT) == exact(db, "SELECT COUNT(*) FROM visits") == {}
            assert [town for town, _ in db.execute(COUNT, epsilon=1).rows][:2] == ["Bergen", "Oslo"]
    (data / "people.csv").write_text("")
    assert "has no header" in refused("D602", data).title


def test_a_link_says_of_what_kind_its_file_is(data: Path) -> None:
    """As in stores that call files by their hash."""
    for file in (data / "people.csv", data / "visits" / "2024.parquet"):
        stored = data / f"{file.stem}-0f3a"
        file.rename(stored)
        file.symlink_to(stored)
    with dpsql.connect(data) as db:
        assert set(exact(db, COUNT)) == {"('Oslo',)", "('Bergen',)"}
        assert exact(db, "SELECT COUNT(*) FROM visits") == {"()": (500,)}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["line=7", "id=7", "age=7", "year=2024"])
def test_a_part_of_the_path_is_no_column(data: Path, ending: str, name: str) -> None:
    parts = data / "parts" / name
    parts.mkdir(parents=True)
    with duckdb.connect() as connection:
        connection.execute(f"COPY (FROM '{data}/people.csv') TO '{parts}/1.{ending}'")
    people = f'[tables.people]\nfiles = "parts/*/*.{ending}"\n' + PEOPLE
    if ending == "parquet":
        people = re.sub('type = "[A-Z]+",? ?', "", people)
    data.with_suffix(".toml").write_text(HEAD + people + VISITS + TOWNS)
    with dpsql.connect(data) as db:
        assert exact(db, COUNT) == {"('Oslo',)": (50,), "('Bergen',)": (50,)}


@pytest.mark.parametrize(
    ("link", "pattern"),
    [
        ("visits/2025.parquet", "visits/*.parquet"),
        ("visits/2025", "visits/*/*.parquet"),
        ("people.csv", ""),
        ("people.parquet", ""),
    ],
)
def test_a_link_that_leads_nowhere_is_not_left_out(data: Path, link: str, pattern: str) -> None:
    """Its rows would be missing, and nobody would hear of it."""
    if pattern == "visits/*/*.parquet":
        for year in ("2023", "2024"):
            (data / "visits" / f"{year}.parquet").rename(data / year)
            (data / "visits" / year).mkdir()
            (data / year).rename(data / "visits" / year / "1.parquet")
        text = data.with_suffix(".toml").read_text().replace("visits/*.parquet", pattern)
        data.with_suffix(".toml").write_text(text)
    (data / "visits" / ".hidden.parquet").symlink_to("nowhere")  # editors and copying programs leave such
    (data / "notes.csv").symlink_to("nowhere")  # nobody's table
    dpsql.connect(data).close()
    if not pattern:
        (data / "people.csv").unlink()
    (data / link).symlink_to(data.parent / "gone")
    error = refused("D804", data)
    assert error.title == f"{Path(link).name} is a link that leads nowhere"
    assert error.help == "bring back what it leads to, or remove the link"


def closed(path: Path) -> None:
    """Take everybody's rights from a file or a folder, as far as that holds us back."""
    path.chmod(0)
    if os.access(path, os.R_OK):
        path.chmod(0o700)
        pytest.skip("nothing is closed to this user")


@pytest.mark.parametrize("name", ["people.csv", "visits/2024.parquet", "visits"])
def test_what_may_not_be_read(data: Path, name: str) -> None:
    closed(data / name)
    try:
        error = refused("D804" if name == "visits" else "D602", data)
    finally:
        (data / name).chmod(0o700)
    assert error.title.endswith(f"{Path(name).name} may not be read")
    assert error.help.startswith("check who may read it")


def test_a_database_that_may_not_be_read(clinic: Path) -> None:
    closed(clinic)
    assert refused("D602", clinic).title == "clinic.duckdb may not be read"


def test_a_database_in_use_and_one_that_is_broken(clinic: Path) -> None:
    """Blocks and locks are two things, though DuckDB's words for the one hold the other."""
    writes = f"import duckdb; held = duckdb.connect({str(clinic)!r}); print(); input()"
    script = [sys.executable, "-c", writes]
    with subprocess.Popen(script, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        error = refused("D602", clinic)
        writer.communicate(b"\n")
    assert error.title == "clinic.duckdb is in use by another process or connection that writes"
    content = bytearray(clinic.read_bytes())
    content[4096:8192] = bytes(4096)
    content[20_000:] = os.urandom(len(content) - 20_000)
    clinic.write_bytes(bytes(content))
    assert refused("D602", clinic).title == "clinic.duckdb cannot be opened as a DuckDB database"


# ---- nothing else is read ------------------------------------------------------------------------------


def test_no_link_leads_out_of_the_folder(data: Path) -> None:
    outside = data.with_name("outside.csv")
    (data / "people.csv").rename(outside)
    (data / "people.csv").symlink_to(outside)
    assert "leads out of data" in refused("D804", data).title
    assert (
        "leads out of data"
        in refused("D804", data, HEAD + '[tables.people]\nfiles = "people.csv"\n' + PEOPLE).title
    )
    (data / "people.csv").unlink()
    (data / "hidden").mkdir()
    outside.rename(data / "hidden" / "p.csv")
    (data / "people.csv").symlink_to(data / "hidden" / "p.csv")
    with dpsql.connect(data, data.with_suffix(".toml")) as db:
        assert exact(db, COUNT)


def test_the_engine_reads_no_other_file(data: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("id\n1\n")
    (data / "notes.csv").write_text("id\n1\n")  # in the folder, and not in the policy
    with closing(Folder(data, load_policy(data.with_suffix(".toml")))) as engine:
        for sql in (
            f"FROM read_csv('{other}')",
            f"FROM read_csv('{data}/notes.csv')",
            f"FROM read_csv('{data}/*.csv')",
            f"FROM read_text('{data}/people.csv/../notes.csv')",
            f"FROM glob('{data}/*')",
            f"ATTACH '{tmp_path}/new.duckdb' AS x",
            f"COPY (SELECT 1) TO '{data}/new.csv'",
            "SET allowed_paths = []",
            "SET enable_external_access = true",
            "LOAD httpfs",
        ):
            with pytest.raises(duckdb.Error, match=r"Permission|Invalid Input|Catalog|disabled|locked"):
                engine._connection.execute(sql).fetchall()
        assert engine._connection.execute(f"FROM read_text('{data}/people.csv/../people.csv')") is not None


# ---- versions ------------------------------------------------------------------------------------------


def test_a_changed_file_is_a_new_version_and_an_unchanged_one_is_none(data: Path) -> None:
    with dpsql.connect(data) as db:
        first = db.execute(COUNT, epsilon=1.0)
    with dpsql.connect(data) as db:
        again = db.execute(COUNT, epsilon=1.0)
        assert (again.repeated, again.rows) == (True, first.rows)
    (data / "notes.csv").write_text("a\n1\n")  # nobody's table
    with dpsql.connect(data) as db:
        assert db.execute(COUNT, epsilon=1.0).repeated
    write_visits(data / "visits" / "2025.parquet", 600)
    with dpsql.connect(data) as db:
        assert db.execute(COUNT, epsilon=1.0).repeated  # it reads another table
    text = data.with_suffix(".toml").read_text()
    data.with_suffix(".toml").write_text(text.replace('age = { type = "INTEGER"', 'age = { type = "DOUBLE"'))
    with dpsql.connect(data) as db:  # the owner's own change: another version, no refusal
        assert not db.execute(COUNT, epsilon=1.0).repeated


def _rewritten(file: Path) -> None:
    write_people(file, 60)


def _replaced(file: Path) -> None:
    write_people(file.with_name("new"), 100)
    os.replace(file.with_name("new"), file)


@pytest.mark.parametrize("change", [_rewritten, _replaced, Path.unlink])
def test_a_file_that_changes_while_it_is_open(data: Path, change: Callable[[Path], None]) -> None:
    """Nothing is debited for data that is not there any more, and no row of the new file is read."""
    with dpsql.connect(data) as db:
        spent = db.budget.spent
        change(data / "people.csv")
        with pytest.raises(dpsql.OperationalError, match="has changed since it was opened") as caught:
            db.execute(COUNT)
        assert caught.value.code == "D602"
        assert db.budget.spent == spent


def _added(folder: Path) -> None:
    write_visits(folder / "2024" / "2.parquet", 900)


def _added_in_a_new_folder(folder: Path) -> None:
    (folder / "2025" / "May").mkdir(parents=True)
    write_visits(folder / "2025" / "May" / "1.parquet", 900)


def _taken_out(folder: Path) -> None:
    (folder / "2023.parquet").rename(folder / "2023")


def _given_another_name(folder: Path) -> None:
    (folder / "2023.parquet").rename(folder / "2022.parquet")


def _led_elsewhere(folder: Path) -> None:
    (folder / "now.parquet").unlink()
    (folder / "now.parquet").symlink_to(folder / "other")


def _led_nowhere(folder: Path) -> None:
    (folder / "2026.parquet").symlink_to(folder / "nothing")


@pytest.mark.parametrize(
    "change",
    [_added, _added_in_a_new_folder, _taken_out, _given_another_name, _led_elsewhere, _led_nowhere],
)
def test_the_files_of_a_pattern_are_those_of_now(data: Path, change: Callable[[Path], None]) -> None:
    """Who opens the folder now may see other rows, so what was open gives no answer any more."""
    text = data.with_suffix(".toml").read_text().replace("visits/*.parquet", "visits/**/*.parquet")
    data.with_suffix(".toml").write_text(text)
    (data / "visits" / "2024").mkdir()
    (data / "visits" / "2024.parquet").rename(data / "visits" / "2024" / "1.parquet")
    for name, first in (("one", 1200), ("other", 1500)):
        write_visits(data / "visits" / name, first)
    (data / "visits" / "now.parquet").symlink_to(data / "visits" / "one")
    with dpsql.connect(data) as db:
        db.execute("SELECT COUNT(*) FROM visits")
        (data / "visits" / "2024" / "notes.txt").write_text("no file of a table")
        (data / "visits" / ".2025.parquet").write_text("on its way")
        (data / "more.csv").write_text("a\n1\n")
        db.execute("SELECT COUNT(*) FROM visits WHERE cost > 7")
        spent = db.budget.spent
        change(data / "visits")
        for sql in ("SELECT COUNT(*) FROM visits WHERE cost > 8", COUNT):
            with pytest.raises(dpsql.OperationalError, match="has changed since it was opened") as caught:
                db.execute(sql)
            assert caught.value.code == "D602"
        assert db.budget.spent == spent


def test_a_folder_is_that_of_now(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that leads to another folder, or a second file of a table's name; not another working folder."""
    link = data.with_name("current")
    link.symlink_to(data)
    link.with_suffix(".toml").write_text(data.with_suffix(".toml").read_text())
    shutil.copytree(data, data.with_name("next"))
    monkeypatch.chdir(data.parent)
    with dpsql.connect("current") as db:
        monkeypatch.chdir(data)
        db.execute(COUNT)
        link.unlink()
        link.symlink_to(data.with_name("next"))
        with pytest.raises(dpsql.OperationalError, match="has changed since it was opened"):
            db.execute("SELECT COUNT(*) FROM people")
    with dpsql.connect(data) as db:
        shutil.copy(data / "visits" / "2023.parquet", data / "people.parquet")
        with pytest.raises(dpsql.OperationalError, match="has changed since it was opened"):
            db.execute("SELECT COUNT(*) FROM people")


def test_a_file_that_changes_while_it_is_read(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read of it meanwhile is not released; the debit stands."""
    with dpsql.connect(data) as db:
        engine, ask = db._open().engine, Folder._all

        def slow(self: Folder, sql: str) -> list[tuple[object, ...]]:
            found = ask(self, sql)
            _rewritten(data / "people.csv")
            return found

        monkeypatch.setattr(type(engine), "_all", slow)
        with pytest.raises(dpsql.OperationalError, match="D602"):
            db.execute(COUNT)
        assert db.budget.spent > 0
        assert not any(each.answered for each in db.purchases)


def test_corrupt_pages_say_nothing(data: Path) -> None:
    file = data / "visits" / "2023.parquet"
    content = bytearray(file.read_bytes())
    pages = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    content[4:pages] = (b"SECRET" * pages)[: pages - 4]  # the footer with the schema is as it was
    file.write_bytes(content)
    data.with_suffix(".toml").write_text(HEAD + PEOPLE + VISITS.replace('key = "visit"\n', ""))
    refused_unread(data, "SECRET")


def refused_unread(data: Path, word: str) -> None:
    """Before any query: which rows of a table cannot be read would tell of the rows that a query meets."""
    with pytest.raises(dpsql.OperationalError, match="visits holds values that cannot be read") as caught:
        dpsql.connect(data)
    assert caught.value.code == "D602"
    assert word not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_text_that_is_no_text_keeps_the_database_shut(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One person's broken text, in a column that most queries do not read."""
    file = data / "visits" / "2023.parquet"
    table = pyarrow.parquet.read_table(file)
    words = pyarrow.array([b"WORD \xff\xfe"] + [b"fine"] * (len(table) - 1), pyarrow.binary())
    broken = pyarrow.Array.from_buffers(pyarrow.string(), len(words), words.buffers())
    policy = data.with_suffix(".toml")
    for path in sorted(file.parent.iterdir()):
        part = pyarrow.parquet.read_table(path)
        own = broken if path == file else pyarrow.array(["fine"] * len(part))
        pyarrow.parquet.write_table(part.append_column("said", own), path)
    dpsql.connect(data).close()  # the policy does not mention it, so nobody can read it
    policy.write_text(HEAD + PEOPLE + VISITS.replace('key = "visit"\n', "") + "said = {}\n")
    refused_unread(data, "WORD")
    assert main(["policy", "check", str(data)]) == 1
    assert "WORD" not in (said := capsys.readouterr().err)
    assert "D602" in said


@pytest.mark.parametrize(
    ("type_", "whole"),
    [
        (pyarrow.timestamp("us"), -(2**63)),
        (pyarrow.timestamp("us", tz="UTC"), -(2**63)),
        (pyarrow.date32(), -(2**31)),
        (pyarrow.decimal128(38, 10), 2**127 - 1),
        (pyarrow.decimal128(38, 10), -(10**38)),
        (pyarrow.decimal128(6, 2), 10**6),
        (pyarrow.decimal128(4, 4), 10**4),
        (pyarrow.decimal128(18, 0), 10**18),
    ],
)
def test_a_value_beyond_its_type_keeps_the_database_shut(
    data: Path, capsys: pytest.CaptureFixture[str], type_: pyarrow.DataType, whole: int
) -> None:
    """It is read like any other, but fails where it is printed or computed with: as a key of groups, say."""
    for path in sorted((data / "visits").iterdir()):
        part = pyarrow.parquet.read_table(path)
        content = b"".join(
            number.to_bytes(type_.bit_width // 8, "little", signed=True) for number in (whole, *range(299))
        )
        odd = pyarrow.Array.from_buffers(type_, len(part), [None, pyarrow.py_buffer(content)])
        pyarrow.parquet.write_table(part.append_column("odd", odd), path)
    data.with_suffix(".toml").write_text(HEAD + PEOPLE + VISITS.replace('key = "visit"\n', "") + "odd = {}\n")
    refused_unread(data, "92233")
    assert main(["policy", "check", str(data)]) == 1
    assert "D602" in capsys.readouterr().err
    copied = data.with_name("copied.duckdb")  # which DuckDB fills without a look
    with duckdb.connect(str(copied)) as owner:
        owner.execute(f"CREATE TABLE visits AS FROM '{data}/visits/*.parquet'")
        owner.execute("CREATE TABLE people AS SELECT DISTINCT id FROM visits")
    listed = "[tables.visits]\nunit = { column = 'id' }\n[tables.visits.columns]\nid = {}\nodd = {}\n"
    copied.with_suffix(".toml").write_text(HEAD + "[tables.people.columns]\nid = {}\n" + listed)
    with pytest.raises(dpsql.Error, match=r"D602.*visits"):
        dpsql.connect(copied)
    with duckdb.connect(str(copied)) as owner:
        owner.execute("DELETE FROM visits WHERE visit % 300 = 0")
    dpsql.connect(copied).close()


def test_files_are_read_through_once_for_a_version(data: Path) -> None:
    def looked() -> list[str]:
        with dpsql.connect(data) as db:
            entries = db._open().ledger.entries()
        return [each.events for each in entries if each.kind == "verified" and '["readable' in each.events]

    assert len(looked()) == 3  # one a table
    assert looked() == looked()


def test_keys_are_verified_on_the_files(data: Path) -> None:
    dpsql.connect(data).close()
    write_visits(data / "visits" / "again.parquet", 0)
    assert "visits.visit" in refused("D805", data).title


def test_a_ledger_belongs_to_its_folder(data: Path) -> None:
    dpsql.connect(data).close()
    shutil.copytree(data, data.with_name("copy"))
    with pytest.raises(dpsql.Error, match="D505"):
        dpsql.connect(data.with_name("copy"), data.with_suffix(".toml"), data.with_suffix(".ledger"))


# ---- the draft of a policy -----------------------------------------------------------------------------


def dpsql_says(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "dpsql.cli", *arguments], capture_output=True, text=True, check=True
    )
    assert not done.stderr
    return done.stdout


def test_the_draft_of_a_folder_is_its_policy(data: Path) -> None:
    (data / "towns.csv").write_text("town;since;height\nSECRET;31.12.1999;1.5\nOslo;01.02.2000;2.5\n")
    text = dpsql_says("policy", "draft", str(data))
    assert "SECRET" not in text
    assert "guessed from their first lines" in text.split("\n")[1]
    for line in (
        'id = { type = "BIGINT" }',
        'age = { type = "BIGINT" }',
        'files = "visits/*.parquet"',
        '# csv = { delim = ";", dateformat = "%d.%m.%Y" }',
        '# since = { type = "DATE" }',
    ):
        assert line in text
    start = text.index("# [tables.towns]")
    public = re.sub("^# (?!decide)", "", text[start:], flags=re.MULTILINE)
    data.with_suffix(".toml").write_text(text[:start] + public)
    assert "public    towns: 2 rows" in dpsql_says("policy", "check", str(data))
    with dpsql.connect(data) as db:
        assert str(db.execute("SELECT min(since) FROM towns").rows[0][0]) == "1999-12-31"


def test_questions_make_a_policy_of_files(data: Path) -> None:
    """Every default; then the policy holds, and answers."""
    (data / "orders.csv").write_text("7|0|x\n8|1|y\n")
    data.with_suffix(".toml").unlink()
    shown = subprocess.run(
        [sys.executable, "-m", "dpsql.cli", "init", str(data), "--yes"], capture_output=True, text=True
    )
    assert shown.returncode == 0, shown.stderr
    text = data.with_suffix(".toml").read_text()
    assert 'id = { type = "BIGINT" }' in text
    with dpsql.connect(data) as db:
        assert exact(db, "SELECT COUNT(*) FROM people") == {"()": (100,)}
    answers = "\n".join(["people", "id", "person", "", "hidden", "public", "id"] + [""] * 30)
    data.with_suffix(".toml").unlink()
    data.with_suffix(".ledger").unlink()
    done = subprocess.run(
        [sys.executable, "-m", "dpsql.cli", "init", str(data)],
        input=answers,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    text = data.with_suffix(".toml").read_text()
    assert 'csv = { delim = ";", header = false }' in text
    assert 'files = "visits/*.parquet"' in text
    with dpsql.connect(data) as db:
        assert len(db.execute("SELECT * FROM towns").rows) == 2
        assert db.execute("SELECT COUNT(*) FROM visits WHERE cost < 600").rows


def test_a_column_without_a_name_is_passed_over(data: Path) -> None:
    (data / "people.csv").write_text("1,x,34,Oslo\n2,y,35,Bergen\n")
    listed = PEOPLE.replace("age = ", "note = {}\nage = ")
    data.with_suffix(".toml").write_text(f"{HEAD}[tables.people]\ncsv = {{ header = false }}\n{listed}")
    with dpsql.connect(data) as db:
        assert exact(db, "SELECT SUM(age) FROM people")
        with pytest.raises(dpsql.ProgrammingError, match="D202"):
            db.execute("SELECT COUNT(note) FROM people")


def test_the_check_tells_of_files_that_hold_hardly_any_rows(data: Path) -> None:
    warning = "people: less than half of its lines are rows"
    assert warning not in dpsql_says("policy", "check", str(data))
    lines = (data / "people.csv").read_text().replace("\n", ",\n").replace("town,", "town", 1)
    (data / "people.csv").write_text(lines)
    assert warning in dpsql_says("policy", "check", str(data))


def test_one_odd_line_makes_no_text_of_a_column(data: Path) -> None:
    """Nearly all values say what a column is; what is cut off by a cast is not of that type."""
    lines = [f"{i},{i / 2},2024-01-{1 + i % 28:02},2024-01-01 10:00:{i % 60:02},x{i}" for i in range(400)]
    lines[7:7] = ["odd,odd,odd,odd,odd", "", 'x,"unclosed']
    (data / "people.csv").write_text("\n".join(["id,height,born,seen,name", *lines]) + "\n")
    text = dpsql_says("policy", "draft", str(data))
    for name, kind in (("id", "BIGINT"), ("height", "DOUBLE"), ("born", "DATE"), ("name", "VARCHAR")):
        assert f'{name} = {{ type = "{kind}" }}' in text
    assert 'seen = { type = "DATE" }' not in text
    assert "odd" not in text


GERMAN = "Kundennr;Eintritt;Umsatz;Punkte;Ort\n" + "".join(
    f"{i};{1 + i % 28:02}.03.2024;{i % 3}.{i:03},{i % 100:02};{i},5;{'Köln' if i % 3 else 'Bonn'}\n"
    for i in range(300)
)


def test_numbers_with_commas(data: Path) -> None:
    """What a spreadsheet writes elsewhere: 1.234,50 is a number, drafted and read as one."""
    (data / "kunden.csv").write_text(GERMAN, encoding="utf-8")
    text = dpsql_says("policy", "draft", str(data))
    assert 'csv = { delim = ";", dateformat = "%d.%m.%Y", decimal = "," }' in text
    for name, kind in (
        ("Kundennr", "BIGINT"),
        ("Eintritt", "DATE"),
        ("Umsatz", "DOUBLE"),
        ("Ort", "VARCHAR"),
    ):
        assert f'{name} = {{ type = "{kind}" }}' in text
    listed = """[tables.kunden]
csv = { delim = ";", decimal = "," }
unit = { column = "Kundennr" }
rows_per_unit = 1
[tables.kunden.columns]
Kundennr = { type = "INTEGER" }
Umsatz = { type = "DECIMAL(10, 2)", range = [0, 5000] }
"""
    data.with_suffix(".toml").write_text(HEAD + PEOPLE + listed)
    with dpsql.connect(data) as db:
        [(counted,)] = exact(db, "SELECT COUNT(*) FROM kunden WHERE Umsatz > 1150.5").values()
        assert counted == sum(i % 3 * 1000 + i + i % 100 / 100 > 1150.5 for i in range(300))


def test_points_stay_where_commas_make_no_numbers(data: Path) -> None:
    lines = "".join(f"{i};{i}.5;a,b\n" for i in range(50))
    (data / "plain.csv").write_text("id;height;words\n" + lines)
    text = dpsql_says("policy", "draft", str(data))
    assert 'csv = { delim = ";" }' in text.partition("[tables.plain]")[2]
    assert 'height = { type = "DOUBLE" }' in text


def test_files_in_another_encoding_are_named(data: Path) -> None:
    """Marks and columns can still be told; lines with foreign letters are no rows, and the check says so."""
    (data / "people.csv").write_bytes(GERMAN.replace("Kundennr", "id").encode("latin-1"))
    text = dpsql_says("policy", "draft", str(data))
    assert 'Eintritt = { type = "DATE" }' in text
    listed = PEOPLE.split("age")[0] + '[tables.people]\ncsv = { delim = ";" }\n'
    data.with_suffix(".toml").write_text(HEAD + listed)
    assert "people: lines that are not UTF-8 are no rows" in dpsql_says("policy", "check", str(data))


def test_the_draft_finds_files_in_folders_of_folders(data: Path) -> None:
    for month in (1, 2):
        folder = data / "events" / f"month={month}"
        folder.mkdir(parents=True)
        pyarrow.parquet.write_table(pyarrow.table({"id": [month]}), folder / "part.parquet")
    text = dpsql_says("policy", "draft", str(data))
    assert 'files = "events/**/*.parquet"' in text
    listed = 'files = "events/**/*.parquet"\nunit = { column = "id" }\n[tables.events.columns]\nmonth = {}\n'
    error = refused("D804", data, f"{HEAD}{PEOPLE}[tables.events]\n{listed}")
    assert error.help == "a part of a path, such as year=2024/, is not a column: write it into the files"


def test_a_file_nobody_can_sniff_is_drafted_as_text(data: Path) -> None:
    (data / "odd.csv").write_bytes(b'a,"b\n\xff,"\n')
    text = dpsql_says("policy", "draft", str(data))
    assert "[tables.odd]" in text


def test_rows_and_twins_are_no_names_of_columns(data: Path) -> None:
    (data / "towns.csv").write_text("Oslo;12.5\nBergen;7\nVoss;3\n")
    (data / "twins.csv").write_text("x,a,A,\n1,2,3,4\n")
    text = dpsql_says("policy", "draft", str(data))
    assert "Oslo" not in text
    assert "header = false" in text
    assert "column0" in text
    assert "x = {" in text
    assert "a = {" not in text


def test_a_policy_is_needed_for_answers(data: Path) -> None:
    """Without one, an engine over files describes: nothing asks it for rows."""
    engine = open_database(data)
    assert {table.name for table in engine.describe().tables} == {"people", "visits", "towns"}
    engine.close()


def test_nobody_elses_number_decides_whether_a_nan_is_found(tmp_path: Path) -> None:
    """A file's statistics leave NaN out: without the large number all seemed to be below 50."""
    policy = HEAD + "[tables.people.columns]\nx = { range = [0, 200] }\n"
    found = []
    for largest in (100.0, 1.0):
        folder = tmp_path / f"{largest:g}"
        folder.mkdir()
        folder.with_name(f"{largest:g}.toml").write_text(policy)
        table = pyarrow.table({"id": range(1000), "x": [largest] + [float("nan")] * 999})
        pyarrow.parquet.write_table(table, folder / "people.parquet")
        with dpsql.connect(folder) as db:
            found += [exact(db, "SELECT COUNT(*) FROM people WHERE x > 50")["()"]]
            assert exact(db, "SELECT COUNT(*) FROM people WHERE isnan(x)") == {"()": (999,)}
    assert found == [(1000,), (999,)]
