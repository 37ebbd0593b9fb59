"""The prompt: which database, and how much of the budget remains.

clinic ε 2.58> SELECT COUNT(*)
          ...>   FROM patients;
"""

from __future__ import annotations

import math
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dpsql.dbapi import Connection
from dpsql.errors import Error
from dpsql.render.digits import below, printable, wide

_LONGEST = 24
_LITTLE = 0.1  # of what was granted


@dataclass(frozen=True, slots=True)
class Prompt:
    """``low`` says that little is left; ``more`` stands before the second line and all others."""

    name: str
    budget: str
    low: bool

    @property
    def text(self) -> str:
        return f"{self.name} {self.budget}> "

    @property
    def more(self) -> str:
        return "...> ".rjust(wide(self.text))


def prompt(db: Connection | None, database: Path) -> Prompt:
    """The prompt as it is now, also while the database is being opened."""
    left, granted = None, 0.0
    with suppress(Error):  # a busy ledger is told to whoever asks something
        if db is not None:
            left, granted = remaining(db)
    name = printable(database.stem or database.name)
    name = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..."
    if left is None:
        return Prompt(name, f"{_epsilon()} ....", False)
    return Prompt(name, f"{_epsilon()} {short(left)}", left < _LITTLE * granted)


def remaining(db: Connection) -> tuple[float, float]:
    """What remains, and what was granted, of the account that runs out first: the analyst's or all's."""
    balance = db.budget
    accounts = [(balance.remaining, balance.granted)]
    accounts += [(each.remaining, each.granted) for each in balance.accounts if each.analyst == db.analyst]
    return min(accounts)


def short(epsilon: float) -> str:
    """Two digits behind the point, never more than there is: 2.58; four where that would be little."""
    return f"{math.floor(epsilon * 100 + 1e-6) / 100:.2f}" if epsilon >= 0.1 else below(epsilon)


def _epsilon() -> str:
    try:
        "ε".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return "eps"
    return "ε"
