"""Each way to change the rows of a PostgreSQL table changes its version, or the table is not read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from postgres_servers import TRACKING, Server, needs_postgres, running_server, track

import dpsql
from dpsql.engines.contents import Contents
from dpsql.engines.postgres import versions
from dpsql.engines.postgres.engine import PostgresEngine
from dpsql.session.checks import parse_policy

pytestmark = needs_postgres

POLICY = """\
[budget]
epsilon = 100.0
delta = 1e-6
[unit]
name = "person"
column = "id"
[tables.visits.columns]
id = {}
cost = { range = [0, 500] }
"""

PLAIN = "CREATE TABLE visits (id INTEGER, cost DOUBLE PRECISION, day DATE); INSERT INTO visits VALUES (1, 2)"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as running:
        yield running


@pytest.fixture
def owner(server: Server, request: pytest.FixtureRequest) -> Iterator[psycopg.Connection[Any]]:
    """A database for one test, with the table ``visits``, tracked."""
    name = f"db{abs(hash(request.node.nodeid))}"
    with server.database(name) as connection:
        connection.execute(PLAIN.encode())
        track(connection, "visits")
        yield connection


def opened(server: Server, owner: psycopg.Connection[Any]) -> PostgresEngine:
    return PostgresEngine(server.url(owner.info.dbname), parse_policy(POLICY, "t.toml"))


def version(server: Server, owner: psycopg.Connection[Any]) -> str:
    with closing(opened(server, owner)) as engine:
        return engine.version(Contents())


CHANGES = (
    "INSERT INTO visits VALUES (2, 3)",
    "UPDATE visits SET cost = 4",
    "DELETE FROM visits",
    "TRUNCATE visits",
    "COPY visits FROM PROGRAM 'printf \"7\\t8\\t\\\\\\\\N\\n\"'",
    "MERGE INTO visits USING (VALUES (1)) AS n(i) ON id = i WHEN MATCHED THEN UPDATE SET cost = 9",
    "WITH n AS (INSERT INTO visits VALUES (5, 5) RETURNING *) SELECT * FROM n",
    "SET session_replication_role = replica; INSERT INTO visits VALUES (2, 3)",
    "ALTER TABLE visits ALTER cost TYPE REAL USING cost * 2",
    "ALTER TABLE visits ALTER id TYPE BIGINT",
    "ALTER TABLE visits RENAME cost TO paid; ALTER TABLE visits ADD cost DOUBLE PRECISION DEFAULT 7",
    "ALTER TABLE visits DROP cost; ALTER TABLE visits ADD cost DOUBLE PRECISION DEFAULT 7",
    "ALTER TABLE visits DISABLE TRIGGER dpsql_changed; UPDATE visits SET cost = 4; "
    "ALTER TABLE visits ENABLE ALWAYS TRIGGER dpsql_changed",
    "DROP TRIGGER dpsql_changed ON visits; UPDATE visits SET cost = 4; SELECT dpsql.track('visits')",
    "ALTER TABLE visits DISABLE TRIGGER dpsql_changed_rows; ALTER TABLE visits ENABLE REPLICA TRIGGER "
    "dpsql_changed_rows",
    "DROP TABLE visits; " + PLAIN + "; SELECT dpsql.track('visits'); GRANT SELECT ON visits TO reader",
    "CREATE TABLE parents (id INTEGER PRIMARY KEY); INSERT INTO parents VALUES (1); ALTER TABLE visits ADD "
    "FOREIGN KEY (id) REFERENCES parents ON DELETE CASCADE; DELETE FROM parents",
    "CREATE TABLE parents (id INTEGER PRIMARY KEY); INSERT INTO parents VALUES (1); ALTER TABLE visits ADD "
    "FOREIGN KEY (id) REFERENCES parents ON UPDATE CASCADE; UPDATE parents SET id = 2",
    "CREATE TABLE parents (id INTEGER PRIMARY KEY); INSERT INTO parents VALUES (1); ALTER TABLE visits ADD "
    "FOREIGN KEY (id) REFERENCES parents; TRUNCATE parents CASCADE",
    "CREATE TABLE above (id INTEGER, cost DOUBLE PRECISION, day DATE); ALTER TABLE visits INHERIT above; "
    "UPDATE above SET cost = 4; ALTER TABLE visits NO INHERIT above",
    "CREATE TABLE parts (id INTEGER, cost DOUBLE PRECISION, day DATE) PARTITION BY LIST (id); "
    "ALTER TABLE parts ATTACH PARTITION visits DEFAULT; UPDATE parts SET cost = 4; "
    "ALTER TABLE parts DETACH PARTITION visits",
    "CREATE VIEW v AS SELECT id, cost FROM visits; INSERT INTO v VALUES (8, 8)",
    "CREATE RULE r AS ON INSERT TO dpsql.versions DO INSTEAD NOTHING; DROP RULE r ON dpsql.versions; "
    "UPDATE visits SET cost = 4",
)


@pytest.mark.sweep
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_another_version(server: Server, owner: psycopg.Connection[Any], change: str) -> None:
    before = version(server, owner)
    assert version(server, owner) == before
    with closing(opened(server, owner)) as engine:
        owner.execute(change.encode())
        with pytest.raises(dpsql.OperationalError) as caught:
            engine.unchanged()
        assert caught.value.code == "D602"
    assert version(server, owner) != before


REFUSED = (
    "ALTER TABLE visits DISABLE TRIGGER dpsql_changed",
    "ALTER TABLE visits ENABLE TRIGGER dpsql_changed",
    "DROP TRIGGER dpsql_changed ON visits",
    "DROP TRIGGER dpsql_changed_rows ON visits",
    "ALTER TABLE visits DISABLE TRIGGER dpsql_changed_rows",
    "ALTER TABLE visits ENABLE TRIGGER dpsql_changed_rows",
    "CREATE OR REPLACE FUNCTION dpsql.changed_rows() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER "
    "SET search_path = pg_catalog AS 'BEGIN RETURN NULL; END'",
    "DELETE FROM dpsql.versions",
    "CREATE OR REPLACE FUNCTION dpsql.changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER "
    "SET search_path = pg_catalog AS 'BEGIN RETURN NULL; END'",
    "DROP TRIGGER dpsql_changed ON visits; CREATE TRIGGER dpsql_changed BEFORE INSERT ON visits "
    "FOR EACH STATEMENT EXECUTE FUNCTION dpsql.changed(); "
    "ALTER TABLE visits ENABLE ALWAYS TRIGGER dpsql_changed",
    "DROP TRIGGER dpsql_changed ON visits; CREATE TRIGGER dpsql_changed BEFORE INSERT OR UPDATE OF day OR "
    "DELETE OR TRUNCATE ON visits FOR EACH STATEMENT EXECUTE FUNCTION dpsql.changed(); "
    "ALTER TABLE visits ENABLE ALWAYS TRIGGER dpsql_changed",
    "CREATE TABLE more () INHERITS (visits)",
    "CREATE TABLE above (id INTEGER, cost DOUBLE PRECISION, day DATE); ALTER TABLE visits INHERIT above",
    "CREATE TABLE parts (id INTEGER, cost DOUBLE PRECISION, day DATE) PARTITION BY LIST (id); "
    "ALTER TABLE parts ATTACH PARTITION visits DEFAULT",
    "ALTER TABLE visits ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE visits SET UNLOGGED",
    "ALTER TABLE visits RENAME TO kept; CREATE VIEW visits AS SELECT * FROM kept; "
    "GRANT SELECT ON visits TO reader",
    "ALTER TABLE visits RENAME TO kept; CREATE MATERIALIZED VIEW visits AS SELECT * FROM kept; "
    "GRANT SELECT ON visits TO reader",
    "GRANT INSERT ON visits TO reader",
    "GRANT UPDATE (cost) ON visits TO reader",
    "GRANT TRUNCATE ON visits TO reader",
)


@pytest.mark.sweep
@pytest.mark.parametrize("change", REFUSED)
def test_a_table_whose_changes_would_not_be_seen_is_refused(
    server: Server, owner: psycopg.Connection[Any], change: str
) -> None:
    opened(server, owner).close()
    owner.execute(change.encode())
    with pytest.raises(dpsql.OperationalError) as caught:
        opened(server, owner)
    assert caught.value.code == "D602"
    assert caught.value.help


def test_what_is_rolled_back_changes_nothing(server: Server, owner: psycopg.Connection[Any]) -> None:
    before = version(server, owner)
    with owner.transaction(force_rollback=True):
        owner.execute("DELETE FROM visits")
    assert version(server, owner) == before


def test_writers_wait_so_that_each_version_is_of_one_state(
    server: Server, owner: psycopg.Connection[Any]
) -> None:
    """The second writer's version can only be committed after the first one's rows."""
    with server.owner(owner.info.dbname) as second, server.owner(owner.info.dbname) as third:
        second.execute("SET lock_timeout = '200ms'")
        with owner.transaction():
            owner.execute("INSERT INTO visits VALUES (3, 3)")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                second.execute("INSERT INTO visits VALUES (4, 4)")
        third.execute("INSERT INTO visits VALUES (4, 4)")


def test_rows_and_versions_are_of_one_snapshot(server: Server, owner: psycopg.Connection[Any]) -> None:
    """Writes between the snapshot and the sums are not seen; a new file cannot come between."""
    with closing(opened(server, owner)) as engine:
        present = engine._present

        def meanwhile() -> dict[int, versions.State]:
            states = present()
            owner.execute("INSERT INTO visits SELECT n, 1 FROM generate_series(1, 50) AS t(n)")
            owner.execute("SET lock_timeout = '200ms'")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                owner.execute("TRUNCATE visits")
            return states

        engine._present = meanwhile  # type: ignore[method-assign]  # restored below
        assert engine._ask("SELECT count(*) FROM public.visits") == [(1,)]
        engine._present = present  # type: ignore[method-assign]  # as it was
        with pytest.raises(dpsql.OperationalError, match="changed since"):
            engine._ask("SELECT count(*) FROM public.visits")


def test_another_table_changes_nothing_here(server: Server, owner: psycopg.Connection[Any]) -> None:
    before = version(server, owner)
    owner.execute(b"CREATE TABLE notes (n INTEGER); INSERT INTO notes VALUES (1)")
    owner.execute("VACUUM ANALYZE visits")
    assert version(server, owner) == before


def test_a_table_that_an_older_dpsql_tracked_is_tracked_again(
    server: Server, owner: psycopg.Connection[Any]
) -> None:
    owner.execute(b"DROP TRIGGER dpsql_changed_rows ON visits; DROP FUNCTION dpsql.changed_rows")
    with pytest.raises(dpsql.OperationalError, match="nothing says when visits changes") as caught:
        opened(server, owner)
    assert "run track_changes.sql, again" in caught.value.help
    owner.execute(TRACKING.read_bytes())
    track(owner, "visits")
    opened(server, owner).close()


@pytest.fixture
def source(server: Server, owner: psycopg.Connection[Any]) -> Iterator[psycopg.Connection[Any]]:
    """A database whose table ``visits`` the tests' own one subscribes to."""
    name = f"{owner.info.dbname}_source"
    with server.database(name) as connection:
        connection.execute(PLAIN.encode())
        connection.execute("ALTER TABLE visits REPLICA IDENTITY FULL")
        connection.execute("CREATE PUBLICATION there FOR TABLE visits")
        connection.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", (name,))
        yield connection


