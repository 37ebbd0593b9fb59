"""``\\price``, ``\\explain``, ``\\budget``: the cost and error of a query, its plan, and the accounts.

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

from dpsql.dbapi.direct_calls import DirectCalls
from dpsql.errors import Error, InterfaceError
from dpsql.ir.price import Expected, Price
from dpsql.render.cells import one_line
from dpsql.render.digits import below, group_thousands, rounded
from dpsql.render.display import Look
from dpsql.render.folding import Column, Text, cut, draw_table
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
    unit = next((table.unit for table in shell.db.tables if table.unit), "unit")
    put(
        price_text(
            [*_scaled(shell.db, sql, price, 0.5), price, *_scaled(shell.db, sql, price, 2)],
            price,
            unit,
            replace(look(), width=shell.width()),
        )
    )


def _statement(shell: Shell, argument: str, name: str) -> str:
    """Return the statement in the argument, or the last query of the session."""
    if not argument and not shell.asked:
        raise InterfaceError(
            "there is no last query yet", help=f"write one: \\{name} SELECT COUNT(*) FROM ..."
        )
    return argument.rstrip().removesuffix(";") or shell.asked


def _scaled(db: DirectCalls, sql: str, price: Price, times: float) -> Iterator[Price]:
    """Yield the price at ``times`` the epsilon, unless the query sets its own or the policy forbids it."""
    if price.epsilon == 0:
        return
    try:
        yield db.price(sql, epsilon=times * price.epsilon)
    except Error as error:
        if error.code not in ("D502", "D503"):
            raise


def price_text(prices: Sequence[Price], current: Price, unit: str, look: Look) -> str:
    """Return the cost of a query, and a table of its expected errors at several prices."""
    width, gap = look.width or 80, " " if look.grouped else ""
    cost = textwrap.fill(cost_text(current), width)
    if current.epsilon == 0:
        return cost
    cells = [_price_cells(price, gap) for price in prices]
    numbers = [
        Column(f"{price.epsilon:g}", tuple(map(Text, texts)), True)
        for price, texts in zip(prices, cells, strict=True)
    ]
    room = max(_MIN_TITLE_WIDTH, width - 4 - sum(number.width + 3 for number in numbers))
    titles = Column("at epsilon", tuple(Text(title) for title in _titles(current, unit, room)), False)
    return "\n".join([cost, draw_table([titles, *numbers], look), *_notes(current, width)])


def _price_cells(price: Price, gap: str) -> list[str]:
    """Return the cells of one price: the error of each aggregate, the smallest group, what remains."""
    cells = [_error(expected, gap) for expected in price.expected]
    if price.units is not None:
        cells.append(group_thousands(str(math.ceil(price.units)), gap))
    return [*cells, below(price.after) if price.held else "over budget"]


def _titles(price: Price, unit: str, room: int) -> list[str]:
    titles = [_title(expected, room) for expected in price.expected]
    if price.units is not None:
        titles.append(f"{unit}s that a group needs")
    return [*titles, "remaining after"]


def cost_text(price: Price) -> str:
    """Return what a query costs, and what it leaves."""
    if price.repeated:
        return f"free: a repeat, served from the ledger; remaining {below(price.remaining)}"
    if price.cost == 0:
        return "free: only public data is read"
    most = f"at most epsilon {price.cost:g} in {len(price.steps)} steps"
    costs = most if price.steps else f"epsilon {price.cost:g}"
    if not price.held:
        return f"costs {costs}: over budget, remaining {below(price.remaining)}"
    return (
        f"costs {costs}, {share(price)} of what remains; "
        f"remaining {below(price.remaining)}, and {below(price.after)} after it"
    )


def _title(expected: Expected, room: int) -> str:
    rows = "" if expected.at_rows is None else f", over {expected.at_rows:,} rows"
    return cut(one_line(expected.name), max(1, room - len(rows))) + rows


def _error(expected: Expected, gap: str) -> str:
    if expected.error is not None:
        integer = expected.error == int(expected.error)
        return f"± {group_thousands(rounded(0, expected.error, integer)[1], gap)}"
    if expected.places is None:
        return ""
    return f"± {group_thousands(str(math.ceil(expected.places)), gap)} places"


def _notes(price: Price, width: int) -> list[str]:
    """Explain errors in places and missing errors, where the table has them; say what could hardly show."""
    notes = list(price.doubts)
    if any(expected.places is not None for expected in price.expected):
        notes.append("places: the error is a number of rows, counted in the order of the values")
    if any(expected.error is None and expected.places is None for expected in price.expected):
        notes.append("no error is known before the query runs: it depends on the values or on earlier stages")
    return [textwrap.fill(note, width) for note in notes]


_MIN_TITLE_WIDTH = 24

COMMANDS = (
    Command("price", "\\price [SQL]", "cost and expected error of a query: free", _price, "sql"),
    Command("explain", "\\explain [SQL]", "what a query releases, from which bounds: free", _explain, "sql"),
    Command("budget", "\\budget", "budgets granted and spent, and on which queries", _budget),
)
