"""Run one statement: confirm a large price, execute the query, report what was paid."""

from __future__ import annotations

import time

from dpsql.answer import Answer
from dpsql.dbapi.direct_calls import DirectCalls
from dpsql.errors import Error
from dpsql.ir.price import Price
from dpsql.render.digits import above, below
from dpsql.shell.output import check_output, show
from dpsql.shell.state import Shell
from dpsql.terminal.explanation import wrapped
from dpsql.terminal.output import put, refusal, tell
from dpsql.terminal.waiting import beside, lasting

ALL_THE_SAME = "Run it all the same? [y/N] "


def ask(shell: Shell, sql: str) -> None:
    """Answer a query and show the answer; if it ends early, report what was paid.

    Ctrl-C also drops the statements typed or read together with this one: they would be paid too.
    """
    db, started = shell.db, time.monotonic()
    shell.asked = sql
    explained = sql[:7].upper() == "EXPLAIN"
    if explained and shell.format == "table" and shell.out is None:
        put(wrapped(db.explain(sql), shell.width()))  # prose reads better without a box
        return
    check_output(shell)
    if not (explained or _confirmed(shell, sql)):
        tell("cancelled: nothing was paid")
        return
    before = db.purchase_count
    try:
        answer = _answered(shell, sql)
        if answer is None:
            tell("cancelled: nothing was paid")
            return
    except KeyboardInterrupt:
        if not shell.interactive:
            raise
        raise KeyboardInterrupt(f"interrupted: {_paid(db, sql, before)}") from None
    except Error as error:
        if error.code[:2] in ("D6", "D9"):  # all others say what is paid, or nothing is
            error.notes += (_paid(db, sql, before),)
        raise
    shell.last = answer
    show(shell, answer)
    if shell.timing:
        tell(lasting(time.monotonic() - started))


def _answered(shell: Shell, sql: str) -> Answer | None:
    """Run a query. If its answer would show nothing, ask whether to pay for it all the same; None if not."""
    db = shell.db
    try:
        return beside(db, lambda: db.execute(sql))
    except Error as error:
        if error.code != "D511" or not shell.interactive:
            raise
        tell(refusal(error))
    return beside(db, lambda: db.execute(sql, anyway=True)) if _yes(ALL_THE_SAME) else None


def _confirmed(shell: Shell, sql: str) -> bool:
    """Whether to run a query; asks first if it costs more than the ``confirm`` share of what remains.

    Says before what its answer could hardly show, and asks where no declared value meets its conditions.
    """
    if not shell.interactive:
        return True
    price = shell.db.price(sql)
    if price.cost and not price.nothing:
        for doubt in price.doubts:
            tell(f"note: {doubt}")
        if price.unmet:
            return _yes(ALL_THE_SAME)
    if shell.confirm is None or price.share <= shell.confirm or not price.held:  # D501 says that it is not
        return True
    return _yes(question(price))


def _yes(asked: str) -> bool:
    """Whether the answer to a question is yes."""
    try:
        return input(asked).strip().casefold() in ("y", "yes")
    except EOFError:
        tell("")
        return False
    except KeyboardInterrupt:
        tell("")
        raise KeyboardInterrupt("cancelled: nothing was paid") from None


def question(price: Price) -> str:
    """Return the question before a large price.

    Costs epsilon 1.5, 31 % of what remains; leaves 2.3994. Run it? [y/N]
    """
    costs = f"Costs epsilon {price.cost:g}, {share(price)} of what remains"
    return f"{costs}; leaves {below(price.after)}. Run it? [y/N] "


def share(price: Price) -> str:
    """Return the price as a share of the remaining budget: 31 %"""
    return f"{100 * price.share:.0f} %" if price.share >= 0.01 else "less than 1 %"


def _paid(db: DirectCalls, sql: str, before: int) -> str:
    """Describe what this query has paid since purchase number ``before``, with its bound searches."""
    purchases = db.purchases_of(sql, before)
    if not purchases:
        return "nothing was paid"
    paid = above(sum(purchase.epsilon for purchase in purchases))
    rest = db.price(sql).cost
    again = f"running it again costs the rest, epsilon {above(rest)}" if rest else "running it again is free"
    return f"epsilon {paid} was paid and stays paid; {again}"
