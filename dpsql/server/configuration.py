"""``serve.toml``: several databases, by name, and what ``dpsql serve`` takes as options.

    listen = ["0.0.0.0:5433", "/run/dpsql"]      [databases.clinic]          paths start at the file's folder
    cert = "tls.crt"                             path = "clinic.duckdb"
    key = "tls.key"                              [databases.labs]
    processes = 2                                path = "labs/labs.duckdb"

An analyst logs in to each database apart: each has its own policy, ledger and list of verifiers.
Test: tests/unit/test_server_configuration.py
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsql.dbapi.connection import beside
from dpsql.dbapi.connection import place_of as database_of
from dpsql.errors import InterfaceError
from dpsql.server.pool import Place
from dpsql.server.server import Limits
from dpsql.server.setup import PORT, Setup
from dpsql.server.verifiers import VerifierFile

if TYPE_CHECKING:  # it is a name for checks alone
    from dpsql.dbapi.connection import Where

_PATHS = ("cert", "key", "log")
_NUMBERS = ("processes", "max_connections", "timeout", "idle")
OPTIONS = ("listen", *_PATHS, *_NUMBERS)
"""What a server is told, by the command or by a file; and of each database, which FILES belong to it."""

FILES = ("policy", "ledger", "analysts")
_ENDINGS = (".toml", ".ledger", ".analysts")
_OF_DATABASES = ("path", *FILES)


def place_of(
    database: Where, policy: Path | None, ledger: Path | None, analysts: Path | None, name: str = ""
) -> tuple[Place, VerifierFile]:
    """Return a database and its verifiers."""
    if isinstance(database, Path) and not database.exists():
        raise InterfaceError(f"there is no database {database}", help="check the path")
    file = VerifierFile(analysts or beside(database, ".analysts"))
    return Place.of(database, policy, ledger, name), file


def setup_of(
    places: tuple[tuple[Place, VerifierFile], ...], options: Mapping[str, Any], folder: Path = Path()
) -> Setup:
    """Return what a server is started with; options that are None are left out."""
    given = {name: value for name, value in options.items() if value is not None}
    for name in _NUMBERS:
        value = given.get(name, 1)
        whole = name in ("processes", "max_connections")
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or value <= 0:
            raise InterfaceError(f"{name} is a positive number", help=f"write {name} = 2")
    defaults = Limits()
    limits = Limits(
        connections=given.get("max_connections", defaults.connections),
        seconds=float(given.get("timeout", defaults.seconds)),
        idle=float(given.get("idle", defaults.idle)),
    )
    certificate, key, log = (folder / given[name] if name in given else None for name in _PATHS)
    listen = given.get("listen") or (f"127.0.0.1:{PORT}",)
    listen = tuple(os.path.abspath(folder / each) if os.sep in each else each for each in listen)
    return Setup(places, listen, certificate, key, limits, log, given.get("processes", 1))


def read_setup(file: Path) -> Setup:
    """Read a file, or refuse it by the key that is wrong."""
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InterfaceError(f"{file} cannot be read: {error}", help="write it as TOML") from None
    databases = content.pop("databases", None)
    if not isinstance(databases, dict) or not databases:
        raise InterfaceError(f"{file} names no database", help="write [databases.clinic] and its path")
    _check(file, "", content, OPTIONS)
    listen = content.get("listen", [])
    if not isinstance(listen, list) or not all(isinstance(each, str) for each in listen):
        raise InterfaceError(f"{file}: listen is a list of places", help='write listen = ["127.0.0.1:5433"]')
    folder = file.absolute().parent
    for name in _PATHS:
        _check_path(file, name, content)
    places = []
    for name, given in databases.items():
        if not isinstance(given, dict) or "path" not in given:
            raise InterfaceError(f"{file}: databases.{name} has no path", help='write path = "clinic.duckdb"')
        _check(file, f"databases.{name}.", given, _OF_DATABASES)
        for key in _OF_DATABASES:
            _check_path(file, key, given)
        policy, ledger, analysts = (folder / given[key] if key in given else None for key in FILES)
        database = database_of(given["path"])
        if isinstance(database, Path):
            database = folder / database
        else:  # of a server: its files are here
            policy, ledger, analysts = (
                path or folder / beside(database, ending)
                for path, ending in zip((policy, ledger, analysts), _ENDINGS, strict=True)
            )
        places.append(place_of(database, policy, ledger, analysts, name))
    return setup_of(tuple(places), content, folder)


def _check(file: Path, where: str, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in given:
        if name not in known:
            raise InterfaceError(f"{file}: there is no key {where}{name}", help=f"known: {', '.join(known)}")


def _check_path(file: Path, name: str, given: Mapping[str, Any]) -> None:
    if not isinstance(given.get(name, ""), str):
        raise InterfaceError(f"{file}: {name} is a path", help=f'write {name} = "..."')
