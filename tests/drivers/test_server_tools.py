"""Programs at ``dpsql serve``: pgjdbc, psqlODBC, R, ibis, pgcli, Harlequin's adapter for PostgreSQL.

What is not installed is skipped, and says what installs it; tests/drivers/with_all_clients.sh installs all.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from itertools import takewhile
from pathlib import Path
from typing import Any

import pexpect
import pytest

from .conftest import PASSWORD, Served

PROGRAMS = Path(__file__).parent / "programs"
JDBC = Path("/usr/share/java/postgresql.jar")
BY_WARD = "SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward ORDER BY ward"
WARDS = ["Cardiology", "Emergency", "Geriatrics", "Maternity", "Oncology", "Pediatrics"]


ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/", "LC_ALL": "C.UTF-8", "PGPASSWORD": PASSWORD}


def run(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, input=text, capture_output=True, text=True, timeout=300, env=ENVIRONMENT)


# ---- pgjdbc: DBeaver, Metabase, Tableau ----------------------------------------------------------------


@pytest.fixture(scope="module")
def jdbc(clinic_for_all: Path) -> dict[str, str]:
    """What the Java program said, by name."""
    if shutil.which("javac") is None or not JDBC.exists():
        pytest.skip("pgjdbc is not installed: apt-get install libpostgresql-jdbc-java default-jdk-headless")
    server = Served(clinic_for_all)
    try:
        done = run("java", "-cp", str(JDBC), str(PROGRAMS / "Jdbc.java"), f"jdbc:{_jdbc_url(server)}")
    finally:
        server.close()
    assert done.returncode == 0, done.stderr
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


def _jdbc_url(server: Served) -> str:
    return f"postgresql://127.0.0.1:{server.port}/clinic?user=ana&password={PASSWORD.replace(' ', '%20')}"


def test_jdbc_reads_the_metadata(jdbc: dict[str, str]) -> None:
    assert jdbc["product"].startswith("PostgreSQL 15.0 (dpsql ")
    assert "SQL as in DuckDB" in jdbc["product"]
    assert jdbc["catalogs"] == "clinic"
    assert jdbc["schemas"] == "information_schema pg_catalog public"
    assert jdbc["tables"] == "far kinds patients visits wards"
    assert jdbc["columns"].split()[:3] == ["patient_id.int4", "age.int4", "sex.text"]
    assert jdbc["types"] == "true"
    assert jdbc["functions"] == ""
    assert jdbc["keys"] == "wards.ward"
    assert jdbc["private keys"] == "patients.patient_id"
    assert jdbc["imported"] == "visits.patient_id.patients.patient_id"
    assert jdbc["exported"] == "visits.patient_id"
    assert jdbc["crossed"] == "patient_id"
    assert jdbc["indices"] == jdbc["best row"] == "ward"
    assert jdbc["valid"] == "true"


def test_jdbc_pays_once_for_seven_executions_and_shows_the_price(jdbc: dict[str, str]) -> None:
    assert jdbc["price 0"].startswith("cost epsilon 0.5, remaining ")
    assert jdbc["price 1"].startswith("repeated: served from the ledger, free")
    assert jdbc["different answers"] == "1"
    assert jdbc["described"] == "int8"
    assert jdbc["margin"] == "n_margin"


def test_jdbc_reads_values_and_answers_in_pieces(jdbc: dict[str, str]) -> None:
    first = "[1, 200, 170141183460469231731687303715884105727, 0.5, 0.1, 12.34, æ, red, t, "
    assert jdbc["kinds"].startswith(first)
    assert "2024-02-29, 23:59:01, 2024-02-29 08:30:00, " in jdbc["kinds"]
    assert jdbc["in pieces"].split() == WARDS


def test_jdbc_shows_refusals_and_the_state_of_a_transaction(jdbc: dict[str, str]) -> None:
    assert jdbc["refused"].startswith("0A000 ERROR: [D301] this SUM has no finite bound")
    assert "Hint: bound it: SUM(x CLAMPED" in jdbc["refused"]
    assert "Position: 12" in jdbc["refused"]
    assert jdbc["after it"].startswith("25P02 ")
    assert jdbc["after rollback"] == "answered"
    assert jdbc["rows"].startswith("42501 ERROR: [D402] single private rows are never shown")
    assert "[D104]" in jdbc["update"]
    assert jdbc["cancelled"].startswith("57014 ")


# ---- psqlODBC: Excel, Power BI, Access -----------------------------------------------------------------


def test_odbc_by_isql(served: Served) -> None:
    drivers = run("odbcinst", "-q", "-d").stdout if shutil.which("isql") is not None else ""
    if "[PostgreSQL Unicode]" not in drivers:
        pytest.skip("psqlODBC is not installed: apt-get install odbc-postgresql unixodbc")
    at = f"SERVER=127.0.0.1;PORT={served.port};DATABASE=clinic;UID=ana;PWD={PASSWORD}"
    text = f"{BY_WARD}\nSELECT age FROM patients\nhelp\nhelp patients\nSELECT 7 AS seven\n"
    text += 'SELECT COUNT(*) AS beds FROM "clinic"."public"."wards"\nSELECT * FROM kinds ORDER BY n\n'
    done = run("isql", "-k", f"DRIVER=PostgreSQL Unicode;{at}", "-b", "-v", "-d|", text=text)
    assert done.returncode == 0, done.stderr
    rows = [[cell.strip() for cell in line.split("|")] for line in done.stdout.splitlines()]
    assert [row[0] for row in rows if row[0] in WARDS] == WARDS
    assert ["clinic", "public", "patients", "TABLE"] in [row[:4] for row in rows]
    assert ["patients", "smoker"] in [row[2:4] for row in rows]
    assert "[D402] single private rows are never shown" in done.stdout + done.stderr
    for value in ("7", "170141183460469231731687303715884105727", "2024-02-29"):
        assert any(value in row for row in rows), value


# ---- R -------------------------------------------------------------------------------------------------


def test_r_and_dbplyr(own_server: Served) -> None:
    """RPostgreSQL has no cancel: a time limit ends a question, and so does the end of the program."""
    wanted = "for (name in c('RPostgreSQL', 'dplyr', 'dbplyr')) library(name, character.only = TRUE)"
    if shutil.which("Rscript") is None or run("Rscript", "-e", wanted).returncode != 0:
        pytest.skip("R is not installed: apt-get install r-cran-rpostgresql r-cran-dbplyr")
    words = ["Rscript", str(PROGRAMS / "dbplyr.R"), str(own_server.port)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, text=True, env=ENVIRONMENT, start_new_session=True, **pipes) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        lines = list(takewhile(lambda line: line.strip() != "leaving:", program.stdout))
        time.sleep(0.5)  # it asks by now, most often
        os.killpg(program.pid, signal.SIGKILL)
        errors = program.stderr.read()
    said = {name: words.split() for name, _, words in (line.partition(":") for line in lines)}
    assert said["tables"] == ["far", "kinds", "patients", "visits", "wards"], errors
    assert said["fields"][:2] == ["patient_id", "age"]
    assert said["wards"] == WARDS
    assert said["numbers"] == ["TRUE", "TRUE"]
    assert said["kinds"] == ["2024-02-29", "12.34", "0.5", "TRUE"]
    assert said["dbplyr"] == ["ward", "n", "age", *WARDS]
    assert said["joined"] == ["TRUE"]
    assert said["after it"] == ["7"]
    assert "[D402] single private rows are never shown" in errors
    assert "cost epsilon" in errors or "repeated" in errors
    assert said["begun"] == ["TRUE"]
    assert said["aborted"] == ["TRUE", "TRUE", "9"]
    assert "current transaction is aborted" in errors
    assert said["committed"] == ["10", "TRUE", "TRUE"]
    assert said["stopped"] == ["TRUE", "11"]
    assert "[D603] the query took longer than the time limit of 0.3 seconds" in errors
    for _ in range(100):
        if own_server.log()[-1]["event"] == "logout":
            break
        time.sleep(0.1)
    else:
        raise AssertionError("what it asked is not interrupted")
    spent = [line for line in own_server.log() if line["event"] == "question" and line["cost"] > 0]
    assert len(spent) == 4, "a rollback gives nothing back, and nothing is paid twice"


# ---- Python's own --------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # ibis sets an option of pandas that is old
def test_ibis(served: Served) -> None:
    ibis = pytest.importorskip("ibis", reason="ibis is not installed: pip install 'ibis-framework[postgres]'")
    given: dict[str, Any] = {**served.given}
    db = ibis.postgres.connect(**given)
    try:
        assert {"patients", "visits", "wards"} <= set(db.list_tables())
        patients, visits = db.table("patients"), db.table("visits")
        assert patients.schema()["age"].is_integer()
        assert not patients.schema()["ward"].nullable
        counted = patients.group_by("ward").aggregate(n=patients.count(), age=patients.age.mean())
        assert sorted(counted.to_pandas()["ward"]) == WARDS
        joined = visits.join(patients, "patient_id").filter(patients.age >= 65).cost.sum()
        assert joined.to_pandas() > 0
        with pytest.raises(Exception, match="single private rows are never shown"):
            patients.limit(3).to_pandas()
    finally:
        db.disconnect()


def test_pgcli_in_a_terminal(served: Served, tmp_path: Path) -> None:
    pytest.importorskip("pgcli", reason="pgcli is not installed: pip install pgcli")
    kept = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "TERM": "xterm",
        "LANG": "C.UTF-8",
        "PAGER": "cat",
    }
    terminal = pexpect.spawn(
        sys.executable,
        ["-m", "pgcli.main", served.url()],
        encoding="utf-8",
        timeout=120,
        dimensions=(60, 160),
        env=kept,  # type: ignore[arg-type]  # pexpect says so of all of os.environ
    )
    try:
        terminal.expect("clinic>")
        for typed, shown in (
            ("\\dt", "wards"),
            (f"{BY_WARD};", "Pediatrics"),
            ("\\d patients", "smoker.*boolean"),
            ("SELECT age FROM patients;", "single private rows are never shown"),
            ("SELECT 7 AS seven;", "seven"),
        ):
            terminal.send(f"{typed}\r")
            terminal.expect("SELECT 6" if "COUNT" in typed else shown)
            terminal.expect("clinic>")
        terminal.send("\\q\r")
        terminal.expect(pexpect.EOF)
    finally:
        terminal.close(force=True)


def test_harlequins_adapter_for_postgresql(served: Served) -> None:
    adapter = pytest.importorskip(
        "harlequin_postgres.adapter",
        reason="Harlequin's adapter is not installed: pip install harlequin-postgres",
    )
    from harlequin.exception import HarlequinQueryError

    db = adapter.HarlequinPostgresAdapter((served.url(),)).connect()
    (database,) = db.get_catalog().items
    (schema,) = [item for item in database.fetch_children() if item.label == "public"]
    tables = {item.label: item for item in schema.fetch_children()}
    assert {"patients", "visits", "wards"} <= set(tables)
    assert "smoker" in [item.label for item in tables["patients"].fetch_children()]
    cursor = db.execute(BY_WARD)
    assert [row[0] for row in cursor.fetchall()] == WARDS
    with pytest.raises(HarlequinQueryError, match=re.escape("[D402] single private rows are never shown")):
        db.execute("SELECT age FROM patients")
    db.close()
