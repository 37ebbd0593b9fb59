"""serve.toml: several databases by name; what is wrong in it is named."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpsql
from dpsql.server.configuration import read_setup

GOOD = """
listen = ["127.0.0.1:0"]
processes = 2
max_connections = 9
timeout = 30
log = "serve.log"
[databases.clinic]
path = "clinic.duckdb"
[databases.labs]
path = "labs/labs.duckdb"
policy = "labs.toml"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "labs").mkdir()
    for name in ("clinic.duckdb", "labs/labs.duckdb"):
        (tmp_path / name).touch()
    return tmp_path / "serve.toml"


def test_paths_start_at_the_files_folder(file: Path) -> None:
    file.write_text(GOOD)
    setup = read_setup(file)
    (clinic, verifiers), (labs, _) = setup.places
    assert (clinic.name, clinic.policy) == ("clinic", file.parent / "clinic.toml")
    assert verifiers.path == file.parent / "clinic.analysts"
    assert (labs.policy, labs.ledger) == (file.parent / "labs.toml", file.parent / "labs" / "labs.ledger")
    assert (setup.processes, setup.limits.connections, setup.limits.seconds) == (2, 9, 30.0)
    assert setup.log == file.parent / "serve.log"
    file.write_text(GOOD.replace('["127.0.0.1:0"]', '["./sock", "run/dpsql:5434", "/run/dpsql", "[::1]:7"]'))
    near = file.parent
    assert read_setup(file).listen == (f"{near}/sock", f"{near}/run/dpsql:5434", "/run/dpsql", "[::1]:7")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("processes = 2", "processes = 0", "processes is a positive number"),
        ("processes = 2", "processes = true", "processes is a positive number"),
        ("timeout = 30", 'timeout = "x"', "timeout is a positive number"),
        ("timeout = 30", "tiemout = 30", "there is no key tiemout"),
        ('policy = "labs.toml"', "polcy = 1", "there is no key databases.labs.polcy"),
        ('policy = "labs.toml"', "policy = 1", "policy is a path"),
        ('listen = ["127.0.0.1:0"]', "listen = 5433", "listen is a list of places"),
        ('"clinic.duckdb"', '"nothing.duckdb"', "there is no database"),
        (GOOD, "processes = 2", "names no database"),
        (GOOD, "x = ", "cannot be read"),
        (GOOD, "[databases.a]", "databases.a has no path"),
    ],
)
def test_what_is_wrong_is_named(file: Path, old: str, new: str, said: str) -> None:
    file.write_text(GOOD.replace(old, new))
    with pytest.raises(dpsql.InterfaceError, match=said):
        read_setup(file)