def subscribe(server: Server, owner: psycopg.Connection[Any], source: psycopg.Connection[Any]) -> None:
    name = source.info.dbname
    options = f"copy_data = false, create_slot = false, slot_name = '{name}'"
    words = f"'{server.words(name)}' PUBLICATION there WITH ({options})"
    owner.execute(f"CREATE SUBSCRIPTION {name} CONNECTION {words}".encode())


def unsubscribe(owner: psycopg.Connection[Any], source: psycopg.Connection[Any]) -> None:
    name = source.info.dbname
    owner.execute(f"ALTER SUBSCRIPTION {name} DISABLE".encode())
    owner.execute(f"ALTER SUBSCRIPTION {name} SET (slot_name = NONE)".encode())
    owner.execute(f"DROP SUBSCRIPTION {name}".encode())


def arrive(owner: psycopg.Connection[Any], sql: str, value: object) -> None:
    """Wait until what was written there is here."""
    for _ in range(300):
        if owner.execute(sql.encode()).fetchall() == [(value,)]:
            return
        time.sleep(0.1)
    raise AssertionError("nothing has arrived in half a minute")


@pytest.mark.parametrize(
    ("change", "seen", "value"),
    [
        (
            "INSERT INTO visits SELECT 7, 100 FROM generate_series(1, 1000)",
            "SELECT count(*) FROM visits",
            1001,
        ),
        ("UPDATE visits SET cost = 77", "SELECT sum(cost) FROM visits", 77),
        ("DELETE FROM visits", "SELECT count(*) FROM visits", 0),
        ("TRUNCATE visits", "SELECT count(*) FROM visits", 0),
    ],
)
def test_what_a_subscription_wrote_is_another_version(
    server: Server,
    owner: psycopg.Connection[Any],
    source: psycopg.Connection[Any],
    change: str,
    seen: str,
    value: object,
) -> None:
    """It writes while nobody looks, and is gone when the table is opened again."""
    before = version(server, owner)
    with closing(opened(server, owner)) as engine:
        subscribe(server, owner, source)
        try:
            source.execute(change.encode())
            arrive(owner, seen, value)
        finally:
            unsubscribe(owner, source)
        with pytest.raises(dpsql.OperationalError, match="changed since"):
            engine.unchanged()
    assert version(server, owner) != before


