"""Policy + engine + ledger: what is true for as long as a connection lasts.

Opening checks everything that the policy declares against the database, once per version of the data;
what fails is the owner's to see and to mend, and nothing is answered before that.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.accounting import Budget, Spent, accountant
from dpsql.accounting.entries import Debit, Granted, Overdrawn, Promise, Stored
from dpsql.accounting.ledger import Ledger
from dpsql.engines.opened import open_database
from dpsql.errors import Error, refuse
from dpsql.ir.column import Categories, Column, Fact, Interval, Listed
from dpsql.plan.terms import Terms
from dpsql.policy.catalogue import Key, Known
from dpsql.policy.check import compare, declared_keys, known, snapshot
from dpsql.policy.model import Policy, unit_text, version
from dpsql.policy.toml import read_policy
from dpsql.post.sealed import Sealed

if TYPE_CHECKING:  # what binds, plans and releases loads with the first query
    from dpsql.engines import Engine
    from dpsql.ir.bound import Bound, Lack
    from dpsql.ir.options import Option
    from dpsql.ir.plan import Findings, Plan
    from dpsql.ir.source import Span
    from dpsql.ir.survey import PlannedSurvey
    from dpsql.policy.catalogue import Catalogue
    from dpsql.policy.listing import Table, View


def load_policy(path: Path) -> Policy:
    """The owner's policy from its file, or D80x."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = "is not text in UTF-8" if isinstance(error, UnicodeDecodeError) else "cannot be read"
        if isinstance(error, FileNotFoundError):
            reason = "is not there"
        raise refuse(
            "D807",
            f"the policy {path.name} {reason}",
            help="name it with --policy, or write one: dpsql init DB",
        ) from None
    return read_policy(text, path.name)


def check_readable(engine: Engine, found: Known, verified: Set[str] = frozenset()) -> set[str]:
    """That every value can be read, as a fact for each table of which it is not known yet; or D602.

    Else a query would fail or not by the rows that it meets, and tell of them without a price.
    """
    facts = set[str]()
    for table in () if engine.sound else found.tables:
        columns = tuple(each.name for each in table.columns)
        fact = f"{table.name} reads: {', '.join(columns)}"
        if fact not in verified:
            if not engine.is_readable(table.name, columns):
                raise refuse(
                    "D602",
                    f"the table {table.name} holds values that cannot be read",
                    label="pages are damaged, or a text is not UTF-8",
                    help="write its files anew; nothing can be asked before that",
                )
            facts.add(fact)
    return facts


def promise(policy: Policy, engine: Engine) -> Promise:
    """What a ledger of this database under this policy is bound to."""
    rule = policy.budget
    return Promise(engine.identity(), unit_text(policy), rule.accountant, rule.delta)


def kept_types(ledger: Ledger) -> str | None:
    """The types of all mentioned columns, as they were last seen: a ``snapshot``."""
    return _kept(ledger)[1]


def keep_types(ledger: Ledger, now: str) -> None:
    """Note the types, unless they are those that were last seen."""
    number, latest = _kept(ledger)
    if latest != now:
        ledger.note_verified(f"schema {number + 1}", frozenset((now,)))


def _kept(ledger: Ledger) -> tuple[int, str | None]:
    number, latest = 0, None
    while found := ledger.verified(f"schema {number + 1}"):
        number, latest = number + 1, next(iter(found))
    return number, latest


