"""The backslash commands, in the order of ``\\?``."""

from __future__ import annotations

from dpsql.console.commands.command import Command
from dpsql.console.state import Shell
from dpsql.errors import InterfaceError


def _quit(shell: Shell, argument: str) -> None:
    shell.done = True


COMMANDS: tuple[Command, ...] = (Command("q", "\\q", "leave (as Ctrl-D does)", _quit),)


def command(name: str) -> Command:
    """The command of this name, without its backslash."""
    for each in COMMANDS:
        if each.name == name:
            return each
    raise InterfaceError(f"there is no command \\{name}", help="\\? lists them")


__all__ = ["COMMANDS", "Command", "command"]
