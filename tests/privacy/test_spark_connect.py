"""Files that a Spark Connect server adds up: exact tables, what must hold of the server, what others see.

python -m pytest tests/privacy/test_spark_connect.py -n0    ten minutes: servers of pyspark's own package
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from postgres_worlds import EVERYTHING
from spark_servers import SparkServer, needs_spark_server
from test_postgres import QUERIES
from test_spark import (
    ENDLESS,
    a_job_can_be_interrupted,
    added,
    each_change_is_seen,
    engine_of,
    exact_tables_are_those_of_duckdb,
    made,
    replaced,
    sums_of,
    taken_away,
)

import dpsql
from dpsql.audit import plan_of
from dpsql.engines.exact_tables import measured
from dpsql.engines.files import states_of
from dpsql.engines.folder import Folder
from dpsql.engines.spark import connect_server, engine, seen_files, settings
from dpsql.engines.spark.cached_rows import CachedRows
from dpsql.engines.spark.connect_server import TOKEN, ConnectServer
from dpsql.engines.spark.engine import SparkEngine
from dpsql.ir.plan import MeasurePlan
from dpsql.policy.model import Policy
from dpsql.session.checks import parse_policy

pytestmark = needs_spark_server

BAD = {
    "spark.ui.enabled": "true",
    "spark.ui.port": "0",
    "spark.eventLog.enabled": "true",
    "spark.io.encryption.enabled": "false",
    "spark.authenticate": "false",
    "spark.network.crypto.enabled": "false",
    "spark.extraListeners": "org.apache.spark.scheduler.StatsReportListener",
    "spark.sql.extensions": "org.example.Extensions",
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.ColumnPruning",
    "spark.sql.catalog.lake": "org.example.Catalog",
    "spark.metrics.conf.*.sink.csv.class": "org.apache.spark.metrics.sink.CsvSink",
    "spark.hadoop.parquet.filter.stats.enabled": "false",
    "spark.sql.catalogImplementation": "hive",
    "spark.sql.event.truncate.length": "100",
}
"""A server that has everything that is refused, at once."""

REFUSED = {*BAD} - {"spark.ui.port"}


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("connect") / "clinic")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkServer]:
    with SparkServer(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def here(server: SparkServer, clinic: Path, tmp_path: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(server.address(clinic), ledger=tmp_path / "a.ledger") as db:
        yield db


def rules_of(clinic: Path) -> Policy:
    return parse_policy(clinic.with_suffix(".toml").read_text(), "clinic.toml")


def planned_of(db: dpsql.Connection, sql: str) -> MeasurePlan:
    [planned] = plan_of(db._open(), sql, 1.0).measures
    assert isinstance(planned, MeasurePlan)
    return planned


def raised(code: str, call: Callable[[], object]) -> dpsql.Error:
    with pytest.raises(dpsql.OperationalError) as caught:
        call()
    assert caught.value.code == code
    assert caught.value.__cause__ is None
    return caught.value


# ---- answers -------------------------------------------------------------------------------------------


def test_exact_tables_are_those_of_duckdb(here: dpsql.Connection, clinic: Path) -> None:
    exact_tables_are_those_of_duckdb(here, clinic)


def test_the_few_are_corrected_there_too(here: dpsql.Connection, server: SparkServer, clinic: Path) -> None:
    """Units with many rows are found, kept by the server, and read there."""
    there = Folder(clinic, rules_of(clinic))
    with closing(SparkEngine(server.located(clinic), rules_of(clinic), EVERYTHING)) as fast:
        for sql in QUERIES:
            for planned in plan_of(here._open(), sql, 1.0).measures:
                assert isinstance(planned, MeasurePlan)
                known = sums_of(measured(planned, there._all, there._arrays))
                assert [sums_of(fast.measure(planned)) for _ in range(2)] == [known] * 2, sql
    there.close()


def test_ledger_and_answers_are_the_folders(here: dpsql.Connection, clinic: Path, tmp_path: Path) -> None:
    first = here.execute(QUERIES[0])
    again = here.execute(QUERIES[0])
    assert (first.repeated, again.repeated, again.rows) == (False, True, first.rows)
    with dpsql.connect(clinic, ledger=tmp_path / "a.ledger") as other:
        assert other.execute(QUERIES[0]).rows == first.rows
        assert other.budget.spent == here.budget.spent


def test_time_zones_are_those_of_the_server(here: dpsql.Connection) -> None:
    assert {"Asia/Tokyo", "Europe/Zurich", "UTC"} <= engine_of(here)._known_zones()


def test_an_engine_of_this_process_beside_it(here: dpsql.Connection, clinic: Path, tmp_path: Path) -> None:
    from sparks import MASTER

    sql = QUERIES[0]
    with dpsql.connect(f"spark:{MASTER}:{clinic}", ledger=tmp_path / "c.ledger") as local:
        planned = planned_of(here, sql)
        ours = sums_of(engine_of(here).measure(planned))
        assert sums_of(engine_of(local).measure(planned)) == ours
        assert sums_of(engine_of(here).measure(planned)) == ours


# ---- what must hold of a server ------------------------------------------------------------------------


def test_each_setting_of_a_server_is_refused(
    clinic: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each check is taken away once it has refused: the next one must refuse, until none is left."""
    log = tmp_path / "events"
    log.mkdir()
    refusals = set()
    started = {**BAD, "spark.eventLog.dir": str(log)}
    with SparkServer(tmp_path, started, master="local-cluster[1,1,1024]") as bad:
        for _ in REFUSED:
            error = raised("D602", lambda: ConnectServer(bad.located(clinic)))
            [name] = [name for name in REFUSED if f"setting {name} is" in error.title]
            refusals.add(name)
            for fixed in [fixed for fixed in connect_server.REQUIRED if fixed == name]:
                monkeypatch.delitem(connect_server.REQUIRED, fixed)
            for listed in [listed for listed in settings._REFUSED if settings._is(name, listed)]:
                monkeypatch.delitem(settings._REFUSED, listed)
            monkeypatch.setattr(settings, "_KEPT", (*settings._KEPT, name))
        ConnectServer(bad.located(clinic)).close()
    assert refusals == REFUSED


