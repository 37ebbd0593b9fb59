"""An analyst's statements take one thread, however many there are and however long they take."""

from __future__ import annotations

import asyncio
import threading
import time

from dpsql.server.aside import Aside


def test_one_analyst_takes_one_thread() -> None:
    """ana's forty wait for what bob does after them: with threads shared by all, nobody would go on."""
    done, at_once, most = threading.Event(), [0], [0]

    def slow() -> None:
        at_once[0] += 1
        most[0] = max(most[0], at_once[0])
        assert done.wait(60), "bob was held up"
        time.sleep(0.001)
        at_once[0] -= 1

    async def both() -> None:
        aside = Aside()
        anas = [asyncio.ensure_future(aside.run("ana", slow)) for _ in range(40)]
        await asyncio.sleep(0.1)
        await aside.run("bob", done.set)
        await asyncio.gather(*anas)
        aside.close()

    asyncio.run(both())
    assert most == [1]
