"""The prompt: the name of the database and the remaining budget.

clinic ε 2.58> SELECT COUNT(*)
          ...>   FROM patients;
"""

from __future__ import annotations

import math
import sys
from contextlib import suppress

from dpsql.dbapi.accounts import Account, Balance
from dpsql.dbapi.direct_calls import DirectCalls
from dpsql.errors import Error
from dpsql.lazy_dataclass import dataclass
from dpsql.render.digits import below, printable, wide

_NAME_WIDTH = 24
_LOW_SHARE = 0.1  # of what was granted


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt: ``low`` if little budget is left; ``more`` is the prompt of continuation lines."""

    name: str
    budget: str
    low: bool

    @property
    def text(self) -> str:
        return f"{self.name} {self.budget}> "

    @property
    def more(self) -> str:
        return "...> ".rjust(wide(self.text))


def prompt(db: DirectCalls | None, database: str) -> Prompt:
    """Return the current prompt; ``db`` is None while the database is being opened."""
    left, granted = None, 0.0
    with suppress(Error):  # the next statement reports a busy ledger
        if db is not None:
            left, granted = remaining(db)
    name = printable(database)
    name = name if len(name) <= _NAME_WIDTH else f"{name[: _NAME_WIDTH - 3]}..."
    if left is None:
        return Prompt(name, f"{_epsilon()} ....", False)
    return Prompt(name, f"{_epsilon()} {short(left)}", left < _LOW_SHARE * granted)


def remaining(db: DirectCalls) -> tuple[float, float]:
    """Return the remaining and the granted epsilon of the account with less left: database or analyst."""
    balance = db.budget
    accounts = [(balance.remaining, balance.granted)]
    accounts += [
        (account.remaining, account.granted) for account in balance.accounts if account.analyst == db.analyst
    ]
    accounts += [(cap.remaining, cap.granted) for cap in balance.time_caps if cap.analyst == db.analyst]
    accounts += [(account.remaining, account.granted) for account in _own_shared(db, balance)]
    return min(accounts)


def _own_shared(db: DirectCalls, balance: Balance) -> list[Account]:
    """Return the accounts of groups and studies that this connection pays from."""
    return [each for each in balance.shared if db.analyst is not None or each.analyst == f"study {db.study}"]


def short(epsilon: float) -> str:
    """Format epsilon rounded down: two decimals, 2.58, or four below 0.1."""
    return f"{math.floor(epsilon * 100 + 1e-6) / 100:.2f}" if epsilon >= 0.1 else below(epsilon)


def _epsilon() -> str:
    try:
        "ε".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return "eps"
    return "ε"