def test_a_server_that_answers_whoever_asks_is_refused(clinic: Path, tmp_path: Path) -> None:
    with SparkServer(tmp_path, token="") as bare:
        error = raised("D602", lambda: ConnectServer(bare.located(clinic)))
        assert error.title == f"{TOKEN} is not set"
        os.environ[TOKEN] = "sesame"  # which the server does not ask for
        error = raised("D602", lambda: ConnectServer(bare.located(clinic)))
        assert "answers whoever asks" in error.title


def test_another_token_is_refused_and_is_in_no_message(
    server: SparkServer, clinic: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = server.address(clinic)
    with dpsql.connect(address, ledger=tmp_path / "t.ledger") as db:
        db.execute(QUERIES[0])
        said = f"{db!r} {engine_of(db)!r} {engine_of(db)._spark!r} {engine_of(db).identity()!r}"
    monkeypatch.setenv(TOKEN, "another")
    error = raised("D602", lambda: dpsql.connect(address, ledger=tmp_path / "t.ledger"))
    assert "token" in error.title
    said += f"{error!r} {error} {address} {server.located(clinic)!r}"
    assert "another" not in said
    assert server.token not in said
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or server.token.encode() not in file.read_bytes()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.sql.ansi.enabled", "true"),
        ("spark.sql.session.timeZone", "Asia/Tokyo"),
        ("spark.sql.files.ignoreMissingFiles", "true"),
        ("spark.sql.optimizer.excludedRules", "org.apache.spark.sql.catalyst.optimizer.ColumnPruning"),
        ("spark.sql.planChangeLog.level", "info"),
    ],
)
def test_another_setting_is_refused_before_a_debit(here: dpsql.Connection, name: str, value: str) -> None:
    db = engine_of(here)
    planned = planned_of(here, QUERIES[0])
    db._session.conf.set(name, value)
    assert name in raised("D602", lambda: db.measure(planned)).title
    assert name in raised("D602", lambda: here.execute(QUERIES[0])).title
    assert here.budget.spent == 0


def test_no_session_changes_what_a_server_was_started_with(here: dpsql.Connection) -> None:
    for name in connect_server.REQUIRED:
        with pytest.raises(Exception, match="CANNOT_MODIFY"):
            engine_of(here)._session.conf.set(name, "x")


