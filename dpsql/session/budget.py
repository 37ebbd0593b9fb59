"""What one analyst (or the owner, ``analyst`` None) pays: prices, debits, what is left.

terms -> quoted or bill (what it would cost) -> afford -> pay -> store -> remaining
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

if TYPE_CHECKING:  # what binds, plans and releases loads with the first query
    from dpsql.accounting.ledger import Ledger
    from dpsql.engines import Engine
    from dpsql.ir.event import Event
    from dpsql.ir.export import ExportPlan
    from dpsql.ir.options import Option
    from dpsql.ir.plan import BoundSearchPlan, Plan
    from dpsql.ir.source import Span
    from dpsql.policy.model import AnalystRule, Policy


class AnalystBudget:
    """What a query costs under the owner's rules, and its way into the ledger."""

    ledger: Ledger
    engine: Engine
    version: str
    """Of the data and of what the policy says of it: an answer belongs to one."""

    def __init__(self, policy: Policy, analyst: str | None) -> None:
        self.policy, self.analyst = policy, analyst
        rule = policy.budget
        self.budget = Budget(rule.epsilon, rule.delta)
        self.usual = policy.query.epsilon  # what a query costs if nobody says
        self.accountant = accountant(rule.accountant)
        if analyst is not None and all(each.name != analyst for each in policy.analysts):
            from dpsql.policy.names import perhaps  # only a refusal compares names

            meant = perhaps(analyst, (each.name for each in policy.analysts))
            raise refuse(
                "D504",
                f"the policy {policy.name} knows no analyst {analyst}",
                help=meant or f"the owner adds [analysts.{analyst}] with an epsilon of their own",
            )

    def granted(self) -> Granted:
        analysts = tuple(
            (each.name, each.epsilon, self.accountant.total(Budget(each.epsilon, self.budget.delta)))
            for each in self.policy.analysts
        )
        return Granted(self.budget.epsilon, self.accountant.total(self.budget), analysts)

    def terms(self, epsilon: float | None) -> Terms:
        """The price of one query under the owner's rules, or D502, D503."""
        price = self.usual if epsilon is None else epsilon
        return self._terms(price, epsilon is not None, None)

    def said(self, terms: Terms, price: Option) -> Terms:
        """The price that a query says in its OPTIONS; a call may say it too, but not another."""
        if terms.given and price.value != terms.epsilon:
            raise refuse(
                "D503",
                f"the call says epsilon {terms.epsilon!r}, and the query another",
                price.span,
                help="say it in one place",
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
            said, ceiling = unlike(price, rule.max_epsilon)
            raise refuse(
                "D502",
                f"the price {said} is above the ceiling of {ceiling} for one query",
                span,
                label=f"max_epsilon in {self.policy.name}",
                help=f"ask with an epsilon of at most {ceiling}",
            )
        if price < self.least:
            raise refuse(
                "D503",
                f"the price {price:g} is below the least of {self.least:g} for one query",
                span,
                label="every query and its answer are kept in the ledger for good",
                help=f"ask with an epsilon of at least {self.least:g}; what was answered before is free",
            )
        return Terms(self.accountant, self.budget, float(price), given)

    def price(self, planned: Plan | ExportPlan) -> Amount:
        """What the plan's events cost in the accountant's currency."""
        return self.accountant.charge(planned.events)

    def afford(self, planned: Plan) -> None:
        """D501 unless the accounts hold now what the plan and the one before it cost."""
        price, first = self.price(planned), planned.first
        if first is not None and self.ledger.stored(first.plan.digest, self.version, self._payer) is None:
            price += self.price(first.plan)
        try:
            self.ledger.check(self._payer, price)
        except Overdrawn as error:
            raise self._exhausted(planned.price, planned.events, error) from None

    def quoted(self, planned: Plan) -> tuple[float, float, bool]:
        """What a plan would cost now, what would remain then, and whether it was paid for before."""
        ((cost, price),) = self.bill([planned])
        return cost, self.remaining(price), cost == 0.0

    def bill(self, plans: Sequence[Plan]) -> list[tuple[float, Amount]]:
        """What each plan would cost now, asked one after the other: measured twice, it is paid once."""
        billed, paid = [], set[tuple[str, str]]()
        for planned in plans:
            cost, price = 0.0, self.accountant.zero
            first, asker = ((), "") if planned.first is None else ((planned.first.plan,), planned.first.asker)
            for each in (planned, *first):  # who finds the bounds measures with a smaller share than others
                if (each.digest, asker) in paid or self.stored(each) is not None:
                    continue
                paid.add((each.digest, asker))
                cost, price = cost + each.epsilon, price + self._most(each)
            billed.append((cost, price))
        return billed

    def stored(self, planned: Plan) -> Stored | None:
        """What was paid for before, by whoever asks; with the answer, if there is one."""
        return self.ledger.stored(planned.digest, self.version, self._payer)

    def _most(self, planned: Plan) -> Amount:
        """The price of a plan; of one in steps, that of all of them."""
        if planned.steps:
            return self.accountant.most(planned.epsilon, self.budget)
        return self.price(planned)

    def holds(self, price: Amount) -> bool:
        """Whether the database's account and the analyst's hold this price now."""
        try:
            self.ledger.check(self._payer, price)
        except Overdrawn:
            return False
        return True

    @property
    def _payer(self) -> str:
        return self.analyst or ""

    def pay(self, planned: Plan | ExportPlan, finds: BoundSearchPlan | None = None) -> Stored:
        """A durable debit, or the one that was made for the very same measures before."""
        debit = Debit(
            self._payer,
            planned.source.text,
            planned.digest,
            self.version,
            written(planned.events),
            planned.epsilon,
            self.price(planned),
            *(((), 0.0, "") if finds is None else (finds.names, finds.strength, finds.asker)),
            ", ".join(map(_written, planned.source.parameters)),
            next((round(1e6 * each.megabytes) for each in self._own), None),
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
        """What was spent, and what is granted: the database's account, and the analyst's."""
        granted = self.granted()
        totals = [(None, granted.total), *((name, total) for name, _, total in granted.analysts)]
        return [(self.ledger.spent(name), total) for name, total in totals if name in (None, self.analyst)]

    def store(self, receipt: Stored, released: bytes) -> bytes:
        """Keep the released tables; returns those that were kept first."""
        return self.ledger.store(receipt.debit_id, released)

    def part(self, receipt: Stored, place: int) -> bytes | None:
        """A released table that was kept before its answer was complete."""
        return self.ledger.part(receipt.debit_id, place)

    def keep(self, receipt: Stored, place: int, released: bytes) -> bytes:
        """Keep one; returns what was kept there first."""
        return self.ledger.keep(receipt.debit_id, place, released)

    def _left(self, epsilon: float, spent: Amount) -> float:
        return max(0.0, epsilon - self._in_epsilon(spent, epsilon))

    def _in_epsilon(self, spent: Amount, granted: float) -> float:
        """As an epsilon, which may be more than what is granted now."""
        return self.accountant.epsilon(spent, Budget(granted, self.budget.delta))

    def remaining(self, after: Amount | None = None) -> float:
        """The smaller of what the database and the analyst have left after this, as an epsilon."""
        more = self.accountant.zero if after is None else after
        return self._smaller(self.ledger.spent() + more, lambda own: own + more)

    def remained(self, debits: Amount, shares: Amount) -> float:
        """The same before these were paid. Shares of what others had paid counted for the analyst only."""
        return self._smaller(self.ledger.spent() - debits, lambda own: own - debits - shares)

    def _smaller(self, spent: Amount, own: Callable[[Amount], Amount]) -> float:
        left = self._left(self.ledger.granted(), spent)
        for each in self._own:
            left = min(left, self._left(self.ledger.granted(each.name), own(self.ledger.spent(each.name))))
        return left

    def fits(self) -> float:
        """The largest price of one query that still fits, in six digits.

        Under zcdp it is more than what remains: queries together cost less than their prices.
        """
        most = Decimal(min(self.ceiling, self.accountant.largest(self._accounts(), self.budget)))
        return float(Context(prec=6, rounding=ROUND_FLOOR).plus(round(most, 15)))

    @property
    def _own(self) -> list[AnalystRule]:
        """What the policy says of whoever asks; nothing of the owner."""
        return [each for each in self.policy.analysts if each.name == self.analyst]

    @property
    def ceiling(self) -> float:
        """The most that one query may cost."""
        return self.policy.query.max_epsilon

    @property
    def least(self) -> float:
        """The least that one query may cost."""
        return self.policy.least_price

    def accounts(self) -> list[tuple[str, float, float]]:
        """(whose, granted, spent) for the database and every analyst, as epsilons.

        What is granted is what the last policy said: an older connection may hold another.
        """
        rows = [
            (name or "", self.ledger.granted(name), self.ledger.spent(name))
            for name in (None, *(each.name for each in self.policy.analysts))
        ]
        return [(name, granted, self._in_epsilon(spent, granted)) for name, granted, spent in rows]


def _written(value: object) -> str:
    """A parameter as SQL has it, for people to read."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case str():
            return "'" + value.replace("'", "''") + "'"
    return str(value)