def test_a_table_that_is_subscribed_is_read_in_no_session(
    server: Server, owner: psycopg.Connection[Any], source: psycopg.Connection[Any]
) -> None:
    with closing(opened(server, owner)) as engine:
        subscribe(server, owner, source)
        try:
            with pytest.raises(dpsql.OperationalError, match="changed since"):
                engine.unchanged()
            with pytest.raises(dpsql.OperationalError, match="a table that a subscription writes to"):
                opened(server, owner)
        finally:
            unsubscribe(owner, source)


def test_many_rows_of_one_transaction_are_one_version(owner: psycopg.Connection[Any]) -> None:
    """A version for each of 50,000 rows would take minutes; each transaction has its own."""
    owner.execute("SET session_replication_role = replica")
    owner.execute("ALTER TABLE visits DISABLE TRIGGER dpsql_changed")
    held = "SELECT version, xmin::text FROM dpsql.versions"
    seen = [owner.execute(held.encode()).fetchall()]
    for _ in range(2):
        with owner.transaction():
            owner.execute("INSERT INTO visits VALUES (3, 3)")
            first = owner.execute(held.encode()).fetchall()
            owner.execute("INSERT INTO visits SELECT n, 1 FROM generate_series(1, 50000) AS t(n)")
            seen.append(owner.execute(held.encode()).fetchall())
            assert seen[-1] == first
    assert len({str(each) for each in seen}) == 3
    with owner.transaction():
        with owner.transaction(force_rollback=True):
            owner.execute("INSERT INTO visits VALUES (4, 4)")
        assert owner.execute(held.encode()).fetchall() == seen[-1]
        owner.execute("INSERT INTO visits VALUES (5, 5)")
    assert owner.execute(held.encode()).fetchall() != seen[-1]
