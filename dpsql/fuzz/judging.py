"""Judge queries on a world, and keep what was seen: triples, refusals, violations.

A triple is a query, a database, and the database without one unit. Whatever an engine or a judge raises that
is no refusal of a query is a violation.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field

from dpsql.audit import plan_of
from dpsql.errors import Error
from dpsql.fuzz import judges
from dpsql.fuzz.shrinking import TRIES, kind, shrunk
from dpsql.fuzz.world import World
from dpsql.ir.plan import Plan
from dpsql.lazy_dataclass import dataclass

SILENT = 3
"""One query of so many is looked at from the neighbour too."""

_ANSWERED = 4
"""One accepted query of so many is answered with real noise."""


@dataclass(frozen=True, slots=True)
class Violation:
    """What was seen, and of which query, where."""

    said: str
    sql: str
    world: str
    epsilon: float

    def __str__(self) -> str:
        return f"{self.said}\n    {self.world}, epsilon {self.epsilon}\n    {self.sql}"


@dataclass(slots=True, kw_only=True)
class Judging:
    """What was judged so far. ``fast``: the statements for tables of many rows are compared too."""

    fast: bool = True
    silent: int = SILENT
    triples: int = 0
    accepted: int = 0
    alive: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    violations: list[Violation] = field(default_factory=list)

    def judge_written(self, sql: str, world: World, epsilon: float) -> bool:
        """Whether the query was accepted, and no judge minds it."""
        query = None
        if self.silent and zlib.crc32(sql.encode()) % self.silent == 0:
            self.note(judges.silent(sql, epsilon, world), sql, world, epsilon)
            query = world.parsed(sql)
        try:
            plan = plan_of(world.planner, sql, epsilon, query=query)
        except Error as error:
            self.refused[error.code] += 1
            if error.code[1] in "69":
                self.note([f"a refusal that is none: {error!r} {error.__cause__!r}"], sql, world, epsilon)
            return False
        except Exception as error:  # whatever it is, it is a violation
            self.note([f"{type(error).__name__}: {error}"], sql, world, epsilon)
            return False
        if not judges.measures_of(plan):
            return False
        self.accepted += 1
        self.triples += len(world.neighbours)
        if not self.wanted(plan, sql):
            return False
        seen = self.judge_plan(plan, sql, world, epsilon)
        if seen is None:
            return False  # a query that fails is asked no further
        self.alive += judges.alive(seen)
        if self.accepted % _ANSWERED == 0 and not sql.startswith("CREATE"):
            self.note(judges.answered(sql, world), sql, world, 1.0)
        return True

    def wanted(self, plan: Plan, sql: str) -> bool:
        """Whether an accepted query is to be measured."""
        return True

    def judge_plan(self, plan: Plan, sql: str, world: World, epsilon: float) -> judges.Seen | None:
        """What is measured, if no judge minds it."""
        before = len(self.violations)
        try:
            seen = judges.seen(plan, world)
        except Exception as error:  # whatever it is, it is a violation
            self.note([f"{type(error).__name__}: {error}"], sql, world, epsilon)
            return None
        judged = (judges.moved, judges.order, *((judges.fast,) if self.fast else ()), judges.ranges)
        for judge in judged:
            self.note(judge(seen, world), sql, world, epsilon)
        return seen if len(self.violations) == before else None

    def note(self, said: Sequence[str], sql: str, world: World, epsilon: float) -> None:
        """Keep what a judge says as violations."""
        self.violations += [Violation(words, sql, world.name, epsilon) for words in said]

    def shrunk(
        self,
        violation: Violation,
        world: World,
        going: Callable[[], None] = lambda: None,
        tries: int = TRIES,
    ) -> Violation:
        """The same violation by a smaller query; what judges say of those that are tried is forgotten."""
        smallest = violation

        def fails(sql: str) -> bool:
            nonlocal smallest
            going()
            before = len(self.violations)
            if violation.said.endswith(judges.SEEN):
                self.note(judges.silent(sql, violation.epsilon, world), sql, world, violation.epsilon)
            else:
                self.judge_written(sql, world, violation.epsilon)
            alike = [v for v in self.violations[before:] if kind(v.said) == kind(violation.said)]
            del self.violations[before:]
            smallest = alike[0] if alike else smallest
            return bool(alike)

        shrunk(violation.sql, fails, tries)
        return smallest


__all__ = ["SILENT", "Judging", "Violation"]
