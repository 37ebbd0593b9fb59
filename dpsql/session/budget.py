"""Prices, debits and remaining budget of one analyst (or the owner, ``analyst`` None).

terms -> quoted or bill (the cost now) -> afford -> pay -> store -> remaining
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING, TypeAlias

from dpsql.accounting import Accountant, Amount, Budget, budget_of, opened
from dpsql.accounting.blocks import EVERYWHERE, BlocksRead, BlocksWanted
from dpsql.accounting.charged import charged
from dpsql.accounting.dues import Due, Prices, by_analyst, of_account, priced
from dpsql.accounting.entries import (
    Content,
    Debit,
    Entry,
    Granted,
    Overdrawn,
    SharedGrant,
    Standing,
    Stored,
    TimeCap,
)
from dpsql.accounting.stored_events import stored
from dpsql.errors import Error, refuse
from dpsql.plan.terms import Terms
from dpsql.render.digits import unlike

if TYPE_CHECKING:
    from pathlib import Path

    # what binds, plans and releases loads with the first query
    from dpsql.accounting.account import Account
    from dpsql.accounting.ledger import Ledger
    from dpsql.engines import Engine
    from dpsql.ir.export import ExportPlan
    from dpsql.ir.options import Option
    from dpsql.ir.plan import AlertQuestion, BoundSearchPlan, Plan
    from dpsql.ir.source import Span
    from dpsql.ir.unit_blocks import UnitBlocks
    from dpsql.ir.votes import VotePlan
    from dpsql.policy.model import AnalystRule, Policy
    from dpsql.session.data_versions import DataVersions

    Payable: TypeAlias = Plan | ExportPlan | VotePlan

ANY_VERSION = "any"
"""The version of what is bought for all versions of the data: an alert."""

PLANS = 1_000
"""Plans of which the blocks that they read are remembered."""


class AnalystBudget:
    """Prices queries under the owner's rules and debits them in the ledger."""

    ledger: Ledger
    engine: Engine
    versions: DataVersions
    strategies: Path

    def __init__(self, policy: Policy, analyst: str | None, study: str | None = None) -> None:
        self.policy, self.analyst = policy, analyst
        self.choose_study(study)
        rule = policy.budget
        self.budget = budget_of(rule)
        self.usual = policy.query.epsilon  # default price of a query
        self.blocks: UnitBlocks | None = None
        self.checked: int | None = None  # the entry since which units are checked, if they are
        self._read = dict[str, BlocksRead]()  # blocks of units that plans read, by their digests
        self.accountant = opened(rule.accountant, self.budget)  # until its ledger says more
        if analyst is not None and all(rule.name != analyst for rule in policy.analysts):
            from dpsql.policy.names import perhaps  # only a refusal compares names

            hint = perhaps(analyst, (rule.name for rule in policy.analysts))
            raise refuse(
                "D504",
                f"the policy {policy.name} knows no analyst {analyst}",
                help=hint or f"the owner adds [analysts.{analyst}] with an epsilon of their own",
            )

    def choose_study(self, study: str | None) -> None:
        """Choose the study that is paid for from now on; None is no study."""
        known = [rule.name for rule in self.policy.studies]
        if study and study not in known:
            from dpsql.policy.names import perhaps  # only a refusal compares names

            raise refuse(
                "D504",
                f"the policy {self.policy.name} knows no study {study}",
                help=perhaps(study, known) or f"the owner adds [studies.{study}] with an epsilon",
            )
        self.study = study or ""

    def granted(self, rules: Accountant | None = None) -> Granted:
        """Return the policy's grants in the currency of a ledger's accountant."""
        rules = self.accountant if rules is None else rules
        analysts = tuple(
            (rule.name, rule.epsilon, rules.total(Budget(rule.epsilon, self.budget.delta)))
            for rule in self.policy.analysts
        )
        shared, blocks = tuple(self._shared(rules)), self.blocks
        wanted = None if blocks is None else BlocksWanted(blocks.column, blocks.written, self.checks_units)
        return Granted(self.budget.epsilon, rules.total(self.budget), analysts, shared, wanted)

    def _shared(self, rules: Accountant) -> Iterator[SharedGrant]:
        """Yield the caps of the policy's groups and studies."""
        if not (self.policy.groups or self.policy.studies):
            return
        from dpsql.accounting.shared_accounts import group_account, study_account

        def total(epsilon: float | None) -> Amount:
            return rules.zero if epsilon is None else rules.total(Budget(epsilon, self.budget.delta))

        for group in self.policy.groups:
            if group.epsilon is not None:
                members = self.policy.members_of(group)
                yield SharedGrant(group_account(group.name), group.epsilon, total(group.epsilon), members)
        for study in self.policy.studies:
            yield SharedGrant(study_account(study.name), study.epsilon, total(study.epsilon))

    @property
    def checks_units(self) -> bool:
        """Whether the policy lets no unit move from one block to another."""
        rule = self.policy.unit.blocks
        return rule is not None and rule.check

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

    def price(self, planned: Payable) -> Amount:
        """Return what the plan's events cost in the accountant's currency."""
        return charged(self.accountant, planned.events)

    def read_by(self, planned: Payable) -> BlocksRead:
        """Return the blocks of units that a plan can read, and how many values this policy lists."""
        blocks = self.blocks
        if blocks is None:
            return EVERYWHERE
        if planned.digest not in self._read:  # it names all relations that are measured
            from dpsql.plan.blocks import blocks_read

            read = blocks_read(planned, blocks)
            whole = len(read) == len(blocks.numbers)
            if len(self._read) > PLANS:
                self._read.clear()
            self._read[planned.digest] = None if whole else tuple(sorted(read)), len(blocks.values)
        return self._read[planned.digest]

    def asked_of(self, question: AlertQuestion) -> BlocksRead:
        """Return the blocks of units that a question of an alert can read."""
        if self.blocks is None:
            return EVERYWHERE
        from dpsql.plan.blocks import blocks_asked

        return tuple(sorted(blocks_asked(question, self.blocks))), len(self.blocks.values)

    def afford(self, planned: Plan) -> None:
        """Raise D501 unless the plan, and its bound search, fit the accounts now."""
        plans = [planned] if planned.first is None else [planned, planned.first.plan]
        dues = [due for plan in plans if (due := self.due(plan, self.price(plan))) is not None]
        try:
            self.ledger.check(self.payer, priced(*dues), self._caps(), self.study)
        except Overdrawn as error:
            raise self._exhausted(planned.price, planned, error) from None

    def quoted(self, planned: Plan) -> tuple[float, float, bool]:
        """Return what a plan would cost now, what would remain, and whether it was paid for before."""
        ((cost, prices),) = self.bill([planned])
        return cost, self.remaining(prices, self.read_by(planned)), cost == 0.0

    def bill(self, plans: Sequence[Plan]) -> list[tuple[float, Prices]]:
        """Return what each plan would cost now, in this order; equal plans are paid once."""
        billed, paid = [], set[tuple[str, str]]()
        for planned in plans:
            cost, prices = 0.0, list[tuple[Due, Amount]]()
            first, asker = ((), "") if planned.first is None else ((planned.first.plan,), planned.first.asker)
            # with its own bound search, a plan has a smaller share of its price: the asker tells them apart
            for plan in (planned, *first):
                due = self.due(plan, self._most(plan))
                if (plan.digest, asker) in paid or due is None:
                    continue
                paid.add((plan.digest, asker))
                cost += plan.epsilon
                prices.append(due)
            billed.append((cost, priced(*prices)))
        return billed

    def due(self, planned: Plan, price: Amount) -> tuple[Due, Amount] | None:
        """Return what a plan would cost this analyst now, and where; None if nothing."""
        payer = self.payer, self.study
        return self.ledger.due(planned.digest, self._version(planned), payer, price, self.read_by(planned))

    def stored(self, planned: Plan) -> Stored | None:
        """Return the receipt if this analyst has paid for the plan, with the answer if there is one."""
        return self.ledger.stored(planned.digest, self._version(planned), self.payer, self.study)

    def _most(self, planned: Plan) -> Amount:
        """Return what a plan costs at most: in steps, all of them."""
        if planned.steps:
            return self.accountant.most(planned.epsilon, self.budget)
        return self.price(planned)

    def holds(self, prices: Prices) -> bool:
        """Whether these prices together fit the database's account and the analyst's now."""
        try:
            self.ledger.check(self.payer, prices, self._caps(), self.study)
        except Overdrawn:
            return False
        return True

    @property
    def keeps_digests(self) -> bool:
        """Whether the ledger keeps digests of what analysts write."""
        return self.policy.ledger.texts == "digest"

    @property
    def payer(self) -> str:
        """Return the name in the ledger: '' is the owner."""
        return self.analyst or ""

    def answered(self, planned: Plan | VotePlan) -> Stored | None:
        """Return what ``pay`` would return without a debit, if there is an answer to show."""
        self.engine.unchanged()
        return self.ledger.answered(planned.digest, self._version(planned), self.payer, self.study)

    def pay(self, planned: Payable, finds: BoundSearchPlan | None = None) -> Stored:
        """Debit a plan durably, or return the receipt of an equal plan that was paid before."""
        import numpy  # noqa: F401  # measures and releases need it: an import that fails has cost nothing

        from dpsql.ir.plan import Plan  # loaded by then

        blocks, listed = self.read_by(planned)
        debit = Debit(
            self.payer,
            planned.source.text,
            planned.digest,
            self._version(planned),
            stored(planned.events),
            planned.epsilon,
            self.price(planned),
            tuple(sorted(planned.tables)),
            *(((), 0.0, "") if finds is None else (finds.names, finds.strength, finds.asker)),
            ", ".join(map(_written, planned.source.parameters)),
            self.room,
            self.keeps_digests,
            self._caps(),
            self.study if isinstance(planned, Plan) else "",  # exports and votes are the owner's own
            blocks,
            listed,
            self.checked,
        )
        self.engine.unchanged()
        try:
            return self.ledger.debit_or_join(debit)
        except Overdrawn as error:
            raise self._exhausted(planned.epsilon, planned, error) from None

    def _version(self, planned: Payable) -> str:
        """Return the version of the data that answers a plan: of a private view, that of its purchase."""
        from dpsql.ir.plan import Plan

        if isinstance(planned, Plan) and planned.alert is not None:
            return ANY_VERSION
        if isinstance(planned, Plan) and planned.bought is not None:
            return planned.bought.version
        return self.versions.of(planned.tables)

    @property
    def room(self) -> int | None:
        """Return how many bytes of the ledger this analyst may fill; None for the owner."""
        return next((round(1e6 * rule.megabytes) for rule in self._rules), None)

    def _exhausted(self, price: float, planned: Payable, error: Overdrawn) -> Error:
        from dpsql.session.budget_refusal import Means, too_dear

        read = self.read_by(planned)
        means = Means(
            self.accountant,
            self.budget,
            self._accounts(read),
            lambda price: self.holds({Due(read): price}),
            self.ceiling,
        )
        return too_dear(price, planned.events, means, error)

    def _accounts(self, read: BlocksRead = EVERYWHERE) -> list[tuple[Amount, Amount]]:
        """Return (spent, granted) of the database's account and of the analyst's, with caps in time."""
        caps = ((spent, cap.total) for cap, spent in self._within(self._caps()))
        return [*((each.spent, each.total) for each in self._standings({}, read)), *caps]

    def _standings(self, after: Prices, read: BlocksRead) -> list[Standing]:
        """Return the accounts that never come back, in each block that is read, after these prices."""
        names = [None, *(rule.name for rule in self._rules)]
        return self.ledger.standings(names, (self.payer, self.study), after, read)

    def _caps(self) -> tuple[TimeCap, ...]:
        """Return the caps in time of this analyst."""
        return self._caps_of(self._rules)

    def _caps_of(self, rules: Sequence[AnalystRule]) -> tuple[TimeCap, ...]:
        def total(epsilon: float) -> Amount:
            return self.accountant.total(Budget(epsilon, self.budget.delta))

        capped = [rule for rule in rules if (rule.per_day, rule.per_week, rule.per_month) != (None,) * 3]
        if not capped:
            return ()
        from dpsql.session.time_caps import time_caps  # only such policies need time zones

        return tuple(cap for rule in capped for cap in time_caps(rule, self.policy.timezone, total))

    def store(self, receipt: Stored, released: bytes) -> bytes:
        """Store released tables as the answer; return those that were stored first."""
        return self.ledger.store(receipt.debit_id, released)

    def part(self, receipt: Stored, place: int) -> bytes | None:
        """Return a released table that was stored before its answer was complete."""
        return self.ledger.part(receipt.debit_id, place)

    def keep(self, receipt: Stored, place: int, released: bytes) -> bytes:
        """Store one released table; return the one that was stored first at this place."""
        return self.ledger.keep(receipt.debit_id, place, released)

    def _balance(self, name: str | None, spent: Amount, granted: float) -> tuple[float, float]:
        """Return what is granted and spent, as epsilons; of the database (None), without the reserve.

        What is spent may exceed what is granted now, and that may be nothing.
        """
        rules, kept = self.accountant, self.budget.responses if name is None else 0.0
        shown = rules.epsilon(spent, Budget(granted or self.budget.epsilon, self.budget.delta, kept))
        if not kept:
            return granted, shown
        return round(granted - kept, 9), max(0.0, round(shown - rules.responses(spent), 9))

    def remaining(self, after: Prices | None = None, read: BlocksRead = EVERYWHERE) -> float:
        """Return what is left after these prices, of the database or the analyst, whichever has less.

        It is what is left in the blocks of units that are ``read``, of the one with least.
        """
        prices = after or {}
        left = [self._left(each.analyst, each.shared, each) for each in self._standings(prices, read)]
        own = [price for _, price in of_account(prices, by_analyst)]
        for cap, spent in self._within(self._caps()):
            gone = sum(own, spent)
            granted, shown = self._balance(cap.analyst, gone, cap.epsilon)
            left.append(max(0.0, granted - shown))
        return min(left)

    def alone(self, prices: Prices) -> float:
        """Return what prices come to by themselves, as an epsilon: in the block where they are most."""
        parts = self.ledger.parts(prices)
        return max((self.accountant.epsilon(part, self.budget) for part in parts), default=0.0)

    def remaining_for(self, planned: Payable) -> float:
        """Return what is left in the blocks of units that a plan reads."""
        return self.remaining(read=self.read_by(planned))

    def _left(self, analyst: str | None, shared: str, standing: Standing) -> float:
        granted, gone = self._balance(shared or analyst, standing.spent, standing.epsilon)
        return max(0.0, granted - gone)

    def shared_accounts(self) -> list[tuple[str, float, float]]:
        """Return (account, granted, spent) of groups and studies with a cap: of this analyst, or all.

        What is spent is that in the block of units that has spent most.
        """
        found = dict[str, tuple[float, float]]()
        for block in range(len(self.ledger.blocks()) or 1):
            for name, spent, epsilon, _ in self.ledger.shared(self.analyst, self.study, block):
                shown = self._balance(name, spent, epsilon)
                found[name] = max(found.get(name, shown), shown, key=lambda pair: pair[1])
        return [(name, *shown) for name, shown in found.items()]

    def in_blocks(self) -> list[tuple[str, float, float]]:
        """Return (block, granted, spent) of this analyst, or of all together, in each block of units."""
        named = self.ledger.blocks()
        rows = (self.ledger.balances([self.analyst], block)[0] for block in range(len(named)))
        shown = (self._balance(self.analyst, spent, granted) for spent, granted in rows)
        return [(name, *each) for name, each in zip(named, shown, strict=True)]

    def _within(self, caps: Sequence[TimeCap]) -> list[tuple[TimeCap, Amount]]:
        """Return each cap with what was spent in its window."""
        if not caps:
            return []
        return [*zip(caps, self.ledger.spent_within(caps), strict=True)]

    def remained(self, debits: Sequence[Entry], shares: Sequence[Entry]) -> float:
        """Return what was left before these payments. Shares of others' debits charge the analyst only."""
        left = []
        for each in self.ledger.standings(
            [None, *(rule.name for rule in self._rules)], ("", ""), {}, EVERYWHERE
        ):
            gone = [*debits, *(() if each.analyst is None else shares)]
            paid = (entry.price for entry in gone if self._is_paid_in(entry, each.block))
            before = replace(each, spent=each.spent - sum(paid, self.accountant.zero))
            left.append(self._left(each.analyst, "", before))
        return min(left)

    def paid_in(self, entry: Entry) -> tuple[str, ...]:
        """Return what the blocks of units are called that an entry is paid in; none where it is in all."""
        blocks = self.ledger.paid_in(entry)
        if blocks is None:
            return ()
        names = self.ledger.blocks()
        return tuple(names[block] for block in blocks)

    def _is_paid_in(self, entry: Entry, block: int) -> bool:
        blocks = self.ledger.paid_in(entry)
        return blocks is None or block in blocks

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
        most: dict[str, tuple[float, float]] = {}
        for each in self.ledger.standings(names, ("", ""), {}, EVERYWHERE):
            name, shown = each.analyst or "", self._balance(each.analyst, each.spent, each.epsilon)
            most[name] = max(most.get(name, shown), shown, key=lambda pair: pair[1])
        return [(name, *shown) for name, shown in most.items()]

    def spending(self) -> list[tuple[str, list[tuple[str, float]]]]:
        """Return (account, (time, spent by then) ...) as epsilons: the database's ('') and others.

        With blocks of units an account is what its block with most has spent, and each block is one more
        account. An analyst's session has that analyst's alone. The whole ledger is read, and checked.
        """
        granted = {
            name: self.ledger.granted(name) for name in (None, *(r.name for r in self.policy.analysts))
        }
        caps = {name: epsilon for name, _, epsilon, _ in self.ledger.shared()}
        own, steps = self.analyst, dict[str, list[tuple[str, float]]]()

        def note(name: str, time: str, shown: float) -> None:
            own_steps = steps.setdefault(name, [])
            if shown != (own_steps[-1][1] if own_steps else 0.0):
                own_steps.append((time, shown))

        def look(entry: Content, account: Account) -> None:
            if entry["kind"] not in ("debit", "share", "members"):
                return
            zero, blocks = self.accountant.zero, [*account.blocks.numbers]
            payer = entry.get("analyst", "") if entry.get("own", True) else ""
            for name in {own} if own is not None else {None, *([payer] if payer in granted else [])}:
                each = account.spent.each(name, blocks, zero)
                shown = {block: self._balance(name, spent, granted[name])[1] for block, spent in each}
                note(name or "", entry["time"], max(shown.values()))
                for block in account.spent.apart.get(name, ()) if name == own else ():
                    note(account.blocks.named(block), entry["time"], shown[block])
            for name in (*entry.get("accounts", ()), entry.get("account", "")) if own is None else ():
                if name in caps:
                    each = account.shared.spent.each(name, blocks, zero)
                    note(name, entry["time"], max(self._balance(name, s, caps[name])[1] for _, s in each))

        self.ledger.replay(look)
        first = [own] if own is not None else ["", *(rule.name for rule in self.policy.analysts)]
        return [(name or "", steps.pop(name or "", [])) for name in first] + sorted(steps.items())

    def time_caps(self) -> list[tuple[str, str, str, float, float]]:
        """Return (analyst, name, until, granted, spent) of each cap in time, of this analyst or of all."""
        rules = self._rules if self.analyst is not None else self.policy.analysts
        return [
            (cap.analyst, cap.name, cap.until, *self._balance(cap.analyst, spent, cap.epsilon))
            for cap, spent in self._within(self._caps_of(rules))
        ]

    def group_privacy(self) -> list[tuple[int, tuple[float, float] | None]]:
        """Return (units, epsilon and delta) that the whole budget promises over 1, 2 and 4 units."""
        from dpsql.accounting.group_privacy import STEPS, group_privacy

        thresholds = any(map(self.accountant.delta, self.ledger.spent_in_each()))
        return [(units, group_privacy(self.accountant, self.budget, units, thresholds)) for units in STEPS]

    def forecast(self) -> int | None:
        """Return how many more queries like the latest ten fit; None if there is none yet.

        Caps in time come back, and are no part of it. What only joined a debit cost the database nothing.
        """
        from dpsql.accounting.forecast import LATEST, Course, more_like

        bought = self.ledger.bought(self.analyst, LATEST)
        latest = [entry for entry in bought if self.analyst is not None or entry.kind == "debit"]
        zero = self.accountant.zero
        return more_like(
            [
                Course(
                    each.spent,
                    each.total,
                    [entry.price if self._is_paid_in(entry, each.block) else zero for entry in latest],
                )
                for each in self._standings({}, EVERYWHERE)
            ]
        )

    def reserve(self) -> tuple[float, float] | None:
        """Return what is kept for responses, and what they have spent of it, as epsilons; None without."""
        if not self.budget.responses:
            return None
        return self.budget.responses, max(map(self.accountant.responses, self.ledger.spent_in_each()))


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
