"""Script -> Bill: what each statement and the whole would cost now. Reads no private row, debits nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dpsql.batch.item import Item
from dpsql.batch.ledger_entries import loss, lost
from dpsql.batch.manifest import Manifest
from dpsql.batch.script import Script, Task
from dpsql.batch.total import shares_of
from dpsql.dbapi import Connection
from dpsql.dbapi.guard import guarded, text_of
from dpsql.dbapi.limits import limited
from dpsql.errors import Error, refuse
from dpsql.ir.source import Source, Span
from dpsql.parse.parse import Query
from dpsql.parse.scripts import tokens
from dpsql.planning import parsed
from dpsql.pricing import priced_now
from dpsql.render.digits import above, below


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
        """The sum of all prices, where statements that measure the same have one."""
        return math.fsum(each.epsilons for each in self.items if not each.like)

    @property
    def cost(self) -> float:
        """The same of what was not paid for before."""
        return math.fsum(each.cost for each in self.items)


def first_bill(db: Connection, script: Script, total: float | None) -> Bill:
    """The bill of a whole script at the prices that it says, or that are its shares of a total."""
    found, refused = _each(
        script, script.tasks, lambda task: _priced(db, task, _read(db, task), task.epsilon)
    )
    if total is None:
        return _billed(db, found, refused)
    shares, known = shares_of(db, found, total), {each.task.name: each for each in found}

    def at_share(task: Task) -> Item:
        item = known[task.name]
        return _priced(db, task, item.query, shares[task.name]) if task.name in shares else item

    items, late = _each(script, [each.task for each in found], at_share)
    return _billed(db, items, [*refused, *late])


def second_bill(db: Connection, script: Script, manifest: Manifest) -> Bill:
    """The bill of what a run still has to ask, at the prices with which it began."""
    waiting = {
        each.name: each.epsilon
        for each in manifest.statements
        if not each.answered and not (each.unpriced and manifest.total is not None)
    }
    tasks = [task for task in script.tasks if task.name in waiting]
    items, refused = _each(script, tasks, lambda task: _priced(db, task, _read(db, task), waiting[task.name]))
    bill = _billed(db, items, refused)
    gone = [each.task for each in lost(db, manifest, bill.items)]
    if not gone:
        return bill
    refused += [(task, script.error(loss(task), task)) for task in gone]
    return _billed(db, [each for each in items if each.task not in gone], refused)


def _each(
    script: Script, tasks: Sequence[Task], step: Callable[[Task], Item]
) -> tuple[list[Item], list[tuple[Task, Error]]]:
    """What a step makes of the tasks, and those that it refuses."""
    items, refused = [], []
    for task in tasks:
        try:
            items.append(step(task))
        except Error as error:
            refused.append((task, script.error(error, task)))
    return items, refused


def _read(db: Connection, task: Task) -> Query:
    mark = next((at for at, token in tokens(task.sql) if token == "?"), None)
    if mark is not None:
        raise refuse(
            "D106",
            "no value stands for this question mark",
            Span(mark, mark + 1),
            label="a file of statements is given none",
            help="write the value itself",
        ).within(task.sql, task.name)
    return guarded(lambda: parsed(db._open(), Source(text_of(task.sql)), ()))


def _priced(db: Connection, task: Task, query: Query, epsilon: float | None) -> Item:
    given = None if query.epsilon is not None or query.goal is not None else epsilon
    session = db._open()
    with limited(session, db.timeout):
        plan, price = guarded(lambda: priced_now(session, query, given))
    return Item(task, query, given, plan, price)


def _billed(db: Connection, items: Sequence[Item], refused: Sequence[tuple[Task, Error]]) -> Bill:
    session = db._open()
    nothing = session.accountant.zero
    told, so_far, fits = list[Item](), nothing, 0
    first: dict[tuple[str, str], str] = {}
    costs = iter(session.bill([each.plan for each in items if each.price.cost and each.paid]))
    for item in items:
        cost, spent = next(costs) if item.price.cost and item.paid else (0.0, nothing)
        like = first.setdefault(item.measured, item.task.name) if item.paid else item.task.name
        so_far += spent
        told.append(replace(item, cost=cost, like="" if like == item.task.name else like))
        if fits == len(told) - 1 and session.holds(so_far):
            fits += 1
    alone = session.accountant.epsilon(so_far, session.budget)
    return Bill(tuple(told), tuple(refused), session.remaining(), session.remaining(so_far), alone, fits)


def check_budget(bill: Bill, resumed: bool = False) -> None:
    """D501 unless the budget holds all of it."""
    if bill.fits == len(bill.items):
        return
    last = bill.items[bill.fits - 1].task if bill.fits else None
    raise refuse(
        "D501",
        f"the budget does not hold {'the rest of ' if resumed else ''}this file",
        label=f"its prices are {bill.cost:g} in all, and take {above(bill.alone)} together; "
        f"about {below(bill.remaining)} remains",
        notes=("nothing was paid now" if resumed else "nothing was paid",)
        + (() if last is None else (f"up to {last.name} on line {last.statement.line} it would fit",)),
        help="let the owner grant more, and go on with --resume then" if resumed else _less(bill),
    )


def _less(bill: Bill) -> str:
    if any(each.own for each in bill.items if each.paid):
        return "ask for less: lower the prices that the file says, or take statements out"
    if bill.remaining > 1e-4:
        return f"share what remains: --epsilon {below(bill.remaining)}"
    return "nothing but what was answered before can be asked"
