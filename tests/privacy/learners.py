"""Learners of the tests of votes, in a file of their own that each teacher loads."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

Rows = list[tuple[Any, ...]]

SEEN: list[int] = []


def majority(examples: Rows, rows: Rows) -> list[Any]:
    """Give the most frequent label of the same ward, else of all; the first of equals in their order."""
    everywhere = Counter(label for label, *_ in examples).most_common()
    found = []
    for ward, _ in rows:
        same = Counter(label for label, its, _ in examples if its == ward).most_common()
        found.append((same or everywhere)[0][0])
    return found


def first(examples: Rows, rows: Rows) -> list[Any]:
    """Give the label of the first example: it depends on the order of rows."""
    return [examples[0][0]] * len(rows)


def total(examples: Rows, rows: Rows) -> list[Any]:
    """Give a label that each single row can change."""
    return ["ABC"[sum(age or 0 for *_, age in examples) % 3]] * len(rows)


def odd(examples: Rows, rows: Rows) -> list[Any]:
    """Misbehave as the public row says, or answer C."""
    print("patients", file=sys.stderr)
    print(examples)
    match rows[0][1]:
        case 0:
            raise ValueError(examples)
        case 1:
            return ["not a label", [], None, "D"][: len(rows)]
        case 2:
            return ["C"]
        case 3:
            return ["C"] * 1000
        case 4:
            os._exit(3)
        case 5:
            sys.exit(4)
        case 6:
            os.kill(os.getpid(), signal.SIGKILL)
        case 7:
            while True:
                pass
        case 8:
            os.kill(os.getppid(), signal.SIGKILL)
        case 9:
            return None  # type: ignore[return-value]  # what goes wrong
        case 11:
            return ["C"] * len(rows) if bytearray(1 << 30) else []
        case 12:
            with open("large", "wb") as file:
                file.truncate(1 << 30)
    return ["C"] * len(rows)


def large(examples: Rows, rows: Rows) -> list[Any]:
    """Take 700 megabytes."""
    return ["C" if bytearray(700 << 20) else "B"] * len(rows)


def ruining(examples: Rows, rows: Rows) -> list[Any]:
    """Stop the process that teachers are forked from, and remove this file."""
    Path(__file__).unlink()
    os.kill(os.getppid(), signal.SIGKILL)
    return ["C"] * len(rows)


def waiting(examples: Rows, rows: Rows) -> list[Any]:
    if os.fork():
        time.sleep(60)
    time.sleep(60)
    return ["C"] * len(rows)


def keeping(examples: Rows, rows: Rows) -> list[Any]:
    """Write its rows into its folder, and wait."""
    Path("kept").write_text(repr(examples))
    time.sleep(60)
    return ["C"] * len(rows)


def stateful(examples: Rows, rows: Rows) -> list[Any]:
    """Answer C if anything of a teacher before is left: in memory, in its folder, in temporary files."""
    left = SEEN or os.listdir() or os.listdir(tempfile.gettempdir()) or sys.stdin.read()
    SEEN.append(1)
    Path("left").write_text("x")
    with tempfile.NamedTemporaryFile(delete=False):
        pass
    return ["C" if left else "B"] * len(rows)


def killing(examples: Rows, rows: Rows) -> list[Any]:
    """Kill who asks, if there is such a file."""
    if Path(os.environ["DPSQL_KILLS"]).exists():
        nursery = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1]
        os.kill(int(nursery), signal.SIGKILL)
    return ["C"] * len(rows)
