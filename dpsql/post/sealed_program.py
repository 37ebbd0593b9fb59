"""The program of the sealed engine's process: it reads SQL requests and writes rows.

    python -I -S sealed_program.py FOLDER-OF-THE-DRIVER FOLDER-OF-NUMPY

Requests come from standard input and replies go to standard output. Each is a pickle after its length. The
program is run as a file and imports no other module of dpsql, so that it starts in a twentieth of a second.
Memory is limited by the operating system: DuckDB's own limit counts tables and sorted rows, but not the
strings and lists that grow. The process ends at once when its parent has ended.
"""

from __future__ import annotations

import _thread
import os
import pickle
import resource
import select
import struct
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb
else:
    sys.path += sys.argv[1:]
    try:
        import _duckdb as duckdb
    except ImportError:
        import duckdb

LENGTH = struct.Struct(">Q")
CHUNK = 2_048
"""Number of rows in one reply."""

SAID = 4_000
"""Number of characters of a failure: the replies that nobody waits for must fit the pipe."""

_PAGE = resource.getpagesize()


def main() -> None:
    """Serve requests until standard input is closed."""
    replies = os.dup(1)
    os.dup2(2, 1)  # what else is printed is no reply
    os.closerange(replies + 1, 65_536)  # whatever the parent left open
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # else NumPy maps memory for every processor
    _thread.start_new_thread(_end_with_the_parent, ())
    serving = _Serving()
    with os.fdopen(0, "rb") as requests, os.fdopen(replies, "wb") as out:
        while header := requests.read(LENGTH.size):
            serving.began = _sizes()[0]
            request = pickle.loads(requests.read(*LENGTH.unpack(header)))
            for reply in serving.replies(*request):
                message = pickle.dumps(reply, pickle.HIGHEST_PROTOCOL)
                _limit(None)  # what is sent next is the engine's own
                out.write(LENGTH.pack(len(message)))
                out.write(message)
                out.flush()


def _end_with_the_parent() -> None:
    waiting = select.poll()
    waiting.register(0, 0)  # it hangs up when the last who could write is gone
    waiting.poll()
    os._exit(0)


class _Serving:
    """One in-memory database at a time."""

    def __init__(self) -> None:
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._mapped, self._loaded = 0, 0  # bytes of an empty database, and of what was loaded since
        self._memory, self._threads = 0, 1
        self.began = 0  # bytes that were mapped when the request arrived
        self._sent = f"sent {os.urandom(8).hex()}"  # a name that no table has

    def replies(self, request: str, *words: Any) -> Iterator[tuple[Any, ...]]:
        try:
            match request:
                case "open":
                    yield self._open(*words)
                case "load":
                    yield self._load(*words)
                case "arrays":
                    yield self._arrays(*words)
                case "wake":
                    yield self._wake(*words)
                case "run":
                    yield from self._run(*words)
                case "columns":
                    yield self._columns()
                case _:
                    self._close()
        except (MemoryError, duckdb.OutOfMemoryException):
            yield ("full",)
        except duckdb.Error as error:
            yield "failed", str(error)[:SAID]
        except Exception as error:  # a value that Python does not have
            yield "failed", type(error).__name__

    def _open(self, settings: list[str], memory: int) -> tuple[Any, ...]:
        """Open an empty database."""
        self._memory, self._loaded, self._threads = memory, 0, 1
        self._connection = duckdb.connect(
            ":memory:",
            config={
                "threads": 1,
                "allowed_configs": "[threads]",
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "disable_database_invalidation": "true",  # a failure is one statement's
            },
        )
        for setting in settings:
            self._connection.execute(setting)
        self._mapped = self._mapped or _sizes()[0]
        return "opened", self._worn()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _load(self, sql: str, parameters: list[list[object]] | None) -> tuple[Any, ...]:
        """Run a statement that loads public or released rows, without a limit of memory."""
        assert self._connection is not None
        self._use(1)  # rows are inserted in their order
        before = _sizes()[1]
        self._connection.execute(sql, parameters)
        # what the request took is free again, and stays mapped: it is no sign of what statements use
        mapped, in_memory = _sizes()
        self._loaded += max(0, in_memory - before, mapped - self.began)
        return ("loaded",)

    def _arrays(self, table: str, casts: list[tuple[str, str]], arrays: list[Any]) -> tuple[Any, ...]:
        """Insert rows, an array for each column, into a table with its schema; all are cast to its types."""
        assert self._connection is not None
        listed = ", ".join(f"{before}c{at}{after}" for at, (before, after) in enumerate(casts))
        self._connection.register(self._sent, {f"c{at}": array for at, array in enumerate(arrays)})
        try:
            return self._load(f'INSERT INTO {table} SELECT {listed} FROM "{self._sent}"', None)
        finally:
            self._connection.unregister(self._sent)

    def _wake(self, sql: str, parameters: list[list[object]]) -> tuple[Any, ...]:
        """Bind a statement for nothing: what runs after that finds the processor's caches full."""
        assert self._connection is not None
        self._hold()
        with suppress(duckdb.Error, MemoryError):  # whoever runs it hears of it
            self._connection.execute(f"DESCRIBE {sql}", parameters)
        return ("awake",)

    def _run(
        self, sql: str, threads: int, parameters: list[list[object]] | None
    ) -> Iterator[tuple[Any, ...]]:
        """Yield rows, whether there may be more, and (after the last) whether memory is worn."""
        assert self._connection is not None
        self._use(threads)
        self._hold()
        self._connection.execute(sql, parameters)
        more = True
        while more:
            self._hold()
            rows = self._connection.fetchmany(CHUNK)
            more = len(rows) == CHUNK
            yield "rows", rows, more, not more and self._worn()

    def _columns(self) -> tuple[Any, ...]:
        """Return the names and types of the columns of the last statement."""
        assert self._connection is not None
        return "columns", [(str(name), str(kind)) for name, kind, *_ in self._connection.description or ()]

    def _use(self, threads: int) -> None:
        assert self._connection is not None
        if threads != self._threads:
            self._connection.execute(f"SET threads = {threads}")
            self._threads = threads

    def _hold(self) -> None:
        if self._mapped:
            _limit(self._mapped + self._loaded + self._memory)

    def _worn(self) -> bool:
        """Whether much memory is in use although nothing runs: allocators keep freed memory."""
        if self._threads > 1 and self._keeps_much():
            self._use(1)  # what other threads kept is given back
        return self._keeps_much()

    def _keeps_much(self) -> bool:
        return _sizes()[0] - self._mapped - self._loaded > self._memory // 4


def _limit(most: int | None) -> None:
    """Set the limit of data bytes; None restores the limit that the process started with."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (hard if most is None else most, hard))


def _sizes() -> tuple[int, int]:
    """Return the bytes of data that this process has mapped, and the bytes in memory."""
    try:
        with open("/proc/self/statm", "rb") as file:
            words = file.read().split()
    except OSError:
        return 0, 0  # then nothing can be held against it
    return int(words[5]) * _PAGE, (int(words[1]) - int(words[2])) * _PAGE


if __name__ == "__main__":
    main()
