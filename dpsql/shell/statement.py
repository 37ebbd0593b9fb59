"""One statement of a session: its price, the question before a large one, the query, what was paid."""

from __future__ import annotations

import time

from dpsql.accounting.entries import kept_text
from dpsql.dbapi import Connection
from dpsql.errors import Error
from dpsql.ir.price import Price
from dpsql.render.digits import above, below
from dpsql.shell.output import ready, show
from dpsql.shell.state import Shell
from dpsql.terminal.explanation import wrapped
from dpsql.terminal.output import put, tell
from dpsql.terminal.waiting import beside, lasting


def ask(shell: Shell, sql: str) -> None:
    """Answer a query and show it; whatever ends it early, what was paid is said.

    Ctrl-C ends whatever was typed or read together with it: what stands behind it might be paid as well.
    """
    db, started = shell.db, time.monotonic()
    shell.asked = sql
    explained = sql[:7].upper() == "EXPLAIN"
    if explained and shell.format == "table" and shell.out is None:
        put(wrapped(db.explain(sql), shell.width()))  # lines of prose, which no box makes easier to read
        return
    ready(shell)
    if not (explained or _wanted(shell, sql)):
        tell("not asked: nothing was paid")
        return
    before = db.purchase_count
    try:
        answer = beside(db, lambda: db.execute(sql))
    except KeyboardInterrupt:
        if not shell.interactive:
            raise
        raise KeyboardInterrupt(f"interrupted: {_paid(db, sql, before)}") from None
    except Error as error:
        if error.code[:2] in ("D6", "D9"):  # all others are raised before anything is paid
            error.notes += (_paid(db, sql, before),)
        raise
    shell.last = answer
    show(shell, answer)
    if shell.timing:
        tell(lasting(time.monotonic() - started))


def _wanted(shell: Shell, sql: str) -> bool:
    """Whether it is to be asked: a person is asked before a query that takes much of what remains."""
    if not shell.interactive or shell.confirm is None:
        return True
    price = shell.db.price(sql)
    if price.share <= shell.confirm or not price.held:  # more than there is will be refused
        return True
    try:
        return input(question(price)).strip().casefold() in ("y", "yes")
    except EOFError:
        tell("")
        return False
    except KeyboardInterrupt:
        tell("")
        raise KeyboardInterrupt("not asked: nothing was paid") from None


def question(price: Price) -> str:
    """Costs epsilon 1.5, 31 % of what remains; leaves 2.3994. Ask it? [y/N]"""
    costs = f"Costs epsilon {price.cost:g}, {share(price)} of what remains"
    return f"{costs}; leaves {below(price.after)}. Ask it? [y/N] "


def share(price: Price) -> str:
    """How much of what remains: 31 %"""
    return f"{100 * price.share:.0f} %" if price.share >= 0.01 else "less than 1 %"


def _paid(db: Connection, sql: str, before: int) -> str:
    """What was paid for a query since there were so many purchases, bounds that it had to find included."""
    found = db.latest_purchases(db.purchase_count - before)
    kept = kept_text(sql)
    found = tuple(each for each in found if each.analyst == (db.analyst or ""))
    found = tuple(each for each in found if each.sql == kept or _finds(each.sql, kept))
    if not found:
        return "nothing was paid"
    paid = above(sum(each.epsilon for each in found))
    rest = db.price(sql).cost
    again = f"asked again, it costs the rest, epsilon {above(rest)}" if rest else "asked again, it is free"
    return f"epsilon {paid} was paid and stays paid; {again}"


def _finds(paid: str, sql: str) -> bool:
    return paid.startswith("/* finds ") and paid.endswith(f"*/ {sql}")
