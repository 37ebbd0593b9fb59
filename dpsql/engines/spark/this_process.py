"""The Spark of this process, which dpsql starts for itself.

Claim   nothing but this process reads what Spark shows of its jobs.
Proof   The web interface and the event log, which hold exact numbers of rows, are off; the driver listens on
        this machine alone, to those who know its secret; what is spilled is encrypted, in a folder that
        nobody else may read. A Spark that somebody else started in this process is not used: it may have any
        of these. Each setting is read back before each measure.
Test    tests/privacy/test_spark.py: each setting, changed behind the engine's back

It reads files by the paths that this process has compared, so that ``unchanged`` has nothing to ask.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dpsql.engines.files import State
from dpsql.engines.spark.settings import (
    PARTITIONS,
    check_fixed,
    check_settings,
    check_version,
    closed,
    own_settings,
    silence,
)
from dpsql.engines.spill import own_folder
from dpsql.errors import refuse

_STATIC = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    "spark.io.encryption.enabled": "true",
    "spark.authenticate": "true",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.catalogImplementation": "in-memory",
}

_PARTS = 8
"""The parts of a shuffle for each thread: every part is a file of its own, which is encrypted apart."""

_LOCK = threading.Lock()
_STARTED: dict[str, Any] = {}


class ThisProcess:
    """A session of its own in the Spark of this process, which is started for the first of them."""

    def __init__(self, master: str) -> None:
        check_version(_driver().__version__, "Spark")
        with _LOCK:
            if "session" not in _STARTED:
                _STARTED.update(session=_started(master), master=master)
            if _STARTED["master"] != master:
                raise closed(
                    f"this process runs Spark as {_STARTED['master']}", "name the same in each address"
                )
            self.session: Any = _STARTED["session"].newSession()
        self._group = f"dpsql {uuid.uuid4()}"
        own_settings(self.session)
        self.session.conf.set(PARTITIONS, str(_PARTS * self.session.sparkContext.defaultParallelism))
        self.check()

    def check(self) -> None:
        held = dict(self.session.sparkContext.getConf().getAll())
        check_fixed(held, _STATIC, "connect in a process of its own")
        check_settings(self.session)

    def unchanged(self, states: tuple[State, ...]) -> None:
        """Spark's threads open the same paths as this process, which compares their states itself."""

    @contextmanager
    def job(self) -> Iterator[None]:
        self.session.sparkContext.setJobGroup(self._group, "dpsql", interruptOnCancel=True)
        yield

    def cancel(self) -> None:
        self.session.sparkContext.cancelJobGroup(self._group)

    def close(self) -> None:
        """Leave Spark running, for other sessions of this process."""


def _started(master: str) -> Any:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is not None:
        raise closed(
            "this process runs a Spark that dpsql did not start",
            "connect before anything else uses Spark, or in a process of its own",
        )
    builder = SparkSession.builder.master(master).appName("dpsql")
    for name, value in _STATIC.items():
        builder = builder.config(name, value)
    spilled = tempfile.mkdtemp(prefix="spark-", dir=own_folder())
    atexit.register(shutil.rmtree, spilled, ignore_errors=True)
    builder = builder.config("spark.local.dir", spilled)
    try:
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        silence()
    except Exception:  # of Java, of the network, of Spark: it has not started
        raise closed(
            "Spark cannot be started", "Spark needs Java: apt-get install default-jre-headless"
        ) from None
    return session


def _driver() -> Any:
    try:
        import pyspark
        from pyspark import SparkContext  # which the client for servers has not
    except ImportError:
        raise refuse("D602", "Spark is not installed", help="pip install 'dpsql[spark]'") from None
    del SparkContext
    return pyspark
