"""A connection for asyncio; its calls run one after the other in a thread of their own.

    async with dpsql.aio.connect("clinic.duckdb", analyst="ana") as db:
        answer = await db.execute("SELECT COUNT(*) FROM patients", epsilon=0.1)
        async for ward, n in db.rows("SELECT ward, COUNT(*) FROM patients GROUP BY ward"):
            ...

Cancelling the task interrupts its query. What was paid stays paid; the same query asked again is completed
without paying twice. A task that is cancelled while it waits for another task's query pays nothing.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import Any, TypeVar

import dpsql
from dpsql.answer import Answer
from dpsql.dbapi import Balance
from dpsql.dbapi.guard import Parameters
from dpsql.errors import InterfaceError
from dpsql.ir.explanation import Explanation
from dpsql.ir.price import Price

T = TypeVar("T")
Path = str | os.PathLike[str]


def connect(
    database: Path,
    policy: Path | None = None,
    ledger: Path | None = None,
    analyst: str | None = None,
    study: str | None = None,
) -> Opening:
    """``dpsql.connect`` without blocking: await the result, or use it in ``async with``."""
    return Opening(lambda: dpsql.connect(database, policy, ledger, analyst, study))


class Opening:
    """A connection that is not open yet."""

    def __init__(self, connect: Callable[[], dpsql.Connection]) -> None:
        self._connect = connect
        self._open: Connection | None = None

    def __await__(self) -> Generator[Any, None, Connection]:
        return self._open_connection().__await__()

    async def _open_connection(self) -> Connection:
        return Connection(await asyncio.to_thread(self._connect))

    async def __aenter__(self) -> Connection:
        self._open = await self._open_connection()
        return self._open

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._open is not None:
            await self._open.close()


class Connection:
    """An async connection; ``plain`` is the synchronous connection below it."""

    def __init__(self, plain: dpsql.Connection) -> None:
        self.plain = plain
        self._thread = ThreadPoolExecutor(1, "dpsql")

    async def execute(
        self,
        sql: str,
        parameters: Parameters = (),
        *,
        epsilon: float | None = None,
        anyway: bool = False,
    ) -> Answer:
        return await self._run(lambda: self.plain.execute(sql, parameters, epsilon=epsilon, anyway=anyway))

    async def rows(
        self, sql: str, parameters: Parameters = (), *, epsilon: float | None = None
    ) -> AsyncIterator[tuple[Any, ...]]:
        """Yield the rows of the answer, for ``async for``."""
        for row in await self.execute(sql, parameters, epsilon=epsilon):
            yield row

    async def explain(
        self, sql: str, parameters: Parameters = (), *, epsilon: float | None = None
    ) -> Explanation:
        return await self._run(lambda: self.plain.explain(sql, parameters, epsilon=epsilon))

    async def price(self, sql: str, parameters: Parameters = (), *, epsilon: float | None = None) -> Price:
        return await self._run(lambda: self.plain.price(sql, parameters, epsilon=epsilon))

    async def budget(self) -> Balance:
        return await self._run(lambda: self.plain.budget)

    async def close(self) -> None:
        if not self.plain._inherited:
            await self._run(self.plain.close)

    async def __aenter__(self) -> Connection:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _run(self, call: Callable[[], T]) -> T:
        if self.plain._inherited:  # a fork does not copy the thread: the call would never start
            self.plain._usable()
        work = self._thread.submit(call)
        try:
            return await asyncio.wrap_future(work)
        except asyncio.CancelledError:
            while not work.done():  # repeat while it runs: it may be between two engines
                with suppress(InterfaceError):  # closed meanwhile
                    self.plain.interrupt()
                await asyncio.sleep(0.02)
            raise
