"""What psql shows of ``dpsql serve``: answers, prices, refusals with their caret, logins, the end."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pexpect
import psycopg
import pytest

import dpsql
from drivers.endless import ENDLESS

from .conftest import PASSWORD, Served

pytestmark = pytest.mark.skipif(
    shutil.which("psql") is None, reason="psql is not installed: apt-get install postgresql-client"
)
COUNT = "SELECT smoker, COUNT(*) AS patients, AVG(age) AS age FROM patients GROUP BY smoker"


def psql(
    served: Served,
    *commands: str,
    password: str = PASSWORD,
    environment: dict[str, str] | None = None,
    **more: str,
) -> subprocess.CompletedProcess[str]:
    given = {"host": "127.0.0.1", "port": str(served.port), "user": "ana", "dbname": "clinic"} | more
    words = [word for command in commands for word in ("-c", command)]
    target = " ".join(f"{name}={value}" for name, value in given.items())
    return subprocess.run(
        ["psql", "-X", "-P", "pager=off", target, *words],
        capture_output=True,
        text=True,
        timeout=120,
        env={"PATH": os.environ["PATH"], "PGPASSWORD": password, "LC_ALL": "C.UTF-8"} | (environment or {}),
    )


# ---- answers and refusals ------------------------------------------------------------------------------


def test_an_answer_comes_with_its_price_and_margins_and_is_free_again(served: Served) -> None:
    done = psql(served, "SET dpsql.epsilon = 0.4", COUNT, COUNT)
    assert done.stdout.count(" smoker | patients |") == 2
    first, second = (part for part in done.stdout.split("SET\n")[1].split("(3 rows)\n")[:2])
    assert first.strip() == second.strip()
    assert "NOTICE:  cost epsilon 0.4, remaining " in done.stderr
    assert "DETAIL:  patients ± " in done.stderr
    assert "NOTICE:  repeated: served from the ledger, free" in done.stderr


def test_a_refusal_has_its_caret_reason_and_help(served: Served) -> None:
    done = psql(
        served, "  -- what is it?\n  SELECT SUM(cost / age) FROM visits JOIN patients USING (patient_id)"
    )
    lines = done.stderr.split("\n")
    assert lines[0] == "ERROR:  [D301] this SUM has no finite bound"
    assert lines[1].startswith("LINE 2:   SELECT SUM(cost / age)")
    assert lines[2].index("^") == lines[1].index("cost / age")
    assert "DETAIL:  its values can be any number" in done.stderr
    assert "HINT:  bound it: SUM(x CLAMPED" in done.stderr
    assert done.returncode == 1


def test_several_statements_in_one_text_and_the_place_of_a_refusal_in_it(served: Served) -> None:
    text = "SELECT 1 AS one; SELECT nobody FROM patients; SELECT 3 AS three"
    done = psql(served, text)
    assert "one" in done.stdout
    assert "three" not in done.stdout
    shown = done.stderr.split("\n")
    assert "[D202]" in shown[0]
    assert shown[2].index("^") == shown[1].index("nobody")


def test_settings_that_clients_send(served: Served) -> None:
    done = psql(
        served,
        "SET extra_float_digits = 3",
        "SET TIME ZONE 'Asia/Tokyo'",
        "SHOW TimeZone",
        "SET client_encoding TO 'LATIN1'",
        "SET whatever.it = 'x'",
        "SHOW whatever.it",
        "SHOW transaction isolation level",
        "SET dpsql.epsilon = 3",
        "SET dpsql.epsilon = -1",
        "SHOW dpsql.epsilon",
        "SHOW nobody",
    )
    assert "the time zone is the policy's, UTC, and stays it" in done.stderr
    assert "client_encoding is UTF8 here, and nothing else" in done.stderr
    assert "there is no setting whatever.it: it is kept, and changes nothing" in done.stderr
    assert "[D502] the price 3 is above the ceiling of 2" in done.stderr
    assert "dpsql.epsilon must be a positive number" in done.stderr
    assert "default" in done.stdout
    assert "read committed" in done.stdout
    assert "there is no setting nobody" in done.stderr


def test_margins_as_columns_copies_and_explanations(served: Served) -> None:
    done = psql(
        served,
        "SET dpsql.margins = columns; SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward",
        "RESET ALL",
        "COPY (SELECT ward, beds FROM wards ORDER BY ward LIMIT 1) TO STDOUT WITH (FORMAT csv, HEADER)",
        "EXPLAIN SELECT COUNT(*) FROM patients",
        "COPY wards TO STDOUT",
    )
    assert "    ward    |  n   | n_margin" in done.stdout or " n_margin " in done.stdout
    assert "ward,beds\nCardiology,42\n" in done.stdout
    assert "epsilon 0.5" in done.stdout
    assert "HINT:  write COPY (SELECT ...) TO STDOUT, with a query" in done.stderr


def test_an_analyst_sees_their_own_tables_and_account_alone(served: Served) -> None:
    done = psql(
        served,
        "SELECT COUNT(*) FROM visits",
        "SELECT OPTIONS(epsilon = 0.2) COUNT(*) FROM patients",
        "SELECT OPTIONS(epsilon = 0.29) COUNT(*) FROM patients WHERE age > 3",
        "SELECT * FROM dpsql.budget",
        "SELECT * FROM dpsql.purchases",
        user="bob",
    )
    assert "[D201] " in done.stderr
    assert "[D501] bob's budget does not hold this price" in done.stderr
    assert "database" in done.stdout
    assert " bob " in done.stdout
    assert " ana " not in done.stdout
    assert "OPTIONS(epsilon = 0.2) COUNT(*)" in done.stdout
    assert "(1 row)" in done.stdout.split("parameters")[1]


def test_backslash_commands(served: Served) -> None:
    """Each asks the catalogue alone."""
    spent = psql(served, "SHOW dpsql.budget").stdout
    for command, shown in (
        ("\\d", "public | wards    | table | dpsql"),
        ("\\d+", "Access method"),
        ("\\d wards", '"wards_pkey" PRIMARY KEY'),
        ("\\d+ patients", "Referenced by:"),
        ("\\dt", "visits"),
        ("\\dt+", "permanent"),
        ("\\dv", ""),
        ("\\di", "patients_pkey"),
        ("\\dn", "public | dpsql"),
        ("\\l", "clinic | dpsql | UTF8"),
        ("\\du", "ana"),
        ("\\df", "(0 rows)"),
        ("\\dT", ""),
        ("\\dp", "patients"),
        ("\\conninfo", 'connected to database "clinic" as user "ana"'),
        ("\\encoding", "UTF8"),
    ):
        done = psql(served, command)
        assert " ".join(shown.split()) in " ".join(done.stdout.split()), (command, done.stdout, done.stderr)
        assert done.returncode == 0, (command, done.stderr)
    assert psql(served, "SHOW dpsql.budget").stdout == spent


def test_ctrl_c_and_watch_at_a_terminal(served: Served, tmp_path: Path) -> None:
    """And ``\\gdesc``, which describes and pays nothing."""
    kept = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
    terminal = pexpect.spawn(
        "psql",
        ["-X", "-P", "pager=off", served.url()],
        encoding="utf-8",
        timeout=60,
        env=kept,  # type: ignore[arg-type]  # pexpect says so of all of os.environ
    )
    try:
        terminal.expect("clinic=> ")
        terminal.sendline(f"{ENDLESS};")
        time.sleep(0.5)
        terminal.sendintr()
        terminal.expect("Cancel request sent")
        terminal.expect(r"ERROR:  \[D601\] the query was interrupted")
        terminal.expect("clinic=> ")
        terminal.sendline("SELECT COUNT(*) AS again FROM patients \\watch 0.2")
        for _ in range(3):
            terminal.expect("again")
        terminal.sendintr()
        terminal.expect("clinic=> ")
        terminal.sendline("SHOW dpsql.budget \\g (format=unaligned tuples_only)")
        terminal.expect("database.*clinic=> ")
        spent = terminal.match[0]
        terminal.sendline("SELECT AVG(cost) AS c, MAX(day) AS d FROM visits WHERE cost > 17 \\gdesc")
        terminal.expect(r"c +\| double precision\s+d +\| date")
        terminal.sendline("SHOW dpsql.budget \\g (format=unaligned tuples_only)")
        terminal.expect("database.*clinic=> ")
        assert terminal.match[0] == spent
        terminal.sendline("BEGIN; SELECT 1 / nothing;")
        terminal.expect("ERROR: ")
        terminal.expect("clinic=!> ")
        terminal.sendline("ROLLBACK;")
        terminal.expect("clinic=> ")
        terminal.sendline("\\q")
        terminal.expect(pexpect.EOF)
    finally:
        terminal.close(force=True)


# ---- logins --------------------------------------------------------------------------------------------


def test_a_wrong_password_and_an_unknown_name_are_told_in_the_same_words(own_server: Served) -> None:
    wrong = psql(own_server, "SELECT 1", password="wrong horse battery")
    unknown = psql(own_server, "SELECT 1", user="eve")
    assert "password authentication failed" in wrong.stderr
    assert wrong.stderr == unknown.stderr
    for user in ("ana", "eve"):
        for _ in range(5):
            psql(own_server, "SELECT 1", user=user, password="wrong horse battery")
        assert "too many logins have failed" in psql(own_server, "SELECT 1", user=user).stderr
    assert (
        "there is no database other here" in psql(own_server, "SELECT 1", user="bob", dbname="other").stderr
    )


def test_the_password_changes_and_who_is_removed_is_shut_out(own_server: Served) -> None:
    with psycopg.connect(own_server.url()) as open_:
        assert open_.execute("SELECT 1").fetchall() == [(1,)]
        open_.commit()
        own_server.analyst("passwd", "ana", password="another horse battery")
        assert psql(own_server, "SELECT 1").returncode == 2
        assert psql(own_server, "SELECT 1", password="another horse battery").returncode == 0
        own_server.analyst("remove", "ana")
        time.sleep(0.1)  # longer than the clock of any file system
        with pytest.raises(psycopg.OperationalError, match="this login has been removed"):
            open_.execute("SELECT COUNT(*) FROM wards")
    assert psql(own_server, "SELECT 1", password="another horse battery").returncode == 2


def test_tls_is_verified_bound_and_required_off_the_machine(own_server: Served) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: it makes the certificate")
    own_server.stop()
    folder = own_server.folder
    certificate(folder, "localhost")
    tls = ("--cert", str(folder / "cert.pem"), "--key", str(folder / "key.pem"))
    own_server.start(*tls)
    root = {"sslrootcert": str(folder / "cert.pem"), "sslmode": "verify-full"}
    bound = psql(own_server, "\\conninfo", channel_binding="require", **root)
    assert "SSL connection (protocol: TLSv1." in bound.stdout, bound.stderr
    assert "SSL connection" in psql(own_server, "\\conninfo", sslmode="require").stdout
    assert "SSL connection" not in psql(own_server, "\\conninfo", sslmode="disable").stdout
    old = psql(own_server, "SELECT 1", sslmode="require", ssl_max_protocol_version="TLSv1.1")
    assert old.returncode == 2
    own_server.stop()
    own_server.start(*tls, "--listen", "0.0.0.0:0")
    everywhere = next(line for line in own_server.said if "0.0.0.0" in line)
    assert "(TLS alone)" in everywhere
    port = everywhere.split(":")[1].split(" ")[0]
    refused = psql(own_server, "SELECT 1", sslmode="disable", port=port)
    assert "encrypted connections only" in refused.stderr
    assert psql(own_server, "SELECT 1", sslmode="require", port=port).returncode == 0


def certificate(folder: Path, name: str) -> None:
    """Write a certificate of this name for this machine, and its key."""
    made = f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={name} -addext subjectAltName=IP:127.0.0.1"
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run(["openssl", *made.split(), *files], check=True, capture_output=True)


def test_a_signal_brings_a_new_certificate_and_a_new_log(own_server: Served) -> None:
    """What is wrong changes nothing: the old one stays, and the log says why."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: it makes the certificate")
    own_server.stop()
    folder = own_server.folder
    certificate(folder, "first")
    own_server.start("--cert", str(folder / "cert.pem"), "--key", str(folder / "key.pem"))
    root = {"sslrootcert": str(folder / "root.pem"), "sslmode": "verify-full"}
    first = (folder / "cert.pem").read_text()
    (folder / "root.pem").write_text(first)
    assert psql(own_server, "SELECT 1", **root).returncode == 0
    (folder / "cert.pem").write_text("no certificate")
    own_server.process.send_signal(signal.SIGHUP)
    until_logged(own_server, "broken")
    assert psql(own_server, "SELECT 1", **root).returncode == 0
    certificate(folder, "second")
    own_server.log_file.rename(folder / "log.json.1")
    own_server.process.send_signal(signal.SIGHUP)
    until_logged(own_server, "reloaded")
    assert "certificate verify failed" in psql(own_server, "SELECT 1", **root).stderr
    (folder / "root.pem").write_text((folder / "cert.pem").read_text())
    assert psql(own_server, "SELECT 1", **root).returncode == 0


