"""The budget accounts and the purchases, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from textwrap import fill

from dpsql.dbapi.accounts import Account, Purchase
from dpsql.dbapi.direct_calls import DirectCalls
from dpsql.render.box import box
from dpsql.render.digits import above, below, printable, wide
from dpsql.render.display import Look
from dpsql.render.folding import Column, Text, draw_table
from dpsql.render.formats import csv_text

LATEST = 20
"""The number of purchases shown by default."""

MOST_BLOCKS = 60
"""The number of blocks of units shown."""

_NARROW = 60
"""In a narrower terminal, each row is shown with one column per line."""


def budget_text(db: DirectCalls, columns: int, most: int | None = None) -> str:
    """Return a box of the accounts and a box of the latest purchases, ``most`` at most."""
    balance = db.budget
    rows = [("database", balance.granted, balance.spent)]
    rows += [
        (account.analyst, account.granted, account.spent)
        for account in balance.accounts
        if _visible(db, account.analyst)
    ]
    rows += [(account.analyst, account.granted, account.spent) for account in balance.shared]
    rows += [(account.analyst, account.granted, account.spent) for account in balance.blocks[:MOST_BLOCKS]]
    rows += [(f"{cap.analyst}, {cap.name}", cap.granted, cap.spent) for cap in balance.time_caps]
    if balance.responses is not None:
        rows.append(("(responses)", balance.responses.granted, balance.responses.spent))
    cells = [
        (printable(name), f"{granted:g}", above(spent), below(max(0.0, granted - spent)))
        for name, granted, spent in rows
    ]
    left = min(
        [
            *(granted - spent for name, granted, spent in rows if name in ("database", db.analyst)),
            *(cap.remaining for cap in balance.time_caps if cap.analyst == db.analyst),
            *(account.remaining for account in balance.shared if db.analyst is not None),
        ]
    )
    largest_query = (
        f"; one query of up to {below(balance.fits)} fits" if balance.fits > 1.0001 * max(left, 1e-4) else ""
    )
    lines = [
        f"epsilon, under {balance.accountant} at delta {balance.delta:g}{largest_query}",
        _box(("account", "granted", "spent", "remaining"), cells, (False, True, True, True), columns),
    ]
    if balance.blocks:
        lines.append(fill(_of_blocks(len(balance.blocks)), columns))
    more, several = db.outlook.more, db.outlook.group_privacy
    if more is not None:
        queries = "query" if more == 1 else "queries"
        lines.append(fill(f"about {more:,} more {queries} like the latest fit", columns))
    if most is None:
        lines.append(fill(_of_several(several), columns))
    purchases = [
        (
            purchase.time[:19].replace("T", " "),
            purchase.analyst or "(owner)",
            f"{purchase.epsilon:g}",
            _description(purchase),
        )
        for purchase in _purchases(db, most)
    ]
    count = len(purchases) if most is None else db.purchase_count
    if purchases:
        names = ("time (UTC)", "who", "paid", "for")
        taken = sum(max(map(wide, column)) for column in list(zip(names, *purchases, strict=True))[:3])
        room = max(20, columns - taken - 13) if columns >= _NARROW else 2 * columns
        cells = [(*row[:3], _cut(row[3], room)) for row in purchases]
        lines.append(_box(names, cells, (False, False, True, False), columns))
    if count > len(purchases):
        lines.append(f"({count} purchases, the last {len(purchases)} shown; dpsql budget --all shows all)")
    return "\n".join(lines)


def _of_blocks(many: int) -> str:
    """Say what the rows of blocks are."""
    said = (
        f"each of {many} blocks has the whole budget; in other rows, what is spent is that in one block, the "
    )
    return said + "most" + (f"; {many - MOST_BLOCKS} blocks are not shown" if many > MOST_BLOCKS else "")


def _of_several(promised: Sequence[tuple[int, tuple[float, float] | None]]) -> str:
    """Say what the whole budget promises over several units."""
    parts = []
    for units, each in promised[1:]:
        delta = f" at delta {each[1]:.2g}" if each is not None and each[1] else ""
        parts.append(f"of {units}: {'nothing' if each is None else f'epsilon {above(each[0])}{delta}'}")
    return f"what is promised of several units together, when all is spent: {'; '.join(parts)}"


def _box(names: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], columns: int) -> str:
    if columns >= _NARROW:
        return box(names, rows, right)
    cells = [tuple(Text(row[at]) for row in rows) for at in range(len(names))]
    table = [Column(*column) for column in zip(names, cells, right, strict=True)]
    return draw_table(table, Look(width=columns, records=True))


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 3].rstrip() + "..."


def _description(purchase: Purchase) -> str:
    """Return the query of a purchase on one line, with its parameters and its state."""
    sql = " ".join(purchase.sql.split())
    text = printable(f"{sql}  [{purchase.parameters}]" if purchase.parameters else sql)
    if purchase.shared:
        return f"(joined) {text}"
    return text if purchase.answered else f"(unanswered) {text}"


def budget_json(db: DirectCalls, most: int | None = None) -> str:
    """Return the accounts and the latest purchases, ``most`` at most, as JSON."""
    balance = db.budget
    accounts = [
        {
            "analyst": account.analyst,
            "granted": account.granted,
            "spent": account.spent,
            "remaining": account.remaining,
        }
        for account in balance.accounts
        if _visible(db, account.analyst)
    ]
    responses, outlook = balance.responses, db.outlook
    document = {
        "granted": balance.granted,
        "spent": balance.spent,
        "remaining": balance.remaining,
        "fits": balance.fits,
        "accountant": balance.accountant,
        "delta": balance.delta,
        **({} if responses is None else {"responses": _shares(responses)}),
        "forecast": outlook.more,
        "group_privacy": [
            {"units": units, "epsilon": each and each[0], "delta": each and each[1]}
            for units, each in outlook.group_privacy
        ],
        "analysts": accounts,
        **({"shared": [asdict(account) for account in balance.shared]} if balance.shared else {}),
        **({"blocks": [asdict(account) for account in balance.blocks]} if balance.blocks else {}),
        **({"time_caps": [asdict(cap) for cap in balance.time_caps]} if balance.time_caps else {}),
        "purchase_count": db.purchase_count,
        "purchases": [asdict(purchase) for purchase in _purchases(db, most)],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def budget_csv(db: DirectCalls, most: int | None = None) -> str:
    """Return the latest purchases, ``most`` at most, as CSV."""
    names = [field.name for field in fields(Purchase)]
    rows = (asdict(each) | {"blocks": "; ".join(each.blocks)} for each in _purchases(db, most))
    return csv_text(names, ([row[name] for name in names] for row in rows))


def _shares(account: Account) -> dict[str, float]:
    return {"granted": account.granted, "spent": account.spent, "remaining": account.remaining}


def _purchases(db: DirectCalls, most: int | None) -> Sequence[Purchase]:
    return db.purchases if most is None else db.latest_purchases(most)


def _visible(db: DirectCalls, analyst: str) -> bool:
    """Whether this connection may see an analyst's account: the owner sees all, an analyst their own."""
    return db.analyst in (None, analyst)
