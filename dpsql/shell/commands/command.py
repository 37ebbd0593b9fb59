"""What a backslash command is: Command("d", "\\\\d [TABLE]", "what exists, or one table", run, "table")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpsql.shell.state import Shell


@dataclass(frozen=True, slots=True)
class Command:
    """``run`` gets what stands behind the name on its line, stripped; it raises an Error to refuse.

    ``takes`` tells completion what that is: 'table', 'column' (of the last answer), 'file', 'sql',
    'setting', 'switch' (on or off), 'code' or ''.
    """

    name: str
    usage: str
    help: str
    run: Callable[[Shell, str], None]
    takes: str = ""