class Session:
    """One analyst (or the owner, ``analyst`` None) at one database under one policy."""

    def __init__(self, database: Path, policy: Path, ledger: Path, analyst: str | None) -> None:
        self.policy = load_policy(policy)
        self.analyst = analyst
        rule = self.policy.budget
        self.budget = Budget(rule.epsilon, rule.delta)
        self.usual = self.policy.query.epsilon  # what a query costs if nobody says
        self.accountant = accountant(rule.accountant)
        if analyst is not None and all(each.name != analyst for each in self.policy.analysts):
            raise refuse(
                "D504",
                f"the policy {self.policy.name} knows no analyst {analyst}",
                help=f"the owner adds [analysts.{analyst}] with an epsilon of their own",
            )
        self.engine: Engine = open_database(database, self.policy)
        try:
            self.ledger = Ledger.open(ledger, promise(self.policy, self.engine), self._granted())
            try:
                self.known: Known = self._checked()
            except BaseException:
                self.ledger.close()
                raise
        except BaseException:
            self.engine.close()
            raise
        self.clock: datetime.datetime | None = None  # a time at which all queries are asked
        self.version = f"{self.engine.version()}:{version(self.policy)}"
        self.sealed = Sealed(self._public_rows, self.policy.timezone)
        try:
            self.views = self._checked_views()
        except BaseException:
            self.close()
            raise

    # ---- opening -----------------------------------------------------------------------------------

    def _granted(self) -> Granted:
        analysts = tuple(
            (each.name, each.epsilon, self.accountant.total(Budget(each.epsilon, self.budget.delta)))
            for each in self.policy.analysts
        )
        return Granted(self.budget.epsilon, self.accountant.total(self.budget), analysts)

    def _checked(self) -> Known:
        """The policy held against the catalogue, its keys verified for this version of the data."""
        catalogue = self.engine.describe()
        self._same_types(catalogue)
        version = self.engine.version()
        verified = self.ledger.verified(version)
        keys = declared_keys(self.policy, catalogue)
        held: set[Key] = {key for key in keys if _said(key) in verified}
        fresh = {key for key in keys if key not in held and self.engine.is_key(key)}
        names = {table.name for table in catalogue.tables}
        sizes = {
            table.name: self.engine.size(_spelling(table.name, names))
            for table in self.policy.tables
            if table.public and _spelling(table.name, names) in names
        }
        found = known(self.policy, catalogue, sizes, held | fresh)
        facts = {_said(key) for key in fresh} | check_readable(self.engine, found, verified)
        result = self._with_ranges(found)
        if facts:
            self.ledger.note_verified(version, frozenset(facts))
        return result

    def _checked_views(self) -> dict[str, View]:
        """What each view holds, or D808."""
        if not self.known.views:
            return {}
        from dpsql.views import check_all_views

        return check_all_views(self.policy, self.known, self.engine, self.sealed)

    def _with_ranges(self, found: Known) -> Known:
        """What public tables show of their own numbers: the least and the greatest of each column."""
        tables = []
        for table in found.tables:
            ranges = self.engine.ranges(table.name) if table.public else {}
            columns = tuple(_with_range(column, ranges.get(column.name)) for column in table.columns)
            tables.append(replace(table, columns=columns))
        return replace(found, tables=tuple(tables))

    def _same_types(self, catalogue: Catalogue) -> None:
        """No mentioned column changed its type since the ledger last saw it."""
        latest = kept_types(self.ledger)
        if latest is not None:
            compare(latest, self.policy, catalogue)
        keep_types(self.ledger, snapshot(self.policy, catalogue))

    def _public_rows(self, table: str) -> tuple[list[str], list[str], list[tuple[object, ...]]]:
        found = self.known.table(table)
        assert found is not None
        assert found.public, "only public tables are copied"
        types, rows = self.engine.rows(table)
        return [column.name for column in found.columns], types, rows

    # ---- the till ----------------------------------------------------------------------------------

    def terms(self, epsilon: float | None) -> Terms:
        price = self.usual if epsilon is None else epsilon
        return self._terms(price, epsilon is not None, None)

    def said(self, terms: Terms, price: Option) -> Terms:
        """The price that a query says in its OPTIONS; a call may say it too, but not another."""
        if terms.given and price.value != terms.epsilon:
            raise refuse(
                "D503",
                f"the call says epsilon {terms.epsilon:g}, and the query another",
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
            raise refuse(
                "D502",
                f"the price {price:g} is above the ceiling of {rule.max_epsilon:g} for one query",
                span,
                label=f"max_epsilon in {self.policy.name}",
                help=f"ask with an epsilon of at most {rule.max_epsilon:g}",
            )
        return Terms(self.accountant, self.budget, float(price), given)

    def price(self, planned: Plan | PlannedSurvey) -> Spent:
        """What the plan's events cost in the ledger's units."""
        return self.accountant.charge(planned.events)

    @property
    def find_bounds(self) -> bool:
        return self.policy.query.find_bounds

    def bounds(self, lack: Lack) -> tuple[Bound, ...]:
        from dpsql.plan.findings import bound_of, name_of
        from dpsql.release.stored import from_bytes

        found = []
        for stored, where in self.ledger.found(name_of(lack, self.known), self.version):
            place = int(from_bytes(stored, [1] * where.tables)[where.place].sums[0, 0])
            bound = bound_of(lack, self.known, place, where.time)
            found.append(replace(bound, strength=where.strength, asker=where.asker))
        return tuple(found)

    def tables(self) -> tuple[Table, ...]:
        """What exists for an analyst, with the bounds that were found by now."""
        from dpsql.facts.lacks import all_lacks
        from dpsql.policy.found_bounds import with_bounds
        from dpsql.policy.listing import tables_of

        found = [
            max(each, key=lambda bound: bound.strength)
            for each in map(self.bounds, all_lacks(self.known))
            if each
        ]
        return tables_of(with_bounds(self.known, found), self.views)

    def asked(self, asker: str) -> bool:
        return self.ledger.asked(asker, self.version)

    def afford(self, planned: Plan) -> None:
        price, first = self.price(planned), planned.first
        if first is not None and self.ledger.stored(first.plan.digest, self.version, self._payer) is None:
            price += self.price(first.plan)
        try:
            self.ledger.check(self._payer, price)
        except Overdrawn as error:
            raise self._exhausted(planned.price, error) from None

    def quoted(self, planned: Plan) -> tuple[float, float, bool]:
        """What a plan would cost now, what would remain then, and whether it was paid for before."""
        ((cost, price),) = self.bill([planned])
        return cost, self.remaining(price), cost == 0.0

    def bill(self, plans: Sequence[Plan]) -> list[tuple[float, Spent]]:
        """What each plan would cost now, asked one after the other: measured twice, it is paid once."""
        billed, paid = [], set[tuple[str, str]]()
        for planned in plans:
            cost, price = 0.0, Spent()
            first, asker = ((), "") if planned.first is None else ((planned.first.plan,), planned.first.asker)
            for each in (planned, *first):  # who finds the bounds measures with a smaller share than others
                if (each.digest, asker) in paid or self.stored(each) is not None:
                    continue
                paid.add((each.digest, asker))
                cost, price = cost + each.epsilon, price + self._most(each)
            billed.append((cost, price))
        return billed

    def stored(self, planned: Plan) -> Stored | None:
        return self.ledger.stored(planned.digest, self.version, self._payer)

    def _most(self, planned: Plan) -> Spent:
        """The price of a plan; of one in steps, that of all of them."""
        if not planned.steps:
            return self.price(planned)
        most = self.accountant.total(Budget(planned.epsilon, self.budget.delta))
        whole = self.accountant.total(self.budget)  # of delta no larger part is charged than of the rest
        return Spent(most.main, min(most.delta, -(-whole.delta * most.main // whole.main)))

    def holds(self, price: Spent) -> bool:
        """Whether the database's account and the analyst's hold this price now."""
        try:
            self.ledger.check(self._payer, price)
        except Overdrawn:
            return False
        return True

    def now(self) -> datetime.datetime:
        return self.clock or datetime.datetime.now(datetime.UTC)

    @property
    def _payer(self) -> str:
        return self.analyst or ""

    def pay(self, planned: Plan | PlannedSurvey, finds: Findings | None = None) -> Stored:
        debit = Debit(
            self._payer,
            planned.source.text,
            planned.digest,
            self.version,
            repr(planned.events),
            planned.epsilon,
            self.price(planned),
            *(() if finds is None else (finds.names, finds.strength, finds.asker)),
        )
        self.engine.unchanged()
        try:
            return self.ledger.debit_or_join(debit)
        except Overdrawn as error:
            raise self._exhausted(planned.epsilon, error) from None

    def _exhausted(self, price: float, error: Overdrawn) -> Error:
        whose = "the database's budget" if error.analyst is None else f"{error.analyst}'s budget"
        return refuse(
            "D501",
            f"{whose} does not hold this price",
            label=f"the query costs epsilon {price:g}; about {self.remaining():.3g} remains",
            help="ask for a smaller epsilon, or ask something that was answered before: that is free",
        )

    def store(self, receipt: Stored, released: bytes) -> bytes:
        return self.ledger.store(receipt.debit_id, released)

    def _left(self, epsilon: float, spent: Spent) -> float:
        budget = Budget(epsilon, self.budget.delta)
        return max(0.0, epsilon - self.accountant.epsilon(spent, budget))

    def remaining(self, after: Spent = Spent()) -> float:  # noqa: B008 - a value
        """The smaller of what the database and the analyst have left after this, as an epsilon."""
        left = self._left(self.budget.epsilon, self.ledger.spent() + after)
        for each in self.policy.analysts:
            if each.name == self.analyst:
                left = min(left, self._left(each.epsilon, self.ledger.spent(each.name) + after))
        return left

    @property
    def ceiling(self) -> float:
        """The most that one query may cost."""
        return self.policy.query.max_epsilon

    def accounts(self) -> list[tuple[str, float, float]]:
        """(whose, granted, spent) for the database and every analyst, as epsilons."""
        rows = [("", self.budget.epsilon, self.ledger.spent())]
        rows += [(each.name, each.epsilon, self.ledger.spent(each.name)) for each in self.policy.analysts]
        return [(name, granted, granted - self._left(granted, spent)) for name, granted, spent in rows]

    def close(self) -> None:
        self.sealed.close()
        self.ledger.close()
        self.engine.close()


def _with_range(column: Column, bounds: Interval | None) -> Column:
    fact = column.fact
    if bounds is None or isinstance(fact.domain, Interval | Categories):
        return column
    domain = replace(fact.domain, bounds=bounds) if isinstance(fact.domain, Listed) else bounds
    return Column(column.name, Fact(fact.type, domain, fact.nullable))


def _said(key: Key) -> str:
    return f"{key.table}({', '.join(key.columns)})"


def _spelling(name: str, names: set[str]) -> str:
    """The database's own spelling of a table's name."""
    return next((each for each in names if each.casefold() == name.casefold()), name)
