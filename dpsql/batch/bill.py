"""Script -> Bill: what each statement and all of them would cost. Reads no private row, debits nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from dpsql.accounting.dues import Prices, priced
from dpsql.batch.item import Item
from dpsql.batch.ledger_entries import loss, lost
from dpsql.batch.manifest import Manifest
from dpsql.batch.script import Script, Task
from dpsql.batch.together import joined
from dpsql.batch.total import shares_of
from dpsql.dbapi import Connection
from dpsql.dbapi.guard import guarded, text_of
from dpsql.dbapi.limits import limited
from dpsql.errors import Error, refuse
from dpsql.ir.source import Source, Span
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.parse import Query
from dpsql.parse.scripts import tokens
from dpsql.planning import parsed
from dpsql.pricing import priced_now
from dpsql.render.digits import above, below
from dpsql.worth import check_worth


@dataclass(frozen=True, slots=True)
class Bill:
    """The statements that can be answered, those refused, and what they take off the budget together.

    ``alone`` is the epsilon of all items on an untouched budget. ``fits`` is how many of the items, from the
    first on, the budget holds.
    """

    items: tuple[Item, ...]
    refused: tuple[tuple[Task, Error], ...]
    remaining: float
    after: float
    alone: float
    fits: int

    @property
    def price(self) -> float:
        """Return the sum of all prices; statements that measure the same count once."""
        return math.fsum(item.epsilons for item in self.items if not item.like)

    @property
    def cost(self) -> float:
        """Return the sum of the prices that are not paid yet."""
        return math.fsum(item.cost for item in self.items)


def first_bill(db: Connection, script: Script, total: float | None, apart: bool = False) -> Bill:
    """Return the bill of a whole script, at the prices it sets and at shares of ``total``.

    Statements that share the total are measured together where that makes them more exact, unless ``apart``.
    """
    with _creating(db):
        return _first_bill(db, script, total, apart)


@contextmanager
def _creating(db: Connection) -> Iterator[None]:
    """Let statements name the private views and alerts that statements before them create."""
    db._open().pending, db._open().pending_alerts = (), ()
    try:
        yield
    finally:
        db._open().pending, db._open().pending_alerts = None, None


def _first_bill(db: Connection, script: Script, total: float | None, apart: bool) -> Bill:
    items, refused = _apply_to_each(
        script,
        script.tasks,
        lambda task: _priced(db, task, _read(db, task), task.epsilon, final=total is None),
    )
    if total is None:
        return _billed(db, items, refused)
    shares, by_name = shares_of(db, items, total), {item.task.name: item for item in items}

    def at_share(task: Task) -> Item:
        item = by_name[task.name]
        return _priced(db, task, item.query, shares.get(task.name, item.epsilon))

    items, refused_at_share = _apply_to_each(script, [item.task for item in items], at_share)
    return _billed(db, items if apart else _joined(db, items), [*refused, *refused_at_share])


def second_bill(db: Connection, script: Script, manifest: Manifest) -> Bill:
    """Return the bill of the statements that a run still has to answer, at its original prices."""
    with _creating(db):
        return _second_bill(db, script, manifest)


def _second_bill(db: Connection, script: Script, manifest: Manifest) -> Bill:
    waiting = {
        entry.name: entry.epsilon
        for entry in manifest.statements
        if not entry.answered and not (entry.unpriced and manifest.total is not None)
    }
    together = {entry.name: entry.epsilon for entry in manifest.statements if entry.together}
    prices = together | waiting
    tasks = [task for task in script.tasks if task.name in prices]
    items, refused = _apply_to_each(
        script, tasks, lambda task: _priced(db, task, _read(db, task), prices[task.name])
    )
    joint = _joined(db, [item for item in items if item.task.name in together])  # answered ones, too
    plans = {item.task.name: item for item in joint}
    items = [plans.get(item.task.name, item) for item in items if item.task.name in waiting]
    refused = [(task, error) for task, error in refused if task.name in waiting]
    bill = _billed(db, items, refused)
    lost_tasks = [item.task for item in lost(db, manifest, bill.items)]
    if not lost_tasks:
        return bill
    refused += [(task, script.error(loss(task), task)) for task in lost_tasks]
    return _billed(db, [item for item in items if item.task not in lost_tasks], refused)


def _joined(db: Connection, items: list[Item]) -> list[Item]:
    """Return the items, those that gain by it with plans for a common measurement."""
    with limited(db._open(), db.timeout):
        return guarded(lambda: joined(db, items))


def _apply_to_each(
    script: Script, tasks: Sequence[Task], step: Callable[[Task], Item]
) -> tuple[list[Item], list[tuple[Task, Error]]]:
    """Apply a step to each task; return the items, and the refused tasks with their errors."""
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
            "this question mark has no value",
            Span(mark, mark + 1),
            label="a file of statements has no parameters",
            help="write the value itself",
        ).within(task.sql, task.name)
    return guarded(lambda: parsed(db._open(), Source(text_of(task.sql)), ()))


def _priced(db: Connection, task: Task, query: Query, epsilon: float | None, final: bool = True) -> Item:
    """Price a statement; at its ``final`` price it is refused if its answer would show nothing."""
    call_price = None if query.epsilon is not None or query.goal is not None else epsilon
    session = db._open()
    with limited(session, db.timeout):
        plan, price = guarded(lambda: priced_now(session, query, call_price))
        if final and not query.explained:
            guarded(lambda: check_worth(session, query, session.terms(call_price), plan))
    return Item(task, query, call_price, plan, price)


def _billed(db: Connection, items: Sequence[Item], refused: Sequence[tuple[Task, Error]]) -> Bill:
    session = db._open()
    billed, so_far, fits = list[Item](), Prices(), 0
    first: dict[tuple[str, str], str] = {}
    costs = iter(session.bill([item.plan for item in items if item.price.cost and item.paid]))
    for item in items:
        cost, spent = next(costs) if item.price.cost and item.paid else (0.0, Prices())
        like = first.setdefault(item.measured, item.task.name) if item.paid else item.task.name
        so_far = priced(*so_far.items(), *spent.items())
        billed.append(replace(item, cost=cost, like="" if like == item.task.name else like))
        if fits == len(billed) - 1 and session.holds(so_far):
            fits += 1
    alone = session.alone(so_far)
    return Bill(tuple(billed), tuple(refused), session.remaining(), session.remaining(so_far), alone, fits)


def check_budget(bill: Bill, resumed: bool = False) -> None:
    """Raise D501 unless the budget holds the whole bill."""
    if bill.fits == len(bill.items):
        return
    last = bill.items[bill.fits - 1].task if bill.fits else None
    raise refuse(
        "D501",
        f"the budget does not hold {'the rest of ' if resumed else ''}this file",
        label=f"its prices add up to {bill.cost:g}, and take {above(bill.alone)} together; "
        f"about {below(bill.remaining)} remains",
        notes=("nothing was paid now" if resumed else "nothing was paid",)
        + (() if last is None else (f"up to {last.name} on line {last.statement.line} it would fit",)),
        help="let the owner grant more, then continue with --resume" if resumed else _cheaper_help(bill),
    )


def _cheaper_help(bill: Bill) -> str:
    if any(item.own for item in bill.items if item.paid):
        return "lower the prices in the file, or remove statements"
    if bill.remaining > 1e-4:
        return f"divide what remains: --epsilon {below(bill.remaining)}"
    return "only statements that were answered before can be asked"
