"""One statement of a session: its price, the question before a large one, the query, what was paid."""

from __future__ import annotations

from dpsql.console.show import show
from dpsql.console.state import Shell
from dpsql.screen.waiting import beside


def ask(shell: Shell, sql: str) -> None:
    """Answer a query and show it."""
    answer = beside(shell.db, lambda: shell.db.execute(sql, epsilon=shell.epsilon))
    shell.last, shell.asked = answer, sql
    show(shell, answer)
