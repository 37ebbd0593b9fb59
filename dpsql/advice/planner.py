"""Plans of questions under settings that the policy does not have: another price, budget, accountant, clip.

    Setting("zcdp", Budget(5, 1e-6), 0.5)                          SELECT COUNT(*) FROM visits
    Setting("pure", Budget(1, 0), 0.1, (("visits", 20),))                -> Number(error=600, ...)

Claim   a number's error here is the one that ``dpsql explain`` shows under a policy with that setting.
Proof   the same functions make both: bind, rewrite, plan, and the facts of released columns.
Test    tests/cli/test_advise.py::test_every_figure_is_the_one_of_explain
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dpsql.accounting import Amount, Budget, accountant, budget_of, opened
from dpsql.bind.export import refuse_alert, refuse_randomized_response
from dpsql.bind.split import bind
from dpsql.engines import Engine
from dpsql.engines.public_rows import PublicRows
from dpsql.errors import Error, InterfaceError
from dpsql.explain.columns import column_facts
from dpsql.explain.doubts import error_over, reach_of, units_needed_of
from dpsql.ir.bound import Missing, MissingClip, NeededBounds
from dpsql.ir.plan import Plan
from dpsql.ir.source import Source
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms import mechanism
from dpsql.parse.parse import Query, parse
from dpsql.plan.plan import plan
from dpsql.plan.terms import Terms
from dpsql.policy.catalogue import Known, KnownTable
from dpsql.policy.check import declared_keys, known
from dpsql.policy.model import Policy
from dpsql.policy.names import fold
from dpsql.post.sealed import Sealed
from dpsql.rewrite import rewrite
from dpsql.session.checks import with_ranges

ROWS = 10
"""The rows per unit that stand in where nobody declared them."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A price, the budget that it is paid from, and where the clipping of tables starts."""

    accountant: str
    budget: Budget
    epsilon: float
    rows: tuple[tuple[str, int], ...] = ()

    @property
    def terms(self) -> Terms:
        rules = accountant(self.accountant)
        budget = self.budget if rules.has_delta else Budget(self.budget.epsilon, 0.0)
        if not rules.has_reserve:
            budget = replace(budget, responses=0.0)
        return Terms(opened(self.accountant, budget), budget, self.epsilon)


@dataclass(frozen=True, slots=True)
class Number:
    """One released number of a question, with the facts that ``explain`` shows.

    ``width`` compares its noise between accountants, unrounded; ``deviation`` is that of its noise, 0
    where it is not noised by addition.
    """

    name: str
    facts: dict[str, Any]
    width: float
    deviation: float

    def error(self, rows: int) -> float | None:
        """Return its expected error over so many rows; of a median and the like that of its rank, in rows."""
        if "expected_error_in_rows" in self.facts:
            return float(self.facts["expected_error_in_rows"])
        return error_over(self.facts, rows)

    @property
    def over_1000(self) -> float | None:
        """Return its expected error over 1,000 rows, of a number for which no other is known."""
        error = self.facts.get("expected_error_at_1000_rows")
        return None if error is None or self.error(1000) is not None else float(error)

    def most(self, units: int) -> float | None:
        """Return the most that it could be over a row of each of so many units; None if that is not known."""
        return reach_of(self.facts, units, units)


@dataclass(frozen=True, slots=True)
class Answerable:
    """What a question would release: its numbers, what it costs, and the units from which a group shows."""

    numbers: tuple[Number, ...]
    cost: Amount
    shows: float | None

    def fit(self, setting: Setting) -> int:
        """Return how many such questions fit the whole budget."""
        terms = setting.terms
        total, powers = terms.accountant.total(terms.budget), [self.cost]
        if not self.cost:
            return 0
        while (powers[-1] + powers[-1]).within(total):
            powers.append(powers[-1] + powers[-1])
        spent, count = terms.accountant.zero, 0
        for place, cost in reversed(list(enumerate(powers))):
            if (spent + cost).within(total):
                spent, count = spent + cost, count + 2**place
        return count


@dataclass(frozen=True, slots=True)
class Unanswerable:
    """Why a question has no figures under a setting."""

    error: Error

    @property
    def said(self) -> str:
        return self.error.title


