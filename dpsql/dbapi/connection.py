"""Connections to a database under its policy, and their cursors."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeAlias

from dpsql.dbapi.accounts import Account, Balance, Outlook, Purchase, Spending, TimeCap
from dpsql.dbapi.guard import Parameters, asked, guarded, name_of, number_of, own, path_of, text_of
from dpsql.dbapi.limits import limited
from dpsql.dbapi.rows import Rows
from dpsql.dbapi.types import Exceptions
from dpsql.errors import InterfaceError, NotSupportedError, refuse

if TYPE_CHECKING:  # loaded when the first database is opened
    from dpsql.accounting.entries import Entry
    from dpsql.answer import Answer
    from dpsql.engines.postgres.url import PostgresUrl
    from dpsql.engines.spark.address import SparkAddress
    from dpsql.ir.explanation import Explanation
    from dpsql.ir.export import Export
    from dpsql.ir.heading import Heading
    from dpsql.ir.plan import Plan
    from dpsql.ir.price import Price
    from dpsql.policy.listing import Table
    from dpsql.session import Session

    Where: TypeAlias = Path | PostgresUrl | SparkAddress
    """A file, a folder, files that Spark reads, or a database of a PostgreSQL server."""


def connect(
    database: str | os.PathLike[str] | PostgresUrl | SparkAddress,
    policy: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | None = None,
    analyst: str | None = None,
    study: str | None = None,
) -> Connection:
    """Open a database (a DuckDB file, a parquet or csv file, a folder of them) under its owner's policy.

    Policy and ledger default to files beside it: clinic.toml and clinic.ledger beside clinic.duckdb,
    data.toml beside the folder data, which spark:local[2]:data opens too, and in the working folder for
    postgresql://reader@host/clinic. What is asked for a ``study`` is paid from its budget too.
    """
    path = place_of(database)
    files = getattr(path, "path", path)
    if isinstance(files, Path) and not os.path.exists(files):
        raise refuse("D602", f"there is no database {path}", help="check the path")
    return Connection(
        path,
        beside(path, ".toml") if policy is None else path_of(policy, "a policy"),
        beside(path, ".ledger") if ledger is None else path_of(ledger, "a ledger"),
        name_of(analyst),
        name_of(study, "a study"),
    )


def place_of(database: object) -> Where:
    """Return where a database is, as a path, an address or a URL."""
    if isinstance(database, str | os.PathLike) and not {":"} & {*str(database)}:
        return path_of(database, "a database")  # no engine is loaded for a path
    from dpsql.engines.postgres.url import PostgresUrl, is_url, postgres_url
    from dpsql.engines.spark.address import SparkAddress, is_spark, spark_address

    if isinstance(database, SparkAddress):
        return database
    if isinstance(database, str) and is_spark(database):
        return spark_address(text_of(database))

    if isinstance(database, PostgresUrl):
        return database
    if isinstance(database, str) and is_url(database):
        return postgres_url(text_of(database))
    return path_of(database, "a database")


def beside(database: Where, ending: str) -> Path:
    """Return the file beside a database: clinic.toml for clinic.duckdb, data.toml for the folder data.

    For a database of a server it is in the working folder: clinic.toml for postgresql://reader@host/clinic.
    """
    if not isinstance(database, Path):
        files = getattr(database, "path", None)
        if files is not None:
            return beside(files, ending)
        return Path(database.name.replace(os.sep, "_") + ending)
    if database.is_dir():
        folder = Path(os.path.abspath(database))
        return folder.with_name(folder.name + ending)
    return database.with_suffix(ending)


class Connection(Exceptions):
    """A database under its policy. Safe to share between threads; one query runs at a time."""

    def __init__(
        self,
        database: Where,
        policy: Path,
        ledger: Path,
        analyst: str | None,
        study: str | None = None,
    ) -> None:
        from dpsql.session import Session

        self._process = os.getpid()
        self._session: Session | None = guarded(lambda: Session(database, policy, ledger, analyst, study))
        self._lock = threading.RLock()
        self._calls = 0  # calls of the thread that holds the lock: a signal handler may call within a call
        self._closing = False
        self.analyst = analyst
        self.timeout: float | None = None  # time limit of a query, in seconds
        self.ledger_created = self._session.ledger.created
        self.ledger_path = ledger

    @property
    def _inherited(self) -> bool:
        """Whether this process was forked from the one that opened the connection, so it cannot be used."""
        return self._process != os.getpid()

    def _usable(self) -> None:
        """Raise InterfaceError if the connection is closed or belongs to another process."""
        if self._inherited:
            raise InterfaceError(
                "this connection belongs to the process that this one was forked from",
                help="connections do not survive a fork: open another in this process with dpsql.connect",
            )
        if self._session is None or self._closing:
            raise InterfaceError("the connection is closed", help="open another with dpsql.connect")

    def _open(self) -> Session:
        self._usable()
        assert self._session is not None
        return self._session

    @contextmanager
    def _using(self) -> Iterator[Session]:
        """Yield the session for one call at a time; it stays open until the call ends."""
        self._usable()  # before the lock: after a fork, a lock held by another thread is never released
        try:
            with self._lock:
                self._calls += 1
                try:
                    session = self._open()
                    session.kept.last = None
                    yield session
                finally:
                    self._calls -= 1
        finally:
            self._close_session()

    # ---- direct calls ------------------------------------------------------------------------------

    def execute(
        self,
        sql: str,
        parameters: Parameters = (),
        *,
        epsilon: float | None = None,
        anyway: bool = False,
    ) -> Answer:
        """Answer one query and pay ``epsilon`` (by default the policy's price).

        With ``anyway`` it is paid for even if its answer would show nothing (D511).
        """
        source, values = asked(sql, parameters)
        with self._using() as session, limited(session, own(self.timeout)):
            from dpsql.pipeline import answer

            return guarded(lambda: answer(session, source, values, own(epsilon), own(anyway)))

    def explain(self, sql: str, parameters: Parameters = (), *, epsilon: float | None = None) -> Explanation:
        """Return what ``execute`` would release, its noise and its price. Reads no row, costs nothing."""
        source, values = asked(sql, parameters)
        with self._using() as session, limited(session, own(self.timeout)):
            from dpsql.planning import prepared
            from dpsql.pricing import explained

            return guarded(lambda: explained(session, prepared(session, source, values, own(epsilon)).plan))

    def price(self, sql: str, parameters: Parameters = (), *, epsilon: float | None = None) -> Price:
        """Return what ``execute`` would cost now, and its expected errors. Reads no row, costs nothing."""
        return self._priced(sql, parameters, epsilon)[1]

    def _priced(self, sql: str, parameters: Parameters, epsilon: float | None) -> tuple[Plan, Price]:
        """Return the plan and the price of a query."""
        source, values = asked(sql, parameters)
        with self._using() as session, limited(session, own(self.timeout)):
            from dpsql.planning import prepared
            from dpsql.pricing import price_of

            return guarded(lambda: price_of(session, prepared(session, source, values, own(epsilon))))

    @property
    def plan_digest(self) -> str:
        """The name that the ledger has for the plan of the last call; '' if that came to none."""
        kept = self._open().kept.last
        return "" if kept is None else kept.plan.digest

    def stored(self, sql: str, parameters: Parameters = (), *, epsilon: float | None = None) -> Answer | None:
        """Return the answer that this analyst has paid for, or that costs nothing; None if it would cost.

        Pays nothing and reads no private row. What ``execute`` would refuse before it pays is refused.
        """
        source, values = asked(sql, parameters)
        with self._using() as session, limited(session, own(self.timeout)):
            from dpsql.pipeline import stored_answer

            return guarded(lambda: stored_answer(session, source, values, own(epsilon)))

    def headings(
        self, sql: str, parameters: Parameters = (), *, epsilon: float | None = None
    ) -> tuple[Heading, ...]:
        """Return the columns of what ``execute`` would return. Reads no row, costs nothing."""
        source, values = asked(sql, parameters)
        with self._using() as session, limited(session, own(self.timeout)):
            from dpsql.pipeline import headings

            return guarded(lambda: headings(session, source, values, own(epsilon)))

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return the tables and views that queries may use, with what is publicly known of their columns."""
        with self._using() as session:
            tables = guarded(session.tables)
            if not session.ledger.views():
                return tables
            from dpsql.private_views import listed

            return tables + guarded(lambda: listed(session))

    def export(self, sql: str, parameters: Parameters = (), *, epsilon: float | None = None) -> Export:
        """Return rows of randomized responses; ``dpsql.estimates`` estimates counts from them."""
        from dpsql.export import export

        self._open()
        if self.analyst is not None:
            raise refuse(
                "D508",
                "only the owner may export",
                label=f"this connection was opened for {self.analyst}",
                help="open one without analyst=; analysts ask queries: SELECT ward, COUNT(*) FROM ...",
            )
        source, values = asked(sql, parameters)
        with self._using() as session, limited(session, own(self.timeout)):
            return guarded(lambda: export(session, source, values, own(epsilon)))

    def synthetic_rows(self, view: str, rows: int) -> Export:
        """Return rows drawn from a private view that is paid for: free, and others each time."""
        from dpsql.synthetic_rows import synthetic_rows

        name, number = text_of(view), number_of(rows)
        with self._using() as session, limited(session, own(self.timeout)):
            return guarded(lambda: synthetic_rows(session, name, number))

    @property
    def budget(self) -> Balance:
        """Return what was granted, what is spent and what remains."""
        with self._using() as session:
            total, *accounts = (Account(*account) for account in session.accounts())
            rule, fits, reserve = session.policy.budget, session.fits(), session.reserve()
            shared = tuple(Account(*account) for account in session.shared_accounts())
            caps = tuple(TimeCap(*cap) for cap in session.time_caps())
            blocks = tuple(Account(*account) for account in session.in_blocks())
        fields = total.granted, total.spent, total.remaining, rule.accountant, rule.delta
        responses = None if reserve is None else Account("responses", *reserve)
        return Balance(*fields, tuple(accounts), fits, responses, caps, shared, blocks)

    @property
    def outlook(self) -> Outlook:
        """Return how many more queries like the latest ones fit, and what is promised of several units."""
        with self._using() as session:
            return Outlook(session.forecast(), tuple(session.group_privacy()))

    @property
    def purchases(self) -> tuple[Purchase, ...]:
        """Return the purchases, oldest first: an analyst's own, or all on the owner's connection."""
        with self._using() as session:
            entries = guarded(session.ledger.entries)
            return guarded(
                lambda: tuple(
                    _purchase(entry, self.analyst, session.paid_in(entry))
                    for entry in entries
                    if entry.kind in ("debit", "share") and self.analyst in (None, entry.analyst)
                )
            )

    @property
    def spending(self) -> tuple[Spending, ...]:
        """Return how spending grew: of the database and each analyst, or of an analyst their own."""
        with self._using() as session:
            return tuple(Spending(name, tuple(steps)) for name, steps in guarded(session.spending))

    @property
    def purchase_count(self) -> int:
        """Return the number of ``purchases``, without reading the whole ledger."""
        with self._using() as session:
            return guarded(lambda: session.ledger.times(self.analyst))

    def latest_purchases(self, most: int) -> tuple[Purchase, ...]:
        """Return the last ``most`` of ``purchases``, oldest first, without reading the others."""
        with self._using() as session:
            entries = guarded(lambda: session.ledger.bought(self.analyst, most))
            return guarded(
                lambda: tuple(_purchase(entry, self.analyst, session.paid_in(entry)) for entry in entries)
            )

    def purchases_of(self, sql: str, since: int) -> tuple[Purchase, ...]:
        """Return this connection's own purchases of a query since purchase number ``since``."""
        from dpsql.accounting.entries import in_two

        spellings = self._open().ledger.spellings(sql)
        return tuple(
            purchase
            for purchase in self.latest_purchases(self.purchase_count - since)
            if purchase.analyst == (self.analyst or "")
            and (purchase.sql in spellings or in_two(purchase.sql)[1] in spellings)
        )

    def interrupt(self) -> None:
        """Stop the running query from another thread. What was debited stays debited."""
        self._open().interrupt()

    @property
    def epsilon(self) -> float:
        """The price of a query if neither the query nor the call sets one; at first the policy's default."""
        with self._using() as session:
            return session.usual

    @epsilon.setter
    def epsilon(self, price: float | None) -> None:
        with self._using() as session:
            usual = session.policy.query.epsilon
            session.usual = usual if price is None else guarded(lambda: session.terms(own(price))).epsilon

    @property
    def study(self) -> str | None:
        """The study whose budget pays too, if one was chosen; another may be."""
        with self._using() as session:
            return session.study or None

    @study.setter
    def study(self, name: str | None) -> None:
        with self._using() as session:
            guarded(lambda: session.choose_study(name_of(name, "a study")))

    # ---- PEP 249 -----------------------------------------------------------------------------------

    def cursor(self) -> Cursor:
        self._open()
        return Cursor(self)

    def commit(self) -> None:
        """Do nothing: dpsql only reads, and a debit is durable at once."""
        self._open()

    def rollback(self) -> None:
        """Raise NotSupportedError: a debit is never rolled back."""
        self._open()
        raise NotSupportedError("D104", "there are no transactions: a debit is never rolled back")

    def close(self) -> None:
        """Close now, or after the running call; interrupt a running call of this very thread.

        This never waits. A signal handler may close in the middle of any call, or of a step that another
        thread waits for. Waiting for that thread would then be a deadlock.
        """
        if (
            self._session is not None and not self._inherited
        ):  # a forked child must not close the parent's session
            self._closing = True
            self._close_session()

    def _close_session(self) -> None:
        """Close the session if ``close`` was called and no call is running; a running call ends here too."""
        while self._closing and self._session is not None and self._lock.acquire(blocking=False):
            try:
                if self._calls:
                    self._session.interrupt()
                    return
                session, self._session = self._session, None
                session.close()
            finally:
                self._lock.release()

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_session", None) is not None:
            self.close()


def _purchase(entry: Entry, analyst: str | None, blocks: tuple[str, ...]) -> Purchase:
    """Return a purchase as an analyst sees it (None is the owner): without texts of others."""
    hidden = entry.borrowed and analyst is not None
    sql, parameters = ("-- joined another's query", "") if hidden else (entry.sql, entry.parameters)
    paid = entry.time, entry.analyst, sql, entry.epsilon
    return Purchase(*paid, entry.kind == "share", entry.answered, parameters, blocks)


class Cursor(Rows):
    """Executes queries, and returns the rows of the last answer."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self.connection = connection
        self._closed = False

    def execute(self, sql: str, parameters: Parameters = (), *, epsilon: float | None = None) -> Cursor:
        self._usable()
        self.answer, self._at = None, 0
        self.answer = self.connection.execute(sql, parameters, epsilon=epsilon)
        return self

    def executemany(self, sql: str, sets: Sequence[Parameters]) -> None:
        """Raise NotSupportedError: each set of values would be a query with its own price."""
        self._usable()
        self.answer = None
        raise NotSupportedError(
            "D104",
            "executemany is not supported",
            label="every set of values would be a query with its own price",
            help="call execute for each set, or ask one query with GROUP BY or IN (...)",
        )

    def _usable(self) -> None:
        if self._closed:
            raise InterfaceError("the cursor is closed", help="open another with connection.cursor()")
        self.connection._open()

    def close(self) -> None:
        self._closed = True
        self.answer = None

    def __enter__(self) -> Cursor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
