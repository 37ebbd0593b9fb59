"""``dpsql.aio``: the calls of a connection awaited, several tasks on one, and tasks that are cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

import dpsql
import dpsql.aio

COUNT = "SELECT COUNT(*) FROM patients WHERE age > ?"
WARDS = "SELECT ward, beds FROM wards ORDER BY ward"


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def test_a_session(built: Path, ledger: Path) -> None:
    async def work() -> None:
        async with await dpsql.aio.connect(built, ledger=ledger, analyst="ana") as db:
            assert db.plain.analyst == "ana"
            price = await db.price(COUNT, (40,), epsilon=0.5)
            assert price.cost == 0.5
            answer = await db.execute(COUNT, (40,), epsilon=0.5)
            assert answer.cost == 0.5
            assert (await db.budget()).spent > 0
            assert "epsilon 0.5" in str(await db.explain(COUNT, (40,), epsilon=0.5))
            assert [row async for row in db.rows(f"{WARDS} LIMIT 1")] == [("Cardiology", 42)]
        with pytest.raises(dpsql.InterfaceError, match="the connection is closed"):
            await db.execute(WARDS)

    run(work())


def test_a_connection_is_awaited_or_entered(built: Path, ledger: Path) -> None:
    async def work() -> None:
        async with dpsql.aio.connect(built, ledger=ledger) as db:
            assert len((await db.execute(WARDS)).rows) == 6
        with pytest.raises(dpsql.InterfaceError, match="the connection is closed"):
            await db.execute(WARDS)
        first, second = await asyncio.gather(*(dpsql.aio.connect(built, ledger=ledger) for _ in range(2)))
        await first.close()
        await second.close()
        with pytest.raises(dpsql.OperationalError, match="D602"):
            async with dpsql.aio.connect(built.with_name("nothing.duckdb")):
                pass

    run(work())


def test_refusals_arrive(built: Path, ledger: Path) -> None:
    async def work() -> None:
        with pytest.raises(dpsql.OperationalError, match="D602"):
            await dpsql.aio.connect(built.with_name("nothing.duckdb"))
        async with await dpsql.aio.connect(built, ledger=ledger) as db:
            with pytest.raises(dpsql.NotSupportedError, match="D402"):
                await db.execute("SELECT age FROM patients")

    run(work())


def test_tasks_share_a_connection(built: Path, ledger: Path) -> None:
    async def work() -> None:
        async with await dpsql.aio.connect(built, ledger=ledger) as db:
            ticks = 0

            async def tick() -> None:
                nonlocal ticks
                while True:
                    ticks += 1
                    await asyncio.sleep(0)

            ticking = asyncio.create_task(tick())
            answers = await asyncio.gather(*(db.execute(COUNT, (age % 4,), epsilon=0.5) for age in range(8)))
            ticking.cancel()
            assert ticks > 8  # the loop went on meanwhile
            assert [each.rows for each in answers[:4]] == [each.rows for each in answers[4:]]
            assert len(db.plain.purchases) == 4

    run(work())


async def until_paid(watching: dpsql.aio.Connection) -> None:
    while (await watching.budget()).spent == 0:
        await asyncio.sleep(0.01)


def test_a_cancelled_query_stops_and_stays_paid(crowd: Path, ledger: Path, slow: str) -> None:
    async def work() -> None:
        async with (
            await dpsql.aio.connect(crowd, ledger=ledger) as db,
            await dpsql.aio.connect(crowd, ledger=ledger) as watching,
        ):
            asking = asyncio.create_task(db.execute(slow))
            await until_paid(watching)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert [each.answered for each in db.plain.purchases] == [False]
            assert (await db.price(slow)).cost == 0
            assert len((await db.execute("SELECT COUNT(*) FROM people")).rows) == 1

    run(work())


def test_a_task_that_waits_is_cancelled_alone(crowd: Path, ledger: Path, slow: str) -> None:
    """It pays nothing, and the query before it is not the one that is stopped."""

    async def work() -> None:
        async with (
            await dpsql.aio.connect(crowd, ledger=ledger) as db,
            await dpsql.aio.connect(crowd, ledger=ledger) as watching,
        ):
            asking = asyncio.create_task(db.execute(slow))
            await until_paid(watching)
            waiting = asyncio.create_task(db.execute("SELECT COUNT(*) FROM people"))
            await asyncio.sleep(0.05)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert not asking.done()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert len(db.plain.purchases) == 1

    run(work())
