"""What must hold of a Spark before a measure, wherever it runs; else it is refused: D602.

    SETTINGS        set by the engine on its own session, and read back: ANSI is off, ...
    _KEPT           settings of Spark's owner that change how long a query takes, and nothing else
    _REFUSED        code, or places, to which Spark would hand what it computes

Claim   while a session is as ``check_settings`` found it, no row makes a statement fail, files that are
        damaged or missing make it fail, names and times mean one thing, and no code but Spark's own has been
        asked to look at its jobs.
Proof   ANSI is off, so that casts and arithmetic do not raise. ``own_settings`` takes back every SQL setting
        of Spark's owner that is not known to change nothing but speed, and sets those that the claims rest
        on. Before each measure all settings that the session has are read by Spark's own word for them: a
        setting for SQL that is on neither list is refused, as are listeners, plugins, extensions, rules that
        were excluded, file systems and sinks of metrics.
Test    tests/privacy/test_spark.py, tests/privacy/test_spark_connect.py: each setting

What else must hold is said where a Spark is had: this_process.py, connect_server.py.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from dpsql.errors import DatabaseError, refuse

TESTED = ("4.3",)
"""The versions of Spark for which the tests are run."""

CLIENTS = ("4.2", *TESTED)
"""The versions of Spark's client, which carries statements to a server and rows back."""

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

_SQL = "spark.sql."

_KEPT = (
    PARTITIONS,
    "spark.sql.adaptive.advisoryPartitionSizeInBytes",
    "spark.sql.adaptive.autoBroadcastJoinThreshold",
    "spark.sql.adaptive.coalescePartitions.",
    "spark.sql.adaptive.enabled",
    "spark.sql.adaptive.localShuffleReader.enabled",
    "spark.sql.adaptive.skewJoin.",
    "spark.sql.artifact.isolation.",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.broadcastTimeout",
    "spark.sql.catalogImplementation",
    "spark.sql.codegen.factoryMode",
    "spark.sql.codegen.wholeStage",
    "spark.sql.files.maxPartitionBytes",
    "spark.sql.files.openCostInBytes",
    "spark.sql.warehouse.dir",
)
"""Names, and beginnings of names, of settings that change no table."""

_REFUSED = {
    "spark.extraListeners": "a listener sees exact numbers of rows",
    "spark.plugins": "a plugin sees every job",
    "spark.metrics.conf": "metrics hold exact numbers of rows",
    "spark.metrics.conf.": "metrics hold exact numbers of rows",
    "spark.connect.extensions.": "an extension changes what a statement means",
    "spark.connect.grpc.interceptor.classes": "an interceptor sees every answer",
    "spark.sql.extensions": "an extension changes what a statement means",
    "spark.sql.queryExecutionListeners": "a listener sees every statement",
    "spark.sql.streaming.streamingQueryListeners": "a listener sees every statement",
    "spark.sql.optimizer.excludedRules": "the tests are run with all rules",
    "spark.sql.catalog.": "a catalogue of its own gives names another meaning",
    "spark.sql.cache.serializer": "rows that are kept would be written by other code",
    "spark.hadoop.fs.file.": "files would be read by other code",
    "spark.hadoop.parquet.": "files would be read in another way",
    "spark.shuffle.manager": "rows would be moved by other code",
    "spark.shuffle.sort.io.plugin.class": "rows would be moved by other code",
}
"""What may not be set, and why; names that end in a dot are beginnings."""

_LOGGERS = (
    "SQLQueryContextLogger",
    "DataFrameQueryContextLogger",
    "py4j",
    "py4j.clientserver",
    "pyspark.sql.connect.logging",
)
"""Python's side of Spark writes messages of failed jobs, which may quote rows, to these."""


def silence() -> None:
    """Turn off what Python's side of Spark logs."""
    for name in _LOGGERS:
        logging.getLogger(name).disabled = True


def check_version(said: str, whose: str, tested: tuple[str, ...] = TESTED) -> None:
    if not said.startswith(tuple(f"{version}." for version in tested)):
        raise closed(f"{whose} is {said}", f"this engine is tested with {' and '.join(tested)}")


def own_settings(session: Any) -> None:
    """Give a session the engine's own settings for SQL, and none of others but those that it may keep."""
    held = session.conf.getAll
    _check_refused(held)
    for name in held:
        if name.startswith(_SQL) and not _is_kept(name) and session.conf.isModifiable(name):
            session.conf.unset(name)
    for name, value in SETTINGS.items():
        session.conf.set(name, value)


def check_settings(session: Any) -> Mapping[str, str]:
    """Refuse a session with another setting than those that the claims rest on; return all that it has."""
    held: Mapping[str, str] = session.conf.getAll
    for name, value in SETTINGS.items():
        if held.get(name) != value:
            raise closed(f"the setting {name} is not {value or 'empty'}", "open it again")
    _check_refused(held)
    for name in held:
        if name.startswith(_SQL) and name not in SETTINGS and not _is_kept(name):
            raise closed(f"the setting {name} is not known here", "start Spark without it, and open it again")
    return held


def check_fixed(held: Mapping[str, str], fixed: Mapping[str, str], help: str) -> None:
    """Refuse a Spark that was started with other settings than these."""
    for name, value in fixed.items():
        if held.get(name) != value:
            raise closed(f"the setting {name} is not {value}", help)


def _check_refused(held: Mapping[str, str]) -> None:
    for name, value in held.items():
        why = next((why for refused, why in _REFUSED.items() if _is(name, refused)), None)
        if why is not None and value:
            raise closed(f"the setting {name} is not empty", "start Spark without it", why)


def _is(name: str, listed: str) -> bool:
    return name.startswith(listed) if listed.endswith(".") else name == listed


def _is_kept(name: str) -> bool:
    return any(_is(name, kept) for kept in _KEPT)


def closed(title: str, help: str, label: str = "") -> DatabaseError:
    return refuse("D602", title, label=label, help=help)
