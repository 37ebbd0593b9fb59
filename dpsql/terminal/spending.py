"""Spending over time as a picture: a line for each account, with a step for each payment.

1 |              ________ database
  |      ________|  ______ ana
0 |______|__________|_____________
   2026-11-01         2026-11-23
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from dpsql.dbapi.accounts import Spending
from dpsql.errors import InterfaceError
from dpsql.render.chart import Chart, Mark, Panel, Series
from dpsql.render.digits import above
from dpsql.render.svg import MOST_COLOURS, drawn_svg

_DAY = 86_400


def spending_svg(accounts: Sequence[Spending]) -> str:
    """Draw the accounts that paid, those that spent most where they are many."""
    paid = sorted((each for each in accounts if each.steps), key=lambda each: -each.steps[-1][1])
    if not paid:
        raise InterfaceError("there is nothing to plot: nothing was paid yet")
    shown, left = paid[:MOST_COLOURS], len(paid) - MOST_COLOURS
    times = sorted({time for account in shown for time, _ in account.steps})
    places = [_place(time) for time in times]
    panel = Panel("epsilon spent", tuple(Series(_name(each), _stairs(each, times)) for each in shown))
    return drawn_svg(
        Chart(
            by="time (UTC)",
            labels=tuple(label for label in _labels(times) for _ in range(2)),
            places=tuple(place for place in places for _ in range(2)),
            dates=True,
            panels=(panel,),
            notes=(f"{left} more {'account' if left == 1 else 'accounts'}",) if left > 0 else (),
        )
    )


def _name(account: Spending) -> str:
    return account.analyst or "database"


def _stairs(account: Spending, times: Sequence[str]) -> tuple[Mark | None, ...]:
    """Return two marks for each time, before and after what was paid then; they make the line a stair."""
    after, spent, marks = dict(account.steps), 0.0, list[Mark | None]()
    for time in times:
        marks.append(_mark(account, spent))
        spent = after.get(time, spent)
        marks.append(_mark(account, spent))
    return tuple(marks)


def _mark(account: Spending, spent: float) -> Mark:
    return Mark(spent, None, f"{_name(account)}: {above(spent)}")


def _place(time: str) -> float:
    """Return a time as days since 1970."""
    return datetime.fromisoformat(time).timestamp() / _DAY


def _labels(times: Sequence[str]) -> list[str]:
    """Return days; minutes where all is of one day, and seconds where all is of one hour."""
    for same, part in ((len("2026-11-23T09"), slice(11, 19)), (len("2026-11-23"), slice(11, 16))):
        if len({time[:same] for time in times}) == 1:
            return [time[part] for time in times]
    return [time[:10] for time in times]
