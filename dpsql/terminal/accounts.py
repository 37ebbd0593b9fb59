"""What was granted and spent, by whom, on what: for people, and for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from dpsql.dbapi import Connection, Purchase
from dpsql.render.box import box
from dpsql.render.digits import above, below, printable, wide
from dpsql.render.display import Look
from dpsql.render.folding import Column, Text, folded

LATEST = 20
"""So many purchases are shown unless all are asked for."""

_NARROW = 60
"""Below so many columns, a row stands in lines."""


def budget_text(db: Connection, columns: int, most: int | None = None) -> str:
    """The accounts in a box, and what they were spent on (so many of them, at most) in another."""
    balance = db.budget
    rows = [("database", balance.granted, balance.spent)]
    rows += [
        (each.analyst, each.granted, each.spent) for each in balance.accounts if _shown(db, each.analyst)
    ]
    cells = [
        (printable(name), f"{granted:g}", above(spent), below(max(0.0, granted - spent)))
        for name, granted, spent in rows
    ]
    left = min(granted - spent for name, granted, spent in rows if name in ("database", db.analyst))
    more = (
        f"; one query of up to {below(balance.fits)} fits" if balance.fits > 1.0001 * max(left, 1e-4) else ""
    )
    lines = [
        f"epsilon, under {balance.accountant} at delta {balance.delta:g}{more}",
        _box(("account", "granted", "spent", "remaining"), cells, (False, True, True, True), columns),
    ]
    purchases = [
        (each.time[:19].replace("T", " "), each.analyst or "(owner)", f"{each.epsilon:g}", _said(each))
        for each in _bought(db, most)
    ]
    every = len(purchases) if most is None else db.purchase_count
    if purchases:
        names = ("time (UTC)", "who", "paid", "for")
        taken = sum(max(map(wide, column)) for column in list(zip(names, *purchases, strict=True))[:3])
        room = max(20, columns - taken - 13) if columns >= _NARROW else 2 * columns
        cells = [(*each[:3], _cut(each[3], room)) for each in purchases]
        lines.append(_box(names, cells, (False, False, True, False), columns))
    if every > len(purchases):
        lines.append(f"({every} purchases, the last {len(purchases)} shown; dpsql budget --all tells all)")
    return "\n".join(lines)


def _box(names: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], columns: int) -> str:
    if columns >= _NARROW:
        return box(names, rows, right)
    cells = [tuple(Text(row[at]) for row in rows) for at in range(len(names))]
    found = [Column(*each) for each in zip(names, cells, right, strict=True)]
    return folded(found, Look(width=columns, records=True))


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 3].rstrip() + "..."


def _said(each: Purchase) -> str:
    said = " ".join(each.sql.split())
    said = printable(f"{said}  [{each.parameters}]" if each.parameters else said)
    if each.shared:
        return f"(joined) {said}"
    return said if each.answered else f"(unanswered) {said}"


def budget_json(db: Connection, most: int | None = None) -> str:
    balance = db.budget
    accounts = [
        {"analyst": each.analyst, "granted": each.granted, "spent": each.spent, "remaining": each.remaining}
        for each in balance.accounts
        if _shown(db, each.analyst)
    ]
    found = {
        "granted": balance.granted,
        "spent": balance.spent,
        "remaining": balance.remaining,
        "fits": balance.fits,
        "accountant": balance.accountant,
        "delta": balance.delta,
        "analysts": accounts,
        "purchase_count": db.purchase_count,
        "purchases": [asdict(each) for each in _bought(db, most)],
    }
    return json.dumps(found, indent=2, ensure_ascii=False)


def _bought(db: Connection, most: int | None) -> Sequence[Purchase]:
    return db.purchases if most is None else db.latest_purchases(most)


def _shown(db: Connection, analyst: str) -> bool:
    return db.analyst in (None, analyst)
