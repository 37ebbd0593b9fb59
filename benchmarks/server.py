"""What `dpsql serve` adds to an answer: the protocol, a login, more processes, clients that wait.

    SHOW                    a statement that asks nothing: the protocol alone, there and back
    repeated                an answer that is paid for, from the ledger: in process, and over the wire
    first answer            a login (SCRAM) and a repeated answer
    throughput              clients in processes of their own repeat answers, of 1 and of 2 server processes
    200 idle                clients that have logged in and wait

All on one machine over a loopback address without TLS, with psycopg. Elapsed times and answers a second are
those of a machine whose other work is not known; the server's CPU time of an answer is not affected by it
but through caches. Memory is the proportional share (PSS) of all processes of the server.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import psycopg

import dpsql
from benchmarks.data import people
from benchmarks.timing import ROOT, Report, Runs, Setting, Table, Verdict, alternate, environment

_SQL = "SELECT state, COUNT(*) AS n FROM people GROUP BY state"
_PASSWORD = "correct horse battery"
_CLIENT = """
import sys, time, psycopg
url, sql, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
with psycopg.connect(url, autocommit=True) as db:
    db.execute(sql)
    print("ready", flush=True)
    sys.stdin.readline()
    answers, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        db.execute(sql).fetchall()
        answers += 1
    print(answers, flush=True)
"""


@dataclass(frozen=True, slots=True)
class Load:
    """Answers in a time, and the milliseconds of the server's processors for one."""

    per_second: float
    processor: float


class Server:
    """``dpsql serve`` with this many processes; ``processor`` is the seconds that they have used."""

    def __init__(self, setting: Setting, path: Path, processes: int) -> None:
        self._name = path.stem
        words = [
            str(path),
            "--policy",
            str(path.with_suffix(".served.toml")),
            "--analysts",
            f"{path}.analysts",
        ]
        words += ["--ledger", f"{path}.ledger", "--listen", "127.0.0.1:0", "--processes", str(processes)]
        words += ["--max-connections", "400", "--log", f"{path}.log"]  # nobody reads its pipe
        command = [sys.executable, "-m", "dpsql.cli", "serve", *words]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment(setting), stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        said = "".join(itertools.takewhile(lambda line: line != "ready\n", self.process.stderr))
        found = re.search(r"127\.0\.0\.1:(\d+)", said)
        if found is None:
            raise RuntimeError(said)
        self._at = f"127.0.0.1:{found[1]}"

    def url(self, analyst: str = "ana") -> str:
        return f"postgresql://{analyst}:{_PASSWORD.replace(' ', '%20')}@{self._at}/{self._name}"

    def pids(self) -> Iterator[int]:
        """The server's processes, and theirs: each database has one of post-processing."""
        parents: dict[int, list[int]] = {}
        for each in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(each.read_text().rpartition(")")[2].split()[1])
            except OSError:  # it has ended
                continue
            parents.setdefault(parent, []).append(int(each.parent.name))
        waiting = [self.process.pid]
        while waiting:
            pid = waiting.pop()
            yield pid
            waiting += parents.get(pid, [])

    def processor(self) -> float:
        ticks = 0
        for pid in self.pids():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        shares = (Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in self.pids())
        found = (re.search(r"^Pss:\s+(\d+) kB", share, re.MULTILINE) for share in shares)
        return sum(int(each[1]) for each in found if each is not None) / 1024

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(60)
        assert self.process.stderr is not None
        self.process.stderr.close()


def run(setting: Setting) -> Report:
    path = people(setting, 1_000)
    policy = path.with_suffix(".served.toml")
    if not policy.exists():
        names = [f"ana{number}" for number in range(8)]
        policy.write_text(
            path.with_suffix(".zcdp.toml").read_text()
            + "".join(f"[analysts.{name}]\nepsilon = 1e5\n" for name in ("ana", *names))
        )
        for name in ("ana", *names):
            words = [sys.executable, "-m", "dpsql.cli", "analyst", "add", str(path), name]
            words += ["--policy", str(policy), "--analysts", f"{path}.analysts", "--password-stdin"]
            subprocess.run(words, cwd=ROOT, input=_PASSWORD, text=True, check=True)
    rounds, seconds, idle = (5, 0.5, 10) if setting.quick else (300, 10.0, 200)
    loads: dict[int, Load] = {}
    with closing(Server(setting, path, 1)) as server:
        empty, there, here, first = _latencies(server, path, policy, rounds)
        loads[1] = _load(server, seconds)
        memory = _idle(server, idle)
    with closing(Server(setting, path, 2)) as server:
        loads[2] = _load(server, seconds)
        memory_of_two = _idle(server, idle)
    times = Table("one client, ms", ("what", "median [least-most]"))
    times.rows.extend(
        [
            ("SHOW, over the wire", empty),
            ("a repeated answer of 50 rows, in process", here),
            ("the same over the wire", there),
            ("login and a repeated answer", first),
        ]
    )
    several = Table("four clients that repeat", ("server processes", "answers/s", "server CPU an answer, ms"))
    several.rows.extend((number, load.per_second, load.processor) for number, load in loads.items())
    kept = Table(f"{idle} idle clients", ("server processes", "MB in all"))
    kept.rows.extend([(1, memory), (2, memory_of_two)])
    return Report(
        (times, several, kept),
        (
            Verdict("the protocol alone, ms", empty.median, 1.0),
            Verdict("what the wire adds to a repeated answer, ms", there.median - here.median, 1.0),
            Verdict("login and first answer, ms", first.median, None),
            Verdict(
                "answers a second of 2 processes over 1", loads[2].per_second / loads[1].per_second, 1.5, True
            ),
            Verdict(
                "server CPU an answer, of 2 processes over 1", loads[2].processor / loads[1].processor, 1.1
            ),
            Verdict(f"MB of a server with {idle} idle clients", memory, 300.0),
        ),
    )


def _latencies(server: Server, path: Path, policy: Path, rounds: int) -> list[Runs]:
    def login() -> None:
        with psycopg.connect(server.url(), autocommit=True) as fresh:
            fresh.execute(_SQL).fetchall()

    with (
        psycopg.connect(server.url(), autocommit=True) as db,
        dpsql.connect(path, policy, f"{path}.ledger", "ana") as own,
    ):
        return alternate(
            [
                lambda: db.execute("SHOW application_name").fetchall(),
                lambda: db.execute(_SQL).fetchall(),
                lambda: own.execute(_SQL),
                login,
            ],
            rounds,
            warm=3,
        )


def _load(server: Server, seconds: float) -> Load:
    """Let four clients, each another analyst in a process of its own, repeat answers."""
    clients = [
        subprocess.Popen(
            [sys.executable, "-c", _CLIENT, server.url(f"ana{number}"), _SQL, str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for client in clients:
        assert client.stdout is not None
        assert client.stdout.readline() == "ready\n"
    began, used = time.monotonic(), server.processor()
    for client in clients:
        assert client.stdin is not None
        client.stdin.write("\n")
        client.stdin.flush()
    answers = sum(int(client.communicate()[0]) for client in clients)
    used, took = server.processor() - used, time.monotonic() - began
    return Load(answers / took, 1e3 * used / max(answers, 1))


def _idle(server: Server, count: int) -> float:
    """Return the memory of the server while this many clients wait; 40 for each of the analysts."""
    with ExitStack() as stack:
        for number in range(count):
            db = psycopg.connect(server.url(f"ana{number // 40}"), autocommit=True)
            stack.enter_context(db).execute("SHOW application_name")
        return server.megabytes()
