"""The type of a backslash command: Command("d", "\\\\d [TABLE]", "list tables and views", run, "table")."""

from __future__ import annotations

from collections.abc import Callable

from dpsql.lazy_dataclass import dataclass
from dpsql.shell.state import Shell


@dataclass(frozen=True, slots=True)
class Command:
    """A command: ``run`` gets the stripped rest of the line as its argument, and raises an Error to refuse.

    ``takes`` tells completion what the argument is: 'table', 'column' (of the last answer), 'file', 'sql',
    'setting', 'switch' (on or off), 'code' or ''.
    """

    name: str
    usage: str
    help: str
    run: Callable[[Shell, str], None]
    takes: str = ""
