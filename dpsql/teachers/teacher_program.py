"""What runs in the process that teachers are forked from, and in each teacher.

    parent                        this process                     a teacher, forked from it
    learner, public rows  ----->  loads the learner's file
    a socket              ----->  forks, waits, kills     ----->   reads its rows from the socket, learns,
                          <-----  "ended"                          writes the numbers of its labels into it

This process never has a private row, and knows nothing of dpsql. The numbers of labels are two bytes each, in
the order of the public rows.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import pickle
import random
import resource
import shutil
import signal
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any

LENGTH = struct.Struct("<Q")
NUMBER = struct.Struct("<H")
WAITING = 10
"""How many times longer than its seconds of the processor a teacher may take, if it waits for something."""

_PAUSE = 0.002
_SET_PDEATHSIG = 1  # of prctl(2)
_TEACHER: list[int] = []
"""The process of the teacher that learns now."""


def send(end: socket.socket, value: object) -> None:
    body = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    end.sendall(LENGTH.pack(len(body)) + body)


def receive(end: socket.socket) -> Any:
    (size,) = LENGTH.unpack(_exactly(end, LENGTH.size))
    return pickle.loads(_exactly(end, size))


def _exactly(end: socket.socket, size: int) -> bytearray:
    body = bytearray()
    while len(body) < size:
        part = end.recv(min(size - len(body), 1 << 20))
        if not part:
            raise EOFError
        body += part
    return body


def main() -> None:
    """Serve the parent at the other end of standard input, until that is closed."""
    parent = socket.socket(fileno=0)
    try:
        path, module, file, function, rows, labels, *limits, folder = receive(parent)
    except EOFError:
        return
    try:
        sys.path[:] = path
        learner = getattr(_loaded(module, file), function)
    except BaseException as error:  # whatever a file does: there is no private row here
        send(parent, f"{type(error).__name__}: {error}")
        return
    places = {label: place for place, label in enumerate(labels)}
    signal.signal(signal.SIGTERM, _stop)
    send(parent, "")
    while True:
        _, given, _, _ = socket.recv_fds(parent, 1, 1)
        if not given:
            shutil.rmtree(folder, ignore_errors=True)
            return
        _teach(socket.socket(fileno=given[0]), parent, learner, rows, places, limits, folder)
        send(parent, "ended")


def _loaded(module: str, file: str) -> ModuleType:
    """Import a module by its name; the main one from its file, under another name."""
    if module != "__main__":
        return importlib.import_module(module)
    found = importlib.util.spec_from_file_location("__mp_main__", file)
    assert found is not None
    assert found.loader is not None
    loaded = importlib.util.module_from_spec(found)
    sys.modules["__mp_main__"] = loaded
    found.loader.exec_module(loaded)
    return loaded


def _teach(
    end: socket.socket,
    parent: socket.socket,
    learner: Callable[..., Any],
    rows: list[Any],
    places: dict[Any, int],
    limits: list[int],
    inside: str,
) -> None:
    """Fork a teacher with a folder of its own, and wait for its end."""
    folder, here = tempfile.mkdtemp(dir=inside), os.getpid()
    pid = os.fork()
    if not pid:
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.setsid()
            _end_with(here)
            with open(os.devnull, "rb") as nothing:
                os.dup2(nothing.fileno(), parent.detach())
            os.chdir(folder)
            os.environ["TMPDIR"] = tempfile.tempdir = folder
            _limit(*limits)
            _learn(end, learner, rows, places)
        finally:  # whatever it raised is said to nobody
            os._exit(0)
    end.close()
    _TEACHER.append(pid)
    until = time.monotonic() + WAITING * limits[0] + 1
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        if time.monotonic() > until:
            os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE)
    with suppress(ProcessLookupError):  # processes of its own, if it left any
        os.killpg(pid, signal.SIGKILL)
    _TEACHER.clear()
    shutil.rmtree(folder, ignore_errors=True)


def _stop(number: int, frame: object) -> None:
    """End at once, with the teacher and its processes: the parent does not wait for the rest."""
    for pid in _TEACHER:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
    os._exit(0)


def _end_with(process: int) -> None:
    """Let the system end this process as soon as the one that it was forked from has ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != process:
            os.kill(os.getpid(), signal.SIGKILL)


def _limit(seconds: int, megabytes: int) -> None:
    """Limit what a teacher may take, before it has a row: whatever it lacks, others do not."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # rows of units stay in memory
    resource.setrlimit(resource.RLIMIT_FSIZE, (megabytes << 20, megabytes << 20))
    if sys.platform == "linux":  # elsewhere there is no such limit
        with open("/proc/self/statm", "rb") as pages:
            loaded = int(pages.read().split()[0]) * resource.getpagesize()
        memory = loaded + (megabytes << 20)
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _learn(end: socket.socket, learner: Callable[..., Any], rows: list[Any], places: dict[Any, int]) -> None:
    examples = receive(end)
    random.seed()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()
    given = list(learner(examples, list(rows))) if examples else []
    if len(given) == len(rows):
        end.sendall(b"".join(NUMBER.pack(_place(label, places)) for label in given))


def _place(label: object, places: dict[Any, int]) -> int:
    """Return the number of a label; 0 of what is none."""
    try:
        return places.get(label, 0)
    except TypeError:  # not hashable: no label
        return 0


if __name__ == "__main__":
    main()
