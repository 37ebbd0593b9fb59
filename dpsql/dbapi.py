"""PEP 249 over a session, and the plain calls that say more: ``execute``, ``explain``, ``budget``."""

from __future__ import annotations

import datetime
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from dpsql.answer import Answer
from dpsql.errors import Error, InterfaceError, InternalError, NotSupportedError, refuse
from dpsql.ir.column import Value
from dpsql.ir.explanation import Explanation
from dpsql.ir.price import Price
from dpsql.ir.source import Source
from dpsql.ir.survey import Export
from dpsql.policy.listing import Table

if TYPE_CHECKING:  # the engines, the parser and all between load when the first database is opened
    from dpsql.session import Session

apilevel = "2.0"
threadsafety = 2
paramstyle = "qmark"

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> Date:
    return Date(*time.localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> Time:
    return Time(*time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> Timestamp:
    return Timestamp(*time.localtime(ticks)[:6])


class _TypeCode(str):
    """A type code of ``description``: equal to DuckDB's names of all types it stands for."""

    names: frozenset[str]

    def __new__(cls, name: str, *names: str) -> _TypeCode:
        made = super().__new__(cls, name)
        made.names = frozenset((name, *names))
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and other.partition("(")[0] in self.names

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(str(self))


STRING = _TypeCode("VARCHAR", "ENUM", "UUID")
BINARY = _TypeCode("BLOB", "BIT")
NUMBER = _TypeCode(
    "DOUBLE",
    *"FLOAT DECIMAL TINYINT SMALLINT INTEGER BIGINT HUGEINT BOOLEAN".split(),
    *"UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT".split(),
)
DATETIME = _TypeCode(
    *("TIMESTAMP", "DATE", "TIME", "TIMESTAMP WITH TIME ZONE", "INTERVAL"),
    *("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"),
)
ROWID = _TypeCode("ROWID")

Description = tuple[tuple[str, str, None, None, None, None, None], ...]


def connect(
    database: str | os.PathLike[str],
    policy: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | None = None,
    analyst: str | None = None,
) -> Connection:
    """Open a database under its owner's policy; policy and ledger default to the database's stem."""
    path = Path(database)
    if not path.name or not path.exists():
        raise refuse("D602", f"there is no database {path}", help="check the path")
    return Connection(
        path,
        path.with_suffix(".toml") if policy is None else Path(policy),
        path.with_suffix(".ledger") if ledger is None else Path(ledger),
        analyst,
    )


@dataclass(frozen=True, slots=True)
class Account:
    """What was granted, and spent, by the whole database (``analyst`` is '') or by one analyst."""

    analyst: str
    granted: float
    spent: float

    @property
    def remaining(self) -> float:
        return max(0.0, self.granted - self.spent)


@dataclass(frozen=True, slots=True)
class Balance:
    """The database's account, and one per analyst of the policy."""

    granted: float
    spent: float
    remaining: float
    accountant: str
    delta: float
    accounts: tuple[Account, ...]


@dataclass(frozen=True, slots=True)
class Purchase:
    """One price that was paid: when, by whom ('' is the owner), for what.

    A purchase that is ``shared`` joined a debit made before: only its analyst paid again. One that is
    not ``answered`` was interrupted, and is completed when somebody asks the same once more.
    """

    time: str
    analyst: str
    sql: str
    epsilon: float
    shared: bool
    answered: bool


class Connection:
    """A database under its policy. Safe to share between threads; one query runs at a time."""

    def __init__(self, database: Path, policy: Path, ledger: Path, analyst: str | None) -> None:
        from dpsql.session import Session

        self._session: Session | None = _guarded(lambda: Session(database, policy, ledger, analyst))
        self._lock = threading.RLock()
        self.analyst = analyst
        self.timeout: float | None = None  # seconds that a query may take
        self.ledger_created = self._session.ledger.created
        self.ledger_path = ledger

    def _open(self) -> Session:
        if self._session is None:
            raise InterfaceError("the connection is closed", help="open another with dpsql.connect")
        return self._session

    # ---- what dpsql says beside PEP 249 ------------------------------------------------------------

    def execute(self, sql: str, parameters: Sequence[Value] = (), *, epsilon: float | None = None) -> Answer:
        """Answer one query, paying ``epsilon`` (the policy's default price if it is left out)."""
        from dpsql.pipeline import answer

        session = self._open()
        source, values = Source(_text(sql)), _values(parameters)
        with self._lock, self._limited(session):
            return _guarded(lambda: answer(session, source, values, epsilon))

    def explain(
        self, sql: str, parameters: Sequence[Value] = (), *, epsilon: float | None = None
    ) -> Explanation:
        """What ``execute`` would release, with which noise, at what price. Reads no row, costs nothing."""
        from dpsql.pipeline import explained, planned

        session = self._open()
        source, values = Source(_text(sql)), _values(parameters)
        with self._lock:
            return _guarded(
                lambda: explained(session, planned(session, source, values, session.terms(epsilon)))
            )

    def price(self, sql: str, parameters: Sequence[Value] = (), *, epsilon: float | None = None) -> Price:
        """What ``execute`` would cost now, and how exact it would be. Reads no row, costs nothing."""
        from dpsql.pipeline import planned, priced_now

        session = self._open()
        source, values = Source(_text(sql)), _values(parameters)
        with self._lock:
            return _guarded(
                lambda: priced_now(session, planned(session, source, values, session.terms(epsilon)))
            )

    @property
    def tables(self) -> tuple[Table, ...]:
        """What may stand behind FROM, with what is publicly known of each column."""
        session = self._open()
        with self._lock:
            return _guarded(session.tables)

    def export(self, sql: str, parameters: Sequence[Value] = (), *, epsilon: float | None = None) -> Export:
        """Rows of randomized responses, for the owner to give away: ``dpsql.estimates`` counts by them."""
        from dpsql.exports import export

        session = self._open()
        if self.analyst is not None:
            raise refuse(
                "D508",
                "an export is the owner's",
                label=f"this connection was opened for {self.analyst}",
                help="open one without analyst=; analysts ask queries: SELECT ward, COUNT(*) FROM ...",
            )
        source, values = Source(_text(sql)), _values(parameters)
        with self._lock, self._limited(session):
            return _guarded(lambda: export(session, source, values, epsilon))

    @property
    def budget(self) -> Balance:
        """What was granted, what is spent, what remains."""
        session = self._open()
        with self._lock:
            accounts = tuple(Account(*each) for each in session.accounts())
        whole = accounts[0]
        rule = session.policy.budget
        return Balance(whole.granted, whole.spent, whole.remaining, rule.accountant, rule.delta, accounts[1:])

    @property
    def purchases(self) -> tuple[Purchase, ...]:
        """What was paid for, oldest first: an analyst's own, or everybody's on the owner's connection."""
        session = self._open()
        with self._lock:
            entries = session.ledger.entries()
        return tuple(
            Purchase(each.time, each.analyst, each.sql, each.epsilon, each.kind == "share", each.answered)
            for each in entries
            if each.kind in ("debit", "share") and self.analyst in (None, each.analyst)
        )

    def interrupt(self) -> None:
        """Stop the running query, from another thread. What was debited stays debited."""
        _interrupt(self._open())

    @contextmanager
    def _limited(self, session: Session) -> Iterator[None]:
        """Nothing runs for longer than ``timeout``: what does is interrupted, and D603."""
        if self.timeout is None:
            yield
            return
        done, late, limit = threading.Event(), threading.Event(), self.timeout

        def watch() -> None:
            if not done.wait(limit):
                late.set()
                while not done.wait(
                    0.05
                ):  # again and again: it may be on its way from one engine to the other
                    _interrupt(session)

        watching = threading.Thread(target=watch, daemon=True)
        watching.start()
        try:
            yield
        except Error as error:
            if not late.is_set() or error.code != "D601":
                raise
            raise refuse(
                "D603",
                f"the query took longer than the time limit of {limit:g} seconds",
                label="what was debited stays debited",
                help="allow more time and ask the same query again: it is completed without paying twice",
            ) from None
        finally:
            done.set()
            watching.join()  # or it would interrupt the next query

    # ---- PEP 249 -----------------------------------------------------------------------------------

    def cursor(self) -> Cursor:
        self._open()
        return Cursor(self)

    def commit(self) -> None:
        """Nothing to do: dpsql only reads, and a debit is durable at once."""
        self._open()

    def rollback(self) -> None:
        """A debit is never rolled back."""
        self._open()
        raise NotSupportedError("D104", "there are no transactions: a debit is never rolled back")

    def close(self) -> None:
        with self._lock:
            if self._session is not None:
                self._session.close()
                self._session = None

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_session", None) is not None:
            self.close()


class Cursor:
    """The rows of one answer after another; ``answer`` holds the last one whole, with its margins."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.arraysize = 1
        self.answer: Answer | None = None
        self._at = 0
        self._closed = False

    @property
    def description(self) -> Description | None:
        if self.answer is None:
            return None
        pairs = zip(self.answer.columns, self.answer.types, strict=True)
        return tuple((name, sql, None, None, None, None, None) for name, sql in pairs)

    @property
    def rowcount(self) -> int:
        return -1 if self.answer is None else len(self.answer.rows)

    @property
    def rownumber(self) -> int | None:
        return None if self.answer is None else self._at

    def execute(self, sql: str, parameters: Sequence[Value] = (), *, epsilon: float | None = None) -> Cursor:
        self._usable()
        self.answer, self._at = None, 0
        self.answer = self.connection.execute(sql, parameters, epsilon=epsilon)
        return self

    def executemany(self, sql: str, sets: Sequence[Sequence[Value]]) -> None:
        """Refused: each set would be a query with a price of its own."""
        self._usable()
        raise NotSupportedError(
            "D104",
            "executemany would pay for every set of values",
            help="call execute for each, or ask one query with GROUP BY or IN (...)",
        )

    def _usable(self) -> None:
        if self._closed:
            raise InterfaceError("the cursor is closed", help="make another with connection.cursor()")
        self.connection._open()

    def _rows(self) -> list[tuple[Any, ...]]:
        self._usable()
        if self.answer is None:
            raise InterfaceError("there is no answer to fetch from", help="call execute first")
        return self.answer.rows

    def fetchone(self) -> tuple[Any, ...] | None:
        rows = self.fetchmany(1)
        return rows[0] if rows else None

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        rows = self._rows()
        found = rows[self._at : self._at + (self.arraysize if size is None else size)]
        self._at += len(found)
        return found

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self.fetchmany(len(self._rows()))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self

    def __next__(self) -> tuple[Any, ...]:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """PEP 249 allows this to do nothing."""
        self._usable()

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """PEP 249 allows this to do nothing."""
        self._usable()

    def close(self) -> None:
        self._closed = True
        self.answer = None

    def __enter__(self) -> Cursor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _interrupt(session: Session) -> None:
    session.engine.interrupt()
    session.sealed.interrupt()


T = TypeVar("T")


def _guarded(step: Callable[[], T]) -> T:
    """What goes wrong inside leaves as one of our errors, without a cause or frames that hold data."""
    failure: Error | KeyboardInterrupt
    try:
        return step()
    except KeyboardInterrupt:  # a notebook shows what the frames below held
        failure = KeyboardInterrupt()
    except Error as error:
        failure = error
    except RecursionError:  # told by the query's shape alone
        failure = refuse(
            "D103", "the query is nested too deeply", help="split it, and write long chains of OR as IN (...)"
        )
    except Exception as error:  # a bug of ours: its words may hold data
        failure = InternalError(
            "D901",
            f"an error of dpsql's own ({type(error).__name__})",
            help="what was debited stays debited; please report the query",
        )
    failure.__cause__ = failure.__context__ = failure.__traceback__ = None
    raise failure


def _text(sql: object) -> str:
    if not isinstance(sql, str):
        raise InterfaceError(f"a query is a text, not a {type(sql).__name__}", help="write SQL in a str")
    return _spelled(sql)


def _spelled(text: str) -> str:
    """A text that can be written down at all: half a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InterfaceError("this text is not Unicode", help="it holds half of a surrogate pair") from None
    return text


def _values(parameters: object) -> tuple[Value, ...]:
    if isinstance(parameters, Mapping | str | bytes):
        raise InterfaceError("parameters are a sequence, one value for each question mark")
    try:
        values: tuple[Value, ...] = tuple(parameters)  # type: ignore[arg-type]  # found out here
    except TypeError:
        raise InterfaceError("parameters are a sequence, one value for each question mark") from None
    for value in values:
        if isinstance(value, str):
            _spelled(value)
    return values
