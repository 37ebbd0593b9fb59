"""Several processes that serve together: they accept on the same sockets, and count together.

    parent      listens, starts N workers, restarts one that ends, passes signals and cancel keys on
    worker      accepts, answers: a server of its own (worker.py), with the parent's sockets

A question computes in Python for a good part of its time, so one process uses one core. What one worker does
ends with it alone: its clients connect again, and what was answered to them is free. The ledger is one file.
Test: tests/drivers/test_server_processes.py
"""

from __future__ import annotations

import asyncio
import mmap
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from dpsql.errors import InterfaceError
from dpsql.server.backoff import SIZE
from dpsql.server.log import Log
from dpsql.server.server import Listener
from dpsql.server.setup import Setup
from dpsql.server.tally import Tally, size

READY = b"ready"
_SHORTEST_LIFE = 5.0
"""Seconds; a worker that ends sooner is not started again at once."""


class Workers:
    """The parent's side."""

    def __init__(self, setup: Setup, listeners: Sequence[Listener], log: Log) -> None:
        self._setup, self._listeners, self._log = setup, listeners, log
        self._count = setup.processes
        self._file = os.memfd_create("dpsql-tally")
        os.ftruncate(self._file, size(self._count))
        self._memory = mmap.mmap(self._file, size(self._count))
        self._failures = os.memfd_create("dpsql-failures")
        os.ftruncate(self._failures, SIZE)
        self._running: dict[int, tuple[subprocess.Popen[bytes], socket.socket]] = {}
        self._stopping = False

    async def run(self, stop: asyncio.Event, ready: Callable[[], object]) -> None:
        """Keep the workers running until ``stop``, or until one cannot be started; then let them finish."""
        tasks = [asyncio.create_task(self._keep(slot)) for slot in range(self._count)]
        stopping = asyncio.create_task(stop.wait())
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, self._tell, signal.SIGHUP)
        either = [stopping, *tasks]
        while len(self._running) < self._count and not any(task.done() for task in either):
            await asyncio.wait(either, timeout=0.05, return_when=asyncio.FIRST_COMPLETED)
        if not any(task.done() for task in tasks):
            ready()
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        self._stopping = True
        self._tell(signal.SIGTERM)
        await asyncio.wait(tasks)
        stopping.cancel()
        self._memory.close()
        os.close(self._file)
        os.close(self._failures)
        for task in tasks:
            task.result()

    def _tell(self, number: int) -> None:
        for process, _ in self._running.values():
            with suppress(ProcessLookupError):  # it has ended by itself
                process.send_signal(number)

    async def _keep(self, slot: int) -> None:
        """Start a worker, and another when it ends."""
        while not self._stopping:
            began = time.monotonic()
            code = await self._one(slot)
            tally = Tally(self._memory, slot, self._count)
            tally.forget()
            tally.close()
            if not self._stopping:
                self._log.write("worker", code=code)
                await asyncio.sleep(max(0.0, _SHORTEST_LIFE - (time.monotonic() - began)))

    async def _one(self, slot: int) -> int:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        handles = [each.socket.fileno() for each in self._listeners]
        command = [sys.executable, "-m", "dpsql.server.worker", str(theirs.fileno())]
        passed = [theirs.fileno(), self._file, self._failures, *handles]
        try:
            process = subprocess.Popen(command, pass_fds=passed, start_new_session=True)
        except OSError as error:
            raise InterfaceError(
                f"a process of the server cannot be started: {error.strerror}",
                help=f"let this user run {sys.executable}",
            ) from None
        theirs.close()
        listeners = [
            (handle, each.private, each.said) for handle, each in zip(handles, self._listeners, strict=True)
        ]
        ours.send(pickle.dumps((self._setup, listeners, (self._file, self._failures), slot)))
        ours.setblocking(False)
        loop = asyncio.get_running_loop()
        try:
            while message := await loop.sock_recv(ours, 1024):
                if message == READY:
                    self._running[slot] = process, ours
                    if self._stopping:
                        process.terminate()
                else:
                    self._pass_on(slot, message)
        except OSError:  # it has ended in the midst of a message
            pass
        finally:
            self._running.pop(slot, None)
            ours.close()
        return await asyncio.to_thread(process.wait)

    def _pass_on(self, slot: int, key: bytes) -> None:
        """Tell the other workers of a cancel key."""
        for other, (_, channel) in self._running.items():
            if other != slot:
                with suppress(OSError):  # it is ending, or does not listen: a cancel may be lost
                    channel.send(key)
