"""The program of the process that the sealed engine runs in: SQL comes in, rows go out.

    python -I -S sealed_program.py FOLDER-OF-THE-DRIVER

Requests come on standard input and replies go to standard output, each a pickle behind its length. It is
started as a file, with nothing of dpsql but itself, so that it is there in a twentieth of a second. The
limit of its memory is the operating system's: DuckDB counts tables and sorted rows against its own, and
neither texts nor lists, which are what grows. When nobody is left who could send requests, it ends, whatever
it is doing.
"""

from __future__ import annotations

import _thread
import os
import pickle
import resource
import select
import struct
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb
else:
    sys.path += sys.argv[1:]
    try:
        import _duckdb as duckdb
    except ImportError:
        import duckdb

LENGTH = struct.Struct(">Q")
CHUNK = 2_048
"""Rows of one reply."""

_PAGE = resource.getpagesize()


def main() -> None:
    """Serves one request after the other."""
    replies = os.dup(1)
    os.dup2(2, 1)  # what else is printed is no reply
    os.closerange(replies + 1, 65_536)  # whatever the parent left open
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _thread.start_new_thread(_end_with_the_parent, ())
    serving = _Serving()
    with os.fdopen(0, "rb") as requests, os.fdopen(replies, "wb") as out:
        while header := requests.read(LENGTH.size):
            request = pickle.loads(requests.read(*LENGTH.unpack(header)))
            if (reply := serving.reply(*request)) is not None:
                message = pickle.dumps(reply, pickle.HIGHEST_PROTOCOL)
                out.write(LENGTH.pack(len(message)))
                out.write(message)
                out.flush()


def _end_with_the_parent() -> None:
    waiting = select.poll()
    waiting.register(0, 0)  # it hangs up when the last who could write is gone
    waiting.poll()
    os._exit(0)


class _Serving:
    """One database at a time, in memory, and the rows of the latest statement that were not fetched yet."""

    def __init__(self) -> None:
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._mapped, self._loaded = 0, 0  # bytes of an empty database, and of what was loaded since
        self._memory = 0

    def reply(self, what: str, *words: Any) -> tuple[Any, ...] | None:
        try:
            match what:
                case "open":
                    return self._open(*words)
                case "load":
                    return self._load(*words)
                case "run":
                    return self._run(*words)
                case "more":
                    return self._more()
            self._close()
        except (MemoryError, duckdb.OutOfMemoryException):
            return ("full",)
        except duckdb.Error as error:
            return "failed", str(error)
        except Exception as error:  # a value that Python does not have
            return "failed", type(error).__name__
        return None

    def _open(self, settings: list[str], memory: int) -> tuple[Any, ...]:
        """An empty database."""
        self._memory, self._loaded = memory, 0
        self._connection = duckdb.connect(
            ":memory:",
            config={
                "threads": 1,
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "disable_database_invalidation": "true",  # a failure is one statement's
            },
        )
        for setting in settings:
            self._connection.execute(setting)
        self._mapped = self._mapped or _sizes()[0]
        self._hold()
        return "opened", self._worn()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        _limit(None)

    def _load(self, sql: str, parameters: list[list[object]] | None) -> tuple[Any, ...]:
        """One statement for the owner's or released rows: they are let in whatever their size."""
        assert self._connection is not None
        _limit(None)
        before = _sizes()[1]
        self._connection.execute(sql, parameters)
        self._loaded += max(0, _sizes()[1] - before)
        self._hold()
        return ("loaded",)

    def _run(self, sql: str) -> tuple[Any, ...]:
        assert self._connection is not None
        self._connection.execute(sql)
        return self._more()

    def _more(self) -> tuple[Any, ...]:
        """The next rows, whether there may be others, and else whether another process should go on."""
        assert self._connection is not None
        rows = self._connection.fetchmany(CHUNK)
        more = len(rows) == CHUNK
        return "rows", rows, more, not more and self._worn()

    def _hold(self) -> None:
        if self._mapped:
            _limit(self._mapped + self._loaded + self._memory)

    def _worn(self) -> bool:
        """Whether much of the memory is used, though nothing runs: allocators keep what they had."""
        return _sizes()[0] - self._mapped - self._loaded > self._memory // 4


def _limit(most: int | None) -> None:
    """At most so many bytes of data; None is as many as this process was given."""
    given = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (given if most is None else most, given))


def _sizes() -> tuple[int, int]:
    """Bytes of data that this process has mapped, and that are in memory."""
    try:
        with open("/proc/self/statm", "rb") as file:
            words = file.read().split()
    except OSError:
        return 0, 0  # then nothing can be held against it
    return int(words[5]) * _PAGE, (int(words[1]) - int(words[2])) * _PAGE


if __name__ == "__main__":
    main()
