"""Harlequin over dpsql, by its own headless command, and by its adapter's calls where it has no command."""

from __future__ import annotations

import csv
import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
from pathlib import Path
from typing import Any

import pytest

import dpsql

pytest.importorskip("harlequin")
adapters: Any = pytest.importorskip("dpsql.bridges.harlequin")

BY_WARD = "SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward ORDER BY ward"


def hsql(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("hsql")), "-a", "dpsql", *arguments]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=folder,
        env=os.environ | {"HOME": str(folder), "PYTHONUTF8": "1"},
    )


def test_a_query_with_its_margins(built: Path, ledger: Path, db: dpsql.Connection) -> None:
    done = hsql(
        ledger.parent, str(built), "--ledger", str(ledger), "--analyst", "ana", "--epsilon", "0.5",
        "--csv", "-c", BY_WARD,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    names, *rows = list(csv.reader(io.StringIO(done.stdout)))
    assert names == ["ward", "n", "± n"]
    assert [row[0] for row in rows] == [
        "Cardiology", "Emergency", "Geriatrics", "Maternity", "Oncology", "Pediatrics",
    ]  # fmt: skip
    assert all(float(row[2]) > 0 for row in rows)
    assert [(each.analyst, each.epsilon) for each in db.purchases] == [("ana", 0.5)]


def test_refusals_arrive(built: Path, ledger: Path) -> None:
    told = {"--ledger": str(ledger)}
    for extra, sql, said, code in (
        ({}, "SELECT age FROM patients", "D402", 1),
        ({"--analyst": "eve"}, BY_WARD, "D504", 3),
        ({"--epsilon": "much"}, BY_WARD, "is not a number", 2),
    ):
        options = [word for pair in (told | extra).items() for word in pair]
        done = hsql(ledger.parent, str(built), *options, "-c", sql)
        assert (done.returncode, done.stdout) == (code, "")
        assert said in done.stderr


def test_the_catalogue(built: Path, ledger: Path) -> None:
    connection = adapters.Adapter((str(built),), ledger=str(ledger)).connect()
    items = {each.label: each for each in connection.get_catalog().items}
    assert {name: each.type_name for name, each in items.items()} == {
        "patients": "private table",
        "visits": "private table",
        "wards": "public table",
        "kinds": "public table",
        "seniors": "view",
    }
    columns = {each.label: each for each in items["patients"].children}
    assert (columns["age"].type_name, columns["age"].type_label) == ("INTEGER [0, 110]", "##")
    assert connection.execute(f"SELECT COUNT(*) FROM {items['visits'].query_name}").columns()[0][1] == "##"
    assert "remains" in connection.init_message
    connection.close()


def test_limits_and_no_rows(built: Path, ledger: Path) -> None:
    connection = adapters.Adapter((str(built),), ledger=str(ledger)).connect()
    assert connection.execute("SELECT ward FROM wards ORDER BY ward").set_limit(2).fetchall() == [
        ("Cardiology",),
        ("Emergency",),
    ]
    empty = connection.execute("SELECT ward, beds FROM wards WHERE beds > 100").fetchall()
    assert (empty.column_names, empty.num_rows) == (["ward", "beds"], 0)
    connection.close()


def test_the_editor_opens(built: Path, ledger: Path) -> None:
    """In a terminal: it shows the catalogue, which is the policy's."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    editor = subprocess.Popen(
        [
            str(Path(sys.executable).with_name("harlequin")),
            "-a",
            "dpsql",
            str(built),
            "--ledger",
            str(ledger),
        ],
        stdin=its,
        stdout=its,
        stderr=its,
        env=os.environ | {"HOME": str(ledger.parent), "TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(its)
    late = threading.Timer(300, editor.kill)
    late.start()
    seen = b""
    try:
        while b"patients" not in seen:
            seen += os.read(ours, 65_536)  # OSError when it has ended without showing them
    except OSError:
        pass
    finally:
        late.cancel()
        editor.kill()
        os.close(ours)
        editor.wait()
    assert b"patients" in seen


def test_cancelling(crowd: Path, ledger: Path, slow: str) -> None:
    from harlequin.exception import HarlequinQueryError

    connection = adapters.Adapter((str(crowd),), ledger=str(ledger)).connect()
    done = threading.Event()

    def stop() -> None:
        while not done.wait(0.05):
            connection.cancel()

    stopping = threading.Thread(target=stop)
    stopping.start()
    try:
        with pytest.raises(HarlequinQueryError, match="interrupted"):
            connection.execute(slow)
    finally:
        done.set()
        stopping.join()
    connection.close()
