"""``\\?`` and ``\\q``: all commands with a line each, made from the list itself; and the way out."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.console.commands.command import Command
from dpsql.console.state import Shell


def help_text(commands: Sequence[Command]) -> str:
    """What can be typed."""
    room = max(len(each.usage) for each in commands)
    return "\n".join([*(f"{each.usage:<{room}}  {each.help}" for each in commands), "", *_ABOUT])


_ABOUT = (
    "SQL may take several lines and ends with a semicolon. SET epsilon = 0.2; does",
    "what \\set does. EXPLAIN, \\price, \\d and answers that were paid for are free.",
)


def quit_(shell: Shell, argument: str) -> None:
    shell.done = True


COMMANDS = (Command("q", "\\q", "leave, as Ctrl-D does", quit_),)
