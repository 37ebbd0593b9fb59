"""``\\?`` and ``\\q``: list all commands with their help, and quit."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from dpsql.shell.commands.command import Command
from dpsql.shell.state import Shell


def help_text(commands: Sequence[Command], width: int = 80) -> str:
    """List the commands with their help beside them, or below them in a narrow terminal."""
    room = max(len(command.usage) for command in commands)
    if room + 2 + max(len(command.help) for command in commands) < width:
        lines = [f"{command.usage:<{room}}  {command.help}" for command in commands]
    else:
        lines = [line for command in commands for line in (command.usage, *_indented(command.help, width))]
    return "\n".join([*lines, "", textwrap.fill(_ABOUT, min(width, 80))])


def _indented(help: str, width: int) -> list[str]:
    return textwrap.wrap(help, width, initial_indent="    ", subsequent_indent="    ")


_ABOUT = (
    "A statement may take several lines and ends with a semicolon. SET epsilon = 0.2; "
    "works like \\set. EXPLAIN, \\price, \\d and repeats of a paid query are free."
)


def quit_(shell: Shell, argument: str) -> None:
    shell.done = True


COMMANDS = (Command("q", "\\q", "quit, like Ctrl-D", quit_),)
