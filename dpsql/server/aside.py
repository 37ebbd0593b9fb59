"""Threads for what reads no private row: reading a statement, and waiting for the catalogue.

    await aside.run("ana", lambda: names.answer(sql, ()))

Each analyst runs one at a time, so that one analyst's statements take one thread of them.
Test: tests/unit/test_server_aside.py
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

_THREADS = 16


class Aside:
    """The threads of one process, and whose turn it is."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, "dpsql-names")
        self._turns = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(1))

    async def run(self, analyst: str, work: Callable[[], T]) -> T:
        """Return what ``work`` returns, in a thread, when it is this analyst's turn."""
        async with self._turns[analyst]:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def close(self) -> None:
        self._threads.shutdown()
