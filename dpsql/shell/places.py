"""Where the database of a session is: files of this machine, or a server.

Files(Path("clinic.duckdb"), ...)    named "clinic" in the prompt, "clinic.duckdb" in the greeting
Server(Login(...))                   "clinic", and "clinic at db.lan"
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dpsql.dbapi import connect
from dpsql.dbapi.direct_calls import DirectCalls
from dpsql.errors import InterfaceError
from dpsql.lazy_dataclass import dataclass
from dpsql.render.digits import printable
from dpsql.terminal.output import interactive

if TYPE_CHECKING:  # loaded when a server is named
    from dpsql.engines.spark.address import SparkAddress
    from dpsql.remote.connection import RemoteConnection
    from dpsql.remote.login import Login


class Place(Protocol):
    """A database that a session can be opened on; ``title`` greets, ``name`` stands in the prompt."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def analyst(self) -> str | None: ...
    def is_there(self) -> bool:
        """Whether a terminal may show a prompt before the session is open."""
        ...

    def connect(self) -> DirectCalls: ...


@dataclass(frozen=True, slots=True)
class Files:
    """A database in files, with its policy and its ledger."""

    database: Path | SparkAddress
    policy: Path | None = None
    ledger: Path | None = None
    analyst: str | None = None
    study: str | None = None

    @property
    def name(self) -> str:
        return self.database.stem or self.database.name

    @property
    def title(self) -> str:
        return self.database.name

    def is_there(self) -> bool:
        return self.database.exists()

    def connect(self) -> DirectCalls:
        return connect(self.database, self.policy, self.ledger, self.analyst, self.study)


@dataclass(slots=True)
class Server:
    """A database of ``dpsql serve``; a terminal asks for the password before the first prompt."""

    login: Login
    study: str | None
    _connection: RemoteConnection | None = None

    @property
    def name(self) -> str:
        return self.login.database

    @property
    def title(self) -> str:
        return f"{self.login.database} at {self.login.host}"

    @property
    def analyst(self) -> str:
        return self.login.user

    def is_there(self) -> bool:
        self._connection = self._connected()
        return True

    def connect(self) -> DirectCalls:
        return self._connection or self._connected()

    def _connected(self) -> RemoteConnection:
        from dpsql.remote.connection import RemoteConnection
        from dpsql.remote.login import NoPassword

        try:
            db = RemoteConnection(self.login)
        except NoPassword:
            db = RemoteConnection(self.login.with_password(_password(self.login)))
        if self.study is not None:
            db.study = self.study
        return db


def _password(login: Login) -> str:
    from getpass import getpass

    if not interactive():
        raise InterfaceError(
            "the server asks for a password",
            help="set PGPASSWORD, or write host:port:database:name:password into ~/.pgpass",
        )
    return getpass(f"Password for {printable(login.user)}: ")
