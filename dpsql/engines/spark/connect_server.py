"""A session in a Spark Connect server, and what must hold of the server; else it is refused: D602.

    spark-submit --class org.apache.spark.sql.connect.service.SparkConnectServer
        --conf spark.ui.enabled=false ...         each of REQUIRED
        --conf spark.connect.authenticate.token=...

Claim   the server is as it must be for the promise, as far as it tells: it answers nobody who does not know
        its token; it shows and writes down no numbers of its jobs; what it spills, and what its machines
        send to each other, is encrypted; its machines read the files that this process found, and run one
        Java.
Proof   A call without a token must be turned down as unauthenticated. Settings that were fixed when the
        server started cannot be changed by a session, and are read back before each measure, in one call
        with the session's own (settings.py). Files: seen_files.py. A task on each free core names its Java
        when the session is opened, and each look at a file after that.
        What the server does not tell, and who may log in to its machines, its owner has to know
        (docs/engines.md).
Test    tests/privacy/test_spark_connect.py: each setting, on a server that was started with another

A call that finds no server is tried again for some seconds. Views, and rows that are kept, are those of the
session, whose name is drawn; it ends with the engine.
"""

from __future__ import annotations

import os
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from dpsql.engines.files import State
from dpsql.engines.spark.address import ConnectAddress
from dpsql.engines.spark.seen_files import JAVA, check_seen, other_javas
from dpsql.engines.spark.settings import (
    CLIENTS,
    PARTITIONS,
    check_fixed,
    check_settings,
    check_version,
    closed,
    own_settings,
    silence,
)
from dpsql.errors import DatabaseError, refuse

REQUIRED = {
    "spark.ui.enabled": "false",
    "spark.eventLog.enabled": "false",
    "spark.io.encryption.enabled": "true",
    "spark.authenticate": "true",
    "spark.network.crypto.enabled": "true",
    "spark.sql.catalogImplementation": "in-memory",
}
"""Settings that a server is started with; one that is a single process sends nothing to other machines."""

_DEFAULTS = {"spark.eventLog.enabled": "false", "spark.sql.catalogImplementation": "in-memory"}
"""What holds of a server that was not told."""

TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"

_PROGRESS = "SPARK_CONNECT_PROGRESS_BAR"

_TRIES = 4
_PARTS = 2
"""The parts of a shuffle for each core of the server."""

_ROWS = 4096


