"""The catalogue over the wire: it follows private views, ends in time, and says nothing to the log."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy

from .conftest import Served

VIEWS = b"SELECT relname FROM pg_class WHERE relname LIKE 'seen%' ORDER BY relname"
PRODUCT = ", ".join(f"pg_type t{number}" for number in range(6))


def connected(served: Served, analyst: str) -> psycopg.Connection[Any]:
    return psycopg.connect(served.url("postgresql", analyst), autocommit=True)


def test_names_are_those_of_now(own_server: Served) -> None:
    """bob asks nothing but names on his connection: it sees what ana lends, and what she drops."""
    with connected(own_server, "ana") as ana, connected(own_server, "bob") as bob:
        assert ana.execute(VIEWS).fetchall() == bob.execute(VIEWS).fetchall() == []
        ana.execute("CREATE PRIVATE VIEW seen AS SELECT sex, smoker FROM patients")
        assert ana.execute(VIEWS).fetchall() == [("seen",)]
        assert bob.execute(VIEWS).fetchall() == []
        ana.execute("GRANT SELECT ON seen TO bob")
        assert bob.execute(VIEWS).fetchall() == [("seen",)]
        own_server.stop()
    own_server.start("--processes", "2")
    with ExitStack() as stack:
        ana, *bobs = (
            stack.enter_context(connected(own_server, name)) for name in ("ana", "bob", "bob", "bob")
        )
        assert [bob.execute(VIEWS).fetchall() for bob in bobs] == [[("seen",)]] * 3
        ana.execute("REVOKE SELECT ON seen FROM bob")
        assert [bob.execute(VIEWS).fetchall() for bob in bobs] == [[]] * 3
        assert ana.execute(VIEWS).fetchall() == [("seen",)]
        ana.execute("DROP PRIVATE VIEW seen")
        assert ana.execute(VIEWS).fetchall() == []


def test_alerts_are_bought_lent_and_asked_over_the_wire(own_server: Served) -> None:
    """All are true: the threshold is far below 0."""
    asked = b"SELECT DP_ABOVE('many', COUNT(*)) FROM patients"
    with connected(own_server, "ana") as ana, connected(own_server, "bob") as bob:
        ana.execute("CREATE PRIVATE ALERT many WITH (epsilon = 0.1, above = -1e6)")
        assert ana.execute(asked).fetchall() == [(True,)]
        with pytest.raises(psycopg.Error, match="D201"):
            bob.execute(asked)
        ana.execute("GRANT SELECT ON PRIVATE ALERT many TO bob")
        assert bob.execute(asked).fetchall() == [(True,)]
        with pytest.raises(psycopg.Error, match="D515"):
            ana.execute(b"SELECT DP_ABOVE('many', COUNT(*)) FROM visits")
        ana.execute("DROP PRIVATE ALERT many")


def test_sqlalchemy_reflects_the_keys_that_the_policy_names(served: Served) -> None:
    engine = sqlalchemy.create_engine(served.url("postgresql+psycopg"))
    try:
        tables = sqlalchemy.MetaData()
        visits = sqlalchemy.Table("visits", tables, autoload_with=engine)
        assert [column.name for column in tables.tables["patients"].primary_key] == ["patient_id"]
        (reference,) = visits.foreign_keys
        assert str(reference.column) == "patients.patient_id"
        wards = sqlalchemy.Table("wards", tables, autoload_with=engine)
        assert [column.name for column in wards.primary_key] == ["ward"]
        assert sqlalchemy.inspect(engine).get_indexes("wards") == []
        joined = sqlalchemy.select(sqlalchemy.func.count()).select_from(
            visits.join(tables.tables["patients"])
        )
        with engine.connect() as db:
            assert db.execute(joined).scalar_one() > 0
    finally:
        engine.dispose()


@pytest.mark.skipif(shutil.which("psql") is None, reason="psql is not installed")
def test_psql_shows_the_keys(served: Served) -> None:
    words = ["psql", "-X", served.url(), "-c", "\\d patients", "-c", "\\d+ visits", "-c", "\\di"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert '"patients_pkey" PRIMARY KEY, btree (patient_id)' in done.stdout
    assert 'TABLE "visits" CONSTRAINT "visits_patient_id_fkey" FOREIGN KEY (patient_id)' in done.stdout
    visits = done.stdout.split('Table "public.visits"')[1]
    foreign = '"visits_patient_id_fkey" FOREIGN KEY (patient_id) REFERENCES patients(patient_id)'
    assert f"Foreign-key constraints:\n    {foreign}" in visits
    assert done.stderr == ""


def test_a_statement_without_end_is_killed(own_server: Served) -> None:
    with connected(own_server, "ana") as db:
        for _ in range(2):
            with pytest.raises(psycopg.errors.FeatureNotSupported, match=r"longer than 2 seconds|200 MB"):
                db.execute(f"SELECT COUNT(*) FROM {PRODUCT} WHERE t1.typname < t2.typname".encode())
        assert db.execute("SELECT typname FROM pg_type WHERE oid = 23").fetchall() == [("int4",)]
        nested = "SELECT " + "decimal(" * 30 + "1" + ")" * 30 + " FROM pg_class"
        with pytest.raises(psycopg.Error, match="D103"):
            db.execute(nested.encode())


@pytest.mark.parametrize("texts", ["plain", "digest"])
def test_the_log_keeps_texts_as_the_ledger_does(clinic_for_all: Path, tmp_path: Path, texts: str) -> None:
    """A client's own words come back in what the catalogue does not answer."""
    policy = tmp_path / "own.toml"
    policy.write_text(clinic_for_all.with_suffix(".toml").read_text() + f'\n[ledger]\ntexts = "{texts}"\n')
    with closing(Served(clinic_for_all)) as server:
        server.stop()
        server.start("--policy", str(policy))
        with connected(server, "ana") as db, pytest.raises(psycopg.Error, match="secret_name"):
            db.execute("SELECT * FROM pg_catalog.secret_name")
        [line] = [line for line in server.log() if line["event"] == "catalogue"]
        assert ("secret_name" in server.log_file.read_text()) == ("why" in line) == (texts == "plain")
