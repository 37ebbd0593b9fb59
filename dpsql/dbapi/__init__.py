"""PEP 249 over a session, and the plain calls that say more: ``execute``, ``explain``, ``price``, ``budget``.

connection.py   Connection and Cursor          rows.py     what a cursor fetches
types.py        type codes and exceptions      accounts.py what was granted and spent
guard.py        what may come in and go out    limits.py   queries that are stopped
"""

from dpsql.dbapi.accounts import Account, Balance, Purchase
from dpsql.dbapi.connection import Connection, Cursor, connect
from dpsql.dbapi.types import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)

apilevel = "2.0"
threadsafety = 2
paramstyle = "qmark"

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Account",
    "Balance",
    "Binary",
    "Connection",
    "Cursor",
    "Date",
    "DateFromTicks",
    "Purchase",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]
