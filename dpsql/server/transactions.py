"""Transactions that change nothing, with the states that clients expect.

    I  outside of one      T  in one      E  in a failed one: 25P02 until ROLLBACK

What was debited stays debited: a rollback gives no budget back.
Test: tests/drivers/test_server_clients.py
"""

from __future__ import annotations

from dpsql.server import statements as s
from dpsql.server.notices import Fields, fields
from dpsql.server.results import failed

_MOST = 300
_LONGEST = 63


class Transaction:
    """The state of one connection."""

    def __init__(self) -> None:
        self.state = "I"
        self._savepoints: list[str] = []

    def fail(self) -> None:
        """Take note of a statement that failed."""
        if self.state == "T":
            self.state = "E"

    def check(self, statement: s.Statement) -> None:
        """Refuse what a failed transaction passes over."""
        if self.state == "E" and not isinstance(statement, s.End | s.Savepoint | s.Empty):
            raise failed(
                "25P02",
                "current transaction is aborted, commands ignored until end of transaction block",
                "ROLLBACK; what was debited stays debited",
            )

    def begin(self) -> Fields | None:
        """Begin; return a warning if there is one."""
        before, self.state = self.state, "T"
        if before == "T":
            return fields("WARNING", "25001", "there is already a transaction in progress")
        return None

    def end(self, rollback: bool) -> tuple[str, Fields | None]:
        """End; return the tag, and a warning if there is one."""
        tag = "ROLLBACK" if rollback or self.state == "E" else "COMMIT"
        before, self.state, self._savepoints = self.state, "I", []
        if before == "I":
            return tag, fields("WARNING", "25P01", "there is no transaction in progress")
        return tag, None

    def savepoint(self, how: str, name: str) -> str:
        """Set, release or go back to a savepoint; return the tag."""
        if self.state == "I":
            raise failed("25P01", f"{how} can only be used in transaction blocks", "write BEGIN first")
        if how != "ROLLBACK":
            self.check(s.Begin())
        if how == "SAVEPOINT":
            if len(self._savepoints) >= _MOST or len(name) > _LONGEST:
                raise failed("54000", "too many savepoints, or too long a name")
            self._savepoints.append(name)
            return how
        if name not in self._savepoints:
            raise failed("3B001", f"there is no savepoint {name}")
        last = len(self._savepoints) - 1 - self._savepoints[::-1].index(name)
        del self._savepoints[last + (how == "ROLLBACK") :]
        self.state = "T"
        return how
