"""Script -> Bill: what each statement and the whole would cost now. Reads no private row, debits nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpsql.accounting import Spent
from dpsql.answer.digits import above, below
from dpsql.batch.manifest import Manifest
from dpsql.batch.script import Script, Task
from dpsql.batch.shares import balance, combined, shared
from dpsql.dbapi import Connection
from dpsql.errors import Error, refuse
from dpsql.ir.plan import Plan
from dpsql.ir.price import Price
from dpsql.ir.source import Source
from dpsql.parse.parse import parse

MOST = 1e9
"""No budget is so large."""


@dataclass(frozen=True, slots=True)
class Item:
    """A statement that would be answered: ``epsilon`` is the price that its call says, if it says one.

    ``explained`` is an EXPLAIN; ``own`` says that the query or a SET names the price or the accuracy.
    ``cost`` is what it takes now, after those before it.
    """

    task: Task
    epsilon: float | None
    plan: Plan
    price: Price
    explained: bool
    own: bool
    cost: float = 0.0

    @property
    def paid(self) -> bool:
        """Whether it has a price at all."""
        return not self.explained and bool(self.plan.events or self.plan.first)

    @property
    def epsilons(self) -> float:
        return self.price.epsilon if self.paid else 0.0


@dataclass(frozen=True, slots=True)
class Bill:
    """What can be asked, what is refused, and what all of it together takes from ``remaining``.

    ``alone`` is what it would take of a whole budget; ``fits`` is how many of the items, from the first on,
    the budget holds.
    """

    items: tuple[Item, ...]
    refused: tuple[tuple[Task, Error], ...]
    remaining: float
    after: float
    alone: float
    fits: int

    @property
    def price(self) -> float:
        """The sum of all prices."""
        return math.fsum(each.epsilons for each in self.items)

    @property
    def cost(self) -> float:
        """The same of what was not paid for before."""
        return math.fsum(each.cost for each in self.items)


def first_bill(db: Connection, script: Script, total: float | None) -> Bill:
    """The bill of a whole script at the prices that it says, or that are its shares of a total."""
    said = {task.name: task.epsilon for task in script.tasks}
    items, refused = _priced(db, script, script.tasks, said)
    if total is None:
        return _billed(db, items, refused)
    shares = _shares(db, script, items, total)
    taken = [each.task for each in items if each.task.name in shares]
    again, late = _priced(db, script, taken, shares)
    found = {each.task.name: each for each in [*(each for each in items if each.task not in taken), *again]}
    in_order = [found[task.name] for task in script.tasks if task.name in found]
    return _billed(db, in_order, [*refused, *late])


def second_bill(db: Connection, script: Script, manifest: Manifest) -> Bill:
    """The bill of what a run still has to ask, at the prices with which it began."""
    waiting = {
        each.name: each.epsilon
        for each in manifest.statements
        if not each.answered and not (each.unpriced and manifest.total is not None)
    }
    tasks = [task for task in script.tasks if task.name in waiting]
    return _billed(db, *_priced(db, script, tasks, waiting))


def _priced(
    db: Connection, script: Script, tasks: Sequence[Task], prices: Mapping[str, float | None]
) -> tuple[list[Item], list[tuple[Task, Error]]]:
    items, refused = [], []
    for task in tasks:
        try:
            items.append(_item(db, task, prices[task.name]))
        except Error as error:
            refused.append((task, script.error(error, task)))
    return items, refused


def _item(db: Connection, task: Task, epsilon: float | None) -> Item:
    query = parse(Source(task.sql), (), db._open().now())
    own = query.epsilon is not None or query.goal is not None
    given = None if own else epsilon
    plan, price = db._priced(task.sql, (), given)
    return Item(task, given, plan, price, query.explained, own or task.epsilon is not None)


def _billed(db: Connection, items: Sequence[Item], refused: Sequence[tuple[Task, Error]]) -> Bill:
    session = db._open()
    told, so_far, fits = [], Spent(), 0
    costs = iter(session.bill([each.plan for each in items if each.price.cost and each.paid]))
    for item in items:
        cost, spent = next(costs) if item.price.cost and item.paid else (0.0, Spent())
        so_far += spent
        told.append(Item(item.task, item.epsilon, item.plan, item.price, item.explained, item.own, cost))
        if fits == len(told) - 1 and session.holds(so_far):
            fits += 1
    alone = session.accountant.epsilon(so_far, session.budget)
    return Bill(tuple(told), tuple(refused), session.remaining(), session.remaining(so_far), alone, fits)


def check_budget(bill: Bill) -> None:
    """D501 unless the budget holds all of it."""
    if bill.fits == len(bill.items):
        return
    rest, together = below(bill.remaining), above(bill.alone)
    last = bill.items[bill.fits - 1].task if bill.fits else None
    own = any(each.own for each in bill.items if each.paid)
    raise refuse(
        "D501",
        "the budget does not hold this file",
        label=f"its prices are {bill.cost:g} in all, and take {together} together; about {rest} remains",
        notes=("nothing was paid",)
        + (() if last is None else (f"up to {last.name} on line {last.statement.line} it would fit",)),
        help=f"share what remains: --epsilon {rest}"
        if not own and bill.remaining > 1e-4
        else "ask for less: lower the prices that the file says, or take statements out"
        if own
        else "nothing but what was answered before can be asked",
    )


def _shares(db: Connection, script: Script, items: Sequence[Item], total: float) -> dict[str, float | None]:
    """The price of each statement that says none."""
    session = db._open()
    rule, accountant = session.budget, session.accountant
    if not 0 < total < MOST:
        raise refuse("D503", "a total is a finite positive number", help="give --epsilon 2.0, say")
    paid = [each for each in items if each.paid]
    fixed = [each for each in paid if each.own]
    sharing = [each for each in paid if not each.own]
    if not sharing:
        if not fixed:
            return {}  # nothing costs anything
        raise refuse(
            "D503",
            "no statement is left to share this total",
            label=f"each says its price itself, as {fixed[0].task.name} on line {_line(fixed[0])} does",
            help="leave out --epsilon; or take SET epsilon and OPTIONS(epsilon = ...) out of the file",
        )
    left = combined((total, *(each.epsilons for each in fixed)), accountant, rule)
    if not left:
        raise refuse(
            "D503",
            f"a total of {total:g} leaves nothing to share",
            label=f"{_many(len(fixed))} already: {sum(each.epsilons for each in fixed):g} in all",
            help="give a larger --epsilon, or take SET epsilon out of the file",
        )
    declared = [each.task.statement.weight for each in sharing]
    weights = (
        [1.0 if each is None else each for each in declared]
        if any(each is not None for each in declared)
        else balance([each.plan for each in sharing], accountant)
    )
    prices = shared(left, weights, accountant, rule, session.ceiling)
    return {each.task.name: price for each, price in zip(sharing, prices, strict=True)}


def _line(item: Item) -> int:
    return item.task.statement.line


def _many(number: int) -> str:
    return "one statement says its price" if number == 1 else f"{number} statements say their prices"
