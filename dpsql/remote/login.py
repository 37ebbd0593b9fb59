"""Where a server is, how its certificate is checked, and the password.

    Login.of("postgresql://ana@db.lan:5433/clinic")
    Login.of(None, host="db.lan", user="ana", database="clinic")

libpq reads what is not said, as it does for psql: PGPASSWORD and ~/.pgpass, PGSSLROOTCERT, PGSERVICE. Beyond
this machine the certificate must be the host's and known to the system, and the password is bound to it; a
URL may say otherwise (``?sslmode=require``).
Test: tests/drivers/test_server_shell.py
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_address
from types import ModuleType
from typing import Any

from dpsql.errors import DatabaseError, InterfaceError, refuse
from dpsql.lazy_dataclass import dataclass

PORT = 5433
"""Where ``dpsql serve`` listens unless it is told otherwise."""

_WITHIN = 20
"""Seconds in which the server must answer a login."""


@dataclass(frozen=True, slots=True)
class Login:
    """The parameters of a connection, as libpq names them. A password is not shown."""

    parameters: Mapping[str, str]

    @staticmethod
    def of(
        url: str | None,
        host: str | None = None,
        port: int | None = None,
        user: str | None = None,
        database: str | None = None,
    ) -> Login:
        """Return the parameters of a URL, or of options."""
        from_libpq = _of_environment()
        given = _of_url(url) if url is not None else {}
        options = {"host": host, "port": port, "user": user, "dbname": database}
        given |= {name: str(value) for name, value in options.items() if value is not None}
        known = from_libpq | given
        if not known.get("user"):
            raise InterfaceError("no analyst is named", help="add -U NAME, or write postgresql://NAME@HOST")
        usual = {"port": str(PORT), "client_encoding": "UTF8", "connect_timeout": str(_WITHIN)}
        usual |= {"application_name": "dpsql shell", "dbname": known["user"]}
        return Login(usual | known | _checked(known))

    @property
    def host(self) -> str:
        return self.parameters.get("host") or "localhost"

    @property
    def user(self) -> str:
        return self.parameters["user"]

    @property
    def database(self) -> str:
        return self.parameters["dbname"]

    def with_password(self, password: str) -> Login:
        return replace(self, parameters={**self.parameters, "password": password})

    def __repr__(self) -> str:
        return f"Login({self.user} at {self.host})"


def psycopg() -> ModuleType:
    """Return psycopg, or refuse if it is not installed."""
    try:
        import psycopg as installed
    except ImportError:
        raise InterfaceError(
            "asking a server needs psycopg, which is not installed", help="pip install 'dpsql[client]'"
        ) from None
    return installed


def is_url(text: str) -> bool:
    return text.startswith(("postgresql://", "postgres://"))


def _of_url(url: str) -> dict[str, str]:
    from psycopg.conninfo import conninfo_to_dict

    try:
        return {name: str(value) for name, value in conninfo_to_dict(url).items()}
    except psycopg().Error:
        raise InterfaceError(
            "this URL cannot be read", help="write postgresql://NAME@HOST:PORT/DATABASE"
        ) from None


def _of_environment() -> dict[str, str]:
    """Return what PGHOST, PGUSER and the like say."""
    said = psycopg().pq.Conninfo.get_defaults()
    return {
        each.keyword.decode(): each.val.decode()
        for each in said
        if each.val and each.envvar and _is_set(each.envvar.decode())
    }


def _is_set(name: str) -> bool:
    import os

    return bool(os.environ.get(name))


def _checked(known: Mapping[str, str]) -> dict[str, str]:
    """Return how the server must prove who it is, unless that is said or it is on this machine."""
    if "sslmode" in known or is_near(known.get("hostaddr") or known.get("host", "")):
        return {}
    checked = {"sslmode": "verify-full"}
    if "channel_binding" not in known:
        checked["channel_binding"] = "require"
    authorities = ssl.get_default_verify_paths().cafile
    if "sslrootcert" not in known and authorities is not None:  # libpq's own look-up has another path
        checked["sslrootcert"] = authorities
    return checked


def is_near(host: str) -> bool:
    """Whether a host is this machine: a folder with a Unix socket, or a loopback address."""
    if not host or host.startswith(("/", "@")) or host.casefold() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def opened(login: Login) -> Any:
    """Return a connection of psycopg that commits nothing and waits for nothing; or refuse."""
    library = psycopg()
    try:
        return library.connect(**login.parameters, autocommit=True)
    except library.Error as error:
        if error.pgconn is not None and error.pgconn.needs_password:
            raise NoPassword from None
        raise unopened(login, error) from None


class NoPassword(Exception):
    """The server asks for a password, and none is known."""


def unopened(login: Login, error: Exception) -> DatabaseError:
    """Return the refusal for a server that let nobody in."""
    said = str(error).strip().split("\n")
    reason = next((line for line in said if line.strip()), type(error).__name__)
    return refuse(
        "D602",
        f"the server at {login.host} does not let {login.user} in",
        label=reason.rpartition("FATAL:")[2].rpartition("failed: ")[2].strip(),
        help="check the host, the port, the name and the password; ?sslrootcert=FILE names an authority",
    )
