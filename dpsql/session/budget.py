"""Prices, debits and remaining budget of one analyst (or the owner, ``analyst`` None).

terms -> quoted or bill (the cost now) -> afford -> pay -> store -> remaining
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING

from dpsql.accounting import Amount, Budget, accountant
from dpsql.accounting.entries import Debit, Granted, Overdrawn, Stored
from dpsql.errors import Error, refuse
from dpsql.plan.terms import Terms
from dpsql.plan.written_form import written
from dpsql.render.digits import unlike

if TYPE_CHECKING:
    from pathlib import Path

    # what binds, plans and releases loads with the first query
    from dpsql.accounting.ledger import Ledger
    from dpsql.engines import Engine
    from dpsql.ir.event import Event
    from dpsql.ir.export import ExportPlan
    from dpsql.ir.options import Option
    from dpsql.ir.plan import BoundSearchPlan, Plan
    from dpsql.ir.source import Span
    from dpsql.policy.model import AnalystRule, Policy
    from dpsql.session.data_versions import DataVersions


class AnalystBudget:
    """Prices queries under the owner's rules and debits them in the ledger."""

    ledger: Ledger
    engine: Engine
    versions: DataVersions
    strategies: Path

    def __init__(self, policy: Policy, analyst: str | None) -> None:
        self.policy, self.analyst = policy, analyst
        rule = policy.budget
        self.budget = Budget(rule.epsilon, rule.delta)
        self.usual = policy.query.epsilon  # default price of a query
        self.accountant = accountant(rule.accountant)
        if analyst is not None and all(rule.name != analyst for rule in policy.analysts):
            from dpsql.policy.names import perhaps  # only a refusal compares names

            hint = perhaps(analyst, (rule.name for rule in policy.analysts))
            raise refuse(
                "D504",
                f"the policy {policy.name} knows no analyst {analyst}",
                help=hint or f"the owner adds [analysts.{analyst}] with an epsilon of their own",
            )

    def granted(self) -> Granted:
        analysts = tuple(
            (rule.name, rule.epsilon, self.accountant.total(Budget(rule.epsilon, self.budget.delta)))
            for rule in self.policy.analysts
        )
        return Granted(self.budget.epsilon, self.accountant.total(self.budget), analysts)

    def terms(self, epsilon: float | None) -> Terms:
        """Return the terms of one query under the owner's rules, or raise D502, D503."""
        price = self.usual if epsilon is None else epsilon
        return self._terms(price, epsilon is not None, None)

    def terms_with(self, terms: Terms, price: Option) -> Terms:
        """Return the terms with the price of the query's OPTIONS; a price of the call must be equal."""
        if terms.given and price.value != terms.epsilon:
            raise refuse(
                "D503",
                f"the call says epsilon {terms.epsilon!r}, and the query another",
                price.span,
                help="set epsilon in one place only",
            )
        assert isinstance(price.value, int | float)
        return self._terms(price.value, terms.given, price.span)

    def _terms(self, price: float, given: bool, span: Span | None) -> Terms:
        rule = self.policy.query
        if type(price) not in (int, float) or not 0 < price <= sys.float_info.max:
            raise refuse(
                "D503",
                "a price must be a finite positive number",
                span,
                label=f"this one is a {type(price).__name__}"
                if type(price) not in (int, float)
                else "this one is not",
                help="give an epsilon such as 0.1",
            )
        if price > rule.max_epsilon:
            asked, ceiling = unlike(price, rule.max_epsilon)
            raise refuse(
                "D502",
                f"the price {asked} is above the ceiling of {ceiling} for one query",
                span,
                label=f"max_epsilon in {self.policy.name}",
                help=f"ask with an epsilon of at most {ceiling}",
            )
        if price < self.least:
            raise refuse(
                "D503",
                f"the price {price:g} is below the minimum of {self.least:g} for one query",
                span,
                label="the ledger keeps every query and its answer forever",
                help=f"ask with an epsilon of at least {self.least:g}; repeating an earlier query is free",
            )
        return Terms(self.accountant, self.budget, float(price), given, strategies=self.strategies)

    def price(self, planned: Plan | ExportPlan) -> Amount:
        """Return what the plan's events cost in the accountant's currency."""
        return self.accountant.charge(planned.events)

    def afford(self, planned: Plan) -> None:
        """Raise D501 unless the plan, and its bound search, fit the accounts now."""
        price, first = self.price(planned), planned.first
        if first is not None and self.stored(first.plan) is None:
            price += self.price(first.plan)
        try:
            self.ledger.check(self._payer, price)
        except Overdrawn as error:
            raise self._exhausted(planned.price, planned.events, error) from None

    def quoted(self, planned: Plan) -> tuple[float, float, bool]:
        """Return what a plan would cost now, what would remain, and whether it was paid for before."""
        ((cost, price),) = self.bill([planned])
        return cost, self.remaining(price), cost == 0.0

    def bill(self, plans: Sequence[Plan]) -> list[tuple[float, Amount]]:
        """Return what each plan would cost now, in this order; equal plans are paid once."""
        billed, paid = [], set[tuple[str, str]]()
        for planned in plans:
            cost, price = 0.0, self.accountant.zero
            first, asker = ((), "") if planned.first is None else ((planned.first.plan,), planned.first.asker)
            # with its own bound search, a plan has a smaller share of its price: the asker tells them apart
            for plan in (planned, *first):
                if (plan.digest, asker) in paid or self.stored(plan) is not None:
                    continue
                paid.add((plan.digest, asker))
                cost, price = cost + plan.epsilon, price + self._most(plan)
            billed.append((cost, price))
        return billed

    def stored(self, planned: Plan) -> Stored | None:
        """Return the receipt if this analyst has paid for the plan, with the answer if there is one."""
        return self.ledger.stored(planned.digest, self.versions.of(planned.tables), self._payer)

    def _most(self, planned: Plan) -> Amount:
        """Return what a plan costs at most: in steps, all of them."""
        if planned.steps:
            return self.accountant.most(planned.epsilon, self.budget)
        return self.price(planned)

    def holds(self, price: Amount) -> bool:
        """Whether this price fits the database's account and the analyst's now."""
        try:
            self.ledger.check(self._payer, price)
        except Overdrawn:
            return False
        return True

    @property
    def keeps_digests(self) -> bool:
        """Whether the ledger keeps digests of what analysts write."""
        return self.policy.ledger.texts == "digest"

    @property
    def _payer(self) -> str:
        return self.analyst or ""

    def answered(self, planned: Plan) -> Stored | None:
        """Return what ``pay`` would return without a debit, if there is an answer to show."""
        self.engine.unchanged()
        return self.ledger.answered(planned.digest, self.versions.of(planned.tables), self._payer)

    def pay(self, planned: Plan | ExportPlan, finds: BoundSearchPlan | None = None) -> Stored:
        """Debit a plan durably, or return the receipt of an equal plan that was paid before."""
        debit = Debit(
            self._payer,
            planned.source.text,
            planned.digest,
            self.versions.of(planned.tables),
            written(planned.events),
            planned.epsilon,
            self.price(planned),
            tuple(sorted(planned.tables)),
            *(((), 0.0, "") if finds is None else (finds.names, finds.strength, finds.asker)),
            ", ".join(map(_written, planned.source.parameters)),
            next((round(1e6 * rule.megabytes) for rule in self._rules), None),
            self.keeps_digests,
        )
        self.engine.unchanged()
        try:
            return self.ledger.debit_or_join(debit)
        except Overdrawn as error:
            raise self._exhausted(planned.epsilon, planned.events, error) from None

    def _exhausted(self, price: float, events: tuple[Event, ...], error: Overdrawn) -> Error:
        from dpsql.session.budget_refusal import Means, too_dear

        means = Means(self.accountant, self.budget, self._accounts(), self.holds)
        return too_dear(price, events, means, error)

    def _accounts(self) -> list[tuple[Amount, Amount]]:
        """Return (spent, granted) of the database's account and of the analyst's."""
        granted = self.granted()
        totals = [(None, granted.total), *((name, total) for name, _, total in granted.analysts)]
        return [(self.ledger.spent(name), total) for name, total in totals if name in (None, self.analyst)]

    def store(self, receipt: Stored, released: bytes) -> bytes:
        """Store released tables as the answer; return those that were stored first."""
        return self.ledger.store(receipt.debit_id, released)

    def part(self, receipt: Stored, place: int) -> bytes | None:
        """Return a released table that was stored before its answer was complete."""
        return self.ledger.part(receipt.debit_id, place)

    def keep(self, receipt: Stored, place: int, released: bytes) -> bytes:
        """Store one released table; return the one that was stored first at this place."""
        return self.ledger.keep(receipt.debit_id, place, released)

    def _left(self, epsilon: float, spent: Amount) -> float:
        return max(0.0, epsilon - self._in_epsilon(spent, epsilon))

    def _in_epsilon(self, spent: Amount, granted: float) -> float:
        """Convert an amount to an epsilon, which may exceed what is granted now, and that may be nothing."""
        return self.accountant.epsilon(spent, Budget(granted or self.budget.epsilon, self.budget.delta))

    def remaining(self, after: Amount | None = None) -> float:
        """Return what is left after this price, of the database or the analyst, whichever has less."""
        price = self.accountant.zero if after is None else after
        return self._smaller(lambda spent: spent + price, lambda spent: spent + price)

    def remained(self, debits: Amount, shares: Amount) -> float:
        """Return what was left before these payments. Shares of others' debits charge the analyst only."""
        return self._smaller(lambda spent: spent - debits, lambda spent: spent - debits - shares)

    def _smaller(self, change: Callable[[Amount], Amount], change_own: Callable[[Amount], Amount]) -> float:
        """Return what is left where what was spent is changed: by all together, and by the analyst."""
        names = [None, *(rule.name for rule in self._rules)]
        (spent, granted), *own = self.ledger.balances(names)
        left = self._left(granted, change(spent))
        return min([left, *(self._left(granted, change_own(spent)) for spent, granted in own)])

    def fits(self) -> float:
        """Return the largest price of one query that still fits, in six digits.

        Under zcdp it exceeds ``remaining``: queries together cost less than the sum of their prices.
        """
        most = Decimal(min(self.ceiling, self.accountant.largest(self._accounts(), self.budget)))
        return float(Context(prec=6, rounding=ROUND_FLOOR).plus(round(most, 15)))

    @property
    def _rules(self) -> list[AnalystRule]:
        """Return the policy's rule for this analyst; none for the owner."""
        return [rule for rule in self.policy.analysts if rule.name == self.analyst]

    @property
    def ceiling(self) -> float:
        """Return the highest price of one query."""
        return self.policy.query.max_epsilon

    @property
    def least(self) -> float:
        """Return the lowest price of one query."""
        return self.policy.least_price

    def accounts(self) -> list[tuple[str, float, float]]:
        """Return (name, granted, spent) of the database ('') and every analyst, as epsilons.

        The grants are those of the ledger: an older connection may have an older policy.
        """
        names = [None, *(rule.name for rule in self.policy.analysts)]
        rows = zip(names, self.ledger.balances(names), strict=True)
        return [(name or "", granted, self._in_epsilon(spent, granted)) for name, (spent, granted) in rows]


def _written(value: object) -> str:
    """Format a parameter as SQL, for display."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case str():
            return "'" + value.replace("'", "''") + "'"
    return str(value)
