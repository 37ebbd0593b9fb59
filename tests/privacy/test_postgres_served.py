"""``dpsql serve`` on a database of a PostgreSQL server: analysts ask dpsql, which measures there."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from drivers.conftest import Served
from postgres_servers import needs_postgres, running_server, track

POLICY = """\
[budget]
epsilon = 9.0
delta = 1e-6
[query]
epsilon = 2.0
[analysts.ana]
epsilon = 9.0
[unit]
name = "person"
column = "id"
[tables.visits]
rows_per_unit = 1
[tables.visits.columns]
id = {}
cost = { range = [0, 500] }
"""
ASKED = "SELECT SUM(cost) FROM visits"


@needs_postgres
def test_a_database_of_a_postgresql_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise beyond 30,000 is less likely than 1e-50: the scale is 500 over an epsilon of 2, or less."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clinic.toml").write_text(POLICY)
    with running_server() as postgres, postgres.database("clinic") as owner:
        owner.execute("CREATE TABLE visits (id INTEGER, cost DOUBLE PRECISION)")
        owner.execute("INSERT INTO visits SELECT i, 100 FROM generate_series(1, 1000) AS t(i)")
        track(owner, "visits")
        where = str(postgres.url("clinic"))
        with (
            closing(Served(where, analysts=("ana",))) as server,
            psycopg.connect(server.url(), autocommit=True) as db,
        ):
            first = db.execute(ASKED).fetchall()
            assert 70_000 < float(first[0][0]) < 130_000
            assert db.execute(ASKED).fetchall() == first, "it was paid for"
            with pytest.raises(psycopg.Error, match="single private rows are never shown"):
                db.execute("SELECT cost FROM visits")
            assert db.execute("SELECT relname FROM pg_class WHERE relname = 'visits'").fetchall() == [
                ("visits",)
            ]
            owner.execute("UPDATE visits SET cost = 400")
            assert 370_000 < float(db.execute(ASKED).fetchall()[0][0]) < 430_000
            paid = [line["cost"] for line in server.log() if line["event"] == "question" and line["cost"]]
        assert len(paid) == 2
    assert os.listdir(tmp_path) == ["clinic.toml"], "ledger and verifiers were named"
