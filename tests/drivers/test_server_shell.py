"""``dpsql shell`` at a server: the same words as on files, logins, and what may be called."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

import dpsql
from dpsql.remote.connection import RemoteConnection
from dpsql.remote.login import Login, is_near
from drivers.endless import ENDLESS

from .conftest import PASSWORD, Served

QUESTIONS = r"""
SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM patients GROUP BY ROLLUP (ward);
\plot ward n
SELECT SUM(cost / age)
  FROM visits JOIN patients USING (patient_id);
SET epsilon = 3;
SET epsilon = 0.2;
\price SELECT AVG(age) FROM patients
EXPLAIN SELECT COUNT(*) FROM patients;
SELECT * FROM kinds ORDER BY n;
SELECT * FROM far;
\set format csv
SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward;
\set format json
SELECT * FROM kinds ORDER BY n;
\d
\d patients
\study flu
\nothing
\why
"""


def shell(*words: str, text: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "dpsql.cli", "shell", *words],
        input=text,
        capture_output=True,
        text=True,
        timeout=300,
        env={**kept, "PGPASSWORD": PASSWORD, "PYTHONUTF8": "1"} | environment,
    )


def at(served: Served, user: str = "ana") -> list[str]:
    return ["--host", "127.0.0.1", "--port", str(served.port), "-U", user]


def test_all_that_is_shown_is_what_is_shown_on_files(served: Served) -> None:
    """Once all is paid for, so that no two prices and balances differ."""
    shell(*at(served), "clinic", text=QUESTIONS)
    there = shell(*at(served), "clinic", text=QUESTIONS)
    words = ("--ledger", str(served.folder / "own.ledger"), "--analyst", "ana")
    here = shell(str(served.database), *words, text=QUESTIONS)
    assert there.stdout == here.stdout
    assert there.stderr == here.stderr
    assert there.returncode == here.returncode == 1
    for shown in ("error[D301]", "error[D502]", "^^^^^^^^^^ its values", "no study flu"):
        assert shown in there.stderr, there.stderr
    assert "█" in there.stdout


def test_a_url_and_a_question(served: Served) -> None:
    done = shell(served.url(), "SELECT COUNT(*) AS beds FROM wards;")
    assert done.returncode == 0, done.stderr
    assert "│ beds │" in done.stdout
    socket = shell("--host", str(served.folder), "-U", "ana", "-d", "clinic", "SELECT 7 AS seven")
    assert "│ seven │" in socket.stdout, socket.stderr


def test_what_a_call_may_do_is_the_analysts_own(served: Served) -> None:
    bob = RemoteConnection(Login.of(served.url("postgresql", "bob")))
    assert [account.analyst for account in bob.budget.accounts] == ["bob"]
    assert {table.name for table in bob.tables} == {"patients", "wards"}
    assert bob.purchases == bob.latest_purchases(-1)
    with pytest.raises(dpsql.Error, match="D201"):
        bob.execute("SELECT COUNT(*) FROM visits")
    with pytest.raises(dpsql.Error, match="D402"):
        bob.execute("SELECT * FROM patients")
    bob.close()
    with pytest.raises(dpsql.InterfaceError, match="closed"):
        _ = bob.tables
    with psycopg.connect(served.url("postgresql", "bob"), autocommit=True) as db:
        for document in ({"do": "export", "sql": "SELECT 1", "epsilon": None}, {"do": "purchases"}, 5):
            with pytest.raises(psycopg.Error, match="this call cannot be read"):
                db.execute(f"SELECT * FROM dpsql.call('{json.dumps(document)}')".encode())


def test_settings_of_a_call_do_not_stay_with_a_lent_connection(served: Served) -> None:
    remote = RemoteConnection(Login.of(served.url()))
    remote.epsilon = 0.02
    with pytest.raises(dpsql.Error, match="D502"):
        remote.epsilon = 3
    assert remote.epsilon == 0.02
    with pytest.raises(dpsql.Error, match="knows no study flu"):
        remote.study = "flu"
    remote.timeout = 0.1
    with pytest.raises(dpsql.Error, match="D603"):
        remote.execute(ENDLESS)
    with psycopg.connect(served.url(), autocommit=True) as db:
        notices: list[str] = []
        db.add_notice_handler(lambda notice: notices.append(str(notice.message_primary)))
        db.execute("SELECT COUNT(*) FROM patients WHERE age > 41")
        assert notices[0].startswith("cost epsilon 0.5")
    remote.timeout = None
    assert remote.execute("SELECT COUNT(*) FROM patients WHERE age > 42").cost == 0.02
    remote.close()


def test_a_lost_connection_is_opened_anew_and_nothing_is_paid_twice(own_server: Served) -> None:
    login = Login.of(None, str(own_server.folder), None, "ana", "clinic").with_password(PASSWORD)
    remote = RemoteConnection(login)
    remote.epsilon = 0.25
    first = remote.execute("SELECT COUNT(*) FROM patients")
    own_server.stop()
    with pytest.raises(dpsql.Error, match="does not let ana in"):
        remote.execute("SELECT COUNT(*) FROM patients")
    own_server.start()
    again = remote.execute("SELECT COUNT(*) FROM patients")
    assert again.repeated
    assert again.rows == first.rows
    assert remote.epsilon == 0.25
    own_server.analyst("remove", "ana")
    time.sleep(0.1)  # longer than the clock of any file system
    with pytest.raises(dpsql.Error):
        remote.execute("SELECT COUNT(*) FROM patients")
    remote.close()


def test_calls_are_in_the_log_as_questions_are(own_server: Served) -> None:
    shell(*at(own_server), "clinic", text="SELECT town FROM patients -- Borgen\n;\\budget\n")
    own_server.stop(signal.SIGTERM)
    lines = own_server.log()
    assert [(line["event"], line.get("code")) for line in lines][1] == ("question", "D402")
    assert "Borgen" not in own_server.log_file.read_text()


# ---- logins --------------------------------------------------------------------------------------------


def test_who_is_not_let_in_is_told_so(served: Served) -> None:
    wrong = shell(*at(served, "eve"), "clinic", "SELECT 1")
    assert wrong.returncode == 1
    assert "error[D602]: the server at 127.0.0.1 does not let eve in" in wrong.stderr
    assert "password authentication failed" in wrong.stderr
    nowhere = shell("--host", "127.0.0.1", "-p", "1", "-U", "ana", "clinic", "SELECT 1")
    assert "refused" in nowhere.stderr
    unasked = shell(*at(served), "clinic", "SELECT 1", PGPASSWORD="", PGPASSFILE="/dev/null")
    assert "the server asks for a password" in unasked.stderr
    assert PASSWORD not in repr(Login.of(served.url()))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--host", "127.0.0.1"], "no analyst is named"),
        (["--host", "127.0.0.1", "-U", "ana", "--analyst", "ana"], "--analyst is of files"),
        (["clinic.duckdb", "-U", "ana"], "--user is of a server"),
        ([], "a database comes first"),
        (["postgresql://ana@[/clinic"], "this URL cannot be read"),
    ],
)
def test_options_that_do_not_go_together(words: list[str], said: str) -> None:
    done = shell(*words, text="")
    assert said in done.stderr
    assert done.returncode in (1, 2)


def test_certificates_are_checked_beyond_this_machine(own_server: Served) -> None:
    for host in ("localhost", "127.0.0.1", "::1", "/run/dpsql", ""):
        assert is_near(host)
        assert "sslmode" not in Login.of(None, host, 5433, "ana").parameters
    far = Login.of(None, "db.example.org", None, "ana").parameters
    assert (far["sslmode"], far["channel_binding"], far["port"]) == ("verify-full", "require", "5433")
    said = Login.of("postgresql://ana@db.example.org/clinic?sslmode=require").parameters
    assert said["sslmode"] == "require"
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: it makes the certificate")
    own_server.stop()
    folder = own_server.folder
    made = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run(["openssl", *made.split(), *files], check=True, capture_output=True)
    own_server.start("--cert", str(folder / "cert.pem"), "--key", str(folder / "key.pem"))
    unknown = shell(own_server.url(more="?sslmode=verify-full&sslrootcert=system"), "SELECT 1")
    assert "certificate verify failed" in unknown.stderr
    known = f"?sslmode=verify-full&channel_binding=require&sslrootcert={folder / 'cert.pem'}"
    assert "│ one │" in shell(own_server.url(more=known), "SELECT 1 AS one").stdout


def test_another_server_is_told_from_dpsql(
    monkeypatch: pytest.MonkeyPatch, served: Served, tmp_path: Path
) -> None:
    """One that has no calls, as an older version has none."""

    def without_calls(self: Any, statement: str) -> str:
        (text,) = self._wire.execute("SELECT * FROM dpsql.nothing").fetchone()
        return str(text)

    monkeypatch.setattr(RemoteConnection, "_text", without_calls)
    with pytest.raises(dpsql.Error, match="does not answer as dpsql serve does"):
        RemoteConnection(Login.of(served.url()))
