"""A PostgreSQL server in a folder of its own, on a socket alone, for tests; skipped where there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from dpsql.engines.postgres.url import PostgresUrl

TRACKING = Path(__file__).parent.parent / "dpsql" / "engines" / "postgres" / "track_changes.sql"


def program(name: str) -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return found[-1] if found else Path(each) if (each := shutil.which(name)) else None


INITDB, PG_CTL = program("initdb"), program("pg_ctl")

needs_postgres = pytest.mark.skipif(
    INITDB is None or PG_CTL is None, reason="PostgreSQL is not installed: apt-get install postgresql"
)


class Server:
    """A running server: its folder, connections of its owner, URLs of a role that only reads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def words(self, database: str) -> str:
        return f"host={self.folder} user=owner dbname={database}"

    def owner(self, database: str = "postgres") -> psycopg.Connection[Any]:
        return psycopg.connect(self.words(database), autocommit=True)

    def url(self, database: str, user: str = "reader") -> PostgresUrl:
        return PostgresUrl(user, str(self.folder), "", database)

    def database(self, name: str) -> psycopg.Connection[Any]:
        """Create a database whose changes can be tracked, and connect as its owner."""
        with self.owner() as first:
            first.execute(f'CREATE DATABASE "{name}"'.encode())
        owner = self.owner(name)
        owner.execute(TRACKING.read_bytes())
        owner.execute("GRANT USAGE ON SCHEMA dpsql TO reader")
        owner.execute("GRANT SELECT ON dpsql.versions TO reader")
        return owner

    def stop(self, mode: str = "immediate") -> None:
        self._run(PG_CTL, "-w", "-m", mode, "-D", self.folder / "data", "stop")

    def start(self) -> None:
        options = (
            f"-k {self.folder} -c listen_addresses='' -c fsync=off -c max_connections=40 -c wal_level=logical"
        )
        self._run(PG_CTL, "-w", "-D", self.folder / "data", "-l", self.folder / "log", "-o", options, "start")

    def create(self) -> None:
        self._run(INITDB, "-A", "trust", "--locale=C.UTF-8", "-N", "-U", "owner", "-D", self.folder / "data")

    def _run(self, *command: object) -> None:
        user = "nobody" if os.geteuid() == 0 else None
        words = [str(each) for each in command]
        subprocess.run(words, user=user, cwd=self.folder, stdout=subprocess.DEVNULL, check=True)


@contextmanager
def running_server() -> Iterator[Server]:
    """Run a server under a user who is not root, with a role ``reader``."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody")
    server = Server(folder)
    try:
        server.create()
        server.start()
        try:
            with server.owner() as owner:
                owner.execute("CREATE ROLE reader LOGIN")
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)


def track(owner: psycopg.Connection[Any], *tables: str) -> None:
    """Track tables, and let the reader read them."""
    for table in tables:
        owner.execute("SELECT dpsql.track(%s::regclass)", (table,))
        owner.execute(f"GRANT SELECT ON {table} TO reader".encode())
