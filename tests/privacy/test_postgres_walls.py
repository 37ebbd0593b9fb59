"""Servers, roles and settings under which the PostgreSQL engine opens nothing; and what it fixes itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from postgres_servers import Server, needs_postgres, running_server, track

import dpsql
from dpsql.engines.postgres import walls
from dpsql.engines.postgres.engine import PostgresEngine
from dpsql.session.checks import parse_policy

pytestmark = needs_postgres

POLICY = """\
timezone = "{zone}"
[budget]
epsilon = 100.0
delta = 1e-6
[unit]
name = "person"
column = "id"
[tables.visits.columns]
id = {{}}
name = {{}}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as running:
        with running.database("walls") as owner:
            owner.execute("CREATE TABLE visits (id INTEGER, name TEXT)")
            track(owner, "visits")
        yield running


def opened(server: Server, user: str = "reader", zone: str = "UTC", name: str = "walls") -> PostgresEngine:
    policy = parse_policy(POLICY.format(zone=zone), "t.toml")
    return PostgresEngine(server.url(name, user), policy)


@pytest.mark.parametrize(
    "rights",
    [
        "SUPERUSER",
        "BYPASSRLS",
        "CREATEDB",
        "CREATEROLE",
        "REPLICATION",
        "IN ROLE pg_write_all_data",
        "IN ROLE pg_read_server_files",
        "IN ROLE pg_write_server_files",
        "IN ROLE pg_execute_server_program",
    ],
)
def test_a_role_that_may_do_more_is_refused(server: Server, rights: str) -> None:
    with server.owner("walls") as owner:
        owner.execute(f"CREATE ROLE mighty LOGIN {rights}".encode())
        try:
            with pytest.raises(dpsql.OperationalError) as caught:
                opened(server, "mighty")
        finally:
            owner.execute("DROP ROLE mighty")
    assert caught.value.code == "D602"


def test_a_role_that_cannot_read_versions_is_told_how(server: Server) -> None:
    with server.owner("walls") as owner:
        owner.execute(b"CREATE ROLE blind LOGIN; GRANT SELECT ON visits TO blind")
    with pytest.raises(dpsql.OperationalError, match="nothing says when visits changes") as caught:
        opened(server, "blind")
    assert "GRANT SELECT ON dpsql.versions" in caught.value.help


def test_another_server_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walls, "TESTED", (14,))
    with pytest.raises(dpsql.OperationalError, match="the server is PostgreSQL 15"):
        opened(server)


def test_another_encoding_is_refused(server: Server) -> None:
    with server.owner() as owner:
        owner.execute(
            "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
        )
    with pytest.raises(dpsql.OperationalError, match="UTF-8"):
        opened(server, name="latin")


def test_settings_are_fixed_whatever_the_role_says(server: Server) -> None:
    theirs = {"search_path": "public", "statement_timeout": "50s", "transform_null_equals": "on"}
    theirs |= {"extra_float_digits": "-15", "DateStyle": "German", "standard_conforming_strings": "off"}
    theirs |= {"default_transaction_read_only": "off", "row_security": "on", "TimeZone": "Asia/Tokyo"}
    with server.owner("walls") as owner:
        for name, value in theirs.items():
            owner.execute(f"ALTER ROLE reader SET {name} = '{value}'".encode())
        try:
            with closing(opened(server, zone="Europe/Oslo")) as engine:
                held = dict(engine._ask("SELECT name, setting FROM pg_settings"))  # type: ignore[arg-type]  # pairs of texts
                assert held["TimeZone"] == "Europe/Oslo"
                assert {name: held[name] for name in walls._SETTINGS} == walls._SETTINGS
        finally:
            owner.execute("ALTER ROLE reader RESET ALL")


def test_nothing_is_written(server: Server) -> None:
    with server.owner("walls") as owner, closing(opened(server)) as engine:
        for sql in ("CREATE TABLE public.t (n INTEGER)", "CREATE TEMP TABLE t (n INTEGER)"):
            with pytest.raises(dpsql.OperationalError):
                engine._ask(sql)
        owner.execute("SELECT 1")


def test_names_mean_what_postgresql_means_by_them(server: Server) -> None:
    """Functions and operators of the same name in other schemas are not called."""
    with server.owner("walls") as owner:
        owner.execute("CREATE FUNCTION public.abs(integer) RETURNS integer LANGUAGE sql AS 'SELECT 42'")
        owner.execute("ALTER ROLE reader SET search_path = public, pg_catalog")
        try:
            with closing(opened(server)) as engine:
                assert engine._ask("SELECT abs(-1)") == [(1,)]
        finally:
            owner.execute("ALTER ROLE reader RESET ALL")


def test_texts_are_compared_by_their_bytes(server: Server) -> None:
    """A collation without case has opaque values; any other is read as C."""
    with server.owner("walls") as owner:
        owner.execute(
            "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
        owner.execute('CREATE TABLE spelled (a TEXT COLLATE loose, b TEXT COLLATE "en-x-icu", c CHAR(3))')
    with server.owner("walls") as owner:
        track(owner, "spelled")
    with closing(PostgresEngine(server.url("walls"))) as engine:
        [found] = [table for table in engine.describe().tables if table.name == "spelled"]
        assert [(column.name, column.collation) for column in found.columns] == [("a", "loose"), ("b", None)]
        with server.owner("walls") as owner:
            owner.execute("INSERT INTO spelled VALUES ('a', 'a'), ('A', 'B')")
    with closing(PostgresEngine(server.url("walls"))) as engine:
        assert engine._ask(f"SELECT count(*) FROM {engine._rows('spelled')} WHERE a = 'a'") == [(1,)]
        assert engine._ask(f"SELECT min(b) FROM {engine._rows('spelled')}") == [("B",)]


def test_a_server_that_is_not_there_is_named_without_the_drivers_words(server: Server) -> None:
    with pytest.raises(dpsql.OperationalError) as caught:
        opened(server, name="nowhere")
    assert "FATAL" not in f"{caught.value} {caught.value.__cause__}"
    assert caught.value.code == "D602"
