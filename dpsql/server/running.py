"""The process that serves, or that watches over those that do, until a signal.

    SIGTERM, SIGINT    finish what runs, for ten seconds, then interrupt it    SIGHUP    certificates, log

A new policy, new data and another list of analysts need no signal: the next question sees them.
Test: tests/drivers/test_server.py, tests/drivers/test_server_processes.py
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress

from dpsql.server.backoff import Backoff
from dpsql.server.certificates import Tls
from dpsql.server.log import Log
from dpsql.server.processes import Workers
from dpsql.server.server import Beside, Listener, Server
from dpsql.server.setup import Setup, checked, listening, reloading
from dpsql.server.setup import line as line_of
from dpsql.server.tally import Tally


def serve(setup: Setup, say: Callable[[str], object]) -> None:
    """Serve until a signal says to stop."""
    lines = [line for line in checked(setup) if not line.startswith("listen")]
    log = Log(setup.log)
    tls, reload = reloading(setup, log)
    listeners = [listening(each) for each in setup.listen]
    try:
        lines += [line_of(each.said, each.private, tls()) for each in listeners]
        for line in lines:
            say(line)
        asyncio.run(_until_stopped(setup, listeners, log, tls, reload, lambda: say("ready")))
        say("stopped")
    finally:
        for listener in listeners:
            listener.socket.close()
            if listener.socket.family == socket.AF_UNIX:
                with suppress(OSError):  # somebody else removed it
                    os.unlink(listener.said)


async def _until_stopped(
    setup: Setup,
    listeners: Sequence[Listener],
    log: Log,
    tls: Callable[[], Tls | None],
    reload: Callable[[], None],
    ready: Callable[[], object],
) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if setup.processes > 1:
        await Workers(setup, listeners, log).run(stop, ready)
        return
    loop.add_signal_handler(signal.SIGHUP, reload)
    loop.call_soon(ready)
    alone = Beside(setup.secret, Tally(), Backoff(secret=setup.secret), lambda key: None)
    await Server(setup.places, tls, setup.limits, log, alone).serve(listeners, stop)
