"""How long until a fresh process answers, compared with the `duckdb` package? In turns.

    python -c "import duckdb; ... .execute(sql).fetchall()"     start to its answer, the reference
    dpsql query DB -c sql                                       start to its answer: paid, released, stored
    dpsql shell DB                                              start to its first prompt

Elapsed time ends with the first line of the answer. CPU time is that of the whole process, which a busy
machine affects less. Every ``dpsql query`` pays: its ledger does not hold the answer.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass

import dpsql
from benchmarks.data import people
from benchmarks.timing import ROOT, Report, Runs, Setting, Table, environment, ratio

_SQL = "SELECT COUNT(*) FROM people WHERE age > 20"
_PLAIN = (
    "import duckdb, sys; database, sql = sys.argv[1:]; "
    "print(duckdb.connect(database, read_only=True).execute(sql).fetchall(), flush=True)"
)
_DPSQL = (sys.executable, "-c", "from dpsql.cli import program; program()")  # as an installed dpsql does


@dataclass(frozen=True, slots=True)
class Took:
    """One process: the time to its first output, and its CPU time, in milliseconds."""

    clock: float
    processor: float


def run(setting: Setting) -> Report:
    path = people(setting, 1_000)
    policy, opened, ledger = (path.with_suffix(each) for each in (".zcdp.toml", ".opened", ".ledger"))
    dpsql.connect(path, policy, opened).close()
    place = (str(path), "--policy", str(policy), "--ledger", str(ledger))

    def plain() -> Took:
        return _answer((sys.executable, "-c", _PLAIN, str(path), _SQL), setting)

    def paid() -> Took:
        shutil.copy(opened, ledger)
        return _answer((*_DPSQL, "query", *place, "-c", _SQL), setting)

    def command(*words: str) -> Callable[[], Took]:
        return lambda: _answer((*_DPSQL, *words), setting)

    contestants = {
        "the duckdb package, a query": plain,
        "dpsql query, paid": paid,
        "dpsql query, answered before": command("query", *place, "-c", _SQL),
        "dpsql shell, to its prompt": lambda: _prompt((*_DPSQL, "shell", *place), setting),
        "dpsql explain": command("explain", *place, "-c", _SQL),
        "dpsql budget": command("budget", *place),
        "dpsql --help": command("--help"),
        "dpsql --version": command("--version"),
    }
    took: dict[str, list[Took]] = {name: [] for name in contestants}
    for number in range((0 if setting.quick else 11) + 1):
        for name, start in contestants.items():
            each = start()
            if number or setting.quick:  # the first round reads the files from the disk, and compiles
                took[name].append(each)
    clock = {name: Runs(tuple(each.clock for each in runs)) for name, runs in took.items()}
    processor = {name: Runs(tuple(each.processor for each in runs)) for name, runs in took.items()}
    rows = [(name, clock[name], processor[name]) for name in contestants]
    table = Table("fresh processes, ms", ("what", "to the answer", "of the processor"), rows)
    theirs, ours, repeat, shell, *_ = contestants
    return Report(
        (table,),
        (
            ratio("dpsql query / the duckdb package, to the answer", clock[ours], clock[theirs], 2.2),
            ratio("dpsql query, answered before / the same", clock[repeat], clock[theirs], 1.8),
            ratio("dpsql shell, to its prompt / the same", clock[shell], clock[theirs], 2.0),
            ratio("dpsql query / the same, of the processor", processor[ours], processor[theirs], None),
            ratio(
                "dpsql query, answered before / the same, of the processor",
                processor[repeat],
                processor[theirs],
                None,
            ),
            ratio("dpsql shell / the same, of the processor", processor[shell], processor[theirs], None),
        ),
    )


def _answer(command: tuple[str, ...], setting: Setting) -> Took:
    """Time a process until its first line arrives in a pipe."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT, env=environment(setting)
    )
    assert process.stdout is not None
    with process.stdout as out:
        said = out.readline()
        clock = time.perf_counter() - start
        out.read()
    return _ended(process, clock, said)


def _prompt(command: tuple[str, ...], setting: Setting) -> Took:
    """Time a process until a terminal shows the prompt; then end its input."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=ROOT,
        env=environment(setting) | {"TERM": "xterm", "HOME": str(setting.folder)},
    )
    os.close(theirs)
    said = b""
    try:
        while b">" not in said:  # clinic ε 3.58>
            said += (part := _read(ours))
            if b"\x1b[6n" in part:  # where is the cursor? a terminal answers
                os.write(ours, b"\x1b[1;1R")
        clock = time.perf_counter() - start
        os.write(ours, b"\x04")
        while _read(ours):
            pass
    except OSError:  # a terminal ends like that
        pass
    finally:
        os.close(ours)
    return _ended(process, clock, said)


def _read(terminal: int) -> bytes:
    if not select.select([terminal], [], [], 30.0)[0]:
        raise RuntimeError("the shell is silent")
    return os.read(terminal, 65536)


def _ended(process: subprocess.Popen[bytes], clock: float, said: bytes) -> Took:
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or not said:
        raise RuntimeError(f"{process.args!r} ended with {process.returncode}, after {said!r}")
    return Took(clock * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3)
