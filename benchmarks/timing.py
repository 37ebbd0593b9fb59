"""Alternating runs, tables of results, and fresh processes.

    first, second = alternate([plain, ours], rounds=5)     plain ours plain ours plain ours ...

Two things are compared by running them in turns, so that a machine that slows down slows both. A table shows
the median, the smallest and the largest run.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Setting:
    """The settings of a benchmark: small or full data, TPC-H's scale, a working folder."""

    quick: bool
    scale: float
    folder: Path


@dataclass(frozen=True, slots=True)
class Runs:
    """The times of one contestant, in milliseconds."""

    times: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def best(self) -> float:
        return min(self.times)

    def __str__(self) -> str:
        return f"{shown(self.median)} [{shown(self.best)}-{shown(max(self.times))}]"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One figure and its target; ``limit`` is its maximum (or its minimum, for ``at_least``)."""

    what: str
    value: float
    limit: float | None
    at_least: bool = False
    low: float | None = None
    high: float | None = None

    @property
    def met(self) -> bool | None:
        if self.limit is None:
            return None
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        spread = "" if self.low is None or self.high is None else f" [{shown(self.low)}-{shown(self.high)}]"
        if self.limit is None:
            return f"{self.what}: {shown(self.value)}{spread}"
        target = f"at least {shown(self.limit)}" if self.at_least else f"at most {shown(self.limit)}"
        return f"{self.what}: {shown(self.value)}{spread}, target {target}: {'met' if self.met else 'MISSED'}"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with column names."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]] = field(default_factory=list)

    def __str__(self) -> str:
        cells = [self.columns, *(tuple(shown(each) for each in row) for row in self.rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        numeric = [all(not isinstance(row[i], str) for row in self.rows) for i in range(len(widths))]
        lines = [
            "  ".join(
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(row, widths, numeric, strict=True)
            ).rstrip()
            for row in cells
        ]
        return "\n".join([self.title, lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one benchmark."""

    tables: tuple[Table, ...]
    verdicts: tuple[Verdict, ...] = ()

    def __str__(self) -> str:
        parts = [str(each) for each in self.tables]
        if self.verdicts:
            parts.append("\n".join(f"* {each}" for each in self.verdicts))
        return "\n\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        return {
            "tables": [{"title": t.title, "columns": t.columns, "rows": t.rows} for t in self.tables],
            "verdicts": [
                {
                    "what": v.what,
                    "value": v.value,
                    "min": v.low,
                    "max": v.high,
                    "target": v.limit,
                    "at_least": v.at_least,
                    "met": v.met,
                }
                for v in self.verdicts
            ],
        }


def shown(value: object) -> str:
    """Format a number with three digits; the saved file holds all digits."""
    if isinstance(value, Runs):
        return str(value)
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return "" if value is None else str(value)


def alternate(contestants: Sequence[Callable[[], object]], rounds: int, warm: int = 1) -> list[Runs]:
    """Run contestants in turns and return their times; the first ``warm`` rounds are not counted."""
    times: list[list[float]] = [[] for _ in contestants]
    for number in range(warm + rounds):
        for kept, run in zip(times, contestants, strict=True):
            start = time.perf_counter()
            run()
            if number >= warm:
                kept.append((time.perf_counter() - start) * 1e3)
    return [Runs(tuple(each)) for each in times]


def ratio(what: str, ours: Runs, theirs: Runs, limit: float | None) -> Verdict:
    """Return median over median, with the smallest and largest ratio of two consecutive runs."""
    pairs = [mine / other for mine, other in zip(ours.times, theirs.times, strict=True)]
    return Verdict(what, ours.median / theirs.median, limit, low=min(pairs), high=max(pairs))


# ---- inside the pipeline -----------------------------------------------------------------------------


@contextlib.contextmanager
def stopwatch(places: Sequence[tuple[object, str, str]]) -> Iterator[dict[str, float]]:
    """Record the milliseconds spent in (object, attribute) calls, by label, in a context."""
    spent: dict[str, float] = {label: 0.0 for _, _, label in places}
    old = [(owner, name, getattr(owner, name)) for owner, name, _ in places]

    def timed(run: Callable[..., object], label: str) -> Callable[..., object]:
        def wrapped(*arguments: object, **named: object) -> object:
            start = time.perf_counter()
            try:
                return run(*arguments, **named)
            finally:
                spent[label] += (time.perf_counter() - start) * 1e3

        return wrapped

    try:
        for (owner, name, run), (_, _, label) in zip(old, places, strict=True):
            setattr(owner, name, timed(run, label))
        yield spent
    finally:
        for owner, name, run in old:
            setattr(owner, name, run)


# ---- other processes ---------------------------------------------------------------------------------


def environment(setting: Setting) -> dict[str, str]:
    """Return the environment of a Python that keeps compiled modules, as an installed program does."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": str(setting.folder / "compiled")}


def fresh(setting: Setting, code: str, *arguments: str) -> Any:
    """Run a program in a fresh Python; return its last line, read as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env=environment(setting),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])