def test_the_clients_own_progress_bar_is_refused(
    server: SparkServer, clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_CONNECT_PROGRESS_BAR", "1")
    error = raised("D602", lambda: ConnectServer(server.located(clinic)))
    assert "PROGRESS_BAR" in error.title


def test_a_server_that_is_not_there_is_refused(clinic: Path, tmp_path: Path) -> None:
    gone = SparkServer(tmp_path)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(TOKEN, "sesame")
        error = raised("D602", lambda: ConnectServer(gone.located(clinic)))
    assert error.title == f"the Spark server at localhost:{gone.port} does not answer"


# ---- which files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [replaced, added, taken_away])
def test_each_change_of_the_files_is_seen(
    server: SparkServer, clinic: Path, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    each_change_is_seen(server.address, clinic, tmp_path, change)


def touched(file: Path) -> None:
    os.utime(file, ns=(0, file.stat().st_mtime_ns + 10**6))


def grown(file: Path) -> None:
    at = file.stat().st_mtime_ns
    with file.open("ab") as more:
        more.write(b"x")
    os.utime(file, ns=(at, at))


def gone(file: Path) -> None:
    file.unlink()


@pytest.mark.parametrize("change", [touched, grown, gone])
def test_the_server_itself_is_asked_for_the_states(
    server: SparkServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    """Without the comparison that this process makes, that of the server's machines finds each change."""
    folder = made(tmp_path / "moving")
    with dpsql.connect(server.address(folder), ledger=tmp_path / "m.ledger") as db:
        planned = planned_of(db, QUERIES[0])
        engine_of(db).measure(planned)
        monkeypatch.setattr(Folder, "unchanged", lambda self: None)
        change(folder / "people.parquet")
        error = raised("D602", lambda: engine_of(db).measure(planned))
        assert error.title == seen_files.unseen().title


def test_a_change_in_the_middle_of_a_job_is_seen(
    server: SparkServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path / "moving")
    with dpsql.connect(server.address(folder), ledger=tmp_path / "m.ledger") as db:
        monkeypatch.setattr(Folder, "unchanged", lambda self: None)

        def reading() -> None:
            with engine_of(db)._job():
                touched(folder / "people.parquet")

        assert raised("D602", reading).title == seen_files.unseen().title


def test_a_server_that_sees_other_files_under_the_path_is_refused(tmp_path: Path) -> None:
    """The same names, of the same length, that were written a second later: a mount that is not shared."""
    folder, other = made(tmp_path / "clinic"), made(tmp_path / "other")
    for file in folder.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
        os.utime(other / file.name, ns=(0, file.stat().st_mtime_ns + 10**9))
    (tmp_path / "server").mkdir()
    running = SparkServer(tmp_path / "server", instead=(folder, other))
    try:
        running.__enter__()
    except RuntimeError as error:
        if "unshare" in str(error) or "mount" in str(error):
            pytest.skip("no mount of one's own here")
        raise
    with closing(_Entered(running)):
        error = raised("D602", lambda: SparkEngine(running.located(folder), rules_of(folder)))
        assert error.title == seen_files.unseen().title
        for file in folder.iterdir():
            os.utime(other / file.name, ns=(0, file.stat().st_mtime_ns))
        SparkEngine(running.located(folder), rules_of(folder)).close()


class _Entered:
    def __init__(self, server: SparkServer) -> None:
        self.close = lambda: server.__exit__(None, None, None)


def test_no_contents_are_read_for_states(here: dpsql.Connection, tmp_path: Path) -> None:
    """A file of three gigabytes, most of it a hole: Spark refuses to read one of so many as a value."""
    file = tmp_path / "long.parquet"
    with file.open("wb") as written:
        written.truncate(3 * 2**30)
    db = engine_of(here)
    db._spark.unchanged(states_of([file]))
    with pytest.raises(Exception, match=r"too large|exceeds|maximum|length"):
        db._session.read.format("binaryFile").load(f"file://{file}").select("content").collect()


def test_a_machine_with_another_java_is_refused(here: dpsql.Connection, server: SparkServer) -> None:
    """What the server's process says of its Java is changed by another of its users, who can do that."""
    db = engine_of(here)
    planned = planned_of(here, QUERIES[0])
    other = other_session(server)
    changed = "SELECT java_method('java.lang.System', 'setProperty', 'java.runtime.version', '{}')"
    try:
        [[java]] = other.sql(changed.format("1.0")).collect()
        assert raised("D602", lambda: db.measure(planned)).title == seen_files.other_javas().title
        other.sql(changed.format(java)).collect()
        assert sums_of(db.measure(planned))
    finally:
        other.stop()


@pytest.mark.parametrize("name", ["{a,b}", "a]b", "a\\b"])
def test_paths_that_spark_takes_for_patterns_are_refused(
    server: SparkServer, tmp_path: Path, name: str
) -> None:
    folder = made(tmp_path / name)
    error = raised("D602", lambda: SparkEngine(server.located(folder), rules_of(folder)))
    assert "rename" in error.help


# ---- what others see, and what they may change ---------------------------------------------------------


def other_session(server: SparkServer) -> Any:
    from dpsql.engines.spark.connect_server import _session

    return _session(server.located(Path("/")), with_token=True)


def test_other_sessions_read_no_views_of_ours(
    here: dpsql.Connection, server: SparkServer, clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = []
    kept = CachedRows.kept

    def noted(self: CachedRows, select: str, by: str = "") -> str:
        names.append(kept(self, select, by))
        return names[-1]

    monkeypatch.setattr(CachedRows, "kept", noted)
    with closing(SparkEngine(server.located(clinic), rules_of(clinic), EVERYTHING)) as fast:
        for sql in QUERIES * 2:
            for planned in plan_of(here._open(), sql, 1.0).measures:
                assert isinstance(planned, MeasurePlan)
                fast.measure(planned)
        assert names
        other = other_session(server)
        try:
            for name in ("dpsql_0", *names):
                rows = fast._session.table(name)
                assert rows.limit(1).collect()
                assert ("InMemoryTableScan" in rows._explain_string()) is (name in names), "kept, and read"
                for said in (name, f"global_temp.{name}", f"session.{name}", f"spark_catalog.default.{name}"):
                    with pytest.raises(Exception, match=r"TABLE_OR_VIEW_NOT_FOUND|REQUIRES_SINGLE_PART"):
                        other.sql(f"SELECT * FROM {said}").collect()
            assert other.catalog.listTables() == []
        finally:
            other.stop()


def cached_by_another(session: Any, folder: Path, planned: MeasurePlan, ours: SparkEngine) -> None:
    """Cache the plan that the engine's view has, but for what is the session's own."""
    [place] = [place for place, table in enumerate(ours._tables) if table.name == "people"]
    schema = ours._session.table(f"dpsql_{place}").schema
    ours_too = session.read.schema(schema).option("dpsql", "planted")
    ours_too.parquet(f"file://{folder}/people.parquet").persist().count()


@pytest.mark.parametrize("planted", [False, True])
def test_rows_that_others_cached_of_files_are_not_read(
    server: SparkServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planted: bool
) -> None:
    """What another session cached of the files as they were once; found where our plans are not our own."""
    folder = made(tmp_path / "moving")
    if planted:
        monkeypatch.setattr(engine, "own_option", lambda: ("dpsql", "planted"))
    other = other_session(server)
    other.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        with dpsql.connect(server.address(folder), ledger=tmp_path / "m.ledger") as db:
            cached_by_another(other, folder, planned_of(db, QUERIES[0]), engine_of(db))
        with duckdb.connect() as written:
            written.execute(f"COPY (FROM '{folder}/people.parquet' LIMIT 100) TO '{tmp_path}/new.parquet'")
        os.replace(tmp_path / "new.parquet", folder / "people.parquet")
        there = Folder(folder, rules_of(folder))
        with dpsql.connect(server.address(folder), ledger=tmp_path / "m.ledger") as db:
            planned = planned_of(db, QUERIES[0])
            known = sums_of(measured(planned, there._all, there._arrays))
            assert (sums_of(engine_of(db).measure(planned)) == known) is not planted
        there.close()
    finally:
        other.catalog.clearCache()
        other.stop()


def test_a_session_ends_with_its_engine(server: SparkServer, clinic: Path) -> None:
    engine = SparkEngine(server.located(clinic), rules_of(clinic))
    session = engine._session
    engine.close()
    assert session.is_stopped


# ---- failures ------------------------------------------------------------------------------------------


def test_messages_of_spark_stay_inside(
    here: dpsql.Connection, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    error = raised(
        "D601", lambda: engine_of(here)._collected("SELECT raise_error(concat('Longyear', 'byen'))")
    )
    shown = capfd.readouterr()
    assert "Longyearbyen" not in f"{shown.out}{shown.err}{caplog.text}{error!r}"
    error = raised("D605", lambda: engine_of(here)._analyze("SELECT Longyearbyen FROM dpsql_0"))
    shown = capfd.readouterr()
    assert "Longyearbyen" not in f"{shown.out}{shown.err}{caplog.text}{error!r}"


def test_a_job_can_be_interrupted(here: dpsql.Connection) -> None:
    a_job_can_be_interrupted(here)


def test_ctrl_c_ends_the_job_on_the_server(here: dpsql.Connection) -> None:
    db = engine_of(here)
    timer = threading.Timer(5, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        db._collected(ENDLESS)
    timer.join()
    deadline = time.monotonic() + 120
    while db._session.interruptAll():  # the names of operations that still run
        assert time.monotonic() < deadline
        time.sleep(1)
    assert len(here.execute(QUERIES[0]).rows) == 3
