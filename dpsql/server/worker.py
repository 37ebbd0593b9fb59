"""A worker of ``dpsql serve --processes N``: python -m dpsql.server.worker HANDLE, started by processes.py.

What it is to do comes over the handle, a socket to its parent; so do cancel keys. It ends with its parent.
Test: tests/drivers/test_server_processes.py
"""

from __future__ import annotations

import asyncio
import mmap
import os
import pickle
import signal
import socket
import sys
from contextlib import suppress

from dpsql.server.backoff import SIZE, Backoff
from dpsql.server.log import Log
from dpsql.server.processes import READY
from dpsql.server.server import Beside, Listener, Server
from dpsql.server.setup import Setup, reloading
from dpsql.server.tally import Tally, size

_LONGEST = 1 << 16


def main(handle: int) -> None:
    """Serve until SIGTERM, or until the parent ends."""
    channel = socket.socket(fileno=handle)
    setup, listening, (memory, failures), slot = pickle.loads(channel.recv(_LONGEST))
    listeners = [Listener(socket.socket(fileno=number), private, said) for number, private, said in listening]
    tally = Tally(mmap.mmap(memory, size(setup.processes)), slot, setup.processes)
    os.close(memory)
    backoff = Backoff(mmap.mmap(failures, SIZE), setup.secret, failures)
    asyncio.run(_serve(setup, listeners, channel, tally, backoff))


async def _serve(
    setup: Setup, listeners: list[Listener], channel: socket.socket, tally: Tally, backoff: Backoff
) -> None:
    channel.setblocking(False)
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    log = Log(setup.log)
    tls, reload = reloading(setup, log)

    def told(key: bytes) -> None:
        with suppress(OSError):  # the parent is busy or gone: a cancel may be lost
            channel.send(key)

    server = Server(setup.places, tls, setup.limits, log, Beside(setup.secret, tally, backoff, told))

    def heard() -> None:
        try:
            key = channel.recv(_LONGEST)
        except BlockingIOError:
            return
        except OSError:
            key = b""
        if key:
            server.cancel(key)
        else:  # the parent has ended
            loop.remove_reader(channel)
            stop.set()

    loop.add_reader(channel, heard)
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    loop.add_signal_handler(signal.SIGHUP, reload)
    told(READY)
    await server.serve(listeners, stop)


if __name__ == "__main__":
    main(int(sys.argv[1]))
