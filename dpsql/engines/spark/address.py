"""Where files are, and which Spark reads them.

    spark:local[2]:/data/lake                                            two threads of this process
    spark+connect://localhost:15002:/data/lake                           a Connect server of this machine
    spark+connect://spark.lan:15002;use_ssl=true:/data/lake              one that is reached by TLS

The path is one of this machine and, under the same name, of all machines of the server: a shared mount. A
token has no place here: it would stand in the shell's history, in ``ps`` and in tracebacks. The client reads
it from ``SPARK_CONNECT_AUTHENTICATE_TOKEN``, and nothing of dpsql ever holds it.
"""

from __future__ import annotations

import re
from pathlib import Path

from dpsql.errors import refuse
from dpsql.lazy_dataclass import dataclass

_LOCAL = re.compile(r"spark:local\[([1-9][0-9]{0,3}|\*)\]:(.+)", re.DOTALL)
_CONNECT = re.compile(
    r"spark\+connect://([A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?):([0-9]{1,5})(;use_ssl=true)?:(/.+)",
    re.DOTALL,
)
_SECRET = re.compile(r"spark\+connect:.*?(;\s*token\s*=|//[^/]*@)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SparkAddress:
    """A folder of parquet files, or one such file, that a Spark reads."""

    path: Path

    @property
    def stem(self) -> str:
        """The name without an ending, as paths have it."""
        return self.path.stem

    @property
    def name(self) -> str:
        return self.path.name

    def exists(self) -> bool:
        return self.path.exists()


@dataclass(frozen=True, slots=True)
class LocalAddress(SparkAddress):
    """Files, and the threads of a Spark in this process."""

    threads: str

    def __str__(self) -> str:
        return f"spark:{self.master}:{self.path}"

    @property
    def master(self) -> str:
        """Return Spark's own name of where it runs."""
        return f"local[{self.threads}]"


@dataclass(frozen=True, slots=True)
class ConnectAddress(SparkAddress):
    """Files, and the Spark Connect server whose machines reach them under the same path."""

    host: str
    port: int
    tls: bool

    def __str__(self) -> str:
        return f"spark+connect://{self.server}{';use_ssl=true' if self.tls else ''}:{self.path}"

    @property
    def server(self) -> str:
        return f"{self.host}:{self.port}"


def is_spark(text: str) -> bool:
    """Whether a text names files that Spark is to read."""
    return text.partition(":")[0].lower() in ("spark", "spark+connect")


def spark_address(text: str) -> SparkAddress:
    """Read an address, or raise D602; the text itself, which may hold a token, is in no message."""
    if _SECRET.match(text):
        raise refuse(
            "D602",
            "an address holds no token and no password",
            label="it would stand in the shell's history and in the list of processes",
            help="put the token into SPARK_CONNECT_AUTHENTICATE_TOKEN, and leave it out here",
        )
    if found := _LOCAL.fullmatch(text):
        return LocalAddress(Path(found[2]), found[1])
    if (found := _CONNECT.fullmatch(text)) and int(found[2]) in range(1, 2**16):
        return _connect_address(found[1].lower(), int(found[2]), found[3] is not None, Path(found[4]))
    if text.lower().startswith("spark+connect:"):
        help_ = "write spark+connect://host:15002;use_ssl=true:/data/lake, whose path begins with a slash"
    else:
        help_ = "write spark:local[2]:/data/lake, the folder of parquet files after the number of threads"
    raise refuse("D602", "this is no address of files that Spark reads", help=help_)


def _connect_address(host: str, port: int, tls: bool, path: Path) -> ConnectAddress:
    if not tls and host != "localhost":
        raise refuse(
            "D602",
            f"the server at {host} is to be reached by TLS",
            label="exact sums and the token travel on this way",
            help=f"write spark+connect://{host}:{port};use_ssl=true:..., or use a tunnel to localhost",
        )
    return ConnectAddress(path, host, port, tls)
