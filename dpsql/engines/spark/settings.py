"""The Spark of this process, and what must hold of a session before a measure; else it is refused: D602.

Claim   while a session is as ``check_session`` found it, no row makes a statement fail, files that are
        damaged or missing make it fail, names and times mean one thing, and nothing but this process reads
        what Spark shows of its jobs.
Proof   ANSI is off, so that casts and arithmetic do not raise. Each setting is read back, by Spark's own word
        for it, before each measure. The web interface and the event log, which hold exact numbers of rows,
        are off; the driver listens on this machine alone, to those who know its secret; what is spilled is
        encrypted, in a folder that nobody else may read. A Spark that somebody else started in this process
        is not used: it may have any of these.
Test    tests/privacy/test_spark.py: each setting, changed behind the engine's back
"""

from __future__ import annotations

import atexit
import logging
import shutil
import tempfile
import threading
from typing import Any

from dpsql.errors import DatabaseError, refuse

TESTED = ("4.3",)
"""The versions of Spark for which the tests are run."""

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

SETTINGS = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.optimizer.excludedRules": "",
}

PARTITIONS = "spark.sql.shuffle.partitions"
_PARTS = 8
"""The parts of a shuffle for each thread: every part is a file of its own, which is encrypted apart."""

_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "py4j", "py4j.clientserver")
"""Python's side of Spark writes messages of failed jobs, which may quote rows, to these."""

_LOCK = threading.Lock()
_STARTED: dict[str, Any] = {}


def new_session(master: str) -> Any:
    """Return a session of its own in the Spark of this process, which is started for the first of them."""
    pyspark = driver()
    if not pyspark.__version__.startswith(tuple(f"{version}." for version in TESTED)):
        raise _closed(f"Spark is {pyspark.__version__}", f"this engine is tested with {' and '.join(TESTED)}")
    with _LOCK:
        if "session" not in _STARTED:
            _STARTED.update(session=_started(master), master=master)
        if _STARTED["master"] != master:
            raise _closed(f"this process runs Spark as {_STARTED['master']}", "name the same in each address")
        session = _STARTED["session"].newSession()
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    session.conf.set(PARTITIONS, str(_PARTS * session.sparkContext.defaultParallelism))
    check_session(session)
    return session


def _started(master: str) -> Any:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is not None:
        raise _closed(
            "this process runs a Spark that dpsql did not start",
            "connect before anything else uses Spark, or in a process of its own",
        )
    builder = SparkSession.builder.master(master).appName("dpsql")
    for name, value in _STATIC.items():
        builder = builder.config(name, value)
    spilled = tempfile.mkdtemp(prefix="dpsql-spark-")
    atexit.register(shutil.rmtree, spilled, ignore_errors=True)
    builder = builder.config("spark.local.dir", spilled)
    try:
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        for name in _LOGGERS:
            logging.getLogger(name).disabled = True
    except Exception:  # of Java, of the network, of Spark: it has not started
        raise _closed(
            "Spark cannot be started", "Spark needs Java: apt-get install default-jre-headless"
        ) from None
    return session


def check_session(session: Any) -> None:
    """Refuse a session with another setting than those that the claims rest on."""
    held = session.sparkContext.getConf()
    for name, value in _STATIC.items():
        if held.get(name) != value:
            raise _closed(f"the setting {name} is not {value}", "connect in a process of its own")
    for name, value in SETTINGS.items():
        if session.conf.get(name) != value:
            raise _closed(f"the setting {name} is not {value or 'empty'}", "open it again")


def driver() -> Any:
    try:
        import pyspark
    except ImportError:
        raise refuse("D602", "Spark is not installed", help="pip install 'dpsql[spark]'") from None
    return pyspark


def _closed(title: str, help: str) -> DatabaseError:
    return refuse("D602", title, help=help)
