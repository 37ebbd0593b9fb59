"""What the machines of a Spark server see of files: where they are, how long, and when they were written.

    /data/lake/visits.parquet    18233 bytes, 2026-11-26 22:01:15.892    on a machine with Java 17.0.15+6

Claim   while ``check_seen`` finds nothing, each file was there, for a machine of the server, with the length
        and the modification time that this process found; and that machine runs the Java that all others do.
Proof   Spark's source `binaryFile` asks the file system for a file's state where a task runs, not where the
        plan is made, and opens no file whose contents are not asked for. An option that is drawn for each
        look is part of the plan: no answer is one that the server kept, for this session or another. Java
        is asked by the same task, of its own process.
Test    tests/privacy/test_spark_connect.py: files of three gigabytes that hold nothing, changes, other Javas

One machine looks at each file. That all machines see the same is for the owner of the server to see to: a
mount that is shared.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection
from pathlib import Path
from typing import Any

from dpsql.engines.files import State
from dpsql.engines.spark.settings import closed
from dpsql.errors import DatabaseError

JAVA = "java_method('java.lang.System', 'getProperty', 'java.runtime.version')"
"""The Java of the process that computes a row."""

_COLUMNS = ("path", "length", "unix_millis(modificationTime)", JAVA)

_GLOBBED = frozenset("{}[]*?\\")

Seen = tuple[str, int, int]
"""A file's path, length in bytes, and modification time in milliseconds."""


def address_of(path: Path) -> str:
    """Return a file's name for Spark, which reads other file systems too, and patterns of names."""
    if _GLOBBED & {*str(path)}:
        raise closed(
            f"the path of {path.name!a} holds one of {{ }} [ ] * ? \\",
            "rename it, or the folder it is in: Spark takes it for a pattern",
        )
    return f"file://{path}"


def own_option() -> tuple[str, str]:
    """Return an option for a reader that makes its plan equal to none of any other session.

    Spark reads rows that any session has cached in the place of an equal plan, whatever its files hold by
    then.
    """
    return "dpsql", str(uuid.uuid4())


def check_seen(session: Any, states: Collection[State], java: str) -> None:
    """Refuse unless Spark sees each file in the state that this process found."""
    from pyspark.errors import AnalysisException

    if not states:
        return
    files = session.read.format("binaryFile").option(*own_option())
    try:
        looked = files.load([address_of(Path(state.path)) for state in states])
        rows = [tuple(row) for row in looked.selectExpr(*_COLUMNS).collect()]
    except AnalysisException:  # no file, for the machine that plans
        raise unseen() from None
    if any(row[3] != java for row in rows):
        raise other_javas()
    if sorted(_seen(*row[:3]) for row in rows) != sorted(map(_found, states)):
        raise unseen()


def other_javas() -> DatabaseError:
    return closed(
        "the machines of the Spark server run different Javas",
        "install one Java on all of them: texts of numbers and time zones differ between two",
    )


def unseen() -> DatabaseError:
    return closed(
        "Spark does not see the files as this process does",
        "share the folder, under one path, with all machines of the server; if files changed, open it again",
    )


def _seen(path: str, length: int, milliseconds: int) -> Seen:
    return "/" + path.removeprefix("file:").lstrip("/"), length, milliseconds


def _found(state: State) -> Seen:
    _, _, length, nanoseconds, _ = state.file
    return state.path, length, nanoseconds // 10**6
