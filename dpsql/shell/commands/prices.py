"""``\\price``, ``\\explain``, ``\\budget``: what a query would cost, to reach what error, and the accounts.

┌──────────────────────┬────────┬────────┬────────┐
│ at epsilon           │   0.25 │    0.5 │      1 │
├──────────────────────┼────────┼────────┼────────┤
│ age, over 1,000 rows │ ±  5.4 │ ±  2.7 │ ±  1.4 │
│ n                    │ ±   49 │ ±   25 │ ±   13 │
│ remaining after      │ 2.6451 │ 2.5868 │ 2.3541 │
└──────────────────────┴────────┴────────┴────────┘
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dpsql.dbapi import Connection
from dpsql.errors import Error, InterfaceError
from dpsql.ir.price import Expected, Price
from dpsql.render.cells import one_line
from dpsql.render.digits import apart, below, rounded
from dpsql.render.display import Look
from dpsql.render.folding import Column, Text, cut, folded
from dpsql.shell.commands.command import Command
from dpsql.shell.state import Shell
from dpsql.shell.statement import share
from dpsql.terminal.accounts import budget_text
from dpsql.terminal.explanation import wrapped
from dpsql.terminal.output import ROWS, look, put


def _budget(shell: Shell, argument: str) -> None:
    put(budget_text(shell.db, shell.width(), ROWS if shell.interactive else None))


def _explain(shell: Shell, argument: str) -> None:
    sql = _statement(shell, argument, "explain")
    put(wrapped(shell.db.explain(sql), shell.width()))


def _price(shell: Shell, argument: str) -> None:
    sql = _statement(shell, argument, "price")
    price = shell.db.price(sql)
    unit = next((each.unit for each in shell.db.tables if each.unit), "unit")
    put(
        price_text(
            [*_others(shell.db, sql, price, 0.5), price, *_others(shell.db, sql, price, 2)],
            price,
            unit,
            replace(look(), width=shell.width()),
        )
    )


def _statement(shell: Shell, argument: str, name: str) -> str:
    """The statement that is given, or the last that was asked."""
    if not argument and not shell.asked:
        raise InterfaceError("nothing was asked yet", help=f"give a query: \\{name} SELECT COUNT(*) FROM ...")
    return argument.rstrip().removesuffix(";") or shell.asked


def _others(db: Connection, sql: str, price: Price, times: float) -> Iterator[Price]:
    """The same at another price, unless the query says its own or the owner's ceiling is below."""
    if price.epsilon == 0:
        return
    try:
        yield db.price(sql, epsilon=times * price.epsilon)
    except Error as error:
        if error.code not in ("D502", "D503"):
            raise


def price_text(prices: Sequence[Price], now: Price, unit: str, look: Look) -> str:
    """What the query costs now, and a table of what it would tell at several prices."""
    width, gap = look.width or 80, " " if look.grouped else ""
    cost = textwrap.fill(_cost(now), width)
    if now.epsilon == 0:
        return cost
    rows = [_row(each, gap) for each in prices]
    numbers = [
        Column(f"{each.epsilon:g}", tuple(map(Text, row)), True)
        for each, row in zip(prices, rows, strict=True)
    ]
    room = max(_LEAST, width - 4 - sum(each.width + 3 for each in numbers))
    titles = Column("at epsilon", tuple(Text(each) for each in _titles(now, unit, room)), False)
    return "\n".join([cost, folded([titles, *numbers], look), *_notes(now, width)])


def _row(price: Price, gap: str) -> list[str]:
    """What one price buys: an error for each aggregate, how large groups must be, what remains."""
    found = [_error(each, gap) for each in price.expected]
    if price.units is not None:
        found.append(apart(str(math.ceil(price.units)), gap))
    return [*found, below(price.after) if price.held else "too little"]


def _titles(price: Price, unit: str, room: int) -> list[str]:
    found = [_title(each, room) for each in price.expected]
    if price.units is not None:
        found.append(f"{unit}s that a group needs")
    return [*found, "remaining after"]


def _cost(price: Price) -> str:
    if price.repeated:
        return f"free: answered before, and served from the ledger; remaining {below(price.remaining)}"
    if price.cost == 0:
        return "free: only public data is read"
    most = f"at most epsilon {price.cost:g} in {len(price.steps)} steps"
    costs = most if price.steps else f"epsilon {price.cost:g}"
    if not price.held:
        return f"costs {costs}, more than the {below(price.remaining)} that remain can hold"
    return (
        f"costs {costs}, {share(price)} of what remains; "
        f"remaining {below(price.remaining)}, and {below(price.after)} after it"
    )


def _title(each: Expected, room: int) -> str:
    rows = "" if each.at_rows is None else f", over {each.at_rows:,} rows"
    return cut(one_line(each.name), max(1, room - len(rows))) + rows


def _error(each: Expected, gap: str) -> str:
    if each.error is not None:
        return f"± {apart(rounded(0, each.error, whole=each.error == int(each.error))[1], gap)}"
    return "" if each.places is None else f"± {apart(str(math.ceil(each.places)), gap)} places"


def _notes(price: Price, width: int) -> list[str]:
    """What the cells do not say themselves."""
    notes = []
    if any(each.places is not None for each in price.expected):
        notes.append("places: how many rows the value may be off among all rows in their order")
    if any(each.error is None and each.places is None for each in price.expected):
        notes.append(
            "no error: it depends on the values, or on what is found or released first; \\explain says more"
        )
    return [textwrap.fill(each, width) for each in notes]


_LEAST = 24  # columns for what a row says

COMMANDS = (
    Command("price", "\\price [SQL]", "what a query would cost, to reach what error: free", _price, "sql"),
    Command("explain", "\\explain [SQL]", "what a query releases, on whose bounds: free", _explain, "sql"),
    Command("budget", "\\budget", "what was granted and spent, on what", _budget),
)
