"""The context of binding one query: names, and the measures and public tables met so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace

from sqlglot import exp

from dpsql.bind.scope.public_facts import Describe, Evaluate
from dpsql.bind.scope.scope import Fresh
from dpsql.bind.scope.sources import Open, Private
from dpsql.errors import Error, refuse
from dpsql.facts.missing_bounds import needed_bounds, with_stand_ins
from dpsql.facts.ownership import FAN_OUT
from dpsql.ir.bound import NeededBounds
from dpsql.ir.formula import Formula
from dpsql.ir.measure import Measure, Stage
from dpsql.ir.options import Goal, Option, Options
from dpsql.ir.posterior import Posterior
from dpsql.ir.relation import Relation
from dpsql.ir.scalar import Scalar
from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.spans import span_of
from dpsql.policy.catalogue import Known, KnownView

MOST_SCANS = 100
MOST_NODES = 20_000


@dataclass(slots=True)
class Cte:
    """A WITH entry or a view of the policy: bound anew at each use if private, once if released."""

    node: exp.Expr
    names: tuple[str, ...]
    env: Mapping[str, Cte]
    opened: Private | Open | None = None
    view: KnownView | None = None


@dataclass(frozen=True, slots=True)
class AskedFit:
    """A fit as it was asked for: the call, its options, and what names mean in it; ``table`` has its rows."""

    call: exp.Expr
    options: tuple[Options | None, ...]
    env: Mapping[str, Cte]
    table: str


@dataclass(slots=True)
class Context:
    """The state of binding one query; ``bound`` binds any query, so that a clause can bind a subquery.

    ``tables`` are the public tables met, in order; ``recursive`` the names of recursive CTEs; ``stages`` the
    releases that private rows are joined with later (their measures are in ``measures``). ``needed`` are the
    missing bounds: once there is one, binding goes on only to find more errors. ``intervals`` is true where
    the query asks for the ends of an interval; ``goal`` is the accuracy that the query asks for.
    ``max_unnest`` is how many items of a list count, ``unnests`` whether any list is taken apart. Each of the
    ``fits`` is released once. Public SQL that is joined with private rows has at most ``most_listed`` rows,
    ``long_lists`` is how many of them were many.
    """

    text: str
    known: Known
    fresh: Fresh
    evaluate: Evaluate
    describe: Describe
    bound: Callable[[Context, exp.Expr, Mapping[str, Cte]], Private | Open]
    outermost: exp.Expr
    measures: list[Measure] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    needed: list[NeededBounds] = field(default_factory=list)
    tables: dict[str, None] = field(default_factory=dict)
    recursive: set[str] = field(default_factory=set)
    scans: int = 0
    intervals: bool = False
    goal: Goal | None = None
    max_unnest: Option | None = None
    unnests: bool = False
    fits: list[AskedFit] = field(default_factory=list)
    most_listed: int = FAN_OUT
    long_lists: int = 0

    @contextmanager
    def listing(self, most: int) -> Iterator[None]:
        """Allow lists of so many rows where each is a few whole numbers."""
        before, self.most_listed = self.most_listed, most
        try:
            yield
        finally:
            self.most_listed = before

    def query(self, node: exp.Expr, env: Mapping[str, Cte]) -> Private | Open:
        return self.bound(self, node, env)

    def need(self, relation: Relation, scalars: Iterable[Scalar], refusal: Error) -> Relation:
        """Note the missing bounds of these scalars, and return the relation with stand-ins for them.

        Raise the refusal where no bound would help.
        """
        self.needed.append(needed_bounds(relation, scalars, self.known, refusal))
        return with_stand_ins(relation, self.needed[-1].bounds)

    def add_posterior(
        self, table: str, function: str, numbers: tuple[Formula, Formula], constants: tuple[float, ...]
    ) -> Posterior:
        """Add a posterior to the columns of a released table, by its name."""
        at = next(i for i, measure in enumerate(self.measures) if measure.name == table)
        posterior = Posterior(self.fresh("posterior"), function, numbers, constants)
        held = (*self.measures[at].posteriors, posterior)
        self.measures[at] = replace(self.measures[at], posteriors=held)
        return posterior

    def sharing(self, table: str, columns: tuple[str, ...]) -> int | None:
        """Count the rows of a public table that share one value of these columns, the most of them."""
        names = ", ".join(_quoted(name) for name in columns)
        filled = " AND ".join(f"{_quoted(name)} IS NOT NULL" for name in columns)
        counts = f"SELECT COUNT(*) AS n FROM {_quoted(table)} WHERE {filled} GROUP BY {names}"
        try:
            _, rows = self.evaluate(f"SELECT MAX(n) FROM ({counts})", (table,), 1)
        except Error as error:
            if error.code.startswith(
                "D6"
            ):  # interrupted, or the data changed: its size would not hold either
                raise
            return None
        return int(rows[0][0] or 0)

    def count_scan(self, span: Span | None) -> None:
        """Count a table that is read; refuse too many (CTEs that read CTEs twice grow exponentially)."""
        self.scans += 1
        if self.scans > MOST_SCANS:
            raise refuse(
                "D103",
                f"the query reads more than {MOST_SCANS} tables with its CTEs expanded",
                span,
                help="use each CTE once or twice, and split the query",
            )

    def span(self, node: exp.Expr | None) -> Span | None:
        return None if node is None else span_of(node, self.text)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
