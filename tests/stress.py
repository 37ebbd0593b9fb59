"""Threads, forks, signal handlers that close, and cycles of references, all at once: nothing may hang.

    python tests/stress.py 120              seconds; 64 threads
    python tests/stress.py 10 16            and 16

Each thread does one thing after the other, drawn by chance: it asks, looks, opens and closes, forgets a
connection within a cycle, interrupts others, or forks a child that does the same for itself. The main
thread asks too, and a signal's handler closes the very connection that it asks, and others. What does not
end is shown with the stacks of all threads, exit code 1; so is every error that is none of those below.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import random
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import duckdb

import dpsql

PATIENCE = 30.0
"""Seconds after which what does not end counts as hung: a child, or the whole after its time is up."""

EXPECTED = {"D001", "D507", "D601"}
"""Closed meanwhile; a ledger that so many wait for; interrupted."""

POLICY = """
[budget]
epsilon = 1e9
delta = 1e-6
[query]
epsilon = 0.01
[unit]
table = "people"
key = "pid"
[tables.people.columns]
pid = {}
age = { range = [0, 120] }
"""


class Stress:
    """What the threads share: databases with a ledger each, connections that anybody may close, errors."""

    def __init__(self, folder: Path) -> None:
        self.until = 0.0
        self.databases = [self._made(folder / name) for name in ("a", "b", "c")]
        self.shared = [dpsql.connect(each) for each in self.databases]
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []

    @staticmethod
    def _made(folder: Path) -> Path:
        folder.mkdir()
        if folder.name == "c":  # a folder of files beside two databases
            (folder / "data").mkdir()
            rows = "".join(f"{i},{i % 100}\n" for i in range(1000))
            (folder / "data" / "people.csv").write_text("pid,age\n" + rows)
            typed = POLICY.replace("pid = {}", 'pid = { type = "INTEGER" }')
            (folder / "data.toml").write_text(typed.replace("{ range", '{ type = "INTEGER", range'))
            return folder / "data"
        with duckdb.connect(str(folder / "d.duckdb")) as connection:
            connection.execute("CREATE TABLE people (pid INTEGER PRIMARY KEY, age INTEGER)")
            connection.execute("INSERT INTO people SELECT i, i % 100 FROM range(100000) AS r(i)")
        (folder / "d.toml").write_text(POLICY)
        return folder / "d.duckdb"

    def thread(self, number: int) -> None:
        chance = random.Random(number)
        while time.monotonic() < self.until:
            self.guarded(chance.choices(DOES, WEIGHTS)[0], chance)

    def guarded(self, does: Callable[[Stress, random.Random], None], chance: random.Random) -> None:
        try:
            does(self, chance)
            self.done[does.__name__] += 1
        except dpsql.Error as error:
            self.done[f"{does.__name__} {error.code}"] += 1
            if error.code not in EXPECTED:
                self.wrong.append(f"{does.__name__}: {error}")
        except Exception as error:  # whatever it is, it is shown
            self.wrong.append(f"{does.__name__}: {error!r}")


def ask(stress: Stress, chance: random.Random) -> None:
    db = chance.choice(stress.shared)
    db.execute("SELECT COUNT(*), AVG(age) FROM people WHERE age > ?", (chance.randrange(50),))


def look(stress: Stress, chance: random.Random) -> None:
    db = chance.choice(stress.shared)
    db.price("SELECT SUM(age) FROM people WHERE age < ?", (chance.randrange(50),))
    _ = db.budget, db.tables


def reopen(stress: Stress, chance: random.Random) -> None:
    """The connection that all share is closed, whoever asks it, and another put in its place."""
    at = chance.randrange(len(stress.databases))
    before, stress.shared[at] = stress.shared[at], dpsql.connect(stress.databases[at])
    if chance.random() < 0.5:
        before.close()


def forget(stress: Stress, chance: random.Random) -> None:
    """A collection of garbage closes it, in whichever thread and line that comes."""
    cycle: list[object] = [dpsql.connect(chance.choice(stress.databases))]
    cycle.append(cycle)


def interrupt(stress: Stress, chance: random.Random) -> None:
    chance.choice(stress.shared).interrupt()


def collect(stress: Stress, chance: random.Random) -> None:
    gc.collect()


def fork(stress: Stress, chance: random.Random) -> None:
    """A child that is told what is not its own, and asks by itself; it is killed where it does not end."""
    inherited, path = chance.choice(stress.shared), chance.choice(stress.databases)
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_REAL, 0)
        code = 9
        try:
            try:
                inherited.execute("SELECT COUNT(*) FROM people")
                code = 3
            except dpsql.InterfaceError:
                inherited.close()
                with dpsql.connect(path) as own:
                    own.execute("SELECT COUNT(*) FROM people WHERE age > ?", (chance.randrange(50),))
                del inherited
                stress.shared.clear()
                gc.collect()
                code = 0
        except dpsql.Error as error:
            code = 0 if error.code in EXPECTED else 4
        finally:
            os._exit(code)
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            if status:
                raise ChildProcessError(f"ended with {os.waitstatus_to_exitcode(status)}")
            return
        time.sleep(0.02)
    os.kill(child, signal.SIGUSR1)  # shows where it is
    time.sleep(1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise ChildProcessError("hung")


DOES = (ask, look, reopen, forget, interrupt, collect, fork)
WEIGHTS = (30, 20, 8, 12, 8, 3, 2)


class Interrupted:
    """The main thread's part: Python runs a signal's handler there, between any two of its lines."""

    def __init__(self, stress: Stress) -> None:
        self._stress, self._chance = stress, random.Random(-1)
        self._own: dpsql.Connection | None = None
        self._handler = random.Random(-2)

    def close(self, number: int, frame: FrameType | None) -> None:
        """The connection that is being asked in the frames below, or one that others share."""
        victim = self._own if self._handler.random() < 0.7 else self._handler.choice(self._stress.shared)
        if victim is not None:
            victim.close()
        self._stress.done["handler"] += 1
        signal.setitimer(signal.ITIMER_REAL, 0.001 + self._handler.expovariate(2))

    def run(self) -> None:
        signal.signal(signal.SIGALRM, self.close)
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        while time.monotonic() < self._stress.until:
            self._stress.guarded(self._asks, self._chance)
            if self._chance.random() < 0.1:
                self._stress.guarded(forget, self._chance)
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _asks(self, stress: Stress, chance: random.Random) -> None:
        if self._own is None or self._own._session is None:
            self._own = dpsql.connect(chance.choice(stress.databases))
        self._own.execute("SELECT AVG(age) FROM people WHERE age > ?", (chance.randrange(50),))


def main(seconds: float, threads: int) -> int:
    warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads, from Python 3.12 on
    gc.set_threshold(200, 5, 5)  # garbage is collected often, in the middle of everything
    faulthandler.register(signal.SIGUSR1, all_threads=False)
    faulthandler.dump_traceback_later(seconds + 2 * PATIENCE, exit=True)
    with tempfile.TemporaryDirectory() as folder:
        stress = Stress(Path(folder))
        for does in (ask, look):  # a fork in the middle of an import is Python's own trouble
            for seed in range(9):
                does(stress, random.Random(seed))
        others = [threading.Thread(target=stress.thread, args=(each,)) for each in range(threads)]
        stress.until = time.monotonic() + seconds
        for each in others:
            each.start()
        Interrupted(stress).run()
        for each in others:
            each.join()
        for each in stress.shared:
            each.close()
        gc.collect()
        faulthandler.cancel_dump_traceback_later()
    print(", ".join(f"{name} {count}" for name, count in sorted(stress.done.items())))
    for name, count in Counter(stress.wrong).most_common(20):
        print(f"{count} times: {name}", file=sys.stderr)
    return bool(stress.wrong)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 64))
