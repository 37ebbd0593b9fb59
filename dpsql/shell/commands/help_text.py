"""``\\?`` and ``\\q``: all commands with a line each, made from the list itself; and the way out."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from dpsql.shell.commands.command import Command
from dpsql.shell.state import Shell


def help_text(commands: Sequence[Command], width: int = 80) -> str:
    """What can be typed; each command above its help where there is no room beside it."""
    room = max(len(each.usage) for each in commands)
    if room + 2 + max(len(each.help) for each in commands) < width:
        lines = [f"{each.usage:<{room}}  {each.help}" for each in commands]
    else:
        lines = [line for each in commands for line in (each.usage, *_below(each.help, width))]
    return "\n".join([*lines, "", textwrap.fill(_ABOUT, min(width, 80))])


def _below(help: str, width: int) -> list[str]:
    return textwrap.wrap(help, width, initial_indent="    ", subsequent_indent="    ")


_ABOUT = (
    "SQL may take several lines and ends with a semicolon. SET epsilon = 0.2; does "
    "what \\set does. EXPLAIN, \\price, \\d and answers that were paid for are free."
)


def quit_(shell: Shell, argument: str) -> None:
    shell.done = True


COMMANDS = (Command("q", "\\q", "leave, as Ctrl-D does", quit_),)
