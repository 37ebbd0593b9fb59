"""The owner's things have no way in over the wire, and each question is the analyst's who logged in."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import psycopg
import pytest

import dpsql
from dpsql.server.pool import Place

from .conftest import Served

ROOM = Path(dpsql.__file__).parent / "server"
REACHING_OUT = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "COPY (SELECT 1) TO '/tmp/x'",
    "COPY (SELECT 1) TO PROGRAM 'id'",
    "ATTACH 'other.duckdb'",
    "PRAGMA database_list",
    "INSTALL httpfs",
    "EXPORT DATABASE 'x'",
    "CREATE TABLE x AS SELECT * FROM patients",
    "SELECT DP_RANDOMIZED_RESPONSE(ward, 1.0) FROM patients",
    "SELECT getenv('HOME')",
    "SELECT current_setting('temp_directory') FROM wards",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM sqlite_master",
    "SELECT random(), setseed(0.5)",
    "SELECT * FROM visits TABLESAMPLE 10",
    "DO $$ BEGIN END $$",
    "CALL dpsql.export('x')",
    "SELECT patient_id FROM patients",
    "SELECT * FROM patients LIMIT 3",
    "SELECT COUNT(*) FROM (SELECT 1 FROM patients LIMIT 1)",
    "EXPLAIN ANALYZE SELECT COUNT(*) FROM patients",
    "PREPARE x AS SELECT 1",
    "EXECUTE x",
]


@pytest.mark.parametrize("sql", REACHING_OUT)
def test_what_reaches_out_is_refused_as_in_process(
    served: Served, db: psycopg.Connection[Any], sql: str
) -> None:
    with pytest.raises(psycopg.Error) as refused:
        db.execute(sql.encode())
    given = {"ledger": served.folder / "own.ledger", "analyst": "ana"}
    with dpsql.connect(served.database, **given) as own:
        if not sql.startswith("COPY"):
            with pytest.raises(dpsql.Error) as there:
                own.execute(sql)
            assert str(refused.value.diag.message_primary).startswith(f"[{there.value.code}] ")
            assert there.value.code not in ("D901", "D601")


@pytest.fixture
def db(served: Served) -> Any:
    with psycopg.connect(served.url(), autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize(
    "setting",
    [
        "TimeZone = 'Asia/Tokyo'",
        "threads = 1",
        "memory_limit = '1GB'",
        "enable_external_access = true",
        "seed = 1",
    ],
)
def test_settings_change_nothing_of_an_answer(db: psycopg.Connection[Any], setting: str) -> None:
    sql = (
        "SELECT OPTIONS(epsilon = 0.3) COUNT(*) FROM visits WHERE day < TIMESTAMPTZ '2024-06-01 00:00:00+00'"
    )
    before = db.execute(sql).fetchall()
    db.execute(f"SET {setting}".encode())
    assert db.execute(sql).fetchall() == before


def test_each_question_is_paid_by_who_logged_in(own_server: Served) -> None:
    sql = "SELECT OPTIONS(epsilon = 0.01) COUNT(*) FROM patients WHERE age > 64"
    given = {"ledger": own_server.folder / "own.ledger", "analyst": "bob"}
    with dpsql.connect(own_server.database, **given) as own:
        before = own.purchase_count
    with psycopg.connect(own_server.url(), autocommit=True) as ana:
        ana.execute("SET session_authorization = 'ana'")
        with pytest.raises(psycopg.Error):
            ana.execute("SET ROLE bob; SELECT 1 / nothing")
        ana.execute(sql)
    with dpsql.connect(own_server.database, **given) as own:
        assert own.purchase_count == before
    with psycopg.connect(own_server.url("postgresql", "bob"), autocommit=True) as bob:
        bob.execute(sql)
    with dpsql.connect(own_server.database, **given) as own:
        assert own.purchase_count == before + 1


def test_a_password_does_not_make_an_analyst(own_server: Served) -> None:
    """A name with a verifier that the policy does not know, such as one that was taken out of it."""
    text = own_server.file.read_text()
    line = next(line for line in text.splitlines() if line.startswith("ana:"))
    own_server.file.write_text(
        text + line.replace("ana:", "eve:", 1) + "\n" + line.replace("ana:", "None:", 1) + "\n"
    )
    for name in ("eve", "None"):
        with pytest.raises(psycopg.OperationalError, match=r"\[D504\]"):
            psycopg.connect(own_server.url("postgresql", name))


def test_no_connection_is_opened_without_an_analyst(clinic_for_all: Path) -> None:
    place = Place.of(clinic_for_all)
    with pytest.raises(dpsql.InterfaceError, match="an analyst has a name"):
        place.open("")
    called = [
        (file.name, node.func.id)
        for file in ROOM.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id in ("connect", "Connection", "Session")
    ]
    assert called == [("pool.py", "connect")]
    deeper = [
        (file.name, node.module)
        for file in ROOM.glob("*/*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith(("dpsql.dbapi", "dpsql.session"))
    ]
    assert deeper == [], "rooms within open nothing; what they know of types they import for checks alone"


def test_nothing_is_imported_that_reads_private_rows() -> None:
    """The server knows the DB-API, the policy, texts of statements, and what shows answers."""
    allowed = {
        "dbapi",
        "errors",
        "ir",
        "policy",
        "parse",
        "render",
        "session",
        "server",
        "answer",
        "accounting",
        "lazy_dataclass",
        "remote",
    }
    for file in ROOM.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dpsql"):
                words = (node.module or "").split(".")
                assert len(words) == 1 or words[1] in allowed, (file.name, node.module)
                if words[1:2] in (["session"], ["accounting"]):
                    assert {each.name for each in node.names} <= {
                        "load_policy",
                        "sync_folder",
                        "last_view_change",
                    }, file.name
