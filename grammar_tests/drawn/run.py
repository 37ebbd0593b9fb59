"""One run: draw queries, plan them, judge what is accepted, count what is refused.

Everything follows from the seed. A query is judged on one of the open worlds, against all neighbours of it.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import dpsql
from dpsql.audit import plan_of
from dpsql.fuzz import judges
from dpsql.fuzz.files import Files
from dpsql.fuzz.judging import Judging, Violation
from dpsql.fuzz.queries import BOUNDED, CROSSINGS, Queries, Query
from dpsql.fuzz.world import World, open_world
from dpsql.ir.plan import Plan
from drawn.coverage import Coverage, Occurrence
from drawn.databases import build_calm, build_world, open_calm
from drawn.illegal import spoilt
from drawn.meaning import meant
from drawn.tables import SCHEMA

WORLDS, NEIGHBOURS = 7, 16

ILLEGAL = 0.3
"""The share of queries that are spoilt on purpose."""

CALM = 0.25
"""The share of the others that plain DuckDB is asked too."""

VIEWS = 20
"""One query of so many is followed by a private view of such rows."""

FILES = 40
"""One query of so many is followed by a file of statements over the same rows."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A query as it was printed, where it is judged, and whether plain DuckDB is asked too."""

    query: Query
    sql: str
    calm: bool
    world: World
    epsilon: float


@dataclass(slots=True)
class Run(Judging):
    """A run that is under way. Of queries in which nothing of ``among`` occurs, none is judged.

    What is planted would show at once where all ways to sum are compared, and not where it should: such a run
    is not ``fast``.
    """

    seed: int
    worlds: list[World]
    calm: World
    crossings: float = CROSSINGS
    bounded: float = BOUNDED
    among: frozenset[Occurrence] = frozenset()
    illegal_share: float = ILLEGAL
    calm_share: float = CALM
    views: int = VIEWS
    files: int = FILES
    coverage: Coverage = field(default_factory=Coverage)
    latest: Drawn | None = None
    queries: Queries = field(init=False)
    illegal: Iterator[str] = field(init=False)
    of_views: Queries = field(init=False)
    of_files: Files = field(init=False)
    drawn: int = 0

    def __post_init__(self) -> None:
        for world in (*self.worlds, self.calm):
            world.forget()
        self.of_views = Queries(random.Random(f"views {self.seed}"), SCHEMA, 0.0, 0.0)
        self.of_files = Files(random.Random(f"files {self.seed}"), SCHEMA)
        self.queries = Queries(random.Random(self.seed), SCHEMA, self.crossings, self.bounded)
        self.illegal = spoilt(self.queries)

    def until(self, done: Callable[[Run], bool]) -> None:
        while not done(self):
            self._one(self.queries, self.queries.rng)

    def triples_beyond(self, goal: int) -> None:
        self.until(lambda run: run.triples >= goal)

    def _one(self, queries: Queries, rng: random.Random) -> None:
        self.drawn += 1
        if self.views and self.drawn % self.views == 0:
            self._view()
        if self.files and self.drawn % self.files == 0:
            self.file()
        world, epsilon = rng.choice(self.worlds), rng.choice((0.05, 0.5, 1.0, 7.0, 50.0))
        queries.expressions.calm = False
        if rng.random() < self.illegal_share:
            self._judge(next(self.illegal), world, epsilon)
            return
        queries.expressions.calm = rng.random() < self.calm_share
        query = queries.draw()
        self.latest = Drawn(query, query.printed(rng), queries.expressions.calm, world, epsilon)
        self.judge(self.latest)

    def _view(self) -> None:
        rng = self.of_views.rng
        self._judge(self.of_views.draw().as_view(rng), rng.choice(self.worlds), rng.choice((0.5, 7.0)))

    def file(self) -> None:
        """Judge what is measured together; of a calm file, each of its statements."""
        rng = self.of_files.rng
        calm = rng.random() < self.calm_share
        file = self.of_files.draw(calm)
        world = self.calm if calm else rng.choice(self.worlds)
        total = rng.choice((0.5, 2.0, 20.0))
        text = world.said(file.text)
        try:
            plans = judges.together(text, world, total)
        except Exception as error:  # whatever it is, it is a violation
            self.note([f"a file: {type(error).__name__}: {error}"], text, world, total)
            return
        self.coverage.statements += len(file.statements)
        self.coverage.together += len(plans)
        if world.pair:
            self.note(judges.silent_together(plans, text, world, total), text, world, total)
        for place, (query, sql) in enumerate(file.statements):
            if calm and f"s{place}" in plans:
                self.note(meant(sql, query, world, plans[f"s{place}"]), text, world, total)
        for plan in {plan.digest: plan for plan in plans.values()}.values():
            self.triples += len(world.neighbours)
            self.judge_plan(plan, text, world, total)

    def judge(self, drawn: Drawn) -> None:
        accepted = self._judge(drawn.sql, drawn.world, drawn.epsilon)
        asked = drawn.calm and drawn.query.above != "outer"
        if accepted and asked and (not drawn.world.twins or self._is_answered(drawn.sql)):
            self.coverage.compared += 1
            found = meant(drawn.sql, drawn.query, self.calm)
            self.note(found, drawn.sql, self.calm, 1.0)

    def _is_answered(self, sql: str) -> bool:
        """Whether the calm world answers it too, whose units have one column."""
        try:
            plan_of(self.calm.session, sql, 1.0)
        except dpsql.Error:
            return False
        return True

    def smaller(self, violation: Violation) -> Violation:
        """The same violation by a smaller query."""
        [world] = (each for each in (*self.worlds, self.calm) if each.name == violation.world)
        return self.shrunk(violation, world)

    def _judge(self, sql: str, world: World, epsilon: float) -> bool:
        """Whether the query was accepted, and no judge minds it."""
        return self.judge_written(world.said(sql), world, epsilon)

    def wanted(self, plan: Plan, sql: str) -> bool:
        occurring = self.coverage.accept(plan, sql)
        self.queries.expressions.used.update(name for group, name in occurring if group == "function")
        return not self.among or bool(self.among & occurring)


@contextmanager
def started(seed: int, worlds: int = WORLDS) -> Iterator[Run]:
    """A run over fresh databases, which are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="drawn-") as name:
        folder = Path(name)
        build(folder, seed, worlds)
        with opened(folder, seed) as run:
            yield run


def build(folder: Path, seed: int, worlds: int = WORLDS) -> None:
    """Write the databases of a run."""
    rng = random.Random(seed)
    for number in range(worlds):
        build_world(folder / f"world{number}", rng, number, NEIGHBOURS)
    build_calm(folder)


@contextmanager
def opened(folder: Path, seed: int) -> Iterator[Run]:
    """A run over databases that are built; its ledgers are its own, and gone afterwards."""
    with ExitStack() as stack:
        own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ledgers-")))
        worlds = sorted(folder.glob("world*"))
        found = [open_world(each, own / f"{each.name}.ledger", stack) for each in worlds]
        yield Run(seed, found, open_calm(folder, own / "calm.ledger", stack))
