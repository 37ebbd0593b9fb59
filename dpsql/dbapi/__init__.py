"""The PEP 249 interface, with direct calls beside it: ``execute``, ``explain``, ``price``, ``budget``.

connection.py   Connection and Cursor             rows.py      fetching rows
types.py        type codes and exceptions         accounts.py  budgets and purchases
guard.py        checks of arguments and errors    limits.py    interrupts and time limits
direct_calls.py  what the shell needs of a connection     votes.py  labels by vote
same_data.py    whether data are still the same
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
from dpsql.dbapi.votes import vote

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
    "vote",
]
