"""A rival's whole calls and plain DuckDB's in turns, in the rival's own process.

    python qrlew_times.py data.duckdb policy.toml Q3 1.0 1e-6 7 60

prints one line of JSON: the milliseconds of ``theirs`` and of ``plain``, and the rival's ``rows``. The first
call of each is not counted, unless it takes so long that a second one would not end in time.
"""

import argparse
import json
import time
import tomllib
from collections.abc import Callable, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from asked import QUESTIONS, Question


@dataclass(frozen=True)
class Task:
    """One question, with what the owner's policy says about its table."""

    question: Question
    connection: duckdb.DuckDBPyConnection
    policy: dict[str, Any]
    epsilon: float
    delta: float

    @property
    def tables(self) -> dict[str, Any]:
        return self.policy["tables"]

    @property
    def rows(self) -> int:
        """Return how many rows of a unit count."""
        table = "lineitem" if self.question.table == "lines" else self.question.table
        return int(self.tables[table].get("rows_per_unit", 1))

    @property
    def groups(self) -> int:
        return min(self.question.groups or self.rows, self.rows)

    @property
    def public(self) -> bool:
        """Return whether the policy lists all values of the keys."""
        return all(map(self.values, self.question.keys))

    def values(self, column: str) -> list[str]:
        """Return the column's values if they are public."""
        return next(
            (said["values"] for name, said in self._columns() if name == column and "values" in said), []
        )

    def ranges(self) -> dict[str, tuple[float, float]]:
        """Return the range of each number."""
        said = ((name, each.get("range")) for name, each in self._columns())
        return {name: (float(range_[0]), float(range_[1])) for name, range_ in said if _numbers(range_)}

    def _columns(self) -> list[tuple[str, dict[str, Any]]]:
        return [each for table in self.tables.values() for each in table.get("columns", {}).items()]


def _numbers(range_: object) -> bool:
    return isinstance(range_, list) and all(isinstance(each, int | float) for each in range_)


def repeat(prepare: Callable[[Task], Callable[[], Sized]]) -> None:
    """Time what ``prepare`` returns, which asks the rival once from the text to the answer's rows."""
    parser = argparse.ArgumentParser()
    for name, type_ in (("data", str), ("policy", Path), ("name", str), ("epsilon", float), ("delta", float)):
        parser.add_argument(name, type=type_)
    parser.add_argument("repetitions", type=int)
    parser.add_argument("seconds", type=float)
    given = parser.parse_args()
    (question,) = (each for each in QUESTIONS if each.name == given.name)
    connection = duckdb.connect(given.data, read_only=True)
    policy = tomllib.loads(given.policy.read_text(encoding="utf-8"))
    ask = prepare(Task(question, connection, policy, given.epsilon, given.delta))
    theirs: list[float] = []
    plain: list[float] = []
    end = time.perf_counter() + given.seconds

    def turn() -> int:
        lengths = []
        for run, kept in ((ask, theirs), (lambda: connection.execute(question.sql).fetchall(), plain)):
            start = time.perf_counter()
            lengths.append(len(run()))
            kept.append((time.perf_counter() - start) * 1e3)
        return lengths[0]

    def time_left() -> bool:
        return time.perf_counter() + (theirs[-1] + plain[-1]) / 1e3 < end

    rows = turn()
    if time_left():
        theirs.clear()
        plain.clear()
        rows = turn()
    while len(theirs) < given.repetitions and time_left():
        turn()
    print(json.dumps({"theirs": theirs, "plain": plain, "rows": rows}))
