"""Tables of an analyst's own account: ``dpsql.budget`` and ``dpsql.purchases``, free.

    SELECT * FROM dpsql.budget         account, granted, spent, remaining: the database's, and one's own
    SELECT * FROM dpsql.purchases      the latest of one's own, oldest first

Test: tests/drivers/test_server_clients.py
"""

from __future__ import annotations

from typing import Any

from dpsql.dbapi import Connection
from dpsql.ir.heading import Heading

_LATEST = 1_000

OWN_TABLES = {
    "dpsql.budget": (
        Heading("account", "VARCHAR"),
        Heading("granted", "DOUBLE"),
        Heading("spent", "DOUBLE"),
        Heading("remaining", "DOUBLE"),
        Heading("largest_price", "DOUBLE"),
    ),
    "dpsql.purchases": (
        Heading("time", "VARCHAR"),
        Heading("epsilon", "DOUBLE"),
        Heading("shared", "BOOLEAN"),
        Heading("answered", "BOOLEAN"),
        Heading("sql", "VARCHAR"),
        Heading("parameters", "VARCHAR"),
    ),
}
"""Their columns, by name."""


def own_table(db: Connection, name: str) -> list[tuple[Any, ...]]:
    """Return the rows of one of the tables."""
    if name == "dpsql.purchases":
        return [
            (each.time, each.epsilon, each.shared, each.answered, each.sql, each.parameters)
            for each in db.latest_purchases(_LATEST)
        ]
    balance = db.budget
    own = [
        (account.analyst, account.granted, account.spent, account.remaining, balance.fits)
        for account in balance.accounts
        if account.analyst == db.analyst
    ]
    return [("database", balance.granted, balance.spent, balance.remaining, balance.fits), *own]