class ConnectServer:
    """A session of its own in the server of an address."""

    def __init__(self, address: ConnectAddress) -> None:
        check_version(_client().__version__, "Spark's client", CLIENTS)
        if not os.environ.get(TOKEN):
            raise closed(
                f"{TOKEN} is not set",
                "start the server with spark.connect.authenticate.token, and give the token here",
                "whoever can ask the server reads the files, so that it has to know who does",
            )
        if os.environ.get(_PROGRESS, "0") != "0":
            raise closed(f"{_PROGRESS} is set", "take it away", "it shows how many bytes are read")
        silence()
        self._name = address.server
        self._tag = f"dpsql-{uuid.uuid4()}"
        self.session: Any = _session(address, with_token=True)
        try:
            self._open(address)
        except BaseException:  # Ctrl-C too: closed, and raised again
            self.close()
            raise

    def _open(self, address: ConnectAddress) -> None:
        try:
            check_version(self.session.version, f"the Spark server at {self._name}")
            _check_closed_to_others(address)
            own_settings(self.session)
            self.session.conf.set(PARTITIONS, "8")
            self.check()
            rows = self.session.sql(f"SELECT spark_partition_id(), {JAVA} FROM range(0, {_ROWS})").collect()
            cores, javas = {row[0] for row in rows}, {row[1] for row in rows}
            self.session.conf.set(PARTITIONS, str(_PARTS * len(cores)))
        except DatabaseError:
            raise
        except Exception as error:  # of the network, of Spark: its message is not shown
            raise self._unreached(error) from None
        if len(javas) != 1:
            raise other_javas()
        [self._java] = javas

    def _unreached(self, error: Exception) -> DatabaseError:
        if _status(error) in ("UNAUTHENTICATED", "PERMISSION_DENIED"):
            return closed(f"the Spark server at {self._name} does not know this token", f"check {TOKEN}")
        return closed(
            f"the Spark server at {self._name} does not answer",
            "check that it runs, that this machine reaches it, and whether use_ssl=true is needed",
        )

    def check(self) -> None:
        try:
            held = check_settings(self.session)
        except DatabaseError:
            raise
        except Exception:  # whatever the client raises: the session cannot be asked
            raise closed(
                f"the Spark server at {self._name} does not answer, or has ended this session",
                "open it again and ask the same query again: it is completed without paying twice",
            ) from None
        alone = held.get("spark.master", "").startswith("local[")
        assumed = {**_DEFAULTS, "spark.network.crypto.enabled": "true"} if alone else _DEFAULTS
        check_fixed({**assumed, **held}, REQUIRED, "the server's owner sets it, and starts the server again")

    def unchanged(self, states: tuple[State, ...]) -> None:
        check_seen(self.session, states, self._java)

    @contextmanager
    def job(self) -> Iterator[None]:
        self.session.addTag(self._tag)
        try:
            yield
        except KeyboardInterrupt:  # the server does not hear of it
            with suppress(Exception):  # it does not answer: then nothing can be cancelled
                self.cancel()
            raise
        finally:
            self.session.removeTag(self._tag)

    def cancel(self) -> None:
        self.session.interruptTag(self._tag)

    def close(self) -> None:
        with suppress(Exception):  # the server has ended
            self.session.stop()


def _check_closed_to_others(address: ConnectAddress) -> None:
    """Refuse a server that answers somebody without a token."""
    other = _session(address, with_token=False)
    try:
        status = _status_of_a_call(other)
    finally:
        other.client.close()
    if status not in ("UNAUTHENTICATED", "PERMISSION_DENIED"):
        raise closed(
            f"the Spark server at {address.server} answers whoever asks",
            "start the server with spark.connect.authenticate.token",
            "whoever can ask the server reads the files",
        )


def _status_of_a_call(session: Any) -> str:
    try:
        session.conf.get("spark.app.id")
    except Exception as error:  # whatever the client raises: asked for its status alone
        return _status(error)
    return "OK"


def _status(error: Exception) -> str:
    """Return gRPC's name of what went wrong."""
    status = getattr(error, "getGrpcStatusCode", None) or getattr(error, "code", None)
    try:
        return str(status().name) if status is not None else ""
    except Exception:  # an error that has no status says nothing, and a server is refused
        return ""


def _session(address: ConnectAddress, with_token: bool) -> Any:
    """Return a session, which the first call makes."""
    from pyspark.sql.connect.client import DefaultChannelBuilder
    from pyspark.sql.connect.client.retries import DefaultPolicy
    from pyspark.sql.connect.session import SparkSession

    class Unnamed(DefaultChannelBuilder):  # type: ignore[misc]  # of a package without types
        token = None

    url = f"sc://{address.server}/;user_id=dpsql{';use_ssl=true' if address.tls else ''}"
    builder = DefaultChannelBuilder(url) if with_token else Unnamed(url)
    try:
        session = SparkSession.builder.channelBuilder(builder).create()
    except Exception:  # of the network, or of what this machine knows of certificates
        raise closed(f"the Spark server at {address.server} cannot be reached", "check its name") from None
    session.client.set_retry_policies([DefaultPolicy(_TRIES, recognize_server_retry_delay=False)])
    return session


def _client() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions that other packages have
            import pyspark
            import pyspark.sql.connect.session
    except ImportError:
        raise refuse(
            "D602", "Spark's client is not installed", help="pip install 'dpsql[spark-connect]'"
        ) from None
    return pyspark