class Planner:
    """Plans questions about one database under one policy, whatever its settings."""

    def __init__(self, policy: Policy, engine: Engine) -> None:
        self.policy, self._engine = policy, engine
        self.known = _known(policy, engine)
        self._sealed = Sealed(PublicRows(engine, self.known), policy.timezone, policy.limits)
        self._splits: dict[tuple[Query, tuple[tuple[str, int], ...]], Any] = {}

    def close(self) -> None:
        self._sealed.close()

    @property
    def setting(self) -> Setting:
        """Return the policy's own setting."""
        rule = self.policy.budget
        return Setting(rule.accountant, budget_of(rule), self.policy.query.epsilon)

    @property
    def many(self) -> tuple[KnownTable, ...]:
        """Return the tables in which one unit may have several rows."""
        return tuple(table for table in self.known.tables if not table.public and table.at_most != 1)

    def parsed(self, sql: str, name: str = "query") -> Query:
        """Parse a question that sets no price of its own."""
        self._sealed.begin()
        now = datetime.datetime.now(datetime.UTC)
        query = parse(Source(sql, name), (), lambda: now)
        refuse_randomized_response(query)
        refuse_alert(query)
        if query.goal is not None or query.epsilon is not None:
            raise InterfaceError(
                "a question here sets no epsilon and no accuracy: it is tried at several prices",
                help="leave epsilon and within out of its OPTIONS; dpsql explain shows it with them",
            )
        return query

    def answerable(self, query: Query, setting: Setting) -> Answerable | Unanswerable:
        """Return what a question would release under a setting."""
        self._sealed.begin()
        known = self.under(setting)
        try:
            split = self._splits.get((query, setting.rows))
            if split is None:
                split = rewrite(bind(query, known, self._sealed.public, self._sealed.check), known)
                self._splits[query, setting.rows] = split
            made = plan(split, known, setting.terms, self._engine.combinations)
        except Error as error:
            return Unanswerable(error)
        if isinstance(made, NeededBounds):
            return Unanswerable(_open(query) if any(map(_is_clip, made.bounds)) else made.refusal)
        thresholds = [needed for each in made.measures if (needed := units_needed_of(each)) is not None]
        cost = setting.terms.accountant.charge(made.events)
        return Answerable(tuple(_numbers(made, known)), cost, max(thresholds, default=None))

    def under(self, setting: Setting) -> Known:
        """Return the catalogue under a setting, with ``ROWS`` where nobody says the rows per unit."""
        said = {fold(name): rows for name, rows in setting.rows}
        tables = tuple(
            replace(table, rows=said.get(fold(table.name), table.rows or ROWS))
            if table in self.many
            else table
            for table in self.known.tables
        )
        return replace(self.known, tables=tables)


def _numbers(made: Plan, known: Known) -> Iterator[Number]:
    for planned in made.measures:
        for finish in planned.measure.finishes:
            facts = column_facts(finish, planned, known)
            noise, rules = planned.noise, mechanism(planned.noise.mechanism)
            step = facts.get("scale", 0.0) / noise.scale
            width = facts.get("expected_error_in_rows", rules.half_width(noise.scale) * step)
            name = facts["aggregate"].upper().replace("COUNT_UNITS", "COUNT")
            yield Number(name, facts, float(width), float(rules.deviation(noise.scale) * step))


def _is_clip(missing: Missing) -> bool:
    return isinstance(missing, MissingClip)


def _open(query: Query) -> Error:
    """Return the refusal of a question whose clip is chosen when it is asked."""
    return InterfaceError(
        f"{query.source.name} asks for a clip that fits the data: there are no figures before it is chosen",
        help="say a number, max_rows_contributed = 20",
    )


def _known(policy: Policy, engine: Engine) -> Known:
    """Return the tables under the policy, taking its keys at its word: no private row is read."""
    catalogue = engine.describe()
    public = {fold(rule.name) for rule in policy.tables if rule.public}
    sizes = {table.name: engine.size(table.name) for table in catalogue.tables if fold(table.name) in public}
    return with_ranges(known(policy, catalogue, sizes, set(declared_keys(policy, catalogue))), engine)