def until_logged(server: Served, event: str) -> None:
    for _ in range(300):
        if server.log_file.exists() and event in [line["event"] for line in server.log()]:
            return
        time.sleep(0.1)
    raise AssertionError(event)


def test_off_the_machine_without_a_certificate_nothing_starts(served: Served) -> None:
    words = [sys.executable, "-m", "dpsql.cli", "serve", *served.words, "--listen", "0.0.0.0:0", "--check"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "need TLS there" in done.stderr


@pytest.mark.parametrize("place", ["nobody.invalid:5433", "sock.invalid", "./nothing/here"])
def test_a_place_that_nobody_can_listen_on_fails_the_check(served: Served, place: str) -> None:
    words = [sys.executable, "-m", "dpsql.cli", "serve", *served.words, "--listen", place, "--check"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert f"{place.removeprefix('.')} cannot be listened on" in done.stderr
    assert "./FOLDER, with a slash" in done.stderr


def test_unix_sockets_and_files_are_as_they_must_be(served: Served) -> None:
    assert psql(served, "SELECT 1", host=str(served.folder), port="5433").returncode == 0
    assert stat.S_IMODE(served.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(served.log_file.stat().st_mode) == 0o600


# ---- running and stopping ------------------------------------------------------------------------------


def test_a_question_is_cancelled_by_its_client(served: Served) -> None:
    with psycopg.connect(served.url(), autocommit=True) as db:
        timer = threading.Timer(0.3, db.cancel)
        timer.start()
        with pytest.raises(psycopg.errors.QueryCanceled):
            db.execute(ENDLESS)
        db.execute("SET statement_timeout = '200ms'")
        with pytest.raises(psycopg.errors.QueryCanceled):
            db.execute(ENDLESS)
        db.execute("RESET statement_timeout")  # a new process of the sealed engine may take as long
        assert db.execute("SELECT 1").fetchall() == [(1,)]


def test_a_slow_question_stops_nobody_else(served: Served) -> None:
    with (
        psycopg.connect(served.url(), autocommit=True) as slow,
        psycopg.connect(served.url("postgresql", "bob")) as db,
    ):

        def ask() -> None:
            with pytest.raises(psycopg.errors.QueryCanceled):
                slow.execute(ENDLESS)

        thread = threading.Thread(target=ask)
        thread.start()
        for _ in range(20):
            assert db.execute("SELECT 1").fetchall() == [(1,)]
        assert thread.is_alive(), "it was slow"
        slow.cancel()
        thread.join()


def test_new_data_and_a_new_policy_are_taken_over(clinic_for_all: Path, tmp_path: Path) -> None:
    for name in ("clinic.duckdb", "clinic.toml"):
        shutil.copy(clinic_for_all.with_name(name), tmp_path / name)
    server = Served(tmp_path / "clinic.duckdb")
    try:
        notices: list[str] = []
        with psycopg.connect(server.url(), autocommit=True) as db:
            db.add_notice_handler(lambda notice: notices.append(str(notice.message_primary)))
            with pytest.raises(psycopg.errors.UndefinedTable):
                db.execute("SELECT * FROM more")
            policy = tmp_path / "clinic.toml"
            policy.write_text(policy.read_text() + '\n[views.more]\nsql = "SELECT age FROM patients"\n')
            assert db.execute("SELECT COUNT(*) FROM more").fetchall()
            assert "the data or the policy are new since your last question" in notices
            policy.write_text(policy.read_text() + "nonsense")
            with pytest.raises(psycopg.OperationalError, match="the database cannot be opened for you now"):
                db.execute("SELECT COUNT(*) FROM more")
        assert any(line["event"] == "unopened" and "not TOML" in line["why"] for line in server.log())
    finally:
        server.close()


def test_a_folder_of_files_is_served(tmp_path: Path) -> None:
    """A file that is replaced is read by the next question, which says so."""
    folder = tmp_path / "clinic"
    folder.mkdir()
    made = f"COPY (SELECT i AS id, {{}} AS cost FROM range(1000) AS t(i)) TO '{folder}/visits.parquet'"
    folder.with_suffix(".toml").write_text(
        "[budget]\nepsilon = 9.0\ndelta = 1e-6\n[query]\nepsilon = 2.0\n[analysts.ana]\nepsilon = 9.0\n"
        '[unit]\nname = "person"\ncolumn = "id"\n[tables.visits]\nrows_per_unit = 1\n'
        "[tables.visits.columns]\nid = {}\ncost = { range = [0, 500] }\n"
    )
    plain = duckdb.connect()
    plain.execute(made.format(100))
    with (
        closing(plain),
        closing(Served(folder, analysts=("ana",))) as server,
        psycopg.connect(server.url(), autocommit=True) as db,
    ):
        said: list[str] = []
        db.add_notice_handler(lambda notice: said.append(str(notice.message_primary)))
        assert 70_000 < float(db.execute("SELECT SUM(cost) FROM visits").fetchall()[0][0]) < 130_000
        plain.execute(made.format(400))
        assert 370_000 < float(db.execute("SELECT SUM(cost) FROM visits").fetchall()[0][0]) < 430_000
        assert "the data or the policy are new since your last question" in said


def test_a_file_in_a_folder_of_a_folder_is_seen(tmp_path: Path) -> None:
    """Added, or written to while clients are there: the next question of each sees it, and says so."""
    folder = tmp_path / "clinic"
    (folder / "visits" / "2023").mkdir(parents=True)
    folder.with_suffix(".toml").write_text(
        "[budget]\nepsilon = 900.0\ndelta = 1e-6\n[query]\nepsilon = 20.0\nmax_epsilon = 50.0\n"
        "[analysts.ana]\nepsilon = 400.0\n[analysts.bob]\nepsilon = 400.0\n"
        '[unit]\nname = "person"\ncolumn = "id"\n[tables.visits]\nfiles = "visits/**/*.parquet"\n'
        "rows_per_unit = 2\n[tables.visits.columns]\nid = {}\n"
    )

    def write(name: str, rows: int) -> bytes:
        with closing(duckdb.connect()) as plain:
            listed = f"SELECT i AS id FROM range({rows}) AS t(i)"
            plain.execute(f"COPY ({listed}) TO '{folder}/{name}' (FORMAT parquet)")
        return (folder / name).read_bytes()

    def about(db: psycopg.Connection[Any], rows: int) -> bool:
        [[found]] = db.execute("SELECT COUNT(*) FROM visits").fetchall()
        return abs(found - rows) < 100

    write("visits/2023/1.parquet", 1000)
    with (
        closing(Served(folder)) as server,
        psycopg.connect(server.url(), autocommit=True) as ana,
        psycopg.connect(server.url(analyst="bob"), autocommit=True) as bob,
    ):
        said: list[str] = []
        ana.add_notice_handler(lambda notice: said.append(str(notice.message_primary)))
        assert about(ana, 1000)
        assert about(bob, 1000)
        write("visits/2023/2.parquet", 3000)
        assert about(ana, 4000)
        assert said.count("the data or the policy are new since your last question") == 1
        assert about(bob, 4000)
        content = write("draft", 5000)
        with (folder / "visits" / "2023" / "1.parquet").open("r+b") as file:  # not in its place: into it
            file.write(content)
            file.truncate()
        assert about(ana, 8000)
        assert about(bob, 8000)
        (folder / "visits" / "2023" / "2.parquet").unlink()
        assert about(ana, 5000)


def test_times_that_are_set_back_hide_nothing(clinic_for_all: Path, tmp_path: Path) -> None:
    """A policy that is edited within itself, and a log of what is not in the database file yet."""
    for name in ("clinic.duckdb", "clinic.toml"):
        shutil.copy(clinic_for_all.with_name(name), tmp_path / name)
    database, policy = tmp_path / "clinic.duckdb", tmp_path / "clinic.toml"
    with closing(Served(database)) as server, psycopg.connect(server.url(), autocommit=True) as db:
        db.execute("SELECT COUNT(*) FROM patients")
        before, text = policy.stat(), policy.read_text()
        with policy.open("r+") as file:
            file.write(text.replace("max_epsilon = 2.0", "max_epsilon = 1.0"))
        os.utime(policy, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert policy.stat().st_size == before.st_size
        with pytest.raises(psycopg.Error, match=r"\[D502\]"):
            db.execute("SELECT OPTIONS(epsilon = 1.5) COUNT(*) FROM patients")
        policy.write_text(text)
        [[patients]] = db.execute("SELECT COUNT(*) FROM patients").fetchall()
        copy = tmp_path / "copy.duckdb"
        shutil.copy(database, copy)
        with closing(duckdb.connect(str(copy))) as owner:
            owner.execute("PRAGMA disable_checkpoint_on_shutdown")
            owner.execute("CREATE TABLE more AS FROM range(10)")
        shutil.move(tmp_path / "copy.duckdb.wal", tmp_path / "clinic.duckdb.wal")
        [[again]] = db.execute("SELECT COUNT(*) FROM patients").fetchall()
        assert abs(again - patients) < 100


def test_it_stops_in_good_order(own_server: Served) -> None:
    with psycopg.connect(own_server.url(), autocommit=True) as db:
        db.execute(COUNT)
        assert own_server.stop(signal.SIGINT) == 0
        with pytest.raises(psycopg.OperationalError, match="the server is stopping"):
            db.execute("SELECT 1")
    assert not (own_server.folder / ".s.PGSQL.5433").exists()


@pytest.mark.sweep
def test_what_runs_is_finished_when_it_stops(own_server: Served) -> None:
    """Within ten seconds, which an idle machine keeps easily."""
    answers: list[object] = []

    def ask() -> None:
        with psycopg.connect(own_server.url(), autocommit=True) as db:
            sql = "SELECT COUNT(*) FROM range(20000) AS a(i), range(20000) AS b(i) WHERE a.i * b.i = 7"
            answers.extend(db.execute(sql).fetchall())
            answers.append("answered")

    thread = threading.Thread(target=ask)
    thread.start()
    until_logged(own_server, "login")
    time.sleep(1)  # it runs by now
    assert own_server.stop() == 0
    thread.join()
    assert answers == [(2,), "answered"]


def test_idle_clients_and_long_questions_are_ended(own_server: Served) -> None:
    own_server.stop()
    own_server.start("--idle", "1.5", "--timeout", "0.5")
    with psycopg.connect(own_server.url(), autocommit=True) as db:
        with pytest.raises(psycopg.errors.QueryCanceled, match="longer than the time limit"):
            db.execute(ENDLESS)
        db.execute("SET statement_timeout = '1h'")
        with pytest.raises(psycopg.errors.QueryCanceled, match="longer than the time limit"):
            db.execute(ENDLESS)
        until_logged(own_server, "ended")
        with pytest.raises(psycopg.OperationalError, match="this connection was idle for too long"):
            db.execute("SELECT 1")


def test_the_log_has_prices_and_codes_and_no_texts(own_server: Served) -> None:
    psql(own_server, "SELECT COUNT(*) FROM patients WHERE town = 'Borgen'", "SELECT age FROM patients")
    own_server.stop()
    events = [line["event"] for line in own_server.log()]
    assert events == ["login", "question", "question", "logout"]
    paid, refused = own_server.log()[1:3]
    assert (paid["analyst"], paid["code"], paid["cost"], paid["address"]) == ("ana", "ok", 0.5, "127.0.0.1")
    assert refused["code"] == "D402"
    assert "plan" not in refused
    with dpsql.connect(own_server.database, ledger=own_server.folder / "own.ledger", analyst="ana") as own:
        assert paid["plan"] == own.price("SELECT COUNT(*) FROM patients WHERE town = 'Borgen'").digest
    assert "Borgen" not in own_server.log_file.read_text()
