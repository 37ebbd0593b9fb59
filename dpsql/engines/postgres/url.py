"""Where a PostgreSQL database is: ``postgresql://reader@host:5432/clinic?sslmode=verify-full``.

A password has no place here: it would stand in the shell's history, in ``ps`` and in tracebacks. The driver
reads it from ``PGPASSWORD`` or ``~/.pgpass``, and nothing of dpsql ever holds it.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from dpsql.errors import refuse
from dpsql.lazy_dataclass import dataclass

_SCHEMES = ("postgresql", "postgres")

_OPTIONS = (
    "host",
    "port",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "channel_binding",
    "connect_timeout",
)
"""What may follow the question mark; ``options`` and ``service`` could change the session."""


@dataclass(frozen=True, slots=True)
class PostgresUrl:
    """A database of a server, and the role that reads it; ``options`` are the driver's own words."""

    user: str
    host: str
    port: str
    name: str
    options: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        socket = self.host.startswith("/")
        place = ("" if socket else quote(self.host, safe=":")) + (f":{self.port}" if self.port else "")
        options = (("host", self.host), *self.options) if socket else self.options
        query = f"?{urlencode(options, safe='/')}" if options else ""
        user = f"{quote(self.user)}@" if self.user else ""
        return f"postgresql://{user}{place}/{quote(self.name)}{query}"

    @property
    def stem(self) -> str:
        """The name without an ending, as paths have it."""
        return self.name

    def words(self) -> dict[str, str]:
        """Return the driver's keywords; what is left out, the driver finds in its own environment."""
        said = {"user": self.user, "host": self.host, "port": self.port, "dbname": self.name}
        return {key: value for key, value in said.items() if value} | dict(self.options)


def is_url(text: str) -> bool:
    """Whether a text names a database of a PostgreSQL server."""
    return text.partition("://")[0].lower() in _SCHEMES and "://" in text


def postgres_url(text: str) -> PostgresUrl:
    """Read a URL, or raise D602; the text itself, which may hold a password, is in no message."""
    help_ = "write postgresql://reader@host/database, with sslmode=verify-full behind a question mark"
    try:
        parts = urlsplit(text)
        port = "" if parts.port is None else str(parts.port)
        given = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise refuse("D602", "this is no URL of a PostgreSQL database", help=help_) from None
    if parts.password is not None or any(key == "password" for key, _ in given):
        raise refuse(
            "D602",
            "a URL holds no password",
            label="it would stand in the shell's history and in the list of processes",
            help="put it into ~/.pgpass, or into PGPASSWORD, and leave it out here",
        )
    name = unquote(parts.path.removeprefix("/"))
    unknown = [key for key, _ in given if key not in _OPTIONS]
    if unknown or parts.fragment or not name or "/" in name or "\0" in name:
        what = "names no database" if not name else "is not understood"
        raise refuse("D602", f"this URL of a PostgreSQL database {what}", help=help_)
    options = dict(given)
    host, port = options.pop("host", unquote(parts.hostname or "")), options.pop("port", port)
    return PostgresUrl(unquote(parts.username or ""), host, port, name, tuple(sorted(options.items())))
